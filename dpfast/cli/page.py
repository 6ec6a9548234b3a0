"""dpfast report: the page of a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from .outputs import check_files
from .report import reporting, say


def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that fit --out wrote.")],
    out: Annotated[Path | None, typer.Option(help="File to write; by default beside the model.")] = None,
):
    """Write one self-contained HTML page about a saved model: the model, how good it is, and its claim."""
    with reporting("no page was written"):
        out = model.with_suffix(".html") if out is None else out
        check_files(out, MODEL=model)

        import dpfast

        fitted = dpfast.load(model)

        from dpfast.report import write

        write(fitted, out)
        say(f"wrote {out}")

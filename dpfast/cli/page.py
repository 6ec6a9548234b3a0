"""dpfast report: the page of a saved model."""

from pathlib import Path
from typing import Annotated

import typer

from .outputs import check_files
from .report import reporting, say


def report(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that fit --out wrote.")],
    out: Annotated[Path | None, typer.Option(help="Write here; beside the model by default.")] = None,
):
    """Draw a saved model as one self-contained HTML page: what it is, its claim, what that does not cover."""
    with reporting("no page was written"):
        out = model.with_suffix(".html") if out is None else out
        check_files(out, MODEL=model)

        import dpfast

        fitted = dpfast.load(model)

        from dpfast.report import write

        write(fitted, out)
        say(f"wrote {out}")

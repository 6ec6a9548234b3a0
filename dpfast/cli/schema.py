"""dpfast schema: what is declared of a table, drafted from it and checked against it."""

from pathlib import Path
from typing import Annotated

import typer

from dpfast.tables.naming import visible

from .commands import App
from .files import read_above
from .options import Above, TextOptions, spread
from .options import Label as LabelOption
from .report import errors, reporting

app = App(
    no_args_is_help=True, help="Draft a schema, which declares the columns of a table, and check a table against it."
)
Data = Annotated[str, typer.Argument(metavar="DATA", help="A .csv, .tsv or .parquet file, or the bundled adult.")]

_HEAD = """\
# A draft from {data}. It is private until every fact that was read off the data is confirmed or deleted:
# delete ".unconfirmed" where a fact is public, and the whole line where it is to be discovered privately.
# Kinds, and whether numbers are whole, are guesses. Ignored columns are constant or empty, number the rows, or have
# very many values.

"""


@app.command()
@spread
def draft(
    data: Data,
    label: LabelOption = None,
    above: Above = None,
    *,
    text: TextOptions,
    missing: Annotated[
        list[str],
        typer.Option(help="Text that marks a missing value, besides an empty cell, ?, NA and the like; repeatable."),
    ] = [],  # noqa: B006 - typer's, never changed
):
    """Write a draft of a schema to standard output, as TOML.

    Ranges and values are read off the rows and marked, so the draft is private. fit refuses it until you have confirmed
    each mark to be public, or deleted the line so that the fact is discovered privately.
    """
    with reporting("nothing was written"):
        from dpfast.files.encodings import read_frame
        from dpfast.tables import Label, Schema
        from dpfast.tables.drafts import LOOK, classes_in, spelled_as
        from dpfast.tables.remarks import odd_remarks, remarks

        with errors.status(f"reading {data}"):
            frame = read_frame(data, **text.settings)
            target = label if above is None else Label(label, above=read_above(above))  # type: ignore[arg-type]
            written = frame
            if text.decimal != "." or text.dates is not None:
                written = read_frame(data, numbers=(), days=(), **text.settings)
            if isinstance(target, str) and target in written.column_names:
                target = Label(target, classes_in(written, target, missing), True)
            schema = spelled_as(written, Schema.draft(frame, target, missing=missing), missing)
        typer.echo(_HEAD.format(data=Path(data).name) + schema.to_toml(), nl=False)
        found = odd_remarks(schema, frame, missing) + remarks(schema, frame.slice(0, LOOK), missing, text.decimal)
        for remark in found:
            typer.echo(visible(remark), err=True)


@app.command()
@spread
def check(
    data: Data,
    schema: Annotated[Path, typer.Argument(metavar="SCHEMA", help="A .toml or .json file.")],
    *,
    text: TextOptions,
):
    """Show how a table and a schema differ. The output is private: it is for the owner of the table only.

    The exit status is 1 if there is a difference.
    """
    with reporting("nothing was checked"):
        from dpfast.files.encodings import read_frame
        from dpfast.tables import Schema
        from dpfast.tables.schema import date_names, number_names

        declared = Schema.from_file(schema)
        with errors.status(f"reading {data}"):
            names = {"numbers": number_names(declared.columns), "days": date_names(declared.columns)}
            frame = read_frame(data, **names, **text.settings)
            findings = declared.check(frame) + [f"{fact} is not confirmed" for fact in declared.unconfirmed]
        for finding in findings:
            typer.echo(visible(finding))
        typer.echo("These lines are private." if findings else "The table is as declared.", err=True)
    if findings:
        raise typer.Exit(1)

"""The command line: fit a private model on a file or a stream, predict with it, plan for one.

The library is imported inside the commands, so that help does not wait for it. A model is one entry in
`dpfast.cli.models`.
"""

import io
import os
import sys
from typing import Annotated

import typer

from . import audit, budget, doctor, experts, explain, fit, plan, predict, schema, score, show, stream
from .commands import App
from .models import ModelCommand
from .report import report_unwritten


class _App(App):
    """The entry point; an error while help is written is reported in one line, as commands report theirs."""

    def __call__(self, *args, **kwargs):
        try:
            return super().__call__(*args, **kwargs)
        except OSError as error:
            report_unwritten(error)
            sys.exit(2)


app = _App(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="Learn readable models from private tables, under differential privacy.",
)
app.command(cls=ModelCommand)(fit.fit)
app.command()(predict.predict)
app.command()(explain.explain)
app.command()(score.score)
app.command()(show.report)
app.command()(show.show)
app.command()(stream.stream)
app.command()(experts.experts)
app.command()(audit.audit)
app.command()(budget.budget)
app.command()(doctor.doctor)
app.add_typer(plan.app, name="plan")
app.add_typer(schema.app, name="schema")


def _version(shows):
    if shows:
        from importlib.metadata import version

        typer.echo(f"dpfast {version('dpfast')}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = (False),
):
    for number in range(3):  # if one is closed, the next file that is opened, such as a ledger, would get its number
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    for file in (sys.stdout, sys.stderr):  # a terminal that lacks a letter shows its number
        if isinstance(file, io.TextIOWrapper):
            file.reconfigure(errors="backslashreplace")

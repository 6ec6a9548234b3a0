"""Output of the commands: results on standard output, everything else on standard error."""

import json
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import typer
from rich import reconfigure
from rich.console import Console
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from dpfast.tables.naming import visible


class _Console(Console):
    """A console that shows control characters of names and labels, and acts on none of them.

    It leaves a closed pipe to `reporting`; that of rich would exit silently.
    """

    def render(self, renderable, options=None):
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(visible(segment.text, lines=True), segment.style)

    def on_broken_pipe(self):
        raise


output, errors = _Console(), _Console(stderr=True)


def say(text=""):
    output.print(Text(text))


def answer(document):
    """Print one JSON object on standard output, for --json."""
    from dpfast.base.saving import plain

    print(json.dumps(document, indent=1, default=plain))


def claim_of(estimator):
    """Return the claim of a model, for `answer`."""
    return {"privacy": estimator.privacy_.to_dict(), "claim": str(estimator.privacy_)}


def tell(estimator):
    """Print the notes of a fitted model on standard error, in at most ten lines."""
    from dpfast.base.notes import MOST_NOTES

    notes = estimator.notes_
    if len(notes) > MOST_NOTES:
        notes = [*notes[: MOST_NOTES - 1], f"and {len(notes) - MOST_NOTES + 1} more, on the page of the model"]
    for each in notes:
        note(" ".join(each.split()))


def note(text):
    """Print a note in one line on standard error."""
    errors.print(Text(f"note: {text}"), soft_wrap=True)


def facts():
    """Return an empty table of names and values, without lines."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def compare(title, headings, rows, *, n=None, bold="rows needed"):
    """Print figures side by side, a line for each name, and below the rows needed whether n are enough."""
    table = Table(title=title)
    table.add_column(overflow="fold")
    for heading in headings:
        table.add_column(heading, justify="right", overflow="fold")
    for name, values in rows.items():
        cells = [value if isinstance(value, str) else number(value) for value in values]
        table.add_row(name, *cells, style="bold" if name == bold else None)
        if name == "rows needed" and n is not None:
            verdicts = ["enough" if n >= n_rows else f"{n_rows / n:,.1f} times too few" for n_rows in values]
            table.add_row(f"n = {n:,}", *verdicts)
    output.print(table)


def number(value):
    """Return a number as text: whole if it is short, else with three digits."""
    return f"{value:,.0f}" if 1 <= value < 1e9 else f"{value:.3g}"


@contextmanager
def progress(estimator, what):
    """Show the rounds of a fit and its rows per second on a terminal; otherwise show only that it is running."""
    if not errors.is_terminal or "verbose" not in estimator.get_params():
        with errors.status(what):
            yield
        return
    reconfigure(stderr=True)
    errors.print(what)
    estimator.set_params(verbose=True)
    yield
    estimator.set_params(verbose=False)


@contextmanager
def reporting(state):
    """Report an error in one line on standard error, and exit with status 2, or 130 after an interruption.

    `state` describes what is true if the run stops now; the block updates it, and sets `has_spent` if something was
    spent, which an error must mention. `rescue` writes what was paid for and is not in a file yet, whatever stops
    the run.
    """
    from dpfast.base.fitting import interrupts_wait  # at the start: not when memory is at its end

    state = SimpleNamespace(now=state, has_spent=False, rescue=None)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _print_warning
            yield state
        if sys.stdout is not None:
            sys.stdout.flush()  # here, where a full disk can be reported
    except BaseException as error:
        with interrupts_wait():
            _rescue(state)
            code = _report_error(error, state)
        if code is None:
            raise
        raise typer.Exit(code) from None


def _print_warning(message, category, *where):
    """Print a warning in one line, without the line of this program that Python would show with it."""
    if category.__name__ == "DiscoveryWarning":  # a note says it
        return
    errors.print(Text(f"warning: {message}", style="yellow"), soft_wrap=True)


def _rescue(state):
    """Write what was paid for; if that fails, still report the original error."""
    if state.rescue is None:
        return
    try:
        now = state.rescue()
    except Exception as error:
        state.now += f"; it could not be written: {type(error).__name__}: {error}"
        return
    if now is not None:
        state.now, state.has_spent = now, True


def _report_error(error, state):
    """Report what stopped a run; return the exit code, or None if the error is a fault of dpfast."""
    spent = f"; {state.now}" * state.has_spent
    if isinstance(error, KeyboardInterrupt):
        complain(f"interrupted: {state.now}")
        return 130
    if isinstance(error, BrokenPipeError):
        if spent:
            complain(f"error: standard output was closed{spent}")
        _discard_output()
        return 1
    if isinstance(error, OSError | ValueError | ImportError | MemoryError):
        complain(f"error: {reason_of(error)}{spent}")
        if isinstance(error, OSError):
            _discard_output()
        return 2
    if spent and not isinstance(error, typer.Exit):
        complain(f"error: {type(error).__name__}{spent}")
    return None


def reason_of(error):
    """Return what went wrong, in words."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename is not None else error.strerror
    return str(error) or type(error).__name__


def report_unwritten(error):
    """Report that output outside of a command, such as help, could not be written."""
    complain(f"error: {reason_of(error)}")
    _discard_output()


def _discard_output():
    """Drop what cannot be written to standard output, so that Python does not report it at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        with suppress(OSError, ValueError):  # of a stream that is no file
            os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except AttributeError:
        return  # there is none


def complain(line):
    """Print one line on standard error, in red."""
    errors.print(Text(" ".join(line.split()), style="red"), soft_wrap=True)

"""What is told: results on standard output, the rest on standard error."""

from contextlib import contextmanager
from types import SimpleNamespace

import typer
from rich import reconfigure
from rich.console import Console
from rich.table import Table
from rich.text import Text

output, errors = Console(), Console(stderr=True)


def say(text=""):
    output.print(Text(text))


def facts():
    """An empty table of names and what they are, without lines."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")
    return grid


def some(values, most=8):
    shown = [str(value) for value in values[:most]]
    return ", ".join(shown) + (f", ... ({len(values):,} in all)" if len(values) > most else "")


def number(value):
    """Whole if it is short, else three digits."""
    return f"{value:,.0f}" if 1 <= value < 1e9 else f"{value:.3g}"


def enough(n, asked):
    return "enough" if n >= asked else f"{asked / n:,.1f} times too few"


@contextmanager
def progress(estimator, what):
    """Show the rounds of a fit on a terminal, with rows a second, or else only that it is under way."""
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
    """Tell what went wrong in one line, on standard error, and exit with 2; with 130 when interrupted.

    `state` is what holds should the run stop now; the block moves it on, and says if there is something kept that an
    error must name too.
    """
    state = SimpleNamespace(now=state, kept=False)
    try:
        yield state
    except KeyboardInterrupt:
        _complain(f"interrupted: {state.now}")
        raise typer.Exit(130) from None
    except BrokenPipeError:
        raise
    except OSError as error:
        told = f"{error.filename}: {error.strerror}" if error.strerror else error
        _complain(f"error: {told}" + f"; {state.now}" * state.kept)
        raise typer.Exit(2) from None
    except (ValueError, ImportError, MemoryError) as error:
        _complain(f"error: {error}" + f"; {state.now}" * state.kept)
        raise typer.Exit(2) from None


def _complain(line):
    errors.print(Text(" ".join(line.split()), style="red"), soft_wrap=True)

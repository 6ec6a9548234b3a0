"""dpfast budget: make a budget in a file, and show what of it was spent, on what and by whom."""

from pathlib import Path
from typing import Annotated, Any, Literal

import typer
from rich.table import Table
from rich.text import Text

from .options import Json
from .report import answer, facts, output, reporting, say


def budget(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="File of the budget; --epsilon makes it if it does not exist.")
    ],
    epsilon: Annotated[float | None, typer.Option(help="Total epsilon of all charges; makes the file.")] = None,
    delta: Annotated[float | None, typer.Option(help="Total delta of all charges.")] = None,
    neighbors: Annotated[Literal["replace", "add-remove"] | None, typer.Option(help="Relation of all charges.")] = None,
    unit: Annotated[
        Literal["row", "person"] | None, typer.Option(help="What the budget protects: rows or persons.")
    ] = None,
    composition: Annotated[
        Literal["auto", "basic", "gaussian", "renyi"] | None,
        typer.Option(help="How charges add up; with auto the first charge with a delta decides."),
    ] = None,
    moved: Annotated[
        bool, typer.Option("--moved", help="Accept a file that was moved here, if the old one is gone.")
    ] = False,
    json: Json = False,
):
    """Show the charges of a budget, what is spent and what is left. With --epsilon, make a budget."""
    with reporting("nothing was changed"):
        from dpfast.accounting import Budget

        how: dict[str, Any] = {"neighbors": neighbors, "unit": unit, "composition": composition}
        if epsilon is not None and delta is None and not file.exists():
            raise ValueError(
                "give --delta, too, for all fits together: each fit needs 1e-6 by default, and --delta 0 allows only "
                "fits that need none"
            )
        ledger = Budget.open(file, epsilon, delta, **how, moved=moved)
        if json:
            names = ("number", "time", "user", "model", "part", "epsilon", "delta", "count")
            pairs = {"budget": (ledger.epsilon, ledger.delta), "spent": ledger.spent, "left": ledger.left}
            answer(
                {name: dict(zip(("epsilon", "delta"), pair, strict=True)) for name, pair in pairs.items()}
                | {"neighbors": ledger.neighbors, "unit": ledger.unit, "composition": ledger.composition}
                | {"charges": [{name: note[name] for name in names} for note in ledger.notes()]}
            )
            return
        if ledger.notes():
            output.print(_charges(ledger.notes()))
            say()
        summary = facts()
        summary.add_row("budget", f"{_pair(ledger.epsilon, ledger.delta)}, {ledger.neighbors}, one {ledger.unit}")
        (spent, at), (left, other) = ledger.spent, ledger.left
        if ledger.composition == "basic":
            summary.add_row("spent", _pair(spent, at))
            summary.add_row("left", _pair(left, other))
        else:
            summary.add_row("spent", f"epsilon {spent:.6g} of {ledger.epsilon:g}, by all charges at delta {at:g}")
            fits = f"another fit of epsilon up to {left:.4g}, at its own delta of {other:g}"
            summary.add_row("left", fits if left > 0 else "nothing")
            summary.add_row("", "Costs compose to less than their sum, so spent and left do not add up.")
        summary.add_row("charges", f"{sum(note['count'] for note in ledger.notes()):,}, added up: {ledger.composition}")
        output.print(summary)


def _charges(notes):
    """Return a table with a line for each charge, without columns that are empty for all."""
    columns = {
        "#": [str(note["number"]) for note in notes],
        "time (UTC)": [note["time"][:16].replace("T", " ") for note in notes],
        "user": [note["user"] for note in notes],
        "what": [note["model"] or "" for note in notes],
        "part": [note["part"] or "" for note in notes],
        "epsilon": [f"{note['epsilon']:g}" for note in notes],
        "delta": [f"{note['delta']:g}" for note in notes],
        "times": [f"{note['count']:,}" for note in notes],
        "columns": [(note["schema"] or "")[:8] for note in notes],
    }
    columns_of_text = {
        name: texts for name, texts in columns.items() if {*texts} - ({"", "1"} if name == "times" else {""})
    }
    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns_of_text:
        right = name in ("#", "epsilon", "delta", "times")
        table.add_column(name, justify="right" if right else "left", overflow="fold")
    for row in zip(*columns_of_text.values(), strict=True):
        table.add_row(*map(Text, row))
    return table


def _pair(epsilon, delta):
    return f"({epsilon:.6g}, {delta:.6g})"

"""dpfast plan halfspace: how much noise each part of the model will have."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from ..options import Delta, Epsilon, Json, Neighbors, Relation
from ..report import answer, number, output, reporting, say

_CLEAR = 3  # deviations that a person would build on
_SEEN = 5  # deviations of a band of numbers that is not taken for noise


def halfspace(
    n: Annotated[int, typer.Option("--n", help="Number of rows that you have.", min=1)],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    schema: Annotated[
        Path | None, typer.Option(help="A .toml or .json file that declares the columns of the table.")
    ] = None,
    columns: Annotated[
        int | None, typer.Option(help="Number of columns, if nothing is declared or there is no schema yet.", min=1)
    ] = None,
    neighbors: Relation = Neighbors.replace,
    json: Json = False,
):
    """Show how noisy the curves of a halfspace on a table will be, from the laws of the noise alone.

    All rounds together reveal about each code (a bin or a value of a column) as much as one noisy count of its rows
    that spends the whole budget. A code with fewer rows than a few standard deviations of it is lost in the noise.
    """
    with reporting("nothing was computed"):
        if (schema is None) == (columns is None):
            raise ValueError("say what the table is like: --schema FILE, or --columns K")

        from dpfast.accounting import gaussian_sigma

        shapes = [(1, 2)] * (columns or 0) if schema is None else _shapes(schema)
        numbers = sum(ordered for ordered, _ in shapes)
        squares = len(shapes) + numbers + 1  # of the norm of a row, where an indicator counts 1
        deviation = gaussian_sigma(epsilon, delta) * (2 if neighbors is Neighbors.replace else 1) * math.sqrt(squares)
        clear = _CLEAR * deviation

        found = None if schema is not None else _discovery(columns, epsilon, delta, neighbors.value)
        if json:
            told = {"columns": len(shapes), "noise in rows": deviation, "clear rows": clear, "n": n}
            if found is not None:
                told |= {"discovery noise in rows": found.deviation, "published from rows": found.least}
            answer(told)
            return
        title = f"halfspace on {len(shapes)} columns, ({epsilon}, {delta})-DP, {neighbors}"
        table = Table(title=title, show_header=False)
        table.add_column()
        table.add_column(justify="right", overflow="fold")
        table.add_row("noise of a code, as of so many rows", number(deviation))
        table.add_row(f"a code is clear of noise ({_CLEAR} deviations) from", f"{number(clear)} rows", style="bold")
        table.add_row(f"of n = {n:,}", f"{clear / n:.2%}")
        if schema is not None:
            table.add_row("codes in all", f"{sum(size for _, size in shapes):,}")
            table.add_row("bins of equal counts that are clear, at most", f"{max(1, math.floor(n / clear)):,}")
        if found is not None:
            seen = _SEEN * found.deviation
            table.add_row(
                "if nothing is declared: a word is published from", f"{number(found.least)} rows", style="bold"
            )
            table.add_row(f"of n = {n:,}", f"{found.least / n:.2%}")
            table.add_row("a range of numbers is found from, about", f"{number(seen)} rows")
            table.add_row("bins of equal counts that are found, at most", f"{max(1, math.floor(n / seen)):,}")
        output.print(table)
        if found is not None and found.least > n:
            say(
                "The table has too few rows to discover words: they are told apart by groups. Declare them in a schema."
            )
        say("More columns add noise with the square root of their number. Fewer bins do not lessen it, but fill each.")


def _discovery(columns, epsilon, delta, neighbors):
    """Return the opening histogram of a table of which nothing is declared."""
    from dpfast.learners.discovery import plan
    from dpfast.learners.halfspaces.halfspace import HalfspaceClassifier
    from dpfast.tables.discovered import Discovered
    from dpfast.tables.schema import Schema

    schema = Schema([Discovered(f"x{j}") for j in range(columns)], label="y")
    model = HalfspaceClassifier(epsilon, delta, neighbors=neighbors, schema=schema)
    p = model._checked()
    return plan(p.schema, *p.bill[:2], neighbors, labels="open", share=p.bill[2], rest=model._rest(p)).histogram


def _shapes(path):
    """Return for each column of codes whether it is of numbers, and its (estimated) number of codes."""
    from dpfast.tables.columns import BINS, Numeric
    from dpfast.tables.schema import Schema

    shapes = []
    for column in Schema.from_file(path).fine().columns:
        if column.to_find:
            shapes.append((int(isinstance(column, Numeric)), BINS))
        else:
            shapes += [(int(each.ordered), each.size) for each in column.code_columns()]
    return shapes

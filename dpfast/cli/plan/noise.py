"""dpfast plan halfspace, --noise and --risk: the noise of a model, and an epsilon from what is wanted."""

import math
from typing import Annotated

import typer
from rich.table import Table

from ..options import Delta, Epsilon, Json, Relation, SchemaFile
from ..report import answer, number, output, reporting, say

_MOST = 100.0  # of epsilon; no promise is worth making beyond
_CLEAR = 3  # deviations that a person would build on
_SEEN = 4  # deviations of a power of two of numbers that is not taken for noise


def halfspace(
    n: Annotated[int, typer.Option("--n", help="Number of rows that you have.", min=1)],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    schema: SchemaFile = None,
    columns: Annotated[
        int | None, typer.Option(help="Number of columns, if nothing is declared or there is no schema yet.", min=1)
    ] = None,
    neighbors: Relation = "replace",
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
        deviation = gaussian_sigma(epsilon, delta) * (2 if neighbors == "replace" else 1) * math.sqrt(squares)
        clear = _CLEAR * deviation

        from dpfast.discovery.facts import FEW_BESIDE, SECOND

        survey = None if schema is not None else _discovery(columns, epsilon, delta, neighbors, n)
        if json:
            figures = {"columns": len(shapes), "noise in rows": deviation, "clear rows": clear, "n": n}
            if survey is not None:
                figures |= {
                    "discovery noise in rows": survey.look.deviation,
                    "published from rows": survey.look.least,
                    "label published from rows": survey.labels.least,
                    "numbers beside words seen from rows": max(SECOND * survey.look.deviation, FEW_BESIDE * n),
                }
            answer(figures)
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
        if survey is not None:
            fewest, least = _SEEN * survey.look.deviation, survey.look.least
            table.add_row("if nothing is declared: a word is published from", f"{number(least)} rows", style="bold")
            table.add_row(f"of n = {n:,}", f"{least / n:.2%}")
            table.add_row("a label is published from", f"{number(survey.labels.least)} rows")
            table.add_row("a range of numbers is found from, about", f"{number(fewest)} rows")
            beside = max(SECOND * survey.look.deviation, FEW_BESIDE * n)
            table.add_row("the same beside words, which are missed below", f"{number(beside)} rows")
            table.add_row("bins of equal counts that are found, at most", f"{max(1, math.floor(n / fewest)):,}")
        output.print(table)
        if survey is not None and survey.look.least > n:
            say("The table has too few rows to discover words, so groups are used. Declare words in a schema.")
        if survey is not None and n < 2 * survey.labels.least:
            say("The table has too few rows to discover labels, of which a model needs two. Declare them by --classes.")
        if survey is not None:
            from dpfast.discovery.survey import labels_seen, suffice

            surveyed = neighbors == "replace" and suffice(n, columns or 1, epsilon) and labels_seen(survey, n)
            way = "surveyed like a frame" if surveyed else "read as vectors"
            say(f"By default, a dense array of numbers of this shape is {way}.")
        say("The noise grows with the square root of the number of columns. With fewer bins, each bin has more rows.")


def _discovery(columns, epsilon, delta, neighbors, n):
    """Return the plan of the discovery of a table of which nothing is declared."""
    from dpfast.base.transaction import reader_of
    from dpfast.files.encodings import source_of
    from dpfast.learners.halfspaces.halfspace import HalfspaceClassifier
    from dpfast.tables.discovered import Discovered
    from dpfast.tables.schema import Schema

    schema = Schema([Discovered(f"x{j}") for j in range(columns)], label="y")
    reader, _ = reader_of(HalfspaceClassifier(epsilon, delta, neighbors=neighbors, schema=schema), source_of(None))
    return reader.plan_survey("open", n if neighbors == "replace" else None)


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


def plan(
    context: typer.Context,
    noise: Annotated[
        float | None,
        typer.Option(help="Acceptable standard deviation, in rows, of the noise on each value of each column."),
    ] = None,
    risk: Annotated[
        float | None,
        typer.Option(help="Largest gain over 1/2 of a guess about one row, as --neighbors says, in (0, 0.5)."),
    ] = None,
    columns: Annotated[int, typer.Option(help="Number of columns of the table, for --noise.", min=1)] = 10,
    delta: Delta = 1e-6,
    neighbors: Relation = "replace",
    json: Json = False,
):
    """Show what a model needs and what is guaranteed, before there is any data.

    With --noise or --risk, show the epsilon that is needed.
    """
    if context.invoked_subcommand is not None:
        return
    with reporting("nothing was computed"):
        if (noise is None) == (risk is None):
            raise ValueError("give --noise ROWS or --risk GAIN, or name a model: see dpfast plan --help")
        if not 0 < delta < 1:
            raise ValueError(f"--delta must lie in (0, 1), got {delta}")
        if noise is not None:
            _of_noise(noise, columns, delta, neighbors, json)
        else:
            _of_risk(risk, delta, neighbors, json)


def _of_noise(noise, columns, delta, neighbors, json):
    """Show the epsilon of a halfspace whose curves have so much noise, computed as in `dpfast plan halfspace`."""
    if not 0 < noise < math.inf:
        raise ValueError(f"--noise must be a number of rows above 0, got {noise}")

    from dpfast.accounting import epsilon_for

    moves = (2 if neighbors == "replace" else 1) * math.sqrt(2 * columns + 1)  # as `plan halfspace` has it
    epsilon = epsilon_for(noise=noise, delta=delta, sensitivity=moves)
    if not 0 < epsilon <= _MOST:
        advice = f"an epsilon above {_MOST:g}: allow more rows" if epsilon else "no epsilon above 0: allow fewer rows"
        raise ValueError(f"--noise {noise:g} needs {advice}")
    digits = 2 - math.floor(math.log10(epsilon))
    epsilon = math.ceil(epsilon * 10**digits) / 10**digits
    if json:
        answer({"epsilon": epsilon, "delta": delta, "noise": noise, "columns": columns, "neighbors": neighbors})
        return
    say(f"epsilon = {epsilon:g}, with delta = {delta:g}")
    say(
        f"A halfspace on {columns} columns of numbers then learns as much about each bin as from a count of its rows "
        f"with noise of {noise:g} rows, one standard deviation. A bin with {3 * noise:,.0f} rows or more is clear of "
        "the noise. A column of categories counts as half a column."
    )


def _of_risk(risk, delta, neighbors, json):
    """Show the largest epsilon whose claim keeps a guess about one row within this gain."""
    from dpfast.accounting import epsilon_for

    epsilon = math.floor(epsilon_for(risk=risk, delta=delta) * 1000) / 1000
    if not 0 < epsilon <= _MOST:
        raise ValueError(f"--risk {risk} needs an epsilon outside of [0.001, {_MOST:g}]")
    gaussian = gaussian_gain(epsilon, delta)
    if json:
        answer(
            {"epsilon": epsilon, "delta": delta, "risk": risk, "neighbors": neighbors, "risk of a halfspace": gaussian}
        )
        return
    say(f"epsilon = {epsilon:g}, with delta = {delta:g}")
    guess = {
        "replace": "knows all rows but one, and guesses which of two equally likely rows that one is",
        "add-remove": "knows all rows but one, which is in the table or not, each half of the time, and guesses which",
    }
    say(
        f"Suppose that somebody {guess[neighbors]}. The guess is right half of the time without the model, and at most "
        f"{0.5 + risk:.1%} of the time with it."
    )
    of_halfspace = math.ceil(1000 * (0.5 + gaussian)) / 1000
    say(
        "This holds for every model with this epsilon. For a halfspace that is fitted by a complete schema and without "
        f"pairs of columns, all noise is Gaussian, and it is {of_halfspace:.1%}."
    )


def gaussian_gain(epsilon, delta):
    """Return the advantage of a guess from an (epsilon, delta)-DP Gaussian release: half its total variation."""
    from scipy.special import ndtr

    from dpfast.accounting import gaussian_sigma

    gain = ndtr(0.5 / gaussian_sigma(epsilon, delta)) - 0.5
    return math.ceil(gain * 1e6 * (1 + 1e-9)) / 1e6

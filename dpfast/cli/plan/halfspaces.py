"""dpfast plan boost, projected and net: rows for the learners of halfspaces."""

import math
from typing import Annotated

import typer
from rich.table import Table

from ..options import Alpha, Beta, Delta, Epsilon, Json, Neighbors, Relation
from ..report import answer, enough, number, output, reporting, say

_Margin = Annotated[
    float, typer.Option(help="Margin by which some unit vector is right on every row of norm at most 1, in (0, 1].")
]
_Rows = Annotated[int | None, typer.Option("--n", help="Number of rows that you have.", min=1)]
_Columns = Annotated[int | None, typer.Option("--d", help="Number of columns; few columns need no projection.", min=1)]
_MOST = 53 * math.log10(2)  # members of a net that the learner numbers


def boost(
    margin: _Margin,
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    noise: Annotated[float, typer.Option(help="Probability with which each label is flipped, below 1/2.")] = 0.0,
    corrupted: Annotated[float, typer.Option(help="Share of the rows that somebody may have replaced.")] = 0.0,
    n: _Rows = None,
    json: Json = False,
):
    """Show how many rows the boosted halfspace and every private learner need, and the parameters.

    The learner is that of Bun, Carmosino and Sorrell, Theorem 30; the constants are derived in
    dpfast.accounting.halfspaces, and shown beside those of the paper. The bound is for the worst case and any number of
    columns: real tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import boost_paper, boost_plan

        plan = boost_plan(epsilon, delta, margin=margin, alpha=alpha, beta=beta, noise=noise, corrupted=corrupted)
        paper = boost_paper(epsilon, delta, margin=margin, alpha=alpha, beta=beta)
        if json:
            answer({"derived here": plan._asdict(), "the paper's": paper._asdict()})
            return
        rows = {
            "rounds": (plan.n_rounds, paper.n_rounds),
            "density kappa": (plan.density, paper.density),
            "learning rate lambda": (plan.learning_rate, paper.learning_rate),
            "noise sigma of a round": (plan.sigma, paper.sigma),
            "labels flipped with probability": (noise, paper.noise),
            "share of rows replaced": (corrupted, ""),
            "of the rows: for privacy": ("", paper.privacy_rows),
            "for flipped labels": ("", paper.corrupted_rows),
            "for new rows, Theorem 28": ("", paper.margin_rows),
            "rows by privacy alone, Theorem 33": ("", paper.noise_rows),
        }
        _show(f"boost at margin {margin}, ({epsilon}, {delta})-DP, replace", plan, paper, n, rows)
        flipped = f", with labels flipped with probability {noise:g}" if noise else ""
        flipped += f", with at most {corrupted:g} of the rows replaced" if corrupted else ""
        _promise(alpha, beta, flipped, "Bun, Carmosino and Sorrell, Theorem 30")


def projected(
    margin: _Margin,
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    n: _Rows = None,
    d: _Columns = None,
    json: Json = False,
):
    """Show how many rows the projected halfspace and every private learner need, and the parameters.

    The learner is that of Nguyen, Ullman and Zakynthinou, Theorem 2; the constants are derived in
    dpfast.accounting.halfspaces, and shown beside those of the paper. The bound is for the worst case: real tables
    usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import projected_paper, projected_plan

        plan = projected_plan(epsilon, delta, margin=margin, alpha=alpha, beta=beta, dimension=d)
        paper = projected_paper(epsilon, delta, margin=margin, alpha=alpha, beta=beta)
        if json:
            answer({"derived here": plan._asdict(), "the paper's": paper._asdict()})
            return
        rows = {
            "components": (number(plan.n_components) + _unprojected(plan, d), paper.n_components),
            "rounds": (plan.n_rounds, paper.n_rounds),
            "step eta": (plan.step, ""),
            "noise sigma of a round": (plan.sigma, ""),
        }
        _show(f"projected at margin {margin}, ({epsilon}, {delta})-DP, replace", plan, paper, n, rows)
        _promise(alpha, beta, "", "Nguyen, Ullman and Zakynthinou, Theorem 2", plan.n_components != d)


def net(
    margin: _Margin,
    epsilon: Epsilon,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    neighbors: Relation = Neighbors.replace,
    n: _Rows = None,
    d: _Columns = None,
    json: Json = False,
):
    """Show how many rows the halfspace from a net and every private learner need, and the size of the net.

    The learner is that of Nguyen, Ullman and Zakynthinou, Theorem 4; the constants are derived in
    dpfast.accounting.halfspaces, and shown beside those of the paper. The bound is for the worst case: real tables
    usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import net_paper, net_plan

        plan = net_plan(epsilon, margin=margin, alpha=alpha, beta=beta, dimension=d, neighbors=neighbors.value)
        paper = net_paper(epsilon, margin=margin, alpha=alpha, beta=beta)
        if json:
            answer({"derived here": plan._asdict(), "the paper's": paper._asdict()})
            return
        rows = {
            "components": (number(plan.n_components) + _unprojected(plan, d), paper.n_components),
            "places along an edge": (plan.side, ""),
            "members of the net": (_members(plan), _members(paper)),
            "exponent per wrong row": (plan.exponent, epsilon / 2),
        }
        _show(f"net at margin {margin}, {epsilon}-DP, {neighbors}", plan, paper, n, rows)
        _promise(alpha, beta, "", "Nguyen, Ullman and Zakynthinou, Theorem 4", plan.n_components != d)
        if plan.log10_size >= _MOST:
            say(
                "No learner searches a net so large: it shows what the guarantee costs. "
                "With few columns (--d) it is smaller."
            )


def _show(title, plan, paper, n, parameters):
    table = Table(title=title)
    for heading in ("", "derived here", "the paper's"):
        table.add_column(heading, justify="right" if heading else "left", overflow="fold")
    table.add_row("rows asked", number(plan.n), number(paper.n), style="bold")
    if n is not None:
        table.add_row(f"n = {n:,}", enough(n, plan.n), enough(n, paper.n))
    lower = getattr(paper, "lower_bound", "")
    table.add_row("rows every private learner needs", *map(_cell, (plan.lower_bound, lower)))
    for name, values in parameters.items():
        table.add_row(name, *map(_cell, values))
    output.print(table)


def _cell(value):
    return value if isinstance(value, str) else number(value)


def _members(plan):
    small = plan.log10_size < 9
    return number(10**plan.log10_size) if small else f"10^{number(plan.log10_size)}"


def _promise(alpha, beta, flipped, theorem, projected=True):
    say(
        f"Asked for an error of at most {alpha} with probability {1 - beta:g}, where some halfspace has the margin on "
        f"every row{flipped}."
    )
    if not projected:
        say("The plan is for rows as they are: a random projection to so few components does not keep the margin.")
    say(
        "What is derived here are bounds derived in dpfast.accounting.halfspaces, with proofs; they are not the "
        f"constants of {theorem}. Those stand beside them as the paper's proofs use them, and are not claimed: "
        "dpfast.accounting.halfspaces_paper."
    )


def _unprojected(plan, d):
    return " (all columns)" if plan.n_components == d else ""

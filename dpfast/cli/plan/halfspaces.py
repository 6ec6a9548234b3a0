"""dpfast plan boost, projected and net: rows for the learners of halfspaces."""

import math
from typing import Annotated

import typer
from rich.table import Table

from ..options import Alpha, Beta, Delta, Epsilon, Neighbors, Relation
from ..report import enough, number, output, reporting, say

_Margin = Annotated[
    float, typer.Option(help="By which some unit vector is right on every row of norm at most 1, in (0, 1].")
]
_Rows = Annotated[int | None, typer.Option("--n", help="Rows at hand.", min=1)]
_Columns = Annotated[int | None, typer.Option("--d", help="Columns; few of them need no projection.", min=1)]
_MOST = 53 * math.log10(2)  # members of a net that the learner numbers


def boost(
    margin: _Margin,
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    noise: Annotated[float, typer.Option(help="Probability with which each label is flipped, below 1/2.")] = 0.0,
    n: _Rows = None,
):
    """How many rows the boosted halfspace needs, with which parameters, and how many every private learner needs.

    The learner is that of Bun, Carmosino and Sorrell, Theorem 30; the constants are not theirs but derived in
    dpfast.accounting.halfspaces. A worst case, at any number of columns: real tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import boost_plan

        plan = boost_plan(epsilon, delta, margin=margin, alpha=alpha, beta=beta, noise=noise)
        rows = {
            "rounds": number(plan.n_rounds),
            "density kappa": number(plan.density),
            "learning rate lambda": number(plan.learning_rate),
            "noise sigma of a round": number(plan.sigma),
        }
        _show(f"boost at margin {margin}, ({epsilon}, {delta})-DP, replace", plan, n, rows)
        flipped = f", with labels flipped with probability {noise:g}" if noise else ""
        _promise(alpha, beta, flipped, "Bun, Carmosino and Sorrell, Theorem 30")


def projected(
    margin: _Margin,
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    n: _Rows = None,
    d: _Columns = None,
):
    """How many rows the projected halfspace needs, with which parameters, and how many every private learner needs.

    The learner is that of Nguyen, Ullman and Zakynthinou, Theorem 2; the constants are not theirs but derived in
    dpfast.accounting.halfspaces. A worst case: real tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import projected_plan

        plan = projected_plan(epsilon, delta, margin=margin, alpha=alpha, beta=beta, dimension=d)
        rows = {
            "components": number(plan.n_components) + _unprojected(plan, d),
            "rounds": number(plan.n_rounds),
            "step eta": number(plan.step),
            "noise sigma of a round": number(plan.sigma),
        }
        _show(f"projected at margin {margin}, ({epsilon}, {delta})-DP, replace", plan, n, rows)
        _promise(alpha, beta, "", "Nguyen, Ullman and Zakynthinou, Theorem 2", plan.n_components != d)


def net(
    margin: _Margin,
    epsilon: Epsilon,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    neighbors: Relation = Neighbors.replace,
    n: _Rows = None,
    d: _Columns = None,
):
    """How many rows the halfspace from a net needs, how large the net is, and how many every private learner needs.

    The learner is that of Nguyen, Ullman and Zakynthinou, Theorem 4; the constants are not theirs but derived in
    dpfast.accounting.halfspaces. A worst case: real tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import net_plan

        plan = net_plan(epsilon, margin=margin, alpha=alpha, beta=beta, dimension=d, neighbors=neighbors.value)
        small = plan.log10_size < 9
        rows = {
            "components": number(plan.n_components) + _unprojected(plan, d),
            "places along an edge": number(plan.side),
            "members of the net": number(10**plan.log10_size) if small else f"10^{number(plan.log10_size)}",
            "exponent per wrong row": number(plan.exponent),
        }
        _show(f"net at margin {margin}, {epsilon}-DP, {neighbors}", plan, n, rows)
        _promise(alpha, beta, "", "Nguyen, Ullman and Zakynthinou, Theorem 4", plan.n_components != d)
        if plan.log10_size >= _MOST:
            say(
                "No learner searches a net so large: it shows what the guarantee costs. "
                "With few columns (--d) it is smaller."
            )


def _show(title, plan, n, parameters):
    table = Table(title=title, show_header=False)
    table.add_column()
    table.add_column(justify="right", overflow="fold")
    table.add_row("rows asked", number(plan.n), style="bold")
    if n is not None:
        table.add_row(f"n = {n:,}", enough(n, plan.n))
    table.add_row("rows every private learner needs", number(plan.lower_bound))
    for name, value in parameters.items():
        table.add_row(name, value)
    output.print(table)


def _promise(alpha, beta, flipped, theorem, projected=True):
    say(
        f"Asked for an error of at most {alpha} with probability {1 - beta:g}, where some halfspace has the margin on "
        f"every row{flipped}."
    )
    if not projected:
        say("The plan is for rows as they are: a random projection to so few components does not keep the margin.")
    say(
        "Both numbers of rows are bounds derived in dpfast.accounting.halfspaces, with proofs; they are not the "
        f"constants of {theorem}."
    )


def _unprojected(plan, d):
    return " (all columns)" if plan.n_components == d else ""

"""dpfast plan finite-class: rows for one draw of the exponential mechanism."""

from typing import Annotated, Any

import typer
from rich.table import Table

from ..options import Alpha, Beta, Epsilon, Json, Neighbors, Relation
from ..report import answer, enough, number, output, reporting, say


def finite_class(
    hypotheses: Annotated[int, typer.Option(help="Number of members of the class; d features make 2 d + 2.", min=1)],
    epsilon: Epsilon,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    neighbors: Relation = Neighbors.replace,
    n: Annotated[int | None, typer.Option("--n", help="Number of rows that you have.", min=1)] = None,
    json: Json = False,
):
    """Show how many rows are needed to choose from a finite class, with and without a hypothesis that is never wrong.

    The learner is the exponential mechanism on errors (Dwork and Roth, section 11.1), with delta = 0. The paper
    gives the order of the number of rows, without a constant.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import finite_class_plan

        asked: dict[str, Any] = {"alpha": alpha, "beta": beta, "neighbors": neighbors.value}
        agnostic = finite_class_plan(epsilon, hypotheses, **asked)
        realizable = finite_class_plan(epsilon, hypotheses, realizable=True, **asked)
        if json:
            answer({"some is never wrong": realizable._asdict(), "any labels": agnostic._asdict()})
            return
        table = Table(title=f"finite class of {hypotheses:,} hypotheses, {epsilon}-DP, {neighbors}")
        for heading in ("", "some is never wrong", "any labels"):
            table.add_column(heading, justify="right" if heading else "left", overflow="fold")
        plans = (realizable, agnostic)
        table.add_row("rows asked", *[number(plan.n) for plan in plans], style="bold")
        if n is not None:
            table.add_row(f"n = {n:,}", *[enough(n, plan.n) for plan in plans])
        table.add_row("the paper's order, its constant 1", "", number(agnostic.paper_order))
        table.add_row("wrong rows that the draw adds, at most", *[number(plan.excess) for plan in plans])
        table.add_row("exponent per wrong row", *[number(plan.exponent) for plan in plans])
        output.print(table)
        say(
            f"Asked for an error of at most {alpha} above the best hypothesis's with probability {1 - beta:g}. Proofs: "
            "dpfast.accounting.finite_class."
        )

"""dpfast plan experts and finite-class: the regret of weighted majority, and rows for one draw from a class."""

from typing import Annotated, Any

import typer
from rich.table import Table

from ..options import Alpha, Beta, Delta, Epsilon, Json, Neighbors, Relation
from ..report import answer, enough, number, output, reporting, say


def experts(
    experts: Annotated[int, typer.Option(help="Number of experts.", min=1)],
    horizon: Annotated[int, typer.Option(help="Number of rounds.", min=1)],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    beta: Beta = 0.05,
):
    """Show a bound on the regret of following experts, and the regret that every learner has on some losses.

    The learner is randomized weighted majority (Dwork and Roth, Theorems 11.1 to 11.4) for losses in [0, 1], one round
    of which is replaced.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import experts_learning_rate, experts_lower_bound, experts_paper, experts_regret

        rate = experts_learning_rate(epsilon, delta, horizon=horizon)
        regrets = [experts_regret(rate, experts, horizon, failure=b) for b in (None, beta)]
        paper = experts_paper(epsilon, delta, n_experts=experts, horizon=horizon, failure=beta)
        lower = experts_lower_bound(experts, horizon)
        table = Table(title=f"{experts:,} experts, {horizon:,} rounds, ({epsilon}, {delta})-DP")
        for heading in ("", "derived here", "the paper's"):
            table.add_column(heading, justify="right" if heading else "left", overflow="fold")
        table.add_row("expected regret, at most", number(regrets[0]), number(paper.expected_regret), style="bold")
        table.add_row(f"with probability {1 - beta:g}", number(regrets[1]), number(paper.likely_regret))
        table.add_row("of a round", *[f"{regret / horizon:.2g}" for regret in (regrets[0], paper.expected_regret)])
        table.add_row("learning rate", number(rate), number(paper.learning_rate))
        table.add_row("regret of every learner, private or not", number(lower), "")
        output.print(table)
        say(
            "The last line is for losses that are fair coins, on which every learner loses half of the rounds in the "
            "mean. Proofs: dpfast.accounting.experts and lower_bounds."
        )


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

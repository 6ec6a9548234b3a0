"""dpfast plan experts: regret of randomized weighted majority."""

from typing import Annotated

import typer
from rich.table import Table

from ..options import Beta, Delta, Epsilon
from ..report import number, output, reporting, say


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

"""dpfast plan winnow and experts: the mistakes and the regret of learners that see one round after another."""

from typing import Annotated, Any

import typer

from ..options import Beta, Delta, Epsilon, Json
from ..report import answer, compare, number, reporting, say


def winnow(
    d: Annotated[
        int, typer.Option("--d", help="Number of columns; a constant and negated copies are added to them.", min=1)
    ],
    margin: Annotated[
        float, typer.Option(help="Margin by which some weights of sum 1 are right on every row, in (0, 1].")
    ],
    horizon: Annotated[int, typer.Option(help="Number of rounds of the stream.", min=1)],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    confidence: Annotated[
        float | None,
        typer.Option(help="Share of the margin that the draws may miss; by default the best for each bound."),
    ] = None,
    json: Json = False,
):
    """Show how many mistakes are guaranteed, by the paper's update and by batches, and what is needed in practice.

    The guarantees (Bun and Fang, Theorem 4.5; for batches, `dpfast.accounting.papers.winnow`) are for rows that
    some weights separate with the margin, and hold with probability 0.95. They are worst cases: real streams usually
    need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast import DPWinnowClassifier
        from dpfast.accounting import batched_plan, winnow_paper
        from dpfast.base import Task
        from dpfast.learners.winnow.plan import plan_numbers, streaming

        share = {} if confidence is None else {"confidence": confidence}
        problem: dict[str, Any] = {"horizon": horizon, "dimension": 2 * (d + 1), "margin": margin, **share}
        plans = {
            "the paper's update": winnow_paper(epsilon, delta, **problem),
            "the batched update": batched_plan(epsilon, delta, **problem),
        }
        if json:
            answer({name: each._asdict() for name, each in plans.items()})
            return
        fields = {
            "updates": "n_updates",
            "draws for each update": "n_draws",
            "mistakes that enter an update": "batch",
            "learning rate": "learning_rate",
            "mistakes that trigger an update": "threshold",
            "mistakes, at most": "mistakes",
            "rounds from which the bound is useful": "horizon_needed",
        }
        rows = {name: [getattr(each, field) for each in plans.values()] for name, field in fields.items()}
        title = f"winnow over {d:,} columns, ({epsilon}, {delta})-DP, replace"
        compare(title, plans, rows, bold="mistakes, at most")
        for name, each in plans.items():
            if each.vacuous:
                say(
                    f"The guarantee of {name} is vacuous: it allows more mistakes than the {horizon:,} planned rounds. "
                    f"It is useful from {number(each.horizon_needed)} rounds on."
                )
            else:
                say(f"{name.capitalize()} is guaranteed at most {number(each.mistakes)} mistakes.")
        _, stream = plan_numbers(DPWinnowClassifier(epsilon, delta), Task(epsilon, delta, n_columns=d), streaming)
        enough = stream.enough(0)
        say(
            f"In practice, the defaults of {stream.n_updates} updates with {stream.n_draws} draws give the learning "
            f"rate eta = {stream.learning_rate:.4g}. The first update comes after about {enough:,} rows, which all "
            "count. Later updates need fewer rows, and only those predicted wrongly or with a small margin count."
        )
        if horizon < enough:
            say(f"{horizon:,} rounds are too few for one update.")


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
        expected = regrets[0], paper.expected_regret
        rows = {
            "expected regret, at most": expected,
            f"with probability {1 - beta:g}": (regrets[1], paper.likely_regret),
            "of a round": [f"{regret / horizon:.2g}" for regret in expected],
            "learning rate": (rate, paper.learning_rate),
            "regret of every learner, private or not": (experts_lower_bound(experts, horizon), ""),
        }
        title = f"{experts:,} experts, {horizon:,} rounds, ({epsilon}, {delta})-DP"
        compare(title, ("derived here", "the paper's"), rows, bold="expected regret, at most")
        say(
            "The last line is for losses that are fair coins, on which every learner loses half of the rounds in the "
            "mean. Theorems: dpfast.accounting.papers.experts and lower_bounds."
        )

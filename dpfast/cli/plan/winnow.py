"""dpfast plan winnow."""

from typing import Annotated, Any

import typer
from rich.table import Table

from ..options import Delta, Epsilon, Json
from ..report import answer, number, output, reporting, say


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

    The guarantees (Bun and Fang, Theorem 4.5; for batches, `dpfast.accounting.winnow`) are for rows that
    some weights separate with the margin, and hold with probability 0.95. They are worst cases: real streams usually
    need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast import DPWinnowClassifier
        from dpfast.accounting import batched_plan, winnow_paper
        from dpfast.learners.winnow.plan import plan_of, streaming

        share = {} if confidence is None else {"confidence": confidence}
        problem: dict[str, Any] = {"horizon": horizon, "dimension": 2 * (d + 1), "margin": margin, **share}
        plans = {
            "the paper's update": winnow_paper(epsilon, delta, **problem),
            "the batched update": batched_plan(epsilon, delta, **problem),
        }
        if json:
            answer({name: each._asdict() for name, each in plans.items()})
            return
        table = Table(title=f"winnow over {d:,} columns, ({epsilon}, {delta})-DP, replace")
        table.add_column()
        for heading in plans:
            table.add_column(heading, justify="right", overflow="fold")
        for what, field in (
            ("updates", "n_updates"),
            ("draws for each", "n_draws"),
            ("rows that enter one", "batch"),
            ("learning rate", "learning_rate"),
            ("rows that count, for one", "threshold"),
            ("mistakes, at most", "mistakes"),
            ("rounds from which that is fewer than all", "horizon_needed"),
        ):
            style = "bold" if field == "mistakes" else None
            table.add_row(what, *[number(getattr(each, field)) for each in plans.values()], style=style)
        output.print(table)
        for name, each in plans.items():
            if each.vacuous:
                say(
                    f"The guarantee of {name} is vacuous: it allows more mistakes than the {horizon:,} rounds planned. "
                    f"It says something from {number(each.horizon_needed)} rounds on."
                )
            else:
                say(f"{name.capitalize()} is guaranteed at most {number(each.mistakes)} mistakes.")
        learner = DPWinnowClassifier(epsilon, delta)
        stream = plan_of(streaming(learner._checked()), d)
        enough = stream.enough(0)
        say(
            f"In practice: the defaults are {stream.n_updates} updates of {stream.n_draws} draws, which gives the "
            f"learning rate eta = {stream.learning_rate:.4g}. The first update comes after about {enough:,} rows, "
            "which all count; later ones need fewer, of those that are mistaken or unsure."
        )
        if horizon < enough:
            say(f"{horizon:,} rounds are too few for one update.")

"""dpfast plan: what a model needs and what is guaranteed, before there is any data."""

import math
from typing import Annotated

import typer
from rich.table import Table

from .models import Weight
from .options import Delta, Epsilon, Neighbors, Relation
from .report import number, output, reporting, say

app = typer.Typer(no_args_is_help=True, help="What a model needs and what is guaranteed, before there is any data.")


@app.command("decision-list")
def decision_list(
    n: Annotated[int, typer.Option("--n", help="Rows at hand.", min=1)],
    features: Annotated[int, typer.Option(help="Conditions a rule may test; d columns and negations are 2 d.", min=1)],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    alpha: Annotated[float, typer.Option(help="Error wanted, in (0, 1).")] = 0.1,
    beta: Annotated[float, typer.Option(help="Probability of missing it, in (0, 1).")] = 0.1,
    neighbors: Relation = Neighbors.replace,
    coverage_weight: Weight = 0.5,
):
    """How many rows a guarantee asks for: by the paper's constants, and by the tight privacy curve.

    The guarantee (Bun and Fang, Theorem 3.5) is for labels that some decision list predicts without error, and for
    coverage weight 0. It is a worst case: real tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        for name, value in (("alpha", alpha), ("beta", beta)):
            if not 0 < value < 1:
                raise ValueError(f"--{name} must lie in (0, 1), got {value}")

        from dpfast.accounting import cover_exponent

        paper = cover_exponent(epsilon, delta, neighbors=neighbors.value, accounting="paper")
        curve = cover_exponent(epsilon, delta, neighbors=neighbors.value)
        weighted = cover_exponent(epsilon, delta, neighbors=neighbors.value, coverage_weight=coverage_weight)

        statistics = _rows_to_generalise(features, alpha, beta)
        table = Table(title=f"decision-list over {features:,} features, ({epsilon}, {delta})-DP, {neighbors}")
        for heading in ("", "paper's constants", "curve"):
            table.add_column(heading, justify="right" if heading else "left", overflow="fold")
        privacy = [_rows_for_privacy(features, alpha, beta, t) for t in (paper, curve)]
        asked = [max(statistics, rows) for rows in privacy]
        table.add_row("exponent per unit of score", f"{paper:.5f}", f"{curve:.5f}")
        table.add_row("rows to generalise", *[f"{math.ceil(statistics):,}"] * 2)
        table.add_row("rows for privacy", *[f"{math.ceil(rows):,}" for rows in privacy])
        table.add_row("rows asked", *[f"{math.ceil(rows):,}" for rows in asked], style="bold")
        table.add_row(f"n = {n:,}", *["enough" if n >= rows else f"{rows / n:,.1f} times too few" for rows in asked])
        table.add_row("error that n guarantees", *[_error_at(n, features, beta, t) for t in (paper, curve)])
        output.print(table)
        say(
            f"Asked for an error of at most {alpha} with probability {1 - beta:g}, "
            "where some decision list makes no error."
        )
        if coverage_weight:
            say(
                f"Coverage weight {coverage_weight:g} has the exponent {weighted:.5f} by the curve; the theorem is "
                "about weight 0, so no number of rows is claimed for it."
            )


@app.command("winnow")
def winnow(
    d: Annotated[int, typer.Option("--d", help="Columns; a constant and negated copies are added to them.", min=1)],
    margin: Annotated[float, typer.Option(help="By which some weights of sum 1 are right on every row, in (0, 1].")],
    horizon: Annotated[int, typer.Option(help="Rounds of the stream.", min=1)],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    confidence: Annotated[
        float | None, typer.Option(help="Share of the margin that the draws may miss; each bound's best by default.")
    ] = None,
):
    """How many mistakes are guaranteed, by the paper's update and by the batched one, and what practice needs.

    The guarantees (Bun and Fang, Theorem 4.5; batched: theory, section 4) are for rows that some weights separate
    with the margin, and hold with probability 0.95. They are worst cases: real streams usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast import DPWinnowClassifier
        from dpfast.accounting import batched_plan, winnow_paper

        share = {} if confidence is None else {"confidence": confidence}
        problem = {"horizon": horizon, "dimension": 2 * (d + 1), "margin": margin, **share}
        plans = {
            "the paper's update": winnow_paper(epsilon, delta, **problem),
            "the batched update": batched_plan(epsilon, delta, **problem),
        }
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
        learner.learning_rate_, _ = learner._tight_rates(streaming=True)
        learner.n_features_in_, learner.released_weights_ = d, []
        enough = learner._enough()
        say(
            f"In practice: the defaults are {learner.n_updates} updates of {learner.n_draws} draws, which gives the "
            f"learning rate eta = {learner.learning_rate_:.4g}. The first update comes after about {enough:,} rows, "
            "which all count; later ones need fewer, of those that are mistaken or unsure."
        )
        if horizon < enough:
            say(f"{horizon:,} rounds are too few for one update.")


def _rows_to_generalise(features, alpha, beta):
    """First term of Theorem 3.5 [BF]: 64/alpha (VC ln(64/alpha) + ln(16/beta)).

    VC is M + 1. A list "if f_1 then b_1, ..., else b_k", b_i = +-1, is the sign of sum_i 2^-i b_i f_i(x), the
    constant true its last feature, because the first term that is not 0 outweighs all later ones: a halfspace
    over M features with an offset. M + 1 is reached, on the unit vectors and 0.
    """
    return 64 / alpha * ((features + 1) * math.log(64 / alpha) + math.log(16 / beta))


def _rows_for_privacy(features, alpha, beta, exponent):
    """Second term of Theorem 3.5 [BF]: 8 M ln(2 M / sqrt(beta)) / (eps_hat alpha).

    The paper weighs a candidate by exp(eps_hat q / 2), so eps_hat is twice the exponent per unit of score. The term
    is the excess error of M draws by the exponential mechanism and holds for every exponent.
    """
    return 8 * features * math.log(2 * features / math.sqrt(beta)) / (2 * exponent * alpha)


def _error_at(n, features, beta, exponent):
    """The least alpha that n rows suffice for, as text; both terms fall as alpha grows."""

    def enough(alpha):
        return n >= max(_rows_to_generalise(features, alpha, beta), _rows_for_privacy(features, alpha, beta, exponent))

    low, high = 0.0, 1.0
    if not enough(high):
        return "none"
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return f"{high:.2g}"

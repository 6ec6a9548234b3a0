"""dpfast plan boost, projected and net: rows for the learners of halfspaces."""

import math
from typing import Annotated

import typer

from ..options import Alpha, Beta, Delta, Epsilon, Json, Relation, Rows
from ..report import answer, compare, number, reporting, say

_Margin = Annotated[
    float, typer.Option(help="Margin by which some unit vector is right on every row of norm at most 1, in (0, 1].")
]
_Columns = Annotated[int | None, typer.Option("--d", help="Number of columns; few columns need no projection.", min=1)]
_MOST = 53 * math.log10(2)  # members of the largest net that the learner can search


def boost(
    margin: _Margin,
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    noise: Annotated[float, typer.Option(help="Probability with which each label is flipped, below 1/2.")] = 0.0,
    corrupted: Annotated[float, typer.Option(help="Share of the rows that somebody may have replaced.")] = 0.0,
    n: Rows = None,
    json: Json = False,
):
    """Show how many rows the boosted halfspace and every private learner need, and the parameters.

    The learner is that of Bun, Carmosino and Sorrell, Theorem 30; the constants are derived in
    dpfast.accounting.papers.halfspaces, and shown beside those of the paper. The bound is for the worst case and any
    number of columns: real tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import boost_paper, boost_plan

        plan = boost_plan(epsilon, delta, margin=margin, alpha=alpha, beta=beta, noise=noise, corrupted=corrupted)
        paper = boost_paper(epsilon, delta, margin=margin, alpha=alpha, beta=beta)
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
        flipped = f", with labels flipped with probability {noise:g}" if noise else ""
        flipped += f", with at most {corrupted:g} of the rows replaced" if corrupted else ""
        title = f"boost at margin {margin}, ({epsilon}, {delta})-DP, replace"
        promise = [_promise(alpha, beta, flipped), _sources("Bun, Carmosino and Sorrell, Theorem 30")]
        _show(title, plan, paper, n, rows, promise, json)


def projected(
    margin: _Margin,
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    n: Rows = None,
    d: _Columns = None,
    json: Json = False,
):
    """Show how many rows the projected halfspace and every private learner need, and the parameters.

    The learner is that of Nguyen, Ullman and Zakynthinou, Theorem 2; the constants are derived in
    dpfast.accounting.papers.halfspaces, and shown beside those of the paper. The bound is for the worst case: real
    tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import projected_paper, projected_plan

        plan = projected_plan(epsilon, delta, margin=margin, alpha=alpha, beta=beta, dimension=d)
        paper = projected_paper(epsilon, delta, margin=margin, alpha=alpha, beta=beta)
        rows = {
            "components": (_components(plan, d), paper.n_components),
            "rounds": (plan.n_rounds, paper.n_rounds),
            "step eta": (plan.step, ""),
            "noise sigma of a round": (plan.sigma, ""),
        }
        promise = [
            _promise(alpha, beta),
            *_without_projection(plan, d),
            _sources("Nguyen, Ullman and Zakynthinou, Theorem 2"),
        ]
        _show(f"projected at margin {margin}, ({epsilon}, {delta})-DP, replace", plan, paper, n, rows, promise, json)


def net(
    margin: _Margin,
    epsilon: Epsilon,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    neighbors: Relation = "replace",
    n: Rows = None,
    d: _Columns = None,
    json: Json = False,
):
    """Show how many rows the halfspace from a net and every private learner need, and the size of the net.

    The learner is that of Nguyen, Ullman and Zakynthinou, Theorem 4; the constants are derived in
    dpfast.accounting.papers.halfspaces, and shown beside those of the paper. The bound is for the worst case: real
    tables usually need far fewer rows.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import net_paper, net_plan

        plan = net_plan(epsilon, margin=margin, alpha=alpha, beta=beta, dimension=d, neighbors=neighbors)
        paper = net_paper(epsilon, margin=margin, alpha=alpha, beta=beta)
        rows = {
            "components": (_components(plan, d), paper.n_components),
            "places along an edge": (plan.side, ""),
            "members of the net": (_members(plan), _members(paper)),
            "exponent per wrong row": (plan.exponent, epsilon / 2),
        }
        promise = [
            _promise(alpha, beta),
            *_without_projection(plan, d),
            _sources("Nguyen, Ullman and Zakynthinou, Theorem 4"),
        ]
        if plan.log10_size >= _MOST:
            promise.append(
                "No learner can search so large a net; it shows the cost of the guarantee. "
                "With few columns (--d) the net is smaller."
            )
        _show(f"net at margin {margin}, {epsilon}-DP, {neighbors}", plan, paper, n, rows, promise, json)


def _show(title, plan, paper, n, parameters, promise, json):
    """Show a plan beside that of the paper, and what is promised, a line each; for programs only the two plans."""
    if json:
        answer({"derived here": plan._asdict(), "the paper's": paper._asdict()})
        return
    needed = {
        "rows needed": (plan.n, paper.n),
        "rows every private learner needs": (plan.lower_bound, getattr(paper, "lower_bound", "")),
    }
    compare(title, ("derived here", "the paper's"), needed | parameters, n=n)
    for line in promise:
        say(line)


def _components(plan, d):
    return number(plan.n_components) + (" (all columns)" if plan.n_components == d else "")


def _members(plan):
    small = plan.log10_size < 9
    return number(10**plan.log10_size) if small else f"10^{number(plan.log10_size)}"


def _promise(alpha, beta, flipped=""):
    return (
        f"So many rows give an error of at most {alpha} with probability {1 - beta:g}, if some halfspace has the "
        f"margin on every row{flipped}."
    )


def _without_projection(plan, d):
    if plan.n_components == d:
        yield "The plan is for rows as they are: a random projection to so few components does not keep the margin."


def _sources(theorem):
    return (
        "The bounds derived here are those of dpfast.accounting.papers.halfspaces, which names their proofs; "
        f"they are not the constants of {theorem}. The table shows those as the paper's proofs use them "
        "(dpfast.accounting.papers.halfspaces_paper), but they are not claimed."
    )

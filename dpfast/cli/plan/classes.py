"""dpfast plan finite-class and littlestone: rows and mistakes of learners of classes."""

import math
from typing import Annotated, Any, Literal

import typer

from ..options import Alpha, Beta, Delta, Epsilon, Json, Relation, Rows
from ..report import answer, compare, reporting, say

_ANY = 10**100  # any amount of work, because nothing is run here


def finite_class(
    hypotheses: Annotated[int, typer.Option(help="Number of members of the class; d features make 2 d + 2.", min=1)],
    epsilon: Epsilon,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    neighbors: Relation = "replace",
    n: Rows = None,
    json: Json = False,
):
    """Show how many rows are needed to choose from a finite class, with and without a hypothesis that is never wrong.

    The learner is the exponential mechanism on errors (Dwork and Roth, section 11.1), with delta = 0. The paper
    gives the order of the number of rows, without a constant.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import finite_class_plan

        problem: dict[str, Any] = {"alpha": alpha, "beta": beta, "neighbors": neighbors}
        agnostic = finite_class_plan(epsilon, hypotheses, **problem)
        realizable = finite_class_plan(epsilon, hypotheses, realizable=True, **problem)
        plans = {"some is never wrong": realizable, "any labels": agnostic}
        if json:
            answer({name: plan._asdict() for name, plan in plans.items()})
            return
        rows = {
            "rows needed": [plan.n for plan in plans.values()],
            "the paper's order, its constant 1": ("", agnostic.paper_order),
            "wrong rows that the draw adds, at most": [plan.excess for plan in plans.values()],
            "exponent per wrong row": [plan.exponent for plan in plans.values()],
        }
        compare(f"finite class of {hypotheses:,} hypotheses, {epsilon}-DP, {neighbors}", plans, rows, n=n)
        say(
            f"So many rows give an error of at most {alpha} above that of the best hypothesis, with probability "
            f"{1 - beta:g}. Theorem: dpfast.accounting.papers.finite_class."
        )


def littlestone(
    hypotheses: Annotated[Literal["point-functions", "thresholds"], typer.Option("--class", help="Class to learn.")],
    points: Annotated[int, typer.Option(help="Number of different rows.", min=1)],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    alpha: Alpha = 0.1,
    beta: Beta = 0.1,
    neighbors: Relation = "replace",
    n: Rows = None,
    horizon: Annotated[
        int | None, typer.Option(help="Number of rounds of a stream, to plan for a stream, too.", min=2)
    ] = None,
):
    """Show how many rows learners of a Littlestone class need, and how many mistakes they make on a stream.

    The theorems are those of Lyu (2025), with constants that are derived here, and are for the worst case. The teachers
    of LittlestoneLearner are planned without a theorem. One draw of the exponential mechanism, where the class can be
    listed, needs fewer rows than either.
    """
    with reporting("nothing was computed"):
        from dpfast.accounting import finite_class_plan, new_row_error
        from dpfast.accounting.papers.lower_bounds import shattered_lower_bound
        from dpfast.littlestone import (
            LittlestoneLearner,
            OnlineLittlestoneLearner,
            PointFunctions,
            StagedLittlestoneLearner,
            StagedOnlineLittlestoneLearner,
            Thresholds,
        )

        H = {"point-functions": PointFunctions, "thresholds": Thresholds}[hypotheses](points)
        d = H.littlestone_dimension()
        own: dict[str, Any] = {"confidence": beta, "neighbors": neighbors, "max_work": _ANY}
        plan = StagedLittlestoneLearner(epsilon, delta, H, alpha, **own).estimate()
        teachers = LittlestoneLearner(epsilon, delta, H, alpha, **own).estimate()
        final = finite_class_plan(epsilon, H.size, alpha=alpha, beta=beta, neighbors=neighbors, realizable=True)
        lower = shattered_lower_bound(epsilon, delta, 2, alpha=alpha, beta=beta, neighbors=neighbors)
        new = f"{new_row_error(alpha, plan.n_samples, dimension=d):.4g}"
        rows = {
            "rows needed": (plan.n_samples, teachers.n_samples, final.n),
            "error on new rows": (new, "", f"{alpha:g}"),
            "teachers": (plan.n_teachers, teachers.n_teachers, ""),
            "rows of each": (plan.rows_per_teacher, teachers.rows_per_teacher, ""),
            "the paper's order, its constant 1": (d**5 * math.log(1 / delta) / (alpha * epsilon), "", ""),
            "rows every private learner needs": [lower] * 3,
        }
        title = f"{hypotheses} on {points:,} points, dimension {d}, ({epsilon}, {delta})-DP, {neighbors}"
        compare(title, ("Theorem 3", "teachers, no theorem", "exponential mechanism"), rows, n=n)
        say(
            f"So many rows give an error of at most {alpha} on the rows with probability {1 - beta:g}, if some member "
            "makes none. The bound on new rows fails with a further probability of 0.05 "
            "(dpfast.accounting.papers.new_rows). Theorems: dpfast.accounting.papers.littlestone and finite_class."
        )
        if horizon is not None:
            online: dict[str, Any] = {"horizon": horizon, "neighbors": neighbors, "max_work": _ANY}
            stream = OnlineLittlestoneLearner(epsilon, delta, H, **online).estimate()
            say(
                f"A stream of {horizon:,} rounds: OnlineLittlestoneLearner is planned for {stream.mistakes:,} mistakes."
            )
            try:
                theorem = StagedOnlineLittlestoneLearner(epsilon, delta, H, **online).estimate()
                say(f"Theorem 1 has at most {theorem.mistakes:,}.")
            except ValueError as refusal:
                say(f"Theorem 1 does not apply here: {refusal}")

"""dpfast audit: what a model claims beside what runs of it certify."""

import warnings
from typing import Annotated, Literal

import typer

from .options import Epsilon, Json, Seed
from .report import answer, errors, output, reporting

AUDITED = (
    "decision-list", "winnow", "winnow-window", "halfspace", "boost", "projected", "net", "finite-class",
    "class-counts", "linear-learner", "experts", "queries", "littlestone", "staged-littlestone", "online-littlestone",
    "encoder", "quantiles", "exponential-cover", "above-threshold", "sparse-sample",
)  # fmt: skip
Audited = Literal[AUDITED]  # type: ignore[valid-type]  # of a table


def audit(
    epsilon: Epsilon,
    model: Annotated[Audited | None, typer.Option(help="Model or mechanism to audit; by default all.")] = None,
    delta: Annotated[float, typer.Option(help="In (0, 1); large, because runs do not show what is rare.")] = 0.05,
    runs: Annotated[int, typer.Option(help="Number of runs of the model on each of the two tables.")] = 20_000,
    seed: Seed = None,
    json: Json = False,
):
    """Run a model on two neighbouring tables, and compute a lower bound of its true epsilon.

    The bound fails with probability at most 1e-6. A bound above the claim refutes the claim; a bound near it shows that
    the claim is tight.
    """
    with reporting("no audit was finished"):
        from dpfast.base.parameters import DELTA, EPSILON

        EPSILON.read("epsilon", epsilon)
        DELTA.read("delta", delta)

        from rich.table import Table

        from dpfast import PrivacyWarning
        from dpfast.audit import certify

        from .worst_cases import CASES

        table = Table()
        for column in ("model", "tables", "delta", "claimed", "certified", "runs"):
            table.add_column(column, justify="left" if column in ("model", "tables") else "right")
        refuted, notes, figures = [], [], []
        for name in [model] if model else AUDITED:
            case = CASES[name](epsilon, delta)
            with errors.status(f"auditing {name}"), warnings.catch_warnings():
                warnings.simplefilter("ignore", PrivacyWarning)  # delta is large on purpose
                certificate = certify(
                    case.run, case.table, case.neighbor, epsilon=epsilon, delta=case.delta, runs=runs, random_state=seed
                )
            table.add_row(
                name,
                case.what,
                f"{case.delta:g}",
                f"{epsilon:g}",
                f"{certificate.certified:.3f}",
                f"{certificate.runs:,}",
            )
            claimed = {"model": name, "delta": case.delta, "claimed": epsilon}
            figures.append(claimed | {"certified": certificate.certified, "runs": certificate.runs})
            refuted += [] if certificate.holds else [name]
            notes += [f"{name}: {case.weak}."] if case.weak else []
        if json:
            answer(figures)
        else:
            output.print(table)
            for note in notes:
                output.print(note)
        if refuted:
            raise ValueError(f"the claim of {', '.join(refuted)} is refuted")

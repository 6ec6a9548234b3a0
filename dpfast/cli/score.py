"""dpfast score: how good a saved model is on rows that it never saw, by noisy figures."""

from dataclasses import dataclass, field
from typing import Annotated, Literal

import typer

from .figures import figures, figures_to_keep, figures_to_print
from .files import check_there, open_budget, persons_of, settings_for
from .groups import groups_of, show_groups
from .options import (
    By,
    Data,
    Epsilon,
    Json,
    Label,
    Ledger,
    Model,
    Relation,
    RowsPerUnit,
    Seed,
    TextOptionsOfFit,
    Unit,
    spread,
)
from .outputs import check_files
from .predict import table_for
from .report import answer, facts, output, reporting


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The options of `dpfast score`."""

    epsilon: Epsilon
    label: Label = None
    neighbors: Relation = "replace"
    unit: Unit = None
    rows_per_unit: RowsPerUnit = None
    only: Annotated[
        Literal["accuracy"] | None,
        typer.Option(help="Spend all of epsilon on the accuracy; by default on all figures that the rows can show."),
    ] = None
    threshold: Annotated[float | None, typer.Option(help="Turn numbers into bits, as for predict.")] = None
    numbers: Annotated[bool | None, typer.Option("--numbers/--bits", help="How to read features, as for predict.")] = (
        None
    )
    text: TextOptionsOfFit
    by: By = field(default_factory=list)
    seed: Seed = None
    budget: Ledger = None
    json: Json = False


@spread
def score(model: Model, data: Data, choices: ScoreOptions):
    """Show noisy figures of a model on rows that it never saw.

    The figures together are epsilon-DP for the rows of DATA. If the model was learned from some of these rows, its
    epsilon adds to that of the figures for them. A label that the model does not know counts as a wrong prediction.
    A CSV file is read as by predict: with the separator, decimal mark, order of dates and encoding that were given to
    fit, unless an option says otherwise. What the number of rows cannot show at this epsilon is left out; then the
    rest has more of epsilon. With --unit the claim protects persons, as that of fit does.
    """
    with reporting("nothing was released"):
        check_files(None, MODEL=model, DATA=data, budget=choices.budget)
        check_there(data)

        import dpfast
        from dpfast import random
        from dpfast.base.parameters import EPSILON
        from dpfast.tables.sources import count_rows

        rng, epsilon, neighbors = (
            random.generator(choices.seed),
            EPSILON.read("epsilon", choices.epsilon),
            choices.neighbors,
        )
        if (choices.unit is None) != (choices.rows_per_unit is None):
            raise ValueError("--unit and --rows-per-unit go together")
        ledger = None if choices.budget is None else open_budget(choices.budget, neighbors, choices.unit)
        estimator = dpfast.load(model)
        text = settings_for(data, estimator, **choices.text.settings)
        schema = getattr(getattr(estimator, "encoder_", None), "schema_", None)
        by = groups_of(choices.by, data, schema, **text)
        ways = choices.label, choices.threshold, choices.numbers
        X, y = table_for(estimator, model, data, *ways, labelled=True, **text)
        if neighbors == "replace" and not count_rows(X):  # else their number is private
            raise ValueError(f"{data} has no rows")
        asked_for = {"epsilon": epsilon, "neighbors": neighbors, "budget": ledger, "by": by, "only": choices.only}
        if choices.unit is not None:
            persons = persons_of(data, choices.unit, len(X if y is None else y), **text)
            asked_for |= {"units": persons, "rows_per_unit": choices.rows_per_unit}
        lines = figures(estimator, X, y, rng, **asked_for)
        whom = "one row" if choices.unit is None else f"one person of at most {choices.rows_per_unit:,} rows that count"
        relation = f"replace {whom}" if neighbors == "replace" else f"add or remove {whom}"
        seeded = "; drawn with a seed: reproducible, not private" if choices.seed is not None else ""
        claim = f"({epsilon:g}, 0)-DP for these rows, {relation}{seeded}"
        if choices.json:
            answer({"data": data, "figures": figures_to_keep(lines, data), "epsilon": epsilon, "claim": claim})
            return
        summary = facts()
        for figure in figures_to_print(lines):
            summary.add_row(figure.name, figure.text)
        summary.add_row("privacy", claim)
        output.print(summary)
        show_groups(lines)

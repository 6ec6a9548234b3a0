"""dpfast score: how good a saved model is on rows that it never saw, by noisy figures."""

from dataclasses import dataclass, field
from typing import Annotated

import typer

from .figures import figures, figures_to_keep, figures_to_print
from .files import check_there, open_budget, settings_for
from .groups import asked_groups, show_groups
from .options import By, Data, Epsilon, Json, Label, Ledger, Model, Relation, Seed, TextOptionsOfFit, spread
from .outputs import check_files
from .predict import table_for
from .report import answer, facts, output, reporting


@dataclass(frozen=True, kw_only=True)
class ScoreOptions:
    """The options of `dpfast score`."""

    epsilon: Epsilon
    label: Label = None
    neighbors: Relation = "replace"
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
def score(model: Model, data: Data, asked: ScoreOptions):
    """Show noisy figures of a model on rows that it never saw.

    The figures together are epsilon-DP for the rows of DATA. If the model was learned from some of these rows, its
    epsilon adds to that of the figures for them. A label that the model does not know counts as a wrong prediction.
    A CSV file is read as by predict: with the separator, decimal mark, order of dates and encoding that were given to
    fit, unless an option says otherwise.
    """
    with reporting("nothing was released"):
        check_files(None, MODEL=model, DATA=data, budget=asked.budget)
        check_there(data)

        import dpfast
        from dpfast import random
        from dpfast.base.parameters import EPSILON
        from dpfast.tables.sources import count_rows

        rng, epsilon, neighbors = random.generator(asked.seed), EPSILON.read("epsilon", asked.epsilon), asked.neighbors
        ledger = None if asked.budget is None else open_budget(asked.budget, neighbors)
        estimator = dpfast.load(model)
        text = settings_for(data, estimator, **asked.text.settings)
        schema = getattr(getattr(estimator, "encoder_", None), "schema_", None)
        by = asked_groups(asked.by, data, schema, **text)
        ways = asked.label, asked.threshold, asked.numbers
        X, y = table_for(estimator, model, data, *ways, labelled=True, **text)
        if neighbors == "replace" and not count_rows(X):  # else their number is private
            raise ValueError(f"{data} has no rows")
        shown = figures(estimator, X, y, rng, epsilon=epsilon, neighbors=neighbors, budget=ledger, by=by)
        relation = "replace one row" if neighbors == "replace" else "add or remove one row"
        seeded = "; drawn with a seed: reproducible, not private" if asked.seed is not None else ""
        claim = f"({epsilon:g}, 0)-DP for these rows, {relation}{seeded}"
        if asked.json:
            answer({"data": data, "figures": figures_to_keep(shown, data), "epsilon": epsilon, "claim": claim})
            return
        summary = facts()
        for figure in figures_to_print(shown):
            summary.add_row(figure.name, figure.text)
        summary.add_row("privacy", claim)
        output.print(summary)
        show_groups(shown)

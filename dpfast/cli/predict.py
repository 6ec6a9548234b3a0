"""dpfast predict: the labels that a saved model gives to a table."""

import csv
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from .files import check_writable, read
from .options import Data
from .report import reporting, some


def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that fit --out wrote.")],
    data: Data,
    label: Annotated[str | None, typer.Option(help="A column to leave out.")] = None,
    threshold: Annotated[float | None, typer.Option(help="As for fit; a decision list knows its own.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write here instead of to standard output.")] = None,
):
    """Predict the label of each row, one a line.

    A prediction tells something about its row: it is for those who may see the row.
    """
    with reporting("no predictions were written") as state:
        check_writable(out)

        import dpfast

        estimator = dpfast.load(model)
        if hasattr(estimator, "threshold"):
            if threshold is not None:
                raise ValueError(f"--threshold is for models that do not know it; {model} has {estimator.threshold}")
            threshold = estimator.threshold
        table = read(data, label=label, threshold=threshold, n_features=estimator.n_features_in_)
        _check_names(table.X, estimator, data, model)
        predicted = estimator.predict(table.X).tolist()
        state.now = f"{out or 'the output'} may be cut short"
        with nullcontext(sys.stdout) if out is None else open(out, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([value] for value in predicted)


def _check_names(X, estimator, data, model):
    """Refuse a table whose columns are not the model's, naming one that is amiss."""
    wanted = list(getattr(estimator, "feature_names_in_", []))
    if not wanted or X.feature_names is None or X.feature_names == wanted:
        if X.shape[1] != estimator.n_features_in_:
            raise ValueError(f"{data} has {X.shape[1]} features, {model} was fitted on {estimator.n_features_in_}")
        return
    there, known = set(X.feature_names), set(wanted)
    lacking = [name for name in wanted if name not in there]
    extra = [name for name in X.feature_names if name not in known]
    if lacking:
        raise ValueError(f"{data} lacks features that {model} was fitted on: {some(lacking)}")
    if extra:
        raise ValueError(f"{data} has columns that {model} does not know: {some(extra)}; --label leaves one out")
    raise ValueError(f"{data} has the features that {model} was fitted on, in another order")

"""dpfast fit: learn a private model from a table."""

import math
import time
from fractions import Fraction
from typing import Annotated

import typer
from rich.text import Text

from .files import check_writable, is_packed, limits_of, name_features, read, save
from .models import MODELS, Name, estimator_of, values_of, with_options_of_models
from .options import (
    Data,
    Delta,
    Epsilon,
    Label,
    Negations,
    Neighbors,
    Numbers,
    Out,
    Relation,
    Seed,
    ShowPrivate,
    Threshold,
)
from .report import errors, facts, output, reporting, say, some

MODEL = "What to learn; finite-class is one feature, its negation or one label always, drawn by its errors."


@with_options_of_models
def fit(
    context: typer.Context,
    data: Data,
    model: Annotated[Name, typer.Option(help=MODEL)],
    epsilon: Epsilon,
    delta: Delta = 1e-6,
    label: Label = None,
    classes: Annotated[str | None, typer.Option(help="All labels, as a,b,...; read off the data by default.")] = None,
    threshold: Threshold = None,
    numbers: Numbers = None,
    neighbors: Relation = Neighbors.replace,
    negations: Negations = True,
    test_share: Annotated[float, typer.Option(help="Share of rows kept for the accuracy; 0 learns from all.")] = 0.2,
    seed: Seed = None,
    show_private: ShowPrivate = False,
    out: Out = None,
    **own,
):
    """Learn a private model and show it, its test accuracy and what was spent.

    Rows are put into a training and a test part at random, each on its own; both parts are released with the
    whole budget, which is the budget of the whole: a row is in one of them only.
    """
    with reporting("nothing was released and no file was written") as state:
        if not 0 <= test_share < 1:
            raise ValueError(f"--test-share must be at least 0 and below 1, got {test_share}")
        check_writable(out)

        from dpfast import random

        rng = random.generator(seed)
        asked = {
            "epsilon": epsilon,
            "delta": delta,
            "neighbors": neighbors.value,
            "negations": negations,
            "threshold": threshold,
            "random_state": rng,
        }
        estimator = estimator_of(model, context, asked, own)
        values = values_of(model, own, threshold=threshold, numbers=numbers)
        start = time.perf_counter()
        table = read(
            data,
            label=label,
            needs_label=True,
            threshold=threshold,
            values=values,
            limits=limits_of(estimator),
            may_stay=MODELS[model].may_stay,
        )
        declared = _classes(table.y, classes, data)
        test = rng.random(len(table.y)) < test_share
        if test.all() or (test_share and not test.any()):
            raise ValueError(f"{data}: {len(test)} rows are too few for a training and a test part; see --test-share")
        names, bits, stays = table.feature_names, is_packed(table.X), hasattr(table.X, "block")
        X, X_test, y, y_test = *_split(table.X, test), table.y[~test], table.y[test]
        del table  # which has the rows once more
        done = time.perf_counter()
        with errors.status(f"learning from {data}"):
            estimator.fit(X, y, classes=declared)
        fitted = time.perf_counter()
        accuracy = _noisy_accuracy(estimator, X_test, y_test, rng) if test_share else None
        exact = estimator.score(X_test, y_test) if test_share and show_private else None
        name_features(estimator, names)
        if out is not None:
            save(estimator, out, bits=bits, threshold=threshold)
        state.now = "the model is released and its budget spent" + (f"; it is whole in {out}" if out else "")

        public_rows = neighbors is Neighbors.replace or show_private
        rows = f"{len(test):,} rows, " if public_rows else ""
        kind = "" if values == "bits" else " of 0 and 1" if bits else " of numbers"
        say(f"{data}: {rows}{estimator.n_features_in_:,} features{kind}, labels {some(estimator.classes_)}")
        say()
        MODELS[model].show(estimator, output, bits=bits, rows=(X, y) if show_private else None)
        say()
        told = facts()
        if accuracy is not None:
            told.add_row("test accuracy", f"{accuracy} (noisy release, free by parallel composition)")
        if exact is not None:
            told.add_row("", Text(f"{exact:.4f} exactly (not private)", style="yellow"))
        told.add_row("privacy", str(estimator.privacy_))
        told.add_row("time", f"{fitted - done:.3f} s to learn, {done - start:.3f} s to read")
        if stays:
            told.add_row("", "the table is large: what exceeds 1 GB was read from its file in every round")
        if out is not None:
            told.add_row("saved", Text(str(out)))
        output.print(told)


def _split(X, test):
    """The rows of the training and of the test part; an array is used up, so that it is not there twice."""
    import numpy as np

    from dpfast.data.blocks import slices
    from dpfast.data.entries import block_rows

    apart = X[test]
    if not isinstance(X, np.ndarray):
        return X[~test], apart
    size = 0
    for part in slices(len(X), block_rows(X.shape[1])):
        kept = X[part][~test[part]]
        X[size : size + len(kept)] = kept
        size += len(kept)
    return X[:size], apart


def _noisy_accuracy(estimator, X, y, rng):
    """Accuracy on the test part, with noise, as text; epsilon-DP for the estimator's relation.

    Each row went to the test part by a coin of its own, so neighbouring tables differ in one part only: a model
    from the training part and this release together are (epsilon, delta)-DP, no more.

    replace: the size of the part is public, one row moves the number of right predictions by at most one.
    add-remove: the size is not public. One row more adds one to the right or to the wrong predictions, so noise of
    the same scale on both pays for both, and their sum is what to divide by.

    The noise's standard deviation is computed from what is released.
    """
    from dpfast.mechanisms import discrete_laplace

    scale = 1 / Fraction(repr(estimator.epsilon))
    right = int((estimator.predict(X) == y).sum())
    if estimator.neighbors == "replace":
        right, total = discrete_laplace(right, scale, rng=rng), len(y)
    else:
        right, wrong = discrete_laplace([right, len(y) - right], scale, rng=rng).tolist()
        total = right + wrong
    if total <= 0:
        return "lost in the noise"
    accuracy = min(max(right / total, 0.0), 1.0)
    deviation = math.sqrt(2 * math.exp(-1 / scale)) / -math.expm1(-1 / scale) / total
    if estimator.neighbors == "add-remove":
        deviation *= math.hypot(accuracy, 1 - accuracy)  # of right / (right + wrong), to first order
    digits = min(6, max(2, math.ceil(-math.log10(deviation)))) if deviation > 0 else 6
    return f"{accuracy:.{digits}f} ± {deviation:.{digits}f}"


def _classes(y, declared, data):
    """The set of labels: public, so declared or read off the whole table, not off a part of it."""
    import numpy as np

    seen = np.unique(y).tolist()
    if declared is None:
        if len(seen) < 2:
            raise ValueError(f"{data}: all rows have the label {seen[0]!r}, two or more are needed; see --classes")
        return seen
    names = [name.strip() for name in declared.split(",")]
    if y.dtype.kind == "i":
        try:
            names = [int(name) for name in names]
        except ValueError:
            raise ValueError(f"--classes must be integers as the labels of {data} are, got {declared!r}") from None
    unknown = sorted(set(seen) - set(names))
    if unknown:
        raise ValueError(f"{data}: a row has the label {unknown[0]!r}, which --classes {declared} does not name")
    return names

"""Private accuracy, and the confusion matrix."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from dpfast.accounting import Budget
from dpfast.accounting.numbers import check_neighbors
from dpfast.metrics.figure import LESS, ConfusionMatrix, Counter, Figure, check_level, half_width, rows_of_units
from dpfast.tables.classes import read_classes, refuse_few
from dpfast.tables.labels import are_equal, codes_of_classes, labels_as_they_are, rows_to_count


def accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    epsilon: float,
    neighbors: str = "replace",
    level: float = 0.95,
    budget: Budget | None = None,
    units: ArrayLike | None = None,
    rows_per_unit: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Figure:
    """Return the share of correct predictions, with noise.

    **Privacy.** The figure is epsilon-DP for the relation `neighbors` of the rows (y_true, y_pred), if the model does
    not depend on them. "replace": the number of rows is public, and one row changes the number of correct predictions
    by at most one. "add-remove": a further row adds one to the correct or to the wrong predictions, and both numbers
    get noise.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (n,)
        Rows without a label in y_true are left out under "add-remove", and refused under "replace".
    epsilon : real, > 0
    neighbors : {"replace", "add-remove"}
    level : float in (0, 1)
        The probability of the interval.
    budget : dpfast.accounting.Budget or None
        Charged epsilon before anything is drawn.
    units : array_like, shape (n,), optional
        Whose each row is. The claim then protects all rows of a unit, such as a person. Under "replace" the number of
        the rows that are used is public, unlike in `fit`; "add-remove" hides it.
    rows_per_unit : int, optional
        The largest number of rows to use of each unit, chosen at random; it goes with `units`.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    Figure

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(1000) % 4
    >>> figure = accuracy(y, np.where(y < 3, y, 0), epsilon=1, random_state=0)
    >>> print(figure)
    0.749 (95% interval 0.720 to 0.776)
    """
    rng, y_true, y_pred = rows_of_units(units, rows_per_unit, random_state, y_true, y_pred)
    right, n = _right(*_pick_labelled(y_true, y_pred, neighbors))
    check_level(level)
    counter = Counter(epsilon, neighbors, budget, rng, moved=1, rows_per_unit=rows_per_unit)
    if neighbors == "replace":
        right, noisy_n, noise = counter.release(right), n, counter.deviation
    else:
        right, wrong = counter.release([right, n - right]).tolist()
        noisy_n, noise = right + wrong, counter.deviation * np.sqrt(0.5)  # of right (1 - p) - wrong p, p = 1/2
    low, high = _interval(right, max(1, noisy_n), noise, level, neighbors)
    return Figure(float(np.clip(right / max(1, noisy_n), 0, 1)), low, high, level, counter.privacy)


def confusion_matrix(
    y_true: Any,
    y_pred: Any,
    *,
    classes: ArrayLike | None,
    epsilon: float,
    neighbors: str = "replace",
    budget: Budget | None = None,
    units: ArrayLike | None = None,
    rows_per_unit: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> ConfusionMatrix:
    """Return noisy counts of rows by true class and predicted class.

    **Privacy.** The counts are epsilon-DP, as in `accuracy`: a row is in one cell, so replacing it changes two counts
    by one.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (n,)
    classes : array_like
        The public set of labels.
    epsilon, neighbors, budget, units, rows_per_unit, random_state
        As in `accuracy`.

    Returns
    -------
    ConfusionMatrix
    """
    rng, y_true, y_pred = rows_of_units(units, rows_per_unit, random_state, y_true, y_pred)
    y_true, y_pred = _pick_labelled(y_true, y_pred, neighbors, classes)
    _right(y_true, y_pred)
    names = read_classes(classes)  # type: ignore[arg-type]
    refuse_few(names, True)
    true, predicted = (codes_of_classes(y, len(y), names) for y in (y_true, y_pred))
    k = len(true.classes)
    counter = Counter(epsilon, neighbors, budget, rng, rows_per_unit=rows_per_unit)
    cells = k * true.codes.astype(np.int64) + predicted.codes
    counts = np.bincount(cells, minlength=k * k).reshape(k, k)
    return ConfusionMatrix(counter.release(counts), true.classes, counter.deviation, counter.privacy)


def _pick_labelled(y_true, y_pred, neighbors, classes=None):
    """Return the labels and predictions of the rows with a label."""
    check_neighbors(neighbors)
    y_true, y_pred = (labels_as_they_are(y, name) for y, name in ((y_true, "y_true"), (y_pred, "y_pred")))
    if y_true.ndim != 1 or (mask := rows_to_count(y_true, neighbors, classes, "y_true")) is None:
        return y_true, y_pred
    return y_true[mask], y_pred[mask] if len(y_pred) == len(mask) else y_pred


def _right(y_true, y_pred):
    """Return the number of correct predictions, and the number of all."""
    y_true, y_pred = (labels_as_they_are(y, name) for y, name in ((y_true, "y_true"), (y_pred, "y_pred")))
    if y_true.ndim != 1 or y_true.shape != y_pred.shape:
        raise ValueError(f"y_true and y_pred must be of one shape (n,), got {y_true.shape} and {y_pred.shape}")
    return int(np.count_nonzero(are_equal(y_true, y_pred))), len(y_true)


def _interval(right, n, noise, level, neighbors):
    """Return the interval of all p that a noisy count of n rows does not contradict, given noise and sampling.

    A count beyond 0 and n is as far from them as from any p, or farther, so that it is moved there first: the interval
    never is empty. Counts of rows differ from a normal distribution by half of one.
    """
    right = min(max(right, 0), n)

    def slack(p):
        spread = noise if neighbors == "replace" else noise * np.sqrt(2 * (p * p + (1 - p) * (1 - p)))
        return half_width(np.sqrt(n * p * (1 - p)), spread, level) - max(0.0, abs(right - n * p) - LESS)

    middle = right / n
    low = 0.0 if slack(0.0) >= 0 else brentq(slack, 0, middle)
    high = 1.0 if slack(1.0) >= 0 else brentq(slack, middle, 1)
    return float(low), float(high)

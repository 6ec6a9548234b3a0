"""Private figures by class and by group: disjoint rows, so that one histogram has the figures of all of them.

**Privacy.** A row is in one class and in one group. What it adds to a histogram of all cells of all groups is the same
as if its group were alone (parallel composition), so figures of all groups cost as much as those of one.

A row with a probability p adds one to its cell in two parts, S p and S (1 - p) of S steps, rounded to integers: one
histogram then has the counts, as sums of both parts, and the sums of the probabilities. Together the parts are S, so
that adding a row changes the histogram by S steps, and replacing one by 2 S, in the sum of sizes.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq

from dpfast.accounting import Budget, PrivacySpend
from dpfast.accounting.numbers import check_neighbors
from dpfast.metrics.figure import LESS, Counter, Figure, chance_beyond, check_level, half_width, rows_of_units
from dpfast.tables.arrow import Frame
from dpfast.tables.classes import class_numbers
from dpfast.tables.columns import text_of
from dpfast.tables.labels import labels_as_they_are, rows_to_count
from dpfast.tables.naming import listed

STEPS = 1 << 16  # that a row with a probability counts
VAGUE = 0.5  # length of an interval of a share above which the rows are too few to say
_MOST_CELLS = 1 << 22


class ClassFigures(NamedTuple):
    """Figures of the rows of a class.

    Attributes
    ----------
    label : object
        The class; None for all rows whose label is none of the classes.
    rows, predicted : Figure
        The number of rows of the class, and of rows that are predicted as this class, with intervals for the noise.
    share, predicted_share : Figure
        Both as shares of all rows.
    recall : Figure
        The share of the rows of the class that are predicted as the class.
    precision : Figure
        The share of the rows predicted as the class that are of the class.
    """

    label: Any
    rows: Figure
    predicted: Figure
    share: Figure
    predicted_share: Figure
    recall: Figure
    precision: Figure


@dataclass(frozen=True)
class Classes:
    """Figures of the classes.

    Attributes
    ----------
    classes : tuple of ClassFigures
        One for each class, in their order, and a last one for the rows with other labels.
    rows : Figure
        The number of all rows, with an interval for the noise.
    privacy : PrivacySpend
        The claim of the release.
    """

    classes: tuple[ClassFigures, ...]
    rows: Figure
    privacy: PrivacySpend


class GroupFigures(NamedTuple):
    """Figures of a group of rows, the rows with one value of a column.

    Attributes
    ----------
    value : str or None
        None for the group of all rows with another value, or with none.
    rows : Figure
        The number of rows, with an interval for the noise.
    accuracy : Figure
    recall : dict of Figure
        The share of the rows of a class that are predicted as this class, by the classes.
    said : Figure or None
        The mean probability that is given to the second of two classes.
    came_true : Figure or None
        The share of rows of the second class.
    error : Figure or None
        The difference: `came_true` minus `said`. Its interval contains 0 if the group may be calibrated.
    """

    value: str | None
    rows: Figure
    accuracy: Figure
    recall: dict[Any, Figure]
    said: Figure | None
    came_true: Figure | None
    error: Figure | None

    @property
    def small(self) -> bool:
        """Return whether there are too few rows to say how good the model is: the interval is longer than 1/2."""
        return self.accuracy.high - self.accuracy.low > VAGUE


@dataclass(frozen=True)
class Groups:
    """Figures of the groups of rows by the values of a column.

    Attributes
    ----------
    groups : tuple of GroupFigures
        One for each value, in their order, and a last one for all other rows.
    privacy : PrivacySpend
        The claim of the release.
    """

    groups: tuple[GroupFigures, ...]
    privacy: PrivacySpend


def by_class(
    y_true: Any,
    y_pred: Any,
    *,
    classes: ArrayLike,
    epsilon: float,
    neighbors: str = "replace",
    level: float = 0.95,
    budget: Budget | None = None,
    units: ArrayLike | None = None,
    rows_per_unit: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Classes:
    """Return for each class how many rows it has, how often it is predicted, its recall and its precision.

    **Privacy.** The figures are epsilon-DP, as in `accuracy`. For two classes they follow from the counts of rows by
    true and predicted class, of which a row is in one cell. For more classes a row that is predicted right is counted
    once, and another one twice, for its class and for the predicted one: adding a row changes the counts by at most 2
    in sum, and replacing a row by at most 4. A row whose label is none of the classes is counted like a row of a
    further class.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (n,)
        Rows without a label in y_true are left out under "add-remove", and refused under "replace".
    classes : array_like
        The public set of labels.
    epsilon, neighbors, level, budget, units, rows_per_unit, random_state
        As in `accuracy`.

    Returns
    -------
    Classes

    Examples
    --------
    >>> import numpy as np
    >>> y = np.arange(3000) % 3
    >>> found = by_class(y, np.minimum(y, 1), classes=[0, 1, 2], epsilon=1, random_state=0)
    >>> for each in found.classes[:3]:
    ...     print(each.label, each.recall)
    0 1.000 (95% interval 0.993 to 1.000)
    1 0.988 (95% interval 0.972 to 1.000)
    2 0.000 (95% interval 0.000 to 0.015)
    """
    check_level(level)
    rng, y_true, y_pred = rows_of_units(units, rows_per_unit, random_state, y_true, y_pred)
    true, predicted, names, _ = _numbered(y_true, y_pred, neighbors, classes)
    k = len(names)
    counter = Counter(
        epsilon, neighbors, budget, rng, moved=2 if k == 2 else 4, added=1 if k == 2 else 2, rows_per_unit=rows_per_unit
    )
    if k == 2:
        cells = counter.release(np.bincount(k * true + predicted, minlength=k * (k + 1)).reshape(k + 1, k))
        figures = ClassCounts.of_matrix(cells, counter.deviation)
    else:
        right = true == predicted
        counts = [true[right], true[~right], predicted[~right]]
        cells = counter.release(np.stack([np.bincount(each, minlength=k + 1) for each in counts]))
        cells[[0, 2], k] = 0  # no row has these cells
        right, missed, taken = cells
        figures = ClassCounts(right, missed, taken, counter.deviation, 1)
    return figures.figures(names, None if neighbors == "add-remove" else len(true), level, counter.privacy)


class ClassCounts(NamedTuple):
    """Noisy counts of the rows of each class that are predicted right, that are missed, and that are taken for it.

    The last entry is for labels that are none of the classes, and are never predicted. `cells` is the number of noisy
    cells in a count of missed or taken rows, each with noise of this `deviation`.
    """

    right: np.ndarray
    missed: np.ndarray
    taken: np.ndarray
    deviation: float
    cells: int

    @classmethod
    def of_matrix(cls, matrix: np.ndarray, deviation: float) -> "ClassCounts":
        """Return the counts of a matrix of rows by true class, the last one for other labels, and predicted class."""
        k = matrix.shape[1]
        right = np.append(np.diag(matrix[:k]), 0)
        taken = np.append(matrix.sum(axis=0) - right[:k], 0)
        return cls(right, matrix.sum(axis=1) - right, taken, deviation, k)

    def figures(self, classes: Any, n: int | None, level: float, privacy: PrivacySpend) -> Classes:
        """Return the figures that follow from the counts; `n` is the number of rows, if it is public."""
        k, matrix, one = len(classes), self.cells > 1, self.deviation**2
        total = float((self.right + self.missed).sum()) if n is None else float(n)
        every = one * (k * (k + 1) if matrix else 2 * k + 1)  # the variance of the noise of the total
        figures: list[ClassFigures] = []
        privately: dict[str, Any] = {"level": level, "privacy": privacy}
        for j, label in enumerate([*classes, None]):
            right, missed, taken = (float(each[j]) for each in (self.right, self.missed, self.taken))
            n_public = one if j < k else 0.0
            of_missed = one * (self.cells - 1 if matrix and j < k else self.cells)
            of_taken = one * self.cells if j < k else 0.0
            of_class, predicted = n_public + of_missed, n_public + of_taken
            of_rows, of_predicted = _apart(of_class, every - of_class), _apart(predicted, every - predicted)
            if not matrix:  # taken rows are not in the total
                of_predicted = partial(_variance_of_taken, n_public, of_taken, every)
            if n is not None:
                of_rows, of_predicted = partial(_always, of_class), partial(_always, predicted)
            figures.append(
                ClassFigures(
                    label,
                    count_figure(right + missed, of_class, **privately),
                    count_figure(right + taken, predicted, **privately),
                    share_figure(right + missed, total, of_rows, n, **privately),
                    share_figure(right + taken, total, of_predicted, n, **privately),
                    share_figure(right, right + missed, _apart(n_public, of_missed), **privately),
                    share_figure(right, right + taken, _apart(n_public, of_taken), **privately),
                )
            )
        rows = count_figure(total, every if n is None else 0.0, **privately)
        return Classes(tuple(figures), rows, privacy)


def _variance_of_taken(n_public, counts, every, p):
    """Return the variance of right + taken - p total, where right is a part of the total and taken is not."""
    return n_public * (1 - p) ** 2 + counts + (every - n_public) * p**2


def _always(variance, p):
    return variance


def by_group(
    y_true: Any,
    y_pred: Any,
    groups: ArrayLike,
    *,
    values: Sequence[Any],
    classes: ArrayLike,
    probability: ArrayLike | None = None,
    epsilon: float,
    neighbors: str = "replace",
    level: float = 0.95,
    budget: Budget | None = None,
    units: ArrayLike | None = None,
    rows_per_unit: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Groups:
    """Return accuracy, recall and calibration by the values of a column, for whom a model works.

    **Privacy.** The figures of all groups together are epsilon-DP, as in `accuracy`: one histogram of the rows by
    group, true class and whether the prediction is right. Adding a row changes one cell by one, or with `probability`
    two cells by one together; replacing a row changes at most twice as much.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (n,)
        Rows without a label in y_true are left out under "add-remove", and refused under "replace".
    groups : array_like, shape (n,)
        The value of the column for each row. It is compared as text.
    values : sequence
        The public values, each of which has a group; all other rows have one group together. They must not be read off
        the rows: declare them, or take those that a fit has released.
    classes : array_like
        The public set of labels.
    probability : array_like of float, shape (n,), optional
        For two classes, the probability of the second one.
    epsilon, neighbors, level, budget, units, rows_per_unit, random_state
        As in `accuracy`.

    Returns
    -------
    Groups

    Raises
    ------
    ValueError
        For values that are not distinct, or a probability outside of [0, 1]. Nothing is charged or drawn.

    Examples
    --------
    >>> import numpy as np
    >>> y, site = np.arange(4000) % 2, np.repeat(["north", "south"], 2000)
    >>> guess = np.where(site == "north", y, 0)
    >>> found = by_group(y, guess, site, values=["north", "south"], classes=[0, 1], epsilon=1, random_state=0)
    >>> for each in found.groups[:2]:
    ...     print(each.value, each.accuracy, each.recall[1])
    north 1.000 (95% interval 0.997 to 1.000) 1.000 (95% interval 0.991 to 1.000)
    south 0.504 (95% interval 0.482 to 0.527) 0.007 (95% interval 0.000 to 0.018)
    """
    check_level(level)
    columns = rows_of_units(units, rows_per_unit, random_state, y_true, y_pred, groups, probability)
    rng, y_true, y_pred, groups, probability = columns
    lacking = np.asarray(groups, dtype=object if isinstance(groups, list | tuple) else None)
    if lacking.ndim != 1:
        raise ValueError(f"groups must say in which group each row is, one entry a row, got shape {lacking.shape}")
    if probability is not None:
        probability = _checked_probability(probability, len(lacking), classes)
    true, predicted, classes_there, mask = _numbered(y_true, y_pred, neighbors, classes, len(lacking))
    names = _checked_values(values)
    numbers, identities = Frame({"groups": groups}).identities("groups")
    group = np.append(class_numbers(identities, np.array([*names, ""], object)[:-1], len(names)), len(names))
    group = group.astype(np.int64)[numbers if mask is None else numbers[mask]]
    k, parts = len(classes_there), 1 if probability is None else 2
    shape = len(names) + 1, k + 1, 2, parts
    if np.prod(shape) > _MOST_CELLS:
        raise ValueError(f"{len(names):,} values and {k:,} classes would make {np.prod(shape):,} cells: name fewer")
    steps = 1 if probability is None else STEPS
    counter = Counter(epsilon, neighbors, budget, rng, moved=2 * steps, added=steps, rows_per_unit=rows_per_unit)
    cell = (group * (k + 1) + true) * 2 + (true == predicted)
    if probability is None:
        counts = np.bincount(cell, minlength=int(np.prod(shape)))
    else:
        chances = np.asarray(probability)
        likely = np.rint(STEPS * (chances if mask is None else chances[mask])).astype(np.int64)
        counts = np.zeros(int(np.prod(shape)), np.int64)
        np.add.at(counts, 2 * cell, STEPS - likely)
        np.add.at(counts, 2 * cell + 1, likely)
    noisy = counter.release(counts).reshape(shape) / steps
    one = (counter.deviation / steps) ** 2
    found = [
        _of_group(name, cells, classes_there, one, level, counter.privacy)
        for name, cells in zip([*names, None], noisy, strict=True)
    ]
    return Groups(tuple(found), counter.privacy)


def _of_group(name, cells, classes, one, level, privacy):
    """Return the figures of a group from its noisy cells, of shape (k + 1, 2, parts), with noise of variance `one`.

    The cell of a right prediction of an unknown label is always empty, and is not read.
    """
    k, parts = len(classes), cells.shape[2]
    privately: dict[str, Any] = {"level": level, "privacy": privacy}
    of_class = cells.sum(axis=2)
    right, wrong = float(of_class[:k, 1].sum()), float(of_class[:, 0].sum())
    recall = {
        label: share_figure(
            float(of_class[j, 1]), float(of_class[j].sum()), _apart(one * parts, one * parts), **privately
        )
        for j, label in enumerate(classes)
    }
    mean_probability = came_true = error = None
    rows, cells_of = right + wrong, 2 * k + 1
    if parts == 2:
        high = float(cells[:, 0, 1].sum() + cells[:k, 1, 1].sum())
        mean_probability = share_figure(high, rows, _apart(one * cells_of, one * cells_of), **privately)
        came_true = share_figure(float(of_class[1].sum()), rows, _apart(4 * one, 6 * one), **privately)
        short, long = float(cells[1, :, 0].sum()), float(cells[0, :, 1].sum() + cells[2, 0, 1])
        error = _difference(short, long, rows, one, **privately)
    return GroupFigures(
        name,
        count_figure(rows, one * parts * cells_of, **privately),
        share_figure(right, rows, _apart(one * parts * k, one * parts * (k + 1)), **privately),
        recall,
        mean_probability,
        came_true,
        error,
    )


def _difference(short, long, rows, one, level, privacy):
    """Return the mean of y - p with an interval, from the sums of 1 - p where y is 1, and of p where it is 0.

    The variance of y - p is at most the mean of its size, which is the sum of both over the number of rows.
    """
    noise = one * 5
    n = max(1.0, rows)
    size = min(1.0, max(0.0, (short + long + 2 * noise**0.5) / n))
    reach = half_width((size / n) ** 0.5, noise**0.5 / n, level)
    value = (short - long) / n
    if rows <= 2 * (one * 10) ** 0.5:
        return Figure(float(np.clip(value, -1, 1)), -1.0, 1.0, level, privacy)
    slack = 2 * (one * 10) ** 0.5 / n * (abs(value) + reach)  # for the noise in the number of rows
    low, high = np.clip([value - reach - slack, value + reach + slack], -1, 1)
    return Figure(float(np.clip(value, -1, 1)), float(low), float(high), level, privacy)


def count_figure(value: float, variance: float, *, level: float, privacy: PrivacySpend) -> Figure:
    """Return a noisy count, at least 0, with an interval for noise of this variance."""
    reach = half_width(0.0, variance**0.5, level)
    value = float(value)
    return Figure(max(0.0, value), max(0.0, value - reach), max(0.0, value + reach), level, privacy)


def share_figure(
    part: float,
    whole: float,
    variance: Callable[[float], float],
    n: int | None = None,
    *,
    level: float,
    privacy: PrivacySpend,
) -> Figure:
    """Return a part over the whole, with the interval of all shares that noisy counts of both do not contradict.

    Under a share p, part - p whole has the mean 0. `variance` is that of its noise as a function of p; that of the
    choice of rows is n p (1 - p), or less for sums of probabilities, where n is the number of rows, or else the largest
    number that the noise makes likely. The interval is [0, 1] if there may be no rows.
    """
    noise = variance(1.0) ** 0.5 + variance(0.0) ** 0.5  # at least that of the whole
    most = max(1.0, whole + 2 * noise) if n is None else max(1.0, n)

    def slack(p):
        apart = max(0.0, abs(part - p * whole) - LESS)
        return chance_beyond(apart, (most * p * (1 - p)) ** 0.5, variance(p) ** 0.5) - (1 - level)

    if n is not None:
        part = min(max(part, 0.0), whole)  # a count beyond both is farther from them than from any other share
    middle = float(np.clip(part / whole, 0, 1)) if whole > 0 else 0.5
    if slack(middle) <= 0 or (n is None and whole <= 2 * noise):
        return Figure(middle, 0.0, 1.0, level, privacy)
    low = 0.0 if slack(0.0) >= 0 else float(brentq(slack, 0, middle))
    high = 1.0 if slack(1.0) >= 0 else float(brentq(slack, middle, 1))
    return Figure(middle, low, high, level, privacy)


def _apart(part, rest):
    """Return the variance of part - p (part + rest) as a function of p, for independent noise of these variances."""
    return lambda p: part * (1 - p) ** 2 + rest * p**2


def _numbered(y_true, y_pred, neighbors, classes, n=None):
    """Return the numbers of the true and of the predicted classes of the rows with a label, the classes, and a mask.

    The number of a true label that is none of the classes is the number of classes. The mask is that of the rows with a
    label, or None if all have one. With `n`, other numbers of rows are refused.
    """
    check_neighbors(neighbors)
    classes = np.asarray(classes)
    if classes.ndim != 1 or len(classes) < 2:
        raise ValueError(f"classes must be the labels, two or more, got {classes.tolist()!r:.80}")
    y_true, y_pred = (labels_as_they_are(y, name) for y, name in ((y_true, "y_true"), (y_pred, "y_pred")))
    rows = len(y_true) if n is None else n
    if y_true.shape != (rows,) or y_pred.shape != (rows,):
        raise ValueError(f"y_true and y_pred must be of shape ({rows},), got {y_true.shape} and {y_pred.shape}")
    mask = rows_to_count(y_true, neighbors, classes, "y_true")
    numbered = []
    for y in (y_true, y_pred) if mask is None else (y_true[mask], y_pred[mask]):
        numbers, identities = Frame({"y": y}).identities("y")
        places = np.array([*class_numbers(identities, classes, len(classes)), len(classes)], np.int64)
        numbered.append(places[numbers])
    true, predicted = numbered
    if (predicted == len(classes)).any():
        raise ValueError(f"y_pred must hold classes, {listed(classes)}, and no other label")
    return true, predicted, classes.tolist(), mask


def _checked_values(values):
    """Return the public values of a column as texts; refuse repeated ones."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"values must be a list of the values that have a group, got {values!r:.80}")
    texts = [text_of(value).strip() for value in values]
    if len({*texts}) < len(texts):
        raise ValueError(f"values must be distinct as texts, got {texts!r:.200}")
    return texts


def _checked_probability(probability, n, classes):
    """Return the probabilities of rows as float64; refuse what is none, and more than two classes."""
    if len(np.asarray(classes)) != 2:
        raise ValueError("probability is for two classes: that of the second one")
    probability = np.asarray(probability, np.float64)
    if probability.shape != (n,) or not ((probability >= 0) & (probability <= 1)).all():
        raise ValueError(f"probability must be numbers in [0, 1], of shape ({n},), got shape {probability.shape}")
    return probability

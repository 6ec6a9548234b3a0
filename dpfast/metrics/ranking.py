"""Figures of scores from one noisy histogram of scores by class: ROC curve with its area, and calibration."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpfast.accounting import Budget
from dpfast.kernels import reals
from dpfast.metrics.figure import Counter, Figure, Reliability, Roc, check_level, rows_of_units
from dpfast.tables.arrays import refuse_masked

_MOST_BINS, _SHOWN = 64, 10


def roc(
    y_true: Any,
    score: ArrayLike,
    *,
    score_range: Sequence[float] = (0, 1),
    bins: int | str = "auto",
    epsilon: float,
    neighbors: str = "replace",
    level: float = 0.95,
    budget: Budget | None = None,
    units: ArrayLike | None = None,
    rows_per_unit: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Roc:
    """Return the ROC curve and the area under it.

    **Privacy.** The figure is epsilon-DP for the relation `neighbors` of the rows (y_true, score), if the model does
    not depend on them. Each row is in one cell of a histogram, given by the bin of its score and by its class: adding a
    row adds one to one cell, replacing a row changes two. Under "replace" the number of rows is public.

    Parameters
    ----------
    y_true : array_like of bool, shape (n,)
        Whether each row is positive.
    score : array_like of float, shape (n,)
        Larger is more positive, for example a column of `predict_proba`. Numbers beyond the range count in its end
        bins.
    score_range : pair of float
        The declared range of the scores. (0, 1) suits probabilities.
    bins : "auto" or int
        The number of bins of equal width. "auto" is sqrt(n epsilon) / 2, from 8 to 64, and 32 under "add-remove".
    epsilon, neighbors, level, budget, units, rows_per_unit, random_state
        As in `accuracy`.

    Returns
    -------
    Roc
        The result has increasing rates in [0, 1], and the area of the binned score with an interval, by the normal
        approximation, for noise and sampling together.
    """
    check_level(level)
    rng, y_true, score = rows_of_units(units, rows_per_unit, random_state, y_true, score)
    counter = Counter(epsilon, neighbors, budget, rng, rows_per_unit=rows_per_unit)
    positive, at, edges = _bin_scores(
        y_true, score, score_range, _bins(bins, np.size(score), epsilon / (rows_per_unit or 1), neighbors)
    )
    noisy = counter.release(_histogram(positive, at, len(edges) - 1))
    negatives, positives = noisy.astype(float)
    area, deviation = _area(negatives, positives, counter.deviation)
    reach = -ndtri((1 - level) / 2) * deviation
    rates = [_rising(row[::-1]) for row in (negatives, positives)]
    size = max(1.0, positives.sum())
    k = np.arange(len(edges))
    noise = counter.deviation**2 * k * (len(edges) - 1 - k) / (len(edges) - 1)  # of a bridge: both ends are known
    spread = np.sqrt(rates[1] * (1 - rates[1]) / size + noise / size**2)
    figure = Figure(
        float(np.clip(area, 0, 1)),
        float(np.clip(area - reach, 0, 1)),
        float(np.clip(area + reach, 0, 1)),
        level,
        counter.privacy,
    )
    starts = np.unique(np.arange(_SHOWN) * (len(edges) - 1) // _SHOWN)
    merged = np.add.reduceat(noisy, starts, axis=1)
    deviation = counter.deviation * np.sqrt(np.diff(starts, append=len(edges) - 1))
    bins_shown = _reliability(merged, edges[[*starts, -1]], deviation, level, counter.privacy)
    return Roc(edges[::-1], rates[0], rates[1], spread, figure, bins_shown, counter.privacy)


def calibration(
    y_true: Any,
    probability: ArrayLike,
    *,
    bins: int | str = 10,
    epsilon: float,
    neighbors: str = "replace",
    level: float = 0.95,
    budget: Budget | None = None,
    units: ArrayLike | None = None,
    rows_per_unit: int | None = None,
    random_state: int | np.random.Generator | None = None,
) -> Reliability:
    """Return the share of positive rows by bins of the predicted probability.

    **Privacy.** As for `roc`.

    Parameters
    ----------
    y_true : array_like of bool, shape (n,)
    probability : array_like of float, shape (n,)
    bins : int or "auto"
        The number of bins of equal width in [0, 1]; "auto" as in `roc`.
    epsilon, neighbors, level, budget, units, rows_per_unit, random_state
        As in `accuracy`.

    Returns
    -------
    Reliability
    """
    check_level(level)
    rng, y_true, probability = rows_of_units(units, rows_per_unit, random_state, y_true, probability)
    counter = Counter(epsilon, neighbors, budget, rng, rows_per_unit=rows_per_unit)
    positive, at, edges = _bin_scores(
        y_true, probability, (0, 1), _bins(bins, np.size(probability), epsilon / (rows_per_unit or 1), neighbors)
    )
    noisy = counter.release(_histogram(positive, at, len(edges) - 1))
    return _reliability(noisy, edges, counter.deviation, level, counter.privacy)


def _reliability(noisy, edges, deviation, level, privacy):
    """Return the shares of positive rows in each bin, from noisy counts."""
    rows = noisy.sum(axis=0)
    clear = rows > 2 * deviation
    size = np.where(clear, rows, 1)
    observed = np.clip(noisy[1] / size, 0, 1)
    spread = np.sqrt(observed * (1 - observed) / size + (deviation / size) ** 2)
    reach = -ndtri((1 - level) / 2) * spread
    blank = np.where(clear, 0, np.nan)
    middle = (edges[:-1] + edges[1:]) / 2
    error = float(np.average(np.abs(observed - middle), weights=np.where(clear, rows, 0))) if clear.any() else math.nan
    low, high = np.clip([observed - reach, observed + reach], 0, 1)
    return Reliability(edges, observed + blank, low + blank, high + blank, rows, error, privacy)


def usual_bins(n, epsilon, neighbors):
    """Return the number of bins of scores by default: from the number of rows, if it is public."""
    return 32 if neighbors == "add-remove" else min(_MOST_BINS, max(8, round(math.sqrt(n * float(epsilon)) / 2)))


def expected_length(n: int, epsilon: float) -> float:
    """Return the length of a 95% interval of an area of 5/6 on n rows, a fifth of them positive, under "replace"."""
    bins = usual_bins(n, epsilon, "replace")
    rising = (np.arange(bins) + 0.5) / bins**2 * 2
    deviation = _area(0.8 * n * rising[::-1], 0.2 * n * rising, 2 * math.sqrt(2) / float(epsilon))[1]
    return min(1.0, 2 * 1.96 * deviation)


def _bins(bins, n, epsilon, neighbors):
    if isinstance(bins, str) and bins == "auto":
        return usual_bins(n, epsilon, neighbors)
    if isinstance(bins, bool) or not isinstance(bins, int) or not 2 <= bins <= 1 << 16:
        raise ValueError(f'bins must be "auto" or an integer in [2, {1 << 16}], got {bins!r}')
    return bins


def _bin_scores(y_true, score, score_range, bins):
    """Return a mask of the positive rows, the bins of all rows, and the edges of the bins."""
    refuse_masked("y_true", y_true)
    refuse_masked("score", score)
    y_true, score = np.asarray(y_true), np.asarray(score, np.float64)
    if y_true.ndim != 1 or y_true.shape != score.shape:
        raise ValueError(f"y_true and scores must be of one shape (n,), got {y_true.shape} and {score.shape}")
    if y_true.dtype != bool and not ((y_true == 0) | (y_true == 1)).all():
        raise ValueError("y_true must be booleans, or 0 and 1: which rows are positive, as in y == positive_class")
    if np.isnan(score).any():
        raise ValueError("scores must be numbers, got NaN")
    low, high = score_range
    if not -math.inf < low < high < math.inf:
        raise ValueError(f"score_range must be two finite numbers, the lower first, got {score_range!r}")
    edges = np.linspace(low, high, bins + 1)
    return y_true.astype(bool), np.searchsorted(edges[1:-1], score, side="right"), edges


def _histogram(positive, at, bins):
    """Return the number of rows in each bin, negative ones first: shape (2, bins)."""
    return np.bincount(bins * positive + at, minlength=2 * bins).reshape(2, bins)


def _area(negatives, positives, noise):
    """Return the area from noisy counts, and its standard deviation; both are 1/2 if the noise is too large."""
    n, p = negatives.sum(), positives.sum()
    drowned = 2 * noise * math.sqrt(len(positives))
    if n <= drowned or p <= drowned:
        return 0.5, 0.5
    below = (negatives.cumsum() - negatives / 2) / n  # the share of negatives below a positive of each bin
    above = 1 - (positives.cumsum() - positives / 2) / p
    area = reals.dot(positives, below) / float(p)
    by_noise = noise**2 * (((below - area) ** 2).sum() / p**2 + ((above - area) ** 2).sum() / n**2)
    shares = [np.maximum(row, 0) / np.maximum(row, 0).sum() for row in (positives, negatives)]
    by_rows = sum(
        max(0.0, reals.dot(share, value**2) - reals.dot(share, value) ** 2) / size
        for share, value, size in ((shares[0], below, p), (shares[1], above, n))
    )
    return area, math.sqrt(by_noise + by_rows)


def _rising(counts):
    """Return the cumulative shares of rows by bin, from 0 to 1: the increasing numbers nearest to the noisy ones."""
    from sklearn.isotonic import isotonic_regression

    total = counts.sum()
    shares = counts.cumsum() / total if total > 0 else np.linspace(1 / len(counts), 1, len(counts))
    inside = isotonic_regression(shares[:-1], y_min=0, y_max=1)
    return np.concatenate([[0.0], inside, [1.0]])

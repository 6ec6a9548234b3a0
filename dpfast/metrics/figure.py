"""Results of the private figures of merit, and the release of their counts."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

from dpfast import random
from dpfast.accounting import Budget, PrivacySpend, Release
from dpfast.accounting.numbers import check_neighbors, count, exact
from dpfast.base.units import bounded_rows, number_units, own_generator
from dpfast.mechanisms import discrete_laplace
from dpfast.tables.arrays import as_objects

LESS = 0.5  # of a count, by which counts of rows differ from a normal distribution


class Figure(NamedTuple):
    """A number, and an interval for its expectation on new rows of the same kind.

    The interval covers the effects of the noise and of the sampling of the rows, with probability `level`. Its text is
    rounded outwards.

    Attributes
    ----------
    value : float
    low, high : float
        The ends of the interval.
    level : float
    privacy : PrivacySpend
        The claim of the release.
    """

    value: float
    low: float
    high: float
    level: float
    privacy: PrivacySpend

    def __str__(self):
        low, high = math.floor(1000 * self.low + 1e-9) / 1000, math.ceil(1000 * self.high - 1e-9) / 1000
        return f"{self.value:.3f} ({self.level:.0%} interval {low:.3f} to {high:.3f})"


@dataclass(frozen=True)
class ConfusionMatrix:
    """Noisy counts of rows by true class and predicted class.

    Attributes
    ----------
    counts : ndarray of int64, shape (k, k)
        Entry (i, j) counts rows of class i that were predicted as class j. It may be negative.
    classes : ndarray, shape (k,)
    deviation : float
        The standard deviation of the noise on each count.
    privacy : PrivacySpend
        The claim of the release.
    """

    counts: np.ndarray
    classes: np.ndarray
    deviation: float
    privacy: PrivacySpend


@dataclass(frozen=True)
class Roc:
    """Curve of true against false positives, from noisy counts of scores in bins.

    Attributes
    ----------
    thresholds : ndarray, shape (bins + 1,)
        Decreasing; rows with a score above a threshold are called positive.
    false_positives, true_positives : ndarray, shape (bins + 1,)
        The rates at each threshold, from 0 to 1.
    deviation : ndarray, shape (bins + 1,)
        The standard deviation of the true positive rates, by noise and sampling.
    auc : Figure
        The area: the probability that a positive row's bin is above a negative one's, where equal bins count half.
    reliability : Reliability
        Computed from the same noisy counts, with at most ten bins; it is meaningful if scores are probabilities.
    privacy : PrivacySpend
    """

    thresholds: np.ndarray
    false_positives: np.ndarray
    true_positives: np.ndarray
    deviation: np.ndarray
    auc: Figure
    reliability: "Reliability"
    privacy: PrivacySpend


@dataclass(frozen=True)
class Reliability:
    """Share of positive rows by bins of the predicted probability.

    Attributes
    ----------
    edges : ndarray, shape (bins + 1,)
    observed, low, high : ndarray, shape (bins,)
        The share of positive rows in each bin, and an interval; NaN if the noise is too large.
    rows : ndarray of int64, shape (bins,)
        Noisy numbers of rows.
    error : float
        Expected calibration error: the mean over rows of the distance between observed share and middle of the bin.
    privacy : PrivacySpend
    """

    edges: np.ndarray
    observed: np.ndarray
    low: np.ndarray
    high: np.ndarray
    rows: np.ndarray
    error: float
    privacy: PrivacySpend


class Counter:
    """Release a histogram of rows once: check, charge, then draw.

    Replacing a row changes the counts by `moved` together, and adding or removing a row by `added`. If rows belong to
    units, a unit has at most `rows_per_unit` of them (`rows_of_units`), and the claim is for all of them.
    """

    def __init__(self, epsilon, neighbors, budget, random_state, *, moved=2, added=1, rows_per_unit=None):
        check_neighbors(neighbors)
        if budget is not None and not isinstance(budget, Budget):
            raise ValueError(f"budget must be None or a dpfast.accounting.Budget, got {budget!r}")
        self._rng = random.generator(random_state)
        unit = "row" if rows_per_unit is None else "person"
        self.privacy = PrivacySpend(
            epsilon,
            0,
            neighbors,
            (Release("counts", 1, 1),),
            reproducible=random.is_reproducible(self._rng),
            unit=unit,
            rows_per_unit=rows_per_unit,
        )
        if not epsilon > 0:
            raise ValueError(f"epsilon must be a finite number > 0, got {epsilon!r}")
        most = (moved if neighbors == "replace" else added) * (rows_per_unit or 1)
        self._scale = most / exact("epsilon", epsilon)
        if self._scale > 1 << 52:
            raise ValueError(f"epsilon must ask for noise that 64-bit integers hold, got {epsilon!r}")
        self._budget, self._spend = budget, {"epsilon": epsilon, "neighbors": neighbors, "unit": unit}
        ratio = math.exp(-1 / float(self._scale))
        self.deviation = math.sqrt(2 * ratio) / -math.expm1(-1 / float(self._scale))

    def release(self, counts):
        """Charge, then return noisy counts."""
        if self._budget is not None:
            self._budget.charge(**self._spend)
        return discrete_laplace(np.asarray(counts, np.int64), self._scale, rng=self._rng)


def rows_of_units(units, rows_per_unit, random_state, *columns):
    """Return a generator, and columns with the rows that count: at most `rows_per_unit` of each unit, at random.

    Without units, all rows count. Which rows of a unit do is independent of the other units (`dpfast.base.units`).
    """
    if (units is None) != (rows_per_unit is None):
        raise ValueError("units= and rows_per_unit= go together: whose each row is, and how many of a unit count")
    rng = random.generator(random_state)
    if units is None:
        return rng, *columns
    most = count("rows_per_unit", rows_per_unit)
    cells = [None if each is None else as_objects(each) for each in columns]
    lengths = {len(each) for each in cells if each is not None} | {len(units)}
    if len(lengths) > 1:
        raise ValueError(f"units must say whose each row is, one entry a row, got lengths {sorted(lengths)}")
    mask = bounded_rows(number_units(units), most, own_generator(rng))
    return rng, *(each if each is None or mask is None else each[mask] for each in cells)


def check_level(level):
    """Refuse a level that is not the probability of an interval."""
    if not 0 < level < 1:
        raise ValueError(f"level must lie in (0, 1), got {level!r}")


def half_width(sampling, noise, level):
    """Return x with P(|N + L| <= x) = level, where N is normal and L Laplace with these standard deviations."""
    if noise == 0 or sampling > 50 * noise:
        return math.hypot(sampling, noise) * brentq(lambda x: 2 * ndtr(-x) - (1 - level), 0, 40)
    b = noise / math.sqrt(2)
    if sampling < 1e-9 * b:
        return -b * math.log(1 - level)
    return brentq(lambda x: chance_beyond(x, sampling, noise) - (1 - level), 0, 60 * (sampling + b))


def chance_beyond(x, sampling, noise):
    """Return P(|N + L| > x) for x >= 0, where N is normal and L Laplace with these standard deviations."""
    if noise == 0 or sampling > 50 * noise:
        spread = math.hypot(sampling, noise)
        return 2 * ndtr(-x / spread) if spread else float(x < 0)
    b = noise / math.sqrt(2)
    if sampling < 1e-9 * b:
        return math.exp(-x / b)
    a, k = sampling, sampling / b
    tail = math.exp(k * k / 2 - x / b + log_ndtr(x / a - k)) - math.exp(k * k / 2 + x / b + log_ndtr(-x / a - k))
    return 2 * (ndtr(-x / a) + tail / 2)

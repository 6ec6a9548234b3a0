"""Log odds from how far rows are on the side of a class: a line through noisy class counts of levels.

A *place* is a number in [-1, 1] that a released model gives each row: the cosine of the row and the coefficients, say.
LEVELS are the intervals between fixed ends: a 32nd each, and narrower by halves and halves again towards 0, as places
of rows with many columns may all be small. Class counts of levels are released with noise
(`dpfast.learners.class_counts`); nothing here sees a row.

The log odds of classes_[1] are taken to be a line of the place. Neighbouring levels are put together until they hold
more than noise, levels that never do are left out, and the line is the most likely one given these counts and what
lines mostly are: places are counted in deviations from their middle, so that slopes are much alike whatever the model.
Counts weigh as much less as the noise is more than what they say.
"""

import math
from functools import partial
from operator import mul
from typing import NamedTuple

import numpy as np

_SMALL = 2.0 ** (-np.arange(28, 8, -1) / 2)  # 2**-14 to 2**-4.5
_POSITIVE = np.concatenate([_SMALL, np.arange(2, 32) / 32])
ENDS = np.concatenate([-_POSITIVE[::-1], _POSITIVE])  # between levels
LEVELS = len(ENDS) + 1
_SURE = (
    7.0  # deviations of the noise that levels put together hold more than: Laplace noise passes 5 in one table of 70
)
_VARIANCE = 2.0  # of shifts in the prior, about the log odds of the class sizes
_FAR = 2.0  # that a shift may be from the log odds of the class sizes
_CURVATURE = 0.1  # of the log likelihood, for a row, about
_NEAR = 1e-12  # relative, of a root


class Scale(NamedTuple):
    """What places are measured in, and what lines of such places mostly are."""

    bounds: np.ndarray  # of the levels, one more than these
    spread: float | None  # that slopes are for; None for the standard deviation of the rows' places
    slope: float  # mean and variance of slopes in the prior
    variance: float
    slopes: tuple[float, float]  # the least and the largest one allowed


COSINES = Scale(np.concatenate([[-1.0], ENDS, [1.0]]), None, 1.5, 0.5, (0.02, 20.0))


def level_counts(places, labels):
    """Rows of each level, by class: int64, shape (LEVELS, 2). A row's level depends on its place alone.

    Parameters
    ----------
    places : ndarray of float, shape (n,)
    labels : ndarray of int, shape (n,)
        0 and 1.
    """
    level = np.searchsorted(ENDS, places.astype(np.float64), side="right")
    return np.bincount(2 * level + labels, minlength=2 * LEVELS).reshape(LEVELS, 2)


class Line(NamedTuple):
    """Log odds of a place: slope (place - middle) / spread + shift."""

    middle: float
    spread: float
    slope: float
    shift: float

    @property
    def even(self):
        """The place at which both classes are as probable."""
        return self.middle - self.spread * self.shift / self.slope

    def log_odds(self, places):
        """float64, shape (n,); they rise with the places."""
        return self.slope * ((places.astype(np.float64) - self.middle) / self.spread) + self.shift


class Group(NamedTuple):
    """Neighbouring levels put together."""

    place: float  # the mean of their rows
    rows: np.ndarray  # of both classes, with noise
    levels: int
    reach: float  # half of their width


def groups(counts, deviation, scale=COSINES) -> list[Group]:
    """Return levels put together, as few to a group as hold more than noise.

    Parameters
    ----------
    counts : ndarray, shape (levels, 2)
        Noisy.
    deviation : float
        Of the noise in each.
    scale : Scale
    """
    counts = np.asarray(counts, np.float64)
    bounds, levels = scale.bounds, len(counts)
    middles = ((bounds[1:] + bounds[:-1]) / 2).tolist()
    rows, found, start = (counts[:, 0] + counts[:, 1]).tolist(), [], 0
    before = np.concatenate([[0], np.cumsum(rows)])
    for stop in range(1, levels + 1):
        noise = deviation * np.sqrt(2 * np.arange(stop - start, 0, -1))
        sure = np.flatnonzero(before[stop] - before[start:stop] > _SURE * noise)
        if sure.size:
            of = slice(start + int(sure[-1]), stop)
            weights = [max(n, 0.0) for n in rows[of]]
            place = math.fsum(map(mul, weights, middles[of])) / math.fsum(weights)
            both = np.array([math.fsum(column) for column in counts[of].T.tolist()])
            found.append(Group(place, both, of.stop - of.start, float(bounds[stop] - bounds[of.start]) / 2))
            start = stop
    return found


def fitted_line(counts, deviation, scale=COSINES) -> Line:
    """Return the line through noisy class counts of levels.

    Where all counts may be noise the slope is that of the prior, and the shift the log odds of the noisy class sizes.
    The shift, the log odds at the middle, is within 2 of the log odds of the noisy class sizes.

    Parameters
    ----------
    counts, deviation, scale
        As in `groups`.
    """
    found = groups(counts, deviation, scale)
    misses, hits = _sizes(found, deviation) if found else class_sizes(counts, deviation)
    usual = math.log(hits) - math.log(misses)
    rows = [math.fsum(group.rows.tolist()) for group in found]
    size = math.fsum(rows)
    if not found:
        return Line(0.0, scale.spread or 1.0, scale.slope, usual)
    middle = math.fsum(n * group.place for n, group in zip(rows, found, strict=True)) / size
    spread = scale.spread
    if spread is None:
        squares = [(group.place - middle) ** 2 + group.reach**2 / 3 for group in found]
        spread = math.sqrt(math.fsum(map(mul, rows, squares)) / size)
    places = [(group.place - middle) / spread for group in found]
    return Line(middle, spread, *_most_likely(places, found, deviation, scale, usual))


def class_sizes(counts, deviation):
    """Return about how many rows each of two classes has, at least two deviations of the noise: a list of two floats.

    Parameters
    ----------
    counts, deviation
        As in `groups`.
    """
    return _at_least(np.asarray(counts, np.float64).T.tolist(), deviation, len(counts))


def _sizes(found, deviation):
    """`class_sizes` of the levels that are in groups alone, which have most rows and less noise."""
    return _at_least(
        zip(*(group.rows.tolist() for group in found), strict=True), deviation, sum(g.levels for g in found)
    )


def _at_least(columns, deviation, levels):
    return [max(math.fsum(column), 2 * deviation * math.sqrt(levels)) for column in columns]


def _most_likely(places, found, deviation, scale, usual):
    """Return the most likely slope and shift of the log odds of a hit, given noisy counts and the prior.

    With a misses and b hits at a place of log odds z the log likelihood is (b - a) z / 2 - (a + b) log(2 cosh(z / 2)),
    concave in z as groups have more rows than noise. The prior makes the objective strictly concave in slope and shift,
    and both are bounded, so that it has one maximum. `_root` finds it for all finite counts: the best shift of a slope,
    and by it the best slope.

    Parameters
    ----------
    places : list of float
        One for each group.
    found : list of Group
    deviation, scale
        As in `groups`.
    usual : float
        The log odds of the noisy class sizes.
    """
    signed = [float(group.rows[1] - group.rows[0]) / 2 for group in found]
    rows = [max(float(group.rows[0] + group.rows[1]), 0.0) for group in found]
    levels = [group.levels for group in found]
    every = math.fsum(rows)

    def weight(square, variance):  # of the prior: more where the slope of the log likelihood has more noise
        noise = deviation * math.sqrt(2 * square)
        return 1 + noise * (noise / (variance * max(_CURVATURE * every, noise, 1.0)))

    steep = weight(math.fsum(n * x * x for n, x in zip(levels, places, strict=True)), scale.variance)
    level = weight(math.fsum(levels), _VARIANCE)
    least, most = usual - _FAR, usual + _FAR

    def derivatives(slope, shift):  # first and second, by the log odds at each place
        tanh = [math.tanh((slope * x + shift) / 2) for x in places]
        rise = [s - n * t / 2 for s, n, t in zip(signed, rows, tanh, strict=True)]
        return rise, [n * (1 - t) * (1 + t) / 4 for n, t in zip(rows, tanh, strict=True)]

    def by_shift(slope, shift):
        rise, bend = derivatives(slope, shift)
        return math.fsum(rise) - level * (shift - usual), -math.fsum(bend) - level

    def by_slope(slope):
        shift = best_shift(slope)
        rise, bend = derivatives(slope, shift)
        first = math.fsum(map(mul, rise, places)) - steep * (slope - scale.slope)
        second = -math.fsum(b * x * x for b, x in zip(bend, places, strict=True)) - steep
        if least < shift < most:  # which then moves with the slope
            mixed = math.fsum(map(mul, bend, places))
            second += mixed * (mixed / (math.fsum(bend) + level))
        return first, second

    def best_shift(slope):
        return _root(partial(by_shift, slope), least, most)

    slope = _root(by_slope, *scale.slopes)
    return slope, best_shift(slope)


def _root(falling, low, high):
    """Return the root in [low, high] of a falling function, or the end that is nearest to it.

    The next number is by Newton's method if that is between the ends and the step less than half of the step before the
    last; else it is the middle of the ends. Every number replaces an end, so that either the step or the distance of
    the ends halves at least every second time, and the search ends.

    Parameters
    ----------
    falling : callable
        The function and its derivative at a number.
    low, high : float
    """
    if falling(low)[0] <= 0:
        return low
    if falling(high)[0] >= 0:
        return high
    at, last, before = (low + high) / 2, high - low, high - low
    while last > _NEAR * max(1.0, abs(at)):
        value, derivative = falling(at)
        low, high = (at, high) if value > 0 else (low, at)
        step = -value / derivative if derivative < 0 else math.inf
        if not (low <= at + step <= high and abs(step) < before / 2):
            step = (low + high) / 2 - at
        before, last, at = last, abs(step), at + step
    return at

"""Log odds of a row from its signed score: a line fitted to noisy class counts of score levels.

A *place* is a number in [-1, 1] that a released model gives each row, such as the cosine of the row and the
coefficients. LEVELS intervals with fixed ends cut [-1, 1]: each has width 1/32, and towards 0 the widths halve
repeatedly, since all places may be small for rows with many columns. The class counts of the levels are released with
noise (`dpfast.learners.probabilities`); nothing here reads a row.

The log odds of classes_[1] are modelled as a linear function of the place. Neighbouring levels are merged until their
counts exceed the noise; levels that never do are left out. The line maximizes the likelihood of the merged counts times
a prior. The prior uses places standardized by their middle and standard deviation, so that slopes are similar for all
models. Counts get less weight the more of them may be noise.
"""

import math
from functools import partial
from operator import mul
from typing import NamedTuple

import numpy as np

_SMALL = 2.0 ** (-np.arange(28, 8, -1) / 2)  # 2**-14 to 2**-4.5
_POSITIVE = np.concatenate([_SMALL, np.arange(2, 32) / 32])
ENDS = np.concatenate([-_POSITIVE[::-1], _POSITIVE])  # between levels
_BOUNDS = np.concatenate([[-1.0], ENDS, [1.0]])
LEVELS = len(ENDS) + 1
_SURE = 7.0  # deviations of the noise that merged levels exceed: Laplace noise exceeds 5 in one table of 70
_SLOPE, _SLOPE_VARIANCE = 1.5, 0.5  # of slopes in the prior, the mean and the variance
_SLOPES = 0.02, 20.0  # the smallest and the largest slope allowed
_VARIANCE = 2.0  # variance of shifts in the prior, whose mean is the log odds of the class sizes
_UNKNOWN = 3.0  # the smallest spread, as a multiple of half the width of a level, since rows may all be at its end
_FAR = 2.0  # the largest distance of a shift from the log odds of the class sizes
_CURVATURE = 0.1  # of the log likelihood per row, approximately
_NEAR = 1e-12  # relative tolerance of a root


def level_counts(places, labels, ends=ENDS):
    """Return counts of rows by level and class 0 or 1: int64, shape (len(ends) + 1, 2).

    The level of a row depends on its place alone; each of the increasing `ends` belongs to the level above it.
    """
    level = np.searchsorted(ends, places.astype(np.float64), side="right")
    return np.bincount(2 * level + labels, minlength=2 * len(ends) + 2).reshape(-1, 2)


class Line(NamedTuple):
    """Line that maps a place to log odds: slope (place - middle) / spread + shift."""

    middle: float
    spread: float
    slope: float
    shift: float

    @property
    def even(self):
        """Return the place at which both classes are equally probable."""
        return self.middle - self.spread * self.shift / self.slope

    def log_odds(self, places):
        """Return the log odds of places as float64, shape (n,); they increase with the places."""
        return self.slope * ((places.astype(np.float64) - self.middle) / self.spread) + self.shift


class Group(NamedTuple):
    """Neighbouring levels merged into one."""

    place: float  # the mean place of their rows
    rows: np.ndarray  # noisy counts of both classes
    levels: int
    reach: float  # half of their width


def groups(counts, deviation) -> list[Group]:
    """Merge neighbouring levels into the smallest groups whose counts exceed the noise of this standard deviation."""
    counts = np.asarray(counts, np.float64)
    middles = ((_BOUNDS[1:] + _BOUNDS[:-1]) / 2).tolist()
    rows, pools, start = (counts[:, 0] + counts[:, 1]).tolist(), [], 0
    before = np.concatenate([[0], np.cumsum(rows)])
    for stop in range(1, LEVELS + 1):
        noise = deviation * np.sqrt(2 * np.arange(stop - start, 0, -1))
        sure = np.flatnonzero(before[stop] - before[start:stop] > _SURE * noise)
        if sure.size:
            of = slice(start + int(sure[-1]), stop)
            weights = [max(n, 0.0) for n in rows[of]]
            place = math.fsum(map(mul, weights, middles[of])) / math.fsum(weights)
            both = np.array([math.fsum(column) for column in counts[of].T.tolist()])
            pools.append(Group(place, both, of.stop - of.start, float(_BOUNDS[stop] - _BOUNDS[of.start]) / 2))
            start = stop
    return pools


def fitted_line(counts, deviation) -> Line:
    """Return the line fitted to noisy class counts of levels.

    If all counts may be noise, the slope is that of the prior and the shift is the log odds of the noisy class sizes.
    The shift, the log odds at the middle, is always within 2 of the log odds of the noisy class sizes.
    """
    pools = groups(counts, deviation)
    if not pools:
        misses, hits = class_sizes(counts, deviation, LEVELS)
        return Line(0.0, 1.0, _SLOPE, math.log(hits) - math.log(misses))
    levels = sum(group.levels for group in pools)  # they have most of the rows, and less noise than all
    misses, hits = class_sizes([group.rows for group in pools], deviation, levels)
    rows = [math.fsum(group.rows.tolist()) for group in pools]
    size = math.fsum(rows)
    middle = math.fsum(n * group.place for n, group in zip(rows, pools, strict=True)) / size
    squares = [(group.place - middle) ** 2 + group.reach**2 / 3 for group in pools]
    unknown = [(_UNKNOWN * group.reach) ** 2 if group.levels == 1 else 0.0 for group in pools]
    spread = math.sqrt(max(math.fsum(map(mul, rows, squares)), math.fsum(map(mul, rows, unknown))) / size)
    places = [(group.place - middle) / spread for group in pools]
    return Line(middle, spread, *_most_likely(places, pools, deviation, math.log(hits) - math.log(misses)))


def class_sizes(counts, deviation, levels):
    """Return the sizes of both classes by noisy counts of so many levels, each at least two deviations of the noise."""
    least = 2 * deviation * math.sqrt(levels)
    return [max(math.fsum(column), least) for column in np.asarray(counts, np.float64).T.tolist()]


def _most_likely(places, pools, deviation, usual):
    """Return the most likely slope and shift of the log odds of a hit, given noisy counts and the prior.

    With a misses and b hits at a place of log odds z, the log likelihood is (b - a) z / 2 - (a + b) log(2 cosh(z / 2)).
    It is concave in z, as groups have more rows than noise. The prior makes the objective strictly concave in slope and
    shift, and both are bounded, so that it has a unique maximum. `_root` finds it for all finite counts: the inner
    search finds the best shift for a slope, the outer search the best slope. `places` has one place for each group;
    `usual` is the log odds of the noisy class sizes.
    """
    signed = [float(group.rows[1] - group.rows[0]) / 2 for group in pools]
    rows = [max(float(group.rows[0] + group.rows[1]), 0.0) for group in pools]
    levels = [group.levels for group in pools]
    every = math.fsum(rows)

    def weight(square, variance):  # of the prior: larger where the slope of the log likelihood is noisier
        noise = deviation * math.sqrt(2 * square)
        return 1 + noise * (noise / (variance * max(_CURVATURE * every, noise, 1.0)))

    steep = weight(math.fsum(n * x * x for n, x in zip(levels, places, strict=True)), _SLOPE_VARIANCE)
    level = weight(math.fsum(levels), _VARIANCE)
    least, most = usual - _FAR, usual + _FAR

    def derivatives(slope, shift):  # first and second derivative, with respect to the log odds at each place
        tanh = [math.tanh((slope * x + shift) / 2) for x in places]
        rise = [s - n * t / 2 for s, n, t in zip(signed, rows, tanh, strict=True)]
        return rise, [n * (1 - t) * (1 + t) / 4 for n, t in zip(rows, tanh, strict=True)]

    def by_shift(slope, shift):
        rise, bend = derivatives(slope, shift)
        return math.fsum(rise) - level * (shift - usual), -math.fsum(bend) - level

    def by_slope(slope):
        shift = best_shift(slope)
        rise, bend = derivatives(slope, shift)
        first = math.fsum(map(mul, rise, places)) - steep * (slope - _SLOPE)
        second = -math.fsum(b * x * x for b, x in zip(bend, places, strict=True)) - steep
        if least < shift < most:  # the best shift then depends on the slope
            mixed = math.fsum(map(mul, bend, places))
            second += mixed * (mixed / (math.fsum(bend) + level))
        return first, second

    def best_shift(slope):
        return _root(partial(by_shift, slope), least, most)

    slope = _root(by_slope, *_SLOPES)
    return slope, best_shift(slope)


def _root(falling, low, high):
    """Return the root in [low, high] of a decreasing function, or the end nearest to the root.

    `falling` gives the function and its derivative. The next number is that of Newton's method if it lies between the
    ends and the step is less than half of the step before the last; else it is the midpoint. Every number replaces an
    end. Hence the step or the distance of the ends halves at least every second time, and the search terminates.
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

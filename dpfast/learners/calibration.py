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

from typing import NamedTuple

import numpy as np
from scipy.special import expit

_SMALL = 2.0 ** (-np.arange(28, 8, -1) / 2)  # 2**-14 to 2**-4.5
_POSITIVE = np.concatenate([_SMALL, np.arange(2, 32) / 32])
ENDS = np.concatenate([-_POSITIVE[::-1], _POSITIVE])  # between levels
LEVELS = len(ENDS) + 1
_BOUNDS = np.concatenate([[-1.0], ENDS, [1.0]])
_MIDDLES = (_BOUNDS[1:] + _BOUNDS[:-1]) / 2
_SURE = 5.0  # deviations of the noise that levels put together hold more than
_USUAL, _VARIANCE = np.array([1.5, 0.0]), np.array([0.5, 2.0])  # of slope and shift, beforehand
_SLOPES = 0.02, 20.0  # what a slope may be
_CURVATURE = 0.1  # of the log likelihood, for a row, about
_STEPS = 100


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


def groups(counts, deviation) -> list[Group]:
    """Levels put together, as few to a group as hold more than noise.

    Parameters
    ----------
    counts : ndarray, shape (LEVELS, 2)
        Noisy.
    deviation : float
        Of the noise in each.
    """
    counts = np.asarray(counts, np.float64)
    rows, found, start = counts.sum(axis=1), [], 0
    before = np.concatenate([[0], np.cumsum(rows)])
    for stop in range(1, LEVELS + 1):
        noise = deviation * np.sqrt(2 * np.arange(stop - start, 0, -1))
        sure = np.flatnonzero(before[stop] - before[start:stop] > _SURE * noise)
        if sure.size:
            of = slice(start + int(sure[-1]), stop)
            place = float(np.average(_MIDDLES[of], weights=np.maximum(rows[of], 0)))
            reach = float(_BOUNDS[stop] - _BOUNDS[of.start]) / 2
            found.append(Group(place, counts[of].sum(axis=0), of.stop - of.start, reach))
            start = stop
    return found


def fitted_line(counts, deviation) -> Line:
    """The line through noisy class counts of levels; of what is known beforehand alone where all may be noise."""
    found = groups(counts, deviation)
    if not found:
        return Line(0.0, 1.0, *_USUAL.tolist())
    places, grouped, sizes, reach = (np.array(each) for each in zip(*found, strict=True))
    rows = grouped.sum(axis=1)
    middle = float(np.average(places, weights=rows))
    spread = float(np.sqrt(np.average((places - middle) ** 2 + reach**2 / 3, weights=rows)))
    line = most_likely((places - middle) / spread, grouped, deviation, _USUAL, _VARIANCE, _SLOPES, sizes)
    return Line(middle, spread, *line)


def most_likely(places, counts, deviation, usual, variance, slopes, sizes=1):
    """The slope and the shift of log odds of a hit, by Newton's method, given noisy counts and what is usual.

    Parameters
    ----------
    places : ndarray of float64, shape (k,)
    counts : ndarray of float64, shape (k, 2)
        Noisy, of misses and hits.
    deviation : float
        Of the noise in a count.
    usual, variance : ndarray of float64, shape (2,)
        Of slope and shift, beforehand.
    slopes : pair of float
        What the slope may be.
    sizes : ndarray of int, shape (k,), optional
        How many counts were put together in each.

    Returns
    -------
    tuple of float
    """
    design = np.stack([places, np.ones(len(places))])
    rows = counts.sum(axis=1)
    noise = deviation * np.sqrt(2 * (sizes * np.square(design)).sum(axis=1))  # of the log likelihood's slope
    held = 1 + noise**2 / (variance * np.maximum(_CURVATURE * max(0.0, rows.sum()), noise))
    found = usual
    for _ in range(_STEPS):  # halved
        odds = expit(found @ design)
        rise = design @ (counts[:, 1] - rows * odds) - held * (found - usual)
        bend = design * (np.maximum(rows, 0) * odds * (1 - odds)) @ design.T + np.diag(held)
        before, found = found, found + np.linalg.solve(bend, rise) / 2
        found[0] = min(max(found[0], slopes[0]), slopes[1])
        if (found == before).all():
            break
    return tuple(found.tolist())

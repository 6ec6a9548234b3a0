"""Integer scores of d coordinates and an intercept, number d: dense, or only those touched. Private state.

Rows enter the interval under way. When it ends it enters the totals, from which features are drawn, so many times as
it weighs; under a window of K it leaves them when K more have ended.
"""

from collections import deque

import numpy as np
import scipy.sparse as sp

from dpfast.kernels import draw, levels
from dpfast.kernels.scores import SparseScores
from dpfast.mechanisms.recorded import Question, asked
from dpfast.tables.signed_rows import SparseRows

DENSE = 1 << 24  # coordinates; beyond, those of sparse rows are stored as they are touched


def score_vector(rows, window=None):
    """Zeros, of the kind that suits these rows."""
    d = rows.shape[1]
    touched = d > DENSE and isinstance(rows, SparseRows) and not rows.offset
    return (TouchedScores if touched else DenseScores)(d, window)


class _Scores:
    def __init__(self, d, window):
        self._d, self._window, self._kept = d, window, deque()
        self._total, self._interval = self._zeros(), self._empty()

    def close(self, weight):
        """End the interval: its scores, times `weight`, enter the totals, and the oldest ones of a window leave."""
        closed = self._closed(weight)
        self._total = self._plus(self._total, closed, 1)
        if self._window is not None:
            self._kept.append(closed)
            if len(self._kept) > self._window:
                self._total = self._plus(self._total, self._kept.popleft(), -1)
        self._interval = self._empty()

    def arrays(self):
        """All there is to it, for a checkpoint: int64."""
        return [self._total, self._closed(1), *self._kept]


class DenseScores(_Scores):
    """Scores in arrays, 16 bytes a coordinate, and 8 more for each interval of a window."""

    def add(self, rows, signs, chosen, intercept):
        """Let sum of y x over the chosen rows, and of y for the intercept if there is one, enter the interval."""
        rows.add(self._interval[:-1], signs, chosen)
        if intercept:
            self._interval[-1] += rows.unit * signs[chosen].sum(dtype=np.int64)

    def growth(self, rows, intervals):
        """By how many bytes `arrays` grow, at most, when rows enter and so many intervals end."""
        return 0 if self._window is None else 8 * (self._d + 1) * intervals

    def entered(self):
        """What entered the interval, so that it can be added to what entered others: int64, shape (d + 1,)."""
        return self._interval

    def enter(self, total):
        """Be an interval that this entered."""
        self._interval = total

    def draw(self, exponent, m, rng, *, mirrored, intercept):
        """m draws with probability proportional to exp(exponent * total): coordinates, and signs of their copies."""
        values = self._total if intercept else self._total[:-1]
        drawn = asked(
            lambda: Question("winnow", values, "range", exponent, draws=m, mirrored=mirrored),
            lambda: levels.sample(values, exponent, m, rng, mirrored=mirrored),
            rng,
        )
        return drawn % len(values), np.where(drawn < len(values), 1, -1)

    @classmethod
    def from_arrays(cls, arrays, d, window):
        """What `arrays` gave."""
        if any(array.shape != (d + 1,) for array in arrays):
            raise ValueError(f"{d} features, scores of shapes {[array.shape for array in arrays]}")
        self = cls(d, window)
        self._total, self._interval, *kept = arrays
        self._kept.extend(kept)
        return self

    def _zeros(self):
        return np.zeros(self._d + 1, np.int64)

    _empty = _zeros

    def _closed(self, weight):
        return self._interval if weight == 1 else np.multiply(self._interval, weight, out=self._interval)

    def _plus(self, total, closed, sign):
        return np.add(total, closed, out=total) if sign > 0 else np.subtract(total, closed, out=total)


class TouchedScores(_Scores):
    """Scores of the coordinates that some row touched; all others are zero. Memory by touched coordinates.

    An array of them holds rising coordinates and their scores, the intercept's last: int64, shape (2, touched + 1).
    """

    def add(self, rows, signs, chosen, intercept):
        """As `DenseScores.add`."""
        rows.add_touched(self._interval, signs, chosen)
        if intercept:
            self._constant += rows.unit * int(signs[chosen].sum(dtype=np.int64))

    def growth(self, rows, intervals):
        """As `DenseScores.growth`."""
        touched = min(rows.nnz, self._d)
        return 16 * (2 * touched if self._window is None else 2 * touched + rows.nnz + intervals)

    def entered(self):
        """As `DenseScores.entered`: CSR of int64, shape (1, d + 1)."""
        keys, values = self._closed(1)
        return sp.csr_array((values, keys, [0, len(keys)]), shape=(1, self._d + 1))

    def enter(self, total):
        """As `DenseScores.enter`; coordinates that are 0 in the sum count as not touched."""
        total.sum_duplicates()
        total.eliminate_zeros()
        keys, values = total.indices, total.data
        touched = len(keys) - bool(len(keys) and keys[-1] == self._d)
        self._interval = SparseScores(self._d, keys[:touched].astype(np.uint32), values[:touched])
        self._constant = int(values[touched:].sum())

    def draw(self, exponent, m, rng, *, mirrored, intercept):
        """As `DenseScores.draw`; a zero that is drawn is any coordinate not touched, with either sign if mirrored."""

        def question():
            known = dict(zip(*self._total[:, : None if intercept else -1].tolist(), strict=True)) | {"another": 0}
            return Question("winnow", known, "range", exponent, draws=m, mirrored=mirrored)

        return asked(question, lambda: self._draw(exponent, m, rng, mirrored, intercept), rng)

    def _draw(self, exponent, m, rng, mirrored, intercept):
        keys, values = self._total if intercept else self._total[:, :-1]
        touched = len(keys) - intercept
        zeros = (1 + mirrored) * (self._d - touched)
        drawn = levels.sample(values, exponent, m, rng, mirrored=mirrored, zeros=zeros)
        untouched = drawn == (1 + mirrored) * len(values)
        sign = np.where(drawn < len(values), 1, -1)
        coordinate = keys[np.where(untouched, 0, drawn) % len(values)] if len(values) else drawn.copy()
        for i in np.flatnonzero(untouched):
            coordinate[i] = self._untouched(keys[:touched], rng)
            sign[i] = 1 - 2 * int(draw.below([2], rng)[0]) if mirrored else 1
        return coordinate, sign

    @classmethod
    def from_arrays(cls, arrays, d, window):
        """What `arrays` gave."""
        for array in arrays:
            keys = array[0] if array.ndim == 2 and array.shape[1] and len(array) == 2 else np.empty(1)
            if keys[-1] != d or keys[0] < 0 or (np.diff(keys) <= 0).any():
                raise ValueError(f"{d} features, touched scores of shape {array.shape}")
        self = cls(d, window)
        self._total, interval, *kept = arrays
        self._interval = SparseScores(d, interval[0, :-1].astype(np.uint32), interval[1, :-1])
        self._constant = int(interval[1, -1])
        self._kept.extend(kept)
        return self

    def _zeros(self):
        return np.array([[self._d], [0]], np.int64)

    def _empty(self):
        self._constant = 0
        return SparseScores(self._d)

    def _closed(self, weight):
        keys, values = self._interval.export()
        order = np.argsort(keys)
        closed = np.empty((2, len(keys) + 1), np.int64)
        closed[0, :-1], closed[1, :-1] = keys[order], values[order]
        closed[:, -1] = self._d, self._constant
        closed[1] *= weight
        return closed

    def _plus(self, total, closed, sign):
        keys = np.union1d(total[0], closed[0])
        added = np.stack([keys, np.zeros_like(keys)])
        added[1, np.searchsorted(keys, total[0])] = total[1]
        added[1, np.searchsorted(keys, closed[0])] += sign * closed[1]
        return added

    def _untouched(self, keys, rng):
        while True:
            candidate = int(draw.below([self._d], rng)[0])
            at = np.searchsorted(keys, candidate)
            if at == len(keys) or keys[at] != candidate:
                return candidate


def from_arrays(arrays, d, window=None):
    """What `arrays` of either kind gave."""
    if len(arrays) < 2 or (len(arrays) > 2 and (window is None or len(arrays) > 2 + window)):
        raise ValueError(f"a window of {window}, {len(arrays)} arrays of scores")
    return (DenseScores if arrays[0].ndim == 1 else TouchedScores).from_arrays(arrays, d, window)

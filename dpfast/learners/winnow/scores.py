"""Scores of Winnow, and intervals of a table.

**Scores** are integers for d coordinates and an intercept (coordinate d), dense or sparse. They are private state. Rows
are added to the current interval. When it ends, it is added to the totals, multiplied by its weight; coordinates are
drawn from the totals. With a window of K, an interval is subtracted from the totals when K more have ended.

**Intervals** of the rows of a table in memory or in parts are random. The interval of row i follows from a secret key
and from i, by a separate generator for each block of rows. So it depends neither on the parts nor on the values of
rows, which suffices for privacy under replace. Under add-remove, removing a row shifts the rows behind it into the
intervals of their predecessors, and privacy relies on the key, which is drawn with the noise and never released:
intervals are independent and uniform, so that removing the interval of the removed row gives the other rows the same
distribution that they have without it. Given all intervals, one row of one interval is new.
"""

from collections import deque

import numpy as np
import scipy.sparse as sp
from randomgen import ChaCha

from dpfast.kernels import draw, levels
from dpfast.kernels.scores import SparseScores
from dpfast.learners.winnow.plan import FADING
from dpfast.mechanisms.draws import Question, ask
from dpfast.tables.signed_rows import SparseRows, votes

DENSE = 1 << 24  # coordinates; beyond this number, scores of sparse rows are stored for touched coordinates only


def score_vector(rows, window=None):
    """Return zero scores of the type that suits these rows."""
    d = rows.shape[1]
    touched = d > DENSE and isinstance(rows, SparseRows) and not rows.offset
    return (TouchedScores if touched else DenseScores)(d, window)


class _Scores:
    def __init__(self, d, window):
        self._d, self._window, self._sums = d, window, deque()
        self._total, self._interval = self._zeros(), self._empty()

    def close(self, weight):
        """End the interval: add its scores times `weight` to the totals, and subtract the oldest ones of a window."""
        closed = self._close_interval(weight)
        self._total = self._plus(self._total, closed, 1)
        if self._window is not None:
            self._sums.append(closed)
            if len(self._sums) > self._window:
                self._total = self._plus(self._total, self._sums.popleft(), -1)
        self._interval = self._empty()

    def arrays(self):
        """Return the whole state as int64 arrays, for a checkpoint."""
        return [self._total, self._close_interval(1), *self._sums]


class DenseScores(_Scores):
    """Scores in arrays; 16 bytes per coordinate, and 8 more for each interval of a window."""

    def add(self, rows, signs, places, intercept):
        """Add the sum of y x over the chosen rows, and of y if there is an intercept, to the interval."""
        rows.add(self._interval[:-1], signs, places)
        if intercept:
            self._interval[-1] += rows.unit * signs[places].sum(dtype=np.int64)

    def growth(self, rows, intervals):
        """Return a bound on the bytes by which `arrays` grow if these rows are added and so many intervals end."""
        return 0 if self._window is None else 8 * (self._d + 1) * intervals

    def double(self, times):
        """Double the sum of the interval so many times."""
        np.left_shift(self._interval, times, out=self._interval)

    def entered(self):
        """Return the sum of the interval, which can be added to other sums: int64, shape (d + 1,)."""
        return self._interval

    def enter(self, total):
        """Set the interval to this sum."""
        self._interval = total

    def draw(self, exponent, m, rng, *, mirrored, intercept):
        """Draw m coordinates with probability proportional to exp(exponent * total), and the signs of their copies."""
        values = self._total if intercept else self._total[:-1]
        draws = ask(
            lambda: Question("winnow", values, "range", exponent, draws=m, mirrored=mirrored),
            lambda: levels.sample(values, exponent, m, rng, mirrored=mirrored),
            rng,
        )
        return draws % len(values), np.where(draws < len(values), 1, -1)

    @classmethod
    def from_arrays(cls, arrays, d, window):
        """Return the scores from the value of `arrays`."""
        if any(array.shape != (d + 1,) for array in arrays):
            raise ValueError(f"{d} features, scores of shapes {[array.shape for array in arrays]}")
        self = cls(d, window)
        self._total, self._interval, *sums = arrays
        self._sums.extend(sums)
        return self

    def _zeros(self):
        return np.zeros(self._d + 1, np.int64)

    _empty = _zeros

    def _close_interval(self, weight):
        return self._interval if weight == 1 else np.multiply(self._interval, weight, out=self._interval)

    def _plus(self, total, closed, sign):
        return np.add(total, closed, out=total) if sign > 0 else np.subtract(total, closed, out=total)


class TouchedScores(_Scores):
    """Like `DenseScores`, of the coordinates that some row touched, in memory linear in their number; others are zero.

    They are an array of increasing coordinates and their scores, the intercept last: int64, shape (2, touched + 1).
    """

    def add(self, rows, signs, places, intercept):
        rows.add_touched(self._interval, signs, places)
        if intercept:
            self._constant += rows.unit * int(signs[places].sum(dtype=np.int64))

    def growth(self, rows, intervals):
        touched = min(rows.nnz, self._d)
        return 16 * (2 * touched if self._window is None else 2 * touched + rows.nnz + intervals)

    def double(self, times):
        """Like `DenseScores.double`."""
        keys, values = self._interval.export()
        self._interval, self._constant = SparseScores(self._d, keys, values << times), self._constant << times

    def entered(self):
        """Like `DenseScores.entered`, but return a CSR array of int64, shape (1, d + 1)."""
        keys, values = self._close_interval(1)
        return sp.csr_array((values, keys, [0, len(keys)]), shape=(1, self._d + 1))

    def enter(self, total):
        """Like `DenseScores.enter`; coordinates with sum 0 count as not touched."""
        total.sum_duplicates()
        total.eliminate_zeros()
        keys, values = total.indices, total.data
        touched = len(keys) - bool(len(keys) and keys[-1] == self._d)
        self._interval = SparseScores(self._d, keys[:touched].astype(np.uint32), values[:touched])
        self._constant = int(values[touched:].sum())

    def draw(self, exponent, m, rng, *, mirrored, intercept):
        """Like `DenseScores.draw`; a drawn zero is a random untouched coordinate, with a random sign if mirrored."""

        def question():
            scores = dict(zip(*self._total[:, : None if intercept else -1].tolist(), strict=True)) | {"another": 0}
            return Question("winnow", scores, "range", exponent, draws=m, mirrored=mirrored)

        return ask(question, lambda: self._draw(exponent, m, rng, mirrored, intercept), rng)

    def _draw(self, exponent, m, rng, mirrored, intercept):
        keys, values = self._total if intercept else self._total[:, :-1]
        touched = len(keys) - intercept
        zeros = (1 + mirrored) * (self._d - touched)
        draws = levels.sample(values, exponent, m, rng, mirrored=mirrored, zeros=zeros)
        untouched = draws == (1 + mirrored) * len(values)
        sign = np.where(draws < len(values), 1, -1)
        coordinate = keys[np.where(untouched, 0, draws) % len(values)] if len(values) else draws.copy()
        for i in np.flatnonzero(untouched):
            coordinate[i] = self._draw_untouched(keys[:touched], rng)
            sign[i] = 1 - 2 * int(draw.below([2], rng)[0]) if mirrored else 1
        return coordinate, sign

    @classmethod
    def from_arrays(cls, arrays, d, window):
        for array in arrays:
            keys = array[0] if array.ndim == 2 and array.shape[1] and len(array) == 2 else np.empty(1)
            if keys[-1] != d or keys[0] < 0 or (np.diff(keys) <= 0).any():
                raise ValueError(f"{d} features, touched scores of shape {array.shape}")
        self = cls(d, window)
        self._total, interval, *sums = arrays
        self._interval = SparseScores(d, interval[0, :-1].astype(np.uint32), interval[1, :-1])
        self._constant = int(interval[1, -1])
        self._sums.extend(sums)
        return self

    def _zeros(self):
        return np.array([[self._d], [0]], np.int64)

    def _empty(self):
        self._constant = 0
        return SparseScores(self._d)

    def _close_interval(self, weight):
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

    def _draw_untouched(self, keys, rng):
        while True:
            candidate = int(draw.below([self._d], rng)[0])
            at = np.searchsorted(keys, candidate)
            if at == len(keys) or keys[at] != candidate:
                return candidate


def from_arrays(arrays, d, window=None):
    """Return scores of either type from the value of `arrays`."""
    if len(arrays) < 2 or (len(arrays) > 2 and (window is None or len(arrays) > 2 + window)):
        raise ValueError(f"a window of {window}, {len(arrays)} arrays of scores")
    return (DenseScores if arrays[0].ndim == 1 else TouchedScores).from_arrays(arrays, d, window)


KEY_BYTES = 32
_BLOCK = 1 << 16  # rows whose intervals are drawn together
_APART = 1 << 40  # distance of the counters at which two blocks begin: no stream reaches the next


def interval_numbers(key, first, n, intervals):
    """Return the intervals of rows first, ..., first + n - 1 by a key in [0, 2**256): unsigned integers, shape (n,)."""
    dtype, blocks = np.min_scalar_type(intervals - 1), []
    for block in range(first // _BLOCK, -(-(first + n) // _BLOCK)):
        rng = np.random.Generator(ChaCha(key=key, counter=block * _APART))
        blocks.append(rng.integers(intervals, size=_BLOCK, dtype=np.uint32).astype(dtype))
    start = first % _BLOCK
    return np.concatenate([np.empty(0, dtype), *blocks])[start : start + n]


def in_order(parts):
    """Return the rows of a table in memory, and the signs of their labels."""
    return parts.only.rows, _signs(parts.only.labels)


def row_count(piece):
    return len(piece.labels)


def counting_rows(piece, first, key, k, plan, hypothesis):
    """Return how many rows of interval k of a piece count towards the update; `first` numbers its first row."""
    return len(_counting(piece, first, key, k, plan, hypothesis)[2])


def interval_sum(piece, own, key, k, plan, hypothesis):
    """Return the sum of the counting rows of interval k of a piece, in units of 1 / 2**FADING if rows fade.

    `own` is the number of the piece's first row, and the largest number of rows that count, or None for all.
    """
    first, most = own
    if not plan.fades:
        rows, signs, places = _counting(piece, first, key, k, plan, hypothesis)
        scores = score_vector(rows)
        scores.add(rows, signs, places[:most], plan.fit_intercept)
        return scores.entered()
    rows, signs, state = _interval(piece, first, key, k, plan, hypothesis)
    halvings, scores = plan.halvings(*state), score_vector(rows)
    due = 0  # doublings
    for times in range(FADING + 1):
        places = np.flatnonzero(halvings == times)
        if places.size:
            scores.double(due)
            scores.add(rows, signs, places, plan.fit_intercept)
            due = 0
        due += 1
    scores.double(due - 1)
    return scores.entered()


def _counting(piece, first, key, k, plan, hypothesis):
    """Return the rows of an interval, the signs of their labels, and the numbers of those that count."""
    rows, signs, state = _interval(piece, first, key, k, plan, hypothesis)
    return rows, signs, np.flatnonzero(plan.counts(*state))


def _interval(piece, first, key, k, plan, hypothesis):
    """Return the rows of an interval, the signs of their labels, and votes, signs and the largest possible vote."""
    version, numbers = piece.memo.get(_interval, (None, None))
    if version != (key, first):
        numbers = interval_numbers(key, first, len(piece.labels), plan.n_updates)
        piece.memo[_interval] = (key, first), numbers
    places = np.flatnonzero(numbers == k)
    rows, signs = piece.rows[places], _signs(piece.labels[places])
    return rows, signs, (votes(rows, hypothesis), signs, hypothesis.draws * rows.unit)


def _signs(labels):
    return (2 * labels - 1).astype(np.int8)

"""Integer scores of d coordinates and an intercept, number d: dense, or only those touched. Private state."""

import numpy as np

from dpfast.data.signed_rows import SparseRows
from dpfast.kernels import draw, levels
from dpfast.kernels.scores import SparseScores

DENSE = 1 << 24  # coordinates; beyond, those of sparse rows are stored as they are touched


def score_vector(rows):
    """Zeros, of the kind that suits these rows."""
    d = rows.shape[1]
    return TouchedScores(d) if d > DENSE and isinstance(rows, SparseRows) and not rows.offset else DenseScores(d)


def from_array(array, d):
    """What `array` of either kind gave."""
    if array.dtype == np.int64 and array.shape == (d + 1,):
        return DenseScores(d, array)
    if array.dtype == np.int64 and array.ndim == 2 and len(array) == 2 and array.shape[1] and array[0, -1] == d:
        return TouchedScores(d, array)
    raise ValueError(f"{d} features, scores {array.dtype} {array.shape}")


class DenseScores:
    """Scores in an array, 8 bytes a coordinate."""

    def __init__(self, d, values=None):
        self._values = np.zeros(d + 1, np.int64) if values is None else values

    def add(self, rows, signs, chosen, intercept):
        """Add sum of y x over the chosen rows, and of y for the intercept if there is one."""
        rows.add(self._values[:-1], signs, chosen)
        if intercept:
            self._values[-1] += rows.unit * signs[chosen].sum(dtype=np.int64)

    def draw(self, exponent, m, rng, *, mirrored, intercept):
        """m draws with probability proportional to exp(exponent * score): coordinates, and signs of their copies."""
        values = self._values if intercept else self._values[:-1]
        drawn = levels.sample(values, exponent, m, rng, mirrored=mirrored)
        return drawn % len(values), np.where(drawn < len(values), 1, -1)

    def array(self):
        """All there is to it, for a checkpoint."""
        return self._values


class TouchedScores:
    """Scores of the coordinates that some row touched; all others are zero. Memory by touched coordinates."""

    def __init__(self, d, array=None):
        self._d, self._intercept, keys, values = d, 0, None, None
        if array is not None:
            keys, values, self._intercept = array[0, :-1].astype(np.uint32), array[1, :-1], int(array[1, -1])
        self._table = SparseScores(d, keys, values)

    def add(self, rows, signs, chosen, intercept):
        """As `DenseScores.add`."""
        rows.add_touched(self._table, signs, chosen)
        if intercept:
            self._intercept += rows.unit * int(signs[chosen].sum(dtype=np.int64))

    def draw(self, exponent, m, rng, *, mirrored, intercept):
        """As `DenseScores.draw`; a zero that is drawn is any coordinate not touched, with either sign if mirrored."""
        keys, values = self.array() if intercept else self.array()[:, :-1]
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

    def _untouched(self, keys, rng):
        while True:
            candidate = int(draw.below([self._d], rng)[0])
            at = np.searchsorted(keys, candidate)
            if at == len(keys) or keys[at] != candidate:
                return candidate

    def array(self):
        """Rising coordinates and their scores, the intercept's last: int64, shape (2, touched + 1)."""
        keys, values = self._table.export()
        order = np.argsort(keys)
        array = np.empty((2, len(keys) + 1), np.int64)
        array[0, :-1], array[1, :-1] = keys[order], values[order]
        array[:, -1] = self._d, self._intercept
        return array

"""The measure that a smooth booster keeps on its rows, in integers."""

import numpy as np

from dpfast.kernels import measure

CAP = 1 << 12  # units of the largest weight
UNIT = 1 << 12  # of a margin, in scores
MOST_ROUNDS = 1 << 15  # whose scores a projection takes


class DenseMeasure:
    """Weights min(1, c exp(-rate * s_i)) of rows with scores s_i, with c such that they add up to a given mass.

    Private state: it knows the data. Scores are sums of y_i h(x_i), on a grid. Weights are in units of 1 / CAP and
    add up to the mass exactly, so that neighbours' weights differ as theory.md section 5 says, without rounding.

    Parameters
    ----------
    signs : ndarray of int8, shape (n,)
        Labels y, -1 or 1.
    units : int
        The mass, in units; where it exceeds n * CAP all weights are 1.
    rate : float
        > 0.
    """

    def __init__(self, signs, units, rate):
        self._signs, self._units = signs, min(units, len(signs) * CAP)
        self._scores = np.zeros(len(signs), np.int32)
        self._table = measure.table(rate / UNIT, CAP)

    def weights(self):
        """y_i times the units of each row: int32, shape (n,)."""
        return measure.project(self._scores, self._signs, self._table, self._units)

    def add(self, margins):
        """Count in a hypothesis: float32 h(x_i) in [-1, 1], shape (n,)."""
        measure.add(self._scores, self._signs, margins, UNIT)

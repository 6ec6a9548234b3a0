"""Rows of the unit ball from codes: an indicator for each code, and a number for bins; what halfspaces ask of a table.

Row i has the entry 1 for the code of each column, the number v = (2 b + 1) / m - 1 for bin b of the m bins of each
column of numbers (0 where it is missing), and perhaps the constant 1; all of that divided by the square root of how
many there are. On the grid 1 is UNIT, and v an integer, so that the norm of a row of integers is at most `reach`,
exactly. An image depends on one row and on declarations alone.

Numbers and indicators are sums over codes, so rows are read as codes: margins are looked up, and a weighted sum is one
by code."""

import math

import numpy as np

from dpfast.kernels import codes as kernel
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices, threads

UNIT = 1 << 12  # of an entry 1 on the grid
_STEPS = 2.0**24 - 2  # of looked-up coefficients, between those of one column: three bytes hold them, rounded
_LARGE_PARTS = 16  # blocks of bytes to a part: a sum over a part settles tables of joint codes


class CodeRows:
    """Rows x_i of the unit ball; made by `unit_rows`.

    Parameters
    ----------
    table : CodeTable
        Where its `columns` say which of them are numbers, these count as numbers too.
    fit_intercept : bool

    Attributes
    ----------
    shape : tuple (n, size)
        Codes, numbers and, with an intercept, one entry more.
    reach : int
        Integer rows have a Euclidean norm of at most this, exactly.
    """

    def __init__(self, table, fit_intercept):
        self._codes, (n, p) = table.codes, table.shape
        ordered = [j for j, column in enumerate(table.columns or ()) if column.ordered]
        self._ordered = np.array(ordered, np.intp)
        self._number = np.zeros(table.offsets[-1], np.int64)  # of each code, on the grid; 0 where it has none
        for j in ordered:
            bins, start = table.columns[j].bins, table.offsets[j]
            self._number[start : start + bins] = UNIT * (2 * np.arange(bins) + 1 - bins) // bins
        self._constant = bool(fit_intercept)
        self.shape = n, len(self._number) + len(ordered) + self._constant
        self.reach = math.isqrt((p + len(ordered) + self._constant) * UNIT**2 - 1) + 1
        parts = slices(n, min(_LARGE_PARTS * BLOCK_BYTES // p, -(-n // threads())))
        self._parts = [(part, table.codes.part(part.start, part.stop)) for part in parts]

    def margins(self, w):
        """<w, x_i>: float32, shape (n, k). One read of the codes.

        Parameters
        ----------
        w : ndarray, shape (size, k)
            Rounded as `looked_up` says.
        """
        return self.looked_up(*self.linear(w))

    def looked_up(self, coef, intercept):
        """intercept + the sum of the coefficients (codes, k) of a row's codes: float32, shape (n, k).

        Coefficients are rounded to a 2**24th of how far those of one column are apart, where they are furthest; for
        more than 128 columns to a 2**31th of what the largest add up to, if that is more.
        """
        if len(coef) != len(self._number):
            raise ValueError(f"the model has coefficients for {len(coef)} codes, X has {len(self._number)}")
        starts = self._codes.offsets[:-1]
        highest, least = np.maximum.reduceat(coef, starts), np.minimum.reduceat(coef, starts)
        largest = np.maximum(highest, -least).sum(axis=0).max()
        step = max((highest - least).max() / _STEPS, largest / (2.0**31 - 1 - len(starts))) or 1.0
        table = np.ascontiguousarray(np.rint(coef / step), np.int32)
        constant, out = intercept.astype(np.float32), np.empty((self.shape[0], coef.shape[1]), np.float32)

        def look_up(part):
            rows, columns = part
            np.multiply(kernel.margins(columns, table), np.float32(step), out=out[rows], dtype=np.float32)
            out[rows] += constant

        map_blocks(look_up, self._parts)
        return out

    def weighted_sum(self, weights):
        """sum of weights[i] * q_i, exactly: int64, shape (size, k). One read of the codes.

        Parameters
        ----------
        weights : ndarray of int32, shape (n, k)
            At most 2**12 in size.
        """

        def add(group):
            return sum(kernel.sums(columns, np.ascontiguousarray(weights[rows])) for rows, columns in group)

        groups = [self._parts[k :: threads()] for k in range(min(threads(), len(self._parts)))]
        total = sum(map_blocks(add, groups))
        starts = self._codes.offsets[:-1]
        numbers = np.add.reduceat(self._number[:, np.newaxis] * total, starts)[self._ordered]
        constant = UNIT * total[: self._codes.sizes[0]].sum(axis=0, keepdims=True)  # each row has a code of column 0
        return np.concatenate([UNIT * total, numbers, constant[: self._constant]])

    def linear(self, w):
        """w as a coefficient for each code (codes, k), and an intercept (k,)."""
        size, numbers = len(self._number), len(self._ordered)
        slope = np.zeros((self._codes.p, w.shape[1]))
        slope[self._ordered] = w[size : size + numbers]
        coef = UNIT * w[:size] + self._number[:, np.newaxis] * np.repeat(slope, self._codes.sizes, axis=0)
        return coef / self.reach, UNIT * w[size + numbers :].sum(axis=0) / self.reach

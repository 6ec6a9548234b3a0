"""Rows of the unit ball from codes: an indicator for each code, and curves over bins; what halfspaces ask of a table.

Row i has the entry 1 for the code of each column and perhaps the constant 1. For bin b of the m bins of a column of
numbers it has the number v = (2 b + 1) / m - 1 besides and, where m > HATS, the heights at v of HATS + 1 *hats*: hat k
is 1 at 2 k / HATS - 1 and falls to 0 at the places of its neighbours, so that a sum of hats is a broken line. All of
that is 0 where the number is missing. Codes of a column that has hats have an entry 1/2 only. A row is divided by the
square root of the most that its squares can add up to: 1 for each column, or 1/4 if it has hats, whose squares add up
to at most 1 more, 1 more for v, and 1 for the constant.

The reason is noise. Each entry of a sum has as much of it, and a curve over the bins of a column is mostly smooth: a
few hats, which many rows share, say more of it than as many indicators; to these is left where it jumps.

On the grid 1 is UNIT, v and heights are integers, rounded down, so that the norm of a row of integers is at most
`reach`, exactly. An image depends on one row and on declarations alone. Numbers, hats and indicators are sums over
codes, so rows are read as codes: margins are looked up, and a weighted sum is one by code.
"""

import math

import numpy as np
import scipy.sparse as sp

from dpfast.kernels import codes as kernel
from dpfast.kernels import reals
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices, threads

UNIT = 1 << 12  # of an entry 1 on the grid
HATS = 8  # intervals of a broken line
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
        Codes, numbers, hats and, with an intercept, one entry more.
    reach : int
        Integer rows have a Euclidean norm of at most this, exactly.
    """

    def __init__(self, table, fit_intercept):
        self._codes, (n, p) = table.codes, table.shape
        curves, self._heights = [], np.full((table.offsets[-1], 1), UNIT)  # of each code, on the grid
        square = (p + bool(fit_intercept)) * UNIT**2
        for column, start, size in zip(table.columns or (), table.offsets[:-1], table.sizes, strict=False):
            if column.ordered:
                made = _curves(column.bins)
                curves.append((start, made))
                square += UNIT**2
                if len(made) > 1:
                    self._heights[start : start + size] = UNIT // 2
                    square += (UNIT // 2) ** 2
        self._curves = _placed(curves, table.offsets[-1])
        self._by_code = self._curves.T.tocsr().astype(np.float64)
        self._constant = bool(fit_intercept)
        self.shape = n, sum(self._curves.shape) + self._constant
        self.reach = math.isqrt(square - 1) + 1
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
        if len(coef) != self._curves.shape[1]:
            raise ValueError(f"the model has coefficients for {len(coef)} codes, X has {self._curves.shape[1]}")
        table, step = self._rounded(coef)
        constant, out = intercept.astype(np.float32), np.empty((self.shape[0], coef.shape[1]), np.float32)

        def look_up(part):
            rows, columns = part
            np.multiply(kernel.margins(columns, table), np.float32(step), out=out[rows], dtype=np.float32)
            out[rows] += constant

        map_blocks(look_up, self._parts)
        return out

    def _rounded(self, coef):
        """Integers and a step: coefficients are about their products."""
        starts = self._codes.offsets[:-1]
        highest, least = np.maximum.reduceat(coef, starts), np.minimum.reduceat(coef, starts)
        largest = np.maximum(highest, -least).sum(axis=0).max()
        step = max((highest - least).max() / _STEPS, largest / (2.0**31 - 1 - len(starts))) or 1.0
        return np.ascontiguousarray(np.rint(coef / step), np.int32), step

    def sum_behind(self, w, labels, threshold, of_labels):
        """The sum of +-q_i over the rows with y_i <w, x_i> below a threshold, exactly: int64, shape (size, 1).

        As `margins` and `weighted_sum` have it, without weights: rows are compared as integers and counted by label.

        Parameters
        ----------
        w : ndarray, shape (size, 1)
        labels : ndarray of uint8, shape (n,)
            1 for y_i = 1, 0 for y_i = -1.
        threshold : float
        of_labels : sequence of two int
            What a row of label 0 takes away, and one of label 1 adds, in sums of q_i.
        """
        coef, intercept = self.linear(w)
        table, step = self._rounded(coef)
        table, constant = table[:, 0], intercept[0]

        def count(part):
            rows, columns = part
            own = labels[rows]
            return kernel.counts(columns, own, 2, kernel.behind(columns, table, own, step, constant, threshold))

        counts = sum(map_blocks(count, self._parts))
        return self._of_codes(of_labels[1] * counts[:, 1:] - of_labels[0] * counts[:, :1])

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
        return self._of_codes(sum(map_blocks(add, groups)))

    def _of_codes(self, total):
        """The sum of rows of integers, by the sums of their weights for each code."""
        constant = UNIT * total[: self._codes.sizes[0]].sum(axis=0, keepdims=True)  # each row has a code of column 0
        return np.concatenate([self._heights * total, self._curves @ total, constant[: self._constant]])

    def linear(self, w):
        """w as a coefficient for each code (codes, k), and an intercept (k,)."""
        curves, size = self._curves.shape
        rows = self._by_code
        of_curves = [
            reals.products_csr(rows.indptr, rows.indices, rows.data, each) for each in w[size : size + curves].T
        ]
        coef = self._heights * w[:size] + np.stack(of_curves, axis=1)
        return coef / self.reach, UNIT * w[size + curves :].sum(axis=0) / self.reach


def _curves(bins):
    """The number and, where there are enough bins, the heights of the hats: integers, shape (1 or HATS + 2, bins)."""
    odd = 2 * np.arange(bins) + 1
    number = UNIT * (odd - bins) // bins
    if bins <= HATS:
        return number[np.newaxis]
    apart = np.abs(
        HATS * odd - 2 * bins * np.arange(HATS + 1)[:, np.newaxis]
    )  # in parts of 1 / (2 bins) of an interval
    return np.concatenate([number[np.newaxis], UNIT * np.maximum(0, 2 * bins - apart) // (2 * bins)])


def _placed(curves, codes):
    """A row for each curve over all codes: sparse matrix of int64."""
    rows, places, heights, count = [], [], [], 0
    for start, made in curves:
        row, place = np.nonzero(made)
        rows.append(count + row)
        places.append(start + place)
        heights.append(made[row, place])
        count += len(made)
    if not curves:
        return sp.csr_array((0, codes), dtype=np.int64)
    entries = np.concatenate(heights), (np.concatenate(rows), np.concatenate(places))
    return sp.csr_array(entries, shape=(count, codes), dtype=np.int64)

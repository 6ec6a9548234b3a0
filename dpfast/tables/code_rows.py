"""Rows of codes, as halfspaces ask them: counts by code, sums of look-ups, and sums of residuals by code.

An image of rows whose entries are sums over columns, of numbers that only depend on a column's code, is a matrix with a
row for each code. So scores are sums of look-ups, and a weighted sum of images is that matrix times a sum of weights by
code: no image of a row is ever made.
"""

from functools import partial
from itertools import groupby

import numpy as np

from dpfast.kernels import codes as kernel
from dpfast.kernels import logistic
from dpfast.kernels.own import frozen
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices, threads

_STEPS = 2.0**24 - 2  # of looked-up coefficients, between those of one column: three bytes hold them, rounded
_LARGE_PARTS = 16  # blocks of bytes to a part: a sum over a part settles tables of joint codes
_NEAR = 1 << 18  # residuals that are made before they are added up
_NEAR_PAIRS = 1 << 15  # the same, where codes of pairs are made too


class CodeRows:
    """Rows of a table of codes.

    Parameters
    ----------
    table : CodeTable

    Attributes
    ----------
    shape : tuple (n, codes)
    sizes, offsets : ndarray of int64
        As in `CodeTable`.
    columns : tuple
        What the codes of each column mean; None for each where the table does not say.
    """

    def __init__(self, table):
        self._set(table.codes, table.columns or (None,) * table.shape[1])

    def _set(self, codes, columns):
        self._codes, self.columns = codes, columns
        self.sizes, self.offsets = codes.sizes, codes.offsets
        self.shape = codes.n, int(codes.offsets[-1])
        self._parts = self._cut(min(_LARGE_PARTS * BLOCK_BYTES // codes.p, -(-codes.n // threads())))

    def _cut(self, size):
        return [(part, self._codes.part(part.start, part.stop)) for part in slices(self.shape[0], size)]

    def counts(self):
        """How many rows have each code: int64, shape (codes,)."""
        none = np.zeros(self.shape[0], np.uint8)
        return sum(map_blocks(lambda part: kernel.counts(part[1], none[part[0]], 1)[:, 0], self._parts))

    def looked_up(self, coef, intercept):
        """intercept + the sum of the coefficients (codes, k) of a row's codes: float32, shape (n, k).

        Coefficients are rounded to a 2**24th of how far those of one column are apart, where they are furthest; for
        more than 128 columns to a 2**31th of what the largest add up to, if that is more.
        """
        if len(coef) != self.shape[1]:
            raise ValueError(f"the model has coefficients for {len(coef)} codes, X has {self.shape[1]}")
        table, step = self.rounded(coef)
        constant, out = intercept.astype(np.float32), np.empty((self.shape[0], coef.shape[1]), np.float32)

        def look_up(part):
            rows, columns = part
            np.multiply(kernel.margins(columns, table), np.float32(step), out=out[rows], dtype=np.float32)
            out[rows] += constant

        map_blocks(look_up, self._parts)
        return out

    def rounded(self, coef):
        """Integers and a step: coefficients (codes, k) are about their products."""
        starts = self.offsets[:-1]
        highest, least = np.maximum.reduceat(coef, starts), np.minimum.reduceat(coef, starts)
        largest = np.maximum(highest, -least).sum(axis=0).max()
        step = max((highest - least).max() / _STEPS, largest / (2.0**31 - 1 - len(starts))) or 1.0
        return np.ascontiguousarray(np.rint(coef / step), np.int32), float(step)

    def limits(self, squares, allowed, most):
        """A limit for each row, so that limit * sqrt(square) <= most * sqrt(allowed), exactly: int32, shape (n,).

        Parameters
        ----------
        squares : ndarray of int32, shape (codes,)
            At least 0: that of a row is the sum over its codes, below 2**31.
        allowed : int
            Below 2**29.
        most : int
            The largest limit, at most 2**16.
        """
        out = np.empty(self.shape[0], np.int32)

        def look_up(part):
            rows, columns = part
            square = kernel.margins(columns, squares).astype(np.int64)
            limit = np.floor(most * np.sqrt(np.minimum(1.0, allowed / np.maximum(square, 1)))).astype(np.int64)
            limit -= limit * limit * square > most * most * allowed
            out[rows] = limit

        map_blocks(look_up, self._parts)
        return out

    def residual_sums(self, labels, limits, table, step, constants):
        """Sums of residuals by code, exactly: int64, shape (codes, 1) for two classes, else (codes, k).

        Parameters
        ----------
        labels : ndarray of uint8 for two classes, else of uint16, shape (n,)
        limits : ndarray of int32, shape (n,)
        table, step
            As `rounded` gives them, of the scores' coefficients.
        constants : ndarray of float32, shape (1,) or (k,)
        """
        return self._summed(_NEAR, kernel.sums, self.shape[1], labels, limits, table, step, constants)

    def pair_sums(self, pairs, labels, limits, table, step, constants):
        """The same by the cells of pairs of columns: int64, shape (cells of all pairs, 1 or k).

        Parameters
        ----------
        pairs : sequence of Interaction
            A column has the same groups in all of them.
        labels, limits, table, step, constants
            As in `residual_sums`.
        """
        cells, add = sum(pair.size for pair in pairs), partial(_pair_sums, pairs)
        return self._summed(_NEAR_PAIRS, add, cells, labels, limits, table, step, constants)

    def joined(self, pairs):
        """The rows with a column more for each of these pairs: its cells in the order of rows of a matrix."""
        made = [np.empty(self.shape[0], np.uint8) for _ in pairs]

        def join(part):
            rows, columns = part
            for pair, out in zip(pairs, made, strict=True):
                a, b = (_grouped(columns.columns[j], group) for j, group in zip(pair.columns, pair.groups, strict=True))
                np.add(a * np.uint8(pair.shape[1]), b, out=out[rows])

        for pair in pairs:
            known = max(pair.columns) < len(self.sizes)
            if not known or [len(group) for group in pair.groups] != [self.sizes[j] for j in pair.columns]:
                raise ValueError(f"columns {pair.columns} of X have other codes than the model's")
        map_blocks(join, self._parts)
        sizes = [*self.sizes, *(pair.size for pair in pairs)]
        arrays = [*self._codes.columns, *map(frozen, made)]
        rows = CodeRows.__new__(CodeRows)
        rows._set(kernel.Columns(arrays, sizes), (*self.columns, *[None] * len(pairs)))
        return rows

    def _summed(self, near, add_up, size, labels, limits, table, step, constants):
        """Sums that `add_up` makes of some rows and their residuals: int64, shape (size, k)."""
        k = len(constants)

        def add(group):
            total = np.zeros((size, k), np.int64)
            for rows, columns in group:
                for some_rows in slices(columns.n, max(1 << 14, near // k)):
                    start, stop = some_rows.start, some_rows.stop
                    some, at = columns.part(start, stop), slice(rows.start + start, rows.start + stop)
                    scores = kernel.margins(some, table)
                    if k == 1:
                        residuals = logistic.two(scores, labels[at], limits[at], step, float(constants[0]))
                    else:
                        residuals = logistic.many(scores, labels[at], limits[at], step, constants)
                    total += add_up(some, residuals)
            return total

        groups = [self._parts[k :: threads()] for k in range(min(threads(), len(self._parts)))]
        return sum(map_blocks(add, groups))


def _grouped(codes, groups):
    """The group of each code: ndarray of uint8."""
    table = np.asarray(groups, np.uint8)
    if codes.dtype != np.uint8:
        return table[codes]
    return np.frombuffer(codes.tobytes().translate(table.tobytes().ljust(256, b"\0")), np.uint8)  # faster than indices


def _pair_sums(pairs, columns, residuals):
    """Sums of residuals by the cells of pairs: those with one first column at a time."""
    groups, sums = {}, []
    for pair in pairs:
        for j, group in zip(pair.columns, pair.groups, strict=True):
            if j not in groups:
                groups[j] = _grouped(columns.columns[j], group)
    for _, some in groupby(pairs, lambda pair: pair.columns[0]):
        some = list(some)
        cells = [groups[a] * np.uint8(pair.shape[1]) + groups[b] for pair in some for a, b in [pair.columns]]
        sums.append(kernel.sums(kernel.Columns(list(map(frozen, cells)), [pair.size for pair in some]), residuals))
    return np.concatenate(sums)

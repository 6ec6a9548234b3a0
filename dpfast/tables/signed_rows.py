"""Rows of features in [-1, 1] for linear learners, as integers: packed signs, CSR, or dense on a grid.

Every kind has five methods: `votes` of some coordinates for each row, `add` of rows to the scores, `losses` of rows for
experts, one for each feature, `dot`, the products of rows with a vector in floats, and `numbers`, the features.
A feature x is the integer ``unit * x``. Bits stand for +-1 and integer types for themselves, with unit 1; floats go to
a grid of 2**-10, which maps single examples and costs no privacy.
"""

from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from dpfast.kernels import bits, reals, scores, unit_rows
from dpfast.kernels import multiplicative_weights as weights
from dpfast.kernels.grid import to_grid
from dpfast.kernels.own import frozen
from dpfast.parts.blocks import BLOCK_BYTES, slices
from dpfast.tables.arrays import as_numbers
from dpfast.tables.bit_matrix import BitMatrix
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.codes import CodeTable

GRID_BITS = 10


def signed_rows(X, *, feature_range=(-1, 1), out_of_range="error", reads=None):
    """Return X as packed, sparse or dense rows of integers; codes are read as bits.

    A BitMatrix or a dense table of booleans has signs: 1 is +1 and 0 is -1. All other tables have numbers: the ends of
    the declared `feature_range` of every feature become -1 and +1, and `out_of_range` ("error" or "clip") decides about
    features outside. It must contain 0 for a sparse matrix.

    `reads` ("signs" or "numbers") is that of the rows from which a model was learned. Tables of the other kind are
    refused, since the model would read them on another scale; with a `feature_range` of (0, 1) both have the same
    scale.
    """
    low, high = (float(end) for end in feature_range)
    rows = _rows(CodeBits(X).pack() if isinstance(X, CodeTable) else X, low, high, out_of_range)
    if reads is not None and rows.reads != reads and (low, high) != (0, 1):
        raise ValueError(_OTHER_KIND[reads])
    return rows


_OTHER_KIND = {
    "signs": "the model was learned from booleans, which are signs, and X holds numbers, of which 0 and 1 stand for "
    "themselves: give it booleans or a BitMatrix too",
    "numbers": "the model was learned from numbers, and X holds booleans, which are signs, -1 and +1: give it numbers "
    "too, X.astype(int) say",
}


def votes(rows, histogram):
    """Return the sum of ``count * x`` over a histogram's coordinates for each row, times `unit`: int64, shape (n,).

    A coordinate beyond the features is that of the intercept, a constant feature 1.
    """
    index, count = histogram.index, histogram.count
    inside = index < rows.shape[1]
    return rows.votes(index[inside], count[inside]) + rows.unit * count[~inside].sum()


def _rows(X, low, high, out_of_range):
    if isinstance(X, BitMatrix):
        return PackedRows(X)
    if sp.issparse(X):
        if not low <= 0 <= high:
            raise ValueError(
                f"feature_range={(low, high)} must hold 0 for a sparse matrix, whose entries that are not stored are 0"
            )
        X = as_numbers(X, sparse=["csr"])
        data, unit = _integers(X.data, low, high, out_of_range)
        offset = Fraction(-(low + high)) / Fraction(high - low) * unit
        if offset.denominator != 1:
            raise ValueError(
                f"feature_range={(low, high)} puts the zeros of a sparse matrix off the grid; use a range whose "
                "middle is zero, or (0, b)"
            )
        excess = sp.csr_array((data - np.int32(offset), X.indices, X.indptr), shape=X.shape)
        return SparseRows(excess, unit, int(offset))
    X = as_numbers(X)
    if X.dtype == bool:
        return PackedRows(BitMatrix(X))
    data, unit = _integers(X, low, high, out_of_range)
    return GridRows(data, unit)


def _integers(x, low, high, out_of_range):
    """Return unit * (x mapped from [low, high] to [-1, 1]) as int32, and the unit, by the type of x and the range."""
    integers = x.dtype.kind in "iub" and (low, high) == (-1, 1)
    if x.size and not (low <= x.min() and x.max() <= high):
        if out_of_range == "error":
            outlier = x.min() if x.min() < low else x.max()
            raise ValueError(f"features must lie in feature_range=({low}, {high}), got {outlier}; see out_of_range")
        x = np.clip(x, 0 if x.dtype.kind == "u" else -1, 1) if integers else np.clip(x, low, high)
    if integers:
        return np.ascontiguousarray(x, np.int32), 1
    centred = x if (low, high) == (-1, 1) else (x - (low + high) / 2) * (2 / (high - low))
    grid, _, _ = to_grid(np.ascontiguousarray(centred, np.float64), GRID_BITS)
    return grid, 1 << GRID_BITS


class PackedRows:
    """Rows of +-1, packed."""

    unit, reads = 1, "signs"

    def __init__(self, table):
        self._rows, self.shape = table.rows, table.shape

    def __getitem__(self, rows):
        return PackedRows(BitMatrix.from_rows(frozen(self._rows[rows]), self.shape[1]))

    def votes(self, index, count):
        """Return sum_p count[p] x[index[p]] for each row: int64, shape (n,)."""
        return scores.votes_packed(self._rows, self.shape[1], index, count, "pm1")

    def add(self, total, y, places):
        """Add the sum of y x over the chosen rows to total."""
        scores.add_packed(total, self._rows, self.shape[1], y, places)

    def weighted_sum(self, weights):
        """Return the sum of weights[i] x_i, exactly: int64, shape (d,); int32 weights of shape (n,), at most 2**12."""
        ones = np.zeros(self.shape[1] + 1, np.int64)
        unit_rows.add(ones, unit_rows.Packed(self._rows, self.shape[1]), np.ones(self.shape[0]), weights)
        return 2 * ones[:-1] - weights.sum(dtype=np.int64)

    def losses(self, rows, signs, *, constant):
        """Return sign * x of picked rows, as losses; the last is of a constant feature 1, if wanted."""
        picked, d = self._rows[rows], self.shape[1]
        if constant:
            if d % 64 == 0:
                picked = np.column_stack([picked, np.zeros(len(picked), np.uint64)])
            picked[:, -1] |= np.uint64(1) << np.uint64(d % 64)
        return weights.packed(frozen(np.ascontiguousarray(picked)), d + constant, low=-1, high=1, signs=signs[rows])

    def numbers(self):
        """Return the features: float64, shape (n, d)."""
        return 2.0 * bits.unpack(self._rows, self.shape[1]) - 1.0

    def dot(self, weights):
        """Return <x, weights> for each row: float64, shape (n,)."""
        d = self.shape[1]
        return 2 * _dots(lambda block: bits.unpack(self._rows[block], d), weights, self.shape) - reals.sum(weights)


class GridRows:
    """Dense rows of integers."""

    reads = "numbers"

    def __init__(self, data, unit):
        self._data, self.unit, self.shape = data, unit, data.shape

    def __getitem__(self, rows):
        return GridRows(self._data[rows], self.unit)

    def votes(self, index, count):
        """Return `PackedRows.votes`, times `unit`."""
        return scores.votes_grid(self._data, index, count)

    def add(self, total, y, places):
        """Like `PackedRows.add`, times `unit`."""
        scores.add_grid(total, self._data, y, places)

    def losses(self, rows, signs, *, constant):
        """Return `PackedRows.losses`, times `unit`."""
        picked = self._data[rows]
        if constant:
            picked = np.column_stack([picked, np.full(len(picked), self.unit, picked.dtype)])
        return weights.dense(picked, bits=self.unit.bit_length() - 1, low=-1, high=1, signs=signs[rows])

    def numbers(self):
        """Return the features, like `PackedRows.numbers`."""
        return self._data / self.unit

    def dot(self, weights):
        """Return <x, weights> for each row, like `PackedRows.dot`."""
        return _dots(lambda block: self._data[block], weights, self.shape) / self.unit


class SparseRows:
    """CSR rows of integers; entries that are not stored are `offset`, and stored entries are differences from it."""

    reads = "numbers"

    def __init__(self, excess, unit, offset):
        self._excess, self.unit, self.offset, self.shape, self.nnz = excess, unit, offset, excess.shape, excess.nnz

    def __getitem__(self, rows):
        return SparseRows(self._excess[rows], self.unit, self.offset)

    def votes(self, index, count):
        """Return `PackedRows.votes`, times `unit`."""
        X = self._excess
        return scores.votes_csr(X.indptr, X.indices, X.data, index, count) + self.offset * count.sum()

    def add(self, total, y, places):
        """Like `PackedRows.add`, times `unit`."""
        X = self._excess
        scores.add_csr(total, X.indptr, X.indices, X.data, y, places)
        if self.offset:
            total += self.offset * y[places].sum(dtype=np.int64)

    def add_touched(self, table, y, places):
        """Do what `add` does for a `dpfast.kernels.scores.SparseScores`; needs offset 0."""
        X = self._excess
        table.add_csr(X.indptr, X.indices, X.data, y, places)

    def losses(self, rows, signs, *, constant):
        """Return `PackedRows.losses`, times `unit`; needs offset 0."""
        X = self._excess[rows]
        if constant:
            X = sp.hstack([X, sp.csr_array(np.full((X.shape[0], 1), self.unit, np.int32))], format="csr")
        grid = self.unit.bit_length() - 1
        return weights.csr(X.indptr, X.indices, X.data, X.shape[1], bits=grid, low=-1, high=1, signs=signs[rows])

    def numbers(self):
        """Return the features, like `PackedRows.numbers`."""
        return (self._excess.toarray() + self.offset) / self.unit

    def dot(self, weights):
        """Return <x, weights> for each row, like `PackedRows.dot`."""
        X = self._excess
        return (reals.products_csr(X.indptr, X.indices, X.data, weights) + self.offset * reals.sum(weights)) / self.unit


def _dots(load, weights, shape):
    """Return the products of rows, which are converted to floats block by block."""
    n, d = shape
    blocks = (np.ascontiguousarray(load(block), np.float64) for block in slices(n, BLOCK_BYTES // (8 * d)))
    return np.concatenate([np.empty(0), *(reals.products(block, weights) for block in blocks)])

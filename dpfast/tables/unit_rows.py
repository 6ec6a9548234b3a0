"""Rows clipped to the unit ball or scaled to the unit sphere, and what halfspace learners compute from them.

A learner computes the margins of the rows with a vector, and weighted integer sums of the rows. Both are computed by
parts of consecutive rows; sums of integers do not depend on the parts.
"""

import copy
import operator
from functools import reduce
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from dpfast.kernels import reals
from dpfast.kernels import unit_rows as kernel
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices, threads
from dpfast.tables.arrays import as_numbers, check_shape, side_by_side
from dpfast.tables.bit_matrix import BitMatrix
from dpfast.tables.projection import row_products


def unit_rows(X, *, fit_intercept=False, normalize=False):
    """Return X as rows of the unit ball.

    With `fit_intercept`, a constant 1 is appended to each row first. With `normalize`, rows other than zero are scaled
    to norm 1; otherwise only rows outside the ball are. Bits are 0 and 1; NaN, infinities and wrong shapes are refused.

    X is read once, and 8 bytes are kept for each row. CSR arrays and packed bits are copied unless they are read-only.
    Dense arrays are not copied: C-contiguous floats are read where they are, and others are converted to floats part by
    part in every pass. Each sum of rows checks that they are as they were at first; an error says if they were changed
    meanwhile. Read-only C-contiguous floats need no check.
    """
    if not isinstance(X, BitMatrix):
        X = as_numbers(X, sparse=["csr"])
    check_shape(X.shape)
    rows: list = []  # of each part, if they are read only once
    if isinstance(X, BitMatrix):
        parts = slices(len(X), BLOCK_BYTES // max(8, X.rows[:1].nbytes))
        rows = [kernel.Packed(X.rows[part], X.shape[1]) for part in parts]
    elif sp.issparse(X):
        parts = slices(X.shape[0], -(-X.shape[0] // (4 * threads())))
        rows = [*_csr_parts(X, parts)]
    else:
        parts, load = slices(len(X), BLOCK_BYTES // (X.shape[1] * X.itemsize)), lambda k: _kernel_rows(X[parts[k]])
        if X.dtype in (np.float32, np.float64) and X.flags.c_contiguous and X.flags.aligned:
            rows = [kernel.Dense(X[part]) for part in parts]
    signed = not isinstance(X, BitMatrix) and X.dtype.kind not in "bu"
    return UnitRows(X.shape, parts, rows.__getitem__ if rows else load, fit_intercept, normalize, not rows, signed)


def unit_products(X, coef, intercept, **options):
    """Return (<x, coef> + intercept) over the length of each row x: float64, shape (n,).

    `options` are the arguments of `unit_rows`, which scale a row by the inverse of its length.
    """
    rows, unit = unit_rows(X, **options), reals.norm(np.append(coef, intercept)) or 1.0
    products = row_products(X, coef / unit) + intercept / unit  # with large coefficients, those of long rows overflow
    return products * (rows.scales / rows.reach) * unit


class UnitRows:
    """Rows x_i of the unit ball, with 1 appended before clipping if they have an intercept; made by `unit_rows`.

    Integer rows q_i = trunc(reach * x_i) have a Euclidean norm of at most `reach`, exactly. `scales` has the number by
    which each row was multiplied for this: float64, shape (n,). `signed` is False if the type of the entries excludes
    negative ones.
    """

    def __init__(self, shape, parts, load, fit_intercept, normalize, again=False, signed=True):
        self._parts, self._load, self._constant = parts, load, float(fit_intercept)
        self.shape = shape[0], shape[1] + fit_intercept
        self._d, self.signed = shape[1], signed
        self.scales = np.empty(shape[0])
        self._checksums = [None] * len(parts) if again else None  # of those that are read again for each pass
        inside = not normalize

        def measure(k):
            rows = load(k)
            self.scales[parts[k]] = kernel.scales(rows, self._constant, inside)
            if again:
                self._checksums[k] = rows.given
            return rows.bits

        self.reach = 1 << map_blocks(measure, range(len(parts)))[0]

    def margins(self, w):
        """Return <w, x_i>, clipped to [-1, 1]: float32, shape (n,) or (n, k). The rows are read once for each w."""
        if np.ndim(w) == 2:
            return side_by_side([self.margins(column) for column in np.transpose(w)])
        vector, out = self._vector(w), np.empty(self.shape[0], np.float32)

        def product(k):
            part = self._parts[k]
            kernel.margins(self._load(k), self.scales[part], vector, self._constant, out[part])

        map_blocks(product, range(len(self._parts)))
        return out

    def weighted_sum(self, weights):
        """Return the sum of weights[i] * q_i, exactly: int64, shape (shape[1],).

        The weights are int32 of at most 2**12 in size. The rows whose weights are not zero are read once.
        """

        def add(group):
            total = np.zeros(self._d + 1, np.int64)
            for k in reversed(group):  # the last ones may still be in the cache, from the margins
                part = self._parts[k]
                kernel.add(total, self._load_unchanged(k), self.scales[part], weights[part], self._constant)
            return total

        return reduce(operator.add, map_blocks(add, self._groups()))[: self.shape[1]]

    def residual_sums(self, w, labels, limits, slope, odds):
        """Return the sums of the rows times their residuals, and last the sums of the residuals, exactly.

        `w` has shape (shape[1], columns) and `odds` (columns,); the result has shape (shape[1] + 1, columns) and is
        int64. Scores are odds + slope * <w, x_i>, in float32. One column has the residuals of
        `dpfast.kernels.logistic.two` with `by_margin`, more columns those of `many`, with labels as for these. Limits
        are at most 2**12. The rows are read once.
        """
        vectors, odds = np.stack([self._vector(column) for column in w.T]), np.asarray(odds, np.float32)

        def add(group):
            total = np.zeros((len(vectors), self._d + 2), np.int64)
            for k in group:
                part = self._parts[k]
                rows, state = (self._load_unchanged(k), self.scales[part]), (labels[part], limits[part], slope)
                if len(vectors) == 1:
                    kernel.add_residuals(total[0], *rows, vectors[0], *state, odds[0], self._constant)
                else:
                    kernel.add_residuals_many(total, *rows, vectors, *state, odds, self._constant)
            return total

        total = reduce(operator.add, map_blocks(add, self._groups()))
        total[:, self.shape[1]] = total[:, -1]  # without an intercept its entry is left out
        return np.ascontiguousarray(total[:, : self.shape[1] + 1].T)

    def limits(self, centre, top, radius, reach):
        """Return limits with limit * max(radius, |(q_i - centre, top)|) <= reach, exactly: int32, shape (n,).

        The norm of `centre` (int32) and `top`, a further entry of each row, are at most 2**18, and reach at most 2**31
        * radius.
        """
        rest = int(np.square(centre.astype(np.int64)).sum()) + top**2
        squares = self.squared_distances(centre) + rest
        norms = np.ceil(np.sqrt(squares)).astype(np.int64)  # below 2**52 rounding lowers no ceiling
        return (reach // np.maximum(norms, radius)).astype(np.int32)

    def squared_distances(self, centre):
        """Return |q_i - centre|^2 - |centre|^2, exactly, for `centre` of norm at most 2**18: int64, shape (n,)."""
        whole, out = np.zeros(self._d + 1, np.int32), np.empty(self.shape[0], np.int64)
        whole[: self.shape[1]] = centre

        def measure(k):
            part = self._parts[k]
            out[part] = kernel.apart(self._load_unchanged(k), self.scales[part], whole, self._constant)

        map_blocks(measure, range(len(self._parts)))
        return out

    def shorten(self, shares):
        """Return the same rows, multiplied by `shares`, which are in [0, 1]: float64, shape (n,)."""
        rows = copy.copy(self)
        rows.scales = self.scales * shares
        return rows

    def _load_unchanged(self, k):
        """Return the rows of part k; refuse others than those that the scales are for."""
        rows = self._load(k)
        if self._checksums is not None and rows.given != self._checksums[k]:
            raise ValueError("X must not be changed while it is used: rows are not as they were at first")
        return rows

    def _vector(self, w):
        """Return w as kernels read it, with an entry for the constant."""
        vector = np.zeros(self._d + 1, np.float32)
        vector[: self.shape[1]] = w
        return vector

    def _groups(self):
        """Return the parts of each thread, which has a total of its own."""
        count = len(self._parts)
        step = min(threads(), count) if count > 1 else count
        return [range(k, count, step) for k in range(step)]

    def linear(self, w):
        """Return w as coefficients (d, k) and intercept (k,), for rows of norm 1."""
        return w[: self._d], w[self._d :].sum(axis=0)


_SHARE_BITS = 7  # of the share of its length that a centred row keeps
_MEAN_BITS = kernel.GRID_BITS - _SHARE_BITS
_REACH = 1 << 23  # of centred rows: a fine grid, as their length is divided by a radius that is released later


class Centring(NamedTuple):
    """A released mean that is subtracted from rows of norm 1, and the length to which the differences are cut.

    The centred row is (x - mean, top) / radius. `mean`, int32 of shape (d,), and `top` are in steps of 2**-10, and
    `radius` is in steps of 2**-17. The norm of (mean, top) is at most 2.
    """

    mean: np.ndarray
    top: int
    radius: int

    @classmethod
    def of(cls, mean, top, radius):
        """Return the centring by numbers on the scale of the rows, rounded."""
        steps = 1 << _MEAN_BITS
        return cls(np.rint(mean * steps).astype(np.int32), round(top * steps), int(radius * (1 << kernel.GRID_BITS)))

    def linear(self, w):
        """Return <w, centred row> as coefficients of the row, (d,) or (d, k), and a constant, () or (k,)."""
        scale = (1 << kernel.GRID_BITS) / self.radius
        columns = np.ascontiguousarray(np.reshape(w, (len(w), -1)).T)
        means = np.array([reals.dot(column[:-1], self.mean.astype(np.float64)) for column in columns])
        constants = (columns[:, -1] * self.top - means) * (scale / (1 << _MEAN_BITS))
        return w[:-1] * scale, constants if np.ndim(w) == 2 else float(constants[0])


class CentredRows:
    """`UnitRows` minus a mean, with one more entry: v_i = (x_i - mean, top) / radius of a `Centring`.

    For sums, a row is multiplied by the largest share c_i, in steps of 2**-7 up to 1, at which its norm is at most 1.
    On the grid it is F (q_i - c_i mean, c_i top), where q_i = trunc(scale * c_i x_i), and its norm is at most `reach`,
    exactly: shares are checked with the integers themselves. A share follows from its own row and the centring.
    """

    reach = _REACH

    def __init__(self, rows, centring):
        self._rows, self._centring = rows, centring
        self.shape = rows.shape[0], rows.shape[1] + 1
        self._factor = _REACH // centring.radius
        self._shares = self._find_shares()
        self._short = self._of(self._shares)

    def margins(self, w):
        """Return <w, v_i>, clipped to [-1, 1], of rows of any length: float32, shape (n,) or (n, k)."""
        if np.ndim(w) == 2:
            return side_by_side([self.margins(column) for column in np.transpose(w)])
        coef, constant = self._centring.linear(np.asarray(w, np.float64))
        size = reals.norm(coef) or 1.0
        product = self._rows.margins(coef / size)
        product *= np.float32(size)
        product += np.float32(constant)
        return np.clip(product, -1, 1, out=product)

    def weighted_sum(self, weights):
        """Return the sum of weights[i] times row i of the grid, exact for at most 2**28 rows: int64, shape (shape[1],).

        The weights are int32 of at most 2**12 in size. The rows whose weights are not zero are read once.
        """
        sums = (weights.astype(np.int64) * self._shares).sum(axis=-1)
        total = self._short.weighted_sum(weights) - sums * self._centring.mean
        return np.append(total, sums * self._centring.top) * self._factor

    def _of(self, shares):
        return self._rows.shorten(shares / (1 << _SHARE_BITS))

    def _find_shares(self):
        """Return the shares, in steps of 2**-7: int64, shape (n,)."""
        mean, top, radius = self._centring
        whole = 1 << _SHARE_BITS
        rest = top**2 + int(np.square(mean.astype(np.int64)).sum())
        squares = self._rows.squared_distances(whole * mean) + whole**2 * rest
        shares = np.minimum(whole, np.floor(whole * radius / np.sqrt(np.maximum(squares, 1)))).astype(np.int64)
        while True:  # q_i is truncated anew for each share
            rows = self._of(shares)
            squares = rows.squared_distances(np.zeros_like(mean))
            longer = squares - shares * (squares - rows.squared_distances(mean)) + shares**2 * rest > radius**2
            if not longer.any():
                return shares
            shares -= longer


def _csr_parts(X, parts):
    data, indices = np.require(_floats(X.data), None, "A"), np.require(X.indices, None, "A")
    for part in parts:
        ends = X.indptr[part.start : part.stop + 1].astype(np.int64)
        stored = slice(ends[0], ends[-1])
        yield kernel.Csr(ends - ends[0], indices[stored], data[stored], X.shape[1])


def _kernel_rows(block):
    """Return rows of the kernel; those that were converted are nobody else's, and need no check of a later change."""
    rows = np.require(_floats(block), None, "CA")
    if not np.may_share_memory(rows, block):
        rows.setflags(write=False)
    return kernel.Dense(rows)


def _floats(values):
    """Return float32 if that is exact, else float64; C-contiguous if it had to be copied."""
    if values.dtype in (np.float32, np.float64):
        return values
    exact = values.dtype.kind in "biuf" and values.dtype.itemsize <= 2
    return values.astype(np.float32 if exact else np.float64, order="C")

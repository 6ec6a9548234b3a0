"""Sums, products, exponentials, logarithms and mixtures of doubles: the same bits on every machine. See csrc/reals.h."""
import math

import numpy as np

from dpfast.kernels.own import given, own, own_indices

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t
from dpfast.kernels.arrays cimport aligned, csr as check_csr
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "reals.h" nogil:
    double dpf_reals_sum(const double *x, size_t n)
    void dpf_reals_products(const double *x, size_t n, size_t d, const double *w, double *out)
    void dpf_reals_products_csr(const int64_t *indptr, const int32_t *indices, const double *data, size_t n,
                                const double *w, double *out)
    void dpf_reals_exp(const double *x, size_t n, double *out)
    void dpf_reals_log(const double *x, size_t n, double *out)
    size_t DPF_REALS_SCALES
    size_t DPF_REALS_LEVELS
    void dpf_reals_mixture(const double *square, size_t n, size_t apart, double usual, const double *begin,
                           const double *middle, size_t levels, const double *density, const double *kept,
                           size_t others, double prior, double rare, double *weight, double *share)
    void dpf_reals_halves(const double *noisy, size_t n, double rows, double likely, double *out)
    void dpf_reals_smooth(double *x, size_t n, double cut, double *apart)

dpf_cpu_share(shared_level())

LARGEST_EXPONENT, LEAST = 708, 2.0**-1022


cdef _doubles(x):
    if type(x) is np.ndarray and x.dtype == np.float64:  # numpy's function takes as long as a short sum
        flags = x.flags
        if flags.c_contiguous and flags.aligned:
            return x
    return np.require(x, np.float64, "CA")


def sum(x):
    """Return the sum of all entries of an array of numbers: float.

    Parameters
    ----------
    x : array_like of float, any shape
    """
    cdef const double[::1] flat = _doubles(x).reshape(-1)
    cdef double total = 0
    if flat.shape[0]:
        with nogil:
            total = dpf_reals_sum(&flat[0], flat.shape[0])
    return total


def products(X, w):
    """Return <x_i, w> for each row of an array: float64, shape (n,).

    Parameters
    ----------
    X : array_like of float, shape (n, d)
        C-contiguous float64 is not copied.
    w : array_like of float, shape (d,)

    Notes
    -----
    The product of a row does not depend on the rows beside it. One read of X.
    """
    rows, vector = _doubles(X), _doubles(w)
    if rows.ndim != 2 or vector.shape != rows.shape[1:]:
        raise ValueError(f"X must have two dimensions and w one entry for each column, got shapes {rows.shape} and "
                         f"{vector.shape}")
    out = np.zeros(len(rows))
    cdef size_t n = rows.shape[0], d = rows.shape[1]
    cdef const double[:, ::1] x = rows
    cdef const double[::1] weights = vector
    cdef double[::1] product = out
    if n and d:
        with nogil:
            dpf_reals_products(&x[0, 0], n, d, &weights[0], &product[0])
    return out


def products_csr(indptr, indices, data, w):
    """Return <x_i, w> for each sparse row: float64, shape (n,). Entries are added in the order in which they are stored.

    Parameters
    ----------
    indptr, indices, data : ndarray
        As in scipy; int64, int32 and float64 are not copied.
    w : array_like of float, shape (d,)
    """
    vector, values = _doubles(w), _doubles(data)
    indptr, indices = own_indices("indptr", indptr), own_indices("indices", indices)
    if vector.ndim != 1 or values.shape != indices.shape:
        raise ValueError(f"w must have one dimension, and indices and data one length, got shapes {vector.shape}, "
                         f"{indices.shape} and {values.shape}")
    check_csr(indptr, indices)
    if len(indices) and not 0 <= indices.min() <= indices.max() < len(vector):
        raise ValueError(f"indices must lie in [0, {len(vector)}), got {indices.min()} to {indices.max()}")
    out = np.zeros(len(indptr) - 1)
    cdef size_t n = len(out)
    cdef const int64_t[::1] ends = own(indptr, np.int64)
    cdef const int32_t[::1] column = own(indices, np.int32)
    cdef const double[::1] entry = values, weights = vector
    cdef double[::1] product = out
    if n and entry.shape[0]:
        with nogil:
            dpf_reals_products_csr(&ends[0], &column[0], &entry[0], n, &weights[0], &product[0])
    return out


def dot(x, y):
    """Return <x, y> of two vectors: float.

    Parameters
    ----------
    x, y : array_like of float, shape (n,)
    """
    cdef const double[::1] a = _doubles(x), b = _doubles(y)
    cdef size_t d = a.shape[0]
    cdef double product = 0
    if a.shape[0] != b.shape[0]:
        raise ValueError(f"x and y must have one length, got {a.shape[0]} and {b.shape[0]}")
    if d:
        with nogil:
            dpf_reals_products(&a[0], 1, d, &b[0], &product)
    return product


def norm(x):
    """Return the Euclidean norm of all entries: float; squares must not overflow.

    Parameters
    ----------
    x : array_like of float, any shape
    """
    flat = _doubles(x).reshape(-1)
    return math.sqrt(dot(flat, flat))


ctypedef void (*function)(const double *x, size_t n, double *out) noexcept nogil


cdef _each(function f, values):
    out = np.empty(values.shape)
    cdef const double[::1] x = values.reshape(-1)
    cdef double[::1] y = out.reshape(-1)
    if x.shape[0]:
        with nogil:
            f(&x[0], x.shape[0], &y[0])
    return out


def exp(x):
    """Return exp(x), within one unit in the last place; 0 below -708: float64, of the shape of x.

    Parameters
    ----------
    x : array_like of float, any shape
        At most 708.
    """
    values = _doubles(x)
    if values.size and not values.max() <= LARGEST_EXPONENT:
        raise ValueError(f"exponents must be at most {LARGEST_EXPONENT}, got {values.max()}")
    return _each(dpf_reals_exp, values)


def log(x):
    """Return the natural logarithm, within two units in the last place: float64, of the shape of x.

    Parameters
    ----------
    x : array_like of float, any shape
        Finite, and at least 2**-1022.
    """
    values = _doubles(x)
    if values.size and not LEAST <= values.min() <= values.max() < math.inf:
        raise ValueError(f"numbers must be finite and at least {LEAST}, got {values.min()} to {values.max()}")
    return _each(dpf_reals_log, values)


def expit(x):
    """Return 1 / (1 + exp(-x)): float64, of the shape of x.

    Parameters
    ----------
    x : array_like of float, any shape
    """
    values = _doubles(x)
    small = exp(-np.abs(values))
    return np.where(values >= 0, 1, small) / (1 + small)


def mixture(squares, usual, weights, begin, middles, densities, kept, double prior, double rare):
    """Return what values keep, and make a step towards the weights of scales that explain them best.

    Columns are independent of each other. Without values the weights stay. See csrc/reals.h for what is computed.

    Parameters
    ----------
    squares : array_like of float, shape (n, columns)
        Of the values over the variance of their noise.
    usual : array_like of float, shape (columns,)
        The first scale of each column: finite, at least 0.
    weights : ndarray of float64, shape (columns, 1 + others), C-contiguous
        Of the usual scale and the others, at most 15. Changed in place.
    begin, middles : array_like of float, shape (levels,)
        Of the levels of squares, rising; 1 to 128.
    densities : array_like of float, shape (others, levels)
        Of the scales other than the usual one.
    kept : array_like of float, shape (others,)
        What values of these scales keep.
    prior, rare : float
        How many values more the usual scale and each other scale count.

    Returns
    -------
    ndarray of float64, shape (n, columns)
    """
    cdef const double[:, ::1] square = _doubles(squares), density = _doubles(densities)
    cdef const double[::1] first = _doubles(usual), start = _doubles(begin), middle = _doubles(middles)
    cdef const double[::1] keep = _doubles(kept)
    cdef double[:, ::1] weight = given("weights", weights)
    cdef size_t n = square.shape[0], columns = square.shape[1], others = density.shape[0], levels = density.shape[1], c
    if others >= DPF_REALS_SCALES or not 0 < levels <= DPF_REALS_LEVELS:
        raise ValueError(f"densities must be of at most {DPF_REALS_SCALES - 1} scales and 1 to {DPF_REALS_LEVELS} "
                         f"levels, got shape {(others, levels)}")
    if (start.shape[0], middle.shape[0], keep.shape[0], first.shape[0], weight.shape[0], weight.shape[1]) != (
            levels, levels, others, columns, columns, others + 1):
        raise ValueError(f"begin and middles must have length {levels}, kept {others}, usual {columns} and weights "
                         f"shape {(columns, others + 1)}, got {len(start)}, {len(middle)}, {len(keep)}, {len(first)} "
                         f"and {weights.shape}")
    for c in range(columns):
        if not isfinite(first[c]) or first[c] < 0:
            raise ValueError(f"usual scales must be finite and at least 0, got {first[c]}")
    out = np.empty((n, columns))
    cdef double[:, ::1] share = out
    if n == 0 or columns == 0:
        return out
    aligned(&weight[0, 0], sizeof(double))
    for c in range(columns):
        with nogil:
            dpf_reals_mixture(&square[0, c], n, columns, first[c], &start[0], &middle[0], levels,
                              &density[0, 0] if others else NULL, &keep[0] if others else NULL, others, prior, rare,
                              &weight[c, 0], &share[0, c])
    return out


def halves(noisy, double rows, double likely):
    """Return the part of so many rows that each of n cells has, given noisy counts: float64, shape (n,).

    Rows are divided half by half, evenly but where the counts of two halves clearly differ. See csrc/reals.h.

    Parameters
    ----------
    noisy : array_like of float, shape (n,)
        At least one.
    rows : float
    likely : float
        The noise of a count that is hardly exceeded.
    """
    cdef const double[::1] cells = _doubles(noisy)
    cdef size_t n = cells.shape[0]
    if n == 0:
        raise ValueError("noisy must have at least one count")
    out = np.empty(n)
    cdef double[::1] part = out
    with nogil:
        dpf_reals_halves(&cells[0], n, rows, likely, &part[0])
    return out


def smooth(counts, double cut):
    """Return counts without the coefficients of their Haar basis that are below the cut: float64, shape (n,).

    Parameters
    ----------
    counts : array_like of float, shape (n,)
        At least one; zeros follow them up to a power of 2.
    cut : float
    """
    cdef const double[::1] given = _doubles(counts)
    cdef size_t n = given.shape[0], size = 1
    if n == 0:
        raise ValueError("counts must have at least one entry")
    while size < n:
        size *= 2
    out = np.zeros(size)
    out[:n] = given
    cdef double[::1] x = out, apart = np.empty(size)
    with nogil:
        dpf_reals_smooth(&x[0], size, cut, &apart[0])
    return out[:n]

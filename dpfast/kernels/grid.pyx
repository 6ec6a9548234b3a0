"""Real numbers on a fixed-point grid. See csrc/grid.h."""
import numpy as np

from dpfast.kernels.own import given, of_64_bits, own

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t
from dpfast.kernels.arrays cimport address, aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "grid.h" nogil:
    void dpf_grid(const void *x, bint wide, size_t n, unsigned bits, int32_t *q, double *low, double *high)
    int64_t dpf_grid_sum(const void *x, bint wide, size_t n, unsigned bits)
    double dpf_grid_step(const double *x, const int64_t *start, size_t p, size_t k, double ranges, double sums)
    void dpf_grid_round(const double *x, size_t n, double step, int32_t *q)

dpf_cpu_share(shared_level())


@of_64_bits
def to_grid(x, unsigned bits):
    """Return real numbers on the grid of 2**-bits, and their extremes, in one read.

    Parameters
    ----------
    x : ndarray of float32 or float64, any shape
    bits : int
        At most 30.

    Returns
    -------
    q : ndarray of int32, of the shape of x
        x clipped to [-1, 1], times 2**bits, rounded to the nearest integer, halves to even; 0 for NaN.
    low, high : float
        Smallest and largest of x before clipping; both NaN if any is, or if there are none. It is for the caller
        to refuse what is out of range.
    """
    if given("x", x).dtype not in (np.float32, np.float64) or bits > 30:
        raise ValueError(f"x must be float32 or float64 and bits at most 30, got {x.dtype} and {bits}")
    q = np.empty(x.shape, np.int32)
    cdef int32_t[::1] out = q.reshape(-1)
    cdef double low = np.nan, high = np.nan
    x = np.require(x, None, "CA")
    cdef const void *real = address(x)
    cdef bint wide = x.dtype == np.float64
    if out.shape[0]:
        with nogil:
            dpf_grid(real, wide, out.shape[0], bits, &out[0], &low, &high)
    return q, low, high


@of_64_bits
def unit_sum(x, unsigned bits):
    """Return the sum of real numbers on the grid of 2**-bits, each clipped to [0, 1], in one read.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (n,)
        n below 2**32.
    bits : int
        At most 30.

    Returns
    -------
    int
        Sum of x clipped to [0, 1], times 2**bits, rounded to the nearest integer, halves to even; NaN counts as 0.
    """
    if given("x", x).dtype not in (np.float32, np.float64) or x.ndim != 1 or len(x) >= 2**32 or bits > 30:
        raise ValueError("x must be float32 or float64 of shape (n,) with n below 2**32, and bits at most 30, "
                         f"got {x.dtype} {x.shape} and {bits}")
    x = np.require(x, None, "CA")
    cdef const void *real = address(x)
    cdef bint wide = x.dtype == np.float64
    cdef size_t n = x.shape[0]
    cdef int64_t total = 0
    if n:
        with nogil:
            total = dpf_grid_sum(real, wide, n, bits)
    return total


cdef double _STEPS = 2.0**24 - 2  # the most steps of the range of a column: three bytes hold them


def of_columns(const double[:, ::1] x, offsets):
    """Return the numbers of columns on one grid, and its step, such that sums of a number of each column fit into 32 bits.

    Parameters
    ----------
    x : ndarray of float64, shape (n, k), C-contiguous
        Finite.
    offsets : ndarray of int64, shape (columns + 1,)
        Column j has the rows offsets[j] to offsets[j + 1] - 1, at least one; together they have all rows.

    Returns
    -------
    q : ndarray of int32, shape (n, k)
        x / step rounded to the nearest integer, halves to even. Those of one column differ by less than 2**24, and the
        largest sizes of the columns add up to less than 2**31.
    step : float
    """
    cdef const int64_t[::1] start = own(offsets, np.int64)
    cdef size_t n = x.shape[0], k = x.shape[1], p = start.shape[0] - 1, j
    cdef bint valid = start.shape[0] > 1 and start[0] == 0 and start[start.shape[0] - 1] == x.shape[0] and k > 0
    if valid:
        for j in range(p):
            valid &= start[j] < start[j + 1]
    if not valid or p >= <size_t>1 << 24:
        raise ValueError(f"offsets must rise from 0 to the {n} rows of x, one at least for each of at most 2**24 columns, "
                         f"got {offsets}, and {k} numbers in a row")
    aligned(&x[0, 0], sizeof(double))
    out = np.empty((n, k), np.int32)
    cdef int32_t[:, ::1] q = out
    cdef double step
    with nogil:
        step = dpf_grid_step(&x[0, 0], &start[0], p, k, _STEPS, 2.0**31 - 1 - p)
        if isfinite(step):
            dpf_grid_round(&x[0, 0], n * k, step, &q[0, 0])
    if not isfinite(step):
        raise ValueError("x must be finite")
    return out, step

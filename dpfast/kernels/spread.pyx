"""Noisy numbers of rows in cells along a line, and the ends of cells and bins that follow. See csrc/spread.h.

Cells have `rows`, at least 0, and `ends`, one more, which rise.
"""
import numpy as np

from libc.math cimport isfinite
from dpfast.kernels.arrays cimport aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "spread.h" nogil:
    ctypedef struct dpf_spread_grid:
        bint whole
        double least, low, high
    ctypedef struct dpf_spread_noise:
        double likely, sure, variance, before
    void dpf_spread_snap(double *x, size_t n, const dpf_spread_grid *grid)
    size_t dpf_spread_distinct(double *x, size_t n)
    void dpf_spread_steps(double low, double high, size_t parts, double *out)
    size_t dpf_spread_clear(const double *noisy, size_t n, double likely, double sure, double *row)
    size_t dpf_spread_divide(const double *row, const double *end, size_t n, double total, size_t cells, double least,
                             double *out)
    void dpf_spread_quantiles(const double *row, const double *end, size_t n, double total, const double *rank,
                              size_t ranks, bint whole, double *below, double *at)
    size_t dpf_spread_part(const double *row, const double *end, size_t n, double total, double some,
                           const double *edge, size_t m, double *below, double *kept)
    void dpf_spread_refine(const double *row, const double *end, size_t n, const double *noisy, const double *part_end,
                           size_t m, const dpf_spread_grid *grid, const dpf_spread_noise *noise, double *rest,
                           double *part, double *half)

dpf_cpu_share(shared_level())

cdef double _MOST = 1 << 20  # parts


cdef int _check_cells(const double[::1] rows, const double[::1] ends) except -1:
    """Refuse cells whose ends do not rise; rows may be any numbers."""
    cdef Py_ssize_t i
    if rows.shape[0] == 0 or ends.shape[0] != rows.shape[0] + 1:
        raise ValueError(f"cells must have rows and one more end, got {rows.shape[0]} rows and {ends.shape[0]} ends")
    aligned(&rows[0], sizeof(double))
    aligned(&ends[0], sizeof(double))
    for i in range(rows.shape[0]):
        if not ends[i] < ends[i + 1]:
            raise ValueError("ends must rise")
    return 0


cdef class Grid:
    """The numbers that may be ends.

    Parameters
    ----------
    whole : bool
        Whether they are whole.
    low, high : float
    least : float
        Numbers above 0 are at least this, and those from -least to 0 are 0.
    """

    cdef dpf_spread_grid grid

    def __init__(self, bint whole, double low, double high, double least=0.0):
        if not low < high or not least >= 0:
            raise ValueError(f"low must be below high, and least at least 0, got {low}, {high} and {least}")
        self.grid = dpf_spread_grid(whole, least, low, high)

    def snap(self, numbers):
        """Return the number of the grid for each number: float64, shape (n,)."""
        out = np.array(numbers, np.float64)
        cdef double[::1] x = out
        if x.shape[0]:
            dpf_spread_snap(&x[0], x.shape[0], &self.grid)
        return out

    def distinct(self, numbers):
        """Return the distinct numbers of the grid for some numbers, in increasing order."""
        out = np.array(numbers, np.float64)
        cdef double[::1] x = out
        cdef size_t left = 0
        if x.shape[0]:
            dpf_spread_snap(&x[0], x.shape[0], &self.grid)
            left = dpf_spread_distinct(&x[0], x.shape[0])
        return out[:left]

    def steps(self, double low, double high, double parts):
        """Return the numbers of the grid for the ends of equal parts between two numbers, each once."""
        if not 1 <= parts <= _MOST or not isfinite(low) or not isfinite(high):
            raise ValueError(f"parts must number 1 to {_MOST:.0f}, between finite numbers, got {parts}, {low} and {high}")
        cdef size_t n = <size_t>parts
        out = np.empty(n + 1)
        cdef double[::1] x = out
        dpf_spread_steps(low, high, n, &x[0])
        dpf_spread_snap(&x[0], n + 1, &self.grid)
        return out[:dpf_spread_distinct(&x[0], n + 1)]

    def refine(self, const double[::1] rows, const double[::1] ends, const double[::1] noisy,
               const double[::1] part_ends, double likely, double sure, double variance, double before):
        """Return the rows of the cells that a look at parts of them confirms, and those of the parts.

        Parameters
        ----------
        rows, ends : ndarray of float64
            The cells.
        noisy : ndarray of float64, shape (parts,)
        part_ends : ndarray of float64, shape (parts + 1,)
            Rising numbers of the grid.
        likely, sure : float
            What a count of a part must be above, and how many deviations are clear.
        variance, before : float
            That of the noise of a part, and of that in `rows`.

        Returns
        -------
        ndarray of float64, ndarray of float64
        """
        _check_cells(rows, ends)
        cdef size_t m = noisy.shape[0], k
        if <size_t>part_ends.shape[0] != m + 1:
            raise ValueError(f"parts must have one more end, got {m} and {part_ends.shape[0]}")
        cdef dpf_spread_noise noise = dpf_spread_noise(likely, sure, variance, before)
        confirmed, parts, halves = np.empty(rows.shape[0]), np.empty(m), np.empty(m + 1)
        cdef double[::1] rest = confirmed, part = halves, half = halves
        cdef const double *count = &part_ends[0]
        aligned(&part_ends[0], sizeof(double))
        if m:
            part, count = parts, &noisy[0]
            aligned(count, sizeof(double))
        for k in range(m):
            if not part_ends[k] < part_ends[k + 1]:
                raise ValueError("ends must rise")
        with nogil:
            dpf_spread_refine(&rows[0], &ends[0], rows.shape[0], count, &part_ends[0], m, &self.grid, &noise, &rest[0],
                              &part[0], &half[0])
        return confirmed, parts


def distinct(numbers):
    """Return numbers in increasing order, each once: `numpy.unique`, which takes longer for a few.

    Parameters
    ----------
    numbers : array_like of float, shape (n,)
    """
    out = np.array(numbers, np.float64)
    cdef double[::1] x = out
    return out[:dpf_spread_distinct(&x[0], x.shape[0])] if x.shape[0] else out


def clear(const double[::1] noisy, double likely, double sure):
    """Return the counts above `sure`, and those above `likely` beside another one, 0 for others; and how many they are.

    Parameters
    ----------
    noisy : ndarray of float64, shape (n,)
    likely, sure : float

    Returns
    -------
    ndarray of float64, shape (n,)
    int
    """
    out = np.empty(noisy.shape[0])
    cdef double[::1] row = out
    cdef size_t held = 0
    if noisy.shape[0]:
        aligned(&noisy[0], sizeof(double))
        held = dpf_spread_clear(&noisy[0], noisy.shape[0], likely, sure, &row[0])
    return out, held


def divide(const double[::1] rows, const double[::1] ends, double total, double cells, double least):
    """Return the ends of about so many parts of the cells that hold rows, with at least so many rows each, in order.

    Parameters
    ----------
    rows, ends : ndarray of float64
        The cells.
    total : float
        The sum of the rows.
    cells : int
    least : float
    """
    _check_cells(rows, ends)
    cdef size_t n = rows.shape[0], parts
    if not 0 <= cells <= _MOST or not least > 0:
        raise ValueError(f"least must be above 0 and cells at most {_MOST:.0f}, got {least} and {cells}")
    parts = <size_t>cells
    out = np.empty(2 * parts + 2 * n)
    cdef double[::1] x = out
    return out[:dpf_spread_divide(&rows[0], &ends[0], n, total, parts, least, &x[0])]


def quantiles(const double[::1] rows, const double[::1] ends, double total, const double[::1] ranks, bint whole):
    """Return the numbers at these shares of the rows: float64, shape (ranks,).

    Parameters
    ----------
    rows, ends : ndarray of float64
        The cells.
    total : float
        The sum of the rows.
    ranks : ndarray of float64, shape (ranks,)
    whole : bool
        Whether they are whole numbers, or lower ends of cells.
    """
    _check_cells(rows, ends)
    out, sums = np.empty(ranks.shape[0]), np.empty(ends.shape[0])
    cdef double[::1] at = out, below = sums
    if ranks.shape[0]:
        aligned(&ranks[0], sizeof(double))
        dpf_spread_quantiles(&rows[0], &ends[0], rows.shape[0], total, &ranks[0], ranks.shape[0], whole, &below[0],
                             &at[0])
    return out


def parting(const double[::1] rows, const double[::1] ends, double total, double some, const double[::1] edges):
    """Return the rising edges that separate rows: more than so many lie between each and the one before, and beyond it.

    Parameters
    ----------
    rows, ends : ndarray of float64
        The cells.
    total, some : float
        The sum of the rows, and how many separate.
    edges : ndarray of float64, shape (m,)
    """
    _check_cells(rows, ends)
    out, sums = np.empty(edges.shape[0]), np.empty(ends.shape[0])
    cdef double[::1] kept = out, below = sums
    cdef size_t left = 0
    if edges.shape[0]:
        aligned(&edges[0], sizeof(double))
        left = dpf_spread_part(&rows[0], &ends[0], rows.shape[0], total, some, &edges[0], edges.shape[0], &below[0],
                               &kept[0])
    return out[:left]

"""Codes of cells about which nothing is declared, compact or not, and values that they are looked up in.

A code is a date, a number, MISSING or a word: see csrc/cells.h. Cells are codes as int64, or compact as int8, int16 or
int32. Codes below 0 are read as 0.
"""
import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint16_t
from dpfast.kernels.arrays cimport address, aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "cells.h" nogil:
    int DPF_CELLS_BITS
    int DPF_CELLS_LEAST
    int DPF_CELLS_MOST
    int DPF_CELLS_DATES
    int DPF_CELLS_YEARS
    int DPF_CELLS_SURVEYED
    unsigned DPF_CELLS_PLACES
    int64_t DPF_CELLS_ZERO
    int64_t DPF_CELLS_MISSING
    ctypedef struct dpf_cells_values:
        const int64_t *start
        const uint16_t *value
        size_t runs
        const uint16_t *of_word
        size_t words
    void dpf_cells_of_numbers(const double *x, size_t n, int64_t *code)
    unsigned dpf_cells_places(const int64_t *code, size_t n, unsigned places)
    unsigned dpf_cells_bytes(const int64_t *code, size_t n, unsigned places)
    void dpf_cells_compact(const int64_t *code, size_t n, unsigned places, unsigned bytes, void *cells)
    ctypedef struct dpf_cells_stored:
        const void *cells
        size_t n
        unsigned bytes
        unsigned places
    void dpf_cells_expand(dpf_cells_stored stored, int64_t *code)
    void dpf_cells_survey(dpf_cells_stored stored, const uint8_t *year, int64_t *work, int64_t *count)
    bint dpf_cells_count(dpf_cells_stored stored, const dpf_cells_values *values, size_t size, int64_t *work,
                         int64_t *count)
    bint dpf_cells_take(dpf_cells_stored stored, const dpf_cells_values *values, bint wide, int64_t *work, void *out)

dpf_cpu_share(shared_level())

BITS, LEAST_POWER, MOST_POWER, DATES, YEARS, SURVEYED, ZERO, MISSING, PLACES = (
    DPF_CELLS_BITS, DPF_CELLS_LEAST, DPF_CELLS_MOST, DPF_CELLS_DATES, DPF_CELLS_YEARS, DPF_CELLS_SURVEYED,
    DPF_CELLS_ZERO, DPF_CELLS_MISSING, DPF_CELLS_PLACES
)
_MOST = 1 << 16  # runs, and values
_MANY = 1 << 16  # rows from which each cell of two bytes is looked up once, not each row
_COMPACT = {1: np.int8, 2: np.int16, 4: np.int32}


cdef const void *cells_at(cells) except? NULL:
    """The first of contiguous cells."""
    if not isinstance(cells, np.ndarray) or cells.dtype.kind != "i" or not cells.dtype.isnative:
        raise TypeError("cells must be an ndarray of int8, int16, int32 or int64")
    if cells.ndim != 1 or not cells.flags.c_contiguous:
        raise ValueError(f"cells must be one-dimensional and contiguous, got shape {cells.shape}, strides {cells.strides}")
    return address(cells)


cdef dpf_cells_stored stored_of(cells, places) except *:
    """Cells as the kernel reads them."""
    cdef dpf_cells_stored stored
    stored.cells = cells_at(cells)
    if not 0 <= places <= DPF_CELLS_PLACES:
        raise ValueError(f"places must lie in [0, {DPF_CELLS_PLACES}], got {places}")
    stored.n, stored.bytes, stored.places = len(cells), cells.dtype.itemsize, places
    return stored


cdef work_of(cells):
    """Return the entries that the kernel needs to look up each cell once, None if it looks up each row."""
    size = cells.dtype.itemsize
    return np.empty(1 << 8 * size, np.int64) if size == 1 or (size == 2 and len(cells) >= _MANY) else None


cdef int64_t *entries_of(work) except? NULL:
    return NULL if work is None else <int64_t *>address(work)


cdef int fill(dpf_cells_values *values, const int64_t[::1] starts, const uint16_t[::1] of, of_words) except -1:
    """Set values from arrays that stay as they are while these are used."""
    cdef Py_ssize_t runs = starts.shape[0], k
    if of.shape[0] != runs or not 1 <= runs < _MOST:
        raise ValueError(f"starts and values must have from 1 to {_MOST - 1} entries each, got {runs} and {of.shape[0]}")
    aligned(&starts[0], sizeof(int64_t))
    aligned(&of[0], sizeof(uint16_t))
    if starts[0] != 0 or starts[runs - 1] > DPF_CELLS_MISSING:
        raise ValueError("starts must increase from 0 to at most MISSING")
    for k in range(1, runs):
        if starts[k] <= starts[k - 1]:
            raise ValueError("starts must increase from 0 to at most MISSING")
    values.start, values.value, values.runs = &starts[0], &of[0], runs
    values.of_word, values.words = NULL, 0
    if of_words is not None:
        words_of(of_words, values)
    return 0


cdef int words_of(const uint16_t[::1] of_words, dpf_cells_values *values) except -1:
    """Set the values of words, also if there are none."""
    values.words = of_words.shape[0]
    if values.words:
        aligned(&of_words[0], sizeof(uint16_t))
        values.of_word = &of_words[0]
    else:
        values.of_word = values.value
    return 0


def of_numbers(const double[::1] numbers):
    """Return the code of each number, MISSING for NaN: int64, shape (n,)."""
    cdef Py_ssize_t n = numbers.shape[0]
    codes = np.empty(n, np.int64)
    cdef int64_t[::1] code = codes
    if n:
        aligned(&numbers[0], sizeof(double))
        with nogil:
            dpf_cells_of_numbers(&numbers[0], n, &code[0])
    return codes


def compact(codes, places=0):
    """Return codes as integers of 8, 16 or 32 bits if all of them have one, else the codes, and their decimal places.

    Parameters
    ----------
    codes : ndarray of int64, shape (n,)
    places : int, from 0 to PLACES
        The least number of decimal places; that of the result is larger if fractions have more.

    Returns
    -------
    tuple of ndarray and int
    """
    cdef dpf_cells_stored stored = stored_of(codes, places)
    cdef const int64_t *code = <const int64_t *>stored.cells
    if codes.dtype != np.int64:
        raise TypeError(f"codes must be int64, got {codes.dtype}")
    cdef size_t n = stored.n
    cdef unsigned bytes_, of_all = stored.places
    with nogil:
        bytes_ = dpf_cells_bytes(code, n, of_all)
        if bytes_ == 8:
            of_all = dpf_cells_places(code, n, of_all)
            if stored.places < of_all <= DPF_CELLS_PLACES:
                bytes_ = dpf_cells_bytes(code, n, of_all)
    if bytes_ == 8:
        return codes, places
    made = np.empty(n, _COMPACT[bytes_])
    cdef void *cells = address(made)
    with nogil:
        dpf_cells_compact(code, n, of_all, bytes_, cells)
    return made, int(of_all)


def expand(cells, places=0):
    """Return the codes of cells: int64, shape (n,); those of eight bytes are codes."""
    cdef dpf_cells_stored stored = stored_of(cells, places)
    if stored.bytes == 8:
        return cells
    codes = np.empty(stored.n, np.int64)
    cdef int64_t *code = <int64_t *>address(codes)
    with nogil:
        dpf_cells_expand(stored, code)
    return codes


def survey(cells, const uint8_t[::1] years, places=0):
    """Count the rows of each cell of the survey, which has none for words.

    Parameters
    ----------
    cells : ndarray of int8, int16, int32 or int64, shape (n,)
    years : ndarray of uint8, shape (DATES,)
        The year of each date, from 0 to YEARS - 1; larger ones are the last.
    places : int
        The decimal places of cells.

    Returns
    -------
    ndarray of int64, shape (SURVEYED,)
    """
    cdef dpf_cells_stored stored = stored_of(cells, places)
    if years.shape[0] != DPF_CELLS_DATES:
        raise ValueError(f"years must have shape {(DPF_CELLS_DATES,)}, got {(years.shape[0],)}")
    counts = np.zeros(DPF_CELLS_SURVEYED, np.int64)
    cdef int64_t[::1] count_ = counts
    work = work_of(cells)
    cdef int64_t *entries = entries_of(work)
    with nogil:
        dpf_cells_survey(stored, &years[0], entries, &count_[0])
    return counts


def count(cells, const int64_t[::1] starts, const uint16_t[::1] values, size, of_words=None, places=0):
    """Count the rows of each value below `size`, given values of codes.

    Parameters
    ----------
    cells : ndarray of int8, int16, int32 or int64, shape (n,)
    starts : ndarray of int64, shape (runs,)
        They increase from 0; codes from starts[k] on have values[k].
    values : ndarray of uint16, shape (runs,)
    size : int, from 0 to 65536
    of_words : ndarray of uint16, or None
        The values of words, which have the last of `values` if None.
    places : int
        The decimal places of cells.

    Returns
    -------
    ndarray of int64, shape (size,)
    """
    cdef dpf_cells_stored stored = stored_of(cells, places)
    cdef dpf_cells_values known
    fill(&known, starts, values, of_words)
    if not 0 <= size <= _MOST:
        raise ValueError(f"size must lie in [0, {_MOST}], got {size}")
    counts = np.zeros(size + 1, np.int64)
    cdef int64_t[::1] count_ = counts
    cdef size_t below = size
    work = work_of(cells)
    cdef int64_t *entries = entries_of(work)
    cdef bint all_
    with nogil:
        all_ = dpf_cells_count(stored, &known, below, entries, &count_[0])
    if not all_:
        raise ValueError(f"of_words has {known.words} words, and a cell is a later one")
    return counts[:below]


def take(cells, const int64_t[::1] starts, const uint16_t[::1] values, of_words=None, bint wide=False, places=0):
    """Return the value of each cell: uint8 or, if `wide`, uint16, shape (n,); otherwise like `count`."""
    cdef dpf_cells_stored stored = stored_of(cells, places)
    cdef dpf_cells_values known
    fill(&known, starts, values, of_words)
    found = np.empty(stored.n, np.uint16 if wide else np.uint8)
    cdef void *out = address(found)
    work = work_of(cells)
    cdef int64_t *entries = entries_of(work)
    cdef bint all_
    with nogil:
        all_ = dpf_cells_take(stored, &known, wide, entries, out)
    if not all_:
        raise ValueError(f"of_words has {known.words} words, and a cell is a later one, or a value has no byte")
    return found

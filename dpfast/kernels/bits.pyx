"""Packed 0/1 matrices: 64 entries to a word, the first in bit 0; bits past the end of a row are zero.

A matrix of n rows and d columns is an array of uint64 of shape (n, ceil(d / 64)), or column by column
(d, ceil(n / 64)), which is the first form of its transpose.
"""
import numpy as np

from dpfast.kernels.own import of_64_bits, own, own_indices

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t
from dpfast.kernels.arrays cimport aligned, packed as check_packed
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "bits.h" nogil:
    uint8_t dpf_bits_pack(const uint8_t *x, size_t n, size_t d, uint64_t *rows)
    void dpf_bits_unpack(const uint64_t *rows, size_t n, size_t d, uint8_t *x)
    void dpf_bits_scatter32(const int32_t *indptr, const int32_t *index, size_t n, size_t words, uint64_t *rows)
    void dpf_bits_scatter64(const int64_t *indptr, const int64_t *index, size_t n, size_t words, uint64_t *rows)
    void dpf_bits_transpose(const uint64_t *rows, size_t n, size_t d, uint64_t *columns)
    uint64_t dpf_bits_popcount(const uint64_t *words, size_t size)
    uint64_t dpf_bits_and(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out)
    uint64_t dpf_bits_andnot(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out)
    size_t dpf_bits_nonzero(const uint64_t *words, size_t size, int64_t *at)
    void dpf_bits_column(const uint64_t *rows, size_t n, size_t words, size_t j, const uint64_t *chosen, uint64_t *out)
    enum: DPF_BITS_SCRATCH
    void dpf_bits_positional_popcount(const uint64_t *rows, size_t n, size_t stride, const int64_t *index,
                                      const int8_t *label, size_t m, size_t d, uint64_t *scratch, int64_t *out)
    void dpf_bits_conjunctions(const uint64_t *columns, size_t n, const int64_t *code, size_t m, size_t k,
                               uint64_t *out)

dpf_cpu_share(shared_level())


def words(bits):
    """Return the number of words that hold `bits` entries."""
    return -(-bits // 64)


def pack(const uint8_t[:, ::1] x, uint64_t[:, ::1] out=None):
    """Pack bytes of 0 and 1.

    Parameters
    ----------
    x : ndarray of uint8 (or bool, viewed as uint8), shape (n, d), C-contiguous
    out : ndarray of uint64, shape (n, words(d)), optional

    Returns
    -------
    ndarray of uint64, shape (n, words(d))

    Raises
    ------
    ValueError
        If a byte is neither 0 nor 1.
    """
    cdef size_t n = x.shape[0], d = x.shape[1]
    if out is None:
        out = np.empty((n, words(d)), np.uint64)
    elif out.shape[0] != x.shape[0] or out.shape[1] != words(d):
        raise ValueError(f"out must have shape {n, words(d)}, got {out.shape[0], out.shape[1]}")
    if out.size:
        aligned(&out[0, 0], sizeof(uint64_t))
    cdef uint8_t seen = 0
    if n and d:
        with nogil:
            seen = dpf_bits_pack(&x[0, 0], n, d, &out[0, 0])
    if seen > 1:
        raise ValueError(f"entries must be 0 or 1, got {np.max(x)}")
    return np.asarray(out)


@of_64_bits
def pack_sparse(indptr, indices, Py_ssize_t d):
    """Pack the rows of a CSR matrix, or the columns of a CSC matrix, whose stored entries are all 1.

    Parameters
    ----------
    indptr : ndarray of int32 or int64, shape (n + 1,)
    indices : ndarray of the same dtype, shape (indptr[-1],)
        Each in [0, d).
    d : int

    Returns
    -------
    ndarray of uint64, shape (n, words(d))
    """
    indptr, indices = own_indices("indptr", indptr), own_indices("indices", indices)
    if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
        raise ValueError(f"indptr and indices must be one-dimensional, got {indptr.shape} and {indices.shape}")
    if indptr[0] != 0 or indptr[-1] > len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError("indptr must rise from 0 to at most the number of indices")
    if len(indices) and not 0 <= indices.min() <= indices.max() < d:
        raise ValueError(f"indices must lie in [0, {d}), got {indices.min()} to {indices.max()}")
    cdef Py_ssize_t n = len(indptr) - 1, width
    if d < 0:
        raise ValueError(f"d must be at least 0, got {d}")
    width = words(d)
    out = np.zeros((n, width), np.uint64)
    cdef uint64_t[:, ::1] rows = out
    cdef const int32_t[::1] start32, index32
    cdef const int64_t[::1] start64, index64
    if n == 0 or width == 0 or len(indices) == 0:
        return out
    if indptr.dtype == np.int32 and indices.dtype == np.int32:
        start32, index32 = np.require(indptr, None, "CA"), np.require(indices, None, "CA")
        with nogil:
            dpf_bits_scatter32(&start32[0], &index32[0], n, width, &rows[0, 0])
    else:
        start64, index64 = np.require(indptr, np.int64, "CA"), np.require(indices, np.int64, "CA")
        with nogil:
            dpf_bits_scatter64(&start64[0], &index64[0], n, width, &rows[0, 0])
    return out


@of_64_bits
def unpack(const uint64_t[:, ::1] rows, Py_ssize_t d):
    """Return the matrix of bool, shape (n, d), that `rows` packs."""
    check_packed("d", rows, d, NULL, 0)
    out = np.empty((rows.shape[0], d), np.uint8)
    cdef uint8_t[:, ::1] x = out
    if rows.shape[0] and d:
        with nogil:
            dpf_bits_unpack(&rows[0, 0], rows.shape[0], d, &x[0, 0])
    return out.view(np.bool_)


@of_64_bits
def transpose(const uint64_t[:, ::1] rows, Py_ssize_t d):
    """Return the packed transpose of n packed rows of d entries: uint64, shape (d, words(n))."""
    check_packed("d", rows, d, NULL, 0)
    cdef Py_ssize_t n = rows.shape[0]
    out = np.empty((d, words(n)), np.uint64)
    cdef uint64_t[:, ::1] columns = out
    if n and d:
        with nogil:
            dpf_bits_transpose(&rows[0, 0], n, d, &columns[0, 0])
    return out


@of_64_bits
def popcount(packed):
    """Return the number of ones in a contiguous uint64 array of any shape."""
    cdef const uint64_t[::1] flat = np.require(packed, np.uint64, "CA").reshape(-1)
    cdef uint64_t ones = 0
    if flat.shape[0]:
        aligned(&flat[0], sizeof(uint64_t))
        with nogil:
            ones = dpf_bits_popcount(&flat[0], flat.shape[0])
    return ones


ctypedef uint64_t (*combination)(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out) noexcept nogil


cdef uint64_t _combine(combination f, const uint64_t[::1] a, const uint64_t[::1] b, uint64_t[::1] out) except? 0:
    cdef uint64_t ones = 0
    if not a.shape[0] == b.shape[0] == out.shape[0]:
        raise ValueError(f"a, b and out must have one length, got {a.shape[0]}, {b.shape[0]} and {out.shape[0]}")
    if out.shape[0]:
        aligned(&a[0], sizeof(uint64_t))
        aligned(&b[0], sizeof(uint64_t))
        aligned(&out[0], sizeof(uint64_t))
        with nogil:
            ones = f(&a[0], &b[0], out.shape[0], &out[0])
    return ones


def bitwise_and(const uint64_t[::1] a, const uint64_t[::1] b, uint64_t[::1] out):
    """Set out to a & b, word by word, and return the number of ones in it; out may be a or b."""
    return _combine(dpf_bits_and, a, b, out)


def bitwise_andnot(const uint64_t[::1] a, const uint64_t[::1] b, uint64_t[::1] out):
    """Set out to a & ~b, word by word, and return the number of ones in it; out may be a or b."""
    return _combine(dpf_bits_andnot, a, b, out)


def nonzero(packed):
    """Return the positions of the ones of one packed row, increasing: int64, shape (popcount(packed),)."""
    cdef const uint64_t[::1] words = own(packed)
    out = np.empty(popcount(words), np.int64)
    cdef int64_t[::1] at = out
    if at.shape[0]:
        with nogil:
            dpf_bits_nonzero(&words[0], words.shape[0], &at[0])
    return out


@of_64_bits
def column(const uint64_t[:, ::1] rows, Py_ssize_t d, Py_ssize_t j):
    """Return column j of packed rows, packed; for a few columns this is cheaper than a transpose.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words(d))
    d, j : int
        0 <= j < d.

    Returns
    -------
    ndarray of uint64, shape (words(n),)
    """
    if rows.shape[1] != words(d):  # no other word than those of column j is read: bits past d do not matter
        raise ValueError(f"d={d} needs {words(d)} words a row, got shape {rows.shape[0], rows.shape[1]}")
    if not 0 <= j < d:
        raise ValueError(f"j must lie in [0, {d}), got {j}")
    cdef Py_ssize_t n = rows.shape[0]
    if n:
        aligned(&rows[0, 0], sizeof(uint64_t))
    out = np.empty(words(n), np.uint64)
    cdef uint64_t[::1] every = np.full(words(n), 2**64 - 1, np.uint64), column = out
    if n:
        every[-1] >>= (64 - n % 64) % 64
        with nogil:
            dpf_bits_column(&rows[0, 0], n, rows.shape[1], j, &every[0], &column[0])
    return out


@of_64_bits
def positional_popcount(const uint64_t[:, ::1] rows, Py_ssize_t d, const int8_t[::1] signs=None):
    """Return for each column the number of rows that have a 1 there; with signs, of those that agree with their sign.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words(d))
    d : int
    signs : ndarray of int8, shape (n,), optional
        A row of a negative sign agrees where it is 0, any other where it is 1.

    Returns
    -------
    ndarray of int64, shape (d,)

    Notes
    -----
    One read of the rows: bit-sliced carry-save adders, five operations for 64 entries. See csrc/bits.h.
    """
    cdef int64_t[::1] counts
    cdef uint64_t[::1] scratch
    cdef Py_ssize_t n = rows.shape[0]
    check_packed("d", rows, d, NULL, 0)
    counts = out = np.zeros(d, np.int64)
    if signs is not None and signs.shape[0] != n:
        raise ValueError(f"signs must be one for each of {n} rows, got {signs.shape[0]}")
    cdef const int8_t *label = NULL if signs is None or n == 0 else &signs[0]
    if n and d:
        scratch = np.empty(DPF_BITS_SCRATCH, np.uint64)
        with nogil:
            dpf_bits_positional_popcount(&rows[0, 0], n, rows.shape[1], NULL, label, n, d, &scratch[0], &counts[0])
    return out


@of_64_bits
def conjunctions(const uint64_t[:, ::1] columns, Py_ssize_t n, code):
    """Return packed conjunctions of literals over packed columns.

    Parameters
    ----------
    columns : ndarray of uint64, shape (d, words(n))
    n : int
    code : ndarray of int64, shape (m, k)
        Literals of each conjunction: 2 j for column j, 2 j + 1 for its negation, -1 for the constant true.

    Returns
    -------
    ndarray of uint64, shape (m, words(n))
    """
    check_packed("n", columns, n, NULL, 0)
    cdef const int64_t[:, ::1] codes = own(code)
    cdef Py_ssize_t m = codes.shape[0], k = codes.shape[1]
    if m and k and not -1 <= np.min(codes) <= np.max(codes) < 2 * columns.shape[0]:
        raise ValueError(f"codes must lie in [-1, {2 * columns.shape[0]}), got {np.min(codes)} to {np.max(codes)}")
    out = np.empty((m, words(n)), np.uint64)
    cdef uint64_t[:, ::1] result = out
    cdef const uint64_t *source = &columns[0, 0] if columns.shape[0] and n else NULL
    if m and n:
        with nogil:
            dpf_bits_conjunctions(source, n, &codes[0, 0] if k else NULL, m, k, &result[0, 0])
    return out

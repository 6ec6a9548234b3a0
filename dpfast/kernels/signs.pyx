"""Random projection by a matrix A, m x d, of entries +-1/sqrt(m), stored as bits or made from a key as needed.

A key, an integer of 128 bits, stands for the same A in every function here, whatever the form of the rows. Signs come
from a counter-based generator that is good enough for random projection and not cryptographic: A is public. See
csrc/signs.h. Results are the same bits at every instruction-set level; a row gives the same as CSR (its indices
rising), dense and packed.
"""
from operator import index as integer

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint64_t
from dpfast.kernels.arrays cimport address, csr as check_csr, packed
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level

from dpfast.kernels import bits
from dpfast.kernels.own import given, own, own_indices


cdef extern from "signs.h" nogil:
    void dpf_signs_matrix(const uint64_t *key, size_t first, size_t d, size_t m, uint64_t *matrix)
    void dpf_signs_csr(const int64_t *indptr, const int32_t *indices, const void *data, bint wide, size_t n,
                       const uint64_t *matrix, const uint64_t *key, size_t m, void *out)
    void dpf_signs_dense(const void *x, bint wide, size_t n, size_t d, const uint64_t *matrix, size_t m, void *out)
    void dpf_signs_packed(const uint64_t *rows, size_t n, size_t d, const uint64_t *matrix, const int64_t *total,
                          size_t m, int32_t *at, float *out)
    void dpf_signs_lift(const double *v, const uint64_t *key, size_t m, size_t d, size_t first, size_t past, double *out)

dpf_cpu_share(shared_level())


# ---- what is checked ---------------------------------------------------------------------------------------------

cdef class _Signs:
    """The numbers, the key and, if given, the stored bits of a projection."""

    cdef uint64_t key[2]
    cdef const uint64_t[:, ::1] stored
    cdef const uint64_t *matrix
    cdef size_t d, m

    def __init__(self, d, m, key, matrix):
        cdef uint64_t[:, ::1] run
        d, m, key = integer(d), integer(m), integer(key)
        if not 0 <= d <= 2**31 or not 1 <= m <= 2**31:
            raise ValueError(f"d must lie in [0, 2**31] and m in [1, 2**31], got {d} and {m}")
        if not 0 <= key < 2**128:
            raise ValueError(f"key must be an integer in [0, 2**128), got {key}")
        self.d, self.m, self.matrix = d, m, NULL
        self.key[0], self.key[1] = key & 0xffffffffffffffff, key >> 64
        if matrix is None:
            return
        if given("matrix", matrix).dtype != np.uint64 or matrix.shape != (d, bits.words(m)):
            raise ValueError(f"matrix must be uint64 of shape {d, bits.words(m)}, got {matrix.dtype} {matrix.shape}")
        self.stored = np.require(matrix, None, "CA")
        run = np.empty((1, bits.words(m)), np.uint64)
        for j in {0, d - 1} if d else ():
            dpf_signs_matrix(self.key, j, 1, m, &run[0, 0])
            if not np.array_equal(np.asarray(self.stored)[j], np.asarray(run)[0]):
                raise ValueError(f"matrix is not the one of key={key} (at coordinate {j})")
        self.matrix = &self.stored[0, 0] if d else NULL

    cdef store(self):
        """Make the bits now, unless they were given."""
        cdef uint64_t[:, ::1] made
        if self.matrix == NULL and self.d:
            made = np.empty((self.d, bits.words(self.m)), np.uint64)
            with nogil:
                dpf_signs_matrix(self.key, 0, self.d, self.m, &made[0, 0])
            self.stored, self.matrix = made, &made[0, 0]


# ---- the functions -----------------------------------------------------------------------------------------------

def matrix(d, m, key):
    """Return the signs of A as stored bits: 1 is +1/sqrt(m), 0 is -1/sqrt(m).

    Parameters
    ----------
    d, m : int
        Columns and rows of A: it maps d coordinates to m components.
    key : int
        In [0, 2**128), drawn independently of the data, e.g. ``int.from_bytes(rng.bytes(16))``.

    Returns
    -------
    ndarray of uint64, shape (d, words(m))
        Row j holds the signs of coordinate j, component r in bit r % 64 of word r // 64; bits past m are zero.

    Notes
    -----
    d * words(m) words at about one nanosecond each. Every other function here makes what it needs of them by itself;
    give these bits to a projection to save that.

    Examples
    --------
    >>> signs = matrix(1000, 64, key=7)
    >>> signs.shape, 0.45 < bits.popcount(signs) / 64000 < 0.55
    ((1000, 1), True)
    """
    cdef _Signs signs = _Signs(d, m, key, None)
    signs.store()
    return np.empty((0, bits.words(m)), np.uint64) if signs.d == 0 else np.asarray(signs.stored)


def project_csr(indptr, indices, data, d, m, key, *, matrix=None):
    """Return A x for each row x of a CSR matrix.

    Parameters
    ----------
    indptr, indices : ndarray of int32 or int64, shapes (n + 1,) and (nnz,)
        Of a CSR matrix, or of a block of its rows (indptr may start above 0). Entries of a row that are stored twice
        add up.
    data : ndarray of float32 or float64, shape (nnz,), or None
        None if every stored entry is 1.
    d, m, key
        As in `matrix`.
    matrix : ndarray of uint64, shape (d, words(m)), optional
        What ``matrix(d, m, key)`` returned. Signs are made on the fly, for each stored entry anew, by default.

    Returns
    -------
    ndarray of the type of data (float32 without), shape (n, m)

    Notes
    -----
    Per stored entry m signed additions, 16 to a vector; in rows whose entries are all 1, about six bit operations for
    256 components, which give the same numbers.
    Signs made on the fly cost words(m) nanoseconds an entry, and no memory: worth it when fewer than d are stored.
    """
    cdef _Signs signs = _Signs(d, m, key, matrix)
    indptr, indices = own_indices("indptr", indptr), own_indices("indices", indices)
    check_csr(indptr, indices)
    if len(indices) and not 0 <= indices.min() <= indices.max() < d:
        raise ValueError(f"indices must lie in [0, {d}), got {indices.min()} to {indices.max()}")
    if data is not None and (given("data", data).dtype not in (np.float32, np.float64) or data.shape != indices.shape):
        raise ValueError(f"data must be None or float32 or float64 of shape {indices.shape}, "
                         f"got {data.dtype} {data.shape}")
    if (np.diff(indptr) >= 2**31).any():
        raise ValueError("a row must have fewer than 2**31 entries")
    out = np.zeros((len(indptr) - 1, m), np.float32 if data is None else data.dtype)
    cdef const int64_t[::1] start = own(indptr, np.int64)
    cdef const int32_t[::1] coordinate = own(indices, np.int32)
    data = None if data is None else np.require(data, None, "CA")
    cdef const void *entry = NULL if data is None else address(data)
    cdef void *result = address(out)
    cdef bint wide = out.dtype == np.float64
    cdef size_t n = out.shape[0]
    if n and len(indices):
        with nogil:
            dpf_signs_csr(&start[0], &coordinate[0], entry, wide, n, signs.matrix, signs.key, signs.m, result)
    return out


def project_dense(X, m, key, *, matrix=None):
    """Return A x for each row x of a dense table.

    Parameters
    ----------
    X : ndarray of float32 or float64, shape (n, d)
    m, key, matrix
        As in `project_csr`; the bits are made once, before the first row, by default.

    Returns
    -------
    ndarray of the type of X, shape (n, m)

    Notes
    -----
    n * d * m signed additions, 16 to a vector.
    """
    if given("X", X).ndim != 2 or X.dtype not in (np.float32, np.float64):
        raise ValueError(f"X must be float32 or float64 of shape (n, d), got {X.dtype} {X.shape}")
    cdef _Signs signs = _Signs(X.shape[1], m, key, matrix)
    out = np.zeros((X.shape[0], m), X.dtype)
    X = np.require(X, None, "CA")
    cdef const void *entry = address(X)
    cdef void *result = address(out)
    cdef bint wide = out.dtype == np.float64
    cdef size_t n = X.shape[0]
    if X.size:
        signs.store()
        with nogil:
            dpf_signs_dense(entry, wide, n, signs.d, signs.matrix, signs.m, result)
    return out


def project_packed(const uint64_t[:, ::1] rows, d, m, key, *, matrix=None):
    """Return A x for each row x of packed bits.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words(d))
        Bits past d are zero.
    d : int
        Below 2**30.
    m, key, matrix
        As in `project_dense`.

    Returns
    -------
    ndarray of float32, shape (n, m)

    Notes
    -----
    Integers until the last scaling. A row costs about six bit operations for 256 components of each of its ones, or
    of its zeros if they are fewer.
    """
    cdef _Signs signs = _Signs(d, m, key, matrix)
    if d >= 2**30:
        raise ValueError(f"d must be below 2**30, got {d}")
    packed("d", rows, d, NULL, 0)
    out = np.zeros((rows.shape[0], m), np.float32)
    cdef float[:, ::1] result = out
    cdef const int64_t[::1] total
    cdef int32_t[::1] at
    if rows.shape[0] and d:
        signs.store()
        total = bits.positional_popcount(signs.stored, m)
        at = np.empty(d, np.int32)
        with nogil:
            dpf_signs_packed(&rows[0, 0], rows.shape[0], signs.d, signs.matrix, &total[0], signs.m, &at[0], &result[0, 0])
    return out


def lift(v, d, key):
    """Return A' v, which maps a linear function v of the m components back to the d coordinates: <A' v, x> = <v, A x>.

    Parameters
    ----------
    v : array_like of float64, shape (m,)
    d, key
        As in `matrix`.

    Returns
    -------
    ndarray of float64, shape (d,)

    Notes
    -----
    d * m signed additions, of which those of components before the first and after the last that is not 0 are left out,
    64 at a time; signs are made on the fly, each once.
    """
    v = np.asarray(v, np.float64)
    if v.ndim != 1:
        raise ValueError(f"v must have shape (m,), got {v.shape}")
    cdef _Signs signs = _Signs(d, len(v), key, None)
    cdef double[::1] padded = np.zeros(64 * bits.words(len(v)))
    np.asarray(padded)[:len(v)] = v
    there = np.flatnonzero(v)
    cdef size_t first = there[0] // 64 if there.size else 0, past = there[-1] // 64 + 1 if there.size else 0
    out = np.empty(d)
    cdef double[::1] result = out
    if signs.d:
        with nogil:
            dpf_signs_lift(&padded[0], signs.key, signs.m, signs.d, first, past, &result[0])
    return out

"""Integer scores of a linear learner, s_j = sum of y * x_j over the rows used, and votes of released histograms.

Rows are packed bits (1 is +1 and 0 is -1; votes can also take bits as they are), CSR, or dense on the grid
x = q / 2**k of int32 q. Everything is exact; an update that could overflow is refused before it starts. See csrc/scores.h.
"""
import numpy as np

from dpfast.kernels.own import given, of_64_bits, own, own_indices

from libc.stdint cimport INT64_MAX, int8_t, int32_t, int64_t, uint32_t, uint64_t
from dpfast.kernels.arrays cimport aligned, csr as check_csr, packed
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "scores.h" nogil:
    enum: DPF_SCORES_COLUMNS, DPF_BITS_SCRATCH
    uint32_t DPF_SCORES_FREE
    ctypedef struct dpf_csr:
        const int64_t *indptr
        const int32_t *indices
        const int32_t *data
    ctypedef struct dpf_scores:
        uint32_t *key
        int64_t *score
        unsigned bits
        size_t used
    void dpf_scores_add_packed(const uint64_t *rows, size_t n, size_t d, const int8_t *y, const int64_t *index, size_t m,
                               uint64_t *scratch, int64_t *tally, int64_t *score)
    void dpf_scores_add_grid(const int32_t *rows, size_t d, const int8_t *y, const int64_t *index, size_t m,
                             int64_t *score)
    size_t dpf_scores_check_csr(const dpf_csr *rows, int64_t d, const int64_t *index, size_t m, int64_t *longest)
    void dpf_scores_add_csr(const dpf_csr *rows, const int8_t *y, const int64_t *index, size_t m, int64_t *score)
    size_t dpf_scores_add_sparse(dpf_scores *table, const dpf_csr *rows, const int8_t *y, const int64_t *index,
                                 size_t start, size_t m, size_t limit)
    void dpf_scores_insert(dpf_scores *table, const uint32_t *key, const int64_t *score, size_t n)
    void dpf_scores_votes_packed(const uint64_t *rows, size_t n, size_t d, const int64_t *index, const int64_t *count,
                                 size_t k, bint signs, int64_t *vote)
    void dpf_scores_votes_grid(const int32_t *rows, size_t n, size_t d, const int64_t *index, const int64_t *count,
                               size_t k, int64_t *vote)
    void dpf_scores_votes_csr(const dpf_csr *rows, size_t n, const int64_t *index, const int64_t *count, size_t k,
                              int64_t *vote)

dpf_cpu_share(shared_level())


# ---- what is checked ---------------------------------------------------------------------------------------------

cdef class _Chosen:
    """Which rows an update uses, and the labels of all."""

    cdef const int8_t[::1] y
    cdef const int64_t[::1] index
    cdef const int64_t *which
    cdef size_t m

    def __init__(self, y, index, Py_ssize_t n):
        cdef bint known = True
        cdef Py_ssize_t i
        self.y = own(y)
        if self.y.shape[0] != n:
            raise ValueError(f"y must have one label for each of {n} rows, got {self.y.shape[0]}")
        for i in range(n):
            known &= self.y[i] == 1 or self.y[i] == -1
        if not known:
            raise ValueError(f"labels must be -1 or 1, got {np.unique(y)[:4]}")
        self.m, self.which = n, NULL
        if index is not None:
            self.index = own(own_indices("index", np.asarray(index)), np.int64)
            self.m = self.index.shape[0]
            if self.m and not 0 <= np.min(self.index) <= np.max(self.index) < n:
                raise ValueError(f"index must lie in [0, {n}), got {np.min(self.index)} to {np.max(self.index)}")
            self.which = &self.index[0] if self.m else NULL


cdef class _Rows:
    """A CSR matrix: any integer indptr and indices, data int32 or None."""

    cdef const int64_t[::1] indptr
    cdef const int32_t[::1] indices, data
    cdef dpf_csr csr
    cdef Py_ssize_t n

    def __init__(self, indptr, indices, data):
        indptr, indices = own_indices("indptr", indptr), own_indices("indices", indices)
        check_csr(indptr, indices)
        if data is not None and (given("data", data).dtype != np.int32 or data.shape != indices.shape):
            raise ValueError(f"data must be None or int32 of shape {indices.shape}, got {data.dtype} {data.shape}")
        if indices.dtype != np.int32 and len(indices) and not 0 <= indices.min() <= indices.max() < 2**31:
            raise ValueError(f"indices must lie in [0, 2**31), got {indices.min()} to {indices.max()}")
        self.indptr, self.indices = own(indptr, np.int64), own(indices, np.int32)
        self.n = len(indptr) - 1
        self.csr.indptr = &self.indptr[0]
        self.csr.indices = &self.indices[0] if len(indices) else NULL
        self.csr.data = NULL
        if data is not None and len(data):
            self.data = np.require(data, None, "CA")
            self.csr.data = &self.data[0]

    cdef check(self, int64_t d, const int64_t *which, size_t m):
        cdef int64_t longest
        cdef size_t bad
        with nogil:
            bad = dpf_scores_check_csr(&self.csr, d, which, m, &longest)
        if bad < m:
            i = which[bad] if which else bad
            seen = np.asarray(self.indices)[self.indptr[i]:self.indptr[i + 1]]
            raise ValueError(f"indices of a row must rise strictly within [0, {d}), row {i} has {seen[:5]}...")

    def largest(self):
        """Return the largest size of an entry."""
        if self.csr.data == NULL:
            return 1
        return max(int(np.max(self.data)), -int(np.min(self.data)))


cdef _largest(const int64_t[::1] scores):
    """Return the largest size of a score."""
    return max(int(np.max(scores)), -int(np.min(scores)))


cdef _check_room(size, step):
    """Refuse if scores of at most this size might overflow by an addition of `step`."""
    if size + step > INT64_MAX:
        raise ValueError(f"scores of size {size} may overflow by rows that add up to {step}")


cdef int64_t *_scores(int64_t[::1] scores, Py_ssize_t d, step) except? NULL:
    """Return where d scores begin that have room for an addition of `step`; NULL if there are none."""
    if scores.shape[0] != d:
        raise ValueError(f"scores must have shape ({d},), got ({scores.shape[0]},)")
    if d == 0:
        return NULL
    aligned(&scores[0], sizeof(int64_t))
    _check_room(_largest(scores), step)
    return &scores[0]


cdef _check_histogram(const int64_t[::1] index, const int64_t[::1] count, d):
    cdef Py_ssize_t p
    cdef int64_t before = -1
    cdef bint rising = True
    cdef double size = 0
    if index.shape[0] != count.shape[0]:
        raise ValueError(f"index and count must have one length, got {index.shape[0]} and {count.shape[0]}")
    if index.shape[0]:
        aligned(&index[0], sizeof(int64_t))
        aligned(&count[0], sizeof(int64_t))
    for p in range(index.shape[0]):
        rising &= index[p] > before
        before = index[p]
        size += abs(<double>count[p])
    if not rising or before >= d:
        raise ValueError(f"index must rise strictly within [0, {d}), got {np.asarray(index)[:5]}...")
    if size >= 2**31:
        raise ValueError(f"counts must add up to less than 2**31 in size, got {size:.4g}")


# ---- updates -----------------------------------------------------------------------------------------------------

@of_64_bits
def add_packed(int64_t[::1] scores, const uint64_t[:, ::1] rows, Py_ssize_t d, y, index=None):
    """Add the sum of y[i] * (2 b[i, j] - 1) over the chosen rows of packed bits b to scores[j].

    Parameters
    ----------
    scores : ndarray of int64, shape (d,)
        Changed in place.
    rows : ndarray of uint64, shape (n, words(d))
    d : int
    y : ndarray of int8, shape (n,)
        -1 or 1.
    index : ndarray of int64, shape (m,), optional
        The rows to add, in any order and possibly repeated; all n by default.

    Raises
    ------
    ValueError
        Before anything is added: also if a score might overflow.

    Notes
    -----
    One read of the rows: one positional popcount serves both labels, by about five operations for 64 entries.
    """
    cdef _Chosen chosen = _Chosen(y, index, rows.shape[0])
    cdef int64_t *score
    cdef uint64_t[::1] scratch
    cdef int64_t[::1] tally
    cdef size_t n = rows.shape[0]
    packed("d", rows, d, chosen.which, chosen.m)
    score = _scores(scores, d, chosen.m)
    if chosen.m == 0 or d == 0:
        return
    scratch = np.empty(DPF_BITS_SCRATCH, np.uint64)
    tally = np.empty(min(d, <Py_ssize_t>DPF_SCORES_COLUMNS), np.int64)
    with nogil:
        dpf_scores_add_packed(&rows[0, 0], n, d, &chosen.y[0], chosen.which, chosen.m, &scratch[0], &tally[0], score)


def add_csr(int64_t[::1] scores, indptr, indices, data, y, index=None):
    """Add the sum of y[i] * x[i, j] over the chosen rows of a CSR matrix to scores[j].

    Parameters
    ----------
    scores : ndarray of int64, shape (d,)
        Changed in place.
    indptr, indices : ndarray of int32 or int64, shapes (n + 1,) and (nnz,)
        Of a CSR matrix, or of a block of its rows (indptr may start above 0). The indices of a row rise strictly.
        int64 indices are copied.
    data : ndarray of int32, shape (nnz,), or None
        None if every stored entry is 1.
    y, index
        As for `add_packed`.

    Notes
    -----
    One read of the scores, which looks for room; beside it, cost by stored entries.
    """
    cdef _Rows rows = _Rows(indptr, indices, data)
    cdef _Chosen chosen = _Chosen(y, index, rows.n)
    rows.check(scores.shape[0], chosen.which, chosen.m)
    cdef int64_t *score = _scores(scores, scores.shape[0], chosen.m * rows.largest())
    if chosen.m and score != NULL:
        with nogil:
            dpf_scores_add_csr(&rows.csr, &chosen.y[0], chosen.which, chosen.m, score)


def add_grid(int64_t[::1] scores, const int32_t[:, ::1] rows, y, index=None):
    """Add the sum of y[i] * rows[i, j] over the chosen rows of grid integers to scores[j].

    Parameters
    ----------
    scores : ndarray of int64, shape (d,)
        Changed in place; in units of one step of the grid.
    rows : ndarray of int32, shape (n, d)
        As `dpfast.kernels.grid.to_grid` returns them.
    y, index
        As for `add_packed`.
    """
    cdef _Chosen chosen = _Chosen(y, index, rows.shape[0])
    cdef size_t d = rows.shape[1]
    cdef int64_t *score = _scores(scores, d, <object>chosen.m * 2**31)
    if chosen.m and d:
        aligned(&rows[0, 0], sizeof(int32_t))
        with nogil:
            dpf_scores_add_grid(&rows[0, 0], d, &chosen.y[0], chosen.which, chosen.m, score)


cdef class SparseScores:
    """Scores of d coordinates; only those touched are stored, in an open-addressing hash table.

    Private state: it knows the data. It is not pickled; `export` and the constructor are for a checkpoint.

    Parameters
    ----------
    d : int
        1 <= d <= 2**31.
    keys, scores : ndarray of uint32 and of int64, shape (touched,), optional
        What `export` returned, to start from.

    Notes
    -----
    Its length is the number of coordinates touched: 12 bytes a slot, between 3/8 and 3/4 of them in use.
    """

    cdef uint32_t[::1] key
    cdef int64_t[::1] score
    cdef dpf_scores table
    cdef object bound
    cdef readonly object d

    def __init__(self, d, keys=None, scores=None):
        cdef const uint32_t[::1] key
        cdef const int64_t[::1] score
        if not 1 <= d <= 2**31:
            raise ValueError(f"d must lie in [1, 2**31], got {d}")
        self.d, self.bound = d, 0
        self._allocate(10)
        if keys is None or len(keys) == 0:
            return
        key, score = own(keys), own(scores)
        if key.shape[0] != score.shape[0]:
            raise ValueError(f"keys and scores must have one length, got {key.shape[0]} and {score.shape[0]}")
        if np.max(key) >= d or len(np.unique(key)) < len(key):
            raise ValueError(f"keys must be distinct and below d={d}")
        self.bound = _largest(score)
        while self._limit() < <size_t>key.shape[0]:
            self._allocate(self.table.bits + 1)
        with nogil:
            dpf_scores_insert(&self.table, &key[0], &score[0], key.shape[0])

    def __len__(self):
        return self.table.used

    def __reduce__(self):
        raise TypeError("the scores of a private learner are not pickled; see export")

    cdef size_t _limit(self):
        return (<size_t>3 << self.table.bits) // 4

    cdef _allocate(self, unsigned bits):
        slots = <size_t>1 << bits
        self.key, self.score = np.full(slots, DPF_SCORES_FREE, np.uint32), np.zeros(slots, np.int64)
        self.table.key, self.table.score, self.table.bits, self.table.used = &self.key[0], &self.score[0], bits, 0

    cdef _grow(self):
        cdef uint32_t[::1] key = self.key
        cdef int64_t[::1] score = self.score
        self._allocate(self.table.bits + 1)
        with nogil:
            dpf_scores_insert(&self.table, &key[0], &score[0], key.shape[0])

    def add_csr(self, indptr, indices, data, y, index=None):
        """Add y[i] * x[i, j] over the chosen rows of a CSR matrix; see the function `add_csr`."""
        cdef _Rows rows = _Rows(indptr, indices, data)
        cdef _Chosen chosen = _Chosen(y, index, rows.n)
        cdef size_t done = 0, limit
        rows.check(self.d, chosen.which, chosen.m)
        step = chosen.m * rows.largest()
        if self.bound + step > INT64_MAX:
            self.bound = _largest(self.score)
        _check_room(self.bound, step)
        self.bound += step
        while done < chosen.m:
            limit = self._limit()
            with nogil:
                done = dpf_scores_add_sparse(&self.table, &rows.csr, &chosen.y[0], chosen.which, done, chosen.m, limit)
            if done < chosen.m:
                self._grow()

    def export(self):
        """Return the coordinates touched and their scores, in the order of the table.

        Returns
        -------
        keys : ndarray of uint32, shape (touched,)
        scores : ndarray of int64, shape (touched,)
            Some may be zero. The same calls give the same order.
        """
        used = np.flatnonzero(np.asarray(self.key) != DPF_SCORES_FREE)
        return np.asarray(self.key)[used], np.asarray(self.score)[used]


# ---- votes -------------------------------------------------------------------------------------------------------

@of_64_bits
def votes_packed(const uint64_t[:, ::1] rows, Py_ssize_t d, const int64_t[::1] index, const int64_t[::1] count,
                 encoding="pm1"):
    """Return the sum of count[p] * x[i, index[p]] for each row i of packed bits; a prediction is its sign, sgn(0) = +1.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words(d))
    d : int
    index : ndarray of int64, shape (k,)
        Rising strictly within [0, d).
    count : ndarray of int64, shape (k,)
        Of either sign: a negated copy counts with a minus. Sizes add up to less than 2**31.
    encoding : {"pm1", "01"}
        What a bit b stands for: 2 b - 1, or b.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    index, count = own(index), own(count)
    if encoding not in ("pm1", "01"):
        raise ValueError(f"encoding must be 'pm1' or '01', got {encoding!r}")
    cdef bint signs = encoding == "pm1"
    packed("d", rows, d, NULL, 0)
    _check_histogram(index, count, d)
    out = np.zeros(rows.shape[0], np.int64)
    cdef int64_t[::1] vote = out
    if vote.shape[0] and index.shape[0]:
        with nogil:
            dpf_scores_votes_packed(&rows[0, 0], rows.shape[0], d, &index[0], &count[0], index.shape[0], signs,
                                    &vote[0])
    return out


def votes_csr(indptr, indices, data, const int64_t[::1] index, const int64_t[::1] count):
    """Return the sum of count[p] * x[i, index[p]] for each row i of a CSR matrix; see `add_csr` and `votes_packed`.

    Returns
    -------
    ndarray of int64, shape (n,)

    Notes
    -----
    Cost by stored entries, about one cycle each where it is not in the histogram, whatever d.
    """
    cdef _Rows rows = _Rows(indptr, indices, data)
    rows.check(2**31, NULL, rows.n)
    index, count = own(index), own(count)
    _check_histogram(index, count, 2**31)
    out = np.zeros(rows.n, np.int64)
    cdef int64_t[::1] vote = out
    if vote.shape[0] and index.shape[0]:
        with nogil:
            dpf_scores_votes_csr(&rows.csr, rows.n, &index[0], &count[0], index.shape[0], &vote[0])
    return out


def votes_grid(const int32_t[:, ::1] rows, const int64_t[::1] index, const int64_t[::1] count):
    """Return the sum of count[p] * rows[i, index[p]] for each row i of grid integers; see `add_grid` and `votes_packed`.

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    index, count = own(index), own(count)
    _check_histogram(index, count, rows.shape[1])
    out = np.zeros(rows.shape[0], np.int64)
    cdef int64_t[::1] vote = out
    if vote.shape[0] and index.shape[0]:
        aligned(&rows[0, 0], sizeof(int32_t))
        with nogil:
            dpf_scores_votes_grid(&rows[0, 0], rows.shape[0], rows.shape[1], &index[0], &count[0], index.shape[0],
                                  &vote[0])
    return out

"""Rows of the unit ball on an integer grid: their scales, their margins and their weighted sums.

Row i is (x_i, constant) times a scale of its own; on the grid it is q_ij = trunc(scale[i] * x_ij), of Euclidean norm at most
2**bits exactly. Sums are integers, the same in every order; margins are floats. Rows are dense float32 or float64, CSR, or
packed 0/1. See csrc/unit_rows.h.

Every function takes the rows as one object: a `Dense`, a `Csr` or a `Packed`.
"""
import numpy as np

from dpfast.kernels.own import given, length, own, writeable

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from dpfast.kernels.arrays cimport address, aligned, csr as check_csr, packed
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "unit_rows.h" nogil:
    ctypedef enum dpf_unit_rows_kind:
        DPF_UNIT_ROWS_DENSE
        DPF_UNIT_ROWS_CSR
        DPF_UNIT_ROWS_PACKED
    ctypedef struct dpf_unit_rows:
        dpf_unit_rows_kind kind
        bint wide
        const void *x
        const int64_t *indptr
        const int32_t *indices
        const uint8_t *ones
        size_t n, d
        unsigned bits
    size_t dpf_unit_rows_blocks(const dpf_unit_rows *rows)
    void dpf_unit_rows_checksums(const dpf_unit_rows *rows, uint64_t *checksum)
    void dpf_unit_rows_scale(const dpf_unit_rows *rows, double constant, bint inside, double *scale)
    bint dpf_unit_rows_scales_within(const double *scale, size_t n, double most)
    size_t DPF_UNIT_ROWS_PLANE_WORDS(size_t d)
    void dpf_unit_rows_margins(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                               uint64_t *plane, float *margin)
    bint dpf_unit_rows_residuals(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                                 float slope, float odds, const uint8_t *label, const int32_t *limit,
                                 const uint64_t *checksum, uint64_t *plane, int64_t *total)
    size_t dpf_unit_rows_in_block(const dpf_unit_rows *rows)
    bint dpf_unit_rows_residuals_many(const dpf_unit_rows *rows, double constant, const double *scale, const float *w,
                                      size_t k, float slope, const float *odds, const uint16_t *label,
                                      const int32_t *limit, const uint64_t *checksum, uint64_t *plane, float *lane,
                                      float *score, int32_t *residual, int64_t *total)
    void dpf_unit_rows_add(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *weight,
                           int64_t *total)
    void dpf_unit_rows_apart(const dpf_unit_rows *rows, double constant, const double *scale, const int32_t *centre,
                             int64_t *apart)

cdef extern from "logistic.h" nogil:
    size_t DPF_LOGISTIC_LANES(size_t k)

dpf_cpu_share(shared_level())

GRID_BITS = 17
MOST_WEIGHT = 1 << 12


cdef class _Rows:
    """Rows of one kind: pointers to them, their shape, and the size of their grid."""

    cdef dpf_unit_rows rows
    cdef object held  # the arrays that are pointed to
    cdef readonly bint watched  # for changes by others
    cdef readonly bytes given

    cdef _set(self, dpf_unit_rows_kind kind, array, Py_ssize_t n, Py_ssize_t d):
        """Set the shape, and the entries: an array of float32, float64 or uint64, or None."""
        self.held, self.rows.kind, self.rows.n, self.rows.d, self.rows.bits = array, kind, n, d, GRID_BITS
        self.rows.x, self.rows.wide = NULL, False
        if array is not None and array.size:
            self.rows.x, self.rows.wide = address(array), array.dtype == np.float64

    @property
    def n(self):
        return self.rows.n

    @property
    def d(self):
        return self.rows.d

    @property
    def bits(self):
        return self.rows.bits

    @property
    def shape(self):
        return self.n, self.d


cdef class Dense(_Rows):
    """Dense rows.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (n, d), C-contiguous
        Finite. Not copied; `given` has checksums of its blocks of rows. If it can be written, sums and `apart` check
        that it is as it was when it was given, and refuse it otherwise: by the scales of other rows, rows could be too
        long. A change while they run is found by the next call.
    """

    def __init__(self, x):
        if given("x", x).dtype not in (np.float32, np.float64) or x.ndim != 2:
            raise ValueError(f"rows must be float32 or float64 of two dimensions, got {x.dtype} {x.shape}")
        if not x.flags.c_contiguous:
            raise ValueError(f"rows must be C-contiguous, got strides {x.strides}")
        self._set(DPF_UNIT_ROWS_DENSE, x, len(x), x.shape[1])
        self.watched = writeable(x)
        self.given = self._checksums()

    cdef bytes _checksums(self):
        cdef uint64_t[::1] found
        if self.rows.n == 0:
            return b""
        out = found = np.empty(dpf_unit_rows_blocks(&self.rows), np.uint64)
        with nogil:
            dpf_unit_rows_checksums(&self.rows, &found[0])
        return out.tobytes()


cdef class Csr(_Rows):
    """Sparse rows.

    Parameters
    ----------
    indptr, indices : ndarray of int
        As in scipy. Copied unless read-only, as `data` are: they are checked once.
    data : ndarray of float32 or float64, or None
        Finite; None where every stored entry is 1. An index that is stored twice in a row is refused. Of a row whose
        entries are all 1, data is read only here: it becomes the same, in less time.
    d : int
        Columns, at most 2**31.
    """

    def __init__(self, indptr, indices, data, d):
        cdef const int64_t[::1] ends
        cdef const int32_t[::1] column
        cdef uint8_t[::1] one
        cdef const float *narrow
        cdef const double *wide
        cdef int64_t i, p, before, bad = -1
        cdef bint others
        d = length("d", d)
        indptr, indices, data = own(indptr, np.int64), own(indices), None if data is None else own(data)
        check_csr(indptr, indices)
        if data is not None and (data.dtype not in (np.float32, np.float64) or data.shape != indices.shape):
            raise ValueError(f"data must be None or floats of shape {indices.shape}, got {data.dtype} {data.shape}")
        if not 0 <= d <= 2**31 or len(indices) and not 0 <= indices.min() <= indices.max() < d:
            raise ValueError(f"indices must lie in [0, d), with d={d} at most 2**31")
        indices = np.require(indices, np.int32, "CA") if len(indices) else np.zeros(1, np.int32)
        ones = np.ones(len(indptr), np.uint8)
        ends, column, one = indptr, indices, ones
        self._set(DPF_UNIT_ROWS_CSR, data, len(indptr) - 1, d)
        self.held = data, indptr, indices, ones
        self.rows.indptr, self.rows.indices, self.rows.ones = &ends[0], &column[0], &one[0]
        narrow, wide = <const float *>self.rows.x, <const double *>self.rows.x
        with nogil:
            for i in range(<int64_t>self.rows.n):
                before, others = -1, False
                for p in range(self.rows.indptr[i], self.rows.indptr[i + 1]):
                    if self.rows.indices[p] <= before:
                        bad = i
                    before = self.rows.indices[p]
                if self.rows.x != NULL and self.rows.wide:
                    for p in range(self.rows.indptr[i], self.rows.indptr[i + 1]):
                        others |= wide[p] != 1
                elif self.rows.x != NULL:
                    for p in range(self.rows.indptr[i], self.rows.indptr[i + 1]):
                        others |= narrow[p] != 1
                one[i] = not others
        if bad >= 0:
            raise ValueError(f"indices of a row must rise strictly, row {bad} has "
                             f"{indices[indptr[bad]:indptr[bad + 1]][:5]}...")


cdef class Packed(_Rows):
    """Rows of packed 0/1.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words(d))
        Bits past d are zero, which is checked once. Copied unless read-only.
    d : int
    """

    def __init__(self, rows, d):
        cdef const uint64_t[:, ::1] words = rows
        d = length("d", d)
        packed("d", words, d, NULL, 0)
        words = rows = own(rows)
        packed("d", words, d, NULL, 0)  # of what is kept
        self._set(DPF_UNIT_ROWS_PACKED if d else DPF_UNIT_ROWS_DENSE, rows, len(rows), d)


cdef _check(what, array, Py_ssize_t size):
    if len(array) != size:
        raise ValueError(f"{what} must have length {size}, got {len(array)}")


cdef _refuse_change():
    raise ValueError("rows must not be changed while they are used: they are not as they were when they were given")


cdef _check_unchanged(_Rows rows):
    if rows.watched and (<Dense>rows)._checksums() != rows.given:
        _refuse_change()


cdef _check_within(what, const int32_t[::1] values, int32_t least, int32_t most):
    cdef const int32_t *value = &values[0]
    cdef bint valid = True
    cdef Py_ssize_t i
    for i in range(values.shape[0]):
        valid &= (value[i] >= least) & (value[i] <= most)
    if not valid:
        raise ValueError(f"{what} must lie within {least} and {most}, got {np.min(values)} to {np.max(values)}")


cdef _check_scale(_Rows rows, const double[::1] scale):
    # Entries of 1 times a scale and a weight stay below 2**31.
    cdef double most = 1e306 if rows.rows.wide else 1e36
    if rows.rows.x == NULL or rows.rows.kind == DPF_UNIT_ROWS_PACKED:
        most = 2.0**19
    if not dpf_unit_rows_scales_within(&scale[0], len(scale), most):
        raise ValueError(f"scale must lie in [0, {most:g}), as scales makes it, got {np.min(scale)} to {np.max(scale)}")


cdef _check_limited(_Rows rows, const double[::1] scale, const int32_t[::1] limits):
    _check("scale", scale, rows.n)
    _check("limits", limits, rows.n)
    if rows.n:
        aligned(&scale[0], sizeof(double))
        aligned(&limits[0], sizeof(int32_t))
        _check_within("limits", limits, 0, MOST_WEIGHT)
        _check_scale(rows, scale)


def scales(_Rows rows, double constant=0.0, bint inside=True):
    """Return what each row is multiplied by.

    Parameters
    ----------
    rows : Dense, Csr or Packed, n rows
    constant : float
        A last entry of every row; 0 for none.
    inside : bool
        Whether rows of norm below 1 stay as they are; else all come to norm 1, and rows of norm below 1e-30 of
        floats, or below 1e-300 of doubles, become zero.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    out = np.zeros(rows.n)
    cdef double[::1] scale = out
    if rows.rows.n:
        with nogil:
            dpf_unit_rows_scale(&rows.rows, constant, inside, &scale[0])
    return out


cdef _plane(_Rows rows):
    packed = rows.rows.kind == DPF_UNIT_ROWS_PACKED
    return np.empty(DPF_UNIT_ROWS_PLANE_WORDS(rows.rows.d) if packed else 1, np.uint64)


def margins(_Rows rows, const double[::1] scale, const float[::1] w, double constant=0.0, float[::1] out=None):
    """Return <w, (x_i, constant)> * scale[i] / 2**bits, clipped to [-1, 1].

    Parameters
    ----------
    rows : Dense, Csr or Packed, n rows of d
    scale : ndarray of float64, shape (n,)
    w : ndarray of float32, shape (d + 1,)
        Finite. For Packed it is rounded to 2**-19 of its largest entry.
    constant : float
    out : ndarray of float32, shape (n,), optional

    Returns
    -------
    ndarray of float32, shape (n,)
    """
    cdef size_t n = rows.rows.n, d = rows.rows.d
    cdef uint64_t[::1] plane
    _check("scale", scale, n)
    _check("w", w, d + 1)
    if out is None:
        out = np.empty(n, np.float32)
    _check("out", out, n)
    if n == 0:
        return np.asarray(out)
    aligned(&scale[0], sizeof(double))
    aligned(&w[0], sizeof(float))
    aligned(&out[0], sizeof(float))
    plane = _plane(rows)
    with nogil:
        dpf_unit_rows_margins(&rows.rows, constant, &scale[0], &w[0], &plane[0], &out[0])
    return np.asarray(out)


def add(int64_t[::1] total, _Rows rows, const double[::1] scale, const int32_t[::1] weights, double constant=0.0):
    """Add the sum of weights[i] * q_i to total, exactly.

    Parameters
    ----------
    total : ndarray of int64, shape (d + 1,)
        Changed in place; it is for the caller to see that it cannot overflow, which takes more than 2**34 rows.
    rows : Dense, Csr or Packed, n rows of d
    scale : ndarray of float64, shape (n,)
        As `scales` made it.
    weights : ndarray of int32, shape (n,)
        At most 2**12 in size; rows of weight 0 are skipped.
    constant : float
    """
    cdef size_t n = rows.rows.n, d = rows.rows.d
    _check("total", total, d + 1)
    _check("scale", scale, n)
    _check("weights", weights, n)
    _check_unchanged(rows)
    if n == 0:
        return
    aligned(&total[0], sizeof(int64_t))
    aligned(&scale[0], sizeof(double))
    aligned(&weights[0], sizeof(int32_t))
    _check_within("weights", weights, -MOST_WEIGHT, MOST_WEIGHT)
    _check_scale(rows, scale)
    with nogil:
        dpf_unit_rows_add(&rows.rows, constant, &scale[0], &weights[0], &total[0])


def add_residuals(int64_t[::1] total, _Rows rows, const double[::1] scale, const float[::1] w,
                  const uint8_t[::1] labels, const int32_t[::1] limits, float slope, float odds, double constant=0.0):
    """Add the sum of the rows times their residuals by margin to total, and last the sum of the residuals, exactly.

    Parameters
    ----------
    total : ndarray of int64, shape (d + 2,)
        Changed in place, as `add` does; of no use after a refusal.
    rows : Dense, Csr or Packed, n rows of d
    scale : ndarray of float64, shape (n,)
        As `scales` made it.
    w : ndarray of float32, shape (d + 1,)
        As for `margins`.
    labels : ndarray of uint8, shape (n,)
        0 or 1.
    limits : ndarray of int32, shape (n,)
        In [0, 2**12].
    slope, odds : float
        Log odds are odds + slope * margin; see `dpfast.kernels.logistic.two` with `by_margin`. Rows are read once.
    constant : float
    """
    cdef size_t n = rows.rows.n, d = rows.rows.d
    cdef const uint64_t *given = <const uint64_t *><const char *>rows.given if rows.watched else NULL
    cdef uint64_t[::1] plane
    cdef const uint8_t *label
    cdef bint valid = True, unchanged
    cdef size_t i
    _check("total", total, d + 2)
    _check("w", w, d + 1)
    _check("labels", labels, n)
    _check_limited(rows, scale, limits)
    if n == 0:
        return
    aligned(&total[0], sizeof(int64_t))
    aligned(&w[0], sizeof(float))
    label = &labels[0]
    for i in range(n):
        valid &= label[i] <= 1
    if not isfinite(slope) or not isfinite(odds) or not valid:
        raise ValueError(f"slope and odds must be finite, got {slope}, {odds}, and labels 0 or 1")
    plane = _plane(rows)
    with nogil:
        unchanged = dpf_unit_rows_residuals(&rows.rows, constant, &scale[0], &w[0], slope, odds, label, &limits[0],
                                            given, &plane[0], &total[0])
    if not unchanged:
        _refuse_change()


def add_residuals_many(int64_t[:, ::1] total, _Rows rows, const double[::1] scale, const float[:, ::1] w,
                       labels, const int32_t[::1] limits, float slope, const float[::1] odds,
                       double constant=0.0):
    """Add for each class the sum of the rows times their residuals to total, and last the sum of these, exactly.

    As `add_residuals`, with k >= 2 odds, lines of total and of w, and labels (uint16) below k. The score of class c is
    odds[c] + slope * margin, for the margin with line c of w; see `dpfast.kernels.logistic.many`.
    """
    cdef size_t n = rows.rows.n, d = rows.rows.d, k = odds.shape[0], block = dpf_unit_rows_in_block(&rows.rows)
    cdef const uint64_t *given = <const uint64_t *><const char *>rows.given if rows.watched else NULL
    cdef uint64_t[::1] plane
    cdef const uint16_t[::1] label = own(labels)
    cdef float[::1] lane
    cdef float[:, ::1] score
    cdef int32_t[:, ::1] residual
    cdef bint unchanged
    if k < 2 or not isfinite(slope) or not np.isfinite(odds).all():
        raise ValueError(f"slope and two or more odds must be finite, got {slope} and {list(odds)[:5]}")
    _check("w", w, k)
    _check("total", total, k)
    _check("each line of w", w[0], d + 1)
    _check("each line of total", total[0], d + 2)
    _check("labels", label, n)
    _check_limited(rows, scale, limits)
    if n == 0:
        return
    aligned(&total[0, 0], sizeof(int64_t))
    aligned(&w[0, 0], sizeof(float))
    aligned(&odds[0], sizeof(float))
    if np.max(label) >= k:
        raise ValueError(f"labels must lie in [0, {k}), got {np.max(label)}")
    plane, lane, score = _plane(rows), np.empty(DPF_LOGISTIC_LANES(k), np.float32), np.empty((block, k), np.float32)
    residual = np.empty((block, k), np.int32)
    with nogil:
        unchanged = dpf_unit_rows_residuals_many(&rows.rows, constant, &scale[0], &w[0, 0], k, slope, &odds[0],
                                                 &label[0], &limits[0], given, &plane[0], &lane[0],
                                                 &score[0, 0], &residual[0, 0], &total[0, 0])
    if not unchanged:
        _refuse_change()


def apart(_Rows rows, const double[::1] scale, const int32_t[::1] centre, double constant=0.0):
    """Return |q_i - centre|^2 - |centre|^2, exactly.

    Parameters
    ----------
    rows : Dense, Csr or Packed, n rows of d
    scale : ndarray of float64, shape (n,)
        As `scales` made it.
    centre : ndarray of int32, shape (d + 1,)
        Of Euclidean norm at most 2**18.
    constant : float

    Returns
    -------
    ndarray of int64, shape (n,)
    """
    cdef size_t n = rows.rows.n, d = rows.rows.d
    _check("scale", scale, n)
    _check("centre", centre, d + 1)
    _check_unchanged(rows)
    if np.square(np.asarray(centre, np.float64)).sum() > 2.0**36:
        raise ValueError("centre must have a norm of at most 2**18")
    out = np.zeros(n, np.int64)
    cdef int64_t[::1] square = out
    if n == 0:
        return out
    aligned(&scale[0], sizeof(double))
    aligned(&centre[0], sizeof(int32_t))
    _check_scale(rows, scale)
    with nogil:
        dpf_unit_rows_apart(&rows.rows, constant, &scale[0], &centre[0], &square[0])
    return out

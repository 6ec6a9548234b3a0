"""Rows of the unit ball on an integer grid: their scales, their margins and their weighted sums.

Row i is (x_i, constant) times a scale of its own; on the grid it is q_ij = trunc(scale[i] * x_ij), of Euclidean norm at most
2**bits exactly. Sums are integers, the same in every order; margins are floats. Rows are dense float32 or float64, CSR, or
packed 0/1. See csrc/unit_rows.h.

Every function takes the rows as one object: an ndarray of shape (n, d), a `Csr`, or a `Packed`.
"""
import numpy as np

from dpfast.kernels.own import own, writeable

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from dpfast.kernels.arrays cimport aligned, packed
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "unit_rows.h" nogil:
    ctypedef struct dpf_unit_csr:
        const int64_t *indptr
        const int32_t *indices
        const uint8_t *ones
    uint64_t dpf_unit_rows_checksum(const void *x, size_t n)
    bint dpf_unit_rows_scales_within(const double *scale, size_t n, double most)
    void dpf_unit_rows_scale_float(const float *x, size_t n, size_t d, double constant, bint inside, unsigned bits,
                                   double *scale)
    void dpf_unit_rows_scale_double(const double *x, size_t n, size_t d, double constant, bint inside, unsigned bits,
                                    double *scale)
    void dpf_unit_rows_scale_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, double constant,
                                       bint inside, unsigned bits, double *scale)
    void dpf_unit_rows_scale_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, double constant,
                                        bint inside, unsigned bits, double *scale)
    void dpf_unit_rows_scale_packed(const uint64_t *rows, size_t n, size_t d, double constant, bint inside,
                                    unsigned bits, double *scale)
    void dpf_unit_rows_margins_float(const float *x, size_t n, size_t d, double constant, unsigned bits,
                                     const double *scale, const float *w, float *margin)
    void dpf_unit_rows_margins_double(const double *x, size_t n, size_t d, double constant, unsigned bits,
                                      const double *scale, const float *w, float *margin)
    void dpf_unit_rows_margins_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, size_t d,
                                         double constant, unsigned bits, const double *scale, const float *w,
                                         float *margin)
    void dpf_unit_rows_margins_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, size_t d,
                                          double constant, unsigned bits, const double *scale, const float *w,
                                          float *margin)
    size_t DPF_UNIT_ROWS_PLANE_WORDS(size_t d)
    double dpf_unit_rows_planes(const float *w, size_t d, uint64_t *plane)
    void dpf_unit_rows_margins_packed(const uint64_t *rows, size_t n, size_t d, double constant, unsigned bits,
                                      const double *scale, float w_constant, const uint64_t *plane, double step,
                                      float *margin)
    void dpf_unit_rows_add_float(const float *x, size_t n, size_t d, double constant, const double *scale,
                                 const int32_t *weight, int64_t *total)
    void dpf_unit_rows_add_double(const double *x, size_t n, size_t d, double constant, const double *scale,
                                  const int32_t *weight, int64_t *total)
    void dpf_unit_rows_add_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, size_t d, double constant,
                                     const double *scale, const int32_t *weight, int64_t *total)
    void dpf_unit_rows_add_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, size_t d, double constant,
                                      const double *scale, const int32_t *weight, int64_t *total)
    void dpf_unit_rows_add_packed(const uint64_t *rows, size_t n, size_t d, double constant, const double *scale,
                                  const int32_t *weight, int64_t *total)
    void dpf_unit_rows_apart_float(const float *x, size_t n, size_t d, double constant, const double *scale,
                                   const int32_t *centre, int64_t *apart)
    void dpf_unit_rows_apart_double(const double *x, size_t n, size_t d, double constant, const double *scale,
                                    const int32_t *centre, int64_t *apart)
    void dpf_unit_rows_apart_csr_float(const dpf_unit_csr *rows, const float *data, size_t n, size_t d, double constant,
                                       const double *scale, const int32_t *centre, int64_t *apart)
    void dpf_unit_rows_apart_csr_double(const dpf_unit_csr *rows, const double *data, size_t n, size_t d,
                                        double constant, const double *scale, const int32_t *centre, int64_t *apart)
    void dpf_unit_rows_apart_packed(const uint64_t *rows, size_t n, size_t d, double constant, const double *scale,
                                    const int32_t *centre, int64_t *apart)

dpf_cpu_share(shared_level())

GRID_BITS = 17


cdef class _Rows:
    """Rows of one kind: pointers to them, their shape, and the size of their grid."""

    cdef const float[:, ::1] narrow
    cdef const double[:, ::1] wide
    cdef const float[::1] narrow_data
    cdef const double[::1] wide_data
    cdef const int64_t[::1] indptr
    cdef const int32_t[::1] indices
    cdef uint8_t[::1] ones
    cdef const uint64_t[:, ::1] packed
    cdef dpf_unit_csr csr
    cdef const float *x32
    cdef const double *x64
    cdef const uint64_t *words
    cdef readonly Py_ssize_t n, d
    cdef readonly unsigned bits
    cdef bint sparse
    cdef readonly bint watched  # for changes by others
    cdef readonly uint64_t given

    @property
    def shape(self):
        return self.n, self.d


cdef class Dense(_Rows):
    """Dense rows.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (n, d), C-contiguous
        Finite. Not copied; `given` is a checksum of it. If it can be written, `add` and `apart` check that it is as it
        was when it was given, and refuse it otherwise: by the scales of other rows, rows could be too long. A change
        while they run is found by the next call.
    """

    def __init__(self, x):
        if x.dtype not in (np.float32, np.float64) or x.ndim != 2:
            raise ValueError(f"rows must be float32 or float64 of two dimensions, got {x.dtype} {x.shape}")
        self.n, self.d = x.shape
        self.bits = GRID_BITS
        if x.dtype == np.float32:
            self.narrow = x
            aligned(<const void *><size_t>x.ctypes.data, x.itemsize)
            self.x32 = &self.narrow[0, 0] if x.size else NULL
        else:
            self.wide = x
            aligned(<const void *><size_t>x.ctypes.data, x.itemsize)
            self.x64 = &self.wide[0, 0] if x.size else NULL
        self.watched = writeable(x)
        self.given = self._checksum()

    cdef uint64_t _checksum(self) noexcept:
        cdef size_t words = self.n * self.d
        cdef const void *start = self.x32
        cdef uint64_t found
        if self.x64 != NULL:
            start, words = self.x64, 2 * words
        with nogil:
            found = dpf_unit_rows_checksum(start, words)
        return found


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

    def __init__(self, indptr, indices, data, Py_ssize_t d):
        cdef Py_ssize_t i, p, end
        cdef int64_t before, bad = -1
        cdef uint8_t others
        if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
            raise ValueError(f"indptr and indices must be one-dimensional, got {indptr.shape} and {indices.shape}")
        indptr, indices, data = own(indptr, np.int64), own(indices), None if data is None else own(data)
        if indptr[0] < 0 or indptr[-1] > len(indices) or (indptr[1:] < indptr[:-1]).any():
            raise ValueError(f"indptr must rise from at least 0 to at most the {len(indices)} indices")
        if data is not None and (data.dtype not in (np.float32, np.float64) or data.shape != indices.shape):
            raise ValueError(f"data must be None or floats of shape {indices.shape}, got {data.dtype} {data.shape}")
        if not 0 <= d <= 2**31 or len(indices) and not 0 <= indices.min() <= indices.max() < d:
            raise ValueError(f"indices must lie in [0, d), with d={d} at most 2**31")
        self.indptr, self.indices = indptr, np.require(indices, np.int32, "CA")
        self.n, self.d, self.bits, self.sparse = len(indptr) - 1, d, GRID_BITS, True
        if data is not None and len(data):
            if data.dtype == np.float32:
                self.narrow_data = data
                self.x32 = &self.narrow_data[0]
            else:
                self.wide_data = data
                self.x64 = &self.wide_data[0]
        self.ones = np.empty(max(1, self.n), np.uint8)
        with nogil:
            for i in range(self.n):
                before, others = -1, 0
                end = self.indptr[i + 1]
                for p in range(self.indptr[i], end):
                    if self.indices[p] <= before:
                        bad = i
                    before = self.indices[p]
                if self.x32 != NULL:
                    for p in range(self.indptr[i], end):
                        others |= self.x32[p] != 1
                elif self.x64 != NULL:
                    for p in range(self.indptr[i], end):
                        others |= self.x64[p] != 1
                self.ones[i] = not others
        if bad >= 0:
            raise ValueError(f"indices of a row must rise strictly, row {bad} has "
                             f"{np.asarray(self.indices)[self.indptr[bad]:self.indptr[bad + 1]][:5]}...")
        self.csr.indptr, self.csr.ones = &self.indptr[0], &self.ones[0]
        self.csr.indices = &self.indices[0] if len(indices) else NULL


cdef class Packed(_Rows):
    """Rows of packed 0/1.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words(d))
        Bits past d are zero, which is checked once. Copied unless read-only.
    d : int
    """

    def __init__(self, rows, Py_ssize_t d):
        self.packed = rows
        packed("d", self.packed, d, NULL, 0)
        self.packed = rows = own(rows)
        packed("d", self.packed, d, NULL, 0)  # of what is kept
        self.n, self.d, self.bits = len(rows), d, GRID_BITS
        self.words = &self.packed[0, 0] if rows.size else NULL


cdef _check(what, array, Py_ssize_t size):
    if len(array) != size:
        raise ValueError(f"{what} must have length {size}, got {len(array)}")


cdef _check_unchanged(_Rows rows):
    if rows.watched and (<Dense>rows)._checksum() != rows.given:
        raise ValueError("rows must not be changed while they are used: they are not as they were when they were given")


cdef _check_scale(_Rows rows, const double[::1] scale):
    cdef double most = 1e36 if rows.x32 != NULL or rows.x64 != NULL else 2.0**19  # of ones; with a weight below 2**31
    if not dpf_unit_rows_scales_within(&scale[0], len(scale), most):
        raise ValueError(f"scale must lie in [0, {most:g}), as scales makes it, got {np.min(scale)} to {np.max(scale)}")


def scales(_Rows rows, double constant=0.0, bint inside=True):
    """What each row is multiplied by.

    Parameters
    ----------
    rows : Dense, Csr or Packed, n rows
    constant : float
        A last entry of every row; 0 for none.
    inside : bool
        Whether rows of norm below 1 stay as they are; else all come to norm 1, and rows of norm below 1e-30
        become zero.

    Returns
    -------
    ndarray of float64, shape (n,)
    """
    cdef size_t n = rows.n, d = rows.d
    out = np.zeros(n)
    cdef double[::1] scale = out
    if n == 0:
        return out
    with nogil:
        if rows.words != NULL:
            dpf_unit_rows_scale_packed(rows.words, n, d, constant, inside, rows.bits, &scale[0])
        elif rows.sparse and rows.x64 != NULL:
            dpf_unit_rows_scale_csr_double(&rows.csr, rows.x64, n, constant, inside, rows.bits, &scale[0])
        elif rows.sparse:
            dpf_unit_rows_scale_csr_float(&rows.csr, rows.x32, n, constant, inside, rows.bits, &scale[0])
        elif rows.x64 != NULL:
            dpf_unit_rows_scale_double(rows.x64, n, d, constant, inside, rows.bits, &scale[0])
        else:
            dpf_unit_rows_scale_float(rows.x32, n, d, constant, inside, rows.bits, &scale[0])
    return out


def margins(_Rows rows, const double[::1] scale, const float[::1] w, double constant=0.0, float[::1] out=None):
    """<w, (x_i, constant)> * scale[i] / 2**bits, clipped to [-1, 1].

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
    cdef size_t n = rows.n, d = rows.d
    cdef uint64_t[::1] plane
    cdef double step
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
    if rows.words != NULL:
        plane = np.empty(DPF_UNIT_ROWS_PLANE_WORDS(d), np.uint64)
    with nogil:
        if rows.words != NULL:
            step = dpf_unit_rows_planes(&w[0], d, &plane[0])
            dpf_unit_rows_margins_packed(rows.words, n, d, constant, rows.bits, &scale[0], w[d], &plane[0], step,
                                         &out[0])
        elif rows.sparse and rows.x64 != NULL:
            dpf_unit_rows_margins_csr_double(&rows.csr, rows.x64, n, d, constant, rows.bits, &scale[0], &w[0], &out[0])
        elif rows.sparse:
            dpf_unit_rows_margins_csr_float(&rows.csr, rows.x32, n, d, constant, rows.bits, &scale[0], &w[0], &out[0])
        elif rows.x64 != NULL:
            dpf_unit_rows_margins_double(rows.x64, n, d, constant, rows.bits, &scale[0], &w[0], &out[0])
        else:
            dpf_unit_rows_margins_float(rows.x32, n, d, constant, rows.bits, &scale[0], &w[0], &out[0])
    return np.asarray(out)


def add(int64_t[::1] total, _Rows rows, const double[::1] scale, const int32_t[::1] weights, double constant=0.0):
    """total += sum of weights[i] * q_i, exactly.

    Parameters
    ----------
    total : ndarray of int64, shape (d + 1,)
        Changed in place; it is for the caller to see that it cannot overflow, which takes more than 2**34 rows.
    rows : Dense, Csr or Packed, n rows of d
    scale : ndarray of float64, shape (n,)
        As `scales` made it.
    weights : ndarray of int32, shape (n,)
        At most 2**12 in size.
    constant : float

    Notes
    -----
    One read of the rows; rows of weight 0 are skipped.
    """
    cdef size_t n = rows.n, d = rows.d, i
    cdef const int32_t *u
    cdef bint valid = True
    _check("total", total, d + 1)
    _check("scale", scale, n)
    _check("weights", weights, n)
    _check_unchanged(rows)
    if n == 0:
        return
    aligned(&total[0], sizeof(int64_t))
    aligned(&scale[0], sizeof(double))
    aligned(&weights[0], sizeof(int32_t))
    u = &weights[0]
    for i in range(n):
        valid &= (u[i] >= -(1 << 12)) & (u[i] <= 1 << 12)
    if not valid:
        raise ValueError(f"weights must lie within 2**12, got {np.min(weights)} to {np.max(weights)}")
    _check_scale(rows, scale)
    with nogil:
        if rows.words != NULL:
            dpf_unit_rows_add_packed(rows.words, n, d, constant, &scale[0], &weights[0], &total[0])
        elif rows.sparse and rows.x64 != NULL:
            dpf_unit_rows_add_csr_double(&rows.csr, rows.x64, n, d, constant, &scale[0], &weights[0], &total[0])
        elif rows.sparse:
            dpf_unit_rows_add_csr_float(&rows.csr, rows.x32, n, d, constant, &scale[0], &weights[0], &total[0])
        elif rows.x64 != NULL:
            dpf_unit_rows_add_double(rows.x64, n, d, constant, &scale[0], &weights[0], &total[0])
        else:
            dpf_unit_rows_add_float(rows.x32, n, d, constant, &scale[0], &weights[0], &total[0])


def apart(_Rows rows, const double[::1] scale, const int32_t[::1] centre, double constant=0.0):
    """|q_i - centre|^2 - |centre|^2, exactly.

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
    cdef size_t n = rows.n, d = rows.d
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
        if rows.words != NULL:
            dpf_unit_rows_apart_packed(rows.words, n, d, constant, &scale[0], &centre[0], &square[0])
        elif rows.sparse and rows.x64 != NULL:
            dpf_unit_rows_apart_csr_double(&rows.csr, rows.x64, n, d, constant, &scale[0], &centre[0], &square[0])
        elif rows.sparse:
            dpf_unit_rows_apart_csr_float(&rows.csr, rows.x32, n, d, constant, &scale[0], &centre[0], &square[0])
        elif rows.x64 != NULL:
            dpf_unit_rows_apart_double(rows.x64, n, d, constant, &scale[0], &centre[0], &square[0])
        else:
            dpf_unit_rows_apart_float(rows.x32, n, d, constant, &scale[0], &centre[0], &square[0])
    return out

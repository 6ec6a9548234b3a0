# Columns of codes, and what reads them: dpfast.kernels.codes, and kernels that go on with what was read.
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t


cdef extern from "codes.h" nogil:
    enum: DPF_CODES_PLANES
    ctypedef struct dpf_codes:
        const void *const *column
        const uint8_t *wide
        const uint32_t *size
        const uint32_t *offset
        size_t n, p
    ctypedef struct dpf_codes_plan:
        const uint32_t *first
        const uint32_t *member
        const uint32_t *cell
        size_t groups
    size_t DPF_CODES_LANES(size_t k)
    void dpf_codes_sum(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *weight, size_t k,
                       int32_t *joint, int64_t *total)
    int64_t dpf_codes_reach(const dpf_codes *codes, const int32_t *table, size_t k)
    void dpf_codes_margins(const dpf_codes *codes, const dpf_codes_plan *plan, const int32_t *table, size_t k,
                           int32_t *joint, uint8_t *planes, int32_t *margin)


cdef class _Plan:
    cdef uint32_t[::1] first, member, cell
    cdef dpf_codes_plan plan


cdef class Columns:
    cdef readonly Py_ssize_t n
    cdef readonly object columns, sizes, offsets
    cdef Py_ssize_t most
    cdef size_t[::1] address
    cdef uint8_t[::1] wide
    cdef uint32_t[::1] size, offset
    cdef dict plans
    cdef dpf_codes codes
    cdef _set(self, Py_ssize_t n, size_t[::1] address)
    cdef _Plan _plan(self, Py_ssize_t width, Py_ssize_t planed=*)

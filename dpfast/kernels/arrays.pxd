# What arrays must be before a kernel gets a pointer into them: checked here, in one wording.
from cpython.buffer cimport PyBUF_STRIDED_RO, PyBuffer_Release, PyObject_GetBuffer
from libc.stdint cimport int64_t, uint64_t, uintptr_t


# Entries of `size` bytes start at a multiple of that: other memory must not be read as what it is not.
cdef inline int aligned(const void *at, size_t size) except -1:
    if <uintptr_t>at % size:
        raise ValueError(f"an array of entries of {size} bytes must begin at a multiple of {size}: copy it first")
    return 0


# Where an array begins; the caller holds it. Its attribute `ctypes` would take ten times as long.
cdef inline void *address(array) except? NULL:
    cdef Py_buffer buffer
    PyObject_GetBuffer(array, &buffer, PyBUF_STRIDED_RO)
    cdef void *at = buffer.buf
    cdef Py_ssize_t size = buffer.itemsize
    PyBuffer_Release(&buffer)
    aligned(at, size)
    return at


# The row ends and the columns of a CSR matrix, or of a block of its rows; columns are looked at elsewhere.
cdef inline int csr(indptr, indices) except -1:
    if indptr.ndim != 1 or indices.ndim != 1 or len(indptr) == 0:
        raise ValueError(f"indptr and indices must be one-dimensional, got {indptr.shape} and {indices.shape}")
    if indptr[0] < 0 or indptr[-1] > len(indices) or (indptr[1:] < indptr[:-1]).any():
        raise ValueError(f"indptr must rise from at least 0 to at most the {len(indices)} indices")
    return 0


# n packed rows of `entries` bits, as dpfast.kernels.bits has them: of words(entries) words, bits past the last are zero.
# These are looked at in the m chosen rows only, unless `chosen` is NULL.
cdef inline int packed(str what, const uint64_t[:, ::1] rows, Py_ssize_t entries, const int64_t *chosen,
                       size_t m) except -1:
    cdef size_t i, n = rows.shape[0], words = rows.shape[1], rest = entries % 64 if entries > 0 else 0
    cdef const uint64_t *last
    cdef uint64_t past = 0
    if entries < 0:
        raise ValueError(f"{what} must be at least 0, got {entries}")
    if rows.shape[1] != (entries + 63) // 64:
        raise ValueError(f"{what}={entries} needs {(entries + 63) // 64} words a row, got shape {(n, words)}")
    if n == 0 or words == 0:
        return 0
    aligned(&rows[0, 0], sizeof(uint64_t))
    if rest == 0:
        return 0
    last = &rows[0, 0] + (words - 1)
    with nogil:
        if chosen == NULL:
            for i in range(n):
                past |= last[i * words]
        else:
            for i in range(m):
                past |= last[<size_t>chosen[i] * words]
    if past >> rest:
        raise ValueError(f"bits past {what}={entries} must be zero, some rows have bits there")
    return 0

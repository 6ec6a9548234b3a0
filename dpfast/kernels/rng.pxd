# Borrow a C bit generator from a numpy.random.Generator. Hold its lock while drawing.
from libc.stdint cimport uint32_t, uint64_t


cdef extern from "numpy/random/bitgen.h":
    ctypedef struct bitgen_t:
        void *state
        uint64_t (*next_uint64)(void *) noexcept nogil
        uint32_t (*next_uint32)(void *) noexcept nogil
        double (*next_double)(void *) noexcept nogil
        uint64_t (*next_raw)(void *) noexcept nogil


cdef bitgen_t *bitgen(rng) except NULL


cdef class Words:
    cdef bitgen_t *bits

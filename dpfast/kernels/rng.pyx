"""Random streams: the one place that unwraps NumPy's bit-generator capsule."""
from cpython.pycapsule cimport PyCapsule_GetPointer


cdef bitgen_t *bitgen(rng) except NULL:
    try:
        capsule = rng.bit_generator.capsule
    except AttributeError:
        raise TypeError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}") from None
    return <bitgen_t *>PyCapsule_GetPointer(capsule, "BitGenerator")


cdef class Words:
    """The 64-bit words of a generator, one a call; the caller holds its lock."""

    def __init__(self, rng):
        self.bits = bitgen(rng)

    def __call__(self):
        return self.bits.next_uint64(self.bits.state)

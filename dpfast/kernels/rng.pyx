"""Random streams: the one place that unwraps NumPy's bit-generator capsule, and that watches for forks."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint32_t, uint64_t


cdef extern from "process.h" nogil:
    bint dpf_process_prepare()
    uint64_t dpf_process_number()

cdef extern from "Python.h":
    void PyErr_SetInterrupt()
    void Py_FatalError(const char *message)

if not dpf_process_prepare():
    raise OSError("the system refuses a handler of pthread_atfork: forks would share random streams")

_TRIES = 1000  # exceptions of signals' handlers in a row


cdef bitgen_t *bitgen(rng) except NULL:
    try:
        capsule = rng.bit_generator.capsule
    except AttributeError:
        raise TypeError(f"rng must be a numpy.random.Generator, got {type(rng).__name__}") from None
    return <bitgen_t *>PyCapsule_GetPointer(capsule, "BitGenerator")


cdef class Words:
    """The 64-bit words of a generator, one for each call; the caller holds its lock."""

    def __init__(self, rng):
        self.bits = bitgen(rng)

    def __call__(self):
        return self.bits.next_uint64(self.bits.state)


def process():
    """Return a number of this process that differs from those of the processes from which it was forked."""
    return dpf_process_number()


# ---- bit generators that are keyed anew in a fork ------------------------------------------------------------------

cdef struct _Watched:
    bitgen_t cipher
    uint64_t process  # in which the key was drawn
    void *owner


cdef class Watch:
    """Watch of a bit generator: compares the process at every word, and has it keyed anew in a forked process.

    Parameters
    ----------
    bit_generator : numpy.random.BitGenerator
        With a method `rekey` that draws a key and then calls `keyed`. It holds the watch for as long as it lives, and
        is watched from then on. Generators made of it earlier are not.
    """

    cdef _Watched watched

    def __init__(self, bit_generator):
        cdef bitgen_t *bits
        if not hasattr(bit_generator, "capsule"):
            raise TypeError(f"bit_generator must be one of numpy, got {type(bit_generator).__name__}")
        bits = <bitgen_t *>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
        self.watched.cipher, self.watched.owner = bits[0], <void *>bit_generator
        self.keyed()
        bits.state = &self.watched
        bits.next_uint64, bits.next_uint32 = _next_uint64, _next_uint32
        bits.next_double, bits.next_raw = _next_double, _next_raw

    def keyed(self):
        """Record that the key was drawn in this process."""
        self.watched.process = dpf_process_number()

    def check(self):
        """Key the bit generator anew if its key was drawn in another process."""
        if self.watched.process != dpf_process_number():
            (<object>self.watched.owner).rekey()


cdef inline bitgen_t *_here(void *state) noexcept nogil:
    """The cipher of a watched bit generator, keyed in this process."""
    cdef _Watched *watched = <_Watched *>state
    if watched.process != dpf_process_number():
        _rekey(watched)
    return &watched.cipher


cdef void _rekey(_Watched *watched) noexcept with gil:
    """Key a bit generator anew. Nothing is drawn before: exceptions of signals' handlers are put off until then."""
    interrupted = False
    for _ in range(_TRIES):
        try:
            (<object>watched.owner).rekey()
            break
        except BaseException as error:
            interrupted |= isinstance(error, KeyboardInterrupt)
    if watched.process != dpf_process_number():
        Py_FatalError("dpfast: no new key for the random stream of a forked process")
    if interrupted:
        PyErr_SetInterrupt()


cdef uint64_t _next_uint64(void *state) noexcept nogil:
    cdef bitgen_t *cipher = _here(state)
    return cipher.next_uint64(cipher.state)


cdef uint32_t _next_uint32(void *state) noexcept nogil:
    cdef bitgen_t *cipher = _here(state)
    return cipher.next_uint32(cipher.state)


cdef double _next_double(void *state) noexcept nogil:
    cdef bitgen_t *cipher = _here(state)
    return cipher.next_double(cipher.state)


cdef uint64_t _next_raw(void *state) noexcept nogil:
    cdef bitgen_t *cipher = _here(state)
    return cipher.next_raw(cipher.state)

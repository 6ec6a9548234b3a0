"""Random streams: the one place that unwraps NumPy's bit-generator capsule, and that watches for forks."""
from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint32_t, uint64_t


cdef extern from "process.h" nogil:
    bint dpf_process_prepare()
    uint64_t dpf_process_number()
    const uint64_t *dpf_process_place()

cdef extern from "watch.h" nogil:
    ctypedef struct dpf_watch:
        const uint64_t *place
        uint64_t process
        bitgen_t cipher
        void *owner
        void (*rekey)(dpf_watch *) noexcept
    void dpf_watch_put(dpf_watch *w, bitgen_t *bits)

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

cdef class Watch:
    """Watch of a bit generator: compares the process at every word, and has it keyed anew in a forked process.

    Parameters
    ----------
    bit_generator : numpy.random.BitGenerator
        With a method `rekey` that draws a key and then calls `keyed`. It holds the watch for as long as it lives, and
        is watched from then on. Generators made of it earlier are not.
    """

    cdef dpf_watch watched

    def __init__(self, bit_generator):
        cdef bitgen_t *bits
        if not hasattr(bit_generator, "capsule"):
            raise TypeError(f"bit_generator must be one of numpy, got {type(bit_generator).__name__}")
        bits = <bitgen_t *>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator")
        self.watched.cipher, self.watched.owner, self.watched.rekey = bits[0], <void *>bit_generator, _rekey
        self.watched.place = dpf_process_place()
        self.keyed()
        dpf_watch_put(&self.watched, bits)

    def keyed(self):
        """Record that the key was drawn in this process."""
        self.watched.process = dpf_process_number()

    def check(self):
        """Key the bit generator anew if its key was drawn in another process."""
        if self.watched.process != dpf_process_number():
            (<object>self.watched.owner).rekey()


cdef void _rekey(dpf_watch *watched) noexcept with gil:
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

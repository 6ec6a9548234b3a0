"""Random streams: the one place that unwraps NumPy's bit-generator capsule, and that watches for forks."""
import numpy as np

from cpython.pycapsule cimport PyCapsule_GetPointer
from libc.stdint cimport uint32_t, uint64_t
from dpfast.kernels.cpu cimport dpf_cpu_sets, dpf_cpu_share, shared_level


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

cdef extern from "dpf_cpu.h" nogil:
    int dpf_cpu_level()

cdef extern from "aes.h" nogil:
    enum:
        DPF_AES_WORDS
        DPF_AES_SCHEDULE
    ctypedef struct dpf_aes:
        dpf_watch watch
        uint64_t *schedule
        uint64_t *counter
        uint64_t *words
        uint32_t at
        uint32_t half
        uint32_t halved
        int way
    int dpf_aes_way(int level, uint32_t sets)
    void dpf_aes_put(dpf_aes *aes, bitgen_t *bits)

cdef extern from "Python.h":
    void PyErr_SetInterrupt()
    void Py_FatalError(const char *message)

if not dpf_process_prepare():
    raise OSError("the system refuses a handler of pthread_atfork: forks would share random streams")

dpf_cpu_share(shared_level())

_TRIES = 1000  # exceptions of signals' handlers in a row
cdef enum:
    _AHEAD = 8  # words that AESCounter enciphers at once
cdef uint32_t _sets = dpf_cpu_sets()


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

    cdef dpf_watch plain
    cdef dpf_watch *watched

    def __init__(self, bit_generator):
        if not hasattr(bit_generator, "capsule"):
            raise TypeError(f"bit_generator must be one of numpy, got {type(bit_generator).__name__}")
        self._put(<bitgen_t *>PyCapsule_GetPointer(bit_generator.capsule, "BitGenerator"), bit_generator)

    cdef void _put(self, bitgen_t *bits, bit_generator) noexcept:
        """Watch `bits`, those of a bit generator."""
        self.watched = &self.plain
        self.plain.cipher = bits[0]
        self._begin(bit_generator)
        dpf_watch_put(self.watched, bits)

    cdef void _begin(self, bit_generator) noexcept:
        self.watched.owner, self.watched.rekey = <void *>bit_generator, _rekey
        self.watched.place = dpf_process_place()
        self.watched.process = dpf_process_number()

    def keyed(self, state):
        """Record that the key was drawn in this process, and use the state of the cipher."""
        self.use(state)
        self.watched.process = dpf_process_number()

    def check(self):
        """Key the bit generator anew if its key was drawn in another process."""
        if self.watched.process != dpf_process_number():
            (<object>self.watched.owner).rekey()

    def use(self, state):
        """Draw from this state of the cipher on, which the cipher has already."""

    def state(self, state):
        """Return the state of the cipher after the words that were drawn, given the cipher's own."""
        return state


cdef class AESWatch(Watch):
    """Watch of an AESCounter that draws the same words itself, by instructions for AES: see csrc/aes.h.

    The AESCounter keeps the state that it was given; `state` returns where the stream is.
    """

    cdef dpf_aes aes

    @staticmethod
    def possible():
        """Return whether this processor has instructions for AES that a kernel uses."""
        return dpf_aes_way(0, _sets) > 0

    cdef void _put(self, bitgen_t *bits, bit_generator) noexcept:
        self.watched = &self.aes.watch
        self.aes.way = dpf_aes_way(dpf_cpu_level(), _sets)
        self._begin(bit_generator)
        self.watched.process = 0  # none: a word that is drawn before a key is used draws a key
        dpf_aes_put(&self.aes, bits)

    def use(self, state):
        cdef int i
        parts = state["s"]
        cdef const uint64_t[::1] schedule = parts["seed"], counter = parts["counter"]
        cdef const uint64_t[::1] ahead = parts["state"].view("<u8")
        for i in range(DPF_AES_SCHEDULE):
            self.aes.schedule[i] = schedule[i]
        self.aes.counter[0], self.aes.counter[1] = counter[0], counter[1]
        for i in range(_AHEAD):
            self.aes.words[DPF_AES_WORDS - _AHEAD + i] = ahead[i]
        self.aes.at = DPF_AES_WORDS - _AHEAD + min(parts["offset"] // 8, _AHEAD)
        self.aes.halved, self.aes.half = bool(state["has_uint32"]), state["uinteger"]

    def state(self, state):
        cdef int first = (self.aes.at - 1) // _AHEAD * _AHEAD, i  # of the words that AESCounter would have ahead
        cdef uint64_t behind = (DPF_AES_WORDS - first) // 2 - 4  # blocks enciphered here, and not there yet
        ahead = np.array([self.aes.words[first + i] for i in range(_AHEAD)], "<u8").view(np.uint8)
        following = (int(self.aes.counter[1]) << 64 | int(self.aes.counter[0])) - behind
        words = [(following + i) >> 64 * high & 0xFFFFFFFFFFFFFFFF for i in range(4) for high in (0, 1)]
        parts = {"state": ahead, "counter": np.array(words, np.uint64), "offset": 8 * (self.aes.at - first)}
        half = {"has_uint32": int(self.aes.halved), "uinteger": int(self.aes.half)}
        return state | {"s": state["s"] | parts} | half


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

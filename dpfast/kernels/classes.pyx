"""Finite hypothesis classes as bit sets: a column of packed bits for each point, a subclass as one more.

A class of n hypotheses is an array of uint64 of shape (points, words(n)), bit h of row x being what hypothesis h says
at x, as `bits.pack` of the transposed table makes it; a subclass is a row of such bits, 1 for its members.
"""
import numpy as np

from dpfast.kernels.own import of_64_bits

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport uint32_t, uint64_t
from dpfast.kernels.arrays cimport aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "bits.h" nogil:
    uint64_t dpf_bits_popcount(const uint64_t *words, size_t size)
    uint64_t dpf_bits_and(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out)
    uint64_t dpf_bits_andnot(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out)


cdef extern from "classes.h" nogil:
    int DPF_CLASSES_YES
    int DPF_CLASSES_GAVE_UP
    void dpf_classes_counts(const uint64_t *columns, const uint64_t *members, size_t points, size_t words,
                            uint32_t *out)
    int dpf_classes_at_least(const uint64_t *columns, const uint64_t *members, size_t points, size_t words, unsigned k,
                             uint64_t *sets, uint32_t *counts, uint64_t *memo, size_t slots, uint64_t *nodes)

dpf_cpu_share(shared_level())

_PATIENCE = 1 << 18  # subclasses searched before the first look at signals


cdef _check(const uint64_t[:, ::1] columns, const uint64_t[::1] members):
    if columns.shape[1] != members.shape[0]:
        raise ValueError(
            f"members must have shape {(columns.shape[1],)}, one bit a hypothesis as the columns have, "
            f"got {(members.shape[0],)}"
        )
    if columns.shape[0] and columns.shape[1]:
        aligned(&columns[0, 0], sizeof(uint64_t))
        aligned(&members[0], sizeof(uint64_t))


def counts(const uint64_t[:, ::1] columns, const uint64_t[::1] members):
    """Return how many members say 1 at each point: uint32, shape (points,)."""
    _check(columns, members)
    out = np.zeros(columns.shape[0], np.uint32)
    cdef uint32_t[::1] ones = out
    if columns.shape[0] and columns.shape[1]:
        with nogil:
            dpf_classes_counts(&columns[0, 0], &members[0], columns.shape[0], columns.shape[1], &ones[0])
    return out


@of_64_bits
def restrict(const uint64_t[:, ::1] columns, const uint64_t[::1] members, Py_ssize_t point, bint label):
    """Return the members that say `label` at `point`, uint64 of shape (words,), and their number."""
    _check(columns, members)
    if not 0 <= point < columns.shape[0]:
        raise ValueError(f"point must lie in [0, {columns.shape[0]}), got {point}")
    out = np.empty(columns.shape[1], np.uint64)
    cdef uint64_t[::1] left = out
    cdef size_t words = columns.shape[1]
    cdef uint64_t size = 0
    if words and label:
        size = dpf_bits_and(&members[0], &columns[point, 0], words, &left[0])
    elif words:
        size = dpf_bits_andnot(&members[0], &columns[point, 0], words, &left[0])
    return out, size


@of_64_bits
def memo(Py_ssize_t words):
    """Return an empty cache of `dimension` for the calls about one class: uint64, shape (2**14, words + 1), zero.

    It holds subclasses that were asked for, and is to be kept as they are.
    """
    return np.zeros((1 << 14, words + 1), np.uint64)


def dimension(const uint64_t[:, ::1] columns, const uint64_t[::1] members, uint64_t[:, ::1] memo, max_nodes=10**8):
    """Return the Littlestone dimension of a subclass, no two of whose members agree at all points.

    Parameters
    ----------
    columns : ndarray of uint64, shape (points, words)
    members : ndarray of uint64, shape (words,)
    memo : ndarray of uint64, shape (slots, words + 1), a power of two of slots
        From `memo`, for these columns; not to be used by two threads at once.
    max_nodes : int
        Subclasses to search at most, in about points * words word reads each.

    Returns
    -------
    dimension : int
        -1 for no members; None if the search stopped at `max_nodes`.
    nodes : int
        Subclasses searched.

    Notes
    -----
    Up to the number of restrictions by log2(members) points in the worst case; see csrc/classes.h. Signals are
    looked at now and then.
    """
    _check(columns, members)
    cdef Py_ssize_t points = columns.shape[0], words = columns.shape[1]
    if memo.shape[1] != words + 1 or memo.shape[0] == 0 or memo.shape[0] & (memo.shape[0] - 1):
        raise ValueError(f"memo must come from memo({words}), got shape {memo.shape[0], memo.shape[1]}")
    cdef uint64_t size = dpf_bits_popcount(&members[0], words) if words else 0
    if size < 2:
        return <int> size - 1, 0
    cdef unsigned most = int(size).bit_length() - 1, k = 1
    if points == 0:
        raise ValueError(f"{size} hypotheses on no points agree")
    aligned(&memo[0, 0], sizeof(uint64_t))
    cdef uint64_t[:, ::1] sets = np.empty((most, words), np.uint64)
    cdef uint32_t[:, ::1] ones = np.empty((most, points), np.uint32)
    cdef uint64_t nodes
    cdef size_t slots = memo.shape[0]
    cdef int found
    searched, patience = 0, _PATIENCE
    while k < most:
        allowed = min(patience, max_nodes - searched)
        nodes = allowed
        with nogil:
            found = dpf_classes_at_least(&columns[0, 0], &members[0], points, words, k + 1, &sets[0, 0], &ones[0, 0],
                                         &memo[0, 0], slots, &nodes)
        searched += allowed - nodes
        PyErr_CheckSignals()
        if found == DPF_CLASSES_YES:
            k += 1
        elif found == DPF_CLASSES_GAVE_UP:
            if searched >= max_nodes:
                return None, searched
            patience *= 2  # what was found is in the memo; what was forgotten is searched again, in fewer pieces
        else:
            break
    return k, searched

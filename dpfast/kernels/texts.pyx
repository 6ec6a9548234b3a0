"""What texts are by their form alone: missing, numbers, days, or perhaps words.

Texts are bytes of UTF-8 and ends, as Arrow has them: text i has the bytes ends[i] to ends[i + 1] - 1.
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from dpfast.kernels.arrays cimport aligned


cdef extern from "texts.h" nogil:
    int DPF_TEXTS_WORD
    int DPF_TEXTS_MISSING
    int DPF_TEXTS_NUMBER
    int DPF_TEXTS_DAY
    int DPF_TEXTS_NAMED
    int DPF_TEXTS_FORM
    int DPF_TEXTS_MARK
    bint dpf_texts_kinds(const uint8_t *text, const int64_t *ends, const uint8_t *present, size_t n,
                         const uint64_t *mark, size_t marks, uint8_t *kind, int32_t *day)

WORD, MISSING, NUMBER, DAY, NAMED, FORM = (
    DPF_TEXTS_WORD, DPF_TEXTS_MISSING, DPF_TEXTS_NUMBER, DPF_TEXTS_DAY, DPF_TEXTS_NAMED, DPF_TEXTS_FORM
)


def pack(marks):
    """Return marks, texts of at most seven bytes, as `kinds` takes them: uint64, shape (number of marks,)."""
    marks = [*marks]
    if not {*map(type, marks)} <= {str}:
        raise TypeError("marks must be texts")
    known = [mark.encode() for mark in marks]
    longest = max(map(len, known), default=0)
    if longest > DPF_TEXTS_MARK:
        raise ValueError(f"marks must have at most {DPF_TEXTS_MARK} bytes, got one of {longest}")
    return np.array([int.from_bytes(mark, "little") | len(mark) << 56 for mark in known], np.uint64)


def kinds(const uint8_t[::1] text, const int64_t[::1] ends, present, const uint64_t[::1] marks):
    """Return the kind of each text, its day, and whether there are blanks around one; every text by itself.

    Parameters
    ----------
    text : ndarray of uint8
    ends : ndarray of int64, shape (n + 1,), rising
    present : ndarray of bool, shape (n,), or None
        Whether each text is no null; None for all.
    marks : ndarray of uint64
        Texts that are missing, from `pack`.

    Returns
    -------
    kind : ndarray of uint8, shape (n,)
        WORD, MISSING, NUMBER, DAY (YYYY-MM-DD), NAMED (begins with a letter and has a digit) or FORM (begins as other
        forms of numbers and dates do).
    day : ndarray of int32, shape (n,)
        Days since 1970-01-01 of texts of kind DAY, 0 of others.
    padded : bool
    """
    cdef Py_ssize_t n = ends.shape[0] - 1, i
    if n < 0 or ends[0] < 0 or ends[n] > text.shape[0]:
        raise ValueError(f"ends must rise from at least 0 to at most the {text.shape[0]} bytes of the texts")
    aligned(&ends[0], sizeof(int64_t))
    cdef int64_t last = ends[0]
    for i in range(1, n + 1):
        if ends[i] < last:
            raise ValueError("ends must rise")
        last = ends[i]
    cdef const uint8_t[::1] known = None
    if present is not None:
        if not isinstance(present, np.ndarray) or present.dtype != np.bool_:
            raise TypeError("present must be an ndarray of bool or None")
        known = present.view(np.uint8)
        if known.shape[0] != n:
            raise ValueError(f"present must have shape {(n,)}, got {(known.shape[0],)}")
    kind, day = np.empty(n, np.uint8), np.empty(n, np.int32)
    if not n:
        return kind, day, False
    if marks.shape[0]:
        aligned(&marks[0], sizeof(uint64_t))
    cdef uint8_t[::1] kind_view = kind
    cdef int32_t[::1] day_view = day
    cdef uint8_t empty = 0
    cdef const uint8_t *bytes_ = &text[0] if text.shape[0] else &empty
    cdef const uint8_t *present_ = &known[0] if known is not None else NULL
    cdef const uint64_t *mark = &marks[0] if marks.shape[0] else NULL
    cdef size_t marks_n = marks.shape[0]
    cdef bint padded
    with nogil:
        padded = dpf_texts_kinds(bytes_, &ends[0], present_, n, mark, marks_n, &kind_view[0], &day_view[0])
    return kind, day, padded

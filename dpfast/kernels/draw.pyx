"""Exact draws of uniform integers."""
import numpy as np

from dpfast.kernels.own import own

from libc.stdint cimport uint64_t
from dpfast.kernels.rng cimport bitgen, bitgen_t


cdef extern from "draw.h" nogil:
    void dpf_draw_below_each(bitgen_t *rng, const uint64_t *n, size_t size, uint64_t *out)


def below(n, rng):
    """Return independent integers, entry i exactly uniform on 0, ..., n[i] - 1.

    Parameters
    ----------
    n : array_like of int, shape (size,)
        Each at least 1.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of uint64, shape (size,)

    References
    ----------
    D. Lemire, Fast random integer generation in an interval, ACM TOMACS 2019.
    """
    n = own(np.atleast_1d(np.asarray(n)))
    if n.ndim != 1 or n.dtype.kind not in "iu" or (n < 1).any():
        raise ValueError(f"n must be integers of at least 1, shape (size,), got {n!r}")
    cdef const uint64_t[::1] bound = own(n, np.uint64)
    cdef uint64_t[::1] out = np.empty(n.shape[0], np.uint64)
    cdef bitgen_t *bits = bitgen(rng)
    if n.shape[0]:
        with rng.bit_generator.lock, nogil:
            dpf_draw_below_each(bits, &bound[0], bound.shape[0], &out[0])
    return np.asarray(out)

"""Exact multinomial resampling from weights given as doubles. See csrc/resampling.h.

The draws are those of Bun and Fang's private Winnow, which replaces its weights by the histogram of m draws from them.
`levels.sample` does the same for weights that are exponentials of integer scores.
"""
import math
import operator

import numpy as np

from dpfast.kernels.own import of_64_bits

from libc.stdint cimport int64_t, uint64_t
from dpfast.kernels.arrays cimport address
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level
from dpfast.kernels.rng cimport bitgen, bitgen_t


cdef extern from "resampling.h" nogil:
    enum: DPF_RESAMPLING_BLOCK
    bint dpf_resampling_check(const double *weight, size_t n, double *largest)
    void dpf_resampling_sum(const double *weight, size_t n, double scale, uint64_t *upto)
    void dpf_resampling_draw(bitgen_t *rng, const double *weight, size_t n, double scale, const uint64_t *upto, size_t m,
                             int64_t *drawn)

dpf_cpu_share(shared_level())


@of_64_bits
def draw(weights, m, rng):
    """Return m independent draws in the order drawn, with P(j) exactly proportional to weights[j].

    Parameters
    ----------
    weights : ndarray of float64, shape (n,)
        Finite, at least 0, and one of them above 0; n < 2**32. Each stands for the rational number that it is. If
        another thread changes them during the call, draws have another distribution.
    m : int
        At least 0.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int64, shape (m,)

    Notes
    -----
    Two reads of the weights, and for each draw a search of n / 256 sums and a read of at most 256 weights.
    """
    weights, m = np.asarray(weights), operator.index(m)
    if weights.ndim != 1 or weights.dtype != np.float64 or not 1 <= weights.size < 2**32:
        raise ValueError(f"weights must be float64 of shape (n,), 1 <= n < 2**32, got {weights.dtype} {weights.shape}")
    if m < 0:
        raise ValueError(f"m must be at least 0, got {m}")
    cdef bitgen_t *bits = bitgen(rng)
    weights = np.require(weights, None, "CA")
    cdef const double *weight = <const double *>address(weights)
    cdef size_t n = weights.size, size = m
    cdef double largest = 0.0, scale
    cdef bint valid
    with nogil:
        valid = dpf_resampling_check(weight, n, &largest)
    if not valid or largest == 0:
        raise ValueError("weights must be finite and at least 0, and one of them above 0")
    if m == 0:
        return np.empty(0, np.int64)
    exponent = math.frexp(largest)[1]
    if exponent < -900:  # the scale would not be finite; larger weights are exact
        weights, exponent = np.ldexp(weights, 900), exponent + 900
        weight = <const double *>address(weights)
    scale = math.ldexp(1.0, min(52, 62 - int(n).bit_length()) - exponent)
    cdef uint64_t[::1] upto = np.empty((n + DPF_RESAMPLING_BLOCK - 1) // DPF_RESAMPLING_BLOCK, np.uint64)
    cdef int64_t[::1] drawn = np.empty(m, np.int64)
    with rng.bit_generator.lock, nogil:
        dpf_resampling_sum(weight, n, scale, &upto[0])
        dpf_resampling_draw(bits, weight, n, scale, &upto[0], size, &drawn[0])
    return np.asarray(drawn)


@of_64_bits
def resample(weights, m, rng):
    """Return how often each entry is drawn in m independent draws: int64, shape (n,); see `draw`."""
    return np.bincount(draw(weights, m, rng), minlength=len(weights))

"""Exact integer noise."""
from fractions import Fraction

import numpy as np

from libc.stdint cimport int64_t, uint64_t
from dpfast.kernels.rng cimport bitgen, bitgen_t


cdef extern from "noise.h" nogil:
    void dpf_noise_laplace(bitgen_t *rng, uint64_t num, uint64_t den, size_t size, int64_t *out)


_TERM = 1 << 52  # largest numerator and denominator of a scale


def discrete_laplace(scale, size, rng):
    """Independent integers with P(x) proportional to exp(-abs(x) / scale), exactly.

    Parameters
    ----------
    scale : Fraction, int or float
        Positive, at most 2**52; a float is the rational that it is. A scale whose numerator or denominator
        exceeds 2**52 is rounded up to one that fits (at least 2**-52): never less noise than asked for.
    size : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int64, shape (size,)

    Notes
    -----
    A draw beyond 2**62 in absolute value is returned as that.

    References
    ----------
    Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, Algorithm 2.
    """
    try:
        exact = Fraction(scale)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"scale must be a positive number, got {scale!r}") from None
    if not 0 < exact <= _TERM:
        raise ValueError(f"scale must lie in (0, 2**52], got {scale!r}")
    if max(exact.numerator, exact.denominator) > _TERM:
        unit = 1 << max(0, 52 - max(0, (exact.numerator // exact.denominator).bit_length()))
        exact = Fraction(-(-exact.numerator * unit // exact.denominator), unit)
    cdef uint64_t num = exact.numerator, den = exact.denominator
    cdef int64_t[::1] out = np.empty(size, np.int64)
    cdef bitgen_t *bits = bitgen(rng)
    if out.shape[0]:
        with rng.bit_generator.lock, nogil:
            dpf_noise_laplace(bits, num, den, out.shape[0], &out[0])
    return np.asarray(out)

"""Exact integer noise."""
import math
from functools import lru_cache

import numpy as np

from dpfast.kernels.inversion import attempt

from libc.stdint cimport int64_t, uint64_t
from dpfast.kernels.rationals cimport fraction
from dpfast.kernels.rng cimport Words, bitgen, bitgen_t


cdef extern from "noise.h" nogil:
    ctypedef struct dpf_noise_strip:
        uint64_t start, width, sure
    ctypedef struct dpf_noise_law:
        uint64_t rate
        int shift, cells, area
        bint squared
        size_t strips
        dpf_noise_strip *strip
    bint dpf_noise_prepare(dpf_noise_law *law)
    size_t dpf_noise_draw(bitgen_t *rng, const dpf_noise_law *law, uint64_t guard, size_t size, int64_t *out,
                          uint64_t *words)


_LARGEST = 1 << 52
_LOG2_E = 0x171547652b82fe1777d0ffda0d23a7d11  # log2(e) * 2**128, rounded down
_guard_bits = 16  # tests widen the guard, so that multiprecision decides often


def discrete_laplace(scale, size, rng):
    """Return independent integers with P(x) exactly proportional to exp(-abs(x) / scale).

    Parameters
    ----------
    scale : Fraction, int or float
        Positive, at most 2**52; a float is the rational that it is.
    size : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int64, shape (size,)

    Notes
    -----
    No floating point. About 1.1 words of randomness a draw; the first draw at a scale costs some 30 microseconds more,
    for a table that is kept. Draws are conditioned on abs(x) staying below a bound, at least the smaller of 2**62 and
    2**43 scales; the probability of the rest is below e**-1000.

    References
    ----------
    csrc/noise.h states the method and its sources.
    """
    return _draw("scale", scale, False, size, rng)


def geometric(scale, size, rng):
    """Return independent integers of at least 0 with P(x) exactly proportional to exp(-x / scale).

    Parameters
    ----------
    scale, size, rng
        As in `discrete_laplace`.

    Returns
    -------
    ndarray of int64, shape (size,)

    Notes
    -----
    Numbers below 0 of `discrete_laplace` are drawn again: at most two draws for one, on average.
    """
    out = discrete_laplace(scale, size, rng)
    while (below := np.flatnonzero(out < 0)).size:
        out[below] = discrete_laplace(scale, below.size, rng)
    return out


def discrete_gaussian(sigma, size, rng):
    """Return independent integers with P(x) exactly proportional to exp(-x**2 / (2 * sigma**2)).

    Parameters
    ----------
    sigma : Fraction, int or float
        Positive, at most 2**52; a float is the rational that it is.
    size, rng
        As in `discrete_laplace`, which has the same cost and the same bound on abs(x).

    Returns
    -------
    ndarray of int64, shape (size,)

    References
    ----------
    Canonne, Kamath, Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020, defines the law;
    csrc/noise.h states the method and its sources.
    """
    return _draw("sigma", sigma, True, size, rng)


def _draw(name, value, squared, size, rng):
    cdef _Strips strips = (_known_law if type(value) is float else _law)(name, value, squared)
    cdef bitgen_t *bits = bitgen(rng)
    cdef int64_t[::1] out = np.empty(size, np.int64)
    cdef uint64_t words[2]
    cdef uint64_t guard = 1 << _guard_bits
    cdef size_t done = 0, n = out.shape[0]
    with rng.bit_generator.lock:
        while done < n:
            with nogil:
                done += dpf_noise_draw(bits, &strips.law, guard, n - done, &out[done], words)
            if done < n:
                drawn = strips.settle((<object>words[0] << 64) | words[1], Words(rng))
                if drawn is not None:
                    out[done] = drawn
                    done += 1
    return np.asarray(out)


cdef class _Strips:
    """Draws from one law, by the table of csrc/noise.h."""

    cdef dpf_noise_law law
    cdef object scale

    def __init__(self, scale, squared):
        self.scale, self.law.squared = scale, squared
        first = _rate(scale, squared, 0)
        self.law.shift = max(0, 64 - first.bit_length())
        self.law.rate = min(_rate(scale, squared, self.law.shift), (1 << 64) - 1)
        whole = math.floor(scale).bit_length() or 1
        self.law.cells = max(1, 20 - whole)
        self.law.area = whole + self.law.cells - 10  # 2**8 strips hold what 2**10 of this area would, or nearly
        while not dpf_noise_prepare(&self.law):
            self.law.area += 1

    @property
    def area(self):
        return self.law.area

    @property
    def cells(self):
        return self.law.cells

    @property
    def table(self):
        """Return (start, width, sure) of each strip."""
        return [(self.law.strip[s].start, self.law.strip[s].width, self.law.strip[s].sure)
                for s in range(self.law.strips)]

    def exponent(self, x):
        """Return the Fraction f with P(x) proportional to exp(-f)."""
        return (x / self.scale) ** 2 / 2 if self.law.squared else x / self.scale

    def settle(self, word, words):
        """Return the integer of an attempt of 128 bits `word` that the C code left open, or None if it is rejected."""
        strips = [(start, width) for start, width, _ in self.table]
        return attempt(strips, self.law.area, self.law.cells, self.exponent, word, 128, words)


_strips = lru_cache(64)(_Strips)


def _law(name, value, squared):
    exact = fraction(name, value, "a positive number")
    if not 0 < exact <= _LARGEST:
        raise ValueError(f"{name} must lie in (0, 2**52], got {value!r}")
    return _strips(exact, squared)


_known_law = lru_cache(64)(_law)  # as to make and to hash a Fraction takes as long as some hundred draws


def _rate(scale, squared, shift):
    """Return r * 2**shift of csrc/noise.h, rounded down."""
    if squared:  # the square root of log2(e) / (2 scale**2), in units of 2**-(60 + shift)
        return math.isqrt((_LOG2_E << 2 * (60 + shift)) * scale.denominator**2 // (scale.numerator**2 << 129))
    return (_LOG2_E << 56 + shift) * scale.denominator // (scale.numerator << 128)

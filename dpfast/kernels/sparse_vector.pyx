"""Noisy tests of integer counts against one threshold, many rounds at a time: AboveThreshold's inner loop.

While a count stays the same, the number of tests until one passes is geometric and is drawn at once, exactly:
in floating point where no rounding can matter, in multiprecision otherwise. See csrc/sparse_vector.h.
"""
import decimal
from fractions import Fraction

import numpy as np

from dpfast.kernels.inversion import context
from dpfast.kernels.own import own

from libc.stdint cimport int64_t, uint64_t
from dpfast.kernels.rationals cimport fraction
from dpfast.kernels.rng cimport Words, bitgen, bitgen_t


cdef extern from "sparse_vector.h" nogil:
    const uint64_t DPF_SPARSE_VECTOR_HORIZON
    ctypedef struct dpf_sparse_vector:
        int64_t threshold
        double rate
        bint one_sided
        int64_t count
        uint64_t failing
        bint passing
    ctypedef enum dpf_sparse_vector_outcome:
        DPF_SPARSE_VECTOR_PASSED
        DPF_SPARSE_VECTOR_UNDECIDED
    void dpf_sparse_vector_resume(dpf_sparse_vector *tests, uint64_t wait)
    dpf_sparse_vector_outcome dpf_sparse_vector_run(bitgen_t *rng, double guard, dpf_sparse_vector *tests,
                                                    const int64_t *count, const int64_t *length, size_t runs,
                                                    size_t *at, int64_t *made, uint64_t *word)


_guard_scale = 1.0  # tests widen the guard, so that multiprecision decides often
_LARGEST = 1 << 61  # thresholds and counts, so that their difference is at most 2**62
_TERM = 1 << 52


cdef class Tests:
    """Tests of counts against one threshold, each passing if count + noise >= threshold.

    The noise of every test is fresh, with P(x) proportional to exp(-abs(x) / scale), of all x or of x >= 0 only,
    exactly. One stream of words gives the same outcomes however the tests are cut into calls.

    Private state: it knows which tests to come at the present count will fail.

    Parameters
    ----------
    threshold : int
        At most 2**61 in absolute value. A noisy threshold comes with its noise.
    scale : Fraction, int or float
        In [2**-52, 2**52]; a float is the rational that it is.
    one_sided : bool
        Whether the noise is never below 0: geometric, not discrete Laplace.
    pending : (int, int, bool)
        The second part of another one's `state`, to go on from there.
    """

    cdef dpf_sparse_vector tests
    cdef object scale

    def __init__(self, threshold, scale, pending=(0, 0, False), *, one_sided=False):
        self.scale = fraction("scale", scale, "a positive number")
        if not Fraction(1, _TERM) <= self.scale <= _TERM:
            raise ValueError(f"scale must lie in [2**-52, 2**52], got {scale!r}")
        if abs(threshold) > _LARGEST:
            raise ValueError(f"threshold must lie within 2**61 of 0, got {threshold}")
        self.tests.threshold, self.tests.rate = threshold, float(1 / self.scale)
        self.tests.one_sided = one_sided
        self.tests.count, self.tests.failing, self.tests.passing = pending

    def test(self, count, rng):
        """Return whether one test of this count passes.

        Parameters
        ----------
        count : int
            At most 2**61 in absolute value.
        rng : numpy.random.Generator

        Returns
        -------
        bool
        """
        if not -_LARGEST <= count <= _LARGEST:
            raise ValueError(f"count must lie within 2**61 of 0, got {count}")
        cdef int64_t one = 1, counted = count
        if self.tests.failing and counted == self.tests.count:
            self.tests.failing -= 1
            return False
        return self._made(&counted, &one, 1, rng) is not None

    def run(self, counts, lengths, rng):
        """Test until a test passes: lengths[0] times counts[0], then lengths[1] times counts[1], and so on.

        Parameters
        ----------
        counts : array_like of int, shape (k,)
            At most 2**61 in absolute value, in any order.
        lengths : array_like of int, shape (k,)
            At least 0, in all at most 2**62.
        rng : numpy.random.Generator

        Returns
        -------
        int or None
            How many tests failed before one passed, None if all failed. A test that passed changes nothing: the
            next call goes on.

        Notes
        -----
        O(k + rounds / 2**32), one word of randomness a count.
        """
        cdef const int64_t[::1] count = _integers("counts", counts)
        cdef const int64_t[::1] length = _integers("lengths", lengths)
        if count.shape[0] != length.shape[0]:
            raise ValueError(f"counts and lengths must have one shape (k,), got {count.shape[0]} and "
                             f"{length.shape[0]} entries")
        if count.shape[0] == 0:
            return None
        if np.min(count) < -_LARGEST or np.max(count) > _LARGEST:
            raise ValueError(f"counts must lie within 2**61 of 0, got {np.min(count)} to {np.max(count)}")
        if np.min(length) < 0 or np.sum(length, dtype=np.float64) > 2.0**62:
            raise ValueError(f"lengths must be at least 0 and in all at most 2**62, got {np.min(length)} as the "
                             f"smallest and {np.sum(length, dtype=np.float64):.3g} in all")
        return self._made(&count[0], &length[0], count.shape[0], rng)

    def state(self):
        """Return (threshold, pending): with the law of the noise, all that later tests depend on besides `rng`."""
        return self.tests.threshold, (self.tests.count, self.tests.failing, self.tests.passing)

    def __reduce__(self):
        raise TypeError("Tests are private state and are not pickled or copied; see state()")

    cdef object _made(self, const int64_t *count, const int64_t *length, size_t runs, rng):
        cdef bitgen_t *bits = bitgen(rng)
        cdef size_t at = 0, i
        cdef int64_t made = 0
        cdef uint64_t word = 0
        cdef double guard = _guard_scale
        cdef dpf_sparse_vector_outcome outcome
        with rng.bit_generator.lock:
            while True:
                with nogil:
                    outcome = dpf_sparse_vector_run(bits, guard, &self.tests, count, length, runs, &at, &made, &word)
                if outcome != DPF_SPARSE_VECTOR_UNDECIDED:
                    break
                wait = _wait(self.tests.threshold - self.tests.count, 1 / self.scale, self.tests.one_sided, word,
                             Words(rng))
                dpf_sparse_vector_resume(&self.tests, wait)
        if outcome != DPF_SPARSE_VECTOR_PASSED:
            return None
        for i in range(at):
            made += length[i]
        return made


def _integers(name, values):
    values = np.asarray(values)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise ValueError(f"{name} must be integers of shape (k,), got {values.dtype} {values.shape}")
    if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
        raise ValueError(f"{name} must be below 2**63, got {values.max()}")
    return own(values, np.int64)


# ---- what doubles could not tell ---------------------------------------------------------------------------------

def _wait(gap, rate, one_sided, word, next_word):
    """Return min(N, horizon) for the U whose bits are `word`, next_word(), ...

    With q = exp(-rate), 1 - p is (1 + q - q**gap) / (1 + q) or q**(1 - gap) / (1 + q), or one-sided 1 - q**gap. A
    boundary (1 - p)**n = U, n >= 1, at a U of finitely many bits would make q a root of an integer polynomial; but q is transcendental
    (Lindemann), and the polynomial is not zero: U < 1. So boundaries are never met, and enough digits tell.
    """
    bits = 64
    while True:
        least = _floor(gap, rate, one_sided, word + 1, bits)
        if least == _floor(gap, rate, one_sided, word, bits):
            return least
        word, bits = word << 64 | next_word(), bits + 64


def _floor(gap, rate, one_sided, u, bits):
    """Return min(floor(ln U / ln(1 - p)), horizon) at U = u / 2**bits.

    ln U loses up to bits / 3 digits to cancellation and ln(1 - p) as many as p has leading zeros, at most
    (bits + 40) / 2.3 here; half of the digits remain and more.
    """
    if u == 0:
        return DPF_SPARSE_VECTOR_HORIZON
    if u == 1 << bits:
        return 0
    if gap * rate > bits + 40:  # p < 2**-(bits + 57) and -ln U >= 2**-bits
        return DPF_SPARSE_VECTOR_HORIZON
    digits = 80 + bits
    while True:
        with decimal.localcontext(context(digits)):
            q = _exponential(-rate)
            if gap > 0:
                hazard = -(1 - _exponential(-gap * rate) / (1 if one_sided else 1 + q)).ln()
            else:
                hazard = _decimal((1 - gap) * rate) + (1 + q).ln()
            exact = -(decimal.Decimal(u) / (1 << bits)).ln() / hazard
            slack = exact * decimal.Decimal(10) ** -(digits // 2)
            low, high = exact - slack, exact + slack
            if low >= DPF_SPARSE_VECTOR_HORIZON:
                return DPF_SPARSE_VECTOR_HORIZON
            if int(low) == int(high):
                return int(low)
        digits *= 2


def _decimal(x):
    return decimal.Decimal(x.numerator) / x.denominator


def _exponential(x):
    return _decimal(x).exp()

"""Exact draws with probability proportional to exp(exponent * score), for integer scores.

One pass sums integer bounds of the weights by blocks of scores; a draw picks a candidate by its bound and rejects it as
often as the bound lies above the weight: no outcome's probability is moved by rounding and none underflows to
impossible. See csrc/levels.h.
"""
import math
import operator
from fractions import Fraction

import numpy as np

from dpfast.kernels.inversion import coin
from dpfast.kernels.own import of_64_bits

from libc.stdint cimport int64_t, uint32_t, uint64_t
from dpfast.kernels.arrays cimport address
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level
from dpfast.kernels.rationals cimport fraction, nearest_double
from dpfast.kernels.rng cimport Words, bitgen, bitgen_t


cdef extern from "levels.h" nogil:
    enum: DPF_LEVELS_BLOCK, DPF_LEVELS_SHARE, DPF_LEVELS_SCALE
    ctypedef struct dpf_levels:
        const void *scores
        size_t n, size
        bint lowest, mirrored
        double exponent
        float rate
        uint64_t cap
        unsigned drop
        float share_rate
        size_t blocks, entries
        int64_t *best
        uint64_t *mass
        uint64_t *upto
        int64_t peak
        int shift
    ctypedef struct dpf_levels_trial:
        uint64_t draw
        uint32_t entry, rank
    ctypedef struct dpf_levels_round:
        dpf_levels_trial *trials
        size_t next, size, left
    ctypedef struct dpf_levels_coin:
        uint64_t gap, mass, bound, share, word
    bint dpf_levels_scan(dpf_levels *levels)
    void dpf_levels_rank(dpf_levels *levels)
    uint64_t dpf_levels_weigh(dpf_levels *levels, size_t first, size_t last)
    void dpf_levels_start(dpf_levels_round *round, size_t m)
    bint dpf_levels_draw(bitgen_t *rng, const dpf_levels *levels, double guard, dpf_levels_round *round, int64_t *drawn,
                         dpf_levels_coin *coin)
    void dpf_levels_toss(dpf_levels_round *round, bint accepted)

cdef extern from "draw.h" nogil:
    void dpf_draw_below_each(bitgen_t *rng, const uint64_t *n, size_t size, uint64_t *out)

dpf_cpu_share(shared_level())

_DTYPES = tuple(np.dtype(f"i{size}") for size in (1, 2, 4, 8))

_guard_scale = 1.0  # tests widen the guard, so that multiprecision decides often


cdef class _Entries:
    """Candidates in entries: blocks of stored scores, and others[i] further candidates of score values[i] each."""

    cdef dpf_levels state
    cdef object scores, exponent, arrays

    def __init__(self, scores, exponent, mirrored, values, others):
        cdef int64_t[::1] best
        cdef uint64_t[::1] mass, upto
        self.exponent = abs(exponent)
        self.state.mirrored, self.state.lowest = mirrored, exponent < 0
        self.state.n, self.state.blocks = len(scores), -(-len(scores) // DPF_LEVELS_BLOCK)
        self.state.entries = self.state.blocks + len(others)
        best, mass, upto = self.arrays = (
            np.empty(self.state.entries, np.int64), np.empty(self.state.entries, np.uint64),
            np.empty(self.state.entries, np.uint64))
        self.state.best, self.state.mass, self.state.upto = &best[0], &mass[0], &upto[0]
        self.arrays[0][self.state.blocks:] = values
        self.arrays[1][self.state.blocks:] = others
        self._set_rates(8 * scores.itemsize)
        if len(scores) and not self._scan(scores):
            if scores.itemsize == 8:
                raise ValueError("scores must be above -2**63 to be mirrored")
            self._set_rates(64)
            self._scan(scores.astype(np.int64))
        self._weigh(len(scores) * (2 if mirrored else 1))

    cdef _set_rates(self, bits):
        per_unit = float(min(self.exponent, Fraction(2)**100)) / math.log(2) * 2.0**23
        cap = min(2 ** max(bits, 32) - 1, 23 * self.exponent.denominator // self.exponent.numerator + 1)
        self.state.exponent = nearest_double(self.exponent)
        self.state.cap, self.state.drop = cap, max(0, cap.bit_length() - 31)
        self.state.rate = min(per_unit, 2.0**100)
        self.state.share_rate = min(per_unit * 2.0**self.state.drop, 32 * 2.0**23)

    cdef bint _scan(self, scores) except -1:
        cdef bint fit
        self.scores, self.state.size = scores, scores.itemsize
        self.state.scores = address(scores)
        with nogil:
            fit = dpf_levels_scan(&self.state)
        return fit

    cdef _weigh(self, stored):
        """Bounds in the least units for which their total surely stays below 2**63."""
        cdef uint64_t others
        self.state.shift = DPF_LEVELS_SCALE
        with nogil:
            dpf_levels_rank(&self.state)
            if self.state.blocks:
                self.state.upto[self.state.blocks - 1] = 0
            others = dpf_levels_weigh(&self.state, self.state.blocks, self.state.entries)
        self.state.shift = (stored + others).bit_length() - 32
        with nogil:
            dpf_levels_weigh(&self.state, 0, self.state.entries)

    def draw(self, size_t m, rng):
        """Return m drawn candidates: int64, shape (m,); the others' numbers follow those of the stored ones."""
        cdef int64_t[::1] drawn = np.empty(m, np.int64)
        cdef uint64_t[:, ::1] trials = np.empty((m, sizeof(dpf_levels_trial) // 8), np.uint64)
        cdef dpf_levels_round round
        cdef dpf_levels_coin toss
        cdef double guard = _guard_scale
        cdef bint done = False
        cdef bitgen_t *bits = bitgen(rng)
        round.trials = <dpf_levels_trial *>&trials[0, 0]
        dpf_levels_start(&round, m)
        while not done:
            with nogil:
                done = dpf_levels_draw(bits, &self.state, guard, &round, &drawn[0], &toss)
            if not done:
                dpf_levels_toss(&round, self._accepts(toss, rng))
        return np.asarray(drawn)

    def bounds(self):
        """Return best scores, masses and bounds of entries in units of 2**(shift - SCALE), and the shift, for tests."""
        best, mass, upto = self.arrays
        return best, mass, np.diff(upto, prepend=np.uint64(0)), self.state.shift

    cdef bint _accepts(self, dpf_levels_coin toss, rng) except -1:
        """Return the outcome of a coin that floating point left open."""
        cdef object mass = toss.mass, bound = toss.bound, word = toss.word  # products have more than 64 bits
        mass <<= DPF_LEVELS_SCALE - self.state.shift
        return coin(self.exponent * toss.gap, mass, bound * toss.share, word, Words(rng))


def _draw_below(counts, rng):
    cdef const uint64_t[::1] n = counts
    cdef uint64_t[::1] out = np.empty(len(counts), np.uint64)
    cdef bitgen_t *bits = bitgen(rng)
    with nogil:
        dpf_draw_below_each(bits, &n[0], n.shape[0], &out[0])
    return np.asarray(out)


# ---- public ------------------------------------------------------------------------------------------------------

@of_64_bits
def sample(scores, exponent, m, rng, *, mirrored=False, zeros=0):
    """Return m independent draws in the order drawn, with P(j) proportional to exp(exponent * scores[j]), exactly.

    Parameters
    ----------
    scores : ndarray of int8, int16, int32 or int64, shape (n,)
        1 <= n < 2**32, or n = 0 if there are zeros; any values (int64 above -2**63 if mirrored).
    exponent : Fraction, int or float
        Finite; a float is the rational that it is.
    m : int
        At least 0.
    rng : numpy.random.Generator
    mirrored : bool
        Whether each candidate j < n has a negated copy, candidate n + j of score -scores[j]; not stored.
    zeros : int
        Further candidates of score 0, not stored, 0 <= zeros < 2**53; counted after mirroring: a negated copy of
        one is another. A draw of any of them is the index n, or 2 n if mirrored, and the caller picks which, each
        equally likely.

    Returns
    -------
    ndarray of int64, shape (m,)

    Notes
    -----
    One read of the scores, and 256 of them again for each trial of a draw, of which it takes fewer than 1.2 on average;
    n / 10 bytes and 24 bytes a draw. One stream of words gives the same draws at every instruction-set level.
    """
    scores = np.asarray(scores)
    if scores.ndim != 1 or scores.dtype not in _DTYPES:
        raise ValueError(f"scores must be int8, int16, int32 or int64 of shape (n,), got {scores.dtype} {scores.shape}")
    if not 0 <= zeros < 2**53:
        raise ValueError(f"zeros must number at least 0 and fewer than 2**53, got {zeros}")
    if scores.size == 0 and zeros == 0:
        raise ValueError("scores is empty: there is nothing to draw from")
    if scores.size >= 2**32:
        raise ValueError(f"scores must number fewer than 2**32, got {scores.size}")
    t, m = fraction("exponent", exponent, "a finite number"), operator.index(m)
    if m < 0:
        raise ValueError(f"m must be at least 0, got {m}")
    bitgen(rng)  # refuses what is not a generator
    if m == 0 or scores.size == 0:
        return np.zeros(m, np.int64)
    scores = np.require(scores, None, "CA")
    if t.numerator == 0:
        stored = scores.size * (2 if mirrored else 1)
        with rng.bit_generator.lock:
            drawn = _draw_below(np.full(m, stored + zeros, np.uint64), rng)
        return np.minimum(drawn.astype(np.int64), stored)

    entries = _Entries(scores, t, mirrored, [0] if zeros else [], [zeros] if zeros else [])
    with rng.bit_generator.lock:
        return entries.draw(m, rng)


def draw(scores, exponent, rng, *, mirrored=False):
    """Return one draw as an int; see `sample`."""
    return int(sample(scores, exponent, 1, rng, mirrored=mirrored)[0])


def draw_counted(counts, exponent, rng):
    """Return one draw from counts[k] candidates of each score k.

    Parameters
    ----------
    counts : ndarray of uint64, shape (levels,)
        Not all zero; their sum below 2**53.
    exponent : Fraction, int or float
        As in `sample`: P(a candidate of score k) is proportional to exp(exponent * k), exactly.
    rng : numpy.random.Generator

    Returns
    -------
    level, rank : int
        The candidate's score, and its number, from 0, among the counts[level] of that score.
    """
    counts = np.asarray(counts)
    if counts.ndim != 1 or counts.dtype != np.uint64:
        raise ValueError(f"counts must be uint64 of shape (levels,), got {counts.dtype} {counts.shape}")
    t, total = fraction("exponent", exponent, "a finite number"), counts.sum(dtype=np.float64)
    if not 0 < total < 2**53:
        raise ValueError(f"counts must sum to a number from 1 to 2**53 - 1, got {total:.0f}")
    bitgen(rng)  # refuses what is not a generator
    levels = np.flatnonzero(counts)
    counted = counts[levels]
    entries = _Entries(np.empty(0, np.int64), t, False, levels, counted) if t else None
    with rng.bit_generator.lock:
        if entries is not None:
            place = entries.draw(1, rng)[0]
            return int(levels[place]), int(_draw_below(counted[place : place + 1], rng)[0])
        rank = int(_draw_below(np.array([int(total)], np.uint64), rng)[0])
    level = int(np.searchsorted(np.cumsum(counts), rank, side="right"))
    return level, rank - int(counts[:level].sum())

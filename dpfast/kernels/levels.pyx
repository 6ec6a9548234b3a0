"""Exact draws with probability proportional to exp(exponent * score), for integer scores.

One pass counts the scores at each level, guarded inversion draws a level, a part of a second pass finds a uniform
member of it: no outcome's probability is moved by rounding and none underflows to impossible. See csrc/levels.h.
"""
import math
import sys
from fractions import Fraction

import numpy as np

from dpfast.kernels.inversion import invert

from libc.stdint cimport int16_t, int32_t, int64_t, uint32_t, uint64_t
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level
from dpfast.kernels.rng cimport Words, bitgen, bitgen_t


cdef extern from "levels.h" nogil:
    enum: DPF_LANES
    void dpf_levels_extremes_16(const int16_t *score, size_t n, int16_t *low, int16_t *high)
    void dpf_levels_extremes_32(const int32_t *score, size_t n, int32_t *low, int32_t *high)
    void dpf_levels_extremes_64(const int64_t *score, size_t n, int64_t *low, int64_t *high)
    void dpf_levels_count_16(const int16_t *score, size_t n, int16_t best, bint negative, size_t levels, size_t block,
                             uint32_t *lanes, uint32_t *table)
    void dpf_levels_count_32(const int32_t *score, size_t n, int32_t best, bint negative, size_t levels, size_t block,
                             uint32_t *lanes, uint32_t *table)
    void dpf_levels_count_64(const int64_t *score, size_t n, int64_t best, bint negative, size_t levels, size_t block,
                             uint32_t *lanes, uint32_t *table)
    size_t dpf_levels_find_16(const int16_t *score, size_t n, int16_t value, size_t rank)
    size_t dpf_levels_find_32(const int32_t *score, size_t n, int32_t value, size_t rank)
    size_t dpf_levels_find_64(const int64_t *score, size_t n, int64_t value, size_t rank)
    void dpf_levels_locate(const uint32_t *table, size_t blocks, size_t levels, const uint32_t *level, size_t m,
                           uint64_t *rank, uint32_t *block)
    double dpf_levels_cumulate(const uint64_t *count, const uint64_t *gap, size_t levels, double t, double *cumulative)
    size_t dpf_levels_choose(bitgen_t *rng, const double *cumulative, size_t levels, double guard, bint open,
                             size_t start, size_t m, uint32_t *level, uint64_t *word)

cdef extern from "draw.h" nogil:
    void dpf_draw_below_each(bitgen_t *rng, const uint64_t *n, size_t size, uint64_t *out)

dpf_cpu_share(shared_level())

ctypedef fused score_t:
    int16_t
    int32_t
    int64_t

_guard_scale = 1.0  # tests widen the guard, so that multiprecision decides often


# ---- the scans, by score type ------------------------------------------------------------------------------------

def _extremes(const score_t[::1] score):
    cdef score_t low = 0, high = 0
    with nogil:
        if score_t is int16_t:
            dpf_levels_extremes_16(&score[0], score.shape[0], &low, &high)
        elif score_t is int32_t:
            dpf_levels_extremes_32(&score[0], score.shape[0], &low, &high)
        else:
            dpf_levels_extremes_64(&score[0], score.shape[0], &low, &high)
    return low, high


def _count(const score_t[::1] score, score_t best, bint negative, size_t levels, size_t block):
    """Cumulative counts by block and gap, shape (blocks, levels + 1)."""
    cdef uint32_t[:, ::1] lanes = np.empty((DPF_LANES, levels + 1), np.uint32)
    cdef uint32_t[:, ::1] table = np.empty((1 + (score.shape[0] - 1) // block, levels + 1), np.uint32)
    with nogil:
        if score_t is int16_t:
            dpf_levels_count_16(&score[0], score.shape[0], best, negative, levels, block, &lanes[0, 0], &table[0, 0])
        elif score_t is int32_t:
            dpf_levels_count_32(&score[0], score.shape[0], best, negative, levels, block, &lanes[0, 0], &table[0, 0])
        else:
            dpf_levels_count_64(&score[0], score.shape[0], best, negative, levels, block, &lanes[0, 0], &table[0, 0])
    return np.asarray(table)


def _find(const score_t[::1] score, size_t block, const uint32_t[::1] which, const score_t[::1] value,
          const uint64_t[::1] rank):
    """Index of score number rank[p] of those equal to value[p] in block which[p], for each p."""
    cdef int64_t[::1] at = np.empty(which.shape[0], np.int64)
    cdef size_t start, size, p, n = score.shape[0]
    with nogil:
        for p in range(<size_t>at.shape[0]):
            start = which[p] * block
            size = min(block, n - start)
            if score_t is int16_t:
                at[p] = start + dpf_levels_find_16(&score[start], size, value[p], rank[p])
            elif score_t is int32_t:
                at[p] = start + dpf_levels_find_32(&score[start], size, value[p], rank[p])
            else:
                at[p] = start + dpf_levels_find_64(&score[start], size, value[p], rank[p])
    return np.asarray(at)


# ---- the steps ---------------------------------------------------------------------------------------------------

class _Table:
    """Counts of one score vector by level; level k has members at gaps[k] from the best score.

    Levels are all gaps from 0 to where nothing can matter to a word outside the guard; what lies deeper is the
    rest. Where there would be more levels than scores, or all of them are asked for (`whole`), they are the
    distinct scores instead, and `scores` their ranks.
    """

    def __init__(self, scores, exponent, whole=False):
        low, high = _extremes(scores)
        self.original, self.exponent, self.negative = scores, abs(exponent), exponent < 0
        n, span = len(scores), int(high) - int(low)
        reach = math.ceil(math.ceil(46 + math.log(n)) / self.exponent)  # n exp(-t reach) < 2**-66
        levels = min(span, reach) + 1
        if whole or levels > max(1 << 16, 2 * n):
            values, ranks = np.unique(scores, return_inverse=True)
            levels = len(values)
            self.scores, self.best = ranks, 0 if self.negative else levels - 1
            self.gaps, _ = self._by_gap(values)
        else:
            self.scores, self.best = scores, low if self.negative else high
            self.gaps = np.arange(levels, dtype=np.uint64)
        self.block = max(1 << 14, 16 * levels)
        self.table = _count(self.scores, self.best, self.negative, levels, self.block)
        self.counts = self.table[-1, :levels].astype(np.uint64)
        self.rest = int(self.table[-1, levels])

    def _by_gap(self, values, counts=None):
        """Gaps of distinct rising scores, nearest first, with their counts."""
        order = slice(None) if self.negative else slice(None, None, -1)
        values = values[order].astype(np.int64).view(np.uint64)
        gaps = values - values[0] if self.negative else values[0] - values  # wraps to the right difference
        return gaps, None if counts is None else counts[order]

    def choose(self, m, rng):
        """Gaps of m drawn levels, (m,) uint64."""
        cdef const uint64_t[::1] counts = self.counts, gaps = self.gaps
        cdef double[::1] cumulative = np.empty(len(self.gaps))
        cdef uint32_t[::1] level = np.zeros(m, np.uint32)
        cdef size_t start = 0, size = m, levels = cumulative.shape[0]
        cdef bint open = self.rest > 0
        cdef uint64_t word = 0
        cdef bitgen_t *bits = bitgen(rng)
        cdef double guard = _guard_scale * dpf_levels_cumulate(&counts[0], &gaps[0], levels,
                                                               _nearest_float(self.exponent), &cumulative[0])
        decided, exact = {}, None  # draws left to multiprecision
        while True:
            with nogil:
                start = dpf_levels_choose(bits, &cumulative[0], levels, guard, open, start, size, &level[0], &word)
            if start == size:
                break
            if exact is None:
                exact = [part.tolist() for part in self._by_gap(*np.unique(self.original, return_counts=True))]
            decided[start] = exact[0][invert(*exact, self.exponent, word, Words(rng))]
            start += 1
        drawn = self.gaps[np.asarray(level)]
        for i, gap in decided.items():
            drawn[i] = gap
        return drawn

    def members(self, level, rank):
        """Index of member number rank[p] of level[p], for each p."""
        keys, position = level.astype(np.uint64) << np.uint64(32) | rank, slice(None)
        if len(keys) > 1:
            keys, position = np.unique(keys, return_inverse=True)
        level, rank = (keys >> np.uint64(32)).astype(np.uint32), keys & np.uint64(0xFFFFFFFF)
        if len(keys) * min(self.block, len(self.scores)) > 512 * len(self.scores):
            return self._sorted_members(level, rank)[position]
        cdef const uint32_t[:, ::1] table = self.table
        cdef const uint32_t[::1] levels = level
        cdef uint64_t[::1] ranks = rank
        cdef uint32_t[::1] block = np.empty(len(level), np.uint32)
        with nogil:
            dpf_levels_locate(&table[0, 0], table.shape[0], table.shape[1] - 1, &levels[0], levels.shape[0],
                              &ranks[0], &block[0])
        order = np.argsort(block)
        at = np.empty(len(keys), np.int64)
        at[order] = _find(self.scores, self.block, np.asarray(block)[order], self._score_at(level)[order], rank[order])
        return at[position]

    def _sorted_members(self, level, rank):
        """The same through one sort of all scores, for very many draws."""
        order = np.argsort(self.scores, kind="stable")
        first = np.searchsorted(self.scores, self._score_at(level), sorter=order)
        return order[first + rank.astype(np.intp)]

    def _score_at(self, level):
        step = level.astype(np.int64)
        return (np.int64(self.best) + (step if self.negative else -step)).astype(self.scores.dtype)


def _nearest_float(exponent):
    try:
        return float(exponent)
    except OverflowError:
        return sys.float_info.max  # exp(-t gap) is 0 for gap >= 1, as it should be


def _draw_below(counts, rng):
    cdef const uint64_t[::1] n = counts
    cdef uint64_t[::1] out = np.empty(len(counts), np.uint64)
    cdef bitgen_t *bits = bitgen(rng)
    with nogil:
        dpf_draw_below_each(bits, &n[0], n.shape[0], &out[0])
    return np.asarray(out)


# ---- public ------------------------------------------------------------------------------------------------------

def sample(scores, exponent, m, rng):
    """m independent draws in the order drawn, with P(j) proportional to exp(exponent * scores[j]), exactly.

    Parameters
    ----------
    scores : ndarray of int16, int32 or int64, shape (n,)
        1 <= n < 2**32; any values.
    exponent : Fraction, int or float
        Finite; a float is the rational that it is.
    m : int
        At least 0.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int64, shape (m,)

    Raises
    ------
    ValueError, TypeError
        Before anything is drawn.

    Notes
    -----
    One read of the scores for their range, one to count them, a part of one to find the members drawn; at most
    n / 4 bytes and 24 bytes a level. One stream of words gives the same draws at every instruction-set level.
    """
    scores = np.asarray(scores)
    if scores.ndim != 1 or scores.dtype not in (np.int16, np.int32, np.int64):
        raise ValueError(f"scores must be int16, int32 or int64 of shape (n,), got {scores.dtype} {scores.shape}")
    if scores.size == 0:
        raise ValueError("scores is empty: there is nothing to draw from")
    if scores.size >= 2**32:
        raise ValueError(f"scores must number fewer than 2**32, got {scores.size}")
    try:
        t = Fraction(exponent)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"exponent must be a finite number, got {exponent!r}") from None
    if m < 0:
        raise ValueError(f"m must be at least 0, got {m}")
    bitgen(rng)  # refuses what is not a generator
    if m == 0:
        return np.empty(0, np.int64)
    scores = np.ascontiguousarray(scores)
    if t == 0:
        with rng.bit_generator.lock:
            return _draw_below(np.full(m, scores.size, np.uint64), rng).astype(np.int64)

    table = _Table(scores, t)
    with rng.bit_generator.lock:
        gaps = table.choose(m, rng)
        if gaps.max() > table.gaps[-1]:  # a draw from the rest
            table = _Table(scores, t, whole=True)
        level = np.searchsorted(table.gaps, gaps)
        rank = _draw_below(table.counts[level], rng)
    return table.members(level, rank)


def draw(scores, exponent, rng):
    """One draw, as an int; see `sample`."""
    return int(sample(scores, exponent, 1, rng)[0])


def resample(scores, exponent, m, rng):
    """The histogram of m independent draws; see `sample`.

    Returns
    -------
    indices, counts : ndarray of int64, shape (k,), k <= min(m, n)
        The distinct indices drawn, increasing, and how often each was; counts sum to m.
    """
    return np.unique(sample(scores, exponent, m, rng), return_counts=True)

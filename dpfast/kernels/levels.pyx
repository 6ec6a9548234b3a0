"""Exact draws with probability proportional to exp(exponent * score), for integer scores.

One pass counts the scores at each level, guarded inversion draws a level, a part of a second pass finds a uniform
member of it: no outcome's probability is moved by rounding and none underflows to impossible. See csrc/levels.h.
"""
import math
import sys
from fractions import Fraction

import numpy as np

from dpfast.kernels.inversion import invert

from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint32_t, uint64_t
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level
from dpfast.kernels.rng cimport Words, bitgen, bitgen_t


cdef extern from "levels.h" nogil:
    enum: DPF_LANES, DPF_HIGHEST, DPF_LOWEST, DPF_MAGNITUDE
    void dpf_levels_extremes_8(const int8_t *score, size_t n, int8_t *low, int8_t *high)
    void dpf_levels_extremes_16(const int16_t *score, size_t n, int16_t *low, int16_t *high)
    void dpf_levels_extremes_32(const int32_t *score, size_t n, int32_t *low, int32_t *high)
    void dpf_levels_extremes_64(const int64_t *score, size_t n, int64_t *low, int64_t *high)
    void dpf_levels_count_8(const int8_t *score, size_t n, int64_t best, int order, size_t levels, size_t block,
                            uint32_t *lanes, uint32_t *table)
    void dpf_levels_count_16(const int16_t *score, size_t n, int64_t best, int order, size_t levels, size_t block,
                             uint32_t *lanes, uint32_t *table)
    void dpf_levels_count_32(const int32_t *score, size_t n, int64_t best, int order, size_t levels, size_t block,
                             uint32_t *lanes, uint32_t *table)
    void dpf_levels_count_64(const int64_t *score, size_t n, int64_t best, int order, size_t levels, size_t block,
                             uint32_t *lanes, uint32_t *table)
    size_t dpf_levels_find_8(const int8_t *score, size_t n, int8_t value, int8_t other, size_t rank)
    size_t dpf_levels_find_16(const int16_t *score, size_t n, int16_t value, int16_t other, size_t rank)
    size_t dpf_levels_find_32(const int32_t *score, size_t n, int32_t value, int32_t other, size_t rank)
    size_t dpf_levels_find_64(const int64_t *score, size_t n, int64_t value, int64_t other, size_t rank)
    void dpf_levels_locate(const uint32_t *table, size_t blocks, size_t levels, const uint32_t *level, size_t m,
                           uint64_t *rank, uint32_t *block)
    double dpf_levels_cumulate(const uint64_t *count, const uint64_t *gap, size_t levels, double t, double *cumulative)
    size_t dpf_levels_choose(bitgen_t *rng, const double *cumulative, size_t levels, double guard, bint open,
                             size_t start, size_t m, uint32_t *level, uint64_t *word)

cdef extern from "draw.h" nogil:
    void dpf_draw_below_each(bitgen_t *rng, const uint64_t *n, size_t size, uint64_t *out)

dpf_cpu_share(shared_level())

ctypedef fused score_t:
    int8_t
    int16_t
    int32_t
    int64_t

_DTYPES = tuple(np.dtype(f"i{size}") for size in (1, 2, 4, 8))

_guard_scale = 1.0  # tests widen the guard, so that multiprecision decides often


# ---- the scans, by score type ------------------------------------------------------------------------------------

def _extremes(const score_t[::1] score):
    cdef score_t low = 0, high = 0
    with nogil:
        if score_t is int8_t:
            dpf_levels_extremes_8(&score[0], score.shape[0], &low, &high)
        elif score_t is int16_t:
            dpf_levels_extremes_16(&score[0], score.shape[0], &low, &high)
        elif score_t is int32_t:
            dpf_levels_extremes_32(&score[0], score.shape[0], &low, &high)
        else:
            dpf_levels_extremes_64(&score[0], score.shape[0], &low, &high)
    return low, high


def _count(const score_t[::1] score, int64_t best, int order, size_t levels, size_t block):
    """Cumulative counts by block and gap, shape (blocks, levels + 1)."""
    cdef uint32_t[:, ::1] lanes = np.empty((DPF_LANES, levels + 1), np.uint32)
    cdef uint32_t[:, ::1] table = np.empty((1 + (score.shape[0] - 1) // block, levels + 1), np.uint32)
    with nogil:
        if score_t is int8_t:
            dpf_levels_count_8(&score[0], score.shape[0], best, order, levels, block, &lanes[0, 0], &table[0, 0])
        elif score_t is int16_t:
            dpf_levels_count_16(&score[0], score.shape[0], best, order, levels, block, &lanes[0, 0], &table[0, 0])
        elif score_t is int32_t:
            dpf_levels_count_32(&score[0], score.shape[0], best, order, levels, block, &lanes[0, 0], &table[0, 0])
        else:
            dpf_levels_count_64(&score[0], score.shape[0], best, order, levels, block, &lanes[0, 0], &table[0, 0])
    return np.asarray(table)


def _find(const score_t[::1] score, int64_t first, int order, size_t block, const uint32_t[::1] which,
          const uint32_t[::1] slot, const uint64_t[::1] rank):
    """Index of score number rank[p] of those in column slot[p] and block which[p], for each p."""
    cdef int64_t[::1] at = np.empty(which.shape[0], np.int64)
    cdef size_t start, size, p, n = score.shape[0]
    cdef int64_t key
    cdef score_t value, other
    with nogil:
        for p in range(<size_t>at.shape[0]):
            start = which[p] * block
            size = min(block, n - start)
            key = first + slot[p] if order == DPF_LOWEST else first - slot[p]
            value = <score_t>key
            other = <score_t>-key if order == DPF_MAGNITUDE else value
            if score_t is int8_t:
                at[p] = start + dpf_levels_find_8(&score[start], size, value, other, rank[p])
            elif score_t is int16_t:
                at[p] = start + dpf_levels_find_16(&score[start], size, value, other, rank[p])
            elif score_t is int32_t:
                at[p] = start + dpf_levels_find_32(&score[start], size, value, other, rank[p])
            else:
                at[p] = start + dpf_levels_find_64(&score[start], size, value, other, rank[p])
    return np.asarray(at)


# ---- the steps ---------------------------------------------------------------------------------------------------

class _Table:
    """Candidates by level: counts[k] of them at gaps[k] from the best, found among the scores in column slots[k].

    Levels are all gaps from 0 to where nothing can matter to a word outside the guard; what lies deeper is the
    rest. Where there would be more levels than scores, or all of them are asked for (`whole`), they are the
    distinct scores instead, and `scores` their ranks.

    A column holds the scores of one value; if mirrored, of one magnitude, and serves the levels of both signs. The
    level of score zero holds its column once or twice, then the zeros that are not stored.
    """

    def __init__(self, scores, exponent, mirrored=False, zeros=0, whole=False):
        self.candidates, self.n = (scores, exponent, mirrored, zeros), len(scores)
        self.copies, self.zeros = 2 if mirrored else 1, zeros
        low, high = _extremes(scores)
        if mirrored:
            high = max(high, -low)
            low = -high
            if high == 2**63:
                raise ValueError("scores must be above -2**63 to be mirrored")
        elif zeros:
            low, high = min(low, 0), max(high, 0)
        self.negative = exponent.numerator < 0
        self.best, span = (low if self.negative else high), high - low
        nats = math.ceil(46 + math.log(self.copies * self.n + zeros))  # all but e**-nats < 2**-66 of the weight
        levels = min(span, -(-nats * exponent.denominator // abs(exponent.numerator))) + 1
        columns = min(levels, high + 1) if mirrored else levels
        if whole or columns > max(1 << 16, 2 * self.n):
            columns = self._rank(scores, mirrored)
            self.open, self.first, self.order = False, 0, DPF_LOWEST
        else:
            self.scores, self.open, self.first = scores, levels <= span, high if mirrored else self.best
            self.order = DPF_MAGNITUDE if mirrored else DPF_LOWEST if self.negative else DPF_HIGHEST
            self.slots = np.arange(levels)
            self.gaps = self.slots.view(np.uint64)
            if mirrored:
                self.slots = np.minimum(self.gaps, np.uint64(span) - self.gaps).view(np.int64)
        self.block = max(1 << 14, 16 * columns)
        self.table = _count(self.scores, self.first, self.order, columns, self.block)
        self.counts = self.table[-1, self.slots].astype(np.uint64)
        if mirrored or zeros:
            zero = self.gaps.searchsorted(np.uint64(abs(self.best)))
            if zero < len(self.gaps):
                self.counts[zero] = self.counts[zero] * np.uint64(self.copies) + np.uint64(zeros)

    def _rank(self, scores, mirrored):
        """Levels and columns by distinct scores; returns the number of columns."""
        keys = np.abs(scores.astype(np.int64)) if mirrored else scores
        column = np.unique(np.append(keys, keys.dtype.type(0)) if self.zeros else keys)
        self.scores = column.searchsorted(keys)
        values = np.unique([-column, column]) if mirrored else column
        values = values if self.negative else values[::-1]
        self.slots = column.searchsorted(np.abs(values) if mirrored else values)
        values = values.astype(np.int64).view(np.uint64)
        self.gaps = values - values[0] if self.negative else values[0] - values  # wraps to the right difference
        return len(column)

    def whole(self):
        """The same candidates with every level tabled."""
        return _Table(*self.candidates, whole=True)

    def choose(self, m, rng):
        """Gaps of m drawn levels, (m,) uint64."""
        def every():
            whole = self.whole()
            return whole.gaps, whole.counts

        return _choose(self.gaps, self.counts, self.candidates[1], self.open, m, rng, every)

    def members(self, level, rank):
        """Candidate number rank[p] of level[p], for each p."""
        if self.copies == 1 and self.zeros == 0:
            return self._stored(self.slots[level], rank)
        stored = self.table[-1, self.slots[level]].astype(np.uint64)
        copy, rank_in_copy = np.divmod(rank, np.maximum(stored, np.uint64(1)))
        drawn = np.full(len(level), self.copies * self.n)
        held = np.flatnonzero(rank < stored * np.uint64(self.copies))  # the others are zeros not stored
        if len(held):
            j = self._stored(self.slots[level[held]], rank_in_copy[held])
            drawn[held] = j
            if self.copies == 2:
                score, gap = self.candidates[0][j], self.gaps[level[held]]
                below = gap > np.uint64(abs(self.best))  # past zero, from the best
                negated = np.where(score == 0, copy[held] == 1, (score < 0) != (below != self.negative))
                drawn[held] += self.n * negated
        return drawn

    def _stored(self, slot, rank):
        """Index of score number rank[p] of those in column slot[p], for each p."""
        if len(rank) == 1:
            return self._located(slot.astype(np.uint32), rank)
        keys, position = np.unique(slot.view(np.uint64) << np.uint64(32) | rank, return_inverse=True)
        slot, rank = (keys >> np.uint64(32)).astype(np.uint32), keys & np.uint64(0xFFFFFFFF)
        many = len(keys) * min(self.block, self.n) > 512 * self.n
        return (self._sorted if many else self._located)(slot, rank)[position]

    def _located(self, slot, rank):
        """By bisection for its block, and a search there, block after block."""
        cdef const uint32_t[:, ::1] table = self.table
        cdef const uint32_t[::1] slots = slot
        cdef uint64_t[::1] ranks = rank
        cdef uint32_t[::1] block = np.empty(len(slot), np.uint32)
        with nogil:
            dpf_levels_locate(&table[0, 0], table.shape[0], table.shape[1] - 1, &slots[0], slots.shape[0],
                              &ranks[0], &block[0])
        if len(rank) == 1:
            return _find(self.scores, self.first, self.order, self.block, block, slot, rank)
        order = np.argsort(block)
        at = np.empty(len(rank), np.int64)
        at[order] = _find(self.scores, self.first, self.order, self.block, np.asarray(block)[order], slot[order],
                          rank[order])
        return at

    def _sorted(self, slot, rank):
        """By one sort of all scores, for very many draws."""
        keys, step = self.scores, slot.astype(np.int64)
        if self.order == DPF_MAGNITUDE:
            keys = np.abs(keys).view(f"u{keys.itemsize}")
        wanted = np.int64(self.first) + (step if self.order == DPF_LOWEST else -step)
        order = np.argsort(keys, kind="stable")
        return order[np.searchsorted(keys, wanted.astype(keys.dtype), sorter=order) + rank.astype(np.intp)]


def _choose(gaps, counts, exponent, bint open, m, rng, every):
    """Gaps of m drawn levels, (m,) uint64; `every` gives the gaps and counts of all, where a rest is left out."""
    cdef const uint64_t[::1] count = counts, gap = gaps
    cdef double[::1] cumulative = np.empty(len(gaps))
    cdef uint32_t[::1] level = np.zeros(m, np.uint32)
    cdef size_t start = 0, size = m, levels = cumulative.shape[0]
    cdef uint64_t word = 0
    cdef bitgen_t *bits = bitgen(rng)
    cdef double guard = _guard_scale * dpf_levels_cumulate(&count[0], &gap[0], levels, abs(_nearest_float(exponent)),
                                                           &cumulative[0])
    decided, exact = {}, None  # draws left to multiprecision
    while True:
        with nogil:
            start = dpf_levels_choose(bits, &cumulative[0], levels, guard, open, start, size, &level[0], &word)
        if start == size:
            break
        if exact is None:
            exact = [column.tolist() for column in every()]
        decided[start] = exact[0][invert(*exact, abs(exponent), word, Words(rng))]
        start += 1
    drawn = gaps[np.asarray(level)]
    for i, drawn_gap in decided.items():
        drawn[i] = drawn_gap
    return drawn


def _nearest_float(exponent):
    try:
        return float(exponent)
    except OverflowError:
        return sys.float_info.max  # exp(-t gap) is 0 for gap >= 1, as it should be


def _fraction(exponent):
    try:
        return Fraction(exponent)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"exponent must be a finite number, got {exponent!r}") from None


def _draw_below(counts, rng):
    cdef const uint64_t[::1] n = counts
    cdef uint64_t[::1] out = np.empty(len(counts), np.uint64)
    cdef bitgen_t *bits = bitgen(rng)
    with nogil:
        dpf_draw_below_each(bits, &n[0], n.shape[0], &out[0])
    return np.asarray(out)


# ---- public ------------------------------------------------------------------------------------------------------

def sample(scores, exponent, m, rng, *, mirrored=False, zeros=0):
    """m independent draws in the order drawn, with P(j) proportional to exp(exponent * scores[j]), exactly.

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
    if scores.ndim != 1 or scores.dtype not in _DTYPES:
        raise ValueError(f"scores must be int8, int16, int32 or int64 of shape (n,), got {scores.dtype} {scores.shape}")
    if not 0 <= zeros < 2**53:
        raise ValueError(f"zeros must number at least 0 and fewer than 2**53, got {zeros}")
    if scores.size == 0 and zeros == 0:
        raise ValueError("scores is empty: there is nothing to draw from")
    if scores.size >= 2**32:
        raise ValueError(f"scores must number fewer than 2**32, got {scores.size}")
    t = _fraction(exponent)
    if m < 0:
        raise ValueError(f"m must be at least 0, got {m}")
    bitgen(rng)  # refuses what is not a generator
    if m == 0 or scores.size == 0:
        return np.zeros(m, np.int64)
    scores = np.ascontiguousarray(scores)
    if t.numerator == 0:
        stored = scores.size * (2 if mirrored else 1)
        with rng.bit_generator.lock:
            drawn = _draw_below(np.full(m, stored + zeros, np.uint64), rng)
        return np.minimum(drawn.astype(np.int64), stored)

    table = _Table(scores, t, mirrored, zeros)
    with rng.bit_generator.lock:
        gaps = table.choose(m, rng)
        if gaps.max() > table.gaps[-1]:  # a draw from the rest
            table = table.whole()
        level = table.gaps.searchsorted(gaps)
        rank = _draw_below(table.counts[level], rng)
    return table.members(level, rank)


def draw(scores, exponent, rng, *, mirrored=False, zeros=0):
    """One draw, as an int; see `sample`."""
    return int(sample(scores, exponent, 1, rng, mirrored=mirrored, zeros=zeros)[0])


def resample(scores, exponent, m, rng, *, mirrored=False, zeros=0):
    """The histogram of m independent draws; see `sample`.

    Returns
    -------
    indices, counts : ndarray of int64, shape (k,), k <= m
        The distinct indices drawn, increasing, and how often each was; counts sum to m. The zeros that are not
        stored count as one index, the last.
    """
    return np.unique(sample(scores, exponent, m, rng, mirrored=mirrored, zeros=zeros), return_counts=True)


def draw_counted(counts, exponent, rng):
    """One draw from candidates known by their numbers alone: counts[k] of score k.

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

    Raises
    ------
    ValueError, TypeError
        Before anything is drawn.
    """
    counts = np.asarray(counts)
    if counts.ndim != 1 or counts.dtype != np.uint64:
        raise ValueError(f"counts must be uint64 of shape (levels,), got {counts.dtype} {counts.shape}")
    t, total = _fraction(exponent), counts.sum(dtype=np.float64)
    if not 0 < total < 2**53:
        raise ValueError(f"counts must sum to a number from 1 to 2**53 - 1, got {total:.0f}")
    bitgen(rng)  # refuses what is not a generator
    levels = np.flatnonzero(counts)
    levels = levels[::-1] if t > 0 else levels
    with rng.bit_generator.lock:
        if t.numerator == 0:
            rank = int(_draw_below(np.array([int(total)], np.uint64), rng)[0])
            level = int(np.searchsorted(np.cumsum(counts), rank, side="right"))
            return level, rank - int(counts[:level].sum())
        gaps, counted = np.abs(levels - levels[0]).astype(np.uint64), np.ascontiguousarray(counts[levels])
        gap = _choose(gaps, counted, t, False, 1, rng, lambda: (gaps, counted))[0]
        place = gaps.searchsorted(gap)
        return int(levels[place]), int(_draw_below(counted[place : place + 1], rng)[0])

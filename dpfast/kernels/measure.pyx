"""Dense measures in integers: weights that fall with a row's score, are capped, and have exactly the mass asked for.

A row of score s weighs ``table[s - threshold]`` units: the cap, ``table[0]``, up to the threshold, less above it. The measures
between one threshold and the next are reached row by row, so that there is one for every total. See csrc/measure.h.
"""
import math
from functools import partial

import numpy as np

from dpfast.kernels import reals
from dpfast.kernels.own import of_64_bits, own

from libc.stdint cimport int8_t, int32_t, int64_t, uint16_t
from dpfast.kernels.arrays cimport aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "measure.h" nogil:
    void dpf_measure_range(const int32_t *score, size_t n, int32_t *low, int32_t *high)
    void dpf_measure_count(const int32_t *score, size_t n, int bits, int32_t low, int64_t *count)
    int64_t dpf_measure_total(const int32_t *score, size_t n, const int32_t *table, size_t size, int64_t threshold,
                              int64_t *more)
    void dpf_measure_weights(const int32_t *score, const int8_t *sign, size_t n, const int32_t *table, size_t size,
                             int64_t threshold, int64_t excess, int32_t *weight)
    bint dpf_measure_pairs(const int32_t *table, size_t size, uint16_t *pairs)
    void dpf_measure_groups(const int32_t *table, size_t size, int bits, int64_t *sum)
    int64_t dpf_measure_look(const int32_t *score, size_t n, const uint16_t *pairs, size_t size, int64_t threshold,
                             int32_t *pair, int64_t *more)
    void dpf_measure_settle(const int8_t *sign, size_t n, int64_t excess, int32_t *weight)
    void dpf_measure_add(int32_t *score, const int8_t *sign, const float *margin, size_t n, float unit)

dpf_cpu_share(shared_level())

_COUNTED = 13  # bits of the scores that are counted: counts stay in the nearest caches
_TURNS = 4 + 35  # guesses of a threshold, and halvings of what is left: scores and levels of a table have 33 bits


@of_64_bits
def table(double decay, int cap):
    """Return the units of rows by how far s their scores are above the threshold: cap * exp(-decay * s), rounded down.

    Parameters
    ----------
    decay : float
        At least 1e-7.
    cap : int
        At least 1 and below 2**31.

    Returns
    -------
    ndarray of int32
        Falling from cap to 0.
    """
    if not 1e-7 <= decay < np.inf or cap < 1:
        raise ValueError(f"decay must be at least 1e-7 and cap at least 1, got {decay} and {cap}")
    units = np.floor(cap * reals.exp(-decay * np.arange(int(math.log(cap) / decay) + 2)))
    units[0], units[-1] = cap, 0
    return np.minimum.accumulate(units).astype(np.int32)


@of_64_bits
def project(const int32_t[::1] scores, const int8_t[::1] signs, const int32_t[::1] table, mass):
    """Return the signed weights, sign[i] times row i's units, of the measure whose units add up to `mass`.

    Parameters
    ----------
    scores : ndarray of int32, shape (n,)
    signs : ndarray of int8, shape (n,)
        -1 or 1.
    table : ndarray of int32
        As `table` makes it: falling from the cap to 0.
    mass : int
        In [0, n * cap].

    Returns
    -------
    ndarray of int32, shape (n,)

    Notes
    -----
    For given scores of all other rows, whatever the score of row i, all other weights move the same way: with equal masses
    their changes add up to that of row i. O(n + length of the table * log), or O(n log n + length of the table) where few
    rows lie far apart.

    References
    ----------
    Bun, Carmosino, Sorrell, Efficient, Noise-Tolerant, and Private Learning via Boosting, sections 3 and 4.
    """
    cdef size_t n = scores.shape[0]
    cdef int32_t[::1] weight
    cdef int64_t more
    if signs.shape[0] != scores.shape[0]:
        raise ValueError(f"signs must have shape ({n},), got ({signs.shape[0]},)")
    units = np.asarray(table)
    few = len(units) > 1 and 0 <= units[0] < 1 << 16
    pairs, falls = _pairs(table) if few else (None, len(units) > 1 and (units[1:] <= units[:-1]).all())
    if not falls or units[-1] != 0:
        raise ValueError(f"table must fall from the cap to 0, got {units[:4]}...")
    if not 0 <= mass <= n * int(units[0]):
        raise ValueError(f"mass must lie in [0, n * cap = {n * int(units[0])}], got {mass}")
    if not 0 < mass < n * int(units[0]):
        return np.multiply(np.asarray(signs), units[0] if mass else 0, dtype=np.int32)
    if not few:
        return weights(scores, signs, table, *_climb(mass, scores, partial(_sum, scores, table), units))
    out = np.empty(n, np.int32)
    _, more = _climb(mass, scores, partial(_look, scores, pairs, out), units)
    weight = out
    with nogil:
        dpf_measure_settle(&signs[0], n, more, &weight[0])
    return out


@of_64_bits
def units(const int32_t[::1] scores, const int32_t[::1] table, levels):
    """Return the total units of the rows at each of some thresholds; those of several tables add up.

    Parameters
    ----------
    scores : ndarray of int32, shape (n,)
    table : ndarray of int32
        As `table` makes it.
    levels : array_like of int, shape (k,)

    Returns
    -------
    ndarray of int64, shape (k,)
        Rising with the threshold.
    """
    if not scores.shape[0]:
        return np.zeros(len(levels), np.int64)
    total = _total(scores, np.asarray(table), *_range(scores))
    return np.array([total(level) for level in np.asarray(levels).tolist()], np.int64)


@of_64_bits
def weights(const int32_t[::1] scores, const int8_t[::1] signs, const int32_t[::1] table, threshold, excess):
    """Return the signed weights at a threshold, and so many units more, towards those at the next one, row by row.

    Parameters
    ----------
    scores, signs, table
        As in `project`.
    threshold : int
    excess : int
        At least 0; more than the rows would weigh at the next threshold is left over.

    Returns
    -------
    ndarray of int32, shape (n,)
    """
    cdef size_t n = scores.shape[0]
    cdef int64_t level = threshold, more = excess
    if signs.shape[0] != scores.shape[0] or more < 0:
        raise ValueError(f"signs must have shape ({n},) and excess be at least 0, got ({signs.shape[0]},) and {more}")
    weight = np.zeros(n, np.int32)
    cdef int32_t[::1] out = weight
    if n:
        aligned(&scores[0], sizeof(int32_t))
        aligned(&table[0], sizeof(int32_t))
        with nogil:
            dpf_measure_weights(&scores[0], &signs[0], n, &table[0], table.shape[0], level, more, &out[0])
    return weight


def _pairs(const int32_t[::1] table):
    """Return the units of a table in 16 bits, for `_look`, and whether it falls."""
    pairs = np.empty(table.shape[0] + 2, np.uint16)
    cdef uint16_t[::1] out = pairs
    cdef bint falls
    aligned(&table[0], sizeof(int32_t))
    with nogil:
        falls = dpf_measure_pairs(&table[0], table.shape[0], &out[0])
    return pairs, falls


def _look(const int32_t[::1] scores, const uint16_t[::1] pairs, int32_t[::1] out, int64_t threshold):
    """Return the units of all rows at a threshold, and how many more they are at the next; put those of each into `out`."""
    cdef int64_t here, more = 0
    with nogil:
        here = dpf_measure_look(&scores[0], scores.shape[0], &pairs[0], pairs.shape[0] - 2, threshold, &out[0], &more)
    return here, more


def _sum(const int32_t[::1] scores, const int32_t[::1] table, int64_t threshold):
    """Return the units of all rows at a threshold, and how many more they are at the next."""
    cdef int64_t here, more = 0
    aligned(&table[0], sizeof(int32_t))
    with nogil:
        here = dpf_measure_total(&scores[0], scores.shape[0], &table[0], table.shape[0], threshold, &more)
    return here, more


def _total(const int32_t[::1] scores, units, low, high):
    """Return the function from a threshold to the total units there, of scores from `low` to `high`."""
    if high - low >= 4 * len(scores):
        return _of_sorted(np.sort(scores), units)
    return _of_counts(_counts(scores, 0, low, high - low + 1), low, units.astype(np.int64))


def _range(const int32_t[::1] scores):
    """Return the lowest and the highest score."""
    cdef size_t n = scores.shape[0]
    cdef int32_t low = 0, high = 0
    aligned(&scores[0], sizeof(int32_t))
    with nogil:
        dpf_measure_range(&scores[0], n, &low, &high)
    return int(low), int(high)


def _counts(const int32_t[::1] scores, int bits, int32_t low, int64_t size):
    """Return the number of rows by their scores without the last `bits`, from `low` on."""
    counts = np.zeros(size, np.int64)
    cdef int64_t[::1] count = counts
    with nogil:
        dpf_measure_count(&scores[0], scores.shape[0], bits, low, &count[0])
    return counts


def _of_counts(counts, low, units):
    """Return the function from a threshold to the total of rows whose scores are close together, by their counts."""
    capped, size = np.cumsum(counts), len(units)

    def total(threshold):
        threshold -= low
        first = max(0, threshold + 1)
        last = min(len(counts), threshold + size)
        inside = counts[first:last] @ units[first - threshold:last - threshold] if first < last else 0
        return inside + (capped[min(threshold, len(counts) - 1)] * units[0] if threshold >= 0 else 0)

    return total


def _of_sorted(scores, units):
    """Return the function from a threshold to the total of rows whose scores are far apart."""
    scores, size, cap = scores.astype(np.int64), len(units), int(units[0])

    def total(threshold):
        first, last = np.searchsorted(scores, (threshold + 1, threshold + size))
        return int(first) * cap + int(units[scores[first:last] - threshold].sum(dtype=np.int64))

    return total


def _climb(mass, const int32_t[::1] scores, look, units):
    """Return the last threshold of at most `mass` units, less than all, and what is missing; looked at last.

    ``look(threshold)`` returns the units there, and how many more they are at the next threshold.
    """
    first, high = _range(scores)
    low, guess = first - len(units) - 1, _guess(mass, scores, units, first, high)
    for turn in range(_TURNS):
        threshold = min(max(guess, low), high - 1)
        here, more = look(threshold)
        if here <= mass < here + more:
            return threshold, mass - here
        low, high = (low, threshold) if mass < here else (threshold + 1, high)
        guess = threshold + (mass - here) // more if more and turn < 4 else (low + high) // 2
    raise ValueError("scores must stay as they are while they are read")


def _guess(mass, const int32_t[::1] scores, units, low, high):
    """Return a threshold near the last of at most `mass` units, or itself if few scores are possible or rows are few."""
    bits = max(0, (high - low).bit_length() - _COUNTED)
    if not bits or high - low >= 4 * len(scores):
        return _last(_total(scores, units, low, high), low - len(units) - 1, high, mass)[0]
    groups = np.append(int(units[0]) << bits, _groups(units, bits))  # 2**bits times the mean of scores whose high bits agree
    first, last = low >> bits, high >> bits
    counts = _counts(scores, bits, first, last - first + 1)
    at, missing, step = _last(_of_counts(counts, first, groups), first - len(groups) - 1, last + 1, mass << bits)
    return (at + 1 << bits) + (int(missing) << bits) // max(1, int(step))


def _groups(const int32_t[::1] units, int bits):
    """Return the sums of 2**bits entries after one another."""
    sums = np.empty((units.shape[0] >> bits) + 1, np.int64)
    cdef int64_t[::1] out = sums
    out[units.shape[0] >> bits] = 0
    with nogil:
        dpf_measure_groups(&units[0], units.shape[0], bits, &out[0])
    return sums


def _last(total, low, high, mass):
    """Return the last threshold from `low` below `high` of at most `mass` units, what is missing, and the step after it."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if total(middle) <= mass else (low, middle)
    return low, mass - total(low), total(high) - total(low)


def add(int32_t[::1] scores, const int8_t[::1] signs, const float[::1] margins, float unit):
    """Add signs[i] * round(unit * margins[i]) to scores[i].

    Parameters
    ----------
    scores : ndarray of int32, shape (n,)
        Changed in place; must not come within `unit` of the ends of its type.
    signs : ndarray of int8, shape (n,)
    margins : ndarray of float32, shape (n,)
        In [-1, 1].
    unit : float
        At most 2**21.
    """
    cdef size_t n = scores.shape[0]
    if signs.shape[0] != scores.shape[0] or margins.shape[0] != scores.shape[0] or not 0 < unit <= 1 << 21:
        raise ValueError(f"scores, signs and margins must have one length and unit lie in (0, 2**21], got {n}, "
                         f"{signs.shape[0]}, {margins.shape[0]} and {unit}")
    if n:
        aligned(&scores[0], sizeof(int32_t))
        aligned(&margins[0], sizeof(float))
        with nogil:
            dpf_measure_add(&scores[0], &signs[0], &margins[0], n, unit)

"""Dense measures in integers: weights that fall with a row's score, are capped, and have exactly the mass asked for.

A row of score s weighs ``table[s - threshold]`` units: the cap, ``table[0]``, up to the threshold, less above it. The measures
between one threshold and the next are reached row by row, so that there is one for every total. See csrc/measure.h.
"""
import math

import numpy as np

from dpfast.kernels import reals
from dpfast.kernels.own import of_64_bits, own

from libc.stdint cimport int8_t, int32_t, int64_t
from dpfast.kernels.arrays cimport aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "measure.h" nogil:
    void dpf_measure_range(const int32_t *score, size_t n, int32_t *low, int32_t *high)
    void dpf_measure_count(const int32_t *score, size_t n, int32_t low, int64_t *count)
    int64_t dpf_measure_total(const int32_t *score, size_t n, const int32_t *table, size_t size, int64_t threshold,
                              int64_t *more)
    void dpf_measure_weights(const int32_t *score, const int8_t *sign, size_t n, const int32_t *table, size_t size,
                             int64_t threshold, int64_t excess, int32_t *weight)
    void dpf_measure_add(int32_t *score, const int8_t *sign, const float *margin, size_t n, float unit)

dpf_cpu_share(shared_level())

_COUNTED = 14  # bits of the scores that are counted: counts stay in the nearest caches
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
    if signs.shape[0] != scores.shape[0]:
        raise ValueError(f"signs must have shape ({n},), got ({signs.shape[0]},)")
    units = np.asarray(table)
    if len(units) < 2 or units[-1] != 0 or (units[1:] > units[:-1]).any():
        raise ValueError(f"table must fall from the cap to 0, got {units[:4]}...")
    if not 0 <= mass <= n * int(units[0]):
        raise ValueError(f"mass must lie in [0, n * cap = {n * int(units[0])}], got {mass}")
    return weights(scores, signs, table, *_threshold(scores, table, mass)) if mass else np.zeros(n, np.int32)


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
    total = _total(scores, np.asarray(table))
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


def _total(const int32_t[::1] scores, units):
    """Return the function from a threshold to the total units there."""
    low, high = _range(scores)
    if high - low >= 4 * len(scores):
        return _of_sorted(np.sort(scores), units)
    return _of_counts(_counts(scores, low, high - low + 1), low, units)


def _range(const int32_t[::1] scores):
    """Return the lowest and the highest score."""
    cdef size_t n = scores.shape[0]
    cdef int32_t low = 0, high = 0
    aligned(&scores[0], sizeof(int32_t))
    with nogil:
        dpf_measure_range(&scores[0], n, &low, &high)
    return int(low), int(high)


def _counts(const int32_t[::1] scores, int32_t low, int64_t size):
    """Return the number of rows with each score from the lowest on."""
    counts = np.zeros(size, np.int64)
    cdef int64_t[::1] count = counts
    with nogil:
        dpf_measure_count(&scores[0], scores.shape[0], low, &count[0])
    return counts


def _of_counts(counts, low, units):
    """Return the function from a threshold to the total of rows whose scores are close together, by their counts."""
    capped, size, units = np.cumsum(counts), len(units), units.astype(np.int64)

    def total(threshold):
        threshold -= low
        first = max(0, threshold + 1)
        last = min(len(counts), threshold + size)
        inside = int(counts[first:last] @ units[first - threshold:last - threshold]) if first < last else 0
        return inside + (int(capped[min(threshold, len(counts) - 1)] * units[0]) if threshold >= 0 else 0)

    return total


def _of_sorted(scores, units):
    """Return the function from a threshold to the total of rows whose scores are far apart."""
    scores, size, cap = scores.astype(np.int64), len(units), int(units[0])

    def total(threshold):
        first, last = np.searchsorted(scores, (threshold + 1, threshold + size))
        return int(first) * cap + int(units[scores[first:last] - threshold].sum(dtype=np.int64))

    return total


def _threshold(const int32_t[::1] scores, const int32_t[::1] table, mass):
    """Return the largest threshold with at most `mass` units, and how many units are missing."""
    low, high = _range(scores)
    bits, units = max(0, (high - low).bit_length() - _COUNTED), np.asarray(table)
    if not bits or high - low >= 4 * len(scores):
        total = _total(scores, units)
        return (high, mass - total(high)) if total(high) <= mass else _last(total, low - len(units) - 1, high, mass)[:2]
    if len(scores) * int(units[0]) <= mass:
        return high, mass - len(scores) * int(units[0])
    first, last = low >> bits, high >> bits
    counts = _counts(np.right_shift(scores, bits), first, last - first + 1)
    coarse = _of_counts(counts, first, units[::1 << bits])
    at, missing, step = _last(coarse, first - (len(units) >> bits) - 2, last, mass)
    guess = (at << bits) + (missing << bits) // max(1, step) + (1 << bits - 1)
    return _climb(scores, table, low - len(units) - 1, high, mass, guess)


def _last(total, low, high, mass):
    """Return the last threshold from `low` below `high` of at most `mass` units, what is missing, and the step after it."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if total(middle) <= mass else (low, middle)
    return low, mass - total(low), total(high) - total(low)


def _climb(const int32_t[::1] scores, const int32_t[::1] table, low, high, mass, guess):
    """Return the last threshold from `low` below `high` of at most `mass` units, and what is missing; near to a guess."""
    cdef size_t n = scores.shape[0], size = table.shape[0]
    cdef int64_t threshold, here, more = 0
    aligned(&table[0], sizeof(int32_t))
    for turn in range(_TURNS):
        threshold = min(max(guess, low), high - 1)
        with nogil:
            here = dpf_measure_total(&scores[0], n, &table[0], size, threshold, &more)
        if here <= mass < here + more:
            return int(threshold), mass - here
        low, high = (low, int(threshold)) if mass < here else (int(threshold) + 1, high)
        guess = threshold + (mass - here) // more if more and turn < 4 else (low + high) // 2
    raise ValueError("scores must stay as they are while they are read")


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

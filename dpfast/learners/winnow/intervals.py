"""Random intervals of the rows of a table in memory or in parts, and the sums of intervals.

The interval of row i follows from a secret key and from i, by a separate generator for each block of rows. So it
depends neither on the parts nor on the values of rows, which suffices for privacy under replace. Under add-remove,
removing a row shifts the rows behind it into the intervals of their predecessors, and privacy relies on the key, which
is drawn with the noise and never released: intervals are independent and uniform, so that removing the interval of the
removed row gives the other rows the same distribution that they have without it. Given all intervals, one row of one
interval is new.
"""

import numpy as np
from randomgen import ChaCha

from dpfast.learners.winnow.scores import score_vector
from dpfast.tables.code_bits import packed_codes
from dpfast.tables.signed_rows import signed_rows

KEY_BYTES = 32
_BLOCK = 1 << 16  # rows whose intervals are drawn together
_APART = 1 << 40  # distance of the counters at which two blocks begin: no stream reaches the next


def interval_numbers(key, first, n, intervals):
    """Return the intervals of rows first, ..., first + n - 1: unsigned integers, shape (n,).

    Parameters
    ----------
    key : int
        In [0, 2**256).
    first, n, intervals : int
    """
    dtype, blocks = np.min_scalar_type(intervals - 1), []
    for block in range(first // _BLOCK, -(-(first + n) // _BLOCK)):
        rng = np.random.Generator(ChaCha(key=key, counter=block * _APART))
        blocks.append(rng.integers(intervals, size=_BLOCK, dtype=np.uint32).astype(dtype))
    start = first % _BLOCK
    return np.concatenate([np.empty(0, dtype), *blocks])[start : start + n]


def signed(X, **declared):
    """Return a table as rows of integers; codes are read as bits."""
    return signed_rows(packed_codes(X), **declared)


def in_order(parts):
    """Return the rows of a table in memory, and the signs of their labels."""
    return parts.only.rows, _signs(parts.only.labels)


def row_count(piece):
    return len(piece.labels)


def counting_rows(piece, first, key, k, plan, hypothesis):
    """Return how many rows of interval k of a piece count towards the update; `first` numbers its first row."""
    return len(_counting(piece, first, key, k, plan, hypothesis)[2])


def interval_sum(piece, own, key, k, plan, hypothesis):
    """Return the sum of the counting rows of interval k of a piece: of all, or of the first so many.

    Parameters
    ----------
    own : tuple (first, most)
        The number of the piece's first row, and the largest number of rows that count; None for all.
    """
    first, most = own
    rows, signs, chosen = _counting(piece, first, key, k, plan, hypothesis)
    scores = score_vector(rows)
    scores.add(rows, signs, chosen[:most], plan.fit_intercept)
    return scores.entered()


def _counting(piece, first, key, k, plan, hypothesis):
    """Return the rows of an interval, the signs of their labels, and a mask of those that count."""
    known, numbers = piece.memo.get(_counting, (None, None))
    if known != (key, first):
        numbers = interval_numbers(key, first, len(piece.labels), plan.n_updates)
        piece.memo[_counting] = (key, first), numbers
    chosen = np.flatnonzero(numbers == k)
    rows, signs = piece.rows[chosen], _signs(piece.labels[chosen])
    counting = plan.counts(hypothesis.votes(rows), signs, hypothesis.draws * rows.unit)
    return rows, signs, np.flatnonzero(counting)


def _signs(labels):
    return (2 * labels - 1).astype(np.int8)

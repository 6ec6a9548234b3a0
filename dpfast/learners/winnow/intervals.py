"""The intervals of a table that is learned from at once: each row in one at random, and their sums where the rows are.

The interval of row i follows from a secret key and from i: a generator of its own for each block of rows. So it does
not depend on parts, and not on what rows are. Under replace privacy needs no more. Under add-remove a row less shifts
those behind it into the intervals of their predecessors, and privacy rests on the key, which is drawn with the noise
and released to no one: intervals are independent and uniform, so that to leave out the interval of the row that is left
out gives the other rows the very law that they have without it. Given all of them, one row of one interval is new.
"""

import numpy as np
from randomgen import ChaCha

from dpfast.learners.winnow.scores import score_vector
from dpfast.tables.code_bits import packed_codes
from dpfast.tables.signed_rows import signed_rows

KEY_BYTES = 32
_BLOCK = 1 << 16  # rows whose intervals are drawn together
_APART = 1 << 40  # of the counters at which two of them begin: no stream reaches the next


def interval_numbers(key, first, n, intervals):
    """The intervals of rows first, ..., first + n - 1: unsigned integers, shape (n,).

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
    """A table as rows of integers; of codes the bits."""
    return signed_rows(packed_codes(X), **declared)


def in_order(parts):
    """The rows of a table in memory, and the signs of their labels."""
    return parts.only.rows, _signs(parts.only.labels)


def row_count(piece):
    return len(piece.labels)


def counting_rows(piece, first, key, k, plan, hypothesis):
    """How many rows of interval k of a piece, whose first row has this number, count towards the update."""
    return len(_counting(piece, first, key, k, plan, hypothesis)[2])


def interval_sum(piece, own, key, k, plan, hypothesis):
    """What interval k of a piece adds to the scores: of its counting rows the first so many, or all of them.

    Parameters
    ----------
    own : tuple (first, most)
        The number of the piece's first row, and how many rows count at most, None for all.
    """
    first, most = own
    rows, signs, chosen = _counting(piece, first, key, k, plan, hypothesis)
    scores = score_vector(rows)
    scores.add(rows, signs, chosen[:most], plan.fit_intercept)
    return scores.entered()


def _counting(piece, first, key, k, plan, hypothesis):
    """The rows of an interval, the signs of their labels, and which of them count."""
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

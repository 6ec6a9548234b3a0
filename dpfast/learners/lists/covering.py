"""Greedy cover over parts: what is left of the rows, counted where they are.

A part is told the literals that were drawn so far, which are public, and answers with the counts, by class and feature,
of its rows that none of them covers. It remembers the rows that were left, and counts only those that leave.
"""

import numpy as np

from dpfast.kernels import bits
from dpfast.kernels.cover import count_rows
from dpfast.learners.lists.rule import packed
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.sparse_bits import SparseBits


class Rest:
    """The rows of all parts that no literal covers yet, as `dpfast.kernels.cover.Counts` reads them.

    Parameters
    ----------
    parts : MemoryParts or EngineParts
        Of pieces whose rows are CodeBits, SparseBits or BitMatrix.
    n, classes : int

    Attributes
    ----------
    first : ndarray of int64, shape (classes, features)
        Counts of all rows.
    totals : ndarray of int64, shape (classes,)
    """

    def __init__(self, parts, n, classes):
        self._parts, self._n, self._classes, self._literals = parts, n, classes, ()
        self.first, self.totals = self._ask(())

    def __len__(self):
        return self._n

    def cover(self, feature, negated):
        """Counts and totals of what a further literal leaves."""
        self._literals += ((feature, negated),)
        return self._ask(self._literals)

    def cover_last(self, feature, negated):
        """Totals of what a further literal leaves."""
        return self._parts.sum(_left_by_class, (*self._literals, (feature, negated)), self._classes)

    def _ask(self, literals):
        answer = self._parts.sum(_left_by_feature, literals, self._classes)
        return np.ascontiguousarray(answer[:, :-1]), answer[:, -1].copy()


class _Known:
    """What a piece remembers: the rows that some literals leave, packed, and their counts."""

    def __init__(self, literals, left, counts=None):
        self.literals, self.left, self.counts = literals, left, counts

    @classmethod
    def of(cls, piece, literals):
        """What is known of some of the first of these literals, or of none."""
        known = piece.memo.get(cls)
        if known is None or literals[: len(known.literals)] != known.literals:
            return cls((), packed(np.ones(len(piece.labels), bool)))
        return known

    def left_by(self, piece, literals):
        """The rows that all these literals leave, packed."""
        left = self.left.copy()
        for feature, negated in literals[len(self.literals) :]:
            (bits.bitwise_and if negated else bits.bitwise_andnot)(left, piece.rows.column(feature), left)
        return left


def _left_by_feature(piece, literals, classes):
    """Counts of the rows that are left, shape (classes, features), and one column more of all of them."""
    known = _Known.of(piece, literals)
    left = known.left_by(piece, literals)
    newly = np.empty_like(left)
    covered = bits.bitwise_andnot(known.left, left, newly)
    count = _of_codes if isinstance(piece.rows, CodeBits | SparseBits) else _of_bits
    if known.counts is None or covered > bits.popcount(left):
        counts = count(piece, classes, left if literals else None)
    else:
        counts = known.counts - count(piece, classes, newly) if covered else known.counts
    piece.memo[_Known] = _Known(literals, left, counts)
    return np.column_stack([counts, _by_class(piece, left, classes)])


def _left_by_class(piece, literals, classes):
    return _by_class(piece, _Known.of(piece, literals).left_by(piece, literals), classes)


def _by_class(piece, left, classes):
    if _by_class not in piece.memo:
        piece.memo[_by_class] = [packed(piece.labels == c) for c in range(classes)]
    both = np.empty_like(left)
    return np.array([bits.bitwise_and(left, of_label, both) for of_label in piece.memo[_by_class]], np.int64)


def _of_codes(piece, classes, mask):
    if _of_codes not in piece.memo:
        piece.memo[_of_codes] = piece.labels.astype(np.uint8 if classes <= 1 << 8 else np.uint16)
    return piece.rows.counts(piece.memo[_of_codes], classes, mask)


def _of_bits(piece, classes, mask):
    rows, labels = piece.rows.rows, piece.labels
    if mask is not None:
        chosen = bits.nonzero(mask)
        rows, labels = rows[chosen], labels[chosen]
    return counts_of_rows(rows, piece.rows.shape[1], labels, classes)


def counts_of_rows(rows, m, codes, classes):
    """`cover.count_rows` over blocks of rows, on threads."""
    blocks = slices(len(rows), max(4096, 4 * BLOCK_BYTES // (8 * bits.words(m))))  # many rows to a count of a column
    return sum(map_blocks(lambda block: count_rows(rows[block], m, codes[block], classes), blocks or [slice(0, 0)]))

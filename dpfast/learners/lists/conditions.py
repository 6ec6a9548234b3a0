"""What a rule may test, and the counts that greedy cover starts from."""

import numpy as np

from dpfast.kernels import bits, cover
from dpfast.learners.lists.rule import Literal, packed
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.conjunctions import conjunction_columns

CONSTANT = -1  # the kernel's name for the constant true
_FEW_READS = 64  # columns and counts read off the rows that cost about a transpose, and half the memory


class Conditions:
    """The features that rules over a table of bits test: its columns, or all conjunctions of a few literals.

    Parameters
    ----------
    table : BitMatrix or CodeBits
    conjunctions : int
        Most literals in a condition.
    negations : bool
        Whether "not x" is a literal.

    Attributes
    ----------
    count : int
        Features, each used by one rule at most.
    candidates : int
        Conditions: a feature counts twice if its negation is one too.
    """

    def __init__(self, table, conjunctions, negations):
        self._table, self._codes, self._negated = table, None, negations and conjunctions == 1
        if conjunctions == 1:
            self.count = table.shape[1]
        else:
            packed_bits = table.packed() if isinstance(table, CodeBits) else table
            self._columns, self._codes = conjunction_columns(packed_bits, conjunctions, negations)
            self.count = len(self._columns)
        self.candidates = (1 + self._negated) * self.count

    def rounds(self, max_rules):
        """Draws of a run: every feature may have its turn, then the constant true; `max_rules` may be None."""
        return min(self.count + 1, max_rules or self.count + 1)

    def counts(self, labels, rounds, exponent, weights, prior):
        """The `cover.Counts` of a run over rows with these `Labels`."""
        n, classes = len(labels.codes), len(labels.classes)
        of_label = np.stack([packed(labels.codes == c) for c in range(classes)])
        if isinstance(self._table, CodeBits) and self._codes is None:
            rows, columns = _Source(self._table, labels), None
        elif self._codes is not None:
            columns, rows = self._columns, bits.transpose(self._columns, n)
        else:
            rows = self._table.rows
            few = rounds + classes <= _FEW_READS
            columns = self._table.columns if self._table.has_columns or not few else None
        if isinstance(rows, _Source):
            first = rows.counts()
        elif columns is None:
            first = _counts_of_rows(rows, self.count, labels.codes, classes)
        else:
            first = _counts_of_columns(columns, n, of_label)
        return cover.Counts(rows, columns, of_label, first, exponent, weights, self._negated, prior)

    def literals(self, feature, negated):
        """The literals of a condition that was drawn."""
        if feature == CONSTANT:
            return ()
        if self._codes is None:
            return (Literal(int(feature), bool(negated)),)
        return tuple(Literal(int(code) // 2, bool(code % 2)) for code in self._codes[feature] if code >= 0)


class _Source:
    """Bits of codes with their labels, as `cover.Counts` reads them."""

    def __init__(self, table, labels):
        self._table, self._classes = table, len(labels.classes)
        self._labels = labels.codes.astype(np.uint8 if self._classes <= 1 << 8 else np.uint16)
        self.column = table.column

    def __len__(self):
        return len(self._table)

    def counts(self, mask=None):
        return self._table.counts(self._labels, self._classes, mask)


def _counts_of_columns(columns, n, of_label):
    """`cover.count` over blocks of columns, on threads."""
    blocks = slices(len(columns), max(64, BLOCK_BYTES // max(8, columns[:1].nbytes)))  # labels are checked in each
    return np.concatenate(map_blocks(lambda block: cover.count(columns[block], n, of_label), blocks), axis=1)


def _counts_of_rows(rows, m, codes, classes):
    """`cover.count_rows` over blocks of rows, on threads."""
    blocks = slices(len(rows), max(4096, 4 * BLOCK_BYTES // rows[:1].nbytes))  # many rows to a count of a column
    return sum(map_blocks(lambda block: cover.count_rows(rows[block], m, codes[block], classes), blocks))

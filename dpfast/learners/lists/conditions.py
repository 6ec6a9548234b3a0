"""What a rule may test, and the counts that greedy cover starts from."""

from functools import partial

import numpy as np

from dpfast.kernels import bits, cover
from dpfast.kernels.own import frozen
from dpfast.learners.lists.covering import Rest, counts_of_rows
from dpfast.learners.lists.rule import Literal, packed
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices
from dpfast.parts.piece import Piece
from dpfast.tables.bit_matrix import BitMatrix
from dpfast.tables.code_bits import CodeBits
from dpfast.tables.conjunctions import conjunction_columns
from dpfast.tables.sparse_bits import SparseBits

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
        self._made_of = conjunctions, negations
        if conjunctions == 1:
            self.count = table.shape[1]
        else:
            self._columns, self._codes = conjunction_columns(_packed(table), conjunctions, negations)
            self.count = len(self._columns)
        self.candidates = (1 + self._negated) * self.count

    def rounds(self, max_rules):
        """Draws of a run: every feature may have its turn, then the constant true; `max_rules` may be None."""
        return min(self.count + 1, max_rules or self.count + 1)

    def counts(self, parts, public, rounds, exponent, weights, prior):
        """The `cover.Counts` of a run over parts of a table of which this is `Public`."""
        n, classes = public.n_rows, len(public.classes)
        options = exponent, weights, self._negated, prior
        if parts.only is None or (isinstance(self._table, CodeBits | SparseBits) and self._codes is None):
            rest = Rest(parts if self._codes is None else parts.map(_conjoined, *self._made_of), n, classes)
            return cover.Counts(rest, None, None, rest.first, *options)
        codes = parts.only.labels
        of_label = np.stack([packed(codes == c) for c in range(classes)])
        if self._codes is not None:
            columns, rows = self._columns, bits.transpose(self._columns, n)
        else:
            rows = self._table.rows
            few = rounds + classes <= _FEW_READS
            columns = self._table.columns if self._table.has_columns or not few else None
        if columns is None:
            first = counts_of_rows(rows, self.count, codes, classes)
        else:
            first = _counts_of_columns(columns, n, of_label)
        return cover.Counts(rows, columns, of_label, first, *options)

    def literals(self, feature, negated):
        """The literals of a condition that was drawn."""
        if feature == CONSTANT:
            return ()
        if self._codes is None:
            return (Literal(int(feature), bool(negated)),)
        return tuple(Literal(int(code) // 2, bool(code % 2)) for code in self._codes[feature] if code >= 0)


def _packed(table):
    return table.packed() if isinstance(table, CodeBits) else table


def _conjoined(piece, conjunctions, negations):
    """The piece with all conjunctions as its columns."""
    return Piece(piece.X, piece.labels, partial(_conjunction_bits, piece.image, conjunctions, negations))


def _conjunction_bits(image, conjunctions, negations, X):
    columns, _ = conjunction_columns(_packed(image(X)), conjunctions, negations)
    return BitMatrix.from_columns(frozen(columns), X.shape[0])


def _counts_of_columns(columns, n, of_label):
    """`cover.count` over blocks of columns, on threads."""
    blocks = slices(len(columns), max(64, BLOCK_BYTES // max(8, columns[:1].nbytes)))  # labels are checked in each
    return np.concatenate(map_blocks(lambda block: cover.count(columns[block], n, of_label), blocks), axis=1)

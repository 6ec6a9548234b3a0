"""Greedy cover of a decision list: conditions of rules, their counts and weights, and the draws.

A candidate scores c * correct - e * errors on the rows that it covers. The score is positive if its precision, the
share of these rows that it labels correctly, exceeds the bar e / (c + e). With the same bar for all draws, either early
rules decide rows that later rules would decide better, or no candidate is worth drawing once the easy rows are gone. So
the bar decreases from draw to draw. It depends on the number of draws only, and the privacy curve depends on the
largest c and e only (`dpfast.accounting.curves.cover`): a decreasing bar costs as much as a constant one.

A part receives the literals drawn so far, which are public, and returns the counts, by class and feature, of its rows
that none of them covers. It caches the uncovered rows, and counts only those that become covered.

Conditions are conjunctions of at most k literals, as packed columns.
"""

import os
from collections.abc import Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import chain, combinations, product
from math import comb
from typing import NamedTuple

import numpy as np

from dpfast.kernels import bits, cover
from dpfast.kernels.cover import Counts, count_rows
from dpfast.kernels.own import frozen
from dpfast.learners.lists.rule import Literal, packed
from dpfast.mechanisms.draws import Claim, Question, ask, has_recorder
from dpfast.parts.blocks import BLOCK_BYTES, Piece, map_blocks, slices
from dpfast.tables.bit_matrix import BitMatrix, SparseBits
from dpfast.tables.code_bits import CodeBits

_LONGEST = 32  # longer conjunctions are too many for any memory, and counting them takes long
CONSTANT = -1  # the kernel's number of the constant true
_FEW_READS = 64  # reading so many columns and counts costs about a transpose, and half the memory


def conjunction_count(d, k, negations):
    """Return the number of conjunctions of 1 to k literals over d columns."""
    return sum(comb(d, j) * (2 if negations else 1) ** j for j in range(1, k + 1))


def condition_count(d, k, negations):
    """Return the number of features over d columns: the columns, or all conjunctions of at most k literals."""
    return d if k == 1 else conjunction_count(d, min(k, d), negations)


def conjunction_codes(d, k, negations):
    """Return their literals, shape (count, k): 2 j for column j, 2 j + 1 for its negation, -1 for none; short first."""
    parts = []
    for size in range(1, k + 1):
        columns = np.fromiter(chain.from_iterable(combinations(range(d), size)), np.int64).reshape(-1, size)
        for signs in product((0, 1) if negations else (0,), repeat=size):
            codes = np.full((len(columns), k), -1)
            codes[:, :size] = 2 * columns + np.array(signs)
            parts.append(codes)
    return np.concatenate(parts)


def conjunction_columns(table, k, negations):
    """Return the packed columns and the codes of all conjunctions of at most k literals of a BitMatrix."""
    n, d = table.shape
    k = min(k, d)  # there are no longer ones
    codes = conjunction_codes(d, k, negations)
    return bits.conjunctions(table.columns, n, codes), codes


def check_memory(n, d, k, negations):
    """Refuse conjunctions whose packed rows and columns would take more than half of this machine's memory.

    A private number of rows, None, is not looked at: there is memory for the table, whatever its rows, or there is not.
    """
    rows = "each row" if n is None else f"{n:,} rows"
    n = 1 if n is None else n
    longest = min(k, d, _LONGEST)
    count = conjunction_count(d, longest, negations)
    needed, limit = 8 * count * (bits.words(n) + longest) + 8 * n * bits.words(count), memory() // 2
    if needed > limit:
        least = "at least " if longest < min(k, d) else ""
        raise ValueError(
            f"conjunctions={k} over {d} columns makes {least}{count:,} features, {needed / 1e9:,.1f} GB for "
            f"{rows}; at most {limit / 1e9:,.1f} GB are allowed here: lower conjunctions or drop columns"
        )


def memory():
    """Return the bytes of physical memory, or 8 GB if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 8 << 30


class Conditions:
    """The features that the rules over a table of bits test: its columns, or all conjunctions of a few literals.

    There are `count` features, each used by at most one rule, and `candidates` conditions: with `negations`, a feature
    whose negation is a condition too counts twice.
    """

    def __init__(self, table, conjunctions, negations):
        self._table, self._codes, self._negated = table, None, negations and conjunctions == 1
        self._made_of = conjunctions, negations
        if conjunctions == 1:
            self.count = table.shape[1]
        else:
            self._columns, self._codes = conjunction_columns(_pack(table), conjunctions, negations)
            self.count = len(self._columns)
        self.candidates = (1 + self._negated) * self.count

    def counts(self, parts, classes, rounds, exponent, weights, prior, rows_count=None):
        """Return the `cover.Counts` of a run over the parts of a table.

        `rows_count` are integers, how much a row of each class counts; by default 1.
        """
        options = exponent, weights, self._negated, prior
        read_by_rows = isinstance(self._table, CodeBits | SparseBits) and self._codes is None
        if parts.only is None or read_by_rows or rows_count is not None:
            if self._codes is not None and parts.only is not None:
                parts = parts.map(_with_rows, BitMatrix.from_columns(frozen(self._columns), len(self._table)))
            elif self._codes is not None:
                parts = parts.map(_conjoin, *self._made_of)
            rest = Rest(parts, classes, (1,) * classes if rows_count is None else rows_count)
            return cover.Counts(rest, None, None, rest.first, *options)
        codes, n = parts.only.labels, len(self._table)
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
        """Return the literals of a drawn condition."""
        if feature == CONSTANT:
            return ()
        if self._codes is None:
            return (Literal(int(feature), bool(negated)),)
        return tuple(Literal(int(code) // 2, bool(code % 2)) for code in self._codes[feature] if code >= 0)


def _pack(table):
    return table.pack() if isinstance(table, CodeBits) else table


def _conjoin(piece, conjunctions, negations):
    """Return the piece with all conjunctions as its columns."""
    return Piece(piece.X, piece.labels, partial(_conjunction_bits, piece.image, conjunctions, negations))


def _with_rows(piece, rows):
    """Return the piece with these rows, which are known already."""
    return Piece(piece.X, piece.labels, rows=rows)


def _conjunction_bits(image, conjunctions, negations, X):
    table = _pack(image(X))
    columns, _ = conjunction_columns(table, conjunctions, negations)
    return BitMatrix.from_columns(frozen(columns), len(table))


def _counts_of_columns(columns, n, of_label):
    """Return the result of `cover.count`, computed over blocks of columns on threads."""
    blocks = slices(len(columns), max(64, BLOCK_BYTES // max(8, columns[:1].nbytes)))  # labels are checked in each
    return np.concatenate(map_blocks(lambda block: cover.count(columns[block], n, of_label), blocks), axis=1)


HIGHEST, LOWEST = (Fraction(17, 20), Fraction(19, 20)), Fraction(11, 20)  # the first bar of few and of many rows
MANY = 75  # rows times exponent, over the logarithm of the candidates, from which a high bar is told from noise
LENGTHS, LONG = (10, 15), 1500  # of lists for few and for many rows; rows times exponent from which they are many
REACH = Fraction(1, 2)  # the largest weight of a correct row, where the weight of an error is at most 1
_UNIT = 100


def constant_weights(coverage_weight):
    """Return the weights of coverage_weight * correct - errors in every draw: integers (c, e), and their unit."""
    return [(coverage_weight.numerator, coverage_weight.denominator)], coverage_weight.denominator


def usual_length(exponent, n):
    """Return the largest number of rules for the exponent of LENGTHS[0] rules and n rows, None if they are private."""
    return LENGTHS[n is not None and exponent * n >= LONG]


@cache
def falling_weights(draws, highest=HIGHEST[0]):
    """Return the weights of a bar that decreases in equal steps, from `highest` at first to LOWEST at last.

    The weights are pairs (c, e) of integers, in units of 1 / the integer returned with them. Each is the largest pair
    with the bar of its draw for which c is at most REACH and e at most 1, rounded down to hundredths. The last draw is
    of a label for all remaining rows: it has no bar, and c and e have their largest values.
    """
    pairs = []
    for j in range(draws - 1):
        bar = highest - (highest - LOWEST) * Fraction(j, max(1, draws - 2))
        right = min(REACH, (1 - bar) / bar)
        pairs.append((int(_UNIT * right), int(_UNIT * right * bar / (1 - bar))))
    return (*pairs, (int(_UNIT * REACH), _UNIT)), _UNIT


class Rest:
    """The uncovered rows of all parts, as `dpfast.kernels.cover.Counts` reads them.

    `first` has the counts of all rows, shape (classes, features), and `totals` the class sizes; each row counts as much
    as `weights` has for its class.
    """

    def __init__(self, parts, classes, weights):
        self._parts, self._classes, self._literals = parts, classes, ()
        self._weights = np.array(weights, np.int64)
        self.first, self.totals = self._ask(())
        self._n = int((self.totals // self._weights).sum()) * max(weights)

    def __len__(self):
        return self._n

    def cover(self, feature, negated):
        """Return the counts and totals of the rows that remain after a further literal."""
        self._literals += ((feature, negated),)
        return self._ask(self._literals)

    def cover_last(self, feature, negated):
        """Return the totals of the rows that remain after a further literal."""
        return self._weights * self._parts.sum(
            _count_left_by_class, (*self._literals, (feature, negated)), self._classes
        )

    def _ask(self, literals):
        answer = self._weights[:, np.newaxis] * self._parts.sum(_count_left_by_feature, literals, self._classes)
        return np.ascontiguousarray(answer[:, :-1]), answer[:, -1].copy()


class _Known(NamedTuple):
    """Cache of a piece: the rows that remain after some literals, packed, and their counts."""

    literals: tuple
    left: np.ndarray
    counts: np.ndarray | None = None


def _rows_left(piece, literals):
    """Return what is cached for some of the first of these literals, and the rows that remain after all, packed."""
    memo = piece.memo.get(_Known)
    if memo is None or literals[: len(memo.literals)] != memo.literals:
        memo = _Known((), packed(np.ones(len(piece.labels), bool)))
    left = memo.left.copy()
    for feature, negated in literals[len(memo.literals) :]:
        (bits.bitwise_and if negated else bits.bitwise_andnot)(left, piece.rows.column(feature), left)
    return memo, left


def _count_left_by_feature(piece, literals, classes):
    """Return counts of the remaining rows, shape (classes, features), with a last column for their totals."""
    memo, left = _rows_left(piece, literals)
    newly = np.empty_like(left)
    covered = bits.bitwise_andnot(memo.left, left, newly)
    count = _of_codes if isinstance(piece.rows, CodeBits | SparseBits) else _of_bits
    if memo.counts is None or covered > bits.popcount(left):
        counts = count(piece, classes, left if literals else None)
    else:
        counts = memo.counts - count(piece, classes, newly) if covered else memo.counts
    piece.memo[_Known] = _Known(literals, left, counts)
    return np.column_stack([counts, _by_class(piece, left, classes)])


def _count_left_by_class(piece, literals, classes):
    return _by_class(piece, _rows_left(piece, literals)[1], classes)


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
        places = bits.nonzero(mask)
        rows, labels = rows[places], labels[places]
    return counts_of_rows(rows, piece.rows.shape[1], labels, classes)


def counts_of_rows(rows, m, codes, classes):
    """Return the result of `cover.count_rows`, computed over blocks of rows on threads."""
    blocks = slices(len(rows), max(4096, 4 * BLOCK_BYTES // (8 * bits.words(m))))  # many rows per count of a column
    return sum(map_blocks(lambda block: count_rows(rows[block], m, codes[block], classes), blocks or [slice(0, 0)]))


def greedy_cover(
    state: Counts, rounds: int, rng: np.random.Generator, claim: Claim | None = None
) -> Iterator[tuple[int, bool, int]]:
    """Yield the candidates that one run draws; the last one is the constant true [BF, Algorithm 2].

    A candidate is a feature (-1 for the constant true), whether it is negated, and a label. `claim` covers all draws
    together.
    """

    def question(labels: bool) -> Question:
        return Question("greedy_cover", state.scores(labels), "range", state.exponent, claim=claim)

    for left in range(rounds - 1, 0, -1):
        if not state.uncovered and not has_recorder():
            tail = state.draw_tail(left, rng)
            yield from tail
            if tail[-1][0] == CONSTANT:
                return
            break
        feature, negated, label = ask(lambda: question(False), lambda: state.draw(rng), rng)
        yield feature, negated, label
        if feature == CONSTANT:
            return
        if left > 1:
            state.cover_rows(feature, negated)
        else:
            state.cover_last(feature, negated)
    yield CONSTANT, False, ask(lambda: question(True), lambda: state.draw_label(rng), rng)

"""Greedy cover for decision lists: counts of the rows not yet covered, and exact choice among candidates.

A candidate is (feature, negated, label): "if the literal holds then label". Its score on the rows not covered is
c * correct - e * errors, for integers c and e that may differ from draw to draw. See csrc/cover.h.
"""
import math
from fractions import Fraction

import numpy as np

from dpfast.kernels.own import given, of_64_bits

from dpfast.kernels import bits, draw, levels
from dpfast.kernels.inversion import invert

from libc.math cimport exp
from libc.stdint cimport INT64_MIN, int64_t, uint64_t
from libc.string cimport memset
from dpfast.kernels.arrays cimport packed as check_packed
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level
from dpfast.kernels.rng cimport Words, bitgen, bitgen_t


cdef extern from "cover.h" nogil:
    enum: DPF_COVER_BATCH
    ctypedef struct dpf_cover:
        size_t m, classes, polarities
        const int64_t *count
        const int64_t *total
        const uint64_t *alive
        int64_t correct, covered, reference
        uint64_t gaps
        unsigned shift
        const double *coarse
        const double *fine
    void dpf_cover_count(const uint64_t *columns, size_t n, size_t m, const uint64_t *label, size_t classes,
                         int64_t *count)
    size_t dpf_cover_tally(const uint64_t *rows, size_t n, size_t m, const uint64_t *mask, int64_t sign,
                           int64_t *index, uint64_t *scratch, int64_t *tally, int64_t *count, uint64_t *touched)
    void dpf_cover_scores(const dpf_cover *cover, size_t block, int64_t *score)
    int64_t dpf_cover_highest(const dpf_cover *cover, int64_t *score)
    bint dpf_cover_weigh(const dpf_cover *cover, const uint64_t *touched, int64_t *score, double *weight,
                         double *block_weight)
    size_t dpf_cover_at(const dpf_cover *cover, const double *block_weight, const double *constant, double target,
                        double guard, int64_t *score, double *weight)

cdef extern from "bits.h" nogil:
    enum: DPF_BITS_SCRATCH
    void dpf_bits_column(const uint64_t *rows, size_t n, size_t words, size_t j, const uint64_t *chosen, uint64_t *out)
    uint64_t dpf_bits_popcount(const uint64_t *words, size_t size)
    uint64_t dpf_bits_and(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out)
    uint64_t dpf_bits_andnot(const uint64_t *a, const uint64_t *b, size_t size, uint64_t *out)

dpf_cpu_share(shared_level())

LARGEST_WEIGHT = 10**6  # times a number of rows, far below 2**63
LARGEST_PRIOR = 1 << 53  # a double holds it, and a 64-bit integer what is added to it

_FARTHEST = 110  # nats below the reference from which on a weight counts as zero
_guard_scale = 1.0  # tests widen the guard, so that multiprecision decides often


@of_64_bits
def count(const uint64_t[:, ::1] columns, Py_ssize_t n, const uint64_t[:, ::1] labels):
    """Return the number of rows with each feature and label, in one read of the columns.

    Parameters
    ----------
    columns : ndarray of uint64, shape (m, words(n))
        Packed features.
    n : int
        Rows.
    labels : ndarray of uint64, shape (classes, words(n))
        labels[c] packs which rows have label c; each row has one.

    Returns
    -------
    ndarray of int64, shape (classes, m)
    """
    cdef Py_ssize_t words = -(-n // 64)
    check_packed("n", columns, n, NULL, 0)
    check_packed("n", labels, n, NULL, 0)
    union = np.bitwise_or.reduce(np.asarray(labels), axis=0)
    if not bits.popcount(union) == bits.popcount(labels) == n:
        raise ValueError(f"labels must give each of the {n} rows exactly one label, here some have none or several")
    out = np.zeros((labels.shape[0], columns.shape[0]), np.int64)
    cdef int64_t[:, ::1] counts = out
    if out.size and words:
        with nogil:
            dpf_cover_count(&columns[0, 0], n, columns.shape[0], &labels[0, 0], labels.shape[0], &counts[0, 0])
    return out


@of_64_bits
def count_rows(const uint64_t[:, ::1] rows, Py_ssize_t m, codes, Py_ssize_t classes):
    """Return the result of `count`, computed from packed rows, which are read once for each label.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words(m))
    m : int
        Features.
    codes : ndarray of int, shape (n,)
        The label of each row, in [0, classes).
    classes : int

    Returns
    -------
    ndarray of int64, shape (classes, m)
    """
    codes = np.asarray(codes)
    if classes < 1 or codes.shape != (rows.shape[0],) or (codes.size and not 0 <= codes.min() <= codes.max() < classes):
        raise ValueError(f"codes must be {rows.shape[0]} labels in [0, {classes}), got shape {codes.shape}"
                         + (f" from {codes.min()} to {codes.max()}" if codes.size else ""))
    ones = bits.positional_popcount(rows, m)
    out = np.empty((classes, m), np.int64)
    for c in range(classes - 1):
        # Rows that agree with "has label c": its ones, and the others less theirs.
        of_label = codes == c
        agree = bits.positional_popcount(rows, m, signs=(2 * of_label.astype(np.int8) - 1))
        out[c] = (ones + agree - np.count_nonzero(~of_label)) // 2
    out[-1] = ones - out[:-1].sum(axis=0)
    return out


cdef class Counts:
    """The rows not yet covered, counted by feature and label, and the choice among candidates.

    Private state: it knows the data. A learner uses it and lets it go.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, words(m)), or an object
        The object keeps its rows, wherever they are. It has len(rows) = n; `totals`, the rows of each label, int64 of
        shape (classes,); `cover(feature, negated)`, which takes away the rows that the literal covers and returns what
        `count` does for the others, and their totals; and `cover_last(feature, negated)`, which returns the totals only.
    columns : ndarray of uint64, shape (m, words(n)), or None
        The same features, packed both ways; neither is copied. Without them, the column of a feature is read off the
        rows when its turn comes.
    labels : ndarray of uint64, shape (classes, words(n)), or None
        labels[c] packs which rows have label c; each row has one. None for an object, which knows them.
    first : ndarray of int64, shape (classes, m)
        What `count` returns for them.
    exponent : Fraction
        Positive. A candidate is chosen with probability proportional to exp(exponent * score).
    weights : sequence of (int, int)
        In each draw what a covered row adds to a score if the label is right, and takes away if it is wrong, both in
        [0, 10**6]; the last pair stands for all later draws.
    negations : bool
        Whether the negation of each feature is a candidate too.
    prior : int
        Candidates that the constant true counts for, with each label, at most 2**53; 0 to leave it out.
    """

    cdef const uint64_t[:, ::1] rows, columns, labels
    cdef object source
    cdef Py_ssize_t n, words
    cdef bint by_columns, by_source
    cdef dpf_cover cover
    cdef int64_t[:, ::1] counts
    cdef int64_t[::1] totals, index, tally, score
    cdef uint64_t[::1] alive, left, newly, part, touched, scratch
    cdef double[::1] block_weight, weight, coarse, fine, constant
    cdef double step, neglected
    cdef readonly object exponent
    cdef object prior, weights
    cdef int64_t headroom

    def __init__(self, rows, columns, labels, first, exponent, weights, negations, prior):
        self.by_source, self.source = not isinstance(rows, np.ndarray), rows
        classes, m = given("first", first).shape
        self.n = len(rows)
        if self.by_source:
            if not hasattr(rows, "totals"):
                raise TypeError(f"rows must be an ndarray or an object with totals, got {type(rows).__name__}")
            if columns is not None or labels is not None or rows.totals.shape != (classes,):
                raise ValueError(f"an object has its own columns and labels, and {classes} totals, got shape "
                                 f"{rows.totals.shape}")
            labels = np.zeros((classes, 0), np.uint64)
        else:
            given("columns", labels if columns is None else columns)
        self.labels = given("labels", labels)
        self.words = labels.shape[1]
        wanted = (self.n, -(-m // 64)), (m, self.words), (classes, -(-self.n // 64))
        if not self.by_source and (rows.shape, (m, self.words) if columns is None else columns.shape, labels.shape) != wanted:
            raise ValueError(f"rows {rows.shape}, columns {columns if columns is None else columns.shape}, labels "
                             f"{labels.shape} and first {first.shape} do not fit together")
        self.weights = [(int(c), int(e)) for c, e in weights]
        if not self.weights or not all(0 <= w <= LARGEST_WEIGHT for pair in self.weights for w in pair):
            raise ValueError(f"weights must be pairs of integers in [0, {LARGEST_WEIGHT}], got {weights}")
        if not 0 <= prior <= LARGEST_PRIOR:
            raise ValueError(f"prior must lie in [0, 2**53], got {prior}")
        if not self.by_source:
            check_packed("n", self.labels, self.n, NULL, 0)
            self.rows = rows
            check_packed("m", self.rows, m, NULL, 0)
        self.by_columns = columns is not None
        if self.by_columns:
            self.columns = columns
            check_packed("n", self.columns, self.n, NULL, 0)
        if exponent == math.inf:
            raise ValueError(f"exponent must be finite, got {exponent}")
        self.exponent, self.prior = Fraction(exponent), prior
        if self.exponent <= 0:
            raise ValueError(f"exponent must be positive, got {exponent}")
        self.step = min(self.exponent, Fraction(2)**1000)
        self.counts = first.copy()
        self.totals = rows.totals.copy() if self.by_source else np.array(
            [dpf_bits_popcount(&self.labels[c, 0], self.words) if self.words else 0 for c in range(classes)], np.int64)
        blocks, variants = -(-m // 64), (1 + bool(negations)) * classes
        alive = np.full(blocks, 2**64 - 1, np.uint64)
        if m % 64:
            alive[-1] = 2**(m % 64) - 1
        self.alive, self.left = alive, np.bitwise_or.reduce(np.asarray(labels), axis=0)
        self.newly, self.part = np.empty(self.words, np.uint64), np.empty(self.words, np.uint64)
        self.touched, self.block_weight = np.empty(blocks, np.uint64), np.zeros(blocks)
        self.index, self.tally = np.empty(DPF_COVER_BATCH, np.int64), np.empty(max(m, 1), np.int64)
        self.scratch = np.empty(DPF_BITS_SCRATCH, np.uint64)
        self.score, self.weight = np.empty(64 * variants, np.int64), np.empty(64 * variants)
        self.constant = np.zeros(classes)

        self.cover.m, self.cover.classes, self.cover.polarities = m, classes, 1 + bool(negations)
        self.cover.count = &self.counts[0, 0] if m else NULL
        self.cover.total, self.cover.alive = &self.totals[0], &self.alive[0] if m else NULL
        self._next_weights()
        # Weights span e**-110 to 1, what lies below counts into the guard of a draw; the best is set to e**-20 and may drift up to 1 or down to e**-45.
        span = max(correct + errors for correct, errors in self.weights) * self.n + 1  # more than any two scores differ
        self.headroom = min(span, math.floor(20 / self.exponent))
        self.cover.gaps = min(span + self.headroom, math.ceil(_FARTHEST / self.exponent)) + 1
        self.neglected = (64.0 * blocks * variants + float(prior) * classes) * exp(-_FARTHEST)
        self.cover.shift = int(self.cover.gaps).bit_length() // 2
        self.fine = np.exp(-self.step * np.arange(1 << self.cover.shift))
        self.coarse = np.exp(-self.step * np.arange((self.cover.gaps >> self.cover.shift) + 1) * (1 << self.cover.shift))
        self.cover.fine, self.cover.coarse = &self.fine[0], &self.coarse[0]
        self._set_reference()

    @property
    def uncovered(self):
        """Return the number of rows that no rule covers yet."""
        return sum(self.totals)

    def draw(self, rng):
        """Choose a candidate: (feature, negated, label), feature -1 for the constant true."""
        cdef size_t classes = self.cover.classes, variants = self.cover.polarities * classes
        cdef size_t blocks = self.block_weight.shape[0], b, candidate, v
        cdef double total = 0, guard, target
        cdef bitgen_t *bits = bitgen(rng)
        for b in range(blocks):
            total += self.block_weight[b]
        for b in range(classes):
            total += self.constant[b]
        if total == 0.0:
            raise ValueError("every candidate is used, none is left to draw")
        # 512 roundings a weight, one more an addition, on either side of a boundary; and what counted as zero.
        guard = _guard_scale * (total * (512 + blocks + 65 * variants) * 2.0**-51 + 2 * self.neglected)
        with rng.bit_generator.lock:
            word = bits.next_uint64(bits.state)
            target = <double><uint64_t>word * (total * 2.0**-64)
            candidate = dpf_cover_at(&self.cover, &self.block_weight[0] if blocks else NULL, &self.constant[0], target,
                                     guard, &self.score[0], &self.weight[0])
            if candidate == <size_t>-1:
                candidate = self._decide(word, Words(rng))
        if candidate >= 64 * variants * blocks:
            return -1, False, candidate - 64 * variants * blocks
        v = candidate // 64 % variants
        return 64 * (candidate // (64 * variants)) + candidate % 64, v >= classes, v % classes

    def draw_label(self, rng):
        """Choose a label for the constant true."""
        return levels.draw(self._constant_scores(), self.exponent, rng)

    def draw_tail(self, length, rng):
        """Return up to `length` more candidates, as `draw` would, if no row is left, so that all scores are zero.

        It ends with the constant true if that is drawn. One permutation, whatever the length.
        """
        if length < 0:
            raise ValueError(f"length must be at least 0, got {length}")
        polarities, classes = self.cover.polarities, self.cover.classes
        features = bits.nonzero(np.asarray(self.alive))
        length = min(length, len(features) + (self.prior > 0))
        left = polarities * (len(features) - np.arange(length))
        constant = np.flatnonzero(draw.below(self.prior + left, rng) < self.prior) if length else np.empty(0)
        plain = length if constant.size == 0 else int(constant[0])
        chosen = rng.permutation(features)[:plain].tolist()
        negated = (draw.below(np.full(plain, polarities), rng) == 1).tolist()
        labels = draw.below(np.full(plain + (plain < length), classes), rng).tolist()
        tail = list(zip(chosen, negated, labels))
        return tail if plain == length else [*tail, (-1, False, labels[-1])]

    def scores(self, labels=False):
        """Return the scores of the candidates that are left, in order, or of the labels of the constant true: int64."""
        if labels:
            return self._constant_scores()
        scores, masses = map(np.concatenate, zip(*self._blocks()))
        return scores[masses > 0]

    @of_64_bits
    def cover_rows(self, Py_ssize_t feature, bint negated):
        """Take away the rows that the literal covers, and the feature with them."""
        self._use(feature)
        if self.by_source:
            self.touched[:] = 1
            np.asarray(self.counts)[:], np.asarray(self.totals)[:] = self.source.cover(feature, bool(negated))
        else:
            with nogil:
                memset(&self.touched[0], 0, self.touched.shape[0] * sizeof(uint64_t))
                if self.words:
                    self._subtract(feature, negated)
                self.touched[feature // 64] = 1
        if self._next_weights() or not self._weigh():
            self._set_reference()

    def cover_last(self, Py_ssize_t feature, bint negated):
        """Do what `cover_rows` does, before `draw_label`: counts of features are no longer needed, nor updated."""
        cdef Py_ssize_t c
        self._use(feature)
        if self.by_source:
            np.asarray(self.totals)[:] = self.source.cover_last(feature, bool(negated))
        elif self.words:
            self._split(feature, negated)
            for c in range(<Py_ssize_t>self.cover.classes):
                self.totals[c] = dpf_bits_and(&self.left[0], &self.labels[c, 0], self.words, &self.part[0])
        self._next_weights()

    cdef int _next_weights(self) except -1:
        """Use the weights of the next draw, and return whether they differ from the last ones."""
        correct, errors = self.weights.pop(0) if len(self.weights) > 1 else self.weights[0]
        changed = self.cover.correct != correct + errors or self.cover.covered != errors
        self.cover.correct, self.cover.covered = correct + errors, errors
        return changed

    cdef int _use(self, Py_ssize_t feature) except -1:
        if not 0 <= feature < <Py_ssize_t>self.cover.m or not self.alive[feature // 64] >> (feature % 64) & 1:
            raise ValueError(f"feature must be one of {self.cover.m} not used before, got {feature}")
        self.alive[feature // 64] &= ~(<uint64_t>1 << (feature % 64))
        return 0

    cdef uint64_t _split(self, Py_ssize_t feature, bint negated) noexcept nogil:
        """The rows that are left into `newly`, covered by the literal, and `left`; the number of the first."""
        cdef uint64_t *left = &self.left[0]
        cdef uint64_t *newly = &self.newly[0]
        cdef const uint64_t *column = &self.part[0]
        cdef uint64_t covered
        if self.by_columns:
            column = &self.columns[feature, 0]
        else:
            dpf_bits_column(&self.rows[0, 0], self.n, self.rows.shape[1], feature, left, &self.part[0])
        if negated:
            covered = dpf_bits_andnot(left, column, self.words, newly)
        else:
            covered = dpf_bits_and(left, column, self.words, newly)
        dpf_bits_andnot(left, newly, self.words, left)
        return covered

    cdef void _subtract(self, Py_ssize_t feature, bint negated) noexcept nogil:
        """Update the counts: subtract the covered rows, or count the others if these are fewer."""
        cdef size_t m = self.cover.m, c
        cdef uint64_t covered = self._split(feature, negated), left = dpf_bits_popcount(&self.left[0], self.words)
        cdef uint64_t *touched = NULL
        cdef uint64_t *fewer = &self.newly[0]
        cdef int64_t sign = -1
        if covered == 0:
            return
        if covered > left:
            fewer, sign = &self.left[0], 1
        # A covered row moves each feature's count or its negation's; without negations, where it has ones.
        if self.cover.polarities == 2 or sign == 1 or covered > 64:
            memset(&self.touched[0], 0xff, self.touched.shape[0] * sizeof(uint64_t))
        else:
            touched = &self.touched[0]
        for c in range(self.cover.classes):
            if sign == 1:
                memset(&self.counts[c, 0], 0, m * sizeof(int64_t))
                self.totals[c] = 0
            dpf_bits_and(fewer, &self.labels[c, 0], self.words, &self.part[0])
            self.totals[c] += sign * <int64_t>dpf_cover_tally(&self.rows[0, 0], self.n, m, &self.part[0], sign,
                                                              &self.index[0], &self.scratch[0], &self.tally[0],
                                                              &self.counts[c, 0], touched)

    def _constant_scores(self):
        totals = np.asarray(self.totals)
        return self.cover.correct * totals - self.cover.covered * totals.sum()

    cdef bint _weigh(self):
        """Weigh the touched blocks and the constant true, and return whether the reference still suits."""
        cdef size_t blocks = self.block_weight.shape[0], b
        cdef double total = 0, mass = self.prior
        cdef int64_t gap, rows = 0
        cdef bint below = True
        if blocks:
            with nogil:
                below = dpf_cover_weigh(&self.cover, &self.touched[0], &self.score[0], &self.weight[0],
                                        &self.block_weight[0])
                for b in range(blocks):
                    total += self.block_weight[b]
        if mass:
            for b in range(self.cover.classes):
                rows += self.totals[b]
            for b in range(self.cover.classes):
                gap = self.cover.reference - (self.cover.correct * self.totals[b] - self.cover.covered * rows)
                below = below and gap >= 0
                self.constant[b] = mass * exp(-self.step * gap) if 0 <= gap < <int64_t>self.cover.gaps else 0.0
                total += self.constant[b]
        return below and total > 1e-19

    def _set_reference(self):
        """Set the reference so that the best weight is e**-20, or 1 if one step of the score is more than that."""
        cdef int64_t best
        with nogil:
            best = dpf_cover_highest(&self.cover, &self.score[0])
        if self.prior:
            best = max(best, self._constant_scores().max())
        self.cover.reference = (best if best > INT64_MIN else 0) + self.headroom
        self.touched[:] = 1
        self._weigh()

    def _blocks(self):
        """Return the scores and masses of all candidates in order: by blocks of features, then the constant true."""
        cdef size_t b
        cdef int64_t[::1] score = self.score
        variants = self.cover.polarities * self.cover.classes
        for b in range(<size_t>self.block_weight.shape[0]):
            dpf_cover_scores(&self.cover, b, &score[0])
            alive = np.unpackbits(np.asarray(self.alive[b:b + 1]).view(np.uint8), bitorder="little")
            yield np.array(score), np.tile(alive, variants).astype(np.int64)
        yield self._constant_scores(), np.full(self.cover.classes, self.prior)

    def _decide(self, word, words):
        """Return the candidate that the words select, in multiprecision."""
        scores, masses = map(np.concatenate, zip(*self._blocks()))
        live = np.flatnonzero(masses)
        gaps = scores[live].max() - scores[live]
        return live[invert(gaps.tolist(), masses[live].tolist(), self.exponent, word, words)]

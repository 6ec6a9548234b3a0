"""Boosting over parts: weights of rows that are elsewhere, and the questions that a weak learner asks about them.

Hypotheses and levels, which are public, are sent to the parts. A part caches the scores of its rows, and can recompute
them from the hypotheses. The level of a measure is found by a search: parts return how many units they would have at
some levels, and the missing units are distributed in the order of the parts. The weights are therefore the same as
those of one table: `dpfast.kernels.measure.project`.
"""

import copy
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from dpfast.kernels import measure
from dpfast.learners.halfspaces.measure import (
    CAP,
    UNIT,
    AtLeast,
    LazyBregman,
    Local,
    local_table,
    local_weights,
    projected,
)
from dpfast.tables.code_bits import pack_codes

_ASKED = 255  # levels at a time


def weak_rows_of(X, weak, fit_intercept):
    """Return the table as a weak learner reads it; codes are read as bits."""
    return weak.rows(pack_codes(X), fit_intercept)


def measured(parts, form, n, weak, weighed, classes=2):
    """Return what boosting asks in a round, of rows that `weak_rows_of` gives, in one part or in several, n together.

    The result is the argument of `WeakLearner.learn`; a callable that returns an even measure, for the wanted mass and
    the rate; and one that maps a hypothesis to the argument of the measure's `add`: the hypothesis itself, or margins
    for a measure or a weak learner without a name here, which only read one part.
    """
    named = {LazyBregman: PartedMeasure, AtLeast: PartedMeasure, Local: PartedLocal}.get(type(weighed))
    if named is None:
        signs = (2 * parts.only.labels - 1).astype(np.int8)
        return form, partial(weighed.start, signs), partial(weak.margins, form)
    start = partial(named, parts, Reader(weak, classes), n, isinstance(weighed, AtLeast))
    return PartedRows(parts, form, n), start, lambda hypothesis: hypothesis


class PartedRows:
    """Rows of a weak learner in parts, whose weights are `PartedWeights`; `form` is one row like the others."""

    def __init__(self, parts, form, n):
        self.parts, self.reach, self.shape = parts, getattr(form, "reach", None), (n, form.shape[1])

    def weighted_sum(self, weights):
        return self.parts.sum(weights.question, *weights.public, own=weights.excess)


class PartedWeights(NamedTuple):
    """The weights of rows in parts: the question for their weighted sum, and the extra units of each part."""

    question: Callable
    public: tuple
    excess: list | None = None


class Reader(NamedTuple):
    """How a part scores its rows by hypotheses: the weak learner and the number of classes."""

    weak: Any
    classes: int

    def sides(self, piece, hypotheses):
        """Return the `Sides` of the rows of a piece after these hypotheses."""
        version, sides = piece.memo.get(Reader.sides, (0, None))
        sides = sides or Sides(piece.labels, self.classes)
        if version < len(hypotheses):
            sides = sides.copy()
            for hypothesis in hypotheses[version:]:
                sides.add(self.weak.margins(piece.rows, hypothesis))
            piece.memo[Reader.sides] = len(hypotheses), sides
        return sides


class Sides:
    """Scores of rows, as sums of margins in steps of 1 / UNIT, and how far each row is on the right side.

    For two classes the margin of a row is y times its score. For more classes it is the score of the class of the row
    minus that of its rival, the other class with the largest score, the first one among equals.
    """

    def __init__(self, labels, classes):
        self._labels, self._two = labels, classes == 2
        self._signs = (2 * labels - 1).astype(np.int8) if self._two else np.ones(len(labels), np.int8)
        self._scores = np.zeros(len(labels) if self._two else (len(labels), classes), np.int32)

    def copy(self):
        new = copy.copy(self)
        new._scores = self._scores.copy()
        return new

    def add(self, margins):
        """Add margins: float32, shape (n,) for two classes, else (n, k)."""
        if self._two:
            measure.add(self._scores, self._signs, margins, UNIT)
        else:
            self._scores += np.rint(margins * np.float32(UNIT)).astype(np.int32)

    def margins(self):
        """Return the margins of the rows: int32, shape (n,)."""
        return self._scores if self._two else self._own() - self._rivals()[1]

    def weights(self, of):
        """Return signed weights, where `of` takes the margins and signs, which are 1 for more than two classes."""
        return of(self.margins(), self._signs)

    def weighted_sum(self, rows, weights):
        """Return the sum of the rows times their weights, (size,); for k classes times those of each class, (size, k).

        A weight counts for the class of a row and against its rival.
        """
        if self._two:
            return rows.weighted_sum(weights)
        rivals, _ = self._rivals()
        sums = [
            rows.weighted_sum(np.where(self._labels == k, weights, 0) - np.where(rivals == k, weights, 0))
            for k in range(self._scores.shape[1])
        ]
        return np.stack(sums, axis=1)

    def _own(self):
        return self._scores[np.arange(len(self._labels)), self._labels]

    def _rivals(self):
        """Return the rival of each row, and its score."""
        others = self._scores.copy()
        others[np.arange(len(others)), self._labels] = np.iinfo(np.int32).min
        rivals = others.argmax(axis=1)
        return rivals, others[np.arange(len(others)), rivals]


class PartedLocal:
    """The measure of `Local` for rows in parts; it adds hypotheses, and its weights are a question."""

    def __init__(self, parts, reader, n, least, units, rate):
        self._reader, self._table, self._hypotheses = reader, local_table(rate), []

    def add(self, hypothesis):
        self._hypotheses.append(hypothesis)

    def weights(self):
        return PartedWeights(_local_sum, (self._reader, tuple(self._hypotheses), self._table))


class PartedMeasure:
    """The measure of `LazyBregman`, or of `AtLeast`, for rows in parts; it adds hypotheses.

    Its weights are a question. One part alone finds its weights by itself.
    """

    def __init__(self, parts, reader, n, least, units, rate):
        self._parts, self._reader, self._units, self._least = parts, reader, min(units, n * CAP), least
        self._table, self._hypotheses = measure.table(rate / UNIT, CAP), []

    def add(self, hypothesis):
        self._hypotheses.append(hypothesis)

    def weights(self):
        public = (self._reader, tuple(self._hypotheses), self._table)
        if self._parts.only is not None:
            return PartedWeights(_projected_sum, (*public, self._units, self._least))
        reach = 2 * len(self._hypotheses) * UNIT  # of a margin
        low, high = -len(self._table) - 1 - reach, reach + 1  # no unit; all that there are
        while True:
            step = max(1, (high - low) // _ASKED)
            levels = np.append(np.arange(low, high, step), high)
            units = np.array(self._parts.each(_units, *public, levels))
            k = min(int(np.searchsorted(units.sum(axis=0), self._units, side="right")) - 1, len(levels) - 2)
            if step == 1:
                break
            low, high = levels[k], levels[k + 1]
        if self._least and levels[k] < 0:
            return PartedWeights(_dense_sum, (*public, 0), [0] * len(units))
        left = self._units - int(units[:, k].sum())
        more = np.diff(units[:, k : k + 2]).ravel()  # what rows weigh more at the next level, part by part
        before = np.cumsum(more) - more
        excess = np.clip(left - before, 0, more)
        return PartedWeights(_dense_sum, (*public, int(levels[k])), excess.tolist())


def _units(piece, reader, hypotheses, table, levels):
    """Return the units of all rows of a piece together at each level: int64, shape (levels,)."""
    return measure.units(reader.sides(piece, hypotheses).margins(), table, levels)


def _projected_sum(piece, reader, hypotheses, table, units, least):
    """Return the sum of the rows of a piece by the weights that add up to `units`, or to at least as many."""
    sides = reader.sides(piece, hypotheses)
    return sides.weighted_sum(piece.rows, sides.weights(partial(projected, table=table, units=units, least=least)))


def _dense_sum(piece, excess, reader, hypotheses, table, level):
    sides = reader.sides(piece, hypotheses)
    weights = sides.weights(lambda margins, signs: measure.weights(margins, signs, table, level, excess))
    return sides.weighted_sum(piece.rows, weights)


def _local_sum(piece, reader, hypotheses, table):
    sides = reader.sides(piece, hypotheses)
    return sides.weighted_sum(piece.rows, sides.weights(partial(local_weights, table=table)))

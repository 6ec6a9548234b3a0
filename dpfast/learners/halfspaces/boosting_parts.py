"""Boosting over parts: weights of rows that are elsewhere, and the questions that a weak learner asks about them.

Hypotheses and levels, which are public, are sent to the parts. A part caches the scores of its rows, and can recompute
them from the hypotheses. The level of a measure is found by a search: parts return how many units they would have at
some levels, and the missing units are distributed in the order of the parts. The weights are therefore the same as
those of one table: `dpfast.kernels.measure.project`.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from dpfast.kernels import measure
from dpfast.learners.halfspaces.measure import CAP, UNIT, LazyBregman, Local, local_table, local_weights
from dpfast.tables.code_bits import packed_codes

_ASKED = 255  # levels at a time


def weak_rows_of(X, weak, fit_intercept):
    """Return the table as a weak learner reads it; codes are read as bits."""
    return weak.rows(packed_codes(X), fit_intercept)


def measured(parts, form, n, weak, weighed):
    """Return what boosting asks in a round, of rows that `weak_rows_of` gives, in one part or in several, n together.

    The result is the argument of `WeakLearner.learn`; a callable that returns an even measure, for the wanted mass and
    the rate; and one that maps a hypothesis to the argument of the measure's `add`: in several parts the hypothesis
    itself. `weighed` is one of the measures with a name, if there are several parts.
    """
    if parts.only is not None:
        signs = (2 * parts.only.labels - 1).astype(np.int8)
        return form, partial(weighed.start, signs), partial(weak.margins, form)
    measures = {LazyBregman: partial(PartedMeasure, parts, weak, n), Local: partial(PartedLocal, weak)}
    return PartedRows(parts, form, n), measures[type(weighed)], lambda hypothesis: hypothesis


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


class PartedLocal:
    """Like `LocalMeasure` for rows in parts; it adds hypotheses, and its weights are a question."""

    def __init__(self, weak, units, rate):
        self._weak, self._table, self._hypotheses = weak, local_table(rate), []

    def add(self, hypothesis):
        self._hypotheses.append(hypothesis)

    def weights(self):
        return PartedWeights(_local_sum, (self._weak, tuple(self._hypotheses), self._table))


class PartedMeasure:
    """Like `DenseMeasure` for rows in parts; it adds hypotheses, and its weights are a question."""

    def __init__(self, parts, weak, n, units, rate):
        self._parts, self._weak, self._units = parts, weak, min(units, n * CAP)
        self._table, self._hypotheses = measure.table(rate / UNIT, CAP), []

    def add(self, hypothesis):
        self._hypotheses.append(hypothesis)

    def weights(self):
        rounds, public = len(self._hypotheses), (self._weak, tuple(self._hypotheses), self._table)
        low, high = -len(self._table) - 1 - rounds * UNIT, rounds * UNIT + 1  # no unit; all that there are
        while True:
            step = max(1, (high - low) // _ASKED)
            levels = np.append(np.arange(low, high, step), high)
            units = np.array(self._parts.each(_units, *public, levels))
            k = min(int(np.searchsorted(units.sum(axis=0), self._units, side="right")) - 1, len(levels) - 2)
            if step == 1:
                break
            low, high = levels[k], levels[k + 1]
        left = self._units - int(units[:, k].sum())
        more = np.diff(units[:, k : k + 2]).ravel()  # what rows weigh more at the next level, part by part
        before = np.cumsum(more) - more
        excess = np.clip(left - before, 0, more)
        return PartedWeights(_dense_sum, (*public, int(levels[k])), excess.tolist())


def _scores(piece, weak, hypotheses):
    """Return the scores after these hypotheses, and the signs of the rows."""
    known, scores = piece.memo.get(_scores, (0, np.zeros(len(piece.labels), np.int32)))
    signs = (2 * piece.labels - 1).astype(np.int8)
    if known < len(hypotheses):
        scores = scores.copy()
        for hypothesis in hypotheses[known:]:
            measure.add(scores, signs, weak.margins(piece.rows, hypothesis), UNIT)
        piece.memo[_scores] = len(hypotheses), scores
    return scores, signs


def _units(piece, weak, hypotheses, table, levels):
    """Return the units of all rows of a piece together at each level: int64, shape (levels,)."""
    return measure.units(_scores(piece, weak, hypotheses)[0], table, levels)


def _dense_sum(piece, excess, weak, hypotheses, table, level):
    return piece.rows.weighted_sum(measure.weights(*_scores(piece, weak, hypotheses), table, level, excess))


def _local_sum(piece, weak, hypotheses, table):
    return piece.rows.weighted_sum(local_weights(*_scores(piece, weak, hypotheses), table))

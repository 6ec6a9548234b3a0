"""Boosting over parts: the measure of rows that are elsewhere, and the rows as a weak learner asks them.

What is public, hypotheses and levels, goes to the parts; a part keeps the scores of its rows, and can tell them again
from the hypotheses. The level of a measure is searched for: parts tell how much they would weigh at some levels, in
integers, and what is missing is shared out in the order of the parts. So the measure is, to the unit, that of one
table: `dpfast.kernels.measure.project`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from dpfast.kernels import measure
from dpfast.learners.halfspaces.measure import CAP, UNIT, local_table, local_weights
from dpfast.tables.code_bits import packed_codes
from dpfast.tables.projection import projectable
from dpfast.tables.unit_rows import unit_rows

_ASKED = 255  # levels at a time


def unit_rows_of(X, fit_intercept, normalize=False):
    """Rows of the unit ball; of codes those of their bits."""
    return unit_rows(packed_codes(X), fit_intercept=fit_intercept, normalize=normalize)


def projectable_of(X):
    """The table as a projection reads it; of codes their bits."""
    return projectable(packed_codes(X))


def weak_rows_of(X, weak, fit_intercept):
    """The table as a weak learner reads it; of codes their bits."""
    return weak.rows(packed_codes(X), fit_intercept)


class PartedRows:
    """Rows of a weak learner in parts, of which weights are told as `PartedWeights`.

    Parameters
    ----------
    parts : EngineParts
        Of pieces whose rows are what `WeakLearner.rows` gives.
    form : what `WeakLearner.rows` gives
        One row like the others.
    n : int
    """

    def __init__(self, parts, form, n):
        self.parts, self.reach, self.shape = parts, getattr(form, "reach", None), (n, form.shape[1])

    def weighted_sum(self, weights):
        return self.parts.sum(weights.question, *weights.public, own=weights.excess)


class PartedWeights(NamedTuple):
    """The weights of rows in parts: what a part is asked for their sum, and for a level the units that some of the rows
    of each part have more."""

    question: Callable
    public: tuple
    excess: list | None = None


class PartedLocal:
    """As `LocalMeasure`, of rows in parts: what rows weigh is their own affair.

    Parameters
    ----------
    weak : WeakLearner
    units : int
        The mass wanted, which plays no part.
    rate : float
    """

    def __init__(self, weak, units, rate):
        self._weak, self._table, self._hypotheses = weak, local_table(rate), []

    def add(self, hypothesis):
        """Count in the margins of a hypothesis, which are in [-1, 1]."""
        self._hypotheses.append(hypothesis)

    def weights(self):
        """y_i times the units of each row, where the rows are."""
        return PartedWeights(_local_sum, (self._weak, tuple(self._hypotheses), self._table))


class PartedMeasure:
    """As `DenseMeasure`, of rows in parts.

    Parameters
    ----------
    parts : EngineParts
    weak : WeakLearner
    n, units : int
    rate : float
    """

    def __init__(self, parts, weak, n, units, rate):
        self._parts, self._weak, self._units = parts, weak, min(units, n * CAP)
        self._table, self._hypotheses = measure.table(rate / UNIT, CAP), []

    def add(self, hypothesis):
        """Count in the margins of a hypothesis, which are in [-1, 1]."""
        self._hypotheses.append(hypothesis)

    def weights(self):
        """y_i times the units of each row, where the rows are."""
        rounds, told = len(self._hypotheses), (self._weak, tuple(self._hypotheses), self._table)
        low, high = -len(self._table) - 1 - rounds * UNIT, rounds * UNIT + 1  # no unit; all that there are
        while True:
            step = max(1, (high - low) // _ASKED)
            levels = np.append(np.arange(low, high, step), high)
            units = np.array(self._parts.each(_units, *told, levels))
            k = min(int(np.searchsorted(units.sum(axis=0), self._units, side="right")) - 1, len(levels) - 2)
            if step == 1:
                break
            low, high = levels[k], levels[k + 1]
        left = self._units - int(units[:, k].sum())
        more = np.diff(units[:, k : k + 2]).ravel()  # what rows weigh more at the next level, part by part
        before = np.cumsum(more) - more
        excess = np.clip(left - before, 0, more)
        return PartedWeights(_dense_sum, (*told, int(levels[k])), excess.tolist())


def _scores(piece, weak, hypotheses):
    """The scores after these hypotheses, and the signs of the rows."""
    known, scores = piece.memo.get(_scores, (0, np.zeros(len(piece.labels), np.int32)))
    signs = (2 * piece.labels - 1).astype(np.int8)
    if known < len(hypotheses):
        scores = scores.copy()
        for hypothesis in hypotheses[known:]:
            measure.add(scores, signs, weak.margins(piece.rows, hypothesis), UNIT)
        piece.memo[_scores] = len(hypotheses), scores
    return scores, signs


def _units(piece, weak, hypotheses, table, levels):
    """What the rows weigh together at each level: int64, shape (levels,)."""
    return measure.units(_scores(piece, weak, hypotheses)[0], table, levels)


def _dense_sum(piece, excess, weak, hypotheses, table, level):
    return piece.rows.weighted_sum(measure.weights(*_scores(piece, weak, hypotheses), table, level, excess))


def _local_sum(piece, weak, hypotheses, table):
    return piece.rows.weighted_sum(local_weights(*_scores(piece, weak, hypotheses), table))

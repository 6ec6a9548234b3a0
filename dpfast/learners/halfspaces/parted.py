"""Boosting over parts: the measure of rows that are elsewhere, and the rows as a weak learner asks them.

What is public, hypotheses and levels, goes to the parts; a part keeps the scores of its rows, and can tell them again
from the hypotheses. The level of a measure is searched for: parts tell how much they would weigh at some levels, in
integers, and what is missing is shared out in the order of the parts. So the measure is, to the unit, that of one
table: `dpfast.kernels.measure.project`.
"""

from typing import NamedTuple

import numpy as np

from dpfast.kernels import measure
from dpfast.learners.halfspaces.measure import CAP, UNIT
from dpfast.tables.codes import CodeTable
from dpfast.tables.projection import projectable
from dpfast.tables.unit_rows import unit_rows

_ASKED = 255  # levels at a time


def unit_rows_of(X, fit_intercept, normalize=False):
    """Rows of the unit ball; of codes those of their bits."""
    return unit_rows(packed_codes(X), fit_intercept=fit_intercept, normalize=normalize)


def projectable_of(X):
    """The table as a projection reads it; of codes their bits."""
    return projectable(packed_codes(X))


def packed_codes(X):
    """X, or the bits of its codes."""
    if not isinstance(X, CodeTable):
        return X
    from dpfast.tables.code_bits import code_bits

    return code_bits(X)


class PartedRows:
    """Rows of the unit ball in parts: margins stay where they are, as the vector they are of.

    Parameters
    ----------
    parts : MemoryParts or DaskParts
        Of pieces whose rows are `UnitRows` or `CodeRows`.
    form : UnitRows or CodeRows
        One row like the others.
    n : int
    """

    def __init__(self, parts, form, n):
        self.parts, self.reach, self.shape = parts, form.reach, (n, form.shape[1])

    def margins(self, w):
        return w

    def weighted_sum(self, weights):
        return self.parts.sum(_weighted_sum, *weights.public, own=weights.excess)


class PartedWeights(NamedTuple):
    """The weights of rows in parts: a level, and for each part the units that some of its rows have more."""

    public: tuple
    excess: list


class PartedMeasure:
    """As `DenseMeasure`, of rows in parts.

    Parameters
    ----------
    parts : MemoryParts or DaskParts
    n, units : int
    rate : float
    """

    def __init__(self, parts, n, units, rate):
        self._parts, self._units = parts, min(units, n * CAP)
        self._table, self._hypotheses = measure.table(rate / UNIT, CAP), []

    def add(self, hypothesis):
        """Count in the margins of a hypothesis, which are in [-1, 1]."""
        self._hypotheses.append(hypothesis)

    def weights(self):
        """y_i times the units of each row, where the rows are."""
        told = tuple(self._hypotheses), self._table
        low, high = -len(self._table) - 1 - len(told[0]) * UNIT, len(told[0]) * UNIT + 1  # no unit; all that there are
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
        return PartedWeights((*told, int(levels[k])), excess.tolist())


def _scores(piece, hypotheses):
    """The scores after these hypotheses, and the signs of the rows."""
    known, scores = piece.memo.get(_scores, (0, np.zeros(len(piece.labels), np.int32)))
    signs = (2 * piece.labels - 1).astype(np.int8)
    if known < len(hypotheses):
        scores = scores.copy()
        for hypothesis in hypotheses[known:]:
            measure.add(scores, signs, piece.rows.margins(hypothesis), UNIT)
        piece.memo[_scores] = len(hypotheses), scores
    return scores, signs


def _units(piece, hypotheses, table, levels):
    """What the rows weigh together at each level: int64, shape (levels,)."""
    return measure.units(_scores(piece, hypotheses)[0], table, levels)


def _weighted_sum(piece, excess, hypotheses, table, level):
    return piece.rows.weighted_sum(measure.weights(*_scores(piece, hypotheses), table, level, excess))

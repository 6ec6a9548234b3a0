"""The measures that smooth boosters keep on their rows, in integers [BCS, sections 3 and 4]."""

import math
from abc import ABC, abstractmethod

import numpy as np

from dpfast.kernels import measure, reals

CAP = 1 << 12  # units of the largest weight
UNIT = 1 << 12  # of a margin, in scores
MOST_ROUNDS = (1 << 19) - 1  # whose scores 32 bits hold


class Measure(ABC):
    """Weights of the rows of a booster: NxM of [BCS, Algorithm 2].

    **Requirements.** Row i has an integer weight u_i in [0, CAP], a function of the labels, the margins so far and
    public numbers. On tables that differ in one row, replaced or added, the weights of all other rows differ in one
    direction and, in sum, by no more than the largest weight of the row that changed. The noise of a `WeakLearner`
    relies on this: a sum of y_i u_i h(x_i) with |h| <= 1 then changes by at most `moved`. A measure of a fixed mass
    satisfies it if its weights change in one direction [BCS, Lemma 25]; a measure whose weights depend on no other row
    always does.
    """

    @abstractmethod
    def start(self, signs, units, rate):
        """Return the state of a measure with equal weights, for labels `signs`, -1 or 1: int8, shape (n,).

        `units` is the wanted mass, in units of 1 / CAP, public or released; weights are proportional to
        exp(-rate * sum of y h(x)). The state has ``weights()``, which returns y_i u_i as int32 of shape (n,), and
        ``add(margins)``, which takes h(x_i) as float32.
        """

    def moved(self, neighbors: str) -> int:
        """Return the most that one row moves a sum of y_i u_i h(x_i) with |h| <= 1: 2 CAP, unless less is proved."""
        return 2 * CAP


class LazyBregman(Measure):
    """Weights min(1, c exp(-rate s)) of a fixed mass: LB-NxM [BCS, Algorithm 4]."""

    def start(self, signs, units, rate):
        return DenseMeasure(signs, units, rate)


class AtLeast(LazyBregman):
    """Weights min(1, c exp(-rate s)) of at least a given mass, with the least such c >= 1.

    This is the Bregman projection of the weights min(1, exp(-rate s)) onto the measures of at least that mass [BCS,
    section 3]. It differs from `LazyBregman` only if those weights add up to more. The weights of all measures are
    ordered by c, and c is 1 or the one that gives the mass. If a row changes, the weights of the others therefore
    change in one direction. If both tables have c = 1, they do not change. If both have the mass, they change by the
    change of the row. If the first has c = 1 and a mass of at least M, and the second has c > 1 and the mass M, they
    grow, in sum, by M - u' - (mass - u) <= u - u', where u and u' are the weights of the row.
    """


class Local(Measure):
    """Weights min(1, exp(-rate s)) that depend on no other row: those of MadaBoost (Domingo and Watanabe 2000).

    The weight of a row follows from its label, its margins and the rate alone, so the weights of other rows do not
    change. A row that is added moves a sum by its own term, which is at most CAP; a row that is replaced takes away one
    such term and adds another. The mass is private; sums are divided by the wanted mass, so means are scaled by a
    factor that is never released.
    """

    def start(self, signs, units, rate):
        return LocalMeasure(signs, rate)

    def moved(self, neighbors: str) -> int:
        return CAP if neighbors == "add-remove" else 2 * CAP


class LocalMeasure:
    """State of `Local`: weights min(1, exp(-rate * s_i)) of rows with scores s_i; private, computed from the data."""

    def __init__(self, signs, rate):
        self._signs, self._scores, self._table = signs, np.zeros(len(signs), np.int32), local_table(rate)

    def weights(self):
        return local_weights(self._scores, self._signs, self._table)

    def add(self, margins):
        measure.add(self._scores, self._signs, margins, UNIT)


def local_table(rate):
    """Return the units of each score from 0 on; the last entry is for all larger scores: int32."""
    reach = min(math.ceil(UNIT * math.log(CAP) / rate) + 1, 1 << 24)  # weights are less than a unit from here on
    falling = np.floor(CAP * reals.exp(-rate * np.arange(reach) / UNIT))
    return np.append(falling, 0).astype(np.int32)


def local_weights(scores, signs, table):
    """Return y_i times the units of each row: int32, shape (n,)."""
    return table[np.clip(scores, 0, len(table) - 1)] * signs


def projected(scores, signs, table, units, least=False):
    """Return y_i times the units of each row, which add up to `units`, or, if `least`, to at least as many."""
    if least and int(measure.units(scores, table, [0])[0]) >= units:
        return measure.weights(scores, signs, table, 0, 0)
    return measure.project(scores, signs, table, units)


class DenseMeasure:
    """State of `LazyBregman`: weights min(1, c exp(-rate * s_i)) of rows with scores s_i, which add up to a given mass.

    Scores are sums of y_i h(x_i), on a grid. Weights are integers in units of 1 / CAP and add up to the mass exactly,
    so the bound in `dpfast.learners.halfspaces.weak` on the difference between neighbours holds without rounding
    errors. If the mass exceeds n * CAP units, all weights are 1.
    """

    def __init__(self, signs, units, rate):
        self._signs, self._units = signs, min(units, len(signs) * CAP)
        self._scores = np.zeros(len(signs), np.int32)
        self._table = measure.table(rate / UNIT, CAP)

    def weights(self):
        return measure.project(self._scores, self._signs, self._table, self._units)

    def add(self, margins):
        measure.add(self._scores, self._signs, margins, UNIT)

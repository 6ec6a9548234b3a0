"""The measures that smooth boosters keep on their rows, in integers [BCS, sections 3 and 4].

[BCS] M. Bun, M. Carmosino, J. Sorrell, Efficient, Noise-Tolerant, and Private Learning via Boosting, COLT 2020.
"""

import math
from abc import ABC, abstractmethod

import numpy as np

from dpfast.kernels import measure, reals

CAP = 1 << 12  # units of the largest weight
UNIT = 1 << 12  # of a margin, in scores
MOST_ROUNDS = (1 << 19) - 1  # whose scores 32 bits hold


class Measure(ABC):
    """How a booster weighs its rows: NxM of [BCS, Algorithm 2].

    **What it must hold to.** Row i has an integer weight u_i in [0, CAP], a function of the labels, the margins so far
    and public numbers. On neighbouring tables, by one row replaced or added, all weights of other rows differ in one
    direction and, in sum, by no more than the largest weight of the row that changed. That is what `WeakLearner` and
    its noise rest on: then a sum of y_i u_i h(x_i), |h| <= 1, moves by at most 2 CAP. A measure of a fixed mass holds
    to it if its weights move in one direction [BCS, Lemma 25], one that weighs each row by itself does in any case.
    """

    @abstractmethod
    def start(self, signs, units, rate):
        """An even measure.

        Parameters
        ----------
        signs : ndarray of int8, shape (n,)
            Labels y, -1 or 1.
        units : int
            The mass wanted, in units of 1 / CAP: public, or released.
        rate : float
            > 0: weights fall with exp(-rate * sum of y h(x)).

        Returns
        -------
        state
            With ``weights()``, y_i u_i as int32 of shape (n,), and ``add(margins)``, which counts in float32 h(x_i).
        """


class LazyBregman(Measure):
    """Weights min(1, c exp(-rate s)) of a fixed mass: LB-NxM [BCS, Algorithm 4]."""

    def start(self, signs, units, rate):
        return DenseMeasure(signs, units, rate)


class Local(Measure):
    """Weights min(1, exp(-rate s)), each of its own row: those of MadaBoost (Domingo and Watanabe 2000).

    Other rows' weights do not move at all: under "add-remove" a sum moves by CAP at most, and the noise of a round,
    which is that of every measure, hides twice as much. The mass is whatever it is, and private; sums are divided by
    the mass wanted, so that means are those of the measure times a factor that nobody learns.
    """

    def start(self, signs, units, rate):
        return LocalMeasure(signs, rate)


class LocalMeasure:
    """Weights min(1, exp(-rate * s_i)) of rows with scores s_i. Private state: it knows the data."""

    def __init__(self, signs, rate):
        self._signs, self._scores, self._table = signs, np.zeros(len(signs), np.int32), local_table(rate)

    def weights(self):
        """y_i times the units of each row: int32, shape (n,)."""
        return local_weights(self._scores, self._signs, self._table)

    def add(self, margins):
        """Count in a hypothesis: float32 h(x_i) in [-1, 1], shape (n,)."""
        measure.add(self._scores, self._signs, margins, UNIT)


def local_table(rate):
    """The units of each score from 0 on, those of the last of all beyond: int32."""
    falling = np.floor(CAP * reals.exp(-rate * np.arange(_reach(rate)) / UNIT))
    return np.append(falling, 0).astype(np.int32)


def local_weights(scores, signs, table):
    """y_i times the units of each row: int32, shape (n,)."""
    return table[np.clip(scores, 0, len(table) - 1)] * signs


def _reach(rate):
    """Scores from which weights are less than a unit."""
    return min(math.ceil(UNIT * math.log(CAP) / rate) + 1, 1 << 24)


class DenseMeasure:
    """Weights min(1, c exp(-rate * s_i)) of rows with scores s_i, with c such that they add up to a given mass.

    Private state: it knows the data. Scores are sums of y_i h(x_i), on a grid. Weights are in units of 1 / CAP and
    add up to the mass exactly, so that neighbours' weights differ as
    `dpfast.learners.halfspaces.weak` says, without rounding.

    Parameters
    ----------
    signs : ndarray of int8, shape (n,)
        Labels y, -1 or 1.
    units : int
        The mass, in units; where it exceeds n * CAP all weights are 1.
    rate : float
        > 0.
    """

    def __init__(self, signs, units, rate):
        self._signs, self._units = signs, min(units, len(signs) * CAP)
        self._scores = np.zeros(len(signs), np.int32)
        self._table = measure.table(rate / UNIT, CAP)

    def weights(self):
        """y_i times the units of each row: int32, shape (n,)."""
        return measure.project(self._scores, self._signs, self._table, self._units)

    def add(self, margins):
        """Count in a hypothesis: float32 h(x_i) in [-1, 1], shape (n,)."""
        measure.add(self._scores, self._signs, margins, UNIT)

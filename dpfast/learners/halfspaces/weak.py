"""Weak learners for private boosting: what happens to the measure in one round [BCS, sections 4 and 5].

[BCS] M. Bun, M. Carmosino, J. Sorrell, Efficient, Noise-Tolerant, and Private Learning via Boosting, COLT 2020.
"""

import math
from abc import ABC, abstractmethod

import numpy as np

from dpfast.accounting import Cost, discrete_gaussian_sigma, zcdp_rho
from dpfast.accounting.costs import discrete_gaussian_cost
from dpfast.accounting.zcdp import SLACK
from dpfast.kernels import levels
from dpfast.learners.halfspaces.measure import CAP
from dpfast.mechanisms import discrete_gaussian
from dpfast.mechanisms.draws import Question, asked
from dpfast.tables import BitMatrix
from dpfast.tables.signed_rows import PackedRows
from dpfast.tables.unit_rows import unit_rows

LARGEST_SCALE = 2.0**52  # of noise that the kernels draw


class WeakLearner(ABC):
    """A learner that boosting calls on a measure, once a round; it owns the privacy of a round.

    **What it must hold to.** The measure gives row i the integer weight u_i in [0, CAP], and the learner sees y_i
    u_i. On neighbouring tables, by one row replaced or added, all weights of other rows differ in one direction and,
    in sum, by no more than the largest weight of the row that changed
    (`dpfast.kernels.measure`). A sum of y_i u_i h(x_i) with |h| <= 1 thus changes by at most 2 CAP, as does, in
    Euclidean norm, a sum of y_i u_i x_i with |x_i| <= 1. From this `sensitivity` follows, and `noise` makes n_rounds
    adaptive calls of `learn` together (epsilon, delta)-DP.
    """

    @abstractmethod
    def rows(self, X, fit_intercept):
        """Return the table as this learner reads it, with a `shape`; refuse an invalid table."""

    @abstractmethod
    def sensitivity(self, rows):
        """How far one row moves the statistic that a round releases, in the units and the norm that `noise` counts
        in."""

    @abstractmethod
    def noise(self, rows, epsilon, delta, n_rounds):
        """The amount of noise in a round, as `learn` takes it."""

    def cost(self, rows, noise, n_rounds):
        """What n_rounds calls of `learn` cost, as a list of `dpfast.accounting.Cost`; None where no more is proved than
        epsilon and delta."""
        return None

    @abstractmethod
    def learn(self, rows, weights, units, noise, rng):
        """A round's hypothesis, released.

        Parameters
        ----------
        rows : what `rows` returned
        weights : ndarray of int32, shape (n,)
            y_i u_i.
        units : int
            The sum of all u_i.
        noise : what `noise` returned
        rng : numpy.random.Generator
        """

    @abstractmethod
    def margins(self, rows, hypothesis):
        """h(x_i) in [-1, 1]: float32, shape (n,)."""

    @abstractmethod
    def linear(self, hypothesis, d):
        """The hypothesis as (coef, intercept), float64 of shape (d,) and float: the sign of <coef, x> + intercept on
        rows x of the table, to be averaged over the rounds."""


class NoisyCentering(WeakLearner):
    """The weighted mean of y x, plus Gaussian noise [BCS, section 5.2]: a halfspace through the mean of the measure.

    Rows are clipped to the unit ball, after a 1 for the intercept has been appended. Noise is discrete Gaussian on the
    grid of the rows, so exact; (epsilon, delta) is that of n_rounds adaptive Gaussian mechanisms of sensitivity 2 CAP
    in units of the sum, 2 / (kappa n) in units of the mean, half of [BCS, Theorem 27]: see
    `dpfast.accounting.discrete_gaussian_sigma`.
    """

    def rows(self, X, fit_intercept):
        return unit_rows(X, fit_intercept=fit_intercept)

    def sensitivity(self, rows):
        return 2 * CAP * rows.reach

    def noise(self, rows, epsilon, delta, n_rounds):
        sensitivity, size = self.sensitivity(rows), rows.shape[1]
        sigma = discrete_gaussian_sigma(epsilon, delta, sensitivity=sensitivity, releases=n_rounds, size=size)
        if sigma > LARGEST_SCALE:
            raise ValueError(f"epsilon must ask for noise that 64-bit integers hold, got {epsilon!r}")
        return sigma

    def cost(self, rows, noise, n_rounds):
        return [
            *discrete_gaussian_cost(noise, sensitivity=self.sensitivity(rows), releases=n_rounds, size=rows.shape[1])
        ]

    def learn(self, rows, weights, units, noise, rng):
        total = rows.weighted_sum(weights)
        return discrete_gaussian(total, noise, rng=rng) / (float(units) * rows.reach)

    def margins(self, rows, hypothesis):
        return rows.margins(hypothesis)

    def linear(self, hypothesis, d):
        return hypothesis[:d], float(hypothesis[d:].sum())


class NoisyStump(WeakLearner):
    """One feature or its negation, chosen by the exponential mechanism on its weighted agreement with the labels.

    Features are bits b, and a hypothesis is 2 b - 1 or 1 - 2 b. Its agreement, the sum of y_i u_i h(x_i), moves by at
    most 2 CAP; agreements are counted in steps of GRID, so that they move by at most 2 CAP / GRID, and in both
    directions: the range of a draw is R = 4 CAP / GRID. n_rounds draws of exponent t are n_rounds (t R)^2 / 8-zCDP by
    Hoeffding's lemma.

    Parameters
    ----------
    threshold : None, float or array_like
        Turns numbers into bits, as in `BitMatrix`.
    """

    GRID = 64

    def __init__(self, threshold=None):
        self.threshold = threshold

    def rows(self, X, fit_intercept):
        return PackedRows(BitMatrix(X, threshold=None if isinstance(X, BitMatrix) else self.threshold))

    def sensitivity(self, rows):
        return 2 * CAP // self.GRID

    def noise(self, rows, epsilon, delta, n_rounds):
        rho = zcdp_rho(epsilon, delta)
        return math.nextafter(math.sqrt(8 * rho / n_rounds), 0) * (1 - 1e-15) / (2 * self.sensitivity(rows))

    def cost(self, rows, noise, n_rounds):
        return [Cost("range", 2 * self.sensitivity(rows) * noise * (1 + SLACK), times=n_rounds)]

    def learn(self, rows, weights, units, noise, rng):
        agreements = rows.weighted_sum(weights) // self.GRID
        drawn = asked(
            lambda: Question("stump", agreements, "range", noise, mirrored=True),
            lambda: levels.draw(agreements, noise, rng, mirrored=True),
            rng,
        )
        negated, feature = divmod(drawn, len(agreements))
        return feature, -1 if negated else 1

    def margins(self, rows, hypothesis):
        feature, sign = hypothesis
        return rows.votes(np.array([feature]), np.array([sign])).astype(np.float32)

    def linear(self, hypothesis, d):
        feature, sign = hypothesis
        coef = np.zeros(d)
        coef[feature] = 2 * sign
        return coef, -float(sign)

"""Weak learners for private boosting, which find a hypothesis for weighted rows [BCS, sections 4 and 5]."""

import math
from abc import ABC, abstractmethod

import numpy as np

from dpfast.accounting import Cost, discrete_gaussian_sigma, zcdp_rho
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.claims.noise import check_scale
from dpfast.accounting.curves.zcdp import SLACK
from dpfast.kernels import levels
from dpfast.learners.halfspaces.measure import CAP
from dpfast.mechanisms import discrete_gaussian
from dpfast.mechanisms.draws import Question, ask
from dpfast.tables import BitMatrix
from dpfast.tables.signed_rows import PackedRows
from dpfast.tables.unit_rows import unit_rows


class WeakLearner(ABC):
    """A learner that boosting calls once a round with weighted rows; it is responsible for the privacy of the round.

    **Requirements.** The measure gives row i the integer weight u_i in [0, CAP], and the learner gets y_i u_i. By the
    requirements of `Measure`, one row changes a sum of y_i u_i h(x_i) with |h| <= 1 by at most 2 CAP, and also, in
    Euclidean norm, a sum of y_i u_i x_i with |x_i| <= 1. For some measures it is less: `moved` is what `Measure.moved`
    returns. `sensitivity` follows from this, and with `noise` n_rounds adaptive calls of `learn` are together (epsilon,
    delta)-DP.
    """

    @abstractmethod
    def rows(self, X, fit_intercept):
        """Return the table in the form that this learner reads, with a `shape`; refuse an invalid table."""

    @abstractmethod
    def sensitivity(self, rows, moved=2 * CAP):
        """Return how much one row changes the statistic of a round, in the units and the norm of `noise`."""

    @abstractmethod
    def noise(self, rows, epsilon, delta, n_rounds, moved=2 * CAP):
        """Return the amount of noise in a round, for `learn`."""

    def cost(self, rows, noise, n_rounds, moved=2 * CAP):
        """Return the cost of n_rounds calls of `learn` as a list of `dpfast.accounting.Cost`.

        None stands for the pair (epsilon, delta), if no more is proved.
        """
        return None

    @abstractmethod
    def learn(self, rows, weights, units, noise, rng):
        """Return the hypothesis of a round, which is released.

        `rows` and `noise` are the results of these methods, `weights` the y_i u_i as int32 of shape (n,), and `units`
        the sum of all u_i.
        """

    @abstractmethod
    def margins(self, rows, hypothesis):
        """Return h(x_i) in [-1, 1]: float32, shape (n,)."""

    @abstractmethod
    def linear(self, hypothesis, d):
        """Return the hypothesis as (coef, intercept), float64 of shape (d,) and float, to be averaged over the rounds.

        Its prediction for a row x of the table is the sign of <coef, x> + intercept.
        """


class NoisyCentering(WeakLearner):
    """The weighted mean of y x, plus Gaussian noise [BCS, section 5.2]: a halfspace through the mean of the measure.

    A 1 for the intercept is appended to each row, and rows outside the unit ball are clipped to it. The noise is
    discrete Gaussian on the grid of the rows, and therefore exact. The rounds are n_rounds adaptive Gaussian mechanisms
    of sensitivity `moved` for the sum. This is 2 CAP, or 2 / (kappa n) for the mean, half of [BCS, Theorem 27], for the
    measure of the paper: see `dpfast.accounting.discrete_gaussian_sigma`.
    """

    def rows(self, X, fit_intercept):
        return unit_rows(X, fit_intercept=fit_intercept)

    def sensitivity(self, rows, moved=2 * CAP):
        return moved * rows.reach

    def noise(self, rows, epsilon, delta, n_rounds, moved=2 * CAP):
        sensitivity, size = self.sensitivity(rows, moved), rows.shape[1]
        sigma = discrete_gaussian_sigma(epsilon, delta, sensitivity=sensitivity, releases=n_rounds, size=size)
        check_scale(sigma, epsilon)
        return sigma

    def cost(self, rows, noise, n_rounds, moved=2 * CAP):
        settings = {"sensitivity": self.sensitivity(rows, moved), "releases": n_rounds, "size": rows.shape[1]}
        return [*discrete_gaussian_cost(noise, **settings)]

    def learn(self, rows, weights, units, noise, rng):
        total = rows.weighted_sum(weights)
        return discrete_gaussian(total, noise, rng=rng) / (float(units) * rows.reach)

    def margins(self, rows, hypothesis):
        return rows.margins(hypothesis)

    def linear(self, hypothesis, d):
        return hypothesis[:d], float(hypothesis[d:].sum())


class NoisyStump(WeakLearner):
    """One feature or its negation, chosen by the exponential mechanism on its weighted agreement with the labels.

    Features are bits b, made of numbers by `threshold` as in `BitMatrix`; a hypothesis is 2 b - 1 or 1 - 2 b. Its
    agreement, the sum of y_i u_i h(x_i), changes by at most `moved`, CAP or 2 CAP, which GRID divides. Agreements are
    counted in steps of GRID, so they change by at most moved / GRID in either direction: the range of a draw is R = 2
    moved / GRID. n_rounds draws of exponent t are n_rounds (t R)^2 / 8-zCDP by Hoeffding's lemma.
    """

    GRID = 64

    def __init__(self, threshold=None):
        self.threshold = threshold

    def rows(self, X, fit_intercept):
        return PackedRows(BitMatrix(X, threshold=None if isinstance(X, BitMatrix) else self.threshold))

    def sensitivity(self, rows, moved=2 * CAP):
        return -(-moved // self.GRID)

    def noise(self, rows, epsilon, delta, n_rounds, moved=2 * CAP):
        rho = zcdp_rho(epsilon, delta)
        return math.nextafter(math.sqrt(8 * rho / n_rounds), 0) * (1 - 1e-15) / (2 * self.sensitivity(rows, moved))

    def cost(self, rows, noise, n_rounds, moved=2 * CAP):
        return [Cost("range", 2 * self.sensitivity(rows, moved) * noise * (1 + SLACK), times=n_rounds)]

    def learn(self, rows, weights, units, noise, rng):
        agreements = rows.weighted_sum(weights) // self.GRID
        k = ask(
            lambda: Question("stump", agreements, "range", noise, mirrored=True),
            lambda: levels.draw(agreements, noise, rng, mirrored=True),
            rng,
        )
        negated, feature = divmod(k, len(agreements))
        return feature, -1 if negated else 1

    def margins(self, rows, hypothesis):
        feature, sign = hypothesis
        return rows.votes(np.array([feature]), np.array([sign])).astype(np.float32)

    def linear(self, hypothesis, d):
        feature, sign = hypothesis
        coef = np.zeros(d)
        coef[feature] = 2 * sign
        return coef, -float(sign)

"""The noise of `HalfspaceClassifier`: planned as one bill, before a row is looked at."""

import math
from fractions import Fraction

from dpfast.accounting import NoisySums, bill_noise, discrete_gaussian_sigma
from dpfast.accounting.checks import float_above
from dpfast.accounting.costs import discrete_gaussian_cost
from dpfast.learners.halfspaces.images import LIMIT
from dpfast.learners.halfspaces.pairs import GROUPS, SHARE, draws

ROUNDS_PAID = 20  # the opening is paid for like one round for each so many
_LARGEST_SIGMA = 2.0**52


class Noise:
    """The noise of a run, in steps of the grid, that makes its releases together (epsilon, delta)-DP.

    The opening counts every row `unit` times, so that it moves by no more than the square root of `paid` times what a
    round's sum moves by: it costs what that many rounds do. Where a discovery was the opening, the noise of rounds was
    planned with it, for two classes. Draws of pairs have exponents, by which they cost a 20th of the bill.
    """

    def __init__(self, p, image, classes, pairs):
        moves = sensitivity(image.reach, classes, p.neighbors)
        if p.plan is not None:
            planned = sensitivity(image.reach, 2, p.neighbors)
            self.sigma = float_above(Fraction(p.plan.rest[0]) * Fraction(moves, planned))
            if pairs:
                self.exponents = [Fraction(each) / (1 if classes == 2 else 2) for each in p.plan.rest[1:]]
            return
        paid = -(-p.n_rounds // ROUNDS_PAID)
        square = image.opening_square(2 if p.neighbors == "replace" else 1)
        self.unit = math.isqrt(paid * moves**2 // square)
        size = max((1 if classes == 2 else classes) * (image.size + pairs * GROUPS**2), image.opening_size)
        releases = {"sensitivity": p.rows_per_unit * moves, "releases": p.n_rounds + paid, "size": size}
        if pairs:
            share = Fraction(1, SHARE)
            sums = NoisySums(releases["sensitivity"], 1 - share, size, releases["releases"])
            drawn = draws(p.neighbors, classes, LIMIT, share, pairs, p.rows_per_unit)
            (self.sigma, *exponents), self.cost = bill_noise([sums, *drawn], p.epsilon, p.delta)
            self.exponents = list(map(Fraction, exponents))
        else:
            self.sigma = discrete_gaussian_sigma(p.epsilon, p.delta, **releases)
            self.cost = discrete_gaussian_cost(self.sigma, **releases)
        if self.sigma > _LARGEST_SIGMA:
            raise ValueError(f"epsilon must ask for noise that 64-bit integers hold, got {p.epsilon!r}")


def sensitivity(reach, classes, neighbors):
    """How far one row moves the sum of a round, at most and rounded up: int, in steps of the grid.

    Parameters
    ----------
    reach : int
        The longest image, times the largest limit.
    classes : int
    neighbors : {"replace", "add-remove"}
    """
    changes = 2 if neighbors == "replace" else 1
    return math.isqrt((1 if classes == 2 else 2) * (changes * reach) ** 2 - 1) + 1

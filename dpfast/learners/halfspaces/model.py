"""What `HalfspaceClassifier` learns by: its loss, the noise of one bill, and the model that was released so far.

With p the softmax of a row's scores, the residual of a row of class y is h (e_y - q): h = min(1, 2 (1 - p_y)), and q
the chances of the other classes given that it is one of these, 0 for y (csrc/logistic.h). So |residual| <= sqrt(2), and
of two classes, of which one score is kept, <= 1: twice what is left to learn of a row, and no more for a row on the
wrong side than for one on the boundary.

**It is the gradient of a convex loss.** Let m = ln(sum of e^f_c over c != y) - f_y, which is convex in the scores; its
gradient is q - e_y. The loss phi(m), with phi(m) = 2 ln(1 + e^m) for m <= 0 and m + 2 ln 2 above, has phi' = 2 / (1 +
e^-m) = 2 (1 - p_y) up to m = 0 and 1 above: phi is convex and rises, so that phi(m) is convex.

**Strictly proper.** Let classes have chances pi. As h (e_y - q) = s_y (e_y - p) with s_y = h / (1 - p_y), the mean
residual is 0 if and only if pi_c s_c = p_c (sum of pi_y s_y), that is, if pi_c is proportional to G(p_c) = p_c / s_c =
p_c max(1/2, 1 - p_c). G rises strictly, so that for given pi one factor lambda alone makes the G^-1(lambda pi_c) add up
to 1: the minimum is at one p, its most probable class is that of pi, and pi follows from it. Of two classes with scores
apart by f the log odds are sign(f) ln((1 + e^|f|) / 2).

**Moderated scores.** Coefficients of codes are uncertain by the noise that is left in them (`ShrunkenDescent.left`). A
score of variance s^2 means less than it says: the mean of expit(f) over such a score is about expit(f / sqrt(1 + pi s^2
/ 8)) [M]. So what columns add to the scores of two classes is divided by this root, with s^2 that of the average row.
The loss is taken to be curved as at the beginning, where all rows have the class log odds: by 2 p (1 - p) max(p, 1 - p)
in the mean, where p is the share of a class; and by _TOGETHER times that, for columns that say the same are curved
more. Where rounds have taken most of the noise back the root is about 1.

**Plain rows of two classes** have the residual min(1, (1 + e^-4) / (1 + e^(2 m - 4))) instead, where m is the score of
the row's own class. It falls as m grows and is at most 1: it is the gradient of a convex loss, and has the same
sensitivities. Rows matter up to a margin of about 2. The slope and the shift of the scores are those of
`dpfast.learners.halfspaces.steepness`, from class counts of score levels that are released after the rounds.

[M] D. J. C. MacKay, The Evidence Framework Applied to Classification Networks, Neural Computation 4 (1992).
"""

import math
from fractions import Fraction

import numpy as np

from dpfast.accounting import NoisySums, bill_noise, discrete_gaussian_sigma
from dpfast.accounting.costs import discrete_gaussian_cost
from dpfast.accounting.numbers import float_above
from dpfast.kernels import reals
from dpfast.kernels.reals import log
from dpfast.learners.halfspaces.images import LIMIT, CodeImage
from dpfast.learners.halfspaces.pairs import GROUPS, SHARE, Pairs, draws
from dpfast.learners.halfspaces.shrunken import JoinedDescent, ShrunkenDescent
from dpfast.learners.halfspaces.steepness import LEVELS, slope_and_shift

_HALVINGS = 60  # of an interval of length 1/2
_TOGETHER = 2.0


def class_weights(declared, classes):
    """Declared weights of classes, the largest 1: float64, shape (k,).

    Parameters
    ----------
    declared : dict
        Positive finite numbers by class; a class that it does not name has weight 1.
    classes : ndarray, shape (k,)

    Raises
    ------
    ValueError
        For a class that there is not.
    """
    known = classes.tolist()
    if foreign := [label for label in declared if label not in known]:
        raise ValueError(f"class_weight names {foreign[0]!r}, which is none of the classes {known[:5]!r}")
    weights = np.array([float(declared.get(label, 1)) for label in known])
    return weights / weights.max()


def starts(sizes):
    """Return the scores whose probabilities are the shares of the classes.

    These are the logarithms of p = G^-1(lambda pi), where the pi are the shares and lambda is such that p adds up to 1.

    Parameters
    ----------
    sizes : ndarray of float64, shape (k,)
        Of the classes, each above 0.

    Returns
    -------
    ndarray of float64, shape (1,) for two classes, else (k,)
    """
    shares = sizes / sizes.max()
    low, high = 0.0, 0.5  # of lambda: at 1/2 the largest p is 1
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reals.sum(_chances(middle * shares)) > 1 else (middle, high)
    logs = log(_chances(high * shares))
    return logs[1:] - logs[:1] if len(logs) == 2 else logs - reals.sum(logs) / len(logs)


def _chances(values):
    """G^-1 of values in [0, 1/2]."""
    return 2 * values / (1 + np.sqrt(np.maximum(0.0, 1 - 4 * values)))


ROUNDS_PAID = 20  # the opening, and the counts of score levels, are paid for like one round for each so many
_LARGEST_SIGMA = 2.0**52


class Noise:
    """The noise of a run, in steps of the grid, that makes its releases together (epsilon, delta)-DP.

    The opening counts every row `unit` times, so that it moves by no more than the square root of `paid` times what a
    round's sum moves by: it costs what that many rounds do. So do the counts of score levels, which count every row
    `level_unit` times: replacing a row moves two of them, adding one moves one. Where a discovery was the opening, the
    noise of rounds was planned with it, for two classes. Draws of pairs have exponents, by which they cost a 20th of
    the bill.
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
        changes = 2 if p.neighbors == "replace" else 1
        self.unit = math.isqrt(paid * moves**2 // image.opening_square(changes))
        self.level_unit = math.isqrt(paid * moves**2 // changes)
        size = max((1 if classes == 2 else classes) * (image.size + pairs * GROUPS**2), image.opening_size, 2 * LEVELS)
        others = paid * (2 if image.by_margin else 1)
        releases = {"sensitivity": p.rows_per_unit * moves, "releases": p.n_rounds + others, "size": size}
        if pairs:
            share = Fraction(1, SHARE)
            sums = NoisySums(releases["sensitivity"], 1 - share, size, releases["releases"])
            drawn = draws(p.neighbors, classes, LIMIT, share, pairs, p.rows_per_unit)
            (self.sigma, *exponents), self.cost = bill_noise((sums, *drawn), p.epsilon, p.delta)
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


class Model:
    """What was released so far: nothing, the opening, rounds, pairs, score levels."""

    def __init__(self, image, classes, width):
        self.image, self._columns = image, 1 if classes == 2 else classes
        self._width, self.constants, self.descent = width, np.zeros(self._columns), None
        self.interactions = ()
        self._slope, self._shift, self._shifted = 1.0, 0.0, False

    def begin(self, deviation, p):
        """Go on from the opening, which the image has taken up."""
        image, classes = self.image, len(self.image.opening.sizes)
        self.descent = ShrunkenDescent(image.groups, classes, deviation, image.opening.n, p.n_rounds, image.fastest)
        self._shifted = p.fit_intercept
        if p.fit_intercept:
            self.constants = starts(image.opening.sizes)

    def pairs(self, deviation, n_rounds, most):
        """The pairs to choose from, for so many rounds to come with this noise."""
        image = self.image
        longer = math.sqrt(image.radius**2 + most)  # entries of pairs are 1
        coef, _, _ = image.linear(self.descent.seen())
        return Pairs(image.opening, coef, deviation * longer / math.sqrt(n_rounds))

    def join(self, interactions, deviation, n_rounds):
        """Go on for so many rounds with these pairs, if there are any."""
        if not interactions:
            return
        before, at = self.image, self.image.pairs_at
        self.image, self.interactions = before.joined(interactions), tuple(interactions)
        image, classes = self.image, len(before.opening.sizes)
        self.descent.rescale(image.radius / before.radius)
        groups = image.groups[at : image.pairs_at]
        joined = ShrunkenDescent(groups, classes, deviation, image.opening.n, n_rounds, image.fastest)
        self.descent = JoinedDescent(self.descent, joined, at)

    def level(self, counts, deviation):
        """Take up the released counts of score levels."""
        self._slope, self._shift = slope_and_shift(counts, deviation, self._shifted)

    def linear(self):
        """Coefficients, intercepts and shifts, shapes (columns, m), (columns,) and (columns,)."""
        if self.descent is None:
            return np.zeros((self._columns, self._width)), np.zeros(self._columns), self.constants
        coef, intercept, shift = self.image.linear(self.descent.model() * self._moderation() * self._slope)
        return np.ascontiguousarray(coef.T), intercept + 0.0, self.constants * self._slope + self._shift + shift

    def noise(self):
        """Deviations of the noise in coefficients of codes, shape (columns, m); None before a round, and of others."""
        if self.descent is None or not isinstance(self.image, CodeImage):
            return None
        return np.ascontiguousarray(self.image.deviations(self.descent.noise() * self._moderation()).T)

    def _moderation(self):
        """What entries of the model are multiplied by: (size, 1); 1 for the intercept, plain rows and more classes."""
        factors = np.ones((len(self.image.groups), 1))
        if self._columns > 1 or not isinstance(self.image, CodeImage):
            return factors
        opening = self.image.opening
        share = opening.sizes[1] / reals.sum(opening.sizes)
        curved = _TOGETHER * 2 * share * (1 - share) * max(share, 1 - share)
        left = self.descent.left(opening.n * curved * self.image.spread)
        variance = reals.dot(self.image.spread, left[:, 0])
        factors[self.image.groups >= 0] = 1 / math.sqrt(1 + math.pi / 8 * variance)
        return factors

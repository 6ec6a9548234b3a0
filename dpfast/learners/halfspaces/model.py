"""The loss that `HalfspaceClassifier` minimizes, the noise of its releases, and the model that follows from them.

**Residuals.** Let p be the softmax of the scores of a row of class y, and q the probabilities of the other classes
given that the class is not y (q_y = 0). The residual of the row is h (e_y - q), with h = min(1, 2 (1 - p_y))
(csrc/logistic.h). Its norm is at most sqrt(2). For two classes only one score is kept, and its residual is at most 1:
it is twice the probability of the wrong class, capped at 1 on the boundary.

**The loss is convex.** Let m = ln(sum of e^f_c over c != y) - f_y, which is convex in the scores f and has the gradient
q - e_y. The residual is minus the gradient of phi(m), where phi(m) = 2 ln(1 + e^m) for m <= 0 and m + 2 ln 2 above.
Indeed phi' = 2 / (1 + e^-m) = 2 (1 - p_y) up to m = 0, and 1 above. So phi is convex and increasing, and phi(m) is
convex.

**The loss is strictly proper.** Let the classes have probabilities pi. Since h (e_y - q) = s_y (e_y - p) with s_y = h /
(1 - p_y), the mean residual is 0 if and only if pi_c s_c = p_c (sum of pi_y s_y), that is, if pi_c is proportional to
G(p_c) = p_c / s_c = p_c max(1/2, 1 - p_c). G is strictly increasing, so for given pi there is exactly one factor lambda
for which the G^-1(lambda pi_c) add up to 1. Hence the minimum is at a single p, which has the same most probable class
as pi and determines pi. For two classes whose scores differ by f, the log odds are sign(f) ln((1 + e^|f|) / 2).

**Plain rows of two classes** have the residual min(1, (1 + e^-4) / (1 + e^(2 m - 4))) instead, where m is the score of
the row's own class. It decreases in m and is at most 1, so it is the gradient of a convex loss and has the same
sensitivities. It is 1 up to m = 0 and about a half at m = 2. The slope and the shift of the scores come from their mean
and from class counts of score levels, which are released after the rounds (`dpfast.learners.halfspaces.steepness`).

**Pace.** Later residuals take noise back, at a speed that is the rate times the curvature of the loss. So the standard
deviation of the noise left in scores grows as sqrt(rate / curvature). Where one class is rare, the curvature at the
beginning is c times that of equal classes, with c = 8 p (1 - p) max(p, 1 - p) for a class of share p. Rates c times as
large would leave the same noise, but coefficients come only as far as rate * curvature allows, and would stop short of
the minimum. Rates of codes of two classes are therefore multiplied by sqrt(c) if c < 1, that is, if a class has less
than .191 of the rows.

**Moderated scores.** Coefficients of codes are uncertain because of the noise left in them (`ShrunkenDescent.left`).
The mean of expit(f) over a score f of variance s^2 is about expit(f / sqrt(1 + pi s^2 / 8)) [M]. So for two classes,
what the columns add to a score is divided by this root, where s^2 is that of the average row. The curvature of the loss
is taken as at the beginning, when all rows have the log odds of the classes: its mean is 2 p (1 - p) max(p, 1 - p),
where p is the share of a class. It is multiplied by _TOGETHER, because directions in which columns agree are curved
more. If the rounds have removed most of the noise, the root is about 1.

[M] D. J. C. MacKay, The Evidence Framework Applied to Classification Networks, Neural Computation 4 (1992).
"""

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from dpfast.accounting import NoisySums, bill_noise, discrete_gaussian_sigma
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.claims.noise import changed_rows
from dpfast.base.plan import Proved, Task
from dpfast.kernels import reals
from dpfast.kernels.reals import log
from dpfast.learners.halfspaces.images import LIMIT, CodeImage, CodeShape
from dpfast.learners.halfspaces.pairs import GROUPS, MOST_CHOICES, SHARE, ColumnPairs, draws
from dpfast.learners.halfspaces.plain import PlainShape
from dpfast.learners.halfspaces.scales import MOST_COLUMNS
from dpfast.learners.halfspaces.shrunken import DescentByGroup, DescentOfLeaves, JoinedDescent, ShrunkenDescent
from dpfast.learners.halfspaces.steepness import LEVELS, REACH, STEPS, level_ends, middle_of, slope_and_height
from dpfast.learners.halfspaces.trees import grow, weight

ROUNDS_PAID = 20  # the opening costs one round for every so many rounds
_CURVED = 0.25  # the mean curvature of the loss if both classes have half of the rows
_HALVINGS = 60  # of an interval of length 1/2
_TOGETHER = 2.0  # curvature in directions in which columns agree, over that of the average row
_FAR = 6.0  # how far the descent of plain rows goes: coefficients of rare words, say, are large
_LEAST = 0.25  # of how far all may go, for groups of codes of columns with small coefficients
_FALL = 0.5  # of the rates of codes, from the first round to the last


def class_weights(declared, classes):
    """Return the declared weights of classes, scaled so that the largest is 1: float64, shape (k,).

    A class that is not named has weight 1. A named class that does not exist is refused.
    """
    labels = list(classes)
    if foreign := [label for label in declared if label not in labels]:
        raise ValueError(f"class_weight names {foreign[0]!r}, which is none of the classes {labels[:5]!r}")
    weights = np.array([float(declared.get(label, 1)) for label in labels])
    return weights / weights.max()


def starts(sizes):
    """Return the scores whose probabilities are the shares of the classes: shape (1,) for two classes, else (k,).

    These are the logarithms of p = G^-1(lambda pi), where the pi are the shares and lambda is such that p adds up to 1.
    """
    shares = sizes / sizes.max()
    low, high = 0.0, 0.5  # of lambda: at 1/2 the largest p is 1
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if reals.sum(_chances(middle * shares)) > 1 else (middle, high)
    logs = log(_chances(high * shares))
    return logs[1:] - logs[:1] if len(logs) == 2 else logs - reals.sum(logs) / len(logs)


def _chances(values):
    """Return G^-1 of values in [0, 1/2]."""
    return 2 * values / (1 + np.sqrt(np.maximum(0.0, 1 - 4 * values)))


class Grid(NamedTuple):
    """How many steps of the grid a row counts in each release besides the rounds, so that all have the same noise.

    A row counts `opening` times in the opening, such that its sensitivity is at most sqrt(`price`) times that of a
    round. The opening therefore costs as much as `price` rounds. The sum of the scores and the counts of score levels
    together cost as much as twice `price` rounds, of which the counts have three quarters, and all if there is no sum.
    The sum counts every row `middle` times, and a row adds at most STEPS to it in size. The counts count every row
    `levels` times; replacing a row changes two of them, and adding a row changes one.
    """

    opening: int
    middle: int
    levels: int
    price: int

    @classmethod
    def of(cls, shape: CodeShape | PlainShape, classes: int, n_rounds: int, neighbors: str) -> Self:
        """Return the grid of a fit whose images have this shape."""
        price, changes = -(-n_rounds // ROUNDS_PAID), changed_rows(neighbors)
        square = price * sensitivity(shape.reach, classes, neighbors) ** 2
        return cls(
            opening=math.isqrt(square // shape.opening_square(changes)),
            middle=math.isqrt(square // (2 * (changes * STEPS) ** 2)),
            levels=math.isqrt((3 if shape.by_middle else 4) * square // (2 * changes)),
            price=price,
        )


def releases(
    task: Task, shape: CodeShape | PlainShape, n_rounds: int, pairs: int = 0, leaves: int = 0
) -> dict[str, Proved]:
    """Return all releases of a fit by their names; together they are (epsilon, delta)-DP, and each has its noise.

    All sums have the same noise, in steps of `Grid`. With at most so many `pairs`, the exponents of their draws are
    chosen such that the draws cost a 20th of the bill. `leaves` is the largest number of leaves of all trees.
    """
    k = task.n_classes
    grid = Grid.of(shape, k, n_rounds, task.neighbors)
    entries = (1 if k == 2 else k) * (shape.size + pairs * GROUPS**2 + leaves)
    sums = {
        "sensitivity": task.rows_per_unit * sensitivity(shape.reach, k, task.neighbors),
        "releases": n_rounds + grid.price * (3 if shape.by_margin else 1),
        "size": max(entries, shape.opening_size, 2 * LEVELS),
    }
    releases: dict[str, Proved] = {}
    if pairs:
        share = Fraction(1, SHARE)
        parts = draws(task.neighbors, k, LIMIT, share, pairs, task.rows_per_unit)
        rounds = NoisySums(sums["sensitivity"], 1 - share, sums["size"], sums["releases"])
        (sigma, *exponents), cost = bill_noise((rounds, *parts), task.epsilon, task.delta)
        each = [Fraction(exponent) for part, exponent in zip(parts, exponents, strict=True) for _ in range(part.times)]
        releases["pairs"] = Proved("exponential", tuple(each), size=MOST_CHOICES, times=pairs)
    else:
        sigma = discrete_gaussian_sigma(task.epsilon, task.delta, **sums)
        cost = discrete_gaussian_cost(sigma, **sums)
    planned = {"opening": Proved("gaussian", sigma, cost, size=shape.opening_size)} | releases
    planned["rounds"] = Proved("gaussian", sigma, size=entries, times=n_rounds)
    if shape.by_middle:
        planned["middle"] = Proved("gaussian", sigma)
    if shape.by_margin:
        planned["levels"] = Proved("gaussian", sigma, size=2 * LEVELS)
    return planned


def sensitivity(reach, classes, neighbors):
    """Return the most by which one row changes the sum of a round, rounded up: int, in steps of the grid.

    `reach` is the norm of the longest image times the largest limit.
    """
    return math.isqrt((1 if classes == 2 else 2) * (changed_rows(neighbors) * reach) ** 2 - 1) + 1


class HalfspaceState:
    """The releases so far: nothing, the opening, rounds, pairs, score levels."""

    def __init__(self, image, classes, width, coefficients):
        self.image, self._columns, self._coefficients = image, 1 if classes == 2 else classes, coefficients
        self._width, self.constants, self.descent = width, np.zeros(self._columns), None
        self.interactions, self.forest = (), None
        self._slope, self._shift, self._middle = 1.0, 0.0, 0.0

    def begin(self, deviation, n_rounds, fit_intercept):
        """Start the descent from the opening of the image."""
        self.descent = self._descent(slice(None), deviation, n_rounds)
        if fit_intercept:
            self.constants = starts(self.image.opening.sizes)

    @property
    def sizes(self):
        """Return the noisy sizes of the classes, or None before the opening."""
        return None if self.descent is None else self.image.opening.sizes

    def question(self):
        """Return the question of a round, and its arguments."""
        return self.image.question(self.descent.coefficients(), self.constants)

    def pair_question(self, pairs):
        """Return the question for the choice of pairs, and its arguments."""
        return self.image.pair_question(self.descent.coefficients(), self.constants, pairs)

    def pairs(self, deviation, n_rounds, most):
        """Return the pairs to choose from, if so many rounds with this noise follow."""
        image = self.image
        longer = math.sqrt(image.radius**2 + most)  # entries of pairs are 1
        coef, intercept, _ = image.linear(self.descent.coefficients())
        return ColumnPairs(image.opening, coef, intercept + self.constants, deviation * longer / math.sqrt(n_rounds))

    def join(self, interactions, deviation, n_rounds):
        """Add these pairs to the model for so many further rounds, if there are any."""
        if interactions:
            self.interactions = tuple(interactions)
            self._extend(self.image.with_pairs(interactions), deviation, n_rounds)

    def plant(self, trees, depth, deviation, n_rounds, rng, hasty):
        """Draw so many trees from the releases so far, and add them to the model for so many further rounds.

        `hasty` is whether leaves may have larger rates than other entries: `DescentOfLeaves`.
        """
        coef, _, _ = self.image.linear(self.descent.coefficients())
        pairs = [pair.columns for pair in self.interactions]
        grown = grow(self.image.opening, coef, trees, depth, rng, pairs)
        if grown is not None:
            self.forest, shares, alone = grown
            leaf = weight(max(self.image.square, 0.0), trees)
            kind = partial(DescentOfLeaves, hasty=hasty, alone=alone)
            self._extend(self.image.with_leaves(self.forest, shares, leaf), deviation, n_rounds, kind)

    def _extend(self, image, deviation, n_rounds, kind=DescentByGroup):
        """Continue with an image that has further columns before the intercept."""
        before, at = self.image, self.image.pairs_at
        self.image = image
        self.descent.rescale(image.radius / before.radius)
        joined = self._descent(slice(at, image.pairs_at), deviation, n_rounds, least=1.0, kind=kind)
        self.descent = JoinedDescent(self.descent, joined, at)

    def middle_question(self):
        """Return the question for the sum of the scores, and its arguments."""
        return self.image.middle_question(self.descent.model(), self.constants)

    def centre(self, total, deviation):
        """Set the middle of the scores by their released sum, in STEPS of REACH."""
        unit, n = REACH / STEPS, self.image.opening.n
        self._middle = self.image.of_mean(self.descent.model(), self.constants)
        self._middle += middle_of(unit * total, unit * deviation, n)

    def level_question(self, deviation):
        """Return the question that counts score levels from the middle, given the noise of a count; its arguments."""
        ends = level_ends(deviation, self.image.opening.n)
        return self.image.level_question(self.descent.model(), self.constants - self._middle, ends)

    def level(self, counts, deviation):
        """Set slope and shift by the released counts of score levels."""
        odds = self.image.odds if self.image.by_middle else None
        self._slope, height = slope_and_height(counts, deviation, self.image.opening.n, self._middle, odds)
        self._shift = height - self._slope * self._middle

    def released(self):
        """Return what follows from the releases so far, as fields of a model."""
        fields = {"interactions": self.interactions, "trees": self.forest, "class_sizes": self.sizes}
        if self.descent is None:
            level = {"coef": np.zeros((self._columns, self._coefficients)), "intercept": np.zeros(self._columns)}
            return fields | level | {"shift": self.constants}
        moderation = self._moderation()
        coef, intercept, shift = self.image.linear(self.descent.model() * moderation * self._slope)
        fields["coef"], fields["intercept"] = np.ascontiguousarray(coef.T), intercept + 0.0
        fields["shift"] = self.constants * self._slope + self._shift + shift
        if isinstance(self.image, CodeImage):
            curved = self._curvature() if self._columns == 1 else _CURVED
            drawn = self.descent.drawn(self.image.opening.n * curved * self.image.spread)
            both = np.sqrt(np.square(self.descent.noise()) + np.square(drawn))
            noise = self.image.deviations(both * moderation)
            fields["coef_noise"], fields["code_shares"] = np.ascontiguousarray(noise.T), self.image.shares
        return fields

    def _descent(self, entries, deviation, n_rounds, least=_LEAST, kind=DescentByGroup):
        """Return a descent of the coefficients of these entries of the image; see `DescentByGroup` for `least`.

        `kind` is its class for rows of codes.
        """
        image, opening = self.image, self.image.opening
        public = image.groups[entries], len(opening.sizes), deviation, opening.n, n_rounds, image.fastest
        if not isinstance(image, CodeImage):
            return ShrunkenDescent(*public, mixed=self._width <= MOST_COLUMNS, far=_FAR, steady=image.steady)
        curvature, least = (self._curvature(), least) if self._columns == 1 else (_CURVED, 1.0)
        pace = math.sqrt(min(1.0, curvature / _CURVED))
        return kind(*public, pace, _FALL, curvature * image.spread[entries], least)

    def _curvature(self):
        """Return the mean curvature of the loss of two classes if all rows have the log odds of the classes."""
        sizes = self.image.opening.sizes
        share = sizes[1] / reals.sum(sizes)
        return 2 * share * (1 - share) * max(share, 1 - share)

    def _moderation(self):
        """Return the factors of moderation, (size, 1): 1 for the intercept, for plain rows and for more classes."""
        factors = np.ones((len(self.image.groups), 1))
        if self._columns > 1 or not isinstance(self.image, CodeImage):
            return factors
        curved = _TOGETHER * self._curvature()
        left = self.descent.left(self.image.opening.n * curved * self.image.spread)
        variance = reals.dot(self.image.spread, left[:, 0])
        factors[self.image.groups >= 0] = 1 / math.sqrt(1 + math.pi / 8 * variance)
        return factors

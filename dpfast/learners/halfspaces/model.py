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

**Shrinking.** After t rounds the coefficients w are a rate times the sum of t noisy sums, and their noise has a known
variance v. If the squares of a group of coefficients add up to little more than v explains, the group holds little but
noise. The variance tau of a group without noise is estimated from its own squares and from those of all coefficients,
which count as _PRIOR further members. Rows are scored by u = w tau / (tau + v), the mean of w given this estimate. If u
is shrunk too much, later residuals correct it. An intercept has no group: it is 0 while w^2 is below v, and w - v / w
above. None of this looks at a row. The coefficients of a few plain columns may have several variances:
`dpfast.learners.halfspaces.scales`.

If steps are too long, a sum points against the one before it by more than noise explains. The rate is halved each time
this happens. If a sum points along the one before it by more than noise explains, the rate grows by a 20th, up to where
it began. Otherwise an overshoot of the first rounds, which little noise reveals, would slow down all rounds.

**Pace.** Later residuals take noise back, at a speed that is the rate times the curvature of the loss. So the standard
deviation of the noise left in scores grows as sqrt(rate / curvature). Where one class is rare, the curvature at the
beginning is c times that of equal classes, with c = 8 p (1 - p) max(p, 1 - p) for a class of share p. Rates c times as
large would leave the same noise, but coefficients come only as far as rate * curvature allows, and would stop short of
the minimum. Rates of codes of two classes are therefore multiplied by sqrt(c) if c < 1, that is, if a class has less
than .191 of the rows.

**Falling rates.** Noise added early is mostly taken back, and noise added late is not. So the rates of codes fall, by
the same amount in each round and to a half in the last one; rates above the largest one allowed fall less. That changes
how much noise is left by more than it changes how far coefficients come. docs/halfspaces.md names the tables on which
the constants were chosen.

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
from dpfast.learners.halfspaces.scales import MOST_COLUMNS, ScaleMixture
from dpfast.learners.halfspaces.steepness import LEVELS, REACH, STEPS, level_ends, middle_of, slope_and_height
from dpfast.learners.halfspaces.trees import grow, weight
from dpfast.tables.arrays import side_by_side

ROUNDS_PAID = 20  # the opening costs one round for every so many rounds
_CURVED = 0.25  # the mean curvature of the loss if both classes have half of the rows
_HALVINGS = 60  # of an interval of length 1/2
_TOGETHER = 2.0  # curvature in directions in which columns agree, over that of the average row
_SIGNAL = 3.0  # the rate is this over the noise of one sum and the number of rounds
_PRIOR = 10
_TURNED = 5.0  # steps are too long if a sum points against the last one by so many deviations of the noise
_GROWTH = 1.05  # of the rate, if a sum points along the last one by as many
_FALL = 0.5  # of the rates of codes, from the first round to the last
_LITTLE = 1e-6
_WIDE = 1 << 12  # more terms of one group take less time to be added in lanes than one after another
_LATE = 0.8  # the model is the mean over the rounds after this share of them; its noise is about that of this share


class ShrunkenDescent:
    """Descent by noisy sums, with coefficients shrunk by their known noise; see the documentation of this module.

    `groups` has the group of each coefficient; the last one may be -1, for an intercept, which has no group.
    `deviation` is that of the noise on each entry of a sum, for rows of norm 1. `fastest` is the largest rate, for
    means of rows; smaller rates are multiplied by `pace`, and fall to `fall` times as much in the last round. If
    `mixed`, there is one group, whose coefficients may have several scales: see `dpfast.learners.halfspaces.scales`.
    """

    def __init__(self, groups, classes, deviation, n, n_rounds, fastest, pace=1.0, fall=1.0, mixed=False):
        self._columns = columns = 1 if classes == 2 else classes
        pair = 1 if columns == 1 else 2  # the scores of two classes differ by twice as much at the same rate
        one = deviation / (pair * n_rounds) ** 0.5
        rate = _SIGNAL * pace * n / (one * n_rounds)
        self._rate = self._fastest = min(rate, fastest) / n / pair
        self._fall = min(1.0, fall * rate / min(rate, fastest))
        self._own = deviation**2 * (1 if columns == 1 else 1 - 1 / columns)
        self._along = _TURNED * deviation**2 * (len(groups) * columns) ** 0.5
        self._before, self._noise = np.zeros((len(groups), columns)), 0.0
        self._shrunk = int(np.count_nonzero(groups >= 0))
        self._groups = np.where(groups >= 0, groups, groups.max() + 1)  # the last one is that of the intercept
        members = np.bincount(self._groups, minlength=groups.max() + 2)
        self._members = members[:-1, np.newaxis].astype(np.float64)
        self._total, self._seen, self._late = (np.zeros((len(groups), columns)) for _ in range(3))
        self._rounds, self.used = n_rounds, 0
        self._shares, self._by_share, self._by_square = 0.0, 0.0, 0.0
        self._rates, self._kept = 0.0, 0.0
        self._mixture = ScaleMixture(columns) if mixed and self._shrunk else None

    def coefficients(self):
        """Return u (see the documentation of this module): float64, shape (size, 1) for two classes, else (size, k)."""
        return self._seen

    def noise(self):
        """Return the standard deviation of the entries of `model` due to the noise of all sums.

        Shrinking depends on the sums. Given the share that each group kept, an entry of the model is a linear
        combination of the sums, and this is the deviation of their noise in it.
        """
        if not self.used:
            return np.zeros_like(self._total)
        late = self.used - int(_LATE * self._rounds)
        if late > 0:
            variance = self._shares * (self._shares * self._noise - 2 * self._by_share) + self._by_square
            variance = np.maximum(variance, 0.0) / late**2
        else:
            variance = self._noise * np.square(self._kept)
        return self._each(np.sqrt(variance))

    def left(self, curvature):
        """Return the variance of each entry of `model` around the coefficient without noise, given the sums.

        A coefficient shrunk by tau / (tau + v) has the variance v tau / (tau + v). Later residuals correct noise: the
        sum of a round contains minus the curvature times the noise, where the curvature is how much the sum of an entry
        decreases when its coefficient grows by 1. If noise is added evenly over the rounds and decays by a factor of
        exp(-x) over all of them, a share of (1 - exp(-2 x)) / (2 x) of its variance remains in the end.
        """
        if not self.used:
            return np.zeros_like(self._total)
        twice = np.maximum(2 * self._rates * curvature, _LITTLE)[:, np.newaxis]
        return self._each(_LATE * self._noise * self._kept) * ((1 - reals.exp(-twice)) / twice)

    def _shrink(self):
        """Set `_kept`, the share that each group or coefficient keeps, last that of the intercept; and `_seen`, u."""
        squared, noise = np.square(self._total), _LATE * self._noise
        squares = side_by_side([self._sums(column) for column in squared.T])
        prior = _PRIOR * max(0.0, reals.sum(squared[: self._shrunk]) / max(1, self._shrunk * self._columns) - noise)
        own = np.maximum(0.0, squares[:-1] - self._members * noise + prior) / (self._members + _PRIOR)
        shares = own / (own + noise)
        if self._mixture is not None:
            shares = self._mixture.shares(squared[: self._shrunk] / noise, own[0] / noise)
        kept = np.append(shares, 1 - self._noise / np.maximum(squares[-1:], self._noise), axis=0)
        self._kept, self._seen = kept, self._total * self._each(kept)

    def _sums(self, column):
        """Return the sum of the entries of each group, last that of the intercept: the same bits on every machine."""
        if len(column) > _WIDE and len(self._members) == 1:
            return np.array([reals.sum(column[: self._shrunk]), reals.sum(column[self._shrunk :])])
        return np.bincount(self._groups, column, len(self._members) + 1)

    def _each(self, of_groups):
        """Return the entry of its group for each coefficient; in a mixture each coefficient has its own already."""
        return of_groups[: len(self._total)] if self._mixture is not None else of_groups.take(self._groups, axis=0)

    def add(self, noisy):
        """Make a step along a noisy sum, for rows of norm 1: float64, shape (size, columns).

        The residuals of more than two classes add up to 0, so the sum of the noise over the classes is subtracted.
        """
        rate = 1 - (1 - self._fall) * self.used / max(1, self._rounds - 1)
        self.used += 1
        along = reals.dot(noisy.ravel(), self._before.ravel())
        if along < -self._along:
            self._rate /= 2
        elif along > self._along:
            self._rate = min(_GROWTH * self._rate, self._fastest)
        rate *= self._rate
        self._before = noisy
        self._rates += rate
        self._noise += rate**2 * self._own
        self._by_share += rate**2 * self._own * self._shares
        self._by_square += rate**2 * self._own * np.square(self._shares)
        self._total += rate * (noisy if self._columns == 1 else noisy - noisy.mean(axis=1, keepdims=True))
        self._shrink()
        if self.used > _LATE * self._rounds:
            self._late += self._seen
            self._shares = self._shares + self._kept

    def rescale(self, factor):
        """Adapt to images that are shorter by this factor; coefficients are larger by it."""
        self._total *= factor
        self._late *= factor
        self._before = self._before * factor
        self._rates *= factor**2  # the curvature is smaller by the square, so that noise has decayed as before
        self._noise *= factor**2
        self._by_share *= factor**2
        self._by_square *= factor**2
        if self.used:
            self._shrink()

    def model(self):
        """Return the mean of u over the last rounds, or u before them."""
        late = self.used - int(_LATE * self._rounds)
        return self._late / late if late > 0 else self._seen


class JoinedDescent:
    """Like `ShrunkenDescent`, which another one joined; `at` coefficients of the first precede those of the second."""

    def __init__(self, first, second, at):
        self._first, self._second, self._at = first, second, at

    def coefficients(self):
        return self._together(self._first.coefficients(), self._second.coefficients())

    def add(self, noisy):
        first, second = self._apart(noisy)
        self._first.add(first)
        self._second.add(second)

    def left(self, curvature):
        first, second = self._apart(curvature)
        return self._together(self._first.left(first), self._second.left(second))

    def model(self):
        return self._together(self._first.model(), self._second.model())

    def noise(self):
        return self._together(self._first.noise(), self._second.noise())

    def _together(self, first, second):
        return np.concatenate([first[: self._at], second, first[self._at :]])

    def _apart(self, entries):
        after = len(entries) - (len(self._first.coefficients()) - self._at)
        return np.concatenate([entries[: self._at], entries[after:]]), entries[self._at : after]


def class_weights(declared, classes):
    """Return the declared weights of classes, scaled so that the largest is 1: float64, shape (k,).

    A class that is not named has weight 1. A named class that does not exist is refused.
    """
    known = list(classes)
    if foreign := [label for label in declared if label not in known]:
        raise ValueError(f"class_weight names {foreign[0]!r}, which is none of the classes {known[:5]!r}")
    weights = np.array([float(declared.get(label, 1)) for label in known])
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

    A row counts `opening` times in the opening, such that its sensitivity is at most sqrt(`paid`) times that of a
    round. The opening therefore costs as much as `paid` rounds. The sum of the scores and the counts of score levels
    together cost as much as twice `paid` rounds, of which the counts have three quarters, and all if there is no sum.
    The sum counts every row `middle` times, and a row adds at most STEPS to it in size. The counts count every row
    `levels` times; replacing a row changes two of them, and adding a row changes one.
    """

    opening: int
    middle: int
    levels: int
    paid: int

    @classmethod
    def of(cls, shape: CodeShape | PlainShape, classes: int, n_rounds: int, neighbors: str) -> Self:
        """Return the grid of a fit whose images have this shape."""
        paid, changes = -(-n_rounds // ROUNDS_PAID), changed_rows(neighbors)
        square = paid * sensitivity(shape.reach, classes, neighbors) ** 2
        return cls(
            opening=math.isqrt(square // shape.opening_square(changes)),
            middle=math.isqrt(square // (2 * (changes * STEPS) ** 2)),
            levels=math.isqrt((3 if shape.by_middle else 4) * square // (2 * changes)),
            paid=paid,
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
        "releases": n_rounds + grid.paid * (3 if shape.by_margin else 1),
        "size": max(entries, shape.opening_size, 2 * LEVELS),
    }
    drawn: dict[str, Proved] = {}
    if pairs:
        share = Fraction(1, SHARE)
        parts = draws(task.neighbors, k, LIMIT, share, pairs, task.rows_per_unit)
        rounds = NoisySums(sums["sensitivity"], 1 - share, sums["size"], sums["releases"])
        (sigma, *exponents), cost = bill_noise((rounds, *parts), task.epsilon, task.delta)
        each = [Fraction(exponent) for part, exponent in zip(parts, exponents, strict=True) for _ in range(part.times)]
        drawn["pairs"] = Proved("exponential", tuple(each), size=MOST_CHOICES, times=pairs)
    else:
        sigma = discrete_gaussian_sigma(task.epsilon, task.delta, **sums)
        cost = discrete_gaussian_cost(sigma, **sums)
    planned = {"opening": Proved("gaussian", sigma, cost, size=shape.opening_size)} | drawn
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
        self.descent = self._descent(self.image.groups, deviation, n_rounds)
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
        coef, _, _ = image.linear(self.descent.coefficients())
        return ColumnPairs(image.opening, coef, deviation * longer / math.sqrt(n_rounds))

    def join(self, interactions, deviation, n_rounds):
        """Add these pairs to the model for so many further rounds, if there are any."""
        if interactions:
            self.interactions = tuple(interactions)
            self._extend(self.image.with_pairs(interactions), deviation, n_rounds)

    def plant(self, trees, depth, deviation, n_rounds, rng):
        """Draw so many trees from the releases so far, and add them to the model for so many further rounds."""
        coef, _, _ = self.image.linear(self.descent.coefficients())
        grown = grow(self.image.opening, coef, trees, depth, rng)
        if grown is not None:
            self.forest, shares = grown
            leaf = weight(max(self.image.square, 0.0), trees)
            self._extend(self.image.with_leaves(self.forest, shares, leaf), deviation, n_rounds)

    def _extend(self, image, deviation, n_rounds):
        """Continue with an image that has further columns before the intercept."""
        before, at = self.image, self.image.pairs_at
        self.image = image
        self.descent.rescale(image.radius / before.radius)
        joined = self._descent(image.groups[at : image.pairs_at], deviation, n_rounds)
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
            noise = self.image.deviations(self.descent.noise() * moderation)
            fields["coef_noise"], fields["code_shares"] = np.ascontiguousarray(noise.T), self.image.shares
        return fields

    def _descent(self, groups, deviation, n_rounds):
        """Return a descent of coefficients in these groups."""
        image, opening = self.image, self.image.opening
        codes = isinstance(image, CodeImage)
        pace = math.sqrt(min(1.0, self._curvature() / _CURVED)) if codes and self._columns == 1 else 1.0
        rates, mixed = (image.fastest, pace, _FALL if codes else 1.0), not codes and self._width <= MOST_COLUMNS
        return ShrunkenDescent(groups, len(opening.sizes), deviation, opening.n, n_rounds, *rates, mixed=mixed)

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

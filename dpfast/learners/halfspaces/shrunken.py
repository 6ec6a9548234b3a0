"""Descent by noisy sums, with coefficients that are shrunk by their known noise.

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

**How far.** Descent with rates that add up to a leaves about exp(-a h) of the way of a coordinate of curvature h, as
ridge regression with the penalty 1 / a does. If coefficients have the variance tau, and the sum of the residuals has
the variance k h without any noise of a mechanism, the penalty should be k / tau. So a is the same for all coordinates
and for every number of rows, and the rate for means is at most `far` n / rounds: a small table is not fitted too far,
and a large one far enough. The noise of the releases limits rates too (_SIGNAL). Above `fastest`, this limit is used to
the power _MORE only, because weak signals gain little from more.

The loss of more than two classes is curved less, so their `fastest` is twice that of two. Where all k classes are
equally likely, the mean curvature along a direction of the scores of norm 1 is (1 - 1 / (k - 1)^2) / k, at most a
quarter; for two classes it is a half.

**Momentum.** A step longer than `fastest` overshoots along directions in which many entries agree. So the excess of the
rate is a velocity, which keeps a share of itself from round to round: 1 - fastest / rate, but less in the first rounds,
and at most 1 - _LASTING / rounds. It moves as far in as many rounds.

**The intercept.** Entries of many columns seldom agree, so wide rows take longer steps. But all rows agree on the
intercept, where such steps overshoot, and then the rates of all coefficients would be halved. So the intercept keeps
the step of other rows: `steady` times `fastest`.

**Rates by group** (`DescentByGroup`). Groups with large coefficients, such as those of rare values with large effects,
go further. The variance of a group on its whole way is tau = (that of its coefficients without noise) / (1 - exp(-a
h))^2 - k / h, by the released sums. The rate of a group is multiplied by tau / _USUAL where that is above 1, up to
where noise or the curvature of its entries limits it. A group of codes of columns that has little variance goes less
far, since a small table would be fitted too far: for it, the limit by the number of rows is multiplied by tau / _USUAL,
but at least by `least`. Where noise limits rates more than that, nothing changes. The weights of a leaf or of a cell of
a pair are small each and tell much together, so their limit stays; so does that of more than two classes, whose
coefficients have other variances.

**Leaves of trees** (`DescentOfLeaves`). `fastest` keeps steps from overshooting along directions in which many entries
agree. A row has one small entry in each tree, among many, so the loss is curved less along leaves than along columns.
Their rate is up to _HASTE times that of other entries, but goes at most half as far as the number of rows allows, and
at most _BOLDER times as far as noise does. All trees are drawn in the same way, so the variance of one is close to that
of all, which count as _ALIKE further leaves: a tree is not kept because its own noise is large by chance. If pairs of
columns were looked for and none was found, columns say little together, and larger rates would add more noise than
signal: leaves then have the rates of other entries, as `hasty` tells.

Few rows may fit leaves too far, without any noise. If the score were a bent function of what single columns add, what
they say together would be products of this, with a variance near its square. So for two classes, leaves go as far as
the number of rows allows, times the square of `alone` / _ALONE, but at least _FEWEST and at most 1. Here `alone` is the
variance of what single columns add to the score, by releases. The number of rows limits rates in small tables only.

**Falling rates.** Noise added early is mostly taken back, and noise added late is not. So the rates of codes fall, by
the same amount in each round and to a half in the last one. That changes how much noise is left by more than it changes
how far coefficients come.

All of this is computed from releases, so it costs no privacy. docs/records/tuning.md names the tables on which the
constants were chosen.
"""

import numpy as np

from dpfast.kernels import reals
from dpfast.kernels.descent import Groups
from dpfast.learners.halfspaces.scales import ScaleMixture

_SIGNAL = 3.0  # the rate is at most this over the noise of one sum and the number of rounds
_MORE = 0.5, 0.75  # the power of this limit that is used above `fastest`, for two classes and for more
_STARTING = 5  # after t rounds, a velocity keeps at most t / (t + this) of itself
_LASTING = 8  # it keeps at most 1 - this / rounds
_PRIOR = 10
_TURNED = 5.0  # steps are too long if a sum points against the last one by so many deviations of the noise
_GROWTH = 1.05  # of the rate, if a sum points along the last one by as many
_LITTLE = 1e-6
_LATE = 0.8  # the model is the mean over the rounds after this share of them; its noise is about that of this share
_USUAL, _MOST_TIMES = 1.2, 32.0  # the variance of coefficients that needs no larger rate, and the largest factor
_SAMPLED = 2.0  # k: the variance of a sum of residuals because rows are drawn, over its curvature
_STEEP = 0.5  # the largest step times curvature of a group with a larger rate
_ALIKE = 100  # in place of _PRIOR, for the leaves of trees
_ALONE, _FEWEST = 2.0, 0.05  # the variance from which on leaves go as far as others, and the least share of that
_HASTE, _BOLDER = 2.0, 1.5  # the largest rate of leaves, and what noise allows them, over those of other entries


class ShrunkenDescent:
    """Descent by noisy sums, with coefficients shrunk by their known noise; see the documentation of this module.

    `groups` has the group of each coefficient; the last one may be -1, for an intercept, which has no group.
    `deviation` is that of the noise on each entry of a sum, for rows of norm 1. `fastest` is the largest step, for
    means of rows, and `far` limits how far steps go together. Rates that noise or the number of rows limits are
    multiplied by `pace`, and fall to `fall` times as much in the last round. If `mixed`, there is one group, whose
    coefficients may have several scales: see `dpfast.learners.halfspaces.scales`.
    """

    _alike = _PRIOR  # further members of a group that have the variance of all

    def __init__(
        self, groups, classes, deviation, n, n_rounds, fastest, pace=1.0, fall=1.0, mixed=False, far=1.0, steady=1.0
    ):
        self._columns = columns = 1 if classes == 2 else classes
        pair = 1 if columns == 1 else 2  # the scores of two classes differ by twice as much at the same rate
        one = deviation / (pair * n_rounds) ** 0.5
        limit = _SIGNAL * pace * n / (one * n_rounds)
        longest = fastest / (1 - max(0.0, 1 - _LASTING / n_rounds))
        power = _MORE[columns > 1]
        more = max(limit, fastest) ** power * fastest ** (1 - power)
        rate = min(limit, more, longest, far * pair * pace * n / n_rounds)
        self._rate = self._fastest = rate / n / pair
        self._limit = limit / n / pair
        self._steady = steady * max(rate, fastest) / n / pair
        self._far = far * pace / n_rounds
        self._lasting = max(0.0, 1 - fastest / rate)
        self._fall = fall
        self._own = deviation**2 * (1 if columns == 1 else 1 - 1 / columns)
        self._along = _TURNED * deviation**2 * (len(groups) * columns) ** 0.5
        self._before, self._noise = np.zeros((len(groups), columns)), 0.0
        self._shrunk = int(np.count_nonzero(groups >= 0))
        self._group = np.where(groups >= 0, groups, groups.max() + 1)  # the last one is that of the intercept
        self._count = int(groups.max()) + 1
        self._tell(np.ones(self._count, bool))
        self._total, self._velocity, self._shrunken, self._late = (np.zeros((len(groups), columns)) for _ in range(4))
        self._rounds, self.used = n_rounds, 0
        self._rates, self._noise = (np.zeros((self._count + 1, 1)) for _ in range(2))
        self._shares, self._by_share, self._by_square, self._factors = 0.0, 0.0, 0.0, 0.0
        self._mixture = ScaleMixture(columns) if mixed and self._shrunk else None

    def _tell(self, telling):
        """Set which groups tell the variance of all coefficients."""
        self._groups = Groups(self._group, np.append(telling, False))

    def coefficients(self):
        """Return u (see the documentation of this module): float64, shape (size, 1) for two classes, else (size, k)."""
        return self._shrunken

    def noise(self):
        """Return the standard deviation of the entries of `model` due to the noise of all sums.

        Shrinking depends on the sums. Given the share that each group kept, an entry of the model is a linear
        combination of the sums, and this is the deviation of their noise in it.
        """
        if not self.used:
            return np.zeros_like(self._total)
        late = self.used - int(_LATE * self._rounds)
        if late > 0:
            noise = self._beside_factors(self._noise)
            variance = self._shares * (self._shares * noise - 2 * self._by_share) + self._by_square
            variance = np.maximum(variance, 0.0) / late**2
        else:
            variance = self._beside_factors(self._noise) * np.square(self._factors)
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
        twice = np.maximum(2 * self._rates.take(self._group, axis=0) * curvature[:, np.newaxis], _LITTLE)
        left = self._each(_LATE * self._beside_factors(self._noise) * self._factors)
        return left * ((1 - reals.exp(-twice)) / twice)

    def drawn(self, curvature):
        """Return the deviation of the entries of `model` because rows are drawn, if they say nothing of labels.

        All rounds have the same rows. A coordinate with rates of a in all goes 1 - exp(-a h) of the way to where its
        sum of residuals over its curvature h lies; `curvature` has h, as for `left`, and the sum the variance k h.
        """
        if not self.used:
            return np.zeros_like(self._total)
        curved = np.maximum(curvature[:, np.newaxis], _LITTLE**2)
        way = 1 - reals.exp(-np.maximum(self._rates.take(self._group, axis=0) * curved, 0.0))
        return np.sqrt(_SAMPLED / curved) * way * self._each(self._factors)

    def add(self, noisy):
        """Make a step along a noisy sum, for rows of norm 1: float64, shape (size, columns).

        The residuals of more than two classes add up to 0, so the mean of the noise over the classes is subtracted.
        """
        rate = self._next_rate(noisy) * self._times()
        square = np.square(rate) * self._own
        self._rates = self._rates + rate
        self._noise = self._noise + square
        if self.used - 1 > _LATE * self._rounds:  # a share of the late sums is in the model already
            square = self._beside_factors(square)
            self._by_share = self._by_share + square * self._shares
            self._by_square = self._by_square + square * np.square(self._shares)
        lasting = min(self._lasting, self.used / (self.used + _STARTING))
        self._groups.move(noisy, rate[:, 0], lasting, 1 - self._lasting, self._velocity, self._total)
        self._shrink()
        if self.used > _LATE * self._rounds:
            self._late += self._shrunken
            self._shares = self._shares + self._factors

    def rescale(self, factor):
        """Adapt to images that are shorter by this factor; coefficients are larger by it."""
        for coefficients in (self._total, self._velocity, self._late):
            coefficients *= factor
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
        return self._late / late if late > 0 else self._shrunken

    def _next_rate(self, noisy):
        """Return the rate of the next round, which is smaller than the one before if this sum points against it."""
        fallen = 1 - (1 - self._fall) * self.used / max(1, self._rounds - 1)
        self.used += 1
        along = reals.dot(noisy.ravel(), self._before.ravel())
        if along < -self._along:
            self._rate /= 2
        elif along > self._along:
            self._rate = min(_GROWTH * self._rate, self._fastest)
        self._before = noisy
        return fallen * self._rate

    def _shrink(self):
        """Set `_factors`, the share that a group or coefficient keeps, last that of the intercept; and `_shrunken`, u.

        `_signal` is the variance of each group without noise.
        """
        noise = self._noise[:, 0]
        self._signal, self._factors, self._shrunken = self._groups.shrink(self._total, noise, _LATE, self._alike)
        if self._mixture is not None:
            noise_of_first = _LATE * noise[0]
            shares = self._mixture.shares(
                np.square(self._total[: self._shrunk]) / noise_of_first, self._signal[0] / noise_of_first
            )
            self._factors = np.append(shares, self._factors[-1:], axis=0)
            self._shrunken = self._total * self._each(self._factors)

    def _each(self, of_groups):
        """Return the entry of its group for each coefficient; in a mixture each coefficient has its own already."""
        return of_groups[: len(self._total)] if self._mixture is not None else of_groups.take(self._group, axis=0)

    def _beside_factors(self, of_groups):
        """Return numbers of groups in the shape of `_factors`: a mixture has one group, and a share for each."""
        return of_groups if self._mixture is None else of_groups[:1]

    def _times(self):
        """Return the rate of each group, last that of the intercept, over the common one: float64, (groups + 1, 1)."""
        times = np.ones_like(self._rates)
        times[-1] = min(1.0, self._steady / self._rate)
        return times


class DescentByGroup(ShrunkenDescent):
    """Like `ShrunkenDescent`, but groups with large coefficients have larger rates.

    `curvature` is that of the mean loss along each coefficient, 0 for an intercept. For groups with small
    coefficients, `far` is smaller by a factor of at least `least`. There is no mixture of scales.
    """

    def __init__(self, groups, classes, deviation, n, n_rounds, fastest, pace, fall, curvature, least):
        super().__init__(groups, classes, deviation, n, n_rounds, fastest, pace, fall)
        self._least = least
        members = self._groups.members[:-1]
        curved = n * np.bincount(self._group, curvature, self._count + 1)[:-1]
        self._tell(curved > 0)
        self._curved = np.maximum(curved / np.maximum(1, members), _LITTLE**2)
        self._signal = np.zeros((self._count, self._columns))

    def rescale(self, factor):
        self._curved = self._curved / factor**2
        super().rescale(factor)

    def _times(self):
        if self.used <= _STARTING:
            return super()._times()
        signal = self._signal[:, 0] if self._columns == 1 else self._signal.mean(axis=1)
        times = self._groups.times(
            self._rates[:, 0],
            self._curved,
            signal,
            little=_LITTLE,
            sampled=_SAMPLED,
            usual=_USUAL,
            slope=(1 - self._lasting) * self._fastest,
            steep=_STEEP,
            most=min(_MOST_TIMES, self._limit / self._fastest),
            share=self._far / self._fastest,
            least=self._least,
        )
        return times[:, np.newaxis]


class DescentOfLeaves(DescentByGroup):
    """Like `DescentByGroup`, for the leaves of trees; see the documentation of this module for `hasty` and `alone`."""

    _alike = _ALIKE

    def __init__(self, *public, hasty, alone):
        super().__init__(*public)
        faster = min(self._far / 2, _BOLDER * self._limit) / self._fastest
        if hasty:
            self._fastest *= min(max(1.0, faster), _HASTE)
        if self._columns == 1:
            self._fastest = min(self._fastest, self._far * max((alone / _ALONE) ** 2, _FEWEST))
        self._rate = self._fastest


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

    def rescale(self, factor):
        self._first.rescale(factor)
        self._second.rescale(factor)

    def left(self, curvature):
        first, second = self._apart(curvature)
        return self._together(self._first.left(first), self._second.left(second))

    def drawn(self, curvature):
        first, second = self._apart(curvature)
        return self._together(self._first.drawn(first), self._second.drawn(second))

    def model(self):
        return self._together(self._first.model(), self._second.model())

    def noise(self):
        return self._together(self._first.noise(), self._second.noise())

    def _together(self, first, second):
        return np.concatenate([first[: self._at], second, first[self._at :]])

    def _apart(self, entries):
        after = len(entries) - (len(self._first.coefficients()) - self._at)
        return np.concatenate([entries[: self._at], entries[after:]]), entries[self._at : after]

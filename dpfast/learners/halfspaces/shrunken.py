"""Noisy descent whose coefficients are shrunk by what is known of their noise.

After t rounds the coefficients w are a rate times the sum of t noisy sums. Their noise has the known variance v; so
groups of coefficients whose squares add up to little more than that hold little else. A group's own variance tau is
estimated from its squares, and from that of all coefficients, which counts as PRIOR more of them; scores are those of u
= w tau / (tau + v), the mean of w given the estimate. Rows see u: what was shrunk too much, later residuals bring back.
An intercept is like no other: it is 0 while w^2 is
below v, and w - v / w above. Nothing here sees a row.

Steps that are too long overshoot: a sum then points against the one before it, by more than noise would. The rate is
halved each time that it does.
"""

import numpy as np

from dpfast.kernels import reals

_SIGNAL = 3.0  # rate, over the noise of one sum and the rounds
_PRIOR = 10
_TURNED = 5.0  # deviations of noise, by which a sum points against the one before where steps are too long
_LITTLE = 1e-6
_LATE = 0.8  # the model is the mean over the rounds after this share of them; its noise is about that of this share


class ShrunkenDescent:
    """Coefficients, and those that rows see.

    Parameters
    ----------
    groups : ndarray of int64, shape (size,)
        Which coefficients are alike; -1 for one at most that is like no other, an intercept.
    classes : int
    deviation : float
        Of the noise on each entry of a sum, for rows of norm 1.
    n : float
        Rows.
    n_rounds : int
    fastest : float
        The largest rate, for means of rows.
    """

    def __init__(self, groups, classes, deviation, n, n_rounds, fastest):
        self._columns = columns = 1 if classes == 2 else classes
        pair = 1 if columns == 1 else 2  # scores of two classes are apart by twice as much, for the same rate
        one = deviation / (pair * n_rounds) ** 0.5
        self._rate = min(_SIGNAL * n / (one * n_rounds), fastest) / n / pair
        self._own = deviation**2 * (1 if columns == 1 else 1 - 1 / columns)
        self._against = -_TURNED * deviation**2 * (len(groups) * columns) ** 0.5
        self._before, self._noise = np.zeros((len(groups), columns)), 0.0
        self._shrunk, self._groups = groups >= 0, groups[groups >= 0]
        self._of = np.where(self._shrunk, groups, groups.max() + 1)  # the last share is that of what is like no other
        self._members = np.bincount(self._groups).astype(np.float64)[:, np.newaxis]
        self._total = np.zeros((len(groups), columns))
        self._late, self._rounds, self.used = np.zeros_like(self._total), n_rounds, 0
        self._shares, self._by_share, self._by_square = 0.0, 0.0, 0.0
        self._rates = 0.0

    def seen(self):
        """u of this module's documentation: float64, shape (size, 1) for two classes, else (size, k)."""
        return self._total * self._kept()[self._of] if self.used else self._total

    def noise(self):
        """Return the standard deviation that the noise of all sums gives the entries of `model`, shrinking as it did.

        Shrinking depends on the sums; given how much each group kept, an entry of the model is a fixed combination of
        the sums, and this is the deviation of their noise in it.
        """
        if not self.used:
            return np.zeros_like(self._total)
        late = self.used - int(_LATE * self._rounds)
        if late > 0:
            variance = self._shares * (self._shares * self._noise - 2 * self._by_share) + self._by_square
            variance = np.maximum(variance, 0.0) / late**2
        else:
            variance = self._noise * np.square(self._kept())
        return np.sqrt(variance)[self._of]

    def left(self, curvature):
        """Return the variance of each entry of `model` about the coefficient without noise, given the sums.

        Shrunk by tau / (tau + v), a coefficient is uncertain by v tau / (tau + v). Later residuals take noise back: the
        sum of a round has minus the curvature times the noise. Noise that comes in evenly over the rounds, and decays
        by a factor of exp(-x) over all of them, has (1 - exp(-2 x)) / (2 x) of its variance left in the end.

        Parameters
        ----------
        curvature : ndarray of float64, shape (size,)
            By how much the sum of an entry falls when its coefficient grows by 1, at least 0.

        Returns
        -------
        ndarray of float64, shape (size, columns)
        """
        if not self.used:
            return np.zeros_like(self._total)
        twice = np.maximum(2 * self._rates * curvature, _LITTLE)[:, np.newaxis]
        return (_LATE * self._noise * self._kept())[self._of] * ((1 - reals.exp(-twice)) / twice)

    def _kept(self):
        """The share of its coefficients that each group keeps, and that of what is like no other."""
        square = np.square(self._total[~self._shrunk]).sum(axis=0, keepdims=True)
        alone = 1 - self._noise / np.maximum(square, self._noise)
        if not len(self._groups):
            return alone
        w, noise = self._total[self._shrunk], _LATE * self._noise
        squares = np.stack([np.bincount(self._groups, column, len(self._members)) for column in np.square(w).T], axis=1)
        prior = _PRIOR * max(0.0, reals.sum(np.square(w)) / w.size - noise)
        own = np.maximum(0.0, squares - self._members * noise + prior) / (self._members + _PRIOR)
        return np.append(own / (own + noise), alone, axis=0)

    def add(self, noisy):
        """Go on by a noisy sum, for rows of norm 1: float64, shape (size, columns).

        Residuals of many classes add up to 0: what noise adds up to is taken off.
        """
        self.used += 1
        if reals.dot(noisy.ravel(), self._before.ravel()) < self._against:
            self._rate /= 2
        self._before = noisy
        self._rates += self._rate
        self._noise += self._rate**2 * self._own
        self._by_share += self._rate**2 * self._own * self._shares
        self._by_square += self._rate**2 * self._own * np.square(self._shares)
        self._total += self._rate * (noisy if self._columns == 1 else noisy - noisy.mean(axis=1, keepdims=True))
        if self.used > _LATE * self._rounds:
            self._late += self.seen()
            self._shares = self._shares + self._kept()

    def rescale(self, factor):
        """Go on with images that are shorter by this factor, and coefficients that are larger by it."""
        self._total *= factor
        self._late *= factor
        self._before = self._before * factor
        self._rates *= factor**2  # by the curvature that shorter images have, noise has decayed as it did
        self._noise *= factor**2
        self._by_share *= factor**2
        self._by_square *= factor**2

    def model(self):
        """The mean of u over the last rounds; u where there were none of them."""
        late = self.used - int(_LATE * self._rounds)
        return self._late / late if late > 0 else self.seen()


class JoinedDescent:
    """A descent that others join under way: their coefficients come before the last of the first one's.

    Parameters
    ----------
    first, second : ShrunkenDescent
    at : int
        How many coefficients of the first come before those of the second.
    """

    def __init__(self, first, second, at):
        self._first, self._second, self._at = first, second, at

    def seen(self):
        """As `ShrunkenDescent.seen`."""
        return self._together(self._first.seen(), self._second.seen())

    def add(self, noisy):
        """As `ShrunkenDescent.add`."""
        first, second = self._apart(noisy)
        self._first.add(first)
        self._second.add(second)

    def left(self, curvature):
        """As `ShrunkenDescent.left`."""
        first, second = self._apart(curvature)
        return self._together(self._first.left(first), self._second.left(second))

    def model(self):
        """As `ShrunkenDescent.model`."""
        return self._together(self._first.model(), self._second.model())

    def noise(self):
        """As `ShrunkenDescent.noise`."""
        return self._together(self._first.noise(), self._second.noise())

    def _together(self, first, second):
        return np.concatenate([first[: self._at], second, first[self._at :]])

    def _apart(self, entries):
        after = len(entries) - (len(self._first.seen()) - self._at)
        return np.concatenate([entries[: self._at], entries[after:]]), entries[self._at : after]

"""The privacy curve of a greedy cover as a pair of laws, which composes whole.

A curve delta(E) that holds at every E >= 0, in both orders of two neighbouring tables, says more than any one of its
points. It is turned into two laws P, Q that are told apart at least as well as the outcomes of the mechanism on the two
tables. Such pairs compose (Zhu, Dong, Wang, "Optimal Accounting of Differential Privacy via
Characteristic Function", 2022), also where a release is chosen with the earlier outcomes in view, as long as what it
may cost was fixed before.

**Theorem.** Let d_j bound the curve at E_j = j h for j = 0, ..., N; the curve is convex in e^E from E = 0 on. With

    rho_j = (d_{j+1} - d_j) / (e^h - 1) for j < N,    rho_N = 0,    c_j = -(1 - d_j) / (1 + e^-E_j),

let i be the first j with c_j <= rho_j. Then the laws with the log-ratio E_j of probability

    P(E_j) = rho_j - e^h rho_{j-1} for j > i,   P(E_i) = rho_i - c_i (twice that if i = 0),   P(-E_j) = e^-E_j P(E_j),

0 for 0 <= E_j < E_i, and d_N for what Q never shows dominate the mechanism, in both orders.

The points are those of chords above the profile H(e^E), which is convex; c_i is the chord across E = 0, where the curve
of a replaced row has a concave kink. Several lists take one step h, so that nothing is rounded when their laws are
convolved. Beside Gaussian releases of mu, delta is the sum of P(E_j) delta_mu(E - E_j), and d_N
(`dpfast.accounting.claims.composition`). docs/proofs_privacy.md has the proof.

**Theorem (Gaussian DP).** The mechanism is mu-Gaussian DP where delta_mu(E_{j+1}) is at least the hull at E_j for every
j < N, and d_N = 0: both fall with E.

Numbers are rounded towards safety: curves and probabilities are rounded up, up to errors that are below _UP together.
"""

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy import special

from dpfast.accounting.curves.cover import SLACK as CURVE_SLACK
from dpfast.accounting.curves.cover import divergence_inverse
from dpfast.accounting.curves.searches import least
from dpfast.accounting.curves.zcdp import SLACK
from dpfast.accounting.numbers import SMALLEST_DELTA, float_above, root_above

_UP = 1 + 1e-9  # relative error of sums of probabilities, and more
_FARTHEST = 600.0  # log-ratios beyond are not represented
_STEPS = 1 << 10  # of a curve beside Gaussian releases
_FINE = 1 << 12  # steps of a curve whose mu and Renyi divergences are wanted
_LEAST, _LOWER = 1e-4, 1e-6  # an epsilon at delta = 0; what a Gaussian curve may be too large by, from it on, and more
_STEP_BITS = 30  # of a step, so that its multiples are floats


class CoverCurve(NamedTuple):
    """Curve of a greedy cover.

    Attributes
    ----------
    up, down : float, >= 0
        Exponent times the most by which the rows in which neighbouring tables differ raise, and lower, a score.
    rounds : int, >= 1
        The largest number of draws.
    """

    up: float
    down: float
    rounds: int

    @property
    def pure(self) -> float:
        """Return the epsilon at delta = 0, rounded up."""
        low, high = sorted((self.up, self.down))
        return (low + self.rounds * high) * (1 + SLACK)

    def reach(self, tail: float) -> float:
        """Return an epsilon from which on delta is about at most `tail`, or at which it is 0."""
        log_tail = math.log(tail)
        starts = ((self.up, self.down), (self.down, self.up))
        return min(self.pure, max([0.0, *(up + divergence_inverse(log_tail, s, self.rounds) for up, s in starts if s)]))

    def delta(self, epsilon: np.ndarray) -> np.ndarray:
        """Return delta at every epsilon >= 0, rounded up by about 1e-12 of itself."""
        delta = np.maximum(self._from(epsilon, self.up, self.down), self._from(epsilon, self.down, self.up))
        return np.where(epsilon >= self.pure, 0.0, delta)

    def _from(self, epsilon: np.ndarray, up: float, s: float) -> np.ndarray:
        """Return f_{s,T}(E - up) of `dpfast.accounting.curves.cover`."""
        x = epsilon - up - SLACK * (epsilon + up)
        before = -np.expm1(np.minimum(x, 0.0)) * (1 + CURVE_SLACK)
        if s == 0:
            return before
        h = np.clip((x + s) / (self.rounds + 1) - SLACK * s, 0.0, s)
        share = np.exp(h - s) * np.expm1(-h) / math.expm1(-s) * (1 - CURVE_SLACK)
        with np.errstate(under="ignore"):
            fall = np.exp((self.rounds + 1) * np.log1p(-share)) * -math.expm1(-s) * (1 + CURVE_SLACK)
        return np.where(x <= -s, before, fall)


class Law(NamedTuple):
    """One of two laws by the log-ratio to the other: multiples of a step, from -k to k.

    Attributes
    ----------
    mass : ndarray of float64, shape (2 k + 1,)
    rest : float
        The probability of what the other law never shows.
    """

    mass: np.ndarray
    rest: float

    def plus(self, other: "Law") -> "Law":
        """Return the law of both, which are on one grid."""
        return Law(np.convolve(self.mass, other.mass), (self.rest + other.rest) * (1 + SLACK))

    def times(self, number: int) -> "Law":
        """Return the law of so many of these."""
        whole, power = None, self
        while True:
            if number % 2:
                whole = power if whole is None else whole.plus(power)
            number //= 2
            if not number:
                assert whole is not None
                return whole
            power = power.plus(power)


class Points(NamedTuple):
    """The points of the theorem: E_j, d_j, i and c_j."""

    step: float
    epsilon: np.ndarray
    delta: np.ndarray
    first: int
    across: float

    def law(self) -> Law:
        """Return the law of the theorem."""
        rise = _rises(self.delta, self.step)
        mass = np.zeros_like(self.delta)
        mass[self.first + 1 :] = rise[self.first + 1 :] - math.exp(self.step) * rise[self.first : -1]
        mass[self.first] = (rise[self.first] - self.across) * (1 if self.first else 2)
        np.maximum(mass, 0.0, out=mass)
        return Law(np.concatenate([(mass * np.exp(-self.epsilon))[:0:-1], mass]), float(self.delta[-1]))

    def hull(self) -> np.ndarray:
        """Return the least bound at every E_j: below E_i, that of the chord."""
        last = self.first
        chord = self.delta[last] + self.across * np.expm1(self.epsilon[:last] - self.epsilon[last])
        return np.concatenate([np.minimum(chord, 1.0) * (1 + CURVE_SLACK), self.delta[last:]])


def grid(reach: float, steps: int) -> float:
    """Return a step of which about `steps` reach so far, and whose multiples are floats."""
    if reach == math.inf:
        return reach
    share, power = math.frexp(max(reach, SMALLEST_DELTA) / steps)
    return math.ldexp(math.ceil(math.ldexp(share, _STEP_BITS)), power - _STEP_BITS)


def points(curve: CoverCurve, step: float, tail: float) -> Points | None:
    """Return points of a curve to where delta is about `tail`; None if log-ratios are too large for floats.

    The last delta is 0 only where the curve is.
    """
    reach = curve.reach(tail)
    if reach > _FARTHEST or step > _FARTHEST:
        return None
    epsilon = np.arange(math.ceil(reach / step) + 2) * step
    delta = np.minimum(curve.delta(epsilon), 1.0)
    if epsilon[-1] < curve.pure:
        delta = np.maximum(delta, SMALLEST_DELTA)
    across = -(1 - delta) / (1 + np.exp(-epsilon))
    first = int(np.argmax(across <= _rises(delta, step)))
    return Points(step, epsilon, delta, first, float(across[first]))


def losses(law: Law, step: float) -> np.ndarray:
    """Return the log-ratios of a law."""
    farthest = len(law.mass) // 2
    return np.arange(-farthest, farthest + 1) * step


def _rises(delta: np.ndarray, step: float) -> np.ndarray:
    return np.append(np.diff(delta) / math.expm1(step), 0.0)


@lru_cache(maxsize=256)
def _fine(curve: CoverCurve) -> "Points | None":
    """Return a curve on a fine grid; None if it is not 0 within the reach of floats."""
    fine = points(curve, grid(max(curve.pure, SMALLEST_DELTA), _FINE), SMALLEST_DELTA)
    return None if fine is None or fine.delta[-1] else fine


def beside_gaussian(
    curve: CoverCurve, square: Fraction, apart: Fraction, epsilon: float, tail: float = SMALLEST_DELTA
) -> float:
    """Return the delta of a greedy cover beside Gaussian releases of mu^2 that are `apart` from Gaussian; rounded up.

    The law of the cover is followed to where its own delta is `tail`. The answer is at most 1.
    """
    if not square:
        return float(curve.delta(np.array([epsilon]))[0])
    reach, mu = curve.reach(tail), root_above(square)
    fine = points(curve, grid(reach, _STEPS), tail)
    if fine is None or mu > 1e150:
        return 1.0
    law, away = (
        fine.law(),
        float_above(min(apart, Fraction(1))) * ((1 + math.exp(epsilon)) if epsilon < 700 else math.inf),
    )
    x = epsilon - losses(law, fine.step)
    with np.errstate(all="ignore"):
        beside = float(np.sum(law.mass * gaussian_curve(x - 4 * SLACK * (epsilon + reach), mu)))
    return min(1.0, (beside * _UP + law.rest + away) * (1 + SLACK) + SMALLEST_DELTA)


@lru_cache(maxsize=256)
def cover_gaussian(curve: CoverCurve) -> float:
    """Return a mu for which a greedy cover is mu-Gaussian DP, rounded up; infinite if none is found."""
    fine = _fine(curve) if curve.pure >= _LEAST else None  # below, the search would meet rounding
    if fine is None:
        return math.inf
    hull, later = fine.hull()[:-1], fine.epsilon[1:]

    def above(mu: float) -> float:
        if not mu:
            return math.inf
        with np.errstate(all="ignore"):
            ratio = hull / (gaussian_curve(later, mu) * (1 - _LOWER))
        return float(np.max(np.where(hull == 0, 0.0, ratio)))

    return least(above, 1.0)


def cover_renyi(curve: CoverCurve, b: float) -> float:
    """Return the Renyi divergence of order 1 + b of a greedy cover, rounded up; infinite if none is found."""
    law = _fine_law(curve) if curve.pure >= _LEAST else None
    if law is None:
        return math.inf
    loss, mass, log_mass = law
    above, p = loss[loss > 0], mass[loss > 0]
    if b * above[-1] < 1:  # the mean of (P/Q)^b - 1: P(-E) = e^-E P(E)
        more = float(np.sum(p * (np.expm1(b * above) + np.exp(-above) * np.expm1(-b * above))))
        return math.log1p(more * _UP) / b * _UP
    terms = b * loss + log_mass
    most = float(terms.max())
    with np.errstate(under="ignore"):
        size = most + math.log(np.exp(terms - most).sum())
    return (max(size, 0.0) * _UP + _UP - 1) / b


@lru_cache(maxsize=256)
def _fine_law(curve: CoverCurve) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    fine = _fine(curve)
    if fine is None:
        return None
    law = fine.law()
    with np.errstate(divide="ignore"):
        return losses(law, fine.step), law.mass, np.log(law.mass)


def gaussian_curve(x: np.ndarray, mu: float) -> np.ndarray:
    """Return delta_mu at every real x as float64, in the shape of x; rounded up by about 1e-9 of itself."""
    positive = np.abs(x)
    with np.errstate(over="ignore"):
        ratio = np.minimum(positive / mu, 1e6)  # where the curve is 0 for floats
    t = ratio - mu / 2 - SLACK * (ratio + mu / 2)
    near, beyond = _mills(t), _mills(t + mu)
    difference, error = near - beyond, SLACK * (near + beyond)
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        density = np.exp(-t * t / 2) / math.sqrt(2 * math.pi)
        tail = density * (difference + error) * (1 + SLACK * (1 + t * t))
        far = density * beyond
        tail = np.where(t < -5, special.ndtr(-t) - far + 4 * SLACK, tail)
        below = -np.expm1(-positive) + np.exp(-positive) * tail
    return np.clip(np.where(x >= 0, tail, below * (1 + SLACK)), 0, 1)


def _mills(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2))

"""Composition of several releases whose costs were fixed before any of them was made.

The releases may be chosen one after another with the earlier outcomes in view; what each may cost, not (for that a
`Budget` is a filter, `dpfast.accounting.filters`). Four ways are proved, and the least of them is taken; what has
only a pair is added on top in the last three, epsilon to epsilon and delta to delta.

**Exactly.** Where every cost but Gaussian ones is pure, one draw of bounded range (pure, too) or a pair:
pairs of laws dominate, and dominating pairs compose (Zhu, Dong, Wang, "Optimal Accounting of Differential Privacy via
Characteristic Function", 2022). That of (e, d)-DP is randomised response of log-ratio +-e, but with probability d the
outcome tells the table (Kairouz, Oh, Viswanath, "The Composition Theorem for Differential Privacy", 2015). All of
equal e are a binomial law together; Gaussian ones are one. With the loss l_a of atom a of probability P(a), 1 - D the
product of all 1 - d, and delta_mu the curve of `dpfast.accounting.gaussian_delta` on the whole line,

    delta(E) = D + (1 - D) sum_a P(a) delta_mu(E - l_a).                                                    (1)

This is what numerical composition of privacy loss distributions approximates, without its grid.

**Gaussian.** The squares of mu add up (Theorems 1 and 2 of `dpfast.accounting.costs`).

**Renyi.** Divergences add up at every order, and the best order is taken: (1) of `dpfast.accounting.zcdp`.

**Basic.** Epsilons of pure costs add up at delta = 0, beside what is converted in one of the other ways.

A Gaussian cost whose law is w away from Gaussian, w in all, adds (1 + e^E) w to delta: the proof is that of
`dpfast.accounting.discrete_gaussian_delta`.

Floats are rounded towards safety: a delta or epsilon from here is never below the claim's exact value.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import special

from .costs import Cost
from .numbers import SMALLEST_DELTA, decimal_above, delta_of, epsilon_of, exact
from .searches import least, lowest
from .zcdp import SLACK, SMALLEST, gaussian_above

_GUESS = 1e-6  # relative error of `_Way.near`, and more
_MOST_ATOMS = 1 << 14
_ORDERS = -10.0, 25.0  # ln b from, to: every one is valid
_UP = 1 + 1e-9  # binomial probabilities of a million draws are that good


class _Way(NamedTuple):
    """Delta at an epsilon, nearly the epsilon at a delta (0: not known), and whether the first may rise again."""

    delta: Callable[[float], float]
    near: Callable[[float], float]
    rises: bool = False


class Composed:
    """Several costs as one curve.

    Parameters
    ----------
    costs : iterable of Cost

    Notes
    -----
    Theorems and sources are in the documentation of this module. A call takes microseconds, or a few milliseconds
    where there are many different pure costs.

    Examples
    --------
    >>> five = Composed([Cost("gaussian", 0.2367)] * 5)
    >>> round(five.epsilon(1e-6), 2), f"{five.delta(1.0):.1e}"
    (2.4, '9.7e-03')
    """

    def __init__(self, costs: Iterable[Cost]) -> None:
        number = Counter(costs)
        every = [Cost(c.kind, c.size, c.times * k, c.delta) for c, k in number.items() if c.size or c.delta]
        self._pairs = [cost for cost in every if cost.kind == "pair" and cost.delta]
        self._on_top = tuple(
            decimal_above(sum((exact(name, getattr(c, name)) * c.times for c in self._pairs), Fraction(0)))
            for name in ("size", "delta")
        )
        self._apart = _sum(max(c.delta, SMALLEST) * c.times for c in every if c.kind == "gaussian" and c.delta)
        mu = math.sqrt(_sum(cost.gaussian for cost in every if cost.kind == "gaussian")) * (1 + SLACK)
        rho = _sum(cost.renyi(0.0) for cost in every if cost.kind == "zcdp")
        self._curves = [cost for cost in every if cost.kind in ("pure", "range")]
        self._curves += [Cost("pure", c.size, c.times) for c in every if c.kind == "pair" and not c.delta]
        self._mu, told = mu, math.inf not in (mu, rho)  # else they say nothing
        self._curves += [Cost(kind, size) for kind, size in (("gaussian", mu), ("zcdp", rho)) if size and told]
        self._exactly = self._atoms() if told else None
        self._ways = list(self._converted()) if told else []
        if self._apart:  # falling curves first: one with this term rises again, and is looked at below another's answer
            self._ways.sort(key=lambda way: way.rises)

    def delta(self, epsilon: float) -> float:
        """Return the delta that holds at an epsilon.

        Parameters
        ----------
        epsilon : float, >= 0

        Returns
        -------
        float
            Rounded up; 1 where nothing better is proved.
        """
        epsilon = epsilon_of(epsilon, zero=True)
        return min([1.0, *(way.delta(epsilon) for way in self._ways)])

    def epsilon(self, delta: float) -> float:
        """Return the epsilon that holds at a delta.

        Parameters
        ----------
        delta : float in [0, 1)

        Returns
        -------
        float
            Rounded up; infinite where no epsilon suffices.
        """
        if delta != 0:
            delta_of(delta)
        if not self._reaches(delta):
            return math.inf
        found = math.inf
        for way in self._ways:
            near = way.near(delta)
            if found > 0 and near < math.inf and near <= found * (1 + _GUESS):
                found = least(way.delta, delta, found, near)
        return found

    def _reaches(self, delta: float) -> bool:
        return delta > 0 or not (self._pairs or any(math.isinf(cost.pure) for cost in self._curves))

    # ---- exactly ---------------------------------------------------------------------------------------------------

    def _atoms(self) -> tuple | None:
        """Return losses and probabilities of the atoms, and -ln(1 - D); None if not applicable or too slow."""
        if any(cost.kind == "zcdp" or (cost.kind == "range" and cost.times > 1) for cost in self._curves):
            return None
        sizes: Counter[float] = Counter()
        for cost in (*self._curves, *self._pairs):
            if cost.kind != "gaussian":
                sizes[cost.size] += cost.times
        if math.prod(times + 1 for times in sizes.values()) > _MOST_ATOMS:
            return None
        if _sum(size * times for size, times in sizes.items()) > 1e300:
            return None
        loss, log_mass = np.zeros(1), np.zeros(1)
        for size, times in sizes.items():
            up = np.arange(times + 1)
            choose = special.gammaln(times + 1) - special.gammaln(up + 1) - special.gammaln(times - up + 1)
            mass = choose - up * math.log1p(math.exp(-size)) - (times - up) * np.logaddexp(0, size)
            loss = np.add.outer(loss, (2 * up - times) * size).ravel()
            log_mass = np.add.outer(log_mass, mass).ravel()
        kept = _sum(-cost.times * math.log1p(-cost.delta) for cost in self._pairs)
        return loss, np.exp(log_mass), kept

    def _exact(self, epsilon: float) -> float:
        assert self._exactly is not None
        loss, mass, kept = self._exactly
        x = epsilon - loss
        slack = 4 * SLACK * (epsilon + np.abs(loss).max(initial=0))
        curve = gaussian_curve(x - slack, self._mu) if self._mu else -np.expm1(np.minimum(x - slack, 0))
        told = min(self._on_top[1], -math.expm1(-kept) * (1 + SLACK))
        rest = (1 - told) * float(mass @ curve) * _UP + SMALLEST_DELTA  # no less is lost where floats underflow
        return _more(_more(told, rest * (1 + SLACK)), self._from_apart(epsilon))

    # ---- converted -------------------------------------------------------------------------------------------------

    def _converted(self) -> Iterator:
        """Return the ways in which these costs are proved, the quick ones first."""
        pure = _sum(cost.pure for cost in self._curves)
        if pure < math.inf:
            yield self._way(lambda epsilon: 0.0 if epsilon >= pure else 1.0, lambda delta: pure)
        rest = [cost for cost in self._curves if cost.pure == math.inf]
        beside = _sum(cost.pure for cost in self._curves if cost.pure < math.inf)
        groups = ((self._curves, 0.0), (rest, beside)) if rest and beside else ((self._curves, 0.0),)
        for costs, added in groups:
            square = _sum(cost.gaussian for cost in costs)
            if square < math.inf:
                yield self._way(self._by_gaussian(math.sqrt(square) * (1 + SLACK), added), rises=True)
        if self._exactly is not None:
            yield _Way(self._exact, lambda delta: 0.0, rises=True)
        for costs, added in groups:
            yield self._way(*self._by_renyi(costs, added))

    def _way(self, curve: Callable, near: Callable = lambda delta: 0.0, rises: bool = False) -> "_Way":
        """Return a way that leaves out the pairs, with these on top."""
        epsilon, delta = self._on_top

        def guess(most):
            found = near(most - delta)
            return found + epsilon if found else 0.0

        return _Way(lambda whole: _more(curve(_less(whole, epsilon)), delta), guess, rises)

    def _by_gaussian(self, mu: float, added: float):
        def delta(epsilon):
            if epsilon < added:
                return 1.0
            if mu == 0:
                return 0.0
            return _more(gaussian_above(1.0, _less(epsilon, added), mu), self._from_apart(epsilon))

        return delta

    def _by_renyi(self, costs: list[Cost], added: float):
        def at(log_b):
            b = math.exp(log_b)
            return b, _sum(cost.renyi(b) for cost in costs), b * math.log1p(1 / b) + math.log1p(b)

        def log_delta(log_b, epsilon):
            b, divergence, tail = at(log_b)
            return b * (divergence - epsilon) - tail + 4 * SLACK * (b * (divergence + epsilon) + tail)

        def delta(epsilon):
            if epsilon < added:
                return 1.0
            left = _less(epsilon, added)
            least_log = lowest(lambda log_b: log_delta(log_b, left), *_ORDERS)  # convex in b: it falls and then rises
            return max(math.exp(min(0.0, least_log)) * (1 + SLACK), SMALLEST_DELTA)

        def near(delta):
            if delta <= 0:
                return math.inf

            def epsilon(log_b):
                b, divergence, tail = at(log_b)
                return divergence - (math.log(delta) + tail) / b

            return max(0.0, lowest(epsilon, *_ORDERS)) + added  # falls and then rises, too

        return delta, near

    def _from_apart(self, epsilon: float) -> float:
        return self._apart * (1 + math.exp(min(epsilon, 700.0))) * (1 + SLACK)


def gaussian_curve(x: np.ndarray, mu: float) -> np.ndarray:
    """Return delta_mu at every real x as float64, in the shape of x; rounded up by about 1e-9 of itself."""
    positive = np.abs(x)
    with np.errstate(over="ignore"):
        ratio = np.minimum(positive / mu, 1e6)  # where the curve is 0 for floats
    t = ratio - mu / 2 - SLACK * (ratio + mu / 2)
    difference = _mills(t) - _mills(t + mu)
    error = SLACK * (_mills(t) + _mills(t + mu))
    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        tail = np.exp(-t * t / 2) / math.sqrt(2 * math.pi) * (difference + error) * (1 + SLACK * (1 + t * t))
        far = np.exp(-t * t / 2) / math.sqrt(2 * math.pi) * _mills(t + mu)
        tail = np.where(t < -5, special.ndtr(-t) - far + 4 * SLACK, tail)
        below = -np.expm1(-positive) + np.exp(-positive) * tail
    return np.clip(np.where(x >= 0, tail, below * (1 + SLACK)), 0, 1)


def _mills(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return math.sqrt(math.pi / 2) * special.erfcx(x / math.sqrt(2))


def _sum(numbers) -> float:
    """Return a sum, rounded up."""
    try:
        return math.fsum(numbers) * (1 + SLACK)
    except OverflowError:
        return math.inf


def _less(number: float, less: float) -> float:
    """Return a difference, rounded down."""
    return math.nextafter(number - less, -math.inf) if less else number


def _more(number: float, more: float) -> float:
    """Return a sum, rounded up."""
    return math.nextafter(number + more, math.inf) if number and more else number + more

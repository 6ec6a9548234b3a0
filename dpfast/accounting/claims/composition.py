"""Composition of several releases whose costs were fixed before any of them was made.

The releases may be chosen one after another with the earlier outcomes in view; what each may cost, not (for that a
`Budget` is a filter, `dpfast.accounting.budgets.filters`). Four ways are proved, and the least of them is taken; what
has only a pair is added on top in the last three, epsilon to epsilon, and D + (1 - D) delta for delta, with D as in
(1).

**Exactly.** Where every cost but Gaussian ones is pure, one draw of bounded range (pure, too), a greedy cover or a
pair, pairs of laws dominate, and dominating pairs compose (Zhu, Dong, Wang, "Optimal Accounting of Differential Privacy
via Characteristic Function", 2022). That of (e, d)-DP is randomised response of log-ratio +-e, but with probability d
the outcome tells the table (Kairouz, Oh, Viswanath, "The Composition Theorem for Differential Privacy", 2015). All of
equal e are a binomial law together; Gaussian ones are one. That of a greedy cover is in
`dpfast.accounting.curves.dominating`; several are convolved on one grid. With the loss l_a of atom a of probability
P(a), R the probability of what the other table never shows, 1 - D the product of all 1 - d, and delta_mu the curve of
`dpfast.accounting.gaussian_delta` on the whole line,

    delta(E) = D + (1 - D) (R + sum_a P(a) delta_mu(E - l_a)).                                              (1)

Beside greedy covers, pure costs of many different sizes and several draws of bounded range count by their mu.

This is what numerical composition of privacy loss distributions approximates, without its grid.

**Gaussian.** The squares of mu add up (Theorems 1 and 2 of `dpfast.accounting.claims.costs`).

**Renyi.** Divergences add up at every order, and the best order is taken: (1) of `dpfast.accounting.curves.zcdp`.

**Basic.** Epsilons of pure costs add up at delta = 0, beside what is converted in one of the other ways.

A Gaussian cost whose law is w away from Gaussian, w in all, adds (1 + e^E) w to delta: the proof is that of
`dpfast.accounting.discrete_gaussian_delta`. Beside pairs it adds (1 - D) (1 + e^E) w: with probability D the outcomes
of the randomised responses tell the table, which is independent of all other draws, and given that they do not, the
laws of all releases are still w away from those with Gaussian noise, whatever came before each of them.

Floats are rounded towards safety: a delta or epsilon from here is never below the claim's exact value.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import special

from dpfast.accounting.claims.costs import Cost
from dpfast.accounting.curves.dominating import Law, gaussian_curve, grid, losses, points
from dpfast.accounting.curves.searches import least, lowest
from dpfast.accounting.curves.zcdp import SLACK, SMALLEST, gaussian_above
from dpfast.accounting.numbers import SMALLEST_DELTA, decimal_above, delta_of, epsilon_of, exact

_GUESS = 1e-6  # relative error of `_Way.near`, and more
_MOST_ATOMS = 1 << 14
_MOST_STEPS = 1 << 13  # of all covers together
_BESIDE, _WIDE = 16, 2.0  # atoms beside the covers' own; ranges up to which mu says more than pure epsilon
_TAIL = 1e-40  # the delta to which a cover's law is followed
_ORDERS = -10.0, 25.0  # ln b from, to: every one is valid
_UP = 1 + 1e-9  # binomial probabilities of a million draws are that good


class _Way(NamedTuple):
    """Delta at an epsilon, nearly the epsilon at a delta (0: not known), and whether the first may rise again."""

    delta: Callable[[float], float]
    near: Callable[[float], float]
    rises: bool = False


class _Atoms(NamedTuple):
    """Losses and probabilities of atoms, the probability R, mu of everything else, and the largest size of a loss."""

    loss: np.ndarray
    mass: np.ndarray
    rest: float
    mu: float
    farthest: float


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
        every = [replace(c, times=c.times * k) for c, k in number.items() if c.size or c.delta]
        self._pairs = [cost for cost in every if cost.kind == "pair" and cost.delta]
        self._on_top = tuple(
            decimal_above(sum((exact(name, getattr(c, name)) * c.times for c in self._pairs), Fraction(0)))
            for name in ("size", "delta")
        )
        log_complement = _sum(-cost.times * math.log1p(-cost.delta) for cost in self._pairs)
        self._disclosure = min(
            self._on_top[1], -math.expm1(-log_complement) * (1 + SLACK)
        )  # 1 - the product of all 1 - d
        self._apart = _sum(max(c.delta, SMALLEST) * c.times for c in every if c.kind == "gaussian" and c.delta)
        mu = math.sqrt(_sum(cost.gaussian for cost in every if cost.kind == "gaussian")) * (1 + SLACK)
        rho = _sum(cost.renyi(0.0) for cost in every if cost.kind == "zcdp")
        self._curves = [cost for cost in every if cost.kind in ("pure", "range", "cover")]
        self._curves += [Cost("pure", c.size, c.times) for c in every if c.kind == "pair" and not c.delta]
        self._mu, finite = mu, math.inf not in (mu, rho)  # else they say nothing
        self._curves += [Cost(kind, size) for kind, size in (("gaussian", mu), ("zcdp", rho)) if size and finite]
        self._finite = finite
        alone = len(every) == 1 and every[0].kind == "cover" and every[0].times == 1
        self._lone = every[0].curve if alone else None
        self._ways = list(self._conversions()) if finite else []
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
        best = math.inf
        for way in self._ways:
            near = way.near(delta)
            if best > 0 and near < math.inf and near <= best * (1 + _GUESS):
                best = least(way.delta, delta, best, near)
        return best

    def _reaches(self, delta: float) -> bool:
        return delta > 0 or not (self._pairs or any(math.isinf(cost.pure) for cost in self._curves))

    # ---- exactly ---------------------------------------------------------------------------------------------------

    @cached_property
    def _atoms(self) -> _Atoms | None:
        """Return everything as one pair of laws; None if that is not known or too slow."""
        if not self._finite or any(cost.kind == "zcdp" for cost in self._curves):
            return None
        covers = [cost for cost in self._curves if cost.kind == "cover"]
        ranges = [c for c in self._curves if c.kind == "range" and (c.times > 1 or (covers and c.size < _WIDE))]
        bounded = [cost for cost in self._curves if cost.kind in ("pure", "range") and cost not in ranges]
        by_mu, most, apart = ranges, _BESIDE if covers else _MOST_ATOMS, [cost for cost in self._pairs if cost.size]
        if not covers and ranges:
            return None
        while covers and bounded and _count(bounded + apart) > most:
            by_mu = [*by_mu, bounded.pop()]
        bounded += apart
        if _count(bounded) > most or _sum(cost.size * cost.times for cost in bounded) > 1e300:
            return None
        mu = self._mu
        if by_mu:
            square = _sum([mu * mu, *(cost.gaussian for cost in by_mu)])
            if square == math.inf:
                return None
            mu = math.sqrt(square) * (1 + SLACK)
        loss, mass, rest = np.zeros(1), np.ones(1), 0.0
        if covers:
            cover_law = _covers(covers)
            if cover_law is None:
                return None
            law, step = cover_law
            loss, mass, rest = losses(law, step), law.mass, law.rest
        at, probability = _responses(bounded)
        loss = np.add.outer(loss, at).ravel()
        mass = np.multiply.outer(mass, probability).ravel()
        return _Atoms(loss, mass, rest, mu, float(np.abs(loss).max(initial=0)))

    def _exact(self, epsilon: float) -> float:
        atoms = self._atoms
        assert atoms is not None
        x = epsilon - atoms.loss - 4 * SLACK * (epsilon + atoms.farthest)
        curve = gaussian_curve(x, atoms.mu) if atoms.mu else -np.expm1(x, where=x < 0, out=np.zeros_like(x))
        disclosure = self._disclosure
        excess = (1 - disclosure) * (float(np.sum(atoms.mass * curve)) * _UP + atoms.rest)
        rest = excess + SMALLEST_DELTA  # no less is lost where floats underflow
        apart = (1 - disclosure) * self._from_apart(epsilon)  # rounded up twice: it is 0 or above all that is lost here
        return _more(_more(disclosure, rest * (1 + SLACK)), apart * (1 + SLACK))

    def _of_lone_cover(self, epsilon: float) -> float:
        """Return the delta of a greedy cover alone: near 0, its curve lies above the law that other costs meet."""
        assert self._lone is not None
        return min(float(self._lone.delta(np.array([epsilon]))[0]), self._exact(epsilon))

    # ---- converted -------------------------------------------------------------------------------------------------

    def _conversions(self) -> Iterator:
        """Return the ways in which these costs are proved, the quick ones first."""
        pure = _sum(cost.pure for cost in self._curves)
        if pure < math.inf:
            yield self._way(lambda epsilon: 0.0 if epsilon >= pure else 1.0, lambda delta: pure)
        if self._lone is not None and self._atoms is not None:
            yield _Way(self._of_lone_cover, lambda delta: 0.0)  # others are bounds of this curve
            return
        if (beside_cover := self._beside_cover()) is not None:
            yield self._way(beside_cover)
        rest = [cost for cost in self._curves if cost.pure == math.inf]
        beside = _sum(cost.pure for cost in self._curves if cost.pure < math.inf)
        groups = ((self._curves, 0.0), (rest, beside)) if rest and beside else ((self._curves, 0.0),)
        for costs, added in groups:
            square = _sum(cost.gaussian for cost in costs)
            if square < math.inf:
                yield self._way(self._by_gaussian(math.sqrt(square) * (1 + SLACK), added), rises=True)
        if self._atoms is not None:
            yield _Way(self._exact, lambda delta: 0.0, rises=True)
        for costs, added in groups:
            yield self._way(*self._by_renyi(costs, added))

    def _beside_cover(self) -> Callable[[float], float] | None:
        """Return the curve of one greedy cover with other costs on top that are pure; None if these are not.

        It is sharper than the law of all of them where epsilon is in the hundreds, and the law coarse.
        """
        covers, others = ([c for c in self._curves if (c.kind == "cover") == one] for one in (True, False))
        beside = _sum(cost.pure for cost in others)
        if len(covers) != 1 or covers[0].times != 1 or not 0 < beside < math.inf:
            return None
        curve = covers[0].curve
        return lambda epsilon: 1.0 if epsilon < beside else float(curve.delta(np.array([_less(epsilon, beside)]))[0])

    def _way(self, curve: Callable, near: Callable = lambda delta: 0.0, rises: bool = False) -> "_Way":
        """Return a way that leaves out the pairs, with these on top."""
        epsilon, disclosure = self._on_top[0], self._disclosure

        def guess(most):
            epsilon_of_curves = near((most - disclosure) / (1 - disclosure) if disclosure < 1 else 0.0)
            return epsilon_of_curves + epsilon if epsilon_of_curves else 0.0

        def delta(whole):
            left = (1 - disclosure) * curve(_less(whole, epsilon))
            return _more(left * (1 + SLACK) if disclosure else left, disclosure)

        return _Way(delta, guess, rises)

    def _by_gaussian(self, mu: float, added: float):
        def delta(epsilon):
            if epsilon < added:
                return 1.0
            if mu == 0:
                return 0.0
            left = _less(epsilon, added)
            return _more(gaussian_above(1.0, left, mu), self._from_apart(left))

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


def _sizes(costs: list[Cost]) -> Counter[float]:
    """Return how many of these costs there are of each size."""
    sizes: Counter[float] = Counter()
    for cost in costs:
        sizes[cost.size] += cost.times
    return sizes


def _count(costs: list[Cost]) -> int:
    """Return the number of atoms of the laws of these costs."""
    return math.prod(times + 1 for times in _sizes(costs).values())


def _responses(costs: list[Cost]) -> tuple[np.ndarray, np.ndarray]:
    """Return losses and probabilities of as many randomised responses."""
    loss, log_mass = np.zeros(1), np.zeros(1)
    for size, times in _sizes(costs).items():
        up = np.arange(times + 1)
        choose = special.gammaln(times + 1) - special.gammaln(up + 1) - special.gammaln(times - up + 1)
        mass = choose - up * math.log1p(math.exp(-size)) - (times - up) * np.logaddexp(0, size)
        loss = np.add.outer(loss, (2 * up - times) * size).ravel()
        log_mass = np.add.outer(log_mass, mass).ravel()
    return loss, np.exp(log_mass)


def _covers(costs: list[Cost]) -> tuple[Law, float] | None:
    """Return the law of several greedy covers, and its step; None if log-ratios are too large for floats."""
    if sum(cost.times for cost in costs) > _MOST_STEPS:
        return None
    step, whole = grid(_sum(cost.times * cost.curve.reach(_TAIL) for cost in costs), _MOST_STEPS), None
    for cost in costs:
        curve = points(cost.curve, step, _TAIL)
        if curve is None:
            return None
        law = curve.law().times(cost.times)
        whole = law if whole is None else whole.plus(law)
    return None if whole is None else (whole, step)


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

"""Costs of releases in the form of their mechanism, which compose better than pairs of epsilon and delta.

A `Cost` says which of these holds for the laws P, Q of the outcome on any two neighbours.

    pure        P/Q lies in [e^-e, e^e].
    range       `times` draws, chosen one after another; ln(P/Q) of draw i lies in some interval of length r_i, given
                the earlier ones, and r_1^2 + r_2^2 + ... <= times r^2 ("bounded range": an exponential mechanism).
    zcdp        D_a(P, Q) <= a rho for every order a > 1 (D_a is the Renyi divergence).
    gaussian    mu-Gaussian DP: no test tells P from Q better than N(0, 1) from N(mu, 1). `delta` is how far, in total
                variation, the law of what is drawn is from a law of which that is so, on every table: 0 for a
                continuous Gaussian, next to nothing for a discrete one on a fine grid
                (`dpfast.accounting.discrete_gaussian_delta`). Where it is not 0, D_a(P, Q) <= a mu^2 / 2 is claimed
                besides, of P and Q as they are: a law near a Gaussian one that is not zCDP is a pair.
    pair        (epsilon, delta)-DP and no more.

**Theorem 1 (Gaussian DP of bounded ranges).** A draw of bounded range r is mu-Gaussian DP for mu = r sqrt(2 pi) / 4,
and what is `range` is so for mu^2 = times r^2 pi / 8.

Proof. ln P(S) - ln P(not S) - ln Q(S) + ln Q(not S) <= r for every event S, as P(S)/Q(S) is at most the upper end of
the interval and P(not S)/Q(not S) at least the lower. With g(x) = Phi^-1(1 / (1 + e^-x)), g(x + r) - g(x) therefore
bounds Phi^-1(P(S)) - Phi^-1(Q(S)), which is what mu-Gaussian DP asks for. g'(x) = Phi(z) Phi(-z) / phi(z) at z =
g(x), and 4 Phi(z) Phi(-z) = 1 - (2 Phi(z) - 1)^2 <= e^(-z^2/2), since a pair of standard normals lies in the square
of half width z at least as often as in the disk in it. So g' <= sqrt(2 pi) / 4. Squares of mu add up for adaptively
chosen draws whose squares have a bounded sum (Smith and Thakurta, see `dpfast.accounting.filters`).

**Theorem 2 (Gaussian DP of pure epsilon)** (Dong, Roth, Su, "Gaussian Differential Privacy", 2022). What is e-DP is
mu-Gaussian DP for mu = 2 Phi^-1(1 / (1 + exp(-e))): of all tests of e-DP, the one in the corner is the hardest to
cover, and the curve of mu-Gaussian DP goes through it.

**Theorem 3 (Renyi divergence).** With b = a - 1 > 0, D_{1+b} is at most (1 + b) mu^2/2 of mu-Gaussian DP (by its own
claim where `delta` is not 0), (1 + b) rho, what `dpfast.accounting.zcdp` says of a pure part, and (1 + b) times r^2/8
of draws of bounded range (Hoeffding's lemma).

Floats are rounded towards safety: up.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy import special

from .numbers import SMALLEST_DELTA, count, exact_above, exact_positive, float_above, number, root_above
from .zcdp import SLACK, SMALLEST, pure_cumulant, square_above

KINDS = ("pure", "range", "zcdp", "gaussian", "pair")
_MOST_TIMES = 10**200
_UP = 1 + 1e-12  # what special functions may be wrong by, and more


@dataclass(frozen=True)
class Cost:
    """Cost of a release: one of the five kinds of this module, `times` times.

    Parameters
    ----------
    kind : {"pure", "range", "zcdp", "gaussian", "pair"}
    size : float, >= 0
        epsilon, r, rho, mu, or the epsilon of a pair.
    times : int, >= 1
        So many releases, adaptively chosen.
    delta : float in [0, 1)
        Of a pair, or the total variation of "gaussian", for each of them; else 0.

    Raises
    ------
    ValueError
        If a value is out of its range.

    Notes
    -----
    What each kind means, and the theorems behind it, are in the documentation of `dpfast.accounting.costs`.

    Examples
    --------
    >>> round(Cost("gaussian", 0.25).gaussian, 6), round(Cost("range", 1.0, times=4).renyi(1.0), 6)
    (0.0625, 1.0)
    >>> Cost("zcdp", 0.1).gaussian
    inf
    """

    kind: str
    size: float
    times: int = 1
    delta: float = 0.0

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"the kind of a cost must be one of {', '.join(KINDS)}, got {self.kind!r}")
        size = number("size", self.size, "a finite number >= 0", lambda x: 0 <= x < math.inf)
        delta = number("delta", self.delta, "at least 0 and below 1", lambda x: 0 <= x < 1)
        if delta and self.kind not in ("gaussian", "pair"):
            raise ValueError(f"delta must be 0 for a cost of the kind {self.kind!r}, got {delta!r}")
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "times", count("times", self.times))
        if self.times > _MOST_TIMES:
            raise ValueError("times must be at most 10**200: more releases are not counted")
        object.__setattr__(self, "delta", delta)

    @property
    def gaussian(self) -> float:
        """Return mu squared of all releases together; infinite if nothing is proved."""
        if self.kind == "gaussian":
            square = square_above(self.size)
        elif self.kind == "range":
            square = square_above(self.size) * (math.pi / 8)
            if self.times == 1:
                square = min(square, _pure_mu(self.size) ** 2)
        elif self.kind == "pure":
            square = _pure_mu(self.size) ** 2
        else:
            return math.inf if self.size or self.delta else 0.0
        return self._up(square)

    def renyi(self, b: float) -> float:
        """Return the Renyi divergence of order 1 + b of all mechanisms of this cost together.

        Parameters
        ----------
        b : float, > 0

        Returns
        -------
        float
            Infinite for a pair, which bounds no such divergence.
        """
        if self.kind == "gaussian":
            divergence = (1 + b) * (square_above(self.size) / 2)
        elif self.kind == "zcdp":
            divergence = (1 + b) * self.size
        elif self.kind == "range":
            divergence = (1 + b) * (square_above(self.size) / 8)
            if self.times == 1:
                divergence = min(divergence, _pure_renyi(self.size, b))
        elif self.kind == "pure":
            divergence = _pure_renyi(self.size, b)
        else:
            return math.inf if self.size or self.delta else 0.0
        return self._up(divergence)

    @property
    def pure(self) -> float:
        """Return the epsilon of all releases together at delta = 0; infinite if there is none."""
        if self.kind in ("pure", "range") or (self.kind == "pair" and not self.delta):
            return self._up(self.size)
        return math.inf if self.size or self.delta else 0.0

    def _up(self, each: float) -> float:
        return max(each, SMALLEST) * self.times * (1 + SLACK) if self.size else 0.0

    def to_list(self) -> list:
        """Return the cost as a list that JSON can hold.

        Returns
        -------
        list
            Kind, size, times and delta.
        """
        return [self.kind, self.size, self.times, self.delta]


def discrete_gaussian_cost(sigma, *, sensitivity, releases: int, size: int) -> tuple[Cost, ...]:
    """Return the cost of discrete Gaussian noise, by `dpfast.accounting.discrete_gaussian_delta`.

    Parameters
    ----------
    sigma, sensitivity, releases, size
        As there.

    Returns
    -------
    tuple of one Cost
        Gaussian, with the total variation of all releases from continuous noise. Its Renyi divergence needs no such
        term: discrete noise is zCDP as it is.
    """
    sigma, moved = exact_positive("sigma", sigma), exact_above("sensitivity", sensitivity)
    T, size = count("releases", releases), count("size", size)
    return (gaussian_sums_cost(T * (moved / sigma) ** 2, T * size / (24 * sigma**2)),)


def gaussian_sums_cost(square: Fraction, apart: Fraction) -> Cost:
    """Return the cost of sums with discrete Gaussian noise: mu^2, and the total variation from continuous noise."""
    if apart >= 1:
        return Cost("zcdp", float_above(square / 2))
    return Cost("gaussian", root_above(square), delta=max(float_above(apart), SMALLEST_DELTA))


def _pure_mu(epsilon: float) -> float:
    """mu of Theorem 2; for a small epsilon by 2 P - 1 = tanh(epsilon / 2), where P itself is one half to all digits."""
    if epsilon < 1:
        return float(special.erfinv(math.tanh(epsilon / 2))) * math.sqrt(8) * _UP
    return float(-2 * special.ndtri_exp(-math.log1p(math.exp(epsilon)))) * _UP if epsilon < 700 else math.inf


def _pure_renyi(epsilon: float, b: float) -> float:
    most = min(epsilon, (1 + b) * (square_above(epsilon) / 2))
    return min(most, pure_cumulant(b, epsilon) / b * _UP) if b * epsilon > SMALLEST else max(most, SMALLEST)

"""Costs of releases in the form of their mechanism, which compose better than pairs of epsilon and delta, and of noise.

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
    cover       the curve of a greedy cover of at most `rounds` draws (`dpfast.accounting.curves.cover`): exponent times
                score rises by at most `up` and falls by at most `size`, or the other way, from one table to the other.
    pair        (epsilon, delta)-DP and no more.

**Theorem 1 (Gaussian DP of bounded ranges).** A draw of bounded range r is mu-Gaussian DP for mu = r sqrt(2 pi) / 4,
and what is `range` is so for mu^2 = times r^2 pi / 8.

**Theorem 2 (Gaussian DP of pure epsilon)** (Dong, Roth, Su, "Gaussian Differential Privacy", 2022). What is e-DP is
mu-Gaussian DP for mu = 2 Phi^-1(1 / (1 + exp(-e))): of all tests of e-DP, the one in the corner is the hardest to
cover, and the curve of mu-Gaussian DP goes through it.

**Theorem 3 (Renyi divergence).** With b = a - 1 > 0, D_{1+b} is at most (1 + b) mu^2/2 of mu-Gaussian DP (by its own
claim where `delta` is not 0), (1 + b) rho, what `dpfast.accounting.curves.zcdp` says of a pure part, and (1 + b) times
r^2/8 of draws of bounded range (Hoeffding's lemma).

**Discrete Gaussian noise** has the privacy of the continuous one, up to a small term for their difference. Integer
vectors f(D) of m coordinates differ by at most s in Euclidean norm between neighbours, and f(D) + Y is released, where
the coordinates of Y are independent with P(x) proportional to exp(-x^2 / (2 sigma^2)) on the integers. T adaptive
releases may follow one another, f chosen with the earlier outcomes in view. Reals are put on a grid first; s and sigma
count its steps.

**Lemma.** Let p be the law of one coordinate of Y and q that of a continuous Gaussian N(0, sigma^2) rounded to the
nearest integer. Then p(x) - q(x) <= p(x) / (24 sigma^2) for every integer x, and so TV(p, q) <= 1 / (24 sigma^2).

**Theorem 4.** With mu = sqrt(T) s / sigma and n = T m, the T releases together are (E, delta)-DP for every E >= 0 with

    delta = Phi(mu/2 - E/mu) - e^E Phi(-mu/2 - E/mu) + (1 + e^E) n / (24 sigma^2).                     (1)

The releases need not move alike: if they move by s_1, s_2, ..., T s^2 stands for the sum of the squares of these, so
that a release that moves by sqrt(r) s counts as r of them, and n for all coordinates.

**Also** each release is s^2 / (2 sigma^2)-zCDP (Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential
Privacy", 2020), so that all releases are mu^2/2-zCDP, which converts by `dpfast.accounting.zcdp_delta`. What is
returned is the smaller of the two claims. The last term of (1) is nothing on a fine grid (at sigma = 2^36 and n = 10^6
it is below 4e-17 at E = 1); with little noise the second claim wins. docs/proofs_privacy.md has the proofs.

**Laplace noise.** Noise with P(x) proportional to exp(-|x| / b), on reals or on integers, makes a release of
sensitivity s e-DP with e = s / b: the log-ratio of two laws lies in [-e, e]. T of them, each chosen with the earlier
outcomes in view, are T e-DP; and for delta > 0 they compose, order by order, like T randomised responses, which
`dpfast.accounting.curves.zcdp` converts ("Pure parts"). What is returned is the better of the two.

Floats are rounded towards safety: a cost, delta, sigma or scale from here is never below its exact value.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from scipy import special

from dpfast.accounting.curves.dominating import CoverCurve, cover_gaussian, cover_renyi
from dpfast.accounting.curves.searches import largest, least
from dpfast.accounting.curves.zcdp import (
    SLACK,
    SMALLEST,
    composed_epsilon,
    gaussian_above,
    pure_cumulant,
    square_above,
    zcdp_above,
)
from dpfast.accounting.numbers import (
    SMALLEST_DELTA,
    Number,
    cache_results,
    calculator,
    calculator_like,
    count,
    delta_of,
    epsilon_of,
    exact,
    exact_above,
    exact_positive,
    float_above,
    number,
    positive,
    root_above,
)

KINDS = ("pure", "range", "zcdp", "gaussian", "cover", "pair")
_MOST_TIMES = 10**200
_UP = 1 + 1e-12  # what special functions may be wrong by, and more


@dataclass(frozen=True)
class Cost:
    """Cost of one or several releases, of one of the six kinds of this module.

    Parameters
    ----------
    kind : {"pure", "range", "zcdp", "gaussian", "cover", "pair"}
    size : float, >= 0
        epsilon, r, rho, mu, the larger of the two changes of a cover, or the epsilon of a pair.
    times : int, >= 1
        The number of releases with this cost, which may be chosen adaptively.
    delta : float in [0, 1)
        For each release, the delta of a pair or the total variation of "gaussian"; 0 for the other kinds.
    up : float from 0 to `size`
        The smaller of the two changes of a cover; 0 for the other kinds.
    rounds : int, >= 1
        The largest number of draws of a cover; 1 for the other kinds.

    Raises
    ------
    ValueError
        If a value is out of its range.

    Notes
    -----
    The documentation of `dpfast.accounting.claims.costs` defines the kinds and has their theorems.

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
    up: float = 0.0
    rounds: int = 1

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
        object.__setattr__(self, "up", number("up", self.up, "from 0 to size", lambda x: 0 <= x <= size))
        object.__setattr__(self, "rounds", count("rounds", self.rounds))
        if self.kind != "cover" and (self.up or self.rounds > 1):
            raise ValueError(f"up and rounds are of a cover, got up={self.up!r} and rounds={self.rounds!r}")

    @property
    def curve(self) -> CoverCurve:
        """Return the curve of a cover."""
        return CoverCurve(self.up, max(self.size, SMALLEST), self.rounds)

    @property
    def gaussian(self) -> float:
        """Return mu squared of all releases together; infinite if no mu is proved."""
        if self.kind == "gaussian":
            square = square_above(self.size)
        elif self.kind == "range":
            square = square_above(self.size) * (math.pi / 8)
            if self.times == 1:
                square = min(square, _pure_mu(self.size) ** 2)
        elif self.kind == "pure":
            square = _pure_mu(self.size) ** 2
        elif self.kind == "cover" and self.size:
            square = min(cover_gaussian(self.curve), _pure_mu(self.curve.pure)) ** 2
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
            Infinite for a pair, which does not bound this divergence.
        """
        if self.kind == "gaussian":
            divergence = (1 + b) * (square_above(self.size) / 2)
        elif self.kind == "zcdp":
            divergence = (1 + b) * max(self.size, SMALLEST)
        elif self.kind == "range":
            divergence = (1 + b) * (square_above(self.size) / 8)
            if self.times == 1:
                divergence = min(divergence, _pure_renyi(self.size, b))
        elif self.kind == "pure":
            divergence = _pure_renyi(self.size, b)
        elif self.kind == "cover" and self.size:
            divergence = min(cover_renyi(self.curve, b), _pure_renyi(self.curve.pure, b))
        else:
            return math.inf if self.size or self.delta else 0.0
        return self._up(divergence)

    @property
    def pure(self) -> float:
        """Return the epsilon of all releases together at delta = 0; infinite if there is none."""
        if self.kind in ("pure", "range") or (self.kind == "pair" and not self.delta):
            return self._up(self.size)
        if self.kind == "cover":
            return self._up(self.curve.pure)
        return math.inf if self.size or self.delta else 0.0

    def _up(self, each: float) -> float:
        return max(each, SMALLEST) * self.times * (1 + SLACK) if self.size else 0.0

    def to_list(self) -> list:
        """Return the cost as a list that JSON can hold.

        Returns
        -------
        list
            Kind, size, times and delta, and for a cover also up and rounds.
        """
        return [self.kind, self.size, self.times, self.delta, *((self.up, self.rounds) if self.kind == "cover" else ())]


def discrete_gaussian_cost(sigma, *, sensitivity, releases: int, size: int) -> tuple[Cost, ...]:
    """Return the cost of discrete Gaussian noise, whose arguments are those of `discrete_gaussian_delta`.

    It is Gaussian, with the total variation of all releases from continuous noise. Its Renyi divergence needs no such
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
    """Return mu of Theorem 2; for small epsilon by 2 P - 1 = tanh(epsilon / 2), as P rounds to one half."""
    if epsilon < 1:
        return float(special.erfinv(math.tanh(epsilon / 2))) * math.sqrt(8) * _UP
    return float(-2 * special.ndtri_exp(-math.log1p(math.exp(epsilon)))) * _UP if epsilon < 700 else math.inf


def _pure_renyi(epsilon: float, b: float) -> float:
    most = min(epsilon, (1 + b) * (square_above(epsilon) / 2))
    return min(most, pure_cumulant(b, epsilon) / b * _UP) if b * epsilon > SMALLEST else max(most, SMALLEST)


@calculator
def discrete_gaussian_delta(
    sigma: Number, epsilon: Number, *, sensitivity: Number = 1, releases: int = 1, size: int = 1
) -> float:
    """Return the delta at a given epsilon of discrete Gaussian noise on integers.

    Parameters
    ----------
    sigma : real, > 0
        The noise on each coordinate has P(x) proportional to exp(-x**2 / (2 * sigma**2)).
    epsilon : real, >= 0
    sensitivity : real, > 0
        The largest change of one release between neighbours, in Euclidean norm.
    releases : int, >= 1
        The number of adaptive releases with this noise.
    size : int, >= 1
        The number of coordinates of a release.

    Returns
    -------
    float in [0, 1]
        The releases together are (epsilon, delta)-DP for the relation that `sensitivity` refers to. Rounded up.

    Notes
    -----
    sigma and sensitivity are numbers of steps of the grid; ints and Fractions are used exactly.

    Examples
    --------
    >>> f"{discrete_gaussian_delta(5 * 2**36, 1, sensitivity=2**36):.1e}"
    '1.8e-08'
    """
    sigma, epsilon = exact_positive("sigma", sigma), epsilon_of(epsilon, zero=True)
    squared, entries = _total_moves(sensitivity, releases, size)
    return _discrete_delta(sigma, epsilon, squared, entries)


@calculator_like(discrete_gaussian_delta)
@cache_results
def discrete_gaussian_sigma(
    epsilon: Number, delta: Number, *, sensitivity: Number = 1, releases: int = 1, size: int = 1
) -> float:
    """Return the least sigma at which discrete Gaussian noise is (epsilon, delta)-DP by `discrete_gaussian_delta`.

    Parameters
    ----------
    epsilon : real, > 0

    Returns
    -------
    float
        sigma in steps of the grid, rounded up, so that ``discrete_gaussian_delta(discrete_gaussian_sigma(epsilon,
        delta), epsilon) <= delta`` also holds in floats.

    Examples
    --------
    >>> round(discrete_gaussian_sigma(1, 1e-6, sensitivity=2**36) / 2**36, 3)
    4.225
    """
    epsilon, delta = epsilon_of(epsilon), delta_of(delta)
    squared, entries = _total_moves(sensitivity, releases, size)
    return least(
        lambda sigma: _discrete_delta(Fraction(sigma), epsilon, squared, entries) if sigma else math.inf, delta
    )


def curve_delta(square: Fraction, rho: Fraction, apart: Fraction, epsilon: float) -> float:
    """Return the smaller claim of the module's documentation, for mu^2, for rho and for n / (24 sigma^2)."""
    mu = root_above(square)
    if mu > 1e150:
        return 1.0
    away = float_above(min(apart, Fraction(1))) * ((1 + math.exp(epsilon)) if epsilon < 700 else math.inf)
    continuous = gaussian_above(1.0, epsilon, mu) + away * (1 + 1e-14)
    return min(1.0, continuous * (1 + 1e-15), zcdp_above(max(float_above(rho), SMALLEST), epsilon))


def _discrete_delta(sigma: Fraction, epsilon: float, squared: Fraction, entries: int) -> float:
    """Return delta for the square of sqrt(T) s and n of the module's documentation."""
    square = squared / sigma**2
    return curve_delta(square, square / 2, entries / (24 * sigma**2), epsilon)


def _total_moves(sensitivity, releases, size) -> tuple[Fraction, int]:
    """Return T s^2 and n."""
    T = count("releases", releases)
    return T * exact_above("sensitivity", sensitivity) ** 2, T * count("size", size)


@calculator
@cache_results
def laplace_scale(epsilon: Number, delta: Number = 0.0, *, sensitivity: Number = 1, releases: int = 1) -> float:
    """Return the least scale of (discrete) Laplace noise at which releases are together (epsilon, delta)-DP.

    Parameters
    ----------
    delta : real, 0 or at least 1e-300, and below 1
    sensitivity : real, > 0
        The largest change of one release between neighbours, as a sum of absolute values.
    releases : int, >= 1
        The number of adaptive releases.

    Returns
    -------
    float
        The scale b, rounded up.

    Examples
    --------
    >>> laplace_scale(0.5, sensitivity=3)
    6.0
    >>> round(laplace_scale(1, releases=1000)), round(laplace_scale(1, 1e-6, releases=1000))
    (1000, 143)
    """
    most, T = epsilon_of(epsilon), count("releases", releases)
    positive("sensitivity", sensitivity)
    pure = exact("epsilon", epsilon) / T
    if delta != 0:
        delta = delta_of(delta)
        pure = max(pure, Fraction(largest(lambda e: composed_epsilon(0.0, delta, e, T), most)))
    try:
        return float_above(Fraction(float_above(sensitivity)) / pure)
    except OverflowError:
        raise ValueError(
            f"no float is a scale large enough for epsilon = {epsilon!r} and sensitivity = {sensitivity!r}"
        ) from None

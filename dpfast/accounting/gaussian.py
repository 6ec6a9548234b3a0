"""The privacy of discrete Gaussian noise: that of the continuous one, and what the difference can cost.

Integer vectors f(D) of m coordinates differ by at most s in Euclidean norm between neighbours, and f(D) + Y is
released, where the coordinates of Y are independent with P(x) proportional to exp(-x^2 / (2 sigma^2)) on the
integers. T adaptive releases may follow one another, f chosen with the earlier outcomes in view. Reals are put on a
grid first; s and sigma count its steps.

**Lemma.** Let p be the law of one coordinate of Y and q that of a continuous Gaussian N(0, sigma^2) rounded to the
nearest integer. Then p(x) - q(x) <= p(x) / (24 sigma^2) for every integer x, and so TV(p, q) <= 1 / (24 sigma^2).

Proof. Let phi be the density of N(0, sigma^2) and Z = sum of phi(x) over the integers, so that p = phi / Z. By
Poisson's summation Z = 1 + 2 sum_{k >= 1} exp(-2 pi^2 sigma^2 k^2) > 1. Pairing u with -u,

    q(x) / phi(x) = integral over [-1/2, 1/2] of exp(-x u / sigma^2 - u^2 / (2 sigma^2)) du
                  = integral of cosh(x u / sigma^2) exp(-u^2 / (2 sigma^2)) du
                 >= integral of (1 - u^2 / (2 sigma^2)) du = 1 - 1 / (24 sigma^2),

by cosh >= 1 and e^-y >= 1 - y. Hence q >= phi (1 - 1 / (24 sigma^2)) >= p (1 - 1 / (24 sigma^2)) where the bracket is
not negative, and otherwise q >= 0 says more. TV is the sum of the positive parts of p - q.

**Theorem.** With mu = sqrt(T) s / sigma and n = T m, the T releases together are (E, delta)-DP for every E >= 0 with

    delta = Phi(mu/2 - E/mu) - e^E Phi(-mu/2 - E/mu) + (1 + e^E) n / (24 sigma^2).                     (1)

The releases need not move alike: if they move by s_1, s_2, ..., T s^2 stands for the sum of the squares of these, so
that a release that moves by sqrt(r) s counts as r of them, and n for all coordinates.

Proof. Put rounded Gaussians in the place of Y. As f is an integer vector, f + round(G) = round(f + G) is a function of
f + G, so these releases have the curve delta_mu(E) of adaptive Gaussian mechanisms, the first two terms of (1)
(Balle and Wang, 2018; Dong, Roth, Su, 2022; see `dpfast.accounting.gaussian_delta`). Couple the two runs,
coordinate by coordinate, so that they part with probability at most 1 / (24 sigma^2) at each as long as they have
agreed: their outcomes' laws P and Q, on one data set, have TV(P, Q) <= w = n / (24 sigma^2). With primes on a
neighbour's, for every event S

    P(S) <= Q(S) + w <= e^E Q'(S) + delta_mu(E) + w <= e^E (P'(S) + w) + delta_mu(E) + w.

**Also** each release is s^2 / (2 sigma^2)-zCDP (Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential
Privacy", 2020): for two centres at distance d in one coordinate, completing the square,

    sum_x p(x)^a p(x - d)^(1-a) = e^(a (a-1) d^2 / (2 sigma^2)) sum_x phi(x - (1 - a) d) / Z,

where by Poisson's summation the last sum is largest, Z, where the shift is an integer. So all releases are mu^2/2-zCDP,
which converts by `dpfast.accounting.zcdp_delta`. What is returned is the smaller of the two claims. The last term of
(1) is nothing on a fine grid (at sigma = 2^36 and n = 10^6 it is below 4e-17 at E = 1); with little noise the second
claim wins.

Floats are rounded towards safety: a delta or sigma from here is never below the claim's exact value.
"""

import math
from fractions import Fraction

from .numbers import (
    count,
    delta_of,
    epsilon_of,
    exact_above,
    exact_positive,
    float_above,
    least,
    remembered,
    root_above,
)
from .zcdp import SMALLEST, gaussian_above, zcdp_above


def discrete_gaussian_delta(
    sigma: float | Fraction,
    epsilon: float | Fraction,
    *,
    sensitivity: float | Fraction = 1,
    releases: int = 1,
    size: int = 1,
) -> float:
    """Return the delta at a given epsilon of discrete Gaussian noise on integers.

    Parameters
    ----------
    sigma : real, > 0
        The noise on each coordinate has P(x) proportional to exp(-x**2 / (2 * sigma**2)).
    epsilon : real, >= 0
    sensitivity : real, > 0
        The most that neighbours change one release, in Euclidean norm.
    releases : int, >= 1
        Adaptive releases, all under this noise.
    size : int, >= 1
        Coordinates of a release.

    Returns
    -------
    float in [0, 1]
        The releases together are (epsilon, delta)-DP for the relation that `sensitivity` refers to. Rounded up.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem, proof and sources are in the documentation of this module. sigma and sensitivity count steps of the grid;
    where they are ints or Fractions they enter exactly.

    Examples
    --------
    >>> f"{discrete_gaussian_delta(5 * 2**36, 1, sensitivity=2**36):.1e}"
    '1.8e-08'
    """
    sigma, epsilon = exact_positive("sigma", sigma), epsilon_of(epsilon, zero=True)
    squared, entries = _moved(sensitivity, releases, size)
    return _discrete_delta(sigma, epsilon, squared, entries)


@remembered
def discrete_gaussian_sigma(
    epsilon: float | Fraction,
    delta: float | Fraction,
    *,
    sensitivity: float | Fraction = 1,
    releases: int = 1,
    size: int = 1,
) -> float:
    """Return the least sigma at which discrete Gaussian noise is (epsilon, delta)-DP by `discrete_gaussian_delta`.

    Parameters
    ----------
    epsilon : real, > 0
    delta : real, at least 1e-300 and below 1
    sensitivity, releases, size
        As in `discrete_gaussian_delta`.

    Returns
    -------
    float
        In steps of the grid, and rounded up, so that ``discrete_gaussian_delta(discrete_gaussian_sigma(epsilon,
        delta), epsilon) <= delta`` also holds in floats.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem, proof and sources are in the documentation of this module.

    Examples
    --------
    >>> round(discrete_gaussian_sigma(1, 1e-6, sensitivity=2**36) / 2**36, 3)
    4.225
    """
    epsilon, delta = epsilon_of(epsilon), delta_of(delta)
    squared, entries = _moved(sensitivity, releases, size)
    return least(lambda sigma: sigma > 0 and _discrete_delta(Fraction(sigma), epsilon, squared, entries) <= delta)


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


def _moved(sensitivity, releases, size) -> tuple[Fraction, int]:
    """Return T s^2 and n."""
    T = count("releases", releases)
    return T * exact_above("sensitivity", sensitivity) ** 2, T * count("size", size)

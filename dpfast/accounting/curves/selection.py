"""The best of a random number of private runs, at little more than the cost of one (Papernot and Steinke, 2022).

A run is one private mechanism Q whose outcome carries a score: draw one of several learners, fit it, score it with
noise. Let K be geometric, P(K = k) = g (1 - g)^(k-1) with g = 1 / m, drawn without a look at the data; run Q anew K
times, and release the outcome of the best score, the first among equals, and nothing else: neither K nor what else was
tried.

Q is (e_i, d_i)-DP for every pair of a list, its *claims*; a mechanism with a curve has as many as one likes. T(u) is
the most that a test which Q passes with probability u on one table can pass with on a neighbouring one:

    T(u) <= min over i of min( e^(e_i) u + d_i,  1 - e^(-e_i) (1 - d_i - u) ),    T(u) <= 1,                       (1)

the second by looking at the complement.

**Theorem.** The release is (e_i + c, m d_i)-DP for every i, with

    c = 2 ln max over 0 <= u <= 1 of (1 + (m - 1) T(u)) / (1 + (m - 1) u).                                         (2)

docs/proofs_privacy.md has the proof. The maximum is at a corner of (1): between corners T is linear, and so the
quotient monotone.

For one claim (e, 0) that is 2 ln((m e^e + 1) / (m + e^e)) + e, at most 3 e (Liu and Talwar, 2019); for noise of
Gaussian kind, whose T is far below its claims' single lines for small u, c is a fraction of e.

Sources: N. Papernot, T. Steinke, Hyperparameter Tuning with Renyi Differential Privacy, ICLR 2022, Theorem 2, for the
law and the Renyi form; J. Liu, K. Talwar, Private Selection from Private Candidates, STOC 2019; A. Koskela, R. Redberg,
Y.-X. Wang, Privacy Profiles for Private Selection, ICML 2024, for profiles. (2) is derived here, and enumerated in the
tests.
"""

import math
from collections.abc import Sequence

import numpy as np

from dpfast.accounting.curves.searches import largest
from dpfast.accounting.curves.zcdp import gaussian_above, zcdp_above
from dpfast.accounting.numbers import (
    SMALLEST_DELTA,
    Number,
    cache_results,
    calculator,
    calculator_like,
    count,
    delta_of,
    epsilon_of,
    number,
)

_LINES = 64  # claims of a Gaussian kind
_MOST = 700.0
_SLACK = 1e-12
_CURVE = 1e-8  # relative error of a Gaussian curve, and more


@calculator
def selection_cost(claims: Sequence[tuple[float, float]], *, runs: int) -> float:
    """Return the epsilon that the choice adds to every claim of a run: c of the theorem.

    Parameters
    ----------
    claims : sequence of (epsilon, delta)
        A run is (epsilon, delta)-DP for each of these pairs.
    runs : int, >= 1
        The mean number m of runs.

    Returns
    -------
    float
        Rounded up.

    Examples
    --------
    >>> round(selection_cost([(0.5, 1e-7)], runs=30), 2)
    0.93
    """
    more = count("runs", runs) - 1
    slopes, levels = _envelope(claims)
    corners = np.append((levels[1:] - levels[:-1]) / (slopes[:-1] - slopes[1:]), [0.0, 1.0])
    corners = corners[(corners >= 0) & (corners <= 1)]
    passed = (np.outer(corners, slopes) + levels).min(axis=1)
    return 2 * math.log(((1 + more * passed) / (1 + more * corners)).max() * (1 + _SLACK + runs * 1e-15))


@calculator_like(selection_cost)
def selection_epsilon(claims: Sequence[tuple[float, float]], delta: Number, *, runs: int) -> float:
    """Return the epsilon at a given delta of the best of a geometric number of runs.

    Returns
    -------
    float
        Rounded up; infinite if no claim's delta is at most delta / runs.

    Examples
    --------
    >>> round(selection_epsilon([(0.5, 1e-7)], 1e-5, runs=30), 2)
    1.43
    """
    added, delta = selection_cost(claims, runs=runs), delta_of(delta)
    fitting = (epsilon for epsilon, each in claims if runs * float(each) * (1 + _SLACK) <= delta)
    return (min(fitting, default=math.inf) + added) * (1 + _SLACK)


@calculator
@cache_results
def selection_base(epsilon: Number, delta: Number, *, runs: int, gaussian: bool = False) -> tuple[float, float]:
    """Return the claim of one run for which the best of a geometric number of runs is (epsilon, delta)-DP.

    Parameters
    ----------
    delta : real, at least 1e-300 * runs and below 1
    runs : int, >= 1
        The mean number m of runs.
    gaussian : bool
        Whether a run also has the claims of `gaussian_claims`. It has if all of its noise was calibrated to the
        returned pair by `discrete_gaussian_sigma`. Otherwise only the pair is used.

    Returns
    -------
    epsilon, delta : float
        Rounded down; epsilon is 0 if nothing fits.

    Examples
    --------
    >>> [round(selection_base(1.0, 1e-6, runs=30, gaussian=kind)[0], 2) for kind in (False, True)]
    [0.35, 0.6]
    """
    epsilon, delta, runs = epsilon_of(epsilon), delta_of(delta), count("runs", runs)
    each = delta / runs * (1 - 4 * _SLACK)
    if each < SMALLEST_DELTA:
        raise ValueError(f"delta must be at least {SMALLEST_DELTA} for each of {runs} runs, got {delta!r} for all")

    def claim_at(base: float) -> float:
        if base > epsilon:
            return math.inf
        claims = [(base, each)]
        if gaussian:
            claims += gaussian_claims(base, each, epsilon)
        return selection_epsilon(claims, delta, runs=runs)

    return largest(claim_at, epsilon), each


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return mu of the Gaussian mechanism that is exactly (epsilon, delta)-DP; rounded up."""
    if delta < SMALLEST_DELTA:
        raise ValueError(f"delta must be at least {SMALLEST_DELTA}, got {delta!r}")
    most = delta * (1 + _CURVE)
    mu = largest(lambda mu: gaussian_above(1.0, epsilon, mu), most)
    return math.nextafter(mu, math.inf) * (1 + _SLACK)


def gaussian_claims(base: float, each: float, most: float) -> list[tuple[float, float]]:
    """Return claims with epsilons up to `most` of a run with Gaussian noise calibrated to (base, each) only.

    It is rho-zCDP, with rho = mu^2 / 2 for the mu of the one Gaussian mechanism that has exactly this claim: whichever
    of the two claims of `dpfast.accounting.discrete_gaussian_delta` made the noise fit, its own mu is no larger.
    """
    mu = gaussian_mu(base, each)
    rho = mu * mu / 2 * (1 + _SLACK)
    if rho == math.inf:
        return []
    reach = [most / _LINES * (k + 0.5) for k in range(_LINES)]
    return [(epsilon, min(zcdp_above(rho, epsilon), 1 - 1e-15)) for epsilon in reach]


def _envelope(claims):
    """Return the lower envelope of the lines of (1), slopes decreasing: slopes and levels, T(u) <= slope u + level."""
    lines = [(0.0, 1.0)]
    for epsilon, delta in claims:
        if epsilon_of(epsilon, zero=True) > _MOST:  # says nothing; a line less is a looser bound
            continue
        slope, delta = math.exp(epsilon), _delta(delta)
        lines += [(slope, delta), (1 / slope, 1 - (1 - delta) / slope)]
    hull: list[tuple[float, float]] = []
    for slope, level in sorted(lines, key=lambda line: (-line[0], line[1])):
        if hull and slope == hull[-1][0]:
            continue
        while len(hull) > 1 and _meet(hull[-2], (slope, level)) <= _meet(hull[-2], hull[-1]):
            hull.pop()
        hull.append((slope, level))
    return np.array(hull).T


def _meet(steep, flat):
    return (flat[1] - steep[1]) / (steep[0] - flat[0])


def _delta(value):
    return number("delta", value, "a number >= 0 and below 1", lambda x: 0 <= x < 1)

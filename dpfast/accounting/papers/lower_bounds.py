"""Lower bounds for all private learners: rows for halfspaces and lists, regret for experts, mistakes on streams.

**Halfspaces.** Rows x have norm at most 1, and a unit vector u has y <u, x> >= gamma always: the margin.

**Claim.** Let p <= 1 and k <= min(1/gamma^2, d), less 1 unless p = 1. If one (epsilon, delta)-DP algorithm, replace,
learns every distribution with margin gamma from n rows, then with Q = delta/(e^epsilon - 1),
    alpha/p + beta >= (1 + 2Q) (1 - (1 - e^(-epsilon/2)) p/k)^n / (2 cosh(epsilon/2)) - Q   and   >= (1 - p/k)^n / 2.
For add-remove a replacement is two steps: (2 epsilon, (1 + e^epsilon) delta). docs/proofs_learning.md has the proof.

The proof holds for any class that shatters k + 1 rows, of which one is the heavy one: `shattered_lower_bound`.

**Experts.** Where all losses of k experts in T rounds are fair coins, every learner, private or not, loses T/2 in the
mean, and the best expert the least of k binomials, whose mean is the sum over j < T of P(Bin(T, 1/2) > j)^k. So on
some losses of 0 and 1 the regret is at least the difference. It rises with T, since the best of the first rounds may
be followed.

**Point functions** ([BF], section 4.4). Point j of d, as a row of -1 but for a 1 at place j, is told from all others by
the unit vector e_j: point functions are halfspaces of margin 1 in d dimensions. (The rows of the paper, of 1 but for a
-1, give them with all labels turned.) The paper quotes a bound of order min(ln d, ln T) mistakes at (1/2, 1/(20 ln
T))-DP, without a constant, from Cohen and others 2024. This one has constants and follows from group privacy. It has
the same order in T, d and 1/epsilon for delta of about 1/T, and is weaker for larger delta.

**Theorem.** Let the hypotheses h_1, ..., h_T of a learner, h_t a function of the examples before round t, be (epsilon,
delta)-DP where one example is replaced. With N = min(T, d - 1), for every k <= N some stream of T examples that a point
function is right on has an expected number of mistakes of at least

    [k - delta * sum_{i<k} (e^(i epsilon) - 1)/(e^epsilon - 1)] / [1 + sum_{i<k} e^(i epsilon) / (N - k + 1)].

Where a neighbour has a blank in place of an example (add-remove), replacing is two steps: (2 epsilon, (1 + e^epsilon)
delta). docs/proofs_learning.md has the proof.

[BF] M. Bun, W. Fang, Privately Learning Decision Lists and a Differentially Private Winnow, arXiv 2602.07370, 2026.
"""

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from scipy import special

from dpfast.accounting.numbers import (
    Number,
    calculator,
    check_neighbors,
    count,
    delta_of,
    epsilon_of,
    float_above,
    margin_between,
    problem_of,
)

_MOST_INSERTIONS = 10**6  # any k gives a bound; larger ones are best where epsilon is tiny only


@calculator
def halfspace_lower_bound(
    epsilon: Number,
    delta: Number,
    *,
    margin: float,
    alpha: float = 0.1,
    beta: float = 0.1,
    dimension: int | None = None,
    neighbors: str = "replace",
) -> int:
    """Return the rows that every private learner of halfspaces needs; derived, not [NUZ] Theorem 6's own constants.

    Parameters
    ----------
    epsilon, margin, alpha, beta, dimension, neighbors
        As in `net_plan`.
    delta : real, 0 or at least 1e-300 and below 1

    Returns
    -------
    int
        With fewer rows no (epsilon, delta)-DP algorithm, fast or slow, has an error of at most alpha with probability
        1 - beta on every distribution with the margin. 0 if nothing is proved.

    Notes
    -----
    The order is 1/(alpha epsilon gamma^2).

    Examples
    --------
    >>> halfspace_lower_bound(1.0, 1e-6, margin=0.2), halfspace_lower_bound(0.1, 1e-6, margin=0.2)
    (53, 515)
    """
    gamma = margin_between(margin)
    points = math.floor(1 / Fraction(repr(gamma)) ** 2)
    if dimension is not None:
        points = min(points, count("dimension", dimension))
    return shattered_lower_bound(epsilon, delta, points, alpha=alpha, beta=beta, neighbors=neighbors)


@calculator
def experts_lower_bound(n_experts: int, rounds: int) -> float:
    """Return the expected regret that every learner from experts has on some losses of 0 and 1.

    Parameters
    ----------
    n_experts : int, >= 1
    rounds : int, >= 1
        Above 10^6 the bound is that of the first 10^6 rounds.

    Returns
    -------
    float

    Examples
    --------
    >>> round(experts_lower_bound(10, 1000), 1)
    24.3
    """
    k, T = count("n_experts", n_experts), min(count("rounds", rounds), 10**6)
    losses = np.arange(T, dtype=np.float64)
    less, more = special.bdtr(losses, T, 0.5), special.bdtrc(losses, T, 0.5)  # of at most j losses, of more
    with np.errstate(divide="ignore"):  # of what is too rare for a float
        best = np.exp(min(k, 1e300) * np.where(less < 0.5, np.log1p(-less), np.log(more))).sum()
    return max(0.0, float(T / 2 - best - T * 1e-9))


def shattered_lower_bound(
    epsilon: Number, delta: Number, points: int, *, alpha: float, beta: float, neighbors: str
) -> int:
    """Return the lower bound on rows of this module, for any class that shatters so many points."""
    pure = delta == 0
    epsilon, delta, _, alpha, beta = problem_of(epsilon, 0.5 if pure else delta, 1.0, alpha, beta)
    check_neighbors(neighbors)
    delta = 0.0 if pure else delta
    if neighbors == "add-remove":
        epsilon, delta = 2 * epsilon, delta * (1 + math.exp(min(epsilon, 700.0)))
    Q = delta / math.expm1(min(epsilon, 700.0))
    log_cosh = epsilon / 2 + math.log1p(math.exp(-epsilon))  # ln(2 cosh(epsilon / 2))
    best = 0.0
    for p in (min(1.0, 2 * alpha * 1.02**i) for i in range(200)):
        k, share = points - (p < 1), alpha / p + beta
        if k < 1 or share >= 0.5:
            continue
        log_chance = math.log((share + Q) / (1 + 2 * Q)) + log_cosh
        best = max(
            best,
            log_chance / _log_complement(-math.expm1(-epsilon / 2) * p / k),
            math.log(2 * share) / _log_complement(p / k),
        )
    return math.ceil(best * (1 - 1e-12))


def _log_complement(share: float) -> float:
    """Return ln(1 - share)."""
    return math.log1p(-share) if share < 1 else -math.inf


class PointBound(NamedTuple):
    """A lower bound on mistakes, and the stream that it is for.

    Attributes
    ----------
    mistakes : float
        The expected mistakes that every learner with the claim makes on some stream of this kind.
    insertions : int
        The number k of rounds that the proof replaces by examples of the point.
    """

    mistakes: float
    insertions: int


@calculator
def point_lower_bound(
    epsilon: Number, delta: Number, *, horizon: int, dimension: int, neighbors: str = "replace"
) -> PointBound:
    """Return the expected mistakes that every private online learner makes on some stream of a point function.

    Parameters
    ----------
    delta : real, 0 or at least 1e-300 and below 1
    horizon : int, >= 1
        The number T of rounds.
    dimension : int, >= 2
        The number d of points, or of columns of the corresponding halfspaces of margin 1.
    neighbors : {"replace", "add-remove"}

    Returns
    -------
    PointBound
        The best bound over k, rounded down, and that k; `dpfast.make_point_stream` draws the stream of the proof.

    Notes
    -----
    The time is linear in the best k, about ln(min(T, d)) / epsilon.

    Examples
    --------
    >>> [round(point_lower_bound(1.0, 0, horizon=10**k, dimension=10**9).mistakes, 1) for k in (2, 4, 6)]
    [3.0, 6.8, 11.0]
    """
    epsilon_of(epsilon)
    if delta:
        delta_of(delta)
    epsilon, delta = float_above(epsilon), float_above(delta)
    check_neighbors(neighbors)
    if neighbors == "add-remove":
        epsilon, delta = 2 * epsilon, delta * (1 + math.exp(min(epsilon, 700.0)))
    N = min(count("horizon", horizon), count("dimension", dimension, least=2) - 1)
    best, lost, grown, growth = PointBound(0.0, 1), 0.0, 0.0, 1.0
    for k in range(1, min(N, _MOST_INSERTIONS) + 1):
        lost += delta * grown  # (e^(i epsilon) - 1) / (e^epsilon - 1) at i = k - 1
        grown += growth  # of e^(i epsilon), i < k
        mistakes = (k - lost) / (1 + grown / (N - k + 1)) * (1 - 1e-9)
        if mistakes > best.mistakes:
            best = PointBound(mistakes, k)
        if grown > 4 * (N + 1) * (k + 1):  # the bound is below 1/4 from here on
            break
        growth *= math.exp(min(epsilon, 600.0))
    return best

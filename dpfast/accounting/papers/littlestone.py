"""Theorems 1 and 3 of [Lyu] with numbers for their constants.

[Lyu] is X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025; its algorithms here are
`StagedLittlestoneLearner` (section 5) and `StagedOnlineLittlestoneLearner` (Algorithms 3 and 4). d >= LDim(H) is the
declared dimension, L the most essential hypotheses of a class at the largest p, KL(a, b) the divergence of coins of
heads a and b.

The theorems with all constants, and their proofs, are in docs/proofs_learning.md, "Littlestone classes", whose symbols
the code uses. There:

    Theorem 3  after section 5, the error on the rows is below alpha with probability 1 - beta.
    Theorem 1  Algorithms 3 and 4 are (epsilon, delta)-DP and make at most (K + 1) 3 U / 2 mistakes with probability
               1 - T^-10, on every realizable stream that is fixed beforehand, or, with more draws, on every realizable
               stream at all, also one that an adversary chooses by what he has seen.

[Lyu] has K = C d^3, k = d^3.5 ln T ln(1/delta) / epsilon, U = C d^3 ln(d ln T) k, p = 2^j d^3, B = k / 10 and e =
epsilon / (d^1.5 ln T ln(1/delta)). Then e B = d^2 / 10 whatever delta is, while Lemma 3.1 needs 10 ln(L / delta); and
U / k is above d^3, while Fact 4 needs p >= |A_i|. So k is larger here, and p is 2^j max(d^3, c).

**Scaled.** K, R, a, and the noise in U and k, are multiplied by one number s <= 1, but K stays at 2 (d + 1) or above, R
at 9, U at 3 k, and k where 2k/3 lists beat nothing 99 to 1 and k/5 is five times the noise of a test. Privacy is that
of what is run. The theorems are for s = 1.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

from dpfast.accounting.curves.repeated_threshold import repeated_epsilon
from dpfast.accounting.curves.searches import largest
from dpfast.accounting.curves.sparse_sample import sparse_sample_plan
from dpfast.accounting.numbers import calculator

_MAJORITY = -math.log(0.01 + 2 * math.sqrt((2 / 3 - 0.01) / 3))  # nats a draw
_NOTHING = math.log(99)
_DRAWS = 9  # at least


class StagedLittlestonePlan(NamedTuple):
    """Numbers of section 5: what a run will do, computed from parameters alone.

    Attributes
    ----------
    n_samples : int
        Rows: n_teachers * rows_per_teacher.
    n_teachers : int
        k.
    rows_per_teacher : int
    irreducibilities : tuple of int
        p of the stages 1, ..., d + 1.
    list_bound : int
        L, the longest list of essential hypotheses.
    list_items : int
        What all lists may hold together.
    threshold_epsilon : float
        Epsilon of AboveThreshold.
    votes_needed : int
        The threshold of AboveThreshold.
    exponent : float
        Of SparseSample.
    bottom_score : int
        The score of SparseSample's "no answer".
    """

    n_samples: int
    n_teachers: int
    rows_per_teacher: int
    irreducibilities: tuple[int, ...]
    list_bound: int
    list_items: int
    threshold_epsilon: float
    votes_needed: int
    exponent: float
    bottom_score: int


class StagedOnlinePlan(NamedTuple):
    """Numbers of Algorithms 3 and 4: what a stream will cost, computed from parameters alone.

    Attributes
    ----------
    n_releases : int
        K, the budget of releases.
    n_draws : int
        SparseSamples of one training.
    n_teachers : int
        k.
    threshold : int
        U.
    part_size : int
        c, the places that a teacher has for the mistakes of one release.
    irreducibility : int
        Times 2^j the p of stage j.
    list_bound : int
        L, the longest list of essential hypotheses.
    list_items : int
        What all lists may hold together.
    above_epsilon, below_epsilon : float
        Epsilon of the two kinds of tests.
    exponent : float
        Of SparseSample.
    bottom_score : int
        The score of SparseSample's "no answer".
    mistakes : int
        (K + 1) 3U / 2, the theorem's bound at scale 1.
    """

    n_releases: int
    n_draws: int
    n_teachers: int
    threshold: int
    part_size: int
    irreducibility: int
    list_bound: int
    list_items: int
    above_epsilon: float
    below_epsilon: float
    exponent: float
    bottom_score: int
    mistakes: int


@calculator
def staged_plan(
    epsilon: float,
    delta: float,
    *,
    dimension: int,
    accuracy: float,
    confidence: float,
    list_bound: Callable[[int], int],
    scale: float = 1.0,
    threshold_share: float = 0.5,
    n_rows: int = 0,
) -> StagedLittlestonePlan:
    """Return the plan of Theorem 3: rows and teachers at which the error on the rows is below `accuracy`.

    Parameters
    ----------
    epsilon, delta : float
        Of AboveThreshold and SparseSample together.
    dimension : int
        d.
    accuracy, confidence : float
        alpha and beta: the chance of failure.
    list_bound : callable
        From p to the most essential hypotheses that a class may have.
    scale : float in (0, 1]
        Multiplies the rows of a teacher.
    threshold_share : float in (0, 1)
        AboveThreshold's part of epsilon.
    n_rows : int
        Rows at hand, if they are public: n is at least as large.

    Returns
    -------
    StagedLittlestonePlan
    """
    d, nats = dimension, math.log(3 / confidence)
    gap = 1 / (2 * max(1, d))
    rate, rows, teachers, length = _rate(accuracy, gap, d), 1, 1, 0
    for _ in range(100):
        irreducibility = max(n_rows, teachers * rows) * max(1, d)
        length = max(length, list_bound(irreducibility << (d + 1)))
        sample = sparse_sample_plan(epsilon, delta, n_releases=1, max_length=length, threshold_share=threshold_share)
        noise = 13 / 4 / sample.threshold_epsilon * (nats + math.log(d + 2)) + 1
        k = max(teachers, _ceil(2 * (noise + sample.bottom_score + nats / sample.exponent)))
        behaviours = math.log(2 * k * (d + 1)) + _ways(k * rows, d) + nats
        a = max(rows, _ceil(scale * behaviours / rate))
        if (k, a) == (teachers, rows):
            break
        teachers, rows = k, a
    return StagedLittlestonePlan(
        n_samples=teachers * rows,
        n_teachers=teachers,
        rows_per_teacher=rows,
        irreducibilities=tuple(irreducibility << j for j in range(1, d + 2)),
        list_bound=length,
        list_items=teachers * length,
        threshold_epsilon=sample.threshold_epsilon,
        votes_needed=-(-teachers // 2),
        exponent=sample.exponent,
        bottom_score=sample.bottom_score,
    )


@calculator
def staged_online_plan(
    epsilon: float,
    delta: float,
    *,
    dimension: int,
    horizon: int,
    list_bound: Callable[[int], int],
    scale: float = 1.0,
    threshold_share: float = 0.2,
    n_points: float | None = None,
) -> StagedOnlinePlan:
    """Return the plan of Theorem 1: K, R, k and U, and the privacy of each step, together (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon, delta : float
    dimension : int
        d >= 2.
    horizon : int
        T.
    list_bound : callable
        From p to the most essential hypotheses that a class may have.
    scale : float in (0, 1]
        Multiplies the constants.
    threshold_share : float in (0, 1)
        The part of epsilon of both kinds of tests, half of it each; they have a quarter of delta each.
    n_points : int or inf, optional
        Points of the class, for rounds that may be chosen with all that happened before in view. Without it the bound
        on mistakes is for streams fixed beforehand.

    Returns
    -------
    StagedOnlinePlan
    """
    d, log_horizon = dimension, math.log(horizon)
    nats = 10 * log_horizon + math.log(6)  # ln(1 / f)
    share = threshold_share * epsilon / 2
    above, below = (_test_epsilon(share, positives, delta / 4) for positives in (1, d + 1))
    rest = math.nextafter(epsilon - 2 * share, 0)
    gap = 1 / d
    rate = _rate(1 / 10, gap, d)
    releases = draws = teachers = threshold = 1
    for _ in range(200):
        part = -(-3 * threshold // (2 * teachers))
        irreducibility = max(d**3, part)
        length = list_bound(irreducibility << (d + 1))
        sampling = sparse_sample_plan(rest, delta / 2, n_releases=releases * draws, max_length=length)
        e, bottom = sampling.exponent, sampling.bottom_score
        noise = (math.log(2 * (releases + d + 2)) + nats) / below
        least = max(1.5 * (bottom + _NOTHING / e), 25 / below)
        k = _ceil(max(scale * 10 * bottom, scale * 7.5 * (noise + 1), least))
        bottom = max(bottom, k // 10)
        behaviours = math.log(4 * k * (d + 1) * releases) + _ways(3 * threshold // 2, d) + nats
        examples = max(behaviours / rate, 4 * (math.log(k * releases) + nats))
        noise = (math.log(2) + log_horizon + nats) / above
        u = max(_ceil(scale * 4 * examples * k), _ceil(scale * 2 * (noise + 1)), 3 * k)
        points = log_horizon
        if n_points is not None:
            points = min(math.log(n_points), _ways(k * length, 2.0 ** min(d + 1, 1000) - 1))
        r = max(_DRAWS, _ceil(scale * (points + math.log(releases + 1) + nats) / _MAJORITY))
        rises = (_log_plus(0, math.log(length * k) + e * (k - bottom)) - math.log(100)) / math.log(5 / 4)
        more = (d + 1) * max(2, _ceil(scale * (1 + max(0, rises))))
        new = tuple(map(max, (releases, draws, teachers, threshold), (more, r, k, u)))
        if new == (releases, draws, teachers, threshold):
            break
        releases, draws, teachers, threshold = new
    return StagedOnlinePlan(
        n_releases=releases,
        n_draws=draws,
        n_teachers=teachers,
        threshold=threshold,
        part_size=part,
        irreducibility=irreducibility,
        list_bound=length,
        list_items=teachers * length,
        above_epsilon=above,
        below_epsilon=below,
        exponent=e,
        bottom_score=max(sampling.bottom_score, teachers // 10),
        mistakes=(releases + 1) * (3 * threshold // 2),
    )


def _test_epsilon(epsilon: float, positives: int, delta: float) -> float:
    """Return the largest epsilon of a test at which tests up to so many positive ones are (epsilon, delta)-DP."""
    epsilon = largest(
        lambda e: repeated_epsilon(e, positives, delta) if 1e-15 <= e <= 10 else 0.0 if e < 1 else math.inf, epsilon
    )
    if epsilon < 1e-15:
        raise ValueError(f"epsilon is too small for tests: they would have {epsilon:.3g} of it")
    return epsilon


def _rate(accuracy: float, gap: float, levels: int) -> float:
    """Return the nats per example that separate one level of accuracy from the next, at the least of them."""
    top = accuracy * (1 - gap) ** levels
    middle = (1 - gap / 2) * top
    return min(_divergence((1 - gap) * top, middle), _divergence(top, middle))


def _divergence(a: float, b: float) -> float:
    return a * math.log(a / b) + (1 - a) * (math.log1p(-a) - math.log1p(-b))


def _ways(n: int, d: float) -> float:
    """Return an upper bound of ln of the sum of C(n, i), i <= d."""
    return d * (1 + math.log(n) - math.log(d)) if n > d > 0 else n * math.log(2) if d else 0.0


def _ceil(number: float) -> int:
    if not math.isfinite(number):
        raise ValueError("epsilon and delta are so small that no number of rows is enough")
    return math.ceil(number)


def _log_plus(a: float, b: float) -> float:
    return max(a, b) + math.log1p(math.exp(-abs(a - b)))

"""The privacy of a survey of a table, and what it leaves of a budget for the learner that follows.

A table has q columns, and a row has one cell in each. Counts of fixed codes are released with discrete Gaussian noise,
whether the codes occur or not. Words are not listed beforehand: a word that some row has gets the same noise on its
count, and is published, with its noisy count, if that reaches a threshold.

**Fixed codes.** A row that is added changes one count of each column by 1, a replaced one two counts of each: the
counts move by sqrt(q) and sqrt(2 q) in Euclidean norm, and k rows by k times that. A column in which a row counts c
times, as that of the labels, stands for c^2 of the q.

**Theorem (words).** Let neighbours differ in at most k rows. In each column i that holds words, let a count of j <= k
rows of a word that only one of two neighbours has reach the threshold with probability at most j d_i / k, and let d < 1
be the sum of the d_i. With G the curve of the Gaussian mechanism that moves as above,

    delta(E) <= d + G(E).

docs/proofs_privacy.md has the proof.

**Threshold.** On the grid a row counts `unit` steps, and X is discrete Gaussian noise of scale sigma steps. A lone word
of j rows is published if j unit + X >= t. P(X >= m) <= P(N(0, sigma^2) >= m - 1) (Canonne, Kamath, Steinke 2020,
proposition 25), so that t = max over j of j unit + 1 + sigma z(1 - j d / (k w)) will do, where z is the quantile of
N(0, 1), if w columns with the same threshold have d_i = d / w each. In j the first term rises and the second falls
along a curve whose slope falls, so that the maximum over real j is not always at an end: the maximum is taken over all
j = 1 .. k, or, for k above 1000, of both terms apart.

**Looks that follow.** Let a first look count p columns and labels of weight c, and let p columns more and a pool of g
columns be paid for. A later look of q columns for which s are paid has sqrt(q / s) times the noise of the first one, or
more. Then q, s, the cells and whether there is another look may be any functions of earlier releases, as long as all s
together are at most p + g whatever these are: the claim of all looks is that of one that moves as 2 p + g + c^2
columns. What is not paid for at the end may go to other sums of the same survey, and to nothing else: a draw or a list
with a larger exponent would not be covered. With discrete Laplace noise the same holds for q / s times the scale.

**Beside a learner.** A survey of share s comes before a learner that may depend on its outcome. The claim of both is
(epsilon, delta), and d bounds the probability that a lone word or label is published. The learner is told a smaller
budget (e, f) to calibrate itself to. Which budget this is depends on what its releases are:

    gaussian    Sums with Gaussian noise alone. With M the mu of the whole, d + (1 - d) G_M(epsilon) = delta up to the
                term of discrete noise; the survey has mu^2 = s M^2, and G(e) = f for the mu^2 = (1 - s) M^2 that
                remains. Whichever claim of `dpfast.accounting.claims.costs` made its noise fit (e, f), its mu is no
    larger. zcdp        Whatever is rho-zCDP for the rho that converts to (e, f). With R that of the whole, the survey
                has rho = s R, and (1 - s) R converts to (e, f). If a pure release of share q is among them, and counts
                at each order as little as it does, rho is at most 1 + q times that of (e, f), which is so much smaller.
    parts       Sums, draws and a greedy cover that the learner names, on one bill (`dpfast.accounting.claims.bill`).
                The noise of each follows from the bill, and (e, f) is the whole budget.
    pair        Anything: e + s epsilon = epsilon and f + s delta = delta.

A learner may spend a share c of what it is told on a release that is pure. The rest is then shared as above, of the
budget (1 - c) epsilon, and the pure release is on top: it has c / (1 - c) times the e of the others, which is less than
c epsilon.

Floats are rounded towards safety: thresholds and noise up, what remains down.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from scipy import special

from dpfast.accounting.claims.bill import NoisySums, bill_noise
from dpfast.accounting.claims.costs import Cost, discrete_gaussian_cost
from dpfast.accounting.curves.selection import gaussian_mu
from dpfast.accounting.curves.zcdp import SLACK, gaussian_above, zcdp_epsilon, zcdp_rho
from dpfast.accounting.numbers import (
    SMALLEST_DELTA,
    Number,
    cache_results,
    check_neighbors,
    count,
    decimal_above,
    decimal_below,
    delta_of,
    exact,
    float_below,
    split,
)

_UP = 1 + 1e-12
_MOST_ROWS = 1000
_KEPT = 1 - Fraction(1, 10**8)  # share of delta; the rest covers what a budget rounds up when it composes the costs


def opening_moves(columns: int, neighbors: str, rows_per_unit: int = 1) -> int:
    """Return the square of what the counts of columns, that of the label included, move by in Euclidean norm."""
    check_neighbors(neighbors)
    each = 2 if neighbors == "replace" else 1
    return each * count("columns", columns) * count("rows_per_unit", rows_per_unit) ** 2


def opening_threshold(sigma: Number, delta: float, *, unit: int = 1, words: int = 1, rows_per_unit: int = 1) -> int:
    """Return the least threshold, in steps, at which lone words are published with probability at most delta.

    A row counts `unit` steps, and the noise has the scale `sigma` in steps; `words` columns may hold words.

    >>> opening_threshold(100, 1e-7)
    522
    """
    delta, k = delta_of(delta), count("rows_per_unit", rows_per_unit)
    share = delta / (k * count("words", words)) / _UP
    if not share >= 1e-300:
        raise ValueError(f"delta is too small for {words} columns of words, got {delta!r}")
    scale = float(sigma) * _UP

    def reach(chance):
        return max(0.0, -float(special.ndtri(chance))) * scale * _UP

    if k > _MOST_ROWS:
        return k * unit + 1 + math.ceil(reach(share))
    return max(j * unit + 1 + math.ceil(reach(j * share)) for j in range(1, k + 1))


class Survey(NamedTuple):
    """The noise of a survey that precedes a learner, and what remains for the learner.

    Attributes
    ----------
    sigma : float
        The scale of the noise, in steps of the grid.
    cost : tuple of Cost
        That of the survey alone.
    epsilon, delta : float
        The budget that the learner calibrates itself to.
    total : tuple of Cost
        The cost of both; empty if it is the pair of the whole budget.
    noise : tuple of float
        That of each of the learner's parts, if it names them.
    """

    sigma: float
    cost: tuple[Cost, ...]
    epsilon: float
    delta: float
    total: tuple[Cost, ...]
    noise: tuple[float, ...] = ()


def survey_noise(
    epsilon: Number,
    delta: Number,
    share: Number = 1,
    *,
    moves: int,
    unit: int,
    words: Number = 0,
    kind: str = "gaussian",
    pure: Number = 0,
    rest: Sequence = (NoisySums(1 << 30, 1),),
) -> Survey:
    """Return the noise of a survey, and the budget that remains for the learner after it.

    Parameters
    ----------
    epsilon, delta : real, > 0
        The budget of both.
    share : real in (0, 1]
        That of the survey, as the documentation of this module says for each kind; 1 if there is no learner.
    moves : int
        The square of what the survey moves by, in rows: `opening_moves`.
    unit : int
        The steps of the grid for a row.
    words : real
        The largest probability that a lone word or label is published, below delta.
    kind : {"gaussian", "zcdp", "parts", "pair"}
        What the learner's releases are.
    pure : real in [0, 1)
        The share c of the learner's epsilon for a release that is pure.
    rest : sequence of NoisySums, Draws or CoverDraws, or of Fraction
        For "parts": all releases of the learner but the pure one. For "gaussian": sums whose sensitivity, in steps of
        their grid, is at most, and whose number of entries in which neighbours may differ is at least, that of the
        learner's sums of the same share. For "zcdp": the share of each pure release in the learner's rho, if it counts
        in (e, f) with less than its epsilon squared over 2.

    Returns
    -------
    Survey
    """
    epsilon, delta, share = exact("epsilon", epsilon), exact("delta", delta), exact("share", share)
    word_risk, pure = exact("words", words, below=1), exact("pure", pure, below=1)
    return _noise(epsilon, delta, share, moves, unit, word_risk, kind, pure, tuple(rest))


@cache_results
def _noise(epsilon, delta, share, moves, unit, word_risk, kind, pure, rest):
    """Do what `survey_noise` does, for exact numbers."""
    if share < 1 and kind == "pair":
        (e, of_survey), (f, of_delta) = split(epsilon, share), split(delta, share)
        alone = survey_noise(of_survey, of_delta, moves=moves, unit=unit, words=word_risk * share)
        return alone._replace(epsilon=e, delta=f, total=())
    whole, delta_for_all = epsilon * (1 - pure), delta * _KEPT
    survey = NoisySums(unit, share, times=moves)
    if share == 1:
        noise = bill_noise((survey,), whole, delta_for_all, words=word_risk)
        return Survey(noise.noise[0], noise.cost, 0.0, 0.0, noise.cost)
    of_parts: tuple[float, ...] = ()
    if kind in ("gaussian", "parts"):
        unit_share = (1 - share) / sum(exact("share", part.share) for part in rest)
        parts = [part._replace(share=exact("share", part.share) * unit_share) for part in rest]
        noise = bill_noise((survey, *parts), whole, delta_for_all, words=word_risk)
        sigma, total, of_parts = noise.noise[0], noise.cost, noise.noise[1:]
        e, f = decimal_below(whole), decimal_below(delta)
        if kind == "gaussian":
            each = zip(rest, map(Fraction, of_parts), strict=True)
            square = sum(part.times * (exact("steps", part.sensitivity) / sigma_of) ** 2 for part, sigma_of in each)
            e, f = _budget_of_mu(math.sqrt(float_below(square)) / _UP, float(whole) * math.sqrt(1 - share))
    else:
        f = decimal_below(delta_for_all - word_risk)
        rho = zcdp_rho(whole, f)
        left = rho * (1 - float(share)) * (1 - SLACK)
        sigma = math.sqrt(moves / (2 * rho * float(share))) * unit * _UP
        pure_parts = sum((exact("share", part) for part in rest if not isinstance(part, NoisySums)), Fraction(0))
        e, total = _budget_of_rho(left / float(1 + pure_parts) / _UP, f), (Cost("zcdp", left),)
    cost = discrete_gaussian_cost(sigma, sensitivity=unit, releases=moves, size=1)
    lone = (Cost("pair", 0.0, delta=decimal_above(word_risk)),) if word_risk else ()
    total = (*cost, *total, *lone) if kind == "zcdp" else total
    on_top = exact("left", e) * pure / (1 - pure)
    return Survey(
        sigma,
        (*cost, *lone),
        decimal_below(exact("left", e) + on_top),
        f,
        (*total, *((Cost("pure", decimal_above(on_top)),) if pure else ())),
        of_parts if kind == "parts" else (),
    )


def _budget_of_mu(mu: float, epsilon: float) -> tuple[float, float]:
    """Return a budget near this epsilon whose Gaussian mechanism has at most this mu."""
    epsilon, delta = decimal_below(Fraction(epsilon)), gaussian_above(1.0, epsilon, mu)
    for less in (1e-9, 1e-8, 1e-7, 1e-6):
        delta_below = decimal_below(Fraction(delta * (1 - less)))
        if delta_below >= SMALLEST_DELTA and gaussian_mu(epsilon, delta_below) <= mu:
            return epsilon, delta_below
    raise ValueError(
        "epsilon or delta is too small, or epsilon too large, for a discovery and a learner together: declare the "
        "columns"
    )


def _budget_of_rho(rho: float, delta: float) -> float:
    """Return the largest epsilon that rho pays for at this delta."""
    epsilon = zcdp_epsilon(rho, delta)
    while zcdp_rho(epsilon, delta) > rho:
        epsilon *= 1 - 1e-9
    return decimal_below(Fraction(epsilon))

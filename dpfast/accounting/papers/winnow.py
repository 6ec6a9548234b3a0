"""Privacy cost of Winnow.

DP-Winnow keeps a score per feature, s = the sum of c_k y x over the examples used so far, and publishes releases:
release k is m independent draws of a feature with probability proportional to exp(eta s). Rounds between two releases
are an interval; its mistakes are those of the release in force. An update adds to s the mistakes of its interval, all
of them (batch="all") or the first B (batch=B; B = 1 is [BF]), each c_k times for interval k = 0, 1, ..., and makes
the next release. It comes at a round fixed beforehand, or when AboveThreshold, started afresh with the interval, finds
enough mistakes in it. [BF] is Bun, Fang, "Privately Learning Decision Lists and a Differentially Private Winnow",
arXiv 2602.07370.

**Theorem (privacy).** Neighbouring streams differ in one round. Let R be `winnow_range`, and let each AboveThreshold be
e-DP. Let interval k be in the scores of at most n_k releases, with c_k^2 n_k <= K for every k. The run is as private as
(eta R)^2 m K / 8-zCDP composed with *one* e-DP mechanism. That is so for

    equal weights:    c_k = 1 and K releases in all, so that n_k = K - k                     [BF]
    rising weights:   c_k = floor(G sqrt(K / (K - k))) / G, the same K releases: `winnow_weight`
    a window:         c_k = 1, and an interval leaves the scores K releases after it was added: n_k = K, without end

The K intervals together pay for one AboveThreshold only (`threshold_runs`) because its counts start afresh with each
interval: docs/proofs_privacy.md has the proof.

Under rising weights later rows weigh more because fewer releases see them, at the same cost for each: at K = 20 the
last release has 1.70 times the signal that equal weights give it, all releases together 1.31 times. Weights and scores
are integers in units of 1/G, and (G c_k)^2 (K - k) <= G^2 K holds in integers.

**Lemma (range).** For features in [lo, hi], labels +-1 and at least two features, v ranges over

    replace, any batch:      y x - y' x'  (or one of the two alone):             R = 2 (hi - lo)
    add-remove, batch all:   y x:                                                R = hi - lo
    add-remove, batch B:     y x - y' x': without the example the first B
                             mistakes of the interval take one more in:          R = 2 (hi - lo)

With copies lo + hi - x of all features ("complement") R stays: they are features in the same range. With copies
-x, whose scores are -s, the width is 2 max |v|: R = 4h under replace and for batch B, and 2h for add-remove with
batch all, h = max(|lo|, |hi|). (So for x in {0, 1}, copies 1 - x cost half as much as copies -x, and are as good.)
Proof: y x - y' x' has coordinates anywhere in [lo - hi, hi - lo] for y = y' and in +-[2 lo, 2 hi] otherwise.
With batch all, R also holds if a row adds u y x for a u in [0, 1] that follows from the row and from releases, as the
width of u y x - u' y' x' is convex in (u, u').

Floats in a privacy claim are rounded towards safety.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from numbers import Real

from dpfast.accounting.curves.searches import largest
from dpfast.accounting.curves.zcdp import SLACK, composed_epsilon, draws_rho, square_above, zcdp_rho
from dpfast.accounting.numbers import (
    Number,
    cache_results,
    calculator,
    calculator_like,
    check_neighbors,
    count,
    delta_of,
    epsilon_of,
    float_above,
    number,
    positive_above,
)

WEIGHT_GRID = 256  # G


@calculator
def winnow_weight(interval: int, n_updates: int) -> int:
    """Return the weight of an interval's mistakes in the scores under rising weights, in units of 1 / WEIGHT_GRID.

    Parameters
    ----------
    interval : int
        k, from 0.
    n_updates : int
        K, above k.

    Returns
    -------
    int
        The largest c with c**2 (K - k) <= WEIGHT_GRID**2 K.

    Examples
    --------
    >>> [winnow_weight(k, 4) / WEIGHT_GRID for k in range(4)]
    [1.0, 1.15234375, 1.4140625, 2.0]
    """
    K = count("n_updates", n_updates)
    if count("interval", interval, least=0) >= K:
        raise ValueError(f"interval must lie in [0, n_updates), here [0, {K}), got {interval!r}")
    return math.isqrt(WEIGHT_GRID**2 * K // (K - interval))


@calculator
def winnow_range(
    neighbors: str = "replace",
    *,
    feature_range: tuple[Number, Number] = (-1, 1),
    negations: bool | str = False,
    batch: int | str = "all",
) -> Fraction:
    """Return a bound on how much one example changes the difference of the scores of two features.

    Parameters
    ----------
    neighbors : {"replace", "add-remove"}
    feature_range : pair of real
        Every feature lies between these two.
    negations : bool or "complement"
        False: the features only. True: each also as -x. "complement": each also as low + high - x.
    batch : "all" or int
        The number of mistakes of an interval that enter the scores: all, or the first `batch`.

    Returns
    -------
    Fraction
        R, exact. With exponent eta one draw has bounded range eta * R, so it is (eta * R)-DP and
        (eta * R)**2 / 8-zCDP.

    Examples
    --------
    >>> winnow_range("replace"), winnow_range("add-remove"), winnow_range("add-remove", batch=1)
    (Fraction(4, 1), Fraction(2, 1), Fraction(4, 1))
    """
    check_neighbors(neighbors)
    low, high = feature_ends(feature_range)
    if batch != "all" or not isinstance(batch, str):
        count("batch", batch, or_else='"all" or ')
    if not (isinstance(negations, bool) or negations == "complement"):
        raise ValueError(f'negations must be False, True or "complement", got {negations!r}')
    one = 2 * max(abs(low), abs(high)) if negations is True else high - low
    return one if neighbors == "add-remove" and batch == "all" else 2 * one


@calculator
def winnow_epsilon(
    learning_rate: Number,
    delta: Number,
    *,
    n_updates: int,
    n_draws: int,
    threshold_epsilon: Number = 0.0,
    neighbors: str = "replace",
    score_range: Number | None = None,
    threshold_runs: int = 1,
) -> float:
    """Return the epsilon of a whole DP-Winnow run at a given delta.

    Parameters
    ----------
    learning_rate : real, >= 0
        The exponent eta, per unit of score.
    n_updates : int, >= 1
        The number K of releases after the first one, which is uniform and costs nothing; with a window, the number of
        releases for which it keeps a row.
    n_draws : int, >= 1
        The number m of draws in a release.
    threshold_epsilon : real, >= 0
        The epsilon of each AboveThreshold; 0 for a fixed schedule.
    neighbors : {"replace", "add-remove"}
    score_range : real, optional
        R, from `winnow_range`. By default the widest on [-1, 1], that of batch=1: 4.
    threshold_runs : int, >= 1
        The number of AboveThreshold runs that one example can affect: 1 if counts and noise start afresh after each
        release, and otherwise n_updates.

    Returns
    -------
    float
        The run is (epsilon, delta)-DP. Rounded up; infinite where it is too large for floats.

    Notes
    -----
    Divergences are added order by order, the pure parts with their exact divergence, and converted as in
    `dpfast.accounting.curves.zcdp`. That is below both the sum of pure epsilons with the converted rest and the
    conversion of `winnow_rho`.

    Examples
    --------
    >>> round(winnow_epsilon(0.001, 1e-6, n_updates=10, n_draws=200, threshold_epsilon=0.1), 3)
    0.469
    """
    eta, releases, e, width, runs = _run(
        learning_rate, n_updates, n_draws, threshold_epsilon, neighbors, score_range, threshold_runs
    )
    rho = draws_rho(eta, releases, width)
    return composed_epsilon(rho, delta_of(delta), e, runs) if rho < math.inf else math.inf


@calculator_like(winnow_epsilon)
def winnow_rho(
    learning_rate: Number,
    *,
    n_updates: int,
    n_draws: int,
    threshold_epsilon: Number = 0.0,
    neighbors: str = "replace",
    score_range: Number | None = None,
    threshold_runs: int = 1,
) -> float:
    """Return the rho for which a whole DP-Winnow run is rho-zCDP: (eta R)^2 m K / 8 + threshold_runs * e^2 / 2.

    Returns
    -------
    float
        Rounded up. With AboveThreshold, `winnow_epsilon` is tighter than `zcdp_epsilon` of this rho.

    Examples
    --------
    >>> round(winnow_rho(0.001, n_updates=10, n_draws=200), 6)
    0.004
    """
    eta, releases, e, width, runs = _run(
        learning_rate, n_updates, n_draws, threshold_epsilon, neighbors, score_range, threshold_runs
    )
    return (draws_rho(eta, releases, width) + (runs * square_above(e) / 2 if e else 0.0)) * (1 + SLACK)


@calculator_like(winnow_epsilon)
@cache_results
def winnow_learning_rate(
    epsilon: Number,
    delta: Number,
    *,
    n_updates: int,
    n_draws: int,
    threshold_share: Number = 0.5,
    neighbors: str = "replace",
    score_range: Number | None = None,
    threshold_runs: int = 1,
) -> tuple[float, float]:
    """Return the largest learning rate at which a whole DP-Winnow run is (epsilon, delta)-DP.

    Parameters
    ----------
    threshold_share : real, at least 0 and below 1
        The share of AboveThreshold in the budget, in terms of zCDP; 0 for a fixed schedule.

    Returns
    -------
    learning_rate, threshold_epsilon : float
        Rounded down, so that ``winnow_epsilon`` of both is at most `epsilon` in floats too.

    Examples
    --------
    >>> eta, e = winnow_learning_rate(1.0, 1e-6, n_updates=10, n_draws=200)
    >>> round(eta, 5), round(e, 3)
    (0.00217, 0.156)
    """
    epsilon, delta = epsilon_of(epsilon), delta_of(delta)
    _, releases, _, width, runs = _run(1.0, n_updates, n_draws, 0.0, neighbors, score_range, threshold_runs)
    share = number("threshold_share", threshold_share, "at least 0 and below 1", lambda x: 0 <= x < 1)
    e = math.sqrt(2 * share * zcdp_rho(epsilon, delta) / runs) * (1 - SLACK)
    eta = largest(lambda eta: composed_epsilon(draws_rho(eta, releases, width), delta, e, runs), epsilon)
    if eta == 0:
        raise ValueError(f"no learning rate > 0 fits epsilon={epsilon!r}, delta={delta!r}; use a larger epsilon")
    return eta, e


def _run(learning_rate, n_updates, n_draws, threshold_epsilon, neighbors, score_range, threshold_runs) -> tuple:
    """Return (eta, m K, e, R, AboveThreshold runs that count) of validated arguments."""
    check_neighbors(neighbors)
    eta = number("learning_rate", learning_rate, "a finite number >= 0", lambda x: 0 <= x < math.inf)
    number("threshold_epsilon", threshold_epsilon, "a finite number >= 0", lambda x: 0 <= x < math.inf)
    releases = count("n_updates * n_draws", count("n_updates", n_updates) * count("n_draws", n_draws))
    if score_range is None:
        score_range = winnow_range(neighbors, batch=1)
    runs = count("threshold_runs", threshold_runs)
    return eta, releases, float_above(threshold_epsilon), positive_above("score_range", score_range), runs


def feature_ends(value) -> tuple[Fraction, Fraction]:
    """Return the two ends of a feature's range."""
    ends = tuple(value) if isinstance(value, Sequence) else ()
    if len(ends) == 2 and all(isinstance(end, Real) and math.isfinite(end) for end in ends) and ends[0] < ends[1]:
        return Fraction(ends[0]), Fraction(ends[1])
    raise ValueError(f"feature_range must be two finite numbers, the lower first, got {value!r}")

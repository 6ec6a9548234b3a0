"""Privacy cost of SparseSample.

k lists of at most L items each; the score s(u) of an item is the number of lists that contain it. SparseSample draws
an item that is on some list, or "nothing", with probability proportional to exp(e s(u)), and exp(e B) for nothing [Xin
Lyu, Private Learning of Littlestone Classes, Revisited, 2025, Algorithm 1; Ghazi, Kumar, Manurangsi, Differentially
Private Clustering, 2020, Lemma 36, whose argument Lyu's Lemma 3.1 is]. Neighbours differ in one list.

**Theorem.** One draw is (2e, delta)-DP with delta = L exp(-e B) (1 + exp(e)).

Lyu's Lemma 3.1 asks for B >= 10 ln(L / delta) / e; here B = ln(L (1 + exp(e)) / delta) / e, about a tenth of that.

**Theorem (composition).** K draws with one exponent e, each from lists of which one differs, composed with one
mechanism that is t-DP, are (E, delta)-DP whenever one of these holds:

    pure  E >= 2 K e + t    and  delta >= K L exp(-e B) (1 + exp(e))
    zcdp  E >= E_c(delta_c) and  delta >= delta_c + (1 + exp(E)) K L exp(e - e B),

E_c(delta_c) being the epsilon at delta_c of something (K e^2 / 2)-zCDP composed with something t-DP.

docs/proofs_privacy.md has the proofs. Floats are rounded towards safety.
"""

import math
from fractions import Fraction
from typing import NamedTuple

from dpfast.accounting.curves.searches import largest
from dpfast.accounting.curves.zcdp import composed_epsilon, square_above
from dpfast.accounting.numbers import (
    SMALLEST_DELTA,
    Number,
    cache_results,
    calculator,
    calculator_like,
    count,
    decimal_below,
    delta_of,
    epsilon_of,
    exact,
    exact_positive,
    float_above,
    float_below,
    is_integer,
    number,
)

_SLACK = 1e-12
_LARGEST_BOTTOM = 1 << 60


class SparseSamplePlan(NamedTuple):
    """Numbers with which K draws and one t-DP mechanism fit a budget.

    Attributes
    ----------
    exponent : float
        The weight of a score is exp(exponent * score).
    bottom_score : int
        The score of "no answer".
    threshold_epsilon : float
        The epsilon t of the other mechanism.
    composition : str
        The theorem by which the draws are composed, "pure" or "zcdp": the one that gives the larger exponent.
    """

    exponent: float
    bottom_score: int
    threshold_epsilon: float
    composition: str


@calculator
def sparse_sample_delta(epsilon: Number, bottom_score: int, max_length: int) -> float:
    """Return the delta with which one draw of SparseSample is (2 epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : real, > 0
        The exponent e per unit of score.
    bottom_score : int
        The score B of the empty outcome.
    max_length : int, >= 1
        The largest length L of a list.

    Returns
    -------
    float in [0, 1]
        L exp(-e B) (1 + exp(e)), rounded up.

    Examples
    --------
    >>> f"{sparse_sample_delta(0.25, 90, 257):.1e}"
    '9.9e-08'
    """
    e, length = epsilon_of(epsilon), count("max_length", max_length)
    return _chance_to_miss(e, _integer("bottom_score", bottom_score), length)


def _chance_to_miss(e: float, bottom: int, length: int) -> float:
    fall, nats = e * (bottom - 1), math.log(length) + math.log1p(math.exp(-e))
    if fall > 2 * nats + 2000:
        return SMALLEST_DELTA
    log = nats - fall + _SLACK * (1 + nats + abs(fall))
    return 1.0 if log >= 0 else max(math.exp(log), SMALLEST_DELTA)


@calculator_like(sparse_sample_delta)
def sparse_sample_bottom_score(epsilon: Number, delta: Number, max_length: int, *, calibration: str = "tight") -> int:
    """Return the least score of the empty outcome at which one draw of SparseSample is (2 epsilon, delta)-DP.

    Parameters
    ----------
    calibration : {"tight", "paper"}
        "paper" is Lyu's Lemma 3.1, 10 ln(L / delta) / e, if that is enough.

    Returns
    -------
    int
        The score B, rounded up.

    Examples
    --------
    >>> sparse_sample_bottom_score(0.25, 1e-6, 257), sparse_sample_bottom_score(0.25, 1e-6, 257, calibration="paper")
    (81, 775)
    """
    e, delta, length = epsilon_of(epsilon), delta_of(delta), count("max_length", max_length)
    if calibration not in ("tight", "paper"):
        raise ValueError(f'calibration must be "tight" or "paper", got {calibration!r}')
    nats = math.log(length) - math.log(delta)
    tight = _round_up((nats + e + math.log1p(math.exp(-e))) / e)
    return tight if calibration == "tight" else max(tight, _round_up(10 * nats / e))


@calculator_like(sparse_sample_delta)
def sparse_sample_epsilon(exponent: float, bottom_score: int, max_length: int, n_releases: int, delta: Number) -> float:
    """Return the epsilon at a given delta of K draws of SparseSample, the smaller one of the module's compositions.

    Parameters
    ----------
    exponent : real, > 0
        The exponent e per unit of score.
    n_releases : int, >= 1
        The number K of draws, each from lists of which one differs.

    Returns
    -------
    float
        Rounded up; infinite if B is too small for delta.

    Examples
    --------
    >>> round(sparse_sample_epsilon(0.02, 1500, 100, 50, 1e-6), 3)
    0.643
    """
    e, delta, k = exact_positive("exponent", exponent), delta_of(delta), count("n_releases", n_releases)
    length, bottom = count("max_length", max_length), _integer("bottom_score", bottom_score)
    low, high, bound = float_below(e), float_above(e), math.inf
    if k * _chance_to_miss(low, bottom, length) <= delta * (1 - _SLACK):
        bound = _claim_above(2 * k * e)
    concentrated = composed_epsilon(k * square_above(high) / 2 * (1 + _SLACK), delta / 2)
    nats, fall = math.log(2 * k * length) + concentrated + math.log1p(math.exp(-concentrated)), low * (bottom - 1)
    if concentrated < bound and nats - fall + _SLACK * (1 + nats + abs(fall)) <= math.log(delta):
        bound = _claim_above(Fraction(concentrated))
    return bound


def _claim_above(number: Fraction) -> float:
    """Return a float that is at least the number, also as the decimal that it prints as."""
    try:
        return math.nextafter(float_above(number), math.inf)
    except OverflowError:
        return math.inf


@calculator
@cache_results
def sparse_sample_plan(
    epsilon: Number,
    delta: Number,
    *,
    n_releases: int,
    max_length: int,
    threshold_share: float = 0.0,
    calibration: str = "tight",
) -> SparseSamplePlan:
    """Return the largest exponent, and its score of the empty outcome, with which K draws fit a budget.

    Parameters
    ----------
    n_releases : int, >= 1
        The number K of draws.
    max_length : int, >= 1
        The largest length L of a list.
    threshold_share : float in [0, 1)
        The share t / epsilon of one other mechanism, AboveThreshold.
    calibration : {"tight", "paper"}
        "paper" uses pure composition, and Lyu's Lemma 3.1 for the score of the empty outcome.

    Returns
    -------
    SparseSamplePlan
        The exponent is rounded down and the score up.

    Examples
    --------
    >>> sparse_sample_plan(1.0, 1e-6, n_releases=1, max_length=257, threshold_share=0.5)
    SparseSamplePlan(exponent=0.25, bottom_score=81, threshold_epsilon=0.5, composition='pure')
    """
    epsilon, delta = epsilon_of(epsilon), delta_of(delta)
    k, length = count("n_releases", n_releases), count("max_length", max_length)
    share = number("threshold_share", threshold_share, "a number in [0, 1)", lambda x: 0 <= x < 1)
    threshold = decimal_below(Fraction(share) * Fraction(epsilon))
    rest = (Fraction(epsilon) - max(Fraction(threshold), exact("threshold", threshold))) / (2 * k)
    pure = float_below(rest)
    if pure <= 0:
        raise ValueError(f"no exponent > 0 fits epsilon = {epsilon!r} and {k} releases; use a larger epsilon")
    if calibration != "paper":
        t = float_above(threshold)
        concentrated = largest(
            lambda e: composed_epsilon(k * square_above(e) / 2 * (1 + _SLACK), delta / 2, t, 1), epsilon
        )
        if concentrated > pure:
            nats = math.log(2 * k * length) - math.log(delta) + epsilon + math.log1p(math.exp(-epsilon))
            return SparseSamplePlan(concentrated, 1 + _round_up(nats / concentrated), threshold, "zcdp")
    bottom = sparse_sample_bottom_score(
        pure, delta / k * (1 - _SLACK) if k > 1 else delta, length, calibration=calibration
    )
    return SparseSamplePlan(pure, bottom, threshold, "pure")


def _round_up(value: float) -> int:
    if value > _LARGEST_BOTTOM * (1 - 2 * _SLACK):
        raise ValueError(f"the score of the empty outcome would be {value:.3g}, above 2**60: epsilon is too small")
    return max(0, math.ceil(value * (1 + _SLACK)))


def _integer(name: str, value) -> int:
    if not is_integer(value) or abs(value) > _LARGEST_BOTTOM:
        raise ValueError(f"{name} must be an integer within 2**60 of 0, got {value!r}")
    return int(value)

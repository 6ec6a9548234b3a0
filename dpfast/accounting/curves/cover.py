"""Privacy curve of a whole run of greedy cover.

A run draws rule after rule; candidate h has probability proportional to mass(h) * exp(t * q(h)), with
q = c * correct - e * errors counted on the rows that h covers and no earlier rule covered. Here t is
`exponent`, and c and e may differ from draw to draw: c lies in [0, g], e in [0, 1], and g in [0, 1] is
`coverage_weight`. Masses, c and e, the number of rounds and which candidates remain depend on the
rules drawn so far, never on the rows. T is `max_rounds`, the most draws that a run makes: that of
a label for the constant true, at its end, is one of them.

**Theorem.** For s > 0 and T >= 1 let

    f_{s,T}(x) = 1 - e^x                                      for x <= -s,
                 (1 - e^-s) (1 - (e^h - 1)/(e^s - 1))^{T+1}   for -s <= x <= T s,  h = (x + s)/(T + 1),
                 0                                            for x >= T s,

and f_{0,T}(x) = max(0, 1 - e^x). A run of at most T draws is (E, delta(E))-DP for every E >= 0 with

    add-remove:  delta(E) = max( f_{t,T}(E - g t), f_{g t,T}(E - t) )
    replace:     delta(E) = f_{s,T}(E - s),    s = (1 + g) t.

It is pure (delta = 0) from E = (T + g) t on under add-remove, and from (T + 1) (1 + g) t on under replace. For
g = 0 under add-remove and E >= t no smaller function holds: rounds that err on the added row with one suitable
probability each attain it. Without a limit on T its own limit holds, for x >= -s

    f_s(x) = (1 - e^-s) exp( -(x + s)/(e^s - 1) ).

The proof, a potential that no round raises in the mean, is in docs/proofs_privacy.md.

`accounting="paper"` is Lemma A.1 of Bun and Fang, "Privately Learning Decision Lists and a Differentially
Private Winnow" [BF]: E = 2 t (ln(1/delta) + 3/2), for g = 0 and any T. It is proved for add-remove with weight
exp(t q); the paper's own definitions are replace and exp(eps q / 2), which reads E = 4 t (ln(1/delta) + 3/2).
Its proof uses e^t - 1 <= 2 t, which holds up to t = 1.256; at t = 2 the form is false. Exponents above 1 are refused.

Numbers are rounded towards safety. A delta is computed from the exact rationals E, t and g, with slack for every
rounding after that; an epsilon is one whose delta suffices, an exponent one whose epsilon does.
"""

import math
from fractions import Fraction
from numbers import Rational, Real

from dpfast.accounting.curves.searches import largest
from dpfast.accounting.numbers import (
    SMALLEST_DELTA,
    Number,
    as_fraction,
    cache_results,
    calculator,
    calculator_like,
    check_neighbors,
    count,
    delta_of,
    epsilon_of,
)

PAPER_LARGEST_EXPONENT = 1.0

_LOG_LEAST = math.log(SMALLEST_DELTA) - 1  # stands for what is positive and below SMALLEST_DELTA

# Logarithms below are at most about 1e3 and wrong by a few units in their last place; so is, relatively, a quotient of
# exponentials of numbers of at most 1e3. Both are under 1e-12.
SLACK = 1e-12


@calculator
def cover_delta(
    exponent: Number,
    epsilon: Number,
    *,
    coverage_weight: Number = 0.0,
    neighbors: str = "replace",
    max_rounds: int | None = None,
    accounting: str = "curve",
) -> float:
    """Return the delta of a whole greedy-cover run at a given epsilon.

    Parameters
    ----------
    exponent : real, >= 0
        The exponent t per unit of score: the weight of a candidate is exp(t * score).
    epsilon : real, >= 0
    coverage_weight : real in [0, 1]
        The most that one correctly covered row adds to a score; an error subtracts at most 1.
    neighbors : {"replace", "add-remove"}
        Whether neighbouring tables differ by one row replaced, or by one row added or deleted.
    max_rounds : int, >= 1, or None
        The largest number of draws of the run, including the draw of the last rule's label. None: any number.
    accounting : {"curve", "paper"}
        The theorem of this module, or [BF] Lemma A.1, which ignores the number of rounds and requires coverage_weight
        0 and an exponent of at most 1.

    Returns
    -------
    float in [0, 1]
        The run is (epsilon, delta)-DP. Rounded up; 0 only if the run is pure.

    Examples
    --------
    >>> f"{cover_delta(0.08, 1.0):.1e}", f"{cover_delta(0.08, 1.0, max_rounds=25):.1e}"
    ('4.7e-07', '5.0e-09')
    """
    t, g, rounds = _read(exponent, coverage_weight, neighbors, max_rounds, accounting)
    epsilon = _epsilon(epsilon, zero=True)
    log_delta = _log_delta(t, epsilon, g, neighbors, rounds, accounting)
    if log_delta == -math.inf:
        return 0.0
    return min(1.0, max(math.exp(min(log_delta + SLACK, 0.0)), SMALLEST_DELTA))


@calculator_like(cover_delta)
def cover_epsilon(
    exponent: Number,
    delta: Number,
    *,
    coverage_weight: Number = 0.0,
    neighbors: str = "replace",
    max_rounds: int | None = None,
    accounting: str = "curve",
) -> float:
    """Return the epsilon of a whole greedy-cover run at a given delta: the inverse of `cover_delta`.

    Parameters
    ----------
    exponent : real, >= 0
        The exponent t per unit of score.
    delta : real, at least 1e-300 and below 1
        Or 0, for the curve with `max_rounds`.

    Returns
    -------
    float
        The run is (epsilon, delta)-DP. Rounded up, so that
        ``cover_delta(exponent, cover_epsilon(exponent, delta)) <= delta`` also holds in floats.
        0 if delta alone suffices, infinite if the exponent is too large for floats.

    Examples
    --------
    >>> round(cover_epsilon(0.08, 1e-6), 3), round(cover_epsilon(0.08, 1e-6, max_rounds=10), 3)
    (0.937, 0.572)
    """
    t, g, rounds = _read(exponent, coverage_weight, neighbors, max_rounds, accounting)
    delta = _delta_of_rounds(delta, rounds, accounting)
    return _epsilon_at(t, delta, g, neighbors, rounds, accounting)


@calculator_like(cover_delta)
@cache_results
def cover_exponent(
    epsilon: Number,
    delta: Number,
    *,
    coverage_weight: Number = 0.0,
    neighbors: str = "replace",
    max_rounds: int | None = None,
    accounting: str = "curve",
) -> float:
    """Return the largest exponent at which a whole greedy-cover run is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : real, > 0
    delta : real, at least 1e-300 and below 1
        Or 0, for the curve with `max_rounds`.

    Returns
    -------
    float
        Exponent t per unit of score, for weights exp(t * score). Rounded down, so that
        ``cover_epsilon(cover_exponent(epsilon, delta), delta) <= epsilon`` also holds in floats.
        With ``accounting="paper"``, at most 1, because the proof of that lemma holds up to 1.256 only.

    Examples
    --------
    >>> round(cover_exponent(1.0, 1e-6), 4), round(cover_exponent(1.0, 1e-6, max_rounds=10), 4)
    (0.0848, 0.1354)
    >>> round(cover_exponent(1.0, 0, max_rounds=10), 4)
    0.0909
    >>> round(cover_exponent(1.0, 1e-6, accounting="paper"), 4)
    0.0163
    """
    most = _epsilon(epsilon)
    _, g, rounds = _read(0, coverage_weight, neighbors, max_rounds, accounting)
    delta = _delta_of_rounds(delta, rounds, accounting)

    low = largest(lambda t: _approximate_epsilon(t, delta, float(g), neighbors, rounds, accounting), float(most))
    step = SLACK
    while _epsilon_at(Fraction(low), delta, g, neighbors, rounds, accounting) > most:
        low, step = max(0.0, low * (1 - step)), 2 * step
    return low


def _log_delta(t: Fraction, epsilon: Fraction, g: Fraction, neighbors: str, rounds, accounting: str) -> float:
    """Return ln delta, up to SLACK; -inf only if delta is 0."""
    if t == 0:
        return -math.inf
    if accounting == "paper":
        return 1.5 - _float(epsilon / (_paper_factor(neighbors) * t))
    return max(_log_divergence(epsilon - up, down, rounds) for up, down in _ranges(t, g, neighbors))


def _log_divergence(x: Fraction, s: Fraction, rounds: int | None) -> float:
    """Return ln f_{s,T}(x), up to SLACK, at least _LOG_LEAST if f is not 0."""
    if x >= 0 and (s == 0 or (rounds is not None and x >= rounds * s)):
        return -math.inf
    if x <= -s:
        return max(_LOG_LEAST, _log_one_minus_exp(_float(x)))
    size = _float(s)
    if size == 0:  # too small for floats, and no f exceeds s
        return _LOG_LEAST
    if rounds is None:
        fall = _float(x + s) / _expm1(size)
    else:
        h = (x + s) / (rounds + 1)
        share = math.exp(_float(h - s)) * math.expm1(-_float(h)) / math.expm1(-size)  # (e^h - 1) / (e^s - 1) < 1
        fall = -(rounds + 1) * math.log1p(-share * (1 - SLACK))
    return max(_LOG_LEAST, _log_one_minus_exp(-size) - fall)


def _epsilon_at(t: Fraction, delta: float, g: Fraction, neighbors: str, rounds, accounting: str) -> float:
    """Return `cover_epsilon` of validated arguments; infinite if the paper's lemma does not apply."""
    if t == 0:
        return 0.0
    epsilon = _approximate_epsilon(_float(t), delta, float(g), neighbors, rounds, accounting)
    log_delta, step = math.log(delta) - 2 * SLACK if delta else -math.inf, max((epsilon + _float(t)) * 1e-15, 1e-323)
    while epsilon < math.inf and _log_delta(t, _below_decimal(epsilon), g, neighbors, rounds, accounting) > log_delta:
        epsilon, step = epsilon + step, 2 * step
    return epsilon


def _below_decimal(epsilon: float) -> Fraction:
    """Return the minimum of a float and the decimal that it prints as; they differ most for the smallest floats."""
    return min(Fraction(epsilon), Fraction(repr(epsilon)))


def _approximate_epsilon(t: float, delta: float, g: float, neighbors: str, rounds, accounting: str) -> float:
    """Return an epsilon at which `cover_delta` is nearly delta, more often slightly below it than above."""
    log_delta = math.log(delta) - 4 * SLACK if delta else -math.inf
    if accounting == "paper":
        return math.inf if t > PAPER_LARGEST_EXPONENT else max(0.0, _paper_factor(neighbors) * t * (1.5 - log_delta))
    epsilon = max(up + divergence_inverse(log_delta, down, rounds) for up, down in _ranges(t, g, neighbors))
    return max(0.0, epsilon * (1 + 2 * SLACK))


def divergence_inverse(log_delta: float, s: float, rounds: int | None) -> float:
    """Return an x with f_{s,T}(x) about e^log_delta."""
    excess = _log_one_minus_exp(-s) - log_delta
    if excess <= 0:
        return _log_one_minus_exp(log_delta)
    if rounds is None:
        return excess * _expm1(s) - s
    fall = -math.expm1(-excess / (rounds + 1))
    h = math.log1p(fall * math.expm1(s)) if s < 700 else s + math.log(fall + (1 - fall) * math.exp(-s))
    return (rounds + 1) * h - s


def _ranges(t, g, neighbors: str):
    """Return the starting states (u, s) of the proof."""
    if neighbors == "replace":
        return (((1 + g) * t, (1 + g) * t),)
    return ((g * t, t), (t, g * t))


def _log_one_minus_exp(x: float) -> float:
    """Return ln(1 - e^x) for x <= 0."""
    if x == 0:
        return -math.inf
    return math.log(-math.expm1(x)) if x > -1 else math.log1p(-math.exp(x))


def _expm1(x: float) -> float:
    return math.expm1(x) if x < 709 else math.inf


def _float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf


def _paper_factor(neighbors: str) -> int:
    return 4 if neighbors == "replace" else 2


def _epsilon(value, *, zero: bool = False) -> Fraction:
    """Return an epsilon: a float rounded down, another number exactly."""
    nearest = Fraction(epsilon_of(value, zero=zero))
    return Fraction(int(value.numerator), int(value.denominator)) if isinstance(value, Rational) else nearest


def _delta_of_rounds(value, rounds: int | None, accounting: str) -> float:
    if isinstance(value, Real) and not isinstance(value, bool) and value == 0:
        if accounting == "curve" and rounds is not None:
            return 0.0
        raise ValueError(
            f"delta must be at least {SMALLEST_DELTA} and below 1, got {value!r}: delta = 0 needs a limit on the "
            f'rounds, max_rounds, and accounting="curve"'
        )
    return delta_of(value)


def _read(exponent, coverage_weight, neighbors, max_rounds, accounting) -> tuple[Fraction, Fraction, int | None]:
    """Return the exponent, the coverage weight and the rounds; refuse invalid arguments."""
    t = as_fraction("exponent", exponent, "a finite number >= 0", lambda x: 0 <= x < math.inf)
    g = as_fraction("coverage_weight", coverage_weight, "a number from 0 to 1", lambda x: 0 <= x <= 1)
    rounds = None if max_rounds is None else count("max_rounds", max_rounds, or_else="None or ")
    check_neighbors(neighbors)
    if accounting not in ("curve", "paper"):
        raise ValueError(f'accounting must be "curve" or "paper", got {accounting!r}')
    if accounting == "paper" and g != 0:
        raise ValueError(
            f'accounting="paper" is proved for coverage_weight=0 only, got coverage_weight={float(g)!r}; '
            f'use accounting="curve"'
        )
    if accounting == "paper" and t > PAPER_LARGEST_EXPONENT:
        raise ValueError(
            f'accounting="paper" is proved for exponents up to {PAPER_LARGEST_EXPONENT}, got exponent={float(t)!r}; '
            f'use accounting="curve"'
        )
    return t, g, rounds

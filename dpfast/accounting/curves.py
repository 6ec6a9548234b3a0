"""What greedy cover costs: the privacy curve of a whole run (theory, section 3).

A run draws rule after rule; candidate h has probability proportional to mass(h) * exp(t * q(h)), with
q = g * correct - errors counted on the rows that h covers and no earlier rule covered. Here t is
`exponent` and g is `coverage_weight`. Masses, the number of rounds and which candidates remain depend
on the rules drawn so far, never on the rows.

**Theorem.** For s >= 0 let

    f_s(x) = 1 - e^x                                     for x <= -s,
             (1 - e^-s) * exp( -(x + s) / (e^s - 1) )    for x >= -s      (and f_0(x) = max(0, 1 - e^x)).

The whole run, however many rounds it has, is (E, delta(E))-DP for every E >= 0 with

    add-remove:  delta(E) = max( f_t(E - g t), f_{g t}(E - t) )
    replace:     delta(E) = f_s(E - s) = (1 - e^-s) * exp( -E / (e^s - 1) ),    s = (1 + g) t.

For g = 0 under add-remove and E >= t no smaller function holds: rounds that err on the added row with a
small probability each attain it.

**Proof.** P and Q are the laws of the list on two neighbours, r is e^-E times the likelihood ratio P/Q of
the list so far, and H_E(P, Q) = e^E * E_Q max(0, r - 1) at the end. Keep a state (u, s): t times the most
by which the scores of the rows that differ can still raise, and lower, P against Q. It starts at

    (g t, t) if P has the extra row,  (t, g t) if Q has it,  ((1+g) t, (1+g) t) under replace,

and falls to (0, 0) once those rows are covered. A candidate whose score differs by d/t takes r to
y * e^d, with one y for all candidates of the round and r the mean of y * e^d under Q; the new state has
u' <= min(u, u - d), s' <= min(s, s + d). The potential is

    Phi_{u,s}(r) = e^-u F_s(r e^u),    F_s(v) = v f_s(-ln v) = v - 1                     for v >= e^s,
                                                             (e^s - 1) (v e^-s)^k        for v <= e^s,

k = 1 / (1 - e^-s). F_s is convex and differentiable, F_s(v) >= max(0, v - 1), F_s(v) / v increases in v,
and F_s increases with s. So Phi bounds the end, and a round never raises its mean: by convexity

    Phi_{u,s}(r) >= Phi(y) + Phi'(y) (r - y) = mean of [ Phi(y) + y Phi'(y) (e^d - 1) ],

and each bracket is at least Phi_{u',s'}(y e^d). With v = y e^u this says
    d >= 0:  e^d F_s(v) <= F_s(v) + (e^d - 1) v F_s'(v), true as F_s(v) / v increases;
    d < 0:   F_{s+d}(v e^d) <= F_s(v) + (e^d - 1) v F_s'(v): both sides are v e^d - 1 for v >= e^s, and for
             v < e^s they are (e^{s+d} - 1) (v e^-s)^k with k = 1/(1 - e^{-s-d}) on the left and the smaller
             1/(1 - e^-s) on the right.
Hence H_E(P, Q) <= e^E Phi_{u,s}(e^-E) = f_s(E - u).

`accounting="paper"` is Lemma A.1 of Bun and Fang, "Privately Learning Decision Lists and a Differentially
Private Winnow" [BF]: E = 2 t (ln(1/delta) + 3/2), for g = 0. It is proved for add-remove with weight
exp(t q); the paper's own definitions are replace and exp(eps q / 2), which reads E = 4 t (ln(1/delta) + 3/2).
Its proof uses e^t - 1 <= 2 t, so exponents above 1 are refused: there the form is false.

Floats are rounded towards safety: a delta or an epsilon from here is never below the formula's value.
"""

import math
from fractions import Fraction
from numbers import Real

SMALLEST_DELTA = 1e-300
PAPER_LARGEST_EXPONENT = 1.0

# Every logarithm below is at most about 1e3 and wrong by a few units in its last place, under 1e-12.
_LOG_SLACK = 1e-12


def cover_delta(
    exponent: float | Fraction,
    epsilon: float | Fraction,
    *,
    coverage_weight: float | Fraction = 0.0,
    neighbors: str = "replace",
    accounting: str = "curve",
) -> float:
    """Delta of a whole greedy-cover run at a given epsilon.

    Parameters
    ----------
    exponent : real, >= 0
        Exponent t per unit of score: a candidate's weight is exp(t * score).
    epsilon : real, >= 0
    coverage_weight : real in [0, 1]
        What one correctly covered row adds to a score; an error takes 1 away.
    neighbors : {"replace", "add-remove"}
        Whether neighbouring tables differ by one row replaced, or by one row added or deleted.
    accounting : {"curve", "paper"}
        The module's theorem, or [BF] Lemma A.1 (coverage_weight 0 and exponent at most 1 only).

    Returns
    -------
    float in [0, 1]
        The run is (epsilon, delta)-DP, whatever its number of rounds. Rounded up.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem, proof and source are in the documentation of this module.

    Examples
    --------
    >>> f"{cover_delta(0.08, 1.0):.1e}"
    '4.7e-07'
    """
    t, g = _exponent(exponent), _coverage_weight(coverage_weight)
    epsilon = _epsilon(epsilon, zero=True)
    _check_choices(t, g, neighbors, accounting)
    if t == 0:
        return 0.0
    if accounting == "paper":
        log_delta = 1.5 - epsilon / (_paper_factor(neighbors) * t)
    else:
        log_delta = max(_log_divergence(epsilon - up, down) for up, down in _ranges(t, g, neighbors))
    return min(1.0, max(math.exp(min(log_delta + _LOG_SLACK, 0.0)), SMALLEST_DELTA))


def cover_epsilon(
    exponent: float | Fraction,
    delta: float | Fraction,
    *,
    coverage_weight: float | Fraction = 0.0,
    neighbors: str = "replace",
    accounting: str = "curve",
) -> float:
    """Epsilon of a whole greedy-cover run at a given delta: the inverse of `cover_delta`.

    Parameters
    ----------
    exponent : real, >= 0
        Exponent t per unit of score: a candidate's weight is exp(t * score).
    delta : real, at least 1e-300 and below 1
    coverage_weight, neighbors, accounting
        As in `cover_delta`.

    Returns
    -------
    float
        The run is (epsilon, delta)-DP. Rounded up, so that
        ``cover_delta(exponent, cover_epsilon(exponent, delta)) <= delta`` also holds in floats.
        0 if delta alone carries the claim, infinite where the exponent is too large for floats.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem, proof and source are in the documentation of this module.

    Examples
    --------
    >>> round(cover_epsilon(0.08, 1e-6), 3)
    0.937
    """
    t, g = _exponent(exponent), _coverage_weight(coverage_weight)
    delta = _delta(delta)
    _check_choices(t, g, neighbors, accounting)
    return _epsilon_at(t, delta, g, neighbors, accounting)


def _epsilon_at(t: float, delta: float, g: float, neighbors: str, accounting: str) -> float:
    """`cover_epsilon` of validated arguments; infinite where the paper's lemma does not hold."""
    if t == 0:
        return 0.0
    if accounting == "paper":
        if t > PAPER_LARGEST_EXPONENT:
            return math.inf
        epsilon = _paper_factor(neighbors) * t * (1.5 - math.log(delta) + 2 * _LOG_SLACK)
    else:
        epsilon = max(up + _divergence_inverse(delta, down) for up, down in _ranges(t, g, neighbors))
    return max(0.0, epsilon * (1 + _LOG_SLACK))


def _ranges(t: float, g: float, neighbors: str) -> tuple[tuple[float, float], ...]:
    """The starting states (u, s) of the proof."""
    if neighbors == "replace":
        return (((1 + g) * t, (1 + g) * t),)
    return ((g * t, t), (t, g * t))


def _log_divergence(x: float, s: float) -> float:
    """ln f_s(x)."""
    if x > -s:
        return _log_one_minus_exp(-s) - (x + s) / _expm1(s) if s > 0 else -math.inf
    return _log_one_minus_exp(x)


def _divergence_inverse(delta: float, s: float) -> float:
    """An x with f_s(x) a little below delta."""
    log_delta = math.log(delta) - 4 * _LOG_SLACK
    excess = _log_one_minus_exp(-s) - log_delta
    if excess > 0:
        return excess * _expm1(s) - s
    return _log_one_minus_exp(log_delta)


def _log_one_minus_exp(x: float) -> float:
    """ln(1 - e^x) for x <= 0."""
    if x == 0:
        return -math.inf
    return math.log(-math.expm1(x)) if x > -1 else math.log1p(-math.exp(x))


def _expm1(x: float) -> float:
    return math.expm1(x) if x < 709 else math.inf


def _paper_factor(neighbors: str) -> int:
    return 4 if neighbors == "replace" else 2


def _exponent(value) -> float:
    return _number("exponent", value, "a finite number >= 0", lambda x: 0 <= x < math.inf)


def _coverage_weight(value) -> float:
    return _number("coverage_weight", value, "a number from 0 to 1", lambda x: 0 <= x <= 1)


def _epsilon(value, *, zero=False) -> float:
    wanted = "a finite number >= 0" if zero else "a finite number > 0"
    return _number("epsilon", value, wanted, lambda x: 0 <= x < math.inf and (zero or x > 0))


def _delta(value) -> float:
    wanted = f"at least {SMALLEST_DELTA} and below 1"
    return _number("delta", value, wanted, lambda x: SMALLEST_DELTA <= x < 1)


def _number(name: str, value, wanted: str, fits) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if fits(number):
            return number
    raise ValueError(f"{name} must be {wanted}, got {value!r}")


def _check_choices(t: float, g: float, neighbors, accounting) -> None:
    if neighbors not in ("replace", "add-remove"):
        raise ValueError(f'neighbors must be "replace" or "add-remove", got {neighbors!r}')
    if accounting not in ("curve", "paper"):
        raise ValueError(f'accounting must be "curve" or "paper", got {accounting!r}')
    if accounting == "paper" and g != 0:
        raise ValueError(
            f'accounting="paper" is proved for coverage_weight=0 only, got coverage_weight={g!r}; '
            f'use accounting="curve"'
        )
    if accounting == "paper" and t > PAPER_LARGEST_EXPONENT:
        raise ValueError(
            f'accounting="paper" is proved for exponents up to {PAPER_LARGEST_EXPONENT}, got exponent={t!r}; '
            f'use accounting="curve"'
        )

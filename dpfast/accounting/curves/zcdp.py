"""From zero-concentrated, pure and Gaussian privacy to (epsilon, delta), as tightly as is proved.

A mechanism is rho-zCDP if D_a(P, Q) <= a rho for the laws P, Q of its outcome on any two neighbours and
every order a > 1, where D_a is the Renyi divergence, (a - 1) D_a(P, Q) = ln E_Q (P/Q)^a. Divergences add
up under adaptive composition.

**Conversion.** (Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", 2020, Prop. 12;
Balle, Barthe, Gaboardi, Hsu, Sato, 2020.) Write b = a - 1 > 0 and let D(b) bound D_{1+b} in both directions.
Then the mechanism is (E, delta)-DP whenever, for some b > 0,

    ln delta >= b (D(b) - E) - b ln(1 + 1/b) - ln(1 + b),                                              (1)

because H_E = E_Q max(0, P/Q - e^E) and max(0, x - v) <= x^a (b/v)^b / a^a for x, v > 0 (equality where
x = a v / b; the right side is convex in x and touches x - v there). Also H_E <= TV, and with KL = D(0+)
    delta >= sqrt(KL / 2)  or  delta >= sqrt(1 - e^-KL)  suffices (Pinsker; Bretagnolle and Huber).    (2)

**The best order.** Let C(b) = b D(b) be convex, as cumulants are. The right side of (1) is convex in b and
least where E = C'(b) + ln(b / (1 + b)); there ln(1/delta) = b C'(b) - C(b) + ln(1 + b), which increases with
b. So for rho-zCDP, C = b (1 + b) rho, the whole curve has one parameter:

    E = (1 + 2b) rho - ln(1 + 1/b),    delta = e^(-b^2 rho) / (1 + b).

Every b > 0 gives a valid bound, so that an inexact search for the best one costs tightness only.

**Pure parts.** If P/Q lies in [e^-e, e^e] then, x^a being convex, E_Q (P/Q)^a is largest when only the two
ends occur, and with p = e^e / (1 + e^e)

    b D_{1+b} = ln( p e^(b e) + (1 - p) e^(-b e) ) = ln cosh((b + 1/2) e) - ln cosh(e / 2),

below both b e and b (1 + b) e^2/2 (the derivative of ln cosh u is at most 1, and at most u). It is convex in b.

**Gaussian.** N(q, sigma^2) with |q - q'| <= s has exactly, with m = s / sigma, x = E/m - m/2, phi the normal
density and R(x) = (1 - Phi(x)) / phi(x) (Balle, Wang, "Improving the Gaussian Mechanism", 2018),

    delta(E) = Phi(-x) - e^E Phi(-x - m) = phi(x) (R(x) - R(x + m)),

for phi(x + m) = e^-E phi(x). T adaptive releases are one of sensitivity s sqrt(T) (Dong, Roth, Su, 2022); a
vector's s is its Euclidean norm. R(x) is the integral of exp(-x u - u^2/2) over u > 0, so -R' = 1 - x R is
convex and its trapezoid m/2 (2 - x R(x) - (x + m) R(x + m)) bounds the difference where that would cancel.

**Risk.** Somebody guesses from an (E, delta)-DP release which of two neighbouring tables it was made of, where both are
equally likely. The two errors a, b of a test satisfy a + e^E b >= 1 - delta and b + e^E a >= 1 - delta, so that
a + b >= 2 (1 - delta) / (1 + e^E). The guess is right with probability 1 - (a + b) / 2, which is at most 1/2 + r if
e^E - 1 <= (4 r - 2 delta) / (1 - 2 r).

Floats are rounded towards safety: a delta, epsilon or sigma from here is never below the exact value, a rho or an
epsilon for a risk never above.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from scipy import special

from dpfast.accounting.curves.searches import largest, least, solution
from dpfast.accounting.numbers import (
    SMALLEST_DELTA,
    Number,
    cache_results,
    calculator,
    calculator_like,
    delta_of,
    epsilon_of,
    float_above,
    float_below,
    number,
    positive,
    positive_above,
)

# Relative error of one sum of a few terms; every result is moved by this much of the terms' absolute values.
SLACK = 2e-15
SMALLEST = 1e-300  # what is less, and not 0, counts as so much: floats below lose their digits
_LEAST_ORDER = 1e-304  # of b, so that it and 1 / b are floats with all digits


@calculator
def zcdp_delta(rho: Number, epsilon: Number) -> float:
    """Return the delta at a given epsilon of any rho-zCDP mechanism.

    Parameters
    ----------
    rho : real, >= 0
    epsilon : real, >= 0

    Returns
    -------
    float in [0, 1]
        Every rho-zCDP mechanism is (epsilon, delta)-DP. Rounded up.

    Examples
    --------
    >>> f"{zcdp_delta(0.02, 1.0):.1e}"
    '8.8e-08'
    """
    return zcdp_above(_rho(rho), epsilon_of(epsilon, zero=True))


def zcdp_above(rho: float, epsilon: float) -> float:
    """Return `zcdp_delta` of checked floats."""
    if rho == 0:
        return 0.0
    rho = max(rho, SMALLEST)
    b = _order(
        lambda b: (1 + 2 * b) * rho / (epsilon + math.log1p(1 / b)),
        1.0,
        lambda b: 2 * b / (1 + 2 * b) + 1 / ((1 + b) * (epsilon + math.log1p(1 / b))),
    )
    b = min(b, 1e305 / (1 + epsilon))  # so that the products below are floats
    divergence = (1 + b) * rho
    tail = b * math.log1p(1 / b) + math.log1p(b)
    log_delta = b * (divergence - epsilon) - tail + SLACK * (b * (divergence + epsilon) + tail)
    converted = math.exp(min(log_delta, 0.0)) * (1 + SLACK)
    return min(1.0, max(min(converted, _total_variation(rho)), SMALLEST_DELTA))


@calculator
def zcdp_epsilon(rho: Number, delta: Number) -> float:
    """Return the epsilon at a given delta of any rho-zCDP mechanism: the inverse of `zcdp_delta`.

    Parameters
    ----------
    rho : real, >= 0

    Returns
    -------
    float
        Every rho-zCDP mechanism is (epsilon, delta)-DP. Rounded up, so that
        ``zcdp_delta(rho, zcdp_epsilon(rho, delta)) <= delta`` also holds in floats.

    Examples
    --------
    >>> round(zcdp_epsilon(0.02, 1e-6), 3)
    0.9
    """
    return composed_epsilon(_rho(rho), delta_of(delta))


@calculator
@cache_results
def zcdp_rho(epsilon: Number, delta: Number) -> float:
    """Return the largest rho for which every rho-zCDP mechanism is (epsilon, delta)-DP.

    Returns
    -------
    float
        Rounded down, so that ``zcdp_epsilon(zcdp_rho(epsilon, delta), delta) <= epsilon`` also holds in floats.

    Examples
    --------
    >>> round(zcdp_rho(1.0, 1e-6), 4)
    0.0244
    """
    epsilon, delta = epsilon_of(epsilon), delta_of(delta)
    return largest(lambda rho: composed_epsilon(rho, delta), epsilon)


@calculator
def gaussian_delta(sigma: Number, epsilon: Number, *, sensitivity: Number = 1.0) -> float:
    """Return the exact delta at a given epsilon of Gaussian noise.

    Parameters
    ----------
    sigma : real, > 0
        Standard deviation of the noise on each coordinate.
    epsilon : real, >= 0
    sensitivity : real, > 0
        The largest change between neighbours, in Euclidean norm; multiply it by sqrt(T) for T releases.

    Returns
    -------
    float in [0, 1]
        Rounded up, by at most about one part in 1e9.

    Examples
    --------
    >>> f"{gaussian_delta(4.5, 1.0):.1e}"
    '2.5e-07'
    """
    sigma, sensitivity = positive("sigma", sigma), positive_above("sensitivity", sensitivity)
    return gaussian_above(sigma, epsilon_of(epsilon, zero=True), sensitivity)


@calculator_like(gaussian_delta)
def gaussian_epsilon(sigma: Number, delta: Number, *, sensitivity: Number = 1.0) -> float:
    """Return the epsilon at a given delta of Gaussian noise: the inverse of `gaussian_delta`.

    Returns
    -------
    float
        Rounded up, so that ``gaussian_delta(sigma, gaussian_epsilon(sigma, delta)) <= delta`` also holds in
        floats. Infinite where it is too large for floats.

    Examples
    --------
    >>> round(gaussian_epsilon(4.5, 1e-6), 3)
    0.934
    """
    sigma, delta, sensitivity = positive("sigma", sigma), delta_of(delta), positive_above("sensitivity", sensitivity)
    return least(lambda epsilon: gaussian_above(sigma, float_below(epsilon), sensitivity), delta)


@calculator_like(gaussian_delta)
@cache_results
def gaussian_sigma(epsilon: Number, delta: Number, *, sensitivity: Number = 1.0) -> float:
    """Return the least standard deviation at which Gaussian noise is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : real, > 0

    Returns
    -------
    float
        Rounded up, so that ``gaussian_delta(gaussian_sigma(epsilon, delta), epsilon) <= delta`` also holds in
        floats.

    Examples
    --------
    >>> round(gaussian_sigma(1.0, 1e-6), 3)
    4.225
    """
    epsilon, delta, sensitivity = epsilon_of(epsilon), delta_of(delta), positive_above("sensitivity", sensitivity)
    return least(lambda sigma: gaussian_above(sigma, epsilon, sensitivity) if sigma else math.inf, delta)


@calculator_like(gaussian_delta)
def epsilon_for(
    *, noise: Number | None = None, risk: Number | None = None, delta: Number = 1e-6, sensitivity: Number = 1.0
) -> float:
    """Return the epsilon that the noise you accept needs, or that keeps the risk you accept.

    Parameters
    ----------
    noise : real > 0, optional
        The standard deviation of Gaussian noise that you accept on sums that one change of the table moves by at most
        `sensitivity`, in the Euclidean norm. Give this or `risk`.
    risk : real, above delta and below 0.5, optional
        The largest gain over 1/2 of somebody who guesses which of two neighbouring tables a release was made of, where
        both are equally likely. If neighbours have one row replaced, this is a guess which of two rows the last one is,
        by somebody who knows all others; if they have one row more or less, it is a guess whether a known row is in the
        table.

    Returns
    -------
    float
        For `noise`, the least epsilon, rounded up: it is `gaussian_epsilon` of this noise. For `risk`, the largest
        epsilon, rounded down: no release that is (epsilon, delta)-DP for these neighbours lets that guess gain more.

    Raises
    ------
    ValueError
        If not exactly one of `noise` and `risk` is given, or an argument is out of its range.

    Examples
    --------
    >>> round(epsilon_for(noise=4.5), 3)
    0.934
    >>> round(epsilon_for(risk=0.05), 3)
    0.201
    """
    if (noise is None) == (risk is None):
        raise ValueError("give either noise or risk")
    if noise is not None:
        return gaussian_epsilon(positive("noise", noise), delta, sensitivity=sensitivity)
    delta_of(delta)
    smallest = Fraction(float_above(delta))
    number("risk", risk, "above delta and below 0.5", lambda x: smallest < x < 0.5)
    gain = Fraction(float_below(risk))
    return math.log1p(float_below((4 * gain - 2 * smallest) / (1 - 2 * gain))) * (1 - SLACK)


def draws_rho(exponent: float, releases: int, width: float) -> float:
    """Return rho of so many draws by the exponential mechanism, of scores that change by a range of `width`."""
    return square_above(exponent * width) * releases / 8 * (1 + SLACK) if exponent else 0.0


def square_above(number: float) -> float:
    """Return the square of a number >= 0, up to its rounding; at least SMALLEST, below which floats lose digits."""
    return max(number * number, SMALLEST)


def composed_epsilon(rho: float, delta: float, pure: float = 0.0, runs: int = 0) -> float:
    """Return the epsilon of parts that are together rho-zCDP and of `runs` parts that are `pure`-DP each."""
    if rho == 0 and (pure == 0 or runs == 0):
        return 0.0
    rho, pure = max(rho, SMALLEST) if rho else 0.0, max(pure, SMALLEST) if pure else 0.0
    if math.inf in (rho, pure * runs):
        return math.inf
    if _total_variation(rho + runs * pure * math.tanh(pure / 2)) <= delta:
        return 0.0
    log = -math.log(delta)

    def log_at(b: float) -> float:
        curvature = b * pure * math.tanh((b + 0.5) * pure) - pure_cumulant(b, pure) if runs else 0.0
        return b * b * rho + runs * curvature + math.log1p(b)

    def slope(b: float) -> float:
        root = b * pure / math.cosh(min((b + 0.5) * pure, 350.0))
        return (2 * b * b * rho + runs * root * root + b / (1 + b)) / log_at(b)

    b = _order(log_at, log, slope)
    divergence = (1 + b) * rho + runs * pure_cumulant(b, pure) / b
    from_delta, from_order = (log - math.log1p(b)) / b, math.log1p(1 / b)
    error = divergence + runs * pure + (1 + log + math.log1p(b)) / b + from_order
    return max(0.0, divergence + from_delta - from_order + 4 * SLACK * error)


def pure_cumulant(b: float, pure: float) -> float:
    """Return b D_{1+b} of randomized response with log-ratio `pure`, without cancellation if it is small."""
    u, p = b * pure, special.expit(pure)
    if u < 1:
        return math.log1p(2 * square_above(math.sinh(u / 2)) + math.sinh(u) * math.tanh(pure / 2))
    return u + math.log(p + (1 - p) * math.exp(-2 * u))


def _total_variation(kl: float) -> float:
    kl = max(kl, SMALLEST)
    return math.sqrt(min(kl / 2, -math.expm1(-kl))) * (1 + SLACK)


def gaussian_above(sigma: float, epsilon: float, sensitivity: float) -> float:
    """Return `gaussian_delta` of checked floats."""
    m = max(sensitivity / sigma, SMALLEST)
    if m > 1e300:
        return 1.0
    error = SLACK * (epsilon / m + m / 2)
    x = epsilon / m - m / 2 - error
    if x > 40:
        return SMALLEST_DELTA
    density = math.exp(-x * x / 2) / math.sqrt(2 * math.pi) * (1 + SLACK * (1 + x * x))
    if x < -5:
        return min(1.0, float(special.ndtr(-x)) - density * _mills(x + m) * (1 - 1e-10) + SLACK)
    m *= 1 + SLACK
    near, far = _mills(x), _mills(x + m)
    difference = near - far + SLACK * (near + far)
    bends = x * near, (x + m) * far
    trapezoid = m / 2 * (2 - bends[0] - bends[1] + SLACK * (2 + abs(bends[0]) + abs(bends[1])))
    return min(1.0, max(density * min(difference, trapezoid), SMALLEST_DELTA))


def _mills(x: float) -> float:
    """Return R(x) of the module's documentation."""
    return math.sqrt(math.pi / 2) * float(special.erfcx(x / math.sqrt(2)))


def _order(rising: Callable[[float], float], target: float, slope: Callable[[float], float]) -> float:
    """Return a b at which a function is nearly the wanted number; `slope` is as for `solution`."""
    return min(max(solution(rising, target, slope), _LEAST_ORDER), 1 / _LEAST_ORDER)


def _rho(value) -> float:
    number("rho", value, "a finite number >= 0", lambda x: 0 <= x < math.inf)
    return float_above(value)

"""Curves and conversions of `dpfast.accounting` in sixty digits or more, from their formulas alone."""

import math
from fractions import Fraction
from functools import wraps
from numbers import Rational

import mpmath
from mpmath import mp, mpf


def digits(function):
    """The function, run in sixty digits."""

    @wraps(function)
    def run(*arguments, **keywords):
        with mpmath.workdps(60):
            return function(*arguments, **keywords)

    return run


def readings(value):
    """The number that a float is and the decimal that it prints as; a rational is itself."""
    if isinstance(value, Rational):
        return [rational(Fraction(int(value.numerator), int(value.denominator)))]
    return [mpf(float(value)), mpf(repr(float(value)))]


def rational(value):
    return mpf(value.numerator) / mpf(value.denominator)


@digits
def low(value):
    """The smaller reading."""
    return min(readings(value))


@digits
def high(value):
    """The larger reading."""
    return max(readings(value))


@digits
def gaussian_curve(mu, epsilon):
    """Delta of mu-Gaussian DP at any real epsilon."""
    mu, epsilon = mpf(mu), mpf(epsilon)
    if mu == 0:
        return max(mpf(0), -mpmath.expm1(epsilon))
    if epsilon < 0:
        return -mpmath.expm1(epsilon) + mpmath.exp(epsilon) * gaussian_curve(mu, -epsilon)
    x = epsilon / mu - mu / 2
    if x > 10**6:
        return mpf(0)
    if x < -(10**6):
        return mpf(1)
    lost = max(0, -2 * mpmath.log10(mu)) + 4 * mpmath.log10(2 + abs(x))
    with mpmath.workdps(60 + int(lost)):
        x = epsilon / mu - mu / 2
        return mpmath.ncdf(-x) - mpmath.exp(epsilon) * mpmath.ncdf(-x - mu)


def cumulant(b, pure):
    """b D_{1+b} of randomised response, of two numbers of mpmath."""
    with mpmath.workdps(mp.dps + int(max(0, -2 * mpmath.log10(min(b * pure, pure, 1))) if b * pure else 0)):
        p = 1 / (1 + mpmath.exp(-pure))
        if b * pure > 10**6:
            return b * pure + mpmath.log(p)
        return mpmath.log(p * mpmath.exp(b * pure) + (1 - p) * mpmath.exp(-b * pure))


def variation(rho):
    """What total variation says of rho-zCDP."""
    return mpmath.sqrt(min(rho / 2, -mpmath.expm1(-rho)))


def _best(value, guess, width=1):
    """The least value(b), by golden section around exp(guess); any b is a proof."""
    golden = (mpmath.sqrt(5) - 1) / 2
    a, c = mpf(guess) - width, mpf(guess) + width
    for _ in range(80):
        left, right = c - (c - a) * golden, a + (c - a) * golden
        if value(mpmath.exp(left)) < value(mpmath.exp(right)):
            c = right
        else:
            a = left
    return min(value(mpmath.exp(a)), value(mpmath.exp(c)))


def _order(increasing, target):
    """ln b near the root, in floats."""
    a, c = -700.0, 700.0
    for _ in range(48):
        middle = (a + c) / 2
        try:
            small = increasing(math.exp(middle)) < target
        except OverflowError:
            small = False
        a, c = (middle, c) if small else (a, middle)
    return c


@digits
def zcdp_curve(rho, epsilon, enough=None):
    """The least delta that is proved of rho-zCDP; any one that is at most `enough`, if there is one."""
    rho, epsilon = mpf(rho), mpf(epsilon)
    if rho == 0:
        return mpf(0)
    if rho > mpf(10) ** 290:
        return mpf(1)
    small, most = float(rho), float(min(epsilon, mpf(10) ** 300))

    def converted(b):
        return mpmath.exp(min(0, b * ((1 + b) * rho - epsilon) - b * mpmath.log1p(1 / b) - mpmath.log1p(b)))

    guess = _order(lambda b: (1 + 2 * b) * small - math.log1p(1 / b), most)
    found = min(converted(mpmath.exp(guess)), variation(rho), 1)
    if enough is not None and found <= enough:
        return found
    return min(found, _best(converted, guess))


@digits
def composed_epsilon(rho, delta, pure=0, runs=0, enough=None):
    """The least epsilon that is proved at delta of rho-zCDP and `runs` parts that are `pure`-DP."""
    rho, delta, pure, runs = mpf(rho), mpf(delta), mpf(pure), mpf(runs)
    if rho == 0 and pure * runs == 0:
        return mpf(0)
    if variation(rho + runs * pure * mpmath.tanh(pure / 2)) <= delta:
        return mpf(0)
    log = -mpmath.log(delta)

    def converted(b):
        divergence = (1 + b) * rho + (runs * cumulant(b, pure) / b if pure * runs else 0)
        return max(mpf(0), divergence + (log - mpmath.log1p(b)) / b - mpmath.log1p(1 / b))

    found = runs * pure if rho == 0 else mpf("inf")
    if rho + runs * pure > mpf(10) ** 250:
        return mpf(0)  # what is claimed there is not looked at
    if enough is not None and found <= enough:
        return found
    for guess in _guesses(float(rho), float(log), float(pure), float(runs)):
        found = min(found, converted(mpmath.exp(guess)))
        if enough is not None and found <= enough:
            return found
    return min(found, _best(converted, guess), _best(converted, guess, 60))


def _guesses(rho, log, pure, runs):
    def increasing(b):
        u = b * pure
        if u < 1e-3:
            bent = u * u / 2
        elif u < 300:
            bent = u * math.tanh((b + 0.5) * pure) - math.log1p(
                2 * math.sinh(u / 2) ** 2 + math.sinh(u) * math.tanh(pure / 2)
            )
        else:
            bent = -math.log(1 / (1 + math.exp(-pure)))
        return b * b * rho + runs * bent + math.log1p(b)

    return [_order(increasing if runs * pure else lambda b: b * b * rho + math.log1p(b), log)]


@digits
def pure_mu(epsilon):
    """mu of what is epsilon-DP: of the Gaussian mechanism whose curve goes through the corner."""
    epsilon = mpf(epsilon)
    if epsilon == 0:
        return mpf(0)
    with mpmath.workdps(60 + int(max(0, -mpmath.log10(epsilon))) + int(min(epsilon, 1000) / 2)):
        return 2 * mpmath.sqrt(2) * mpmath.erfinv(mpmath.tanh(epsilon / 2))


@digits
def discrete_curve(square, apart, epsilon, rho=None, enough=None):
    """Of sums with discrete Gaussian noise: mu^2, and total variation from continuous noise."""
    epsilon = mpf(epsilon)
    way = gaussian_curve(mpmath.sqrt(square), epsilon) + (1 + mpmath.exp(min(epsilon, 10**4))) * apart
    if enough is not None and way <= enough:
        return way
    return min(way, zcdp_curve(square / 2 if rho is None else rho, epsilon, enough), 1)

"""Curves and conversions of `dpfast.accounting` from their formulas alone, as balls that enclose them."""

import math
from fractions import Fraction
from numbers import Rational

from reference import balls
from reference.balls import ball


def readings(value):
    """The number that a float is and the decimal that it prints as; a rational is itself."""
    return [ball(decimal(value))] if isinstance(value, Rational) else [ball(float(value)), ball(repr(float(value)))]


def decimal(value):
    """The decimal that a float prints as, exactly; a rational is itself."""
    exact = (int(value.numerator), int(value.denominator)) if isinstance(value, Rational) else (repr(float(value)),)
    return Fraction(*exact)


def low(value):
    """The smaller reading."""
    first, *more = readings(value)
    return first.min(more[0]) if more else first


def high(value):
    """The larger reading."""
    return balls.largest(readings(value))


def gaussian_curve(mu, epsilon):
    """Delta of mu-Gaussian DP at any real epsilon."""
    mu, epsilon = ball(mu), ball(epsilon)
    if mu == 0:
        return balls.largest([0, -balls.expm1(epsilon)])
    if epsilon < 0:
        return -balls.expm1(epsilon) + balls.exp(epsilon) * gaussian_curve(mu, -epsilon)
    x = epsilon / mu - mu / 2
    if x > 10**6:
        return ball(0)
    if x < -(10**6):
        return ball(1)
    if epsilon > 10**6:  # whose exponential is too large for a ball: exp(epsilon - (x + mu)^2 / 2) is exp(-x^2 / 2)
        beyond = balls.exp(-(x**2) / 2) * balls.mills(x + mu)
    else:
        beyond = balls.exp(epsilon) * balls.upper_normal(x + mu)
    return balls.at_most_one(balls.upper_normal(x) - beyond)


def cumulant(b, pure):
    """b D_{1+b} of randomised response, of two balls."""
    if b * pure > 10**6:
        return b * pure - balls.log1p(balls.exp(-pure))
    p = 1 / (1 + balls.exp(-pure))
    return balls.log(p * balls.exp(b * pure) + (1 - p) * balls.exp(-b * pure))


def variation(rho):
    """What total variation says of rho-zCDP."""
    return balls.sqrt((rho / 2).min(-balls.expm1(-rho)))


def _best(value, guess, width=1):
    """The least value(b), by golden section around exp(guess); any b is a proof."""
    golden = (math.sqrt(5) - 1) / 2
    a, c = ball(guess) - width, ball(guess) + width
    for _ in range(80):
        left, right = c - (c - a) * golden, a + (c - a) * golden
        a, c = (a.mid(), right.mid()) if value(balls.exp(left)) < value(balls.exp(right)) else (left.mid(), c.mid())
    return value(balls.exp(a)).min(value(balls.exp(c)))


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


def zcdp_curve(rho, epsilon, enough=None):
    """The least delta that is proved of rho-zCDP; any one that is at most `enough`, if there is one."""
    rho, epsilon = ball(rho), ball(epsilon)
    if rho == 0:
        return ball(0)
    if rho > ball(10) ** 300:
        return ball(1)
    small, most = float(rho), float(min(epsilon, ball(10) ** 300))

    def converted(b):
        log = b * ((1 + b) * rho - epsilon) - b * balls.log1p(1 / b) - balls.log1p(b)
        return balls.exp(log) if log < 0 else ball(1)

    guess = _order(lambda b: (1 + 2 * b) * small - math.log1p(1 / b), most)
    found = min(converted(balls.exp(guess)), variation(rho), ball(1))
    if enough is not None and found <= enough:
        return found
    return min(found, _best(converted, guess))


def composed_epsilon(rho, delta, pure=0, runs=0, enough=None):
    """The least epsilon that is proved at delta of rho-zCDP and `runs` parts that are `pure`-DP."""
    rho, delta, pure, runs = map(ball, (rho, delta, pure, runs))
    if rho == 0 and pure * runs == 0:
        return ball(0)
    if variation(rho + runs * pure * balls.tanh(pure / 2)) <= delta:
        return ball(0)
    log = -balls.log(delta)

    def converted(b):
        divergence = (1 + b) * rho + (0 if pure * runs == 0 else runs * cumulant(b, pure) / b)
        return balls.largest([0, divergence + (log - balls.log1p(b)) / b - balls.log1p(1 / b)])

    found = runs * pure if rho == 0 else ball(math.inf)
    if rho + runs * pure > ball(10) ** 250:
        return ball(0)  # what is claimed there is not looked at
    if enough is not None and found <= enough:
        return found
    guess = _guess(*map(float, (rho, log, pure, runs)))
    found = min(found, converted(balls.exp(guess)))
    if enough is not None and found <= enough:
        return found
    return min(found, _best(converted, guess), _best(converted, guess, 60))


def _guess(rho, log, pure, runs):
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

    return _order(increasing if runs * pure else lambda b: b * b * rho + math.log1p(b), log)


def pure_mu(epsilon):
    """mu of what is epsilon-DP: of the Gaussian mechanism whose curve goes through the corner."""
    epsilon = ball(epsilon)
    return 2 * balls.normal_of_odds(epsilon) if epsilon > 0 else ball(0)


def discrete_curve(square, apart, epsilon, rho=None, enough=None):
    """Of sums with discrete Gaussian noise: mu^2, and total variation from continuous noise."""
    epsilon = ball(epsilon)
    way = gaussian_curve(balls.sqrt(square), epsilon) + (1 + balls.exp(min(epsilon, ball(10**4)))) * apart
    if enough is not None and way <= enough:
        return way
    return min(way, zcdp_curve(square / 2 if rho is None else rho, epsilon, enough), ball(1))

"""Real numbers as balls of python-flint: each result encloses the true one, so a comparison that holds is a proof.

`decided` runs a check in few digits first, and in more where it is not shown.
"""

from fractions import Fraction
from functools import wraps
from itertools import pairwise

from flint import acb, arb, arb_poly, arb_series, ctx, fmpq

PRECISIONS = 128, 1024, 20_000  # in bits


def decided(check):
    """The check, which is true if it holds in one of the precisions; it must be false where a ball leaves it open."""

    @wraps(check)
    def run(*arguments, **keywords):
        return any(_in(bits, check, arguments, keywords) for bits in PRECISIONS)

    return run


def _in(bits, check, arguments, keywords):
    before, ctx.prec = ctx.prec, bits
    try:
        return check(*arguments, **keywords)
    except ArithmeticError:  # as of `floor`
        return False
    finally:
        ctx.prec = before


def ball(value):
    """A number, or the decimal that a string is."""
    if isinstance(value, Fraction):
        return arb(fmpq(value.numerator, value.denominator))
    return arb(value)


def exp(x):
    return ball(x).exp()


def expm1(x):
    return ball(x).expm1()


def log(x):
    return ball(x).log()


def log1p(x):
    return ball(x).log1p()


def sqrt(x):
    return ball(x).sqrt()


def tanh(x):
    return ball(x).tanh()


def cosh(x):
    return ball(x).cosh()


def pi():
    return arb.pi()


def loggamma(x):
    return ball(x).lgamma()


def total(numbers):
    return sum(numbers, arb(0))


def largest(numbers):
    """A ball that encloses the largest, also where balls overlap, when `max` does not know which it is."""
    first, *more = map(ball, numbers)
    for number in more:
        first = first.max(number)
    return first


def at_most_one(x):
    """The ball of a number that cannot be above 1, or 1, which is no less."""
    return x if x < 1 else arb(1)


def upper_normal(x):
    """The mass of a normal distribution beyond x, which may be a complex ball."""
    x = x if isinstance(x, acb) else ball(x)
    return (x / arb(2).sqrt()).erfc() / 2


def mills(x):
    """The mass of a normal distribution beyond x > 0, times exp(x^2 / 2)."""
    return (ball(x) ** 2 / 2).hypgeom_u(0.5, 0.5) / (2 * pi().sqrt())


def normal_of_odds(epsilon):
    """x such that exp(epsilon) times the mass beyond x is the mass below x."""
    return (
        arb(2).sqrt() * (2 / (1 + exp(epsilon))).erfcinv()
        if epsilon > 1
        else arb(2).sqrt() * tanh(epsilon / 2).erfinv()
    )


def floor(x):
    """The integer below; an open question is an error."""
    whole = ball(x).floor().unique_fmpz()
    if whole is None:
        raise ArithmeticError(f"the integer below {x} is not known")
    return int(whole)


def quotient(over, under, length):
    """As many coefficients of the quotient of two power series."""
    before, ctx.cap = ctx.cap, length
    try:
        return arb_poly((arb_series(over, prec=length) / arb_series(under, prec=length)).coeffs())
    finally:
        ctx.cap = before


def integral(function, *ends, bits=40):
    """The integral of an analytic function from the first end to the last, in pieces between the others.

    It is sought to so many bits, and computed with some more: its ball is as wide as that makes it.
    """
    pieces = (_piece(function, a, b, bits) for a, b in pairwise(map(ball, ends)))
    return total(piece.real for piece in pieces)


def _piece(function, a, b, bits):
    before, ctx.prec = ctx.prec, bits + 20
    try:
        return acb.integral(lambda x, _: function(x), a, b, rel_tol=2.0**-bits)
    finally:
        ctx.prec = before

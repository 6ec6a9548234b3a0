"""Inversion in multiprecision: what decides when doubles cannot.

Kernels draw an outcome by inversion: outcome k if C_{k-1} <= U Z < C_k, for a uniform U in [0, 1), cumulative
weights C_k = sum_{j <= k} mass_j exp(-t gap_j) and their total Z. They settle it in floating point when U's
first 64 bits lie safely inside an interval. Here it is settled always, by the sign of an exact sum

    sum over gaps g of a_g exp(-t g),    a_g integers, t rational and positive.

Exponentials of distinct rationals are linearly independent over the rationals (Lindemann and Weierstrass), so the
sum is zero only if every a_g is; otherwise enough digits show its sign. When the bits of U do not suffice, more are
drawn: whether that happens, too, is decided exactly, so one stream of words gives one outcome on every machine.
"""

import decimal
from fractions import Fraction
from functools import cache

_FARTHEST = 10**15  # exponents beyond count as this one; no run draws the 10**15 bits of U that could tell


def invert(gaps, masses, exponent, word, next_word):
    """Return the index of the outcome that the stream of words `word`, next_word(), ... of U selects.

    `gaps` are the distances of each outcome's score from the best, `masses` their multiplicities, not all 0, and
    `exponent` is t.
    """
    levels = sorted(set(gaps))
    place = {gap: i for i, gap in enumerate(levels)}
    slots = [place[gap] for gap in gaps]
    sign = _Sign([exponent * (gap - levels[0]) for gap in levels])

    def prefix(k):  # C_k, as its mass at each level
        mass = [0] * len(levels)
        for slot, m in zip(slots[: k + 1], masses, strict=False):
            mass[slot] += m
        return mass

    total, bits = prefix(len(gaps) - 1), 64

    def boundaries_below(u, or_at):  # how many C_k / Z lie below (or at) u / 2**bits; they rise with k, up to 1
        low, high = 0, len(gaps) - 1
        while low < high:
            middle = (low + high) // 2
            side = sign([(c << bits) - u * z for c, z in zip(prefix(middle), total, strict=True)])
            low, high = (middle + 1, high) if side < or_at else (low, middle)
        return low

    while True:
        k = boundaries_below(word, or_at=True)  # the outcome for U = word exactly
        if k == boundaries_below(word + 1, or_at=False):  # and for all U up to the next word
            return k
        word, bits = word << 64 | next_word(), bits + 64


def compare_exp(exponent, level):
    """The sign of exp(-exponent) - level, for Fractions that are at least 0."""
    if exponent == 0:
        return (level < 1) - (level > 1)
    return _Sign([Fraction(0), exponent])([-level.numerator, level.denominator])


def coin(x, numerator, denominator, word, next_word):
    """Return whether U < numerator / denominator * exp(-x), for the stream of words `word`, next_word(), ... of U."""
    bits = 64
    while True:
        if compare_exp(x, Fraction(word * denominator, numerator << bits)) <= 0:
            return False
        if compare_exp(x, Fraction((word + 1) * denominator, numerator << bits)) >= 0:
            return True
        word, bits = word << 64 | next_word(), bits + 64


def attempt(strips, area, cells, exponent, word, bits, next_word):
    """Return the integer that an attempt of the noise kernel (csrc/noise.h) proposes and keeps, or None.

    It is carried out in integers of any length; `word` has the first `bits` bits of the uniform U.
    Strips are pairs (start, width); area and cells are as in csrc/noise.h. P(x) is proportional to
    exp(-exponent(abs(x))), with a Fraction as exponent. next_word() draws 64 further bits.
    """
    while True:
        unit = 1 << bits
        strip, u = divmod(word * len(strips), unit)
        start, width = strips[strip]
        negative, u = divmod(u * 2, unit)
        offset, low = divmod(u * width, unit)
        high = low + 2 * len(strips) * width  # H lies in [low, high) / unit
        if high <= unit:
            x = (start + offset + (1 << (cells - 1))) >> cells
            height = Fraction(1 << area, width)
            if compare_exp(exponent(x), Fraction(high, unit) * height) >= 0:
                return -x if negative else x
            if compare_exp(exponent(x), Fraction(low, unit) * height) <= 0:
                return None
        word, bits = word << 64 | next_word(), bits + 64


class _Sign:
    """The sign of sum_i a_i exp(-x_i) for integers a_i and distinct rationals x_i >= 0."""

    def __init__(self, x):
        self._x = [min(x_i, Fraction(_FARTHEST)) for x_i in x]
        self._exponentials = cache(self._exponentials)

    def _exponentials(self, digits):
        """exp(-x_i), each within a relative (1 + x_i) 10**(1 - digits)."""
        with decimal.localcontext(context(digits)):
            return [(decimal.Decimal(-x.numerator) / x.denominator).exp() for x in self._x]

    def __call__(self, coefficients):
        signs = {(a > 0) - (a < 0) for a in coefficients} - {0}
        if len(signs) < 2:
            return signs.pop() if signs else 0
        digits = 40 + max(abs(a) for a in coefficients).bit_length() // 3
        while True:
            exponentials = self._exponentials(digits)
            with decimal.localcontext(context(digits)):
                terms = [a * e for a, e in zip(map(decimal.Decimal, coefficients), exponentials, strict=True)]
                value, size = sum(terms), sum(map(abs, terms))
                slack = len(terms) + 3 + max(x for x, a in zip(self._x, coefficients, strict=True) if a)
                if abs(value) > size * (int(slack) + 1) * decimal.Decimal(10) ** (2 - digits):
                    return 1 if value > 0 else -1
            digits *= 2


def context(digits):
    """Return a decimal context of so many digits, whose exponents do not end."""
    return decimal.Context(prec=digits, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX, traps=[])

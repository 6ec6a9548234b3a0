"""Exact sums of what was spent: pairs of epsilon and delta, and curves, as integers."""

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

from .checks import exact

Number: TypeAlias = float | Fraction
UNIT = 1 << 120  # curves are counted in units of 1 / this


class Amount(NamedTuple):
    """An exact (epsilon, delta), both as integers over one denominator: adding fractions each time is slow."""

    epsilon: int
    delta: int
    over: int

    def plus(self, other: "Amount", times: int = 1) -> "Amount":
        """Return the sum of this amount and `times` times the other."""
        over = math.lcm(self.over, other.over)
        mine, others = over // self.over, times * (over // other.over)
        return Amount(self.epsilon * mine + other.epsilon * others, self.delta * mine + other.delta * others, over)

    def within(self, other: "Amount") -> bool:
        """Return whether both parts are at most those of the other amount."""
        return self.epsilon * other.over <= other.epsilon * self.over and (
            self.delta * other.over <= other.delta * self.over
        )

    def exactly(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.epsilon, self.over), Fraction(self.delta, self.over)

    def below(self) -> tuple[float, float]:
        """Return the largest floats whose decimals are at most these amounts."""
        epsilon, delta = self.exactly()
        return decimal_below(epsilon), decimal_below(delta)

    def above(self) -> tuple[float, float]:
        """Return the smallest floats whose decimals are at least these amounts."""
        epsilon, delta = self.exactly()
        return decimal_above(epsilon), decimal_above(delta)


NOTHING = Amount(0, 0, 1)


class Sums(NamedTuple):
    """Everything that was charged: pairs, and curves and total variations in units of 1 / UNIT."""

    pairs: Amount = NOTHING
    curve: int = 0
    apart: int = 0

    def plus(self, other: "Sums", times: int = 1) -> "Sums":
        return Sums(
            self.pairs.plus(other.pairs, times), self.curve + times * other.curve, self.apart + times * other.apart
        )

    def to_list(self) -> list[str]:
        """Return the exact amount for JSON."""
        return [str(number) for number in (*self.pairs, self.curve, self.apart)]

    @classmethod
    def from_list(cls, saved: list[str]) -> "Sums":
        epsilon, delta, over, curve, apart = map(int, saved)
        return cls(Amount(epsilon, delta, over), curve, apart)


@lru_cache(maxsize=256, typed=True)
def amount(epsilon, delta) -> Amount:
    """Return the amount; a float is read as the decimal that it prints as, a rational is exact."""
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta, below=1)
    over = math.lcm(epsilon.denominator, delta.denominator)
    return Amount(int(epsilon * over), int(delta * over), over)


def units_above(number: float) -> int:
    """Return a float in units, rounded up."""
    return math.ceil(Fraction(number) * UNIT)


def units_below(number: float) -> int:
    """Return a float in units, rounded down."""
    return math.floor(Fraction(number) * UNIT)


def decimal_below(number: Fraction) -> float:
    """Return the largest float whose decimal is at most the number."""
    value = float(number)
    while Fraction(repr(value)) > number:
        value = math.nextafter(value, -math.inf)
    return value


def decimal_above(number: Fraction) -> float:
    """Return the least float whose decimal is at least the number; infinite if there is none."""
    try:
        value = float(number)
    except OverflowError:
        return math.inf
    while value < math.inf and Fraction(repr(value)) < number:
        value = math.nextafter(value, math.inf)
    return value


def split(number: Number, share: Number) -> tuple[float, Fraction]:
    """Return what a share leaves of a budget, as a float, and a bound of what it takes, exactly.

    Together they are no more than the budget, whether the float is read as itself or as the decimal that it prints as.
    """
    whole = exact("budget", number)
    left = whole * (1 - exact("share", share))
    value = float(left)
    while max(Fraction(value), Fraction(repr(value))) > left:
        value = math.nextafter(value, 0)
    return value, whole - max(Fraction(value), Fraction(repr(value)))

"""Checks of the numbers of a claim, each with one wording."""

import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from numbers import Integral, Rational, Real
from typing import Any

SMALLEST_DELTA = 1e-300
LEAST = 1e-9  # planning works with numbers no smaller, so that squares and quotients stay floats
RELATIONS = {"replace": "replace one row", "add-remove": "add or remove one row"}
UNITS = ("row", "person")
_RATIONAL = re.compile(r"[0-9]{1,4000}(/0*[1-9][0-9]{0,3999})?")


def check_neighbors(neighbors: str) -> None:
    """Refuse what is no neighbour relation."""
    if neighbors not in RELATIONS:
        raise ValueError(f'neighbors must be "replace" or "add-remove", got {neighbors!r}')


def check_unit(unit: str) -> None:
    """Refuse what is no unit of privacy."""
    if unit not in UNITS:
        raise ValueError(f'unit must be "row" or "person", got {unit!r}')


def is_real(value: Any) -> bool:
    """Return whether a value is a number and not a truth value."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer and not a truth value."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def count(name: str, value: Any, *, least: int = 1, or_else: str = "") -> int:
    """Return an integer of at least `least`; refuse other values."""
    if is_integer(value) and int(value) >= least:
        return int(value)
    raise ValueError(f"{name} must be {or_else}an integer >= {least}, got {value!r}")


def number(name: str, value: Any, wanted: str, fits: Callable[[float], bool]) -> float:
    """Return a real number as a float that fits; refuse other values."""
    if is_real(value):
        try:
            nearest = float(value)
        except OverflowError:
            nearest = math.inf
        if fits(nearest):
            return nearest
    raise ValueError(f"{name} must be {wanted}, got {value!r}")


def chance(name: str, value: Any) -> float:
    """Return a share or a probability of a plan, from LEAST to 1 - LEAST; refuse other values."""
    return number(name, value, f"from {LEAST} to 1 - {LEAST}", lambda x: LEAST <= x <= 1 - LEAST)


def planned_epsilon(value: Any) -> float:
    """Return the epsilon of a plan, finite and at least LEAST; refuse other values."""
    return number("epsilon", value, f"a finite number, at least {LEAST}", lambda x: LEAST <= x < math.inf)


def positive(name: str, value) -> float:
    """Return a finite number above 0; refuse other values."""
    return number(name, value, "a finite number > 0", lambda x: 0 < x < math.inf)


def exact_positive(name: str, value) -> Fraction:
    """Return a finite number above 0 exactly; a float is taken exactly, as by the mechanisms."""
    nearest = positive(name, value)
    return _rational(value) if isinstance(value, Rational) else Fraction(nearest)


def exact_above(name: str, value) -> Fraction:
    """Return a finite number above 0 exactly; a float is the larger of itself and the decimal that it prints as."""
    return max(exact_positive(name, value), exact(name, value))


def epsilon_of(value, *, zero: bool = False) -> float:
    """Return an epsilon, rounded down: finite, and above 0 or at least that."""
    wanted = "a finite number >= 0" if zero else "a finite number > 0"
    number("epsilon", value, wanted, lambda x: 0 <= x < math.inf and (zero or x > 0))
    return float_below(value)


def delta_of(value) -> float:
    """Return a delta above 0, rounded down; refuse values below SMALLEST_DELTA."""
    wanted = f"at least {SMALLEST_DELTA} and below 1"
    number("delta", value, wanted, lambda x: SMALLEST_DELTA <= x < 1)
    return float_below(value)


def margin_between(value) -> float:
    """Return a margin, from LEAST to 1; refuse other values."""
    return number("margin", value, f"from {LEAST} to 1", lambda x: LEAST <= x <= 1)


def exact(name: str, value: Any, below: float = math.inf) -> Fraction:
    """Return a number from 0 to `below` as a fraction; a float is read as the decimal that it prints as."""
    if is_real(value) and 0 <= value < below:
        return _fraction(value)
    wanted = "a finite number >= 0" if below == math.inf else f"a number >= 0 and below {below}"
    raise ValueError(f"{name} must be {wanted}, got {value!r}")


def rational(text: str) -> Fraction:
    """Return the rational of two integers in text, of at most 4,000 digits each; no other notation is evaluated."""
    if not isinstance(text, str) or not _RATIONAL.fullmatch(text):
        raise ValueError(f"wanted a rational number as text, got {str(text)[:40]!r}")
    numerator, _, denominator = text.partition("/")
    return Fraction(int(numerator), int(denominator or 1))


def float_above(number: Any) -> float:
    """Return the least float that is at least the number; for a float, also as the decimal that it prints as."""
    nearest = float(number)
    return nearest if nearest >= _fraction(number) else math.nextafter(nearest, math.inf)


def float_below(number: Any) -> float:
    """Return the largest float that is at most the number; for a float, also as the decimal that it prints as."""
    nearest = float(number)
    return nearest if nearest <= _fraction(number) else math.nextafter(nearest, -math.inf)


def root_above(square: Fraction) -> float:
    """Return the square root of a rational > 0, rounded up."""
    shift = 64 - (square.numerator.bit_length() - square.denominator.bit_length()) // 2
    root = Fraction(math.isqrt(math.floor(square * Fraction(4) ** shift)) + 1) / Fraction(2) ** shift
    try:
        return math.nextafter(float(root), math.inf)
    except OverflowError:
        return math.inf


@lru_cache(maxsize=256, typed=True)
def _fraction(value) -> Fraction:
    if isinstance(value, Rational):
        return _rational(value)
    return Fraction(repr(float(value)))


def _rational(value: Rational) -> Fraction:
    """Of integers of Python: numpy's overflow."""
    return Fraction(int(value.numerator), int(value.denominator))

"""Numbers of claims: checked in one wording, rounded to the safe side, and summed exactly."""

import inspect
import math
import re
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache, wraps
from numbers import Integral, Rational, Real
from typing import Any, NamedTuple, TypeAlias, TypeVar

SMALLEST_DELTA = 1e-300
MOST_COUNT = 10**300
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
    kind = type(value)  # to ask an abstract class is slow
    return kind is float or kind is int or (isinstance(value, Real) and not isinstance(value, bool))


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer and not a truth value."""
    return type(value) is int or (isinstance(value, Integral) and not isinstance(value, bool))


def count(name: str, value: Any, *, least: int = 1, or_else: str = "") -> int:
    """Return an integer of at least `least` that is a float, too; refuse other values."""
    if is_integer(value) and int(value) >= least:
        if value > MOST_COUNT:
            raise ValueError(f"{name} must be at most 10**300, got a number of {int(value).bit_length():,} bits")
        return int(value)
    raise ValueError(f"{name} must be {or_else}an integer >= {least}, got {value!r}")


def number(name: str, value: Any, domain: str, fits: Callable[[float], bool]) -> float:
    """Return a real number as a float that fits; refuse other values."""
    if is_real(value):
        try:
            nearest = float(value)
        except OverflowError:
            nearest = math.inf
        if fits(nearest):
            return nearest
    raise ValueError(f"{name} must be {domain}, got {value!r}")


def chance(name: str, value: Any) -> float:
    """Return a share or a probability of a plan, from LEAST to 1 - LEAST; refuse other values."""
    return number(name, value, f"from {LEAST} to 1 - {LEAST}", lambda x: LEAST <= x <= 1 - LEAST)


def read_planned_epsilon(value: Any) -> float:
    """Return the epsilon of a plan, finite and at least LEAST; refuse other values."""
    return number("epsilon", value, f"a finite number, at least {LEAST}", lambda x: LEAST <= x < math.inf)


def positive(name: str, value) -> float:
    """Return a finite number above 0; refuse other values."""
    return number(name, value, "a finite number > 0", lambda x: 0 < x < math.inf)


def positive_above(name: str, value) -> float:
    """Return a finite number above 0, rounded up; refuse other values."""
    positive(name, value)
    return float_above(value)


def as_fraction(name: str, value: Any, domain: str, fits: Callable[[float], bool]) -> Fraction:
    """Return a real number that fits as a fraction; a float is taken exactly, as by the mechanisms."""
    nearest = number(name, value, domain, fits)
    return _rational(value) if isinstance(value, Rational) else Fraction(nearest)


def exact_positive(name: str, value) -> Fraction:
    """Return a finite number above 0 exactly; a float is taken exactly, as by the mechanisms."""
    return as_fraction(name, value, "a finite number > 0", lambda x: 0 < x < math.inf)


def exact_above(name: str, value) -> Fraction:
    """Return a finite number above 0 exactly; a float is the larger of itself and the decimal that it prints as."""
    return max(exact_positive(name, value), exact(name, value))


def epsilon_of(value, *, zero: bool = False) -> float:
    """Return an epsilon, rounded down: finite, and above 0 or at least that."""
    domain = "a finite number >= 0" if zero else "a finite number > 0"
    number("epsilon", value, domain, lambda x: 0 <= x < math.inf and (zero or x > 0))
    return float_below(value)


def delta_of(value) -> float:
    """Return a delta above 0, rounded down; refuse values below SMALLEST_DELTA."""
    domain = f"at least {SMALLEST_DELTA} and below 1"
    number("delta", value, domain, lambda x: SMALLEST_DELTA <= x < 1)
    return float_below(value)


def margin_between(value) -> float:
    """Return a margin, from LEAST to 1; refuse other values."""
    return number("margin", value, f"from {LEAST} to 1", lambda x: LEAST <= x <= 1)


def problem_of(epsilon, delta, margin, alpha, beta) -> tuple:
    """Return the checked numbers of a plan, as floats."""
    epsilon, alpha, beta = read_planned_epsilon(epsilon), chance("alpha", alpha), chance("beta", beta)
    return epsilon, delta_of(delta), margin_between(margin), alpha, beta


def exact(name: str, value: Any, below: float = math.inf) -> Fraction:
    """Return a number from 0 to `below` as a fraction; a float is read as the decimal that it prints as."""
    if is_real(value) and 0 <= value < below:
        return _fraction(value)
    domain = "a finite number >= 0" if below == math.inf else f"a number >= 0 and below {below}"
    raise ValueError(f"{name} must be {domain}, got {value!r}")


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
    """Return the fraction of Python integers; those of numpy overflow."""
    return Fraction(int(value.numerator), int(value.denominator))


Number: TypeAlias = float | Fraction


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

    def as_fractions(self) -> tuple[Fraction, Fraction]:
        return Fraction(self.epsilon, self.over), Fraction(self.delta, self.over)

    def below(self) -> tuple[float, float]:
        """Return the largest floats whose decimals are at most these amounts."""
        epsilon, delta = self.as_fractions()
        return decimal_below(epsilon), decimal_below(delta)

    def above(self) -> tuple[float, float]:
        """Return the smallest floats whose decimals are at least these amounts."""
        epsilon, delta = self.as_fractions()
        return decimal_above(epsilon), decimal_above(delta)


NOTHING = Amount(0, 0, 1)


@lru_cache(maxsize=256, typed=True)
def amount(epsilon, delta) -> Amount:
    """Return the amount; a float is read as the decimal that it prints as, a rational is exact."""
    epsilon, delta = exact("epsilon", epsilon), exact("delta", delta, below=1)
    over = math.lcm(epsilon.denominator, delta.denominator)
    return Amount(int(epsilon * over), int(delta * over), over)


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


def round_up_to_decimal(name: str, value: Any, below: float = math.inf) -> float:
    """Return the least float that prints as no less than a number from 0 to `below`; a float is itself."""
    if type(value) is float and 0 <= value < below:
        return value + 0.0  # not -0.0
    above = decimal_above(exact(name, value, below))
    exact(name, above, below)
    return above


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


_Calculator = TypeVar("_Calculator", bound=Callable)


def calculator(function: _Calculator) -> _Calculator:
    """Decorate a public function: complete its docstring by what all calculators have in common.

    An epsilon or delta that it does not describe is the usual one.
    """
    return _complete_docstring(function, _USUAL)


def calculator_like(*others: Callable) -> Callable[[_Calculator], _Calculator]:
    """Decorate like `calculator`; parameters that the docstring does not describe are those of other calculators."""
    descriptions = dict(_USUAL)
    for other in others:
        descriptions |= _parameter_descriptions(other.__doc__ or "")
    return lambda function: _complete_docstring(function, descriptions)


_PARAMETERS = "\n\nParameters\n----------\n"
_USUAL = {"epsilon": "epsilon : real, > 0", "delta": "delta : real, at least 1e-300 and below 1"}


def _parameter_descriptions(doc: str) -> dict[str, str]:
    """Return the description of each parameter in a docstring; some parameters share one."""
    entries = re.split(r"\n(?=\S)", doc.partition(_PARAMETERS)[2].partition("\n\n")[0])
    return {name: entry for entry in entries for name in entry.partition("\n")[0].partition(" : ")[0].split(", ")}


def _complete_docstring(function: _Calculator, descriptions: dict[str, str]) -> _Calculator:
    if function.__doc__:  # None under python -OO
        doc = inspect.cleandoc(function.__doc__)
        descriptions = descriptions | _parameter_descriptions(doc)
        entries = dict.fromkeys(descriptions[name] for name in inspect.signature(function).parameters)
        summary, _, rest = doc.partition("\n\nReturns\n")
        head, *tail = re.split(r"\n\n(?=Notes\n|Examples\n)", f"Returns\n{rest}", maxsplit=1)
        if "\nRaises\n" not in head:
            head += "\n\nRaises\n------\nValueError\n    If an argument is out of its range."
        head += f"\n\nNotes\n-----\n`{function.__module__}` documents the theorem, and its proof or source."
        sections = [summary.partition(_PARAMETERS)[0] + _PARAMETERS + "\n".join(entries), head]
        function.__doc__ = "\n\n".join([*sections, *(each.removeprefix("Notes\n-----\n") for each in tail)]) + "\n"
    return function


def cache_results(function):
    """Decorate a function to cache its last few hundred results: a calibration takes longer than a small fit.

    Arguments of different types are different, also within tuples: named tuples of two kinds may be equal.
    """

    @lru_cache(maxsize=512)
    def cached(types, *arguments, **keywords):
        return function(*arguments, **keywords)

    @wraps(function)
    def answer(*arguments, **keywords):
        try:
            return cached(_types_of((*arguments, *keywords.values())), *arguments, **keywords)
        except TypeError:  # what has no hash is refused by the function itself
            return function(*arguments, **keywords)

    return answer


def _types_of(values):
    """Return the type of a tuple, and those of its entries."""
    return type(values), *[_types_of(each) if isinstance(each, tuple) else type(each) for each in values]

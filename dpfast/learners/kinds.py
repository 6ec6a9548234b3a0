"""Kinds of parameters: a kind accepts values and words its refusals, in the same way for all learners.

>>> kind = auto(count(1, 100))
>>> kind.wanted
'be "auto" or an integer in [1, 100]'
>>> kind.read("n_rounds", 0)
Traceback (most recent call last):
    ...
ValueError: n_rounds must be "auto" or an integer in [1, 100], got 0
"""

import math
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from dpfast.accounting.numbers import is_integer, is_real
from dpfast.tables.schema import Schema

FileLike: TypeAlias = str | os.PathLike[str] | None
SchemaLike: TypeAlias = Schema | FileLike


@dataclass(frozen=True)
class Kind:
    """The set of valid values of a parameter: those that `fits` accepts, which `plain` converts for learners.

    `wanted` is the text after "must" in error messages: "be an integer of at least 1" or "lie in (0, 1]".
    """

    wanted: str
    fits: Callable[[Any], bool]
    plain: Callable[[Any], Any] = lambda value: value

    def read(self, name: str, value: Any) -> Any:
        """Return the plain value; a ValueError names the parameter, the valid values and the value given."""
        if not self.fits(value):
            raise ValueError(f"{name} must {self.wanted}, got {value!r}")
        return self.plain(value)


def count(least: int, most: int | None = None) -> Kind:
    """Return the kind of integers of at least `least` and, if given, at most `most`."""
    high = math.inf if most is None else most
    wanted = f"of at least {least}" if most is None else f"in [{least}, {most}]"
    return Kind(f"be an integer {wanted}", lambda value: is_integer(value) and least <= value <= high, int)


def positive() -> Kind:
    """Return the kind of finite numbers above 0."""
    return Kind("be a finite number > 0", lambda value: is_real(value) and 0 < value <= sys.float_info.max)


def real(low: float, high: float, ends: str = "[]") -> Kind:
    """Return the kind of numbers from `low` to `high`; a round bracket in `ends` excludes that end."""
    above = (lambda value: low < value) if ends[0] == "(" else (lambda value: low <= value)
    below = (lambda value: value < high) if ends[1] == ")" else (lambda value: value <= high)
    return Kind(
        f"lie in {ends[0]}{low:g}, {high:g}{ends[1]}", lambda value: is_real(value) and above(value) and below(value)
    )


def ends() -> Kind:
    """Return the kind of pairs of finite numbers, the lower first."""
    return Kind(
        "be two finite numbers, the lower first",
        lambda value: (
            isinstance(value, Sequence)
            and len(value) == 2
            and all(is_real(end) and math.isfinite(end) for end in value)
            and value[0] < value[1]
        ),
        lambda value: (float(value[0]), float(value[1])),
    )


def flag() -> Kind:
    """Return the kind of True and False."""
    return Kind("be True or False", lambda value: isinstance(value, bool | np.bool_) or value in (0, 1), bool)


def choice(*words: str) -> Kind:
    """Return the kind of a few words."""
    *first, last = (f'"{word}"' for word in words)
    return Kind(f"be {', '.join(first)} or {last}", lambda value: isinstance(value, str) and value in words)


def auto(kind: Kind, word: str = "auto") -> Kind:
    """Return the kind that also accepts a word, such as "auto", and leaves it unchanged."""
    return _or(f'"{word}"', lambda value: isinstance(value, str) and value == word, kind)


def optional(kind: Kind) -> Kind:
    """Return the kind that also accepts None."""
    return _or("None", lambda value: value is None, kind)


def _or(words: str, is_word: Callable[[Any], bool], kind: Kind) -> Kind:
    return Kind(
        f"be {words} or {kind.wanted.removeprefix('be ')}",
        lambda value: is_word(value) or kind.fits(value),
        lambda value: value if is_word(value) else kind.plain(value),
    )


EPSILON = positive()
DELTA = BETWEEN_0_AND_1 = real(0, 1, "()")
NEIGHBORS = choice("replace", "add-remove")
SCHEMA = Kind(
    "be a dpfast.Schema or the path of its file",
    lambda value: isinstance(value, Schema | str | os.PathLike),
    lambda value: value if isinstance(value, Schema) else Schema.from_file(value),
)

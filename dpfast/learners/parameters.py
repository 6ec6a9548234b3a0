"""What the parameters of a learner may be: each is declared once with its kind, checked and refused in one wording.

A learner lists its kinds in `_parameters`; `Parameters._checked` returns the plain values, or refuses one before
anything is read:

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
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from types import SimpleNamespace
from typing import Any, TypeAlias

import numpy as np

from dpfast import random
from dpfast.accounting import Budget
from dpfast.tables.schema import Schema

FileLike: TypeAlias = str | os.PathLike[str] | None
SchemaLike: TypeAlias = Schema | FileLike


@dataclass(frozen=True)
class Kind:
    """What a parameter may be.

    Parameters
    ----------
    wanted : str
        After "must": "be an integer of at least 1", "lie in (0, 1]".
    fits : callable
        Whether a value will do.
    plain : callable
        From a value that will do to the one that learners compute with.
    """

    wanted: str
    fits: Callable[[Any], bool]
    plain: Callable[[Any], Any] = lambda value: value

    def read(self, name: str, value: Any) -> Any:
        """The plain value; a ValueError names the parameter, what it must be and what it was."""
        if not self.fits(value):
            raise ValueError(f"{name} must {self.wanted}, got {value!r}")
        return self.plain(value)


def count(least: int, most: int | None = None) -> Kind:
    """An integer of at least `least` and, if given, at most `most`."""
    high = math.inf if most is None else most
    wanted = f"of at least {least}" if most is None else f"in [{least}, {most}]"
    return Kind(f"be an integer {wanted}", lambda value: _is_integer(value) and least <= value <= high, int)


def positive() -> Kind:
    """A finite number above 0."""
    return Kind("be a finite number > 0", lambda value: _is_real(value) and 0 < value <= sys.float_info.max)


def real(low: float, high: float, ends: str = "[]") -> Kind:
    """A number from `low` to `high`; `ends` are the brackets, round where the end itself will not do."""
    above = (lambda value: low < value) if ends[0] == "(" else (lambda value: low <= value)
    below = (lambda value: value < high) if ends[1] == ")" else (lambda value: value <= high)
    return Kind(
        f"lie in {ends[0]}{low:g}, {high:g}{ends[1]}", lambda value: _is_real(value) and above(value) and below(value)
    )


def ends() -> Kind:
    """Two finite numbers, the lower first."""
    return Kind(
        "be two finite numbers, the lower first",
        lambda value: (
            isinstance(value, Sequence)
            and len(value) == 2
            and all(_is_real(end) and math.isfinite(end) for end in value)
            and value[0] < value[1]
        ),
        lambda value: (float(value[0]), float(value[1])),
    )


def flag() -> Kind:
    """True or False."""
    return Kind("be True or False", lambda value: isinstance(value, bool | np.bool_) or value in (0, 1), bool)


def choice(*words: str) -> Kind:
    """One of some words."""
    *first, last = (f'"{word}"' for word in words)
    return Kind(f"be {', '.join(first)} or {last}", lambda value: isinstance(value, str) and value in words)


def auto(kind: Kind, word: str = "auto") -> Kind:
    """A word, "auto" say, or a kind; the word stays as it is."""
    return _or(f'"{word}"', lambda value: isinstance(value, str) and value == word, kind)


def optional(kind: Kind) -> Kind:
    """None or a kind."""
    return _or("None", lambda value: value is None, kind)


def _or(words: str, is_word: Callable[[Any], bool], kind: Kind) -> Kind:
    return Kind(
        f"be {words} or {kind.wanted.removeprefix('be ')}",
        lambda value: is_word(value) or kind.fits(value),
        lambda value: value if is_word(value) else kind.plain(value),
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_real(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


EPSILON = positive()
DELTA = real(0, 1, "()")
NEIGHBORS = choice("replace", "add-remove")
BUDGET = optional(Kind("be a dpfast.accounting.Budget", lambda value: isinstance(value, Budget)))
SCHEMA = Kind(
    "be a dpfast.Schema or the path of its file",
    lambda value: isinstance(value, Schema | str | os.PathLike),
    lambda value: value if isinstance(value, Schema) else Schema.from_file(value),
)
PURE = {"epsilon": EPSILON, "neighbors": NEIGHBORS, "budget": BUDGET}  # of learners whose delta is 0
PRIVATE = PURE | {"delta": DELTA}


class Parameters:
    """Mixin of estimators whose parameters have kinds: `_parameters`, from their names."""

    _parameters: Mapping[str, Kind] = {}

    def _checked(self) -> SimpleNamespace:
        """The plain values of all parameters that have a kind; refuses the first that will not do.

        A learner whose parameters depend on one another goes on from here.
        """
        return SimpleNamespace(
            **{name: kind.read(name, getattr(self, name)) for name, kind in self._parameters.items()}
        )


class PrivateParameters(Parameters):
    """Those of a private estimator: its generator is among them, as `rng`, and its budget can pay."""

    epsilon: float
    delta: float
    neighbors: str
    budget: Budget | None
    random_state: Any

    def _checked(self, X: Any = None, y: Any = None, units: Any = None) -> SimpleNamespace:
        p = super()._checked()
        p.rng = random.generator(self.random_state)
        if hasattr(self, "verbose"):
            flag().read("verbose", self.verbose)
        if p.budget is not None:
            p.budget.foresee(self.epsilon, self.delta, neighbors=self.neighbors)
        return p

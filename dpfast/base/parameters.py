"""Parameters of learners: each is declared once, with its kind and its entry in docstrings.

A kind accepts values and words its refusals, in the same way for all learners. A learner declares its parameters by
`parameter` and is decorated by `estimator`. `Parameters._checked` returns plain values, or refuses an invalid value
before any data are read.

>>> kind = auto(count(1, 100))
>>> kind.demand
'be "auto" or an integer in [1, 100]'
>>> kind.read("n_rounds", 0)
Traceback (most recent call last):
    ...
ValueError: n_rounds must be "auto" or an integer in [1, 100], got 0
"""

import math
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from inspect import cleandoc, get_annotations
from typing import Any, NoReturn, Self, TypeAlias, TypeVar, cast, dataclass_transform

import numpy as np

from dpfast import random
from dpfast.accounting import Budget
from dpfast.accounting.numbers import is_integer, is_real
from dpfast.tables.schema import Schema

T = TypeVar("T")
FileLike: TypeAlias = str | os.PathLike[str] | None
SchemaLike: TypeAlias = Schema | FileLike


@dataclass(frozen=True)
class Kind:
    """The set of valid values of a parameter: those that `fits` accepts, which `plain` converts for learners.

    `demand` is the text after "must" in error messages: "be an integer of at least 1" or "lie in (0, 1]".
    """

    demand: str
    fits: Callable[[Any], bool]
    plain: Callable[[Any], Any] = lambda value: value

    def read(self, name: str, value: Any) -> Any:
        """Return the plain value; a ValueError names the parameter, the valid values and the value given."""
        if not self.fits(value):
            raise ValueError(f"{name} must {self.demand}, got {value!r}")
        return self.plain(value)


def count(least: int, most: int | None = None) -> Kind:
    """Return the kind of integers of at least `least` and, if given, at most `most`.

    Parameters
    ----------
    least : int
    most : int, optional

    Returns
    -------
    Kind
    """
    high = math.inf if most is None else most
    domain = f"of at least {least}" if most is None else f"in [{least}, {most}]"
    return Kind(f"be an integer {domain}", lambda value: is_integer(value) and least <= value <= high, int)


def positive() -> Kind:
    """Return the kind of finite numbers above 0.

    Returns
    -------
    Kind
    """
    return Kind("be a finite number > 0", lambda value: is_real(value) and 0 < value <= sys.float_info.max)


def real(low: float, high: float, ends: str = "[]") -> Kind:
    """Return the kind of numbers from `low` to `high`.

    Parameters
    ----------
    low, high : float
    ends : str, default="[]"
        Two brackets; a round one excludes that end.

    Returns
    -------
    Kind
    """
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
    """Return the kind of True and False.

    Returns
    -------
    Kind
    """
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
        f"be {words} or {kind.demand.removeprefix('be ')}",
        lambda value: is_word(value) or kind.fits(value),
        lambda value: value if is_word(value) else kind.plain(value),
    )


EPSILON = positive()
DELTA = BETWEEN_0_AND_1 = real(0, 1, "()")
DELTA_TEXT = (
    "float, default=1e-6\n    A term that is added to the bound of epsilon; choose it well below 1 / n for n rows."
)
NEIGHBORS = choice("replace", "add-remove")
SCHEMA = Kind(
    "be a dpfast.Schema or the path of its file",
    lambda value: isinstance(value, Schema | str | os.PathLike),
    lambda value: value if isinstance(value, Schema) else Schema.from_file(value),
)
BUDGET = optional(Kind("be a dpfast.accounting.Budget", lambda value: isinstance(value, Budget)))
PAPERS = {  # that docstrings of learners cite
    "BCS": "M. Bun, M. Carmosino, J. Sorrell, Efficient, Noise-Tolerant, and Private Learning via Boosting, COLT 2020.",
    "BF": "M. Bun, W. Fang, Privately Learning Decision Lists and a Differentially Private Winnow, arXiv 2602.07370.",
    "DR11": "C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014.",
    "Lyu": "X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025.",
    "NUZ": "H. L. Nguyen, J. Ullman, L. Zakynthinou, Efficient Private Algorithms for Learning Large-Margin "
    "Halfspaces, ALT 2020.",
}


def parameter(
    default: Any, kind: Kind | None = None, text: str = "", *, saved: bool | Callable[[Any], bool] = True
) -> Any:
    """Declare a keyword parameter in the body of an `estimator`.

    Parameters
    ----------
    default : object
    kind : Kind, optional
        The values that are accepted; without it, nothing is checked.
    text : str, default=""
        The entry of the parameter in docstrings, after the colon.
    saved : bool or callable, default=True
        Whether files of models hold the parameter, or a function that tells it of a value.

    Returns
    -------
    object
        The field of a dataclass.

    Raises
    ------
    TypeError
        If `kind` is none, such as the function `positive` for ``positive()``.
    """
    if not isinstance(kind, Kind | None):
        raise TypeError(f"kind must be a Kind, such as positive() or count(1, 100), got {kind!r}")
    return field(default=default, kw_only=True, metadata=described(kind, text, saved))


def described(kind: Kind | None = None, text: str = "", saved: bool | Callable[[Any], bool] = True) -> dict[str, Any]:
    """Return the metadata of a parameter that is declared by `dataclasses.field`."""
    return {"kind": kind, "text": text, "saved": saved}


def unsaved(estimator: Any) -> tuple[str, ...]:
    """Return the names of the parameters that files of models do not hold."""

    def is_saved(each):
        saved = each.metadata.get("saved", True)
        return saved(getattr(estimator, each.name)) if callable(saved) else saved

    return tuple(each.name for each in fields(estimator) if each.init and not is_saved(each))


FIT_INTERCEPT = parameter(True, flag(), "bool, default=True\n    Whether a constant feature is added.")
NEGATIONS = parameter(
    True,
    flag(),
    """bool, default=True
    Whether a negated copy of each feature is added, so that weights of both signs can be learned.""",
)
OUT_OF_RANGE = parameter(
    "clip",
    choice("error", "clip"),
    """{"clip", "error"}, default="clip"
    Whether entries outside their range are clipped or refused. Clipping loses the differences between values far
    outside; scale such columns by declared bounds, or use a schema.""",
)
VERBOSE = parameter(False, flag(), "bool, default=False\n    Whether `fit` shows its progress.")
FEATURE_RANGE = parameter(
    (-1, 1),
    ends(),
    """pair of float, default=(-1, 1)
    The declared range of the features, which is scaled to [-1, 1]. Booleans and BitMatrix are signs.""",
)


@dataclass_transform(eq_default=False, kw_only_default=True, field_specifiers=(field,))
def estimator(cls: type[T]) -> type[T]:
    """Write the constructor of a class, which only stores the declared parameters, and complete its docstring.

    The class becomes a dataclass: keyword parameters are declared by `parameter`, positional ones, and those that a
    class fixes (`init=False`), by `dataclasses.field`, which type checkers can read. Docstrings list positional ones
    first, then those of the class, then those of its bases.

    Returns
    -------
    type
        The same class.
    """
    whole: Any = dataclass(eq=False, repr=False, kw_only=True)(cls)
    entries_by_name = {each.name: each for each in fields(whole) if each.init}
    whole._parameters = {
        name: each.metadata["kind"] for name, each in entries_by_name.items() if each.metadata.get("kind")
    }
    if cls.__doc__:
        entries = [
            f"{name} : {each.metadata['text']}" for name, each in entries_by_name.items() if each.metadata.get("text")
        ]
        order = [name for name, each in entries_by_name.items() if not each.kw_only]
        order += [name for base in cls.__mro__ for name in get_annotations(base) if name not in order]
        text = _completed(cleandoc(cls.__doc__), "Parameters", entries, order)
        above = [_section(cleandoc(base.__doc__ or ""), "Attributes")[1] for base in reversed(cls.__mro__[1:])]
        text = _completed(text, "Attributes", [entry for entries in above for entry in entries])
        papers = "\n".join(f".. [{key}] {paper}" for key, paper in PAPERS.items() if re.search(rf"\[{key}\b", text))
        title = f"\n\nReferences\n----------\n{papers}" if papers else ""
        cls.__doc__ = text.replace("\n\nExamples\n", f"{title}\n\nExamples\n", 1) + "\n"
    return cls


def _section(text: str, title: str) -> tuple[str, list[str], str]:
    """Return a docstring up to the heading of a section, the entries of this section, and the rest."""
    head, heading, rest = text.partition(f"\n{title}\n{'-' * len(title)}\n")
    own, blank, after = rest.partition("\n\n")
    return head + heading, [each for each in re.split(r"\n(?=\S)", own.strip("\n")) if each], blank + after


def _completed(text: str, title: str, inherited: list[str], order: Sequence[str] = ()) -> str:
    """Return a docstring whose section, if there is one, also has the inherited entries that it lacks, in order."""
    before, own, after = _section(text, title)
    if not own:
        return text
    entries = {_names(each)[0]: each for each in inherited}
    for name in [name for each in own for name in _names(each)]:
        entries.pop(name, None)
    places = {name: place for place, name in enumerate(order)}
    ordered = sorted([*own, *entries.values()], key=lambda each: places.get(_names(each)[0], 0))
    return before + "\n".join(ordered) + after


def _names(entry: str) -> list[str]:
    """Return the names that an entry of a docstring explains."""
    return entry.split("\n")[0].split(" :")[0].split(", ")


class Values:
    """Plain values of checked parameters, as attributes; they never change, and `but` returns a copy with others."""

    def __init__(self, values: Mapping[str, Any]):
        vars(self).update(values)

    def but(self, **others: Any) -> "Values":
        """Return these values, some of which are others."""
        return Values(vars(self) | others)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no parameter {name!r} was checked")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"{name} is the value of a checked parameter, which does not change")


class Parameters:
    """Mixin of estimators; `_parameters` maps the names of parameters to their kinds."""

    _parameters: Mapping[str, Kind] = {}

    def _values(self) -> Self:
        """Return the plain values of all parameters that have a kind; refuse the first invalid one.

        They are `Values` with the types that the class declares for its parameters.
        """
        values = {name: kind.read(name, getattr(self, name)) for name, kind in self._parameters.items()}
        return cast(Self, Values(values))

    def _checked(self) -> Values:
        """Return the plain values for a fit that begins now.

        A learner whose parameters depend on one another extends this method.
        """
        return cast(Values, self._values())

    @classmethod
    @cache
    def _get_param_names(cls) -> list[str]:
        """Return what scikit-learn reads from the constructor, which it would inspect anew at each `get_params`."""
        return super()._get_param_names()  # type: ignore[misc]

    def __dask_tokenize__(self) -> Any:
        """Return what a pickle holds, for Dask's names of tasks: all that was released, and no private state.

        Without this method the name would be that of a dataclass, which depends on its parameters only.
        """
        from dask.base import normalize_token

        return normalize_token(self.__reduce_ex__(4))


@estimator
class PrivateParameters(Parameters):
    """Parameters of a private estimator; includes its generator as `rng`, and checks that its budget can pay."""

    epsilon: float = field(
        default=1.0,
        kw_only=False,
        metadata=described(
            EPSILON, "float, default=1.0\n    Privacy budget: a smaller value is more private; 1 is a good start."
        ),
    )
    delta: float = field(default=1e-6, kw_only=False, metadata=described(DELTA, DELTA_TEXT))
    neighbors: str = parameter(
        "replace",
        NEIGHBORS,
        """{"replace", "add-remove"}, default="replace"
    Neighbouring tables of the claim: one row replaced (the number of rows is public), or one row added or removed.""",
    )
    budget: Budget | None = parameter(
        None,
        BUDGET,
        """dpfast.accounting.Budget or None, default=None
    Charged (epsilon, delta) by each `fit`; a fit that exceeds it is refused before the data are read.""",
        saved=False,
    )
    random_state: int | np.random.Generator | None = parameter(
        None,
        text="""None, int or numpy.random.Generator, default=None
    None uses a cryptographic generator. A seed is for tests and voids the guarantee; `privacy_` then records this.""",
        saved=False,
    )

    def _checked(self) -> Values:
        p = super()._checked().but(rng=random.generator(self.random_state))
        if p.budget is not None:
            p.budget.foresee(self.epsilon, self.delta, neighbors=self.neighbors)
        return p

    def __getstate__(self) -> Any:
        """Return the state without the `random_state` of a fitted model, like `save`: it would reveal the noise."""
        state: Any = super().__getstate__()
        return state | {"random_state": None} if self.__sklearn_is_fitted__() else state

    def __sklearn_is_fitted__(self) -> bool:
        return "privacy_" in vars(self)

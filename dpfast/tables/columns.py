"""The kinds of columns that a `Schema` declares, and the columns of codes that they become.

A field that is `None` is not declared: it is discovered privately (`dpfast.TableEncoder`) before rows become codes.
"""

import math
import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from datetime import date
from decimal import Decimal
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any, ClassVar, NoReturn

import numpy as np

from dpfast.tables.cells import CodeColumn, fine_cuts, mixed_edges
from dpfast.tables.dates import NUMBERED
from dpfast.tables.naming import hint_of, listed

BINS = 32  # of a numeric column by default, declared or discovered
MOST_CODES = 1 << 16  # of a column, including missing and other
SPACINGS = ("equal", "logarithmic", "quantiles", "fine", "mixed")
_UNTIL_ZERO = {"fine": fine_cuts, "mixed": mixed_edges}  # spacings that are narrower near 0
PARTS = ("age", "weekday", "month")
_WHOLE_TRUTH = re.compile(r"[01]\.0*|\.0+")  # 0 or 1 as a number with a decimal point
_TRUTHS = {"false": 0, "0": 0, "true": 1, "1": 1}
_WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True)
class Column:
    """Base of all kinds of columns.

    Parameters
    ----------
    name : str
    nullable : bool, default=False
        Whether values may be missing. If so, missing values have a code of their own; otherwise they are refused.
    unconfirmed : tuple of str, default=()
        Fields, or "kind", that a draft read off the rows. A `Schema` with such fields is refused.
    """

    name: str
    nullable: bool = field(default=False, kw_only=True)
    unconfirmed: tuple = field(default=(), kw_only=True)
    kind: ClassVar[str]
    facts: ClassVar[tuple] = ()  # fields that an owner declares, or leaves to be discovered privately

    def __post_init__(self):
        if not isinstance(self.name, str) or not self.name or "\0" in self.name:
            raise ValueError(f"a column must have a name, of text without NUL, got {self.name!r}")
        self._set("nullable", _flag(self, "nullable"))
        names = (*names_declared(self), "kind") if self.unconfirmed else ()
        self._set("unconfirmed", tuple(name for name in names if name in self.unconfirmed))

    @cached_property
    def to_find(self) -> tuple:
        """Return the fields that are discovered privately."""
        return tuple([fact for fact in self.facts if getattr(self, fact) is None])

    def code_columns(self) -> tuple[CodeColumn, ...]:
        """Return the columns of codes that this column becomes."""
        raise NotImplementedError

    def with_spacing(self, spacing: str) -> "Column":
        """Return this column with numbers in bins of this spacing, "fine" or "mixed", unless bins are declared."""
        return self

    def confirm(self) -> "Column":
        """Return the same column, with everything that a draft read off the rows confirmed to be public."""
        return replace(self, unconfirmed=())

    def with_facts(self, **facts: Any) -> "Column":
        """Return the same column with discovered facts."""
        return replace(self, **facts)

    def _set(self, name, value):
        object.__setattr__(self, name, value)

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"column {self.name!r}: {what}")


@dataclass(frozen=True)
class Numeric(Column):
    """A column of numbers, which become bins between declared bounds.

    Parameters
    ----------
    name : str
    low, high : float or None
        Public bounds; numbers outside go to the first or the last bin. None is discovered privately as a quantile near
        the end, unless `edges` are listed; then there is one more bin beyond them.
    edges : int or sequence of float, optional
        A number of bins, or the edges between them: numbers above edges[k - 1] and at most edges[k] are in the same
        bin. By default 32 bins.
    spacing : {"equal", "logarithmic", "quantiles", "fine", "mixed"}, optional
        How edges are placed if `edges` is a number: at equal distances or equal ratios from low to high, which are
        public, or at quantiles of the rows, which are discovered privately. By default "equal" between declared bounds,
        and otherwise "quantiles". Logarithmic bins need low > 0, and the first is for numbers up to low. "fine" is
        about 250 bins from low to high, narrower near 0; "mixed" is 32 equal bins, divided near 0 at powers of two. For
        columns with declared bounds and neither edges nor spacing, `HalfspaceClassifier` uses "fine", and the other
        classifiers use "mixed".
    integer : bool, default=False
        Whether all numbers are whole. If so, edges are whole too, and bins without a whole number are dropped.
    nullable, unconfirmed
        As in `Column`.
    """

    low: float | None = None
    high: float | None = None
    edges: Any = None
    spacing: str | None = None
    integer: bool = False
    kind: ClassVar[str] = "numeric"
    facts: ClassVar[tuple] = ("low", "high")

    def __post_init__(self):
        super().__post_init__()
        self._set("integer", _flag(self, "integer"))
        for name in ("low", "high"):
            value = getattr(self, name)
            if value is not None and not is_number(value):
                self._refuse(f"{name} must be a finite number, got {value!r}")
        if None not in (self.low, self.high) and not self.low < self.high:
            self._refuse(f"low must be below high, got {self.low!r} and {self.high!r}")
        if self.spacing is not None and self.spacing not in SPACINGS:
            self._refuse(f"spacing must be one of {', '.join(SPACINGS)}, got {self.spacing!r}")
        if self.spacing in _UNTIL_ZERO and (None in (self.low, self.high) or self.edges is not None):
            self._refuse(f"{self.spacing} spacing needs low and high, and no edges")
        if self.edges is None:
            if self.spacing in _UNTIL_ZERO or (self.spacing is None and None not in (self.low, self.high)):
                return
            self._set("edges", BINS)
        if _is_integer(self.edges):
            if not 2 <= self.edges <= MOST_CODES - 2:
                self._refuse(f"edges must be a number of bins in [2, {MOST_CODES - 2}], got {self.edges}")
            if self.spacing is None:
                self._set("spacing", "quantiles" if None in (self.low, self.high) else "equal")
            least = min((end for end in (self.low, self.high) if end is not None), default=1)
            if self.spacing == "logarithmic" and least <= 0:
                self._refuse(f"logarithmic bins need low > 0, got {least!r}; smaller numbers go to the first bin")
        else:
            what = "a number of bins or a list of finite numbers"
            self._set("edges", rising(self, "edges", self.edges, what, least=1))
            if self.spacing is not None:
                self._refuse("spacing is for a number of edges, and they are listed")
            low, high = -math.inf if self.low is None else self.low, math.inf if self.high is None else self.high
            beyond = next((edge for edge in self.edges if not low <= edge <= high), None)
            if beyond is not None:
                self._refuse(f"edges must lie between low and high, in [{low:g}, {high:g}], got {beyond!r}")

    @cached_property
    def to_find(self) -> tuple:
        if self.edges is None or not _is_integer(self.edges):
            return ()  # bounds beyond listed edges are not needed
        return (*super().to_find, *(("edges",) if self.spacing == "quantiles" else ()))

    def cuts(self) -> tuple:
        """Return the edges between the bins, which increase up to rounding; refuse bounds that are not discovered yet.

        They are computed as decimals, so they are the same on every machine.
        """
        if self.to_find:
            self._refuse(f"{' and '.join(self.to_find)} must be declared or found first")
        if self.spacing in _UNTIL_ZERO:
            return _UNTIL_ZERO[self.spacing](*(float(end) for end in (self.low, self.high) if end is not None))
        edges: Any = BINS if self.edges is None else self.edges
        if not _is_integer(edges):
            return edges
        k, (low, high) = int(edges), (Decimal(float(end)) for end in (self.low, self.high) if end is not None)
        if self.spacing == "logarithmic":
            return tuple(float(low * (high / low) ** (Decimal(i) / (k - 1))) for i in range(k - 1))
        return tuple(float(low + (high - low) * i / k) for i in range(1, k))

    def code_columns(self) -> tuple[CodeColumn, ...]:
        edges = np.unique(np.floor(self.cuts()) if self.integer else self.cuts()).tolist()
        step = edges[1] - edges[0] if len(edges) > 1 else 1.0
        low = float(edges[0] - step if self.low is None else self.low)
        high = float(edges[-1] + step if self.high is None else self.high)
        return (CodeColumn(self.name, tuple(edges), low, high, nullable=self.nullable, whole=self.integer),)

    def with_spacing(self, spacing: str) -> "Numeric":
        declared = self.edges is not None or self.spacing is not None
        return self if declared else replace(self, spacing=spacing)

    def with_facts(self, **facts: Any) -> "Numeric":
        return replace(self, **(facts | ({"spacing": None} if "edges" in facts else {})))


@dataclass(frozen=True)
class Category(Column):
    """A column of values from a list.

    Parameters
    ----------
    name : str
    values : sequence of str or None
        The values as written in a file; numbers and truth values as text. None is discovered privately.
    other : bool, default=True
        Whether undeclared values have a code of their own, "other"; otherwise they are refused.
    nullable, unconfirmed
        As in `Column`.
    """

    values: tuple[Any, ...] | None = None
    other: bool = True
    kind: ClassVar[str] = "category"
    facts: ClassVar[tuple] = ("values",)

    def __post_init__(self):
        super().__post_init__()
        self._set("other", _flag(self, "other"))
        if self.values is None:
            if not self.other:
                self._refuse('values that are found privately need a code for the rest: "other" must be true')
            return
        self._set("values", distinct(self, self.values, least=0 if self.other else 1))
        size = len(self.values) + self.other + self.nullable
        if not 1 <= size <= MOST_CODES:
            self._refuse(
                f"values must be at most {MOST_CODES - self.other - self.nullable:,}, got {len(self.values):,}; "
                "declare those that matter, the rest is other"
            )

    def code_columns(self) -> tuple[CodeColumn, ...]:
        if self.values is None:
            self._refuse("values must be declared or found first")
        return (CodeColumn(self.name, values=self.values, other=int(self.other), nullable=self.nullable),)


@dataclass(frozen=True)
class Boolean(Column):
    """A column of two values.

    Parameters
    ----------
    name : str
    values : pair of str, optional
        How false and true are written. By default false and true, in any case, and 0 and 1.
    nullable, unconfirmed
        As in `Column`.
    """

    values: tuple | None = None
    kind: ClassVar[str] = "boolean"

    def __post_init__(self):
        super().__post_init__()
        if self.values is not None:
            self._set("values", distinct(self, self.values))
            if len(self.values) != 2:
                self._refuse(f"values must be two, false and true, got {len(self.values)}")

    def code_columns(self) -> tuple[CodeColumn, ...]:
        return (CodeColumn(self.name, values=self.values or ("false", "true"), nullable=self.nullable),)


@dataclass(frozen=True)
class Date(Column):
    """A column of dates, which become up to three columns of codes.

    Parameters
    ----------
    name : str
    low, high : str or datetime.date
        Public bounds, as YYYY-MM-DD; dates outside go to the first or the last bin.
    parts : sequence of {"age", "weekday", "month"}, default=all
        "age" is the number of days before `high`, in bins.
    edges : int, default=32
        Number of equally wide bins of the age.
    format : str, optional
        The format of dates, as in `datetime.datetime.strptime`, such as "%d/%m/%y" or "%Y%m%d", also of whole numbers
        such as 20201231; by default YYYY-MM-DD, with or without a time of day after it. Of numbers that count time,
        "seconds", "milliseconds", "microseconds" or "nanoseconds" since 1970, or "excel days".
    nullable, unconfirmed
        As in `Column`.
    """

    low: Any = None
    high: Any = None
    parts: tuple = PARTS
    edges: int = BINS
    format: str | None = None
    kind: ClassVar[str] = "date"

    def __post_init__(self):
        super().__post_init__()
        for name in ("low", "high"):
            value = getattr(self, name)
            try:
                value = value if isinstance(value, date) else date.fromisoformat(value)
            except (TypeError, ValueError):
                self._refuse(f"{name} must be a date, as YYYY-MM-DD, got {value!r}")
            self._set(name, value.isoformat()[:10])
        if not self.low < self.high:
            self._refuse(f"low must be before high, got {self.low} and {self.high}")
        parts = (self.parts,) if isinstance(self.parts, str) else tuple(self.parts)
        if not parts or len({*parts}) < len(parts) or not {*parts} <= {*PARTS}:
            self._refuse(f"parts must be some of {', '.join(PARTS)}, got {list(parts)!r}")
        self._set("parts", parts)
        if not _is_integer(self.edges) or not 2 <= self.edges <= MOST_CODES - 2:
            self._refuse(f"edges must be a number of bins in [2, {MOST_CODES - 2}], got {self.edges!r}")
        if self.format not in (None, *NUMBERED) and (not isinstance(self.format, str) or "%" not in self.format):
            forms = ", ".join(map(repr, NUMBERED))
            self._refuse(f'format must be one of strptime, as "%d.%m.%Y", or one of {forms}; got {self.format!r}')

    def code_columns(self) -> tuple[CodeColumn, ...]:
        days = (date.fromisoformat(self.high) - date.fromisoformat(self.low)).days
        age = Numeric(f"{self.name} age", low=0, high=days, edges=self.edges, integer=True, nullable=self.nullable)
        codes = {
            "age": lambda: age.code_columns()[0],
            "weekday": lambda: CodeColumn(f"{self.name} weekday", values=_WEEKDAYS, nullable=self.nullable),
            "month": lambda: CodeColumn(f"{self.name} month", values=_MONTHS, nullable=self.nullable),
        }
        return tuple(codes[part]() for part in self.parts)


def names_declared(column: Any) -> list[str]:
    """Return the names of the fields that a column, or a kind of columns, declares."""
    return [each.name for each in fields(column) if each.name != "unconfirmed"]


def text_of(value: Any) -> str:
    """Return a value as it is written in a file; whole floats have no decimal point."""
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, Real) and not isinstance(value, Integral) and float(value).is_integer():
        return str(int(float(value)))
    return str(value)


def coder(column: Any) -> Callable[[str], int | None]:
    """Return the function from texts to the codes of a column of values; None is for values that are not declared."""
    if isinstance(column, Boolean) and column.values is None:
        return _truth
    return places(column.values or ())


def places(texts: Iterable[str]) -> Callable[[str], int | None]:
    """Return the function from texts, with or without blanks around them, to their places among these, or None."""
    return partial(_place, names={text: k for k, text in enumerate(texts)})


def _place(text, names):
    return names.get(text, names.get(text.strip()))


def _truth(text):
    text = text.strip().lower()
    return _TRUTHS.get(text.rstrip("0").rstrip(".") or "0" if _WHOLE_TRUTH.fullmatch(text) else text)


def first_repeated(names):
    """Return the first name that occurs a second time, or None."""
    earlier = set()
    return next((name for name in names if name in earlier or earlier.add(name)), None)


def refuse_lacking(required, names):
    """Refuse a table with these columns if it lacks some of those that a schema declares."""
    there = {*names}
    lacking = [name for name in required if name not in there]
    if lacking:
        hint = hint_of(lacking[0], [name for name in names if name not in required]) if len(lacking) == 1 else ""
        raise ValueError(f"the table lacks columns that the schema declares: {listed([*map(repr, lacking)], 4)}{hint}")


def distinct(column, values, least=1):
    """Return values as text; refuse anything but a list that is long enough and has no repetitions."""
    if isinstance(values, str | dict) or not np.iterable(values):
        column._refuse(f"values must be a list, got {kind_of(values)}")
    values = tuple(None if value is None or value != value else text_of(value) for value in values)
    if None in values:
        column._refuse("values must not hold a missing one: declare the column nullable")
    if len(values) < least:
        column._refuse("values must be at least one, the list is empty")
    if (twice := first_repeated(values)) is not None:
        column._refuse(f"the value {twice!r} is there twice")
    return values


def rising(column, name, values, what="a list of finite numbers", least=0):
    """Return a list of finite, increasing numbers as floats; refuse anything else."""
    if isinstance(values, str | dict) or not np.iterable(values):
        column._refuse(f"{name} must be {what}, got {kind_of(values)}")
    values = tuple(values)
    is_fit = math.isfinite if {*map(type, values)} <= {float} else is_number  # the first one is fast
    if not least <= len(values) <= MOST_CODES - 2 or not all(map(is_fit, values)):
        column._refuse(f"{name} must be {what}{', at least one' * least}")
    if any(map(operator.ge, values, values[1:])):
        wrong = next(k for k in range(1, len(values)) if values[k - 1] >= values[k])
        column._refuse(f"{name} must rise, got {values[wrong - 1]!r} before {values[wrong]!r}")
    return tuple(map(float, values))


def _flag(column, name):
    value = getattr(column, name)
    if not isinstance(value, bool | np.bool_):
        column._refuse(f"{name} must be true or false, got {value!r}")
    return bool(value)


def _is_integer(value):
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_number(value):
    is_real = isinstance(value, (float, Real))  # floats first: to ask an abstract class is slow
    return is_real and not isinstance(value, bool) and math.isfinite(value)


def kind_of(value):
    return {dict: "a table", list: "a list", str: "text", type(None): "nothing"}.get(type(value), type(value).__name__)

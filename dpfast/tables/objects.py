"""Lists of Python objects as Arrow arrays, each value by itself.

Arrow infers the common type of a list from all of its values, so one value can change how the others are read. Here a
list with values of several kinds is refused, and the kind alone decides the type.
"""

from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import pyarrow as pa

_MISSING = ("NoneType", "NAType", "NaTType")  # types of missing values; the last two are of pandas
_UNITS = "datetime64", "timedelta64"  # of numpy, with a unit after it
_EXACT = 1 << 53  # beyond it, not all integers are floats
_TYPES = {  # by kind, for values that Arrow converts one by one
    "text": pa.large_string(),
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "time": pa.time64("us"),
    "timedelta": pa.duration("us"),
}


class Fault(ValueError):
    """An invalid value: its column, its row (from 0; None if the whole column is invalid) and what is wrong with it."""

    def __init__(self, column: str, what: str, row: int | None = None):
        self.column, self.what, self.row = column, what, row
        place = f"column {column!r}" if row is None else f"row {row + 1}, column {column!r}"
        super().__init__(f"{place} {what}")


def array_of(name: str, values: Sequence[Any]) -> pa.Array:
    """Return a list of values of one kind as an Arrow array; missing values, including NaN, are null.

    Values are truth values, numbers, texts, dates, datetimes without a zone, times or timedeltas, of Python or numpy.
    Others, and values of several kinds, are a Fault.
    """
    values = list(values)
    types = [each for each in dict.fromkeys(map(type, values)) if each.__name__ not in _MISSING]
    kind = _only_kind(name, values, types)
    if kind is None:
        return pa.nulls(len(values))
    if not kind.startswith(_UNITS) and any(map(_has_unit, types)):  # of what is missing
        values = [None if _is_missing(value) else value for value in values]
    if kind == "truth values":
        return pa.array([None if _is_missing(value) else bool(value) for value in values], pa.bool_())
    if kind == "numbers":
        found = _numbers(name, values, types)
        return found if found.null_count < len(found) else pa.nulls(len(found))  # NaN alone could be of any kind
    if kind.startswith(_UNITS):
        return pa.array(np.array([np.array("NaT", kind) if _is_missing(value) else value for value in values], kind))
    try:
        return pa.array(values, _TYPES[kind], from_pandas=True)
    except (pa.ArrowException, ValueError, OverflowError):
        raise Fault(name, f"holds {kind} that Arrow cannot hold") from None


def _only_kind(name, values, types):
    """Return the kind of all values, or None if all are missing."""
    if any(issubclass(each, Decimal) for each in types):
        raise Fault(name, "holds Decimal objects, whose scale would be read off all rows; give them as floats or text")
    timed = any(issubclass(each, datetime | time) for each in types)
    if timed and any(getattr(value, "tzinfo", None) is not None for value in values):
        raise Fault(name, "holds times with zones, and one would become all rows'; give them in UTC, without a zone")
    first = None
    if len({_kind(each) for each in types}) > 1 or any(map(_has_unit, types)):
        for row, value in enumerate(values):
            if _is_missing(value):
                continue
            kind = str(value.dtype) if _has_unit(type(value)) else _kind(type(value))
            if first not in (None, kind):
                raise Fault(name, f"mixes kinds of values: {kind} here, {first} before; make them one kind", row)
            first = kind
    elif types:
        first = _kind(types[0])
    if first is not None and not first.startswith(_UNITS) and first not in ("truth values", "numbers", *_TYPES):
        raise Fault(name, f"holds values that a table does not, {first}; make them numbers, texts or dates")
    return first


def _kind(of):
    """Return the kind of the values of a type, or its name if a table cannot hold it."""
    known = (
        ("truth values", bool | np.bool_),
        ("numbers", Real),
        ("text", str),
        ("datetime", datetime),
        ("date", date),
        ("time", time),
        ("timedelta", timedelta),
    )
    return next((kind for kind, each in known if issubclass(of, each)), of.__name__)


def _has_unit(of):
    return issubclass(of, np.datetime64 | np.timedelta64)


def _numbers(name, values, types):
    """Return integers if all numbers are integers, else floats; a number has the same text and float in both."""
    whole = [issubclass(each, Integral) for each in types]
    if not all(whole):
        if any(whole):
            large = (isinstance(value, Integral) and abs(int(value)) > _EXACT for value in values)
            row = next((row for row, is_large in enumerate(large) if is_large), None)
            if row is not None:
                raise Fault(name, "holds an integer beyond 2**53 beside floats; give all as text, or as floats", row)
        return pa.array([None if _is_missing(value) else float(value) for value in values], pa.float64())
    for of in (pa.int64(), pa.uint64()):
        try:
            return pa.array(values, of, from_pandas=True)
        except (pa.ArrowException, OverflowError):
            continue
    raise Fault(name, "holds integers beyond 64 bits; give them as text, or as floats")


def _is_missing(value):
    if type(value).__name__ in _MISSING:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating) and bool(value != value)

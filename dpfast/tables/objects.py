"""Cells without a declared type: lists, and arrays and series of objects.

Arrow and numpy infer the common type of a list from all of its values, so one value can change how the others are read.
Here each value is read by itself, and only by its own type. A column of features becomes text, as in a file, unless
Arrow has a type with which all of its values read the same; what no table holds is refused.

The *identity* of a cell is a text that two cells have in common only if they are the same: the same text, the same
number in any type and width, or the same truth value. Units and labels are told apart by it.
"""

import math
import re
from collections.abc import Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any
from uuid import UUID

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.tables.columns import text_of

_SURROGATE = re.compile("[\ud800-\udfff]")
_MISSING = ("NoneType", "NAType", "NaTType")  # types of missing values; the last two are of pandas
_UNITS = "datetime64", "timedelta64"  # of numpy, with a unit after it
_EXACT = 1 << 53  # beyond it, not all integers are floats
_TEXT = pa.large_string()
_TYPES = {  # by kind, for values that Arrow converts one by one
    "text": _TEXT,
    "date": pa.date32(),
    "datetime": pa.timestamp("us"),
    "time": pa.time64("us"),
    "timedelta": pa.duration("us"),
}
_AS_IN_A_FILE = {"text", "numbers", "truth values", "date", "datetime"}  # kinds that a column may mix
_PLAIN = {str: _TEXT, bool: pa.bool_(), int: pa.int64(), float: pa.float64()}  # types that Arrow reads one by one
NUMBER, TRUTH, OTHER, _ESCAPED = "\0n", "\0b", "\0o", "\0\0"  # before identities of what is no plain text
_KNOWN = (date, time, timedelta, np.datetime64, np.timedelta64, UUID, bytes)  # further values that have identities


class Fault(ValueError):
    """An invalid value: its column, its row (from 0; None if the whole column is invalid) and what is wrong with it."""

    def __init__(self, column: str, what: str, row: int | None = None):
        self.column, self.what, self.row = column, what, row
        place = f"column {column!r}" if row is None else f"row {row + 1}, column {column!r}"
        super().__init__(f"{place} {what}")


def identity(value: Any) -> str | None:
    """Return the identity of a cell; None if it is missing; raise TypeError for a value that has none."""
    if is_missing(value):
        return None
    if isinstance(value, str):
        return _ESCAPED + value if value.startswith("\0") else str(value)
    if isinstance(value, bool | np.bool_):
        return TRUTH + text_of(value)
    if isinstance(value, _KNOWN):
        return f"{OTHER}{_kind(type(value))} {value.hex() if isinstance(value, bytes) else value}"
    if isinstance(value, Real | Decimal):
        return NUMBER + _number(value)
    raise TypeError(f"{type(value).__name__} objects, which cannot be told apart; give texts or numbers")


def plain(identity: str) -> str:
    """Return the text of a cell, as it is written in a file, from its identity."""
    if not identity.startswith("\0"):
        return identity
    return identity.split(" ", 1)[1] if identity.startswith(OTHER) else identity[2:]


def _number(value):
    """Return a number as text; equal numbers have the same text."""
    if isinstance(value, Integral):
        return str(int(value))
    try:
        near = float(value)
    except OverflowError:
        return str(value)
    return text_of(near) if near == value else str(value)  # a Fraction, say


def array_of_one_type(values: Sequence[Any]) -> pa.Array | None:
    """Return a list as an Arrow array if all of it is of one plain type of Python or missing, else None."""
    types = {each for each in set(map(type, values)) if each.__name__ not in _MISSING}
    if len(types) > 1 or not types <= _PLAIN.keys():
        return None
    try:
        return pa.array(values, _PLAIN[types.pop()] if types else pa.null(), from_pandas=True)
    except (pa.ArrowException, ValueError, OverflowError):
        return None


def array_of(name: str, values: Sequence[Any]) -> pa.Array:
    """Return a list of values as an Arrow array; missing values, including NaN, are null.

    Values are truth values, numbers, texts, dates, datetimes without a zone, times or timedeltas, of Python or numpy.
    Texts, numbers, truth values and dates and datetimes of Python may be mixed; each is then a text, as in a file, of
    which every column reads what it reads of the value. Others, and other mixtures, are a Fault.
    """
    values = list(values)
    types = [each for each in dict.fromkeys(map(type, values)) if each.__name__ not in _MISSING]
    kinds = {_kind(each) for each in types}
    _refuse_zones(name, values, types)
    if len(kinds) > 1 and kinds <= _AS_IN_A_FILE:
        return _as_texts(name, values)
    kind = _one_kind(name, values, types)
    if kind is None:
        return pa.nulls(len(values))
    if not kind.startswith(_UNITS) and any(map(_has_unit, types)):  # of what is missing
        values = [None if is_missing(value) else value for value in values]
    if kind == "truth values":
        return pa.array([None if is_missing(value) else bool(value) for value in values], pa.bool_())
    if kind == "numbers":
        array = _numbers(values, types)
        if array is None:
            return _as_texts(name, values)
        return array if array.null_count < len(array) else pa.nulls(len(array))  # NaN alone could be of any kind
    if kind.startswith(_UNITS):
        return pa.array(np.array([np.array("NaT", kind) if is_missing(value) else value for value in values], kind))
    try:
        return pa.array(values, _TYPES[kind], from_pandas=True)
    except (pa.ArrowException, ValueError, OverflowError):
        raise _not_held(name, values, kind) from None


def _refuse_zones(name, values, types):
    timed = any(issubclass(each, datetime | time) for each in types)
    if timed and any(getattr(value, "tzinfo", None) is not None for value in values):
        raise Fault(name, "holds times with zones, and one would become all rows'; give them in UTC, without a zone")


def _one_kind(name, values, types):
    """Return the kind of all values, or None if all are missing."""
    first = None
    if len({_kind(each) for each in types}) > 1 or any(map(_has_unit, types)):
        for row, value in enumerate(values):
            if is_missing(value):
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
    kinds = (
        ("truth values", bool | np.bool_),
        ("numbers", Real | Decimal),
        ("text", str),
        ("datetime", datetime),
        ("date", date),
        ("time", time),
        ("timedelta", timedelta),
    )
    return of.__name__ if _has_unit(of) else next((kind for kind, each in kinds if issubclass(of, each)), of.__name__)


def _has_unit(of):
    return issubclass(of, np.datetime64 | np.timedelta64)


def _numbers(values, types):
    """Return integers if all numbers are integers, else floats; None if there is one that reads otherwise as a text.

    A number has the same text and float in both.
    """
    whole = [issubclass(each, Integral) for each in types]
    if any(issubclass(each, Decimal) for each in types):
        return None
    if all(whole):
        try:
            array = pa.array(values, pa.int64(), from_pandas=True)
        except (pa.ArrowException, OverflowError):
            return None
        ends = pc.min_max(array)
        return array if ends["min"].as_py() >= -_EXACT and ends["max"].as_py() <= _EXACT else None
    if any(whole) and any(isinstance(value, Integral) and abs(int(value)) > _EXACT for value in values):
        return None
    if types == [float]:
        return pa.array(values, pa.float64(), from_pandas=True)
    return pa.array([None if is_missing(value) else _float(value) for value in values], pa.float64())


def _float(value):
    """Return a real number as a float: infinity if it is too large, as it is for the other types."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _as_texts(name, values):
    """Return values as texts, each as it is written in a file."""
    try:
        return pa.array([None if is_missing(value) else _text(value) for value in values], _TEXT)
    except (pa.ArrowException, ValueError, OverflowError):
        raise _not_held(name, values, "a value") from None


def _not_held(name, values, kind):
    """Return the fault of a column of values that Arrow cannot hold."""
    row = next((k for k, value in enumerate(values) if isinstance(value, str) and _SURROGATE.search(value)), None)
    if row is None:
        return Fault(name, f"holds {kind} that Arrow cannot hold")
    return Fault(
        name,
        "holds half of a surrogate pair, which is no character: read the file with its encoding, or replace what is "
        'none by text.encode("utf-8", "replace").decode()',
        row,
    )


def _text(value):
    if isinstance(value, date):  # or a datetime
        value = pa.array([value], _TYPES[_kind(type(value))]).to_pylist()[0]
    inexact = isinstance(value, Real | Decimal) and not isinstance(value, Integral)
    return text_of(_float(value) if inexact else value)


def is_missing(value: Any) -> bool:
    """Return whether a cell is missing: None, NaN, or a missing value of pandas or numpy."""
    if type(value).__name__ in _MISSING:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and bool(value != value)

"""Types of Arrow, and of pandas and polars by way of Arrow: as what the cells of each are read."""

from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.tables.objects import Fault

DAY_TYPES = (pa.types.is_date, pa.types.is_timestamp)
TIME_TYPES = (pa.types.is_time, pa.types.is_duration)
NUMBER_TYPES = (*(pa.types.is_integer, pa.types.is_floating), *(pa.types.is_decimal, pa.types.is_boolean))
_TEXT_TYPES = (
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    *(pa.types.is_boolean, pa.types.is_null),
)
_PERIOD, _INTERVAL = "pandas.period", "pandas.interval"
_CALENDAR = pa.month_day_nano_interval()
_TEXT = pa.large_string()
_DAYS_OF_MONTH = 30
_WIDTHS = {"i": (1, 2, 4, 8), "u": (1, 2, 4, 8), "f": (4, 8), "b": (1,)}  # bytes of numbers that Arrow takes
_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def reads_of(name: str, kind: pa.DataType) -> str:
    """Return as what cells of an Arrow type are read: "number", "integer", "date" or "text"."""
    reads, kind = _reads(kind)
    if reads is None:
        raise Fault(
            name, f"holds {kind}, which is no number, text, date, time or truth value: make it one, or leave it out"
        )
    return reads


@lru_cache(maxsize=256)
def _reads(kind):
    """Return as what cells of a type are read, or None, and the type of one."""
    kind = _ordinary_type(kind)
    if pa.types.is_dictionary(kind):
        kind = _ordinary_type(kind.value_type)
    if pa.types.is_integer(kind):
        return "integer", kind
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind) or any(is_type(kind) for is_type in TIME_TYPES):
        return "number", kind
    if any(is_type(kind) for is_type in DAY_TYPES):
        return "date", kind
    return "text" if any(is_type(kind) for is_type in _TEXT_TYPES) else None, kind


def _ordinary_type(kind):
    """Return the type that `as_ordinary` gives a column of this type."""
    if isinstance(kind, pa.RunEndEncodedType):
        return _ordinary_type(kind.value_type)
    if kind == _CALENDAR:
        return pa.float64()
    if not isinstance(kind, pa.BaseExtensionType):
        return kind
    if kind.extension_name == _PERIOD:
        return pa.timestamp("s")
    if kind.extension_name == _INTERVAL:
        return _ordinary_type(kind.storage_type.field("left").type)
    return pa.bool_() if kind.extension_name == "arrow.bool8" else _ordinary_type(kind.storage_type)


def as_ordinary(array: pa.Array) -> pa.Array:
    """Return a column without encodings of runs and types of extensions, and text as a type of which rows can be taken.

    A period is the time when it begins, and an interval the number or the time at which it does. Of an interval of the
    calendar, months count 30 days, and the result is a number of seconds.
    """
    kind = array.type
    if pa.types.is_string_view(kind):
        return array.cast(_TEXT)
    if pa.types.is_dictionary(kind):
        if (plain := as_ordinary(array.dictionary)) is not array.dictionary:
            return pa.DictionaryArray.from_arrays(array.indices, plain)
        return array
    if isinstance(kind, pa.RunEndEncodedType):
        return as_ordinary(pc.run_end_decode(array))
    if kind == _CALENDAR:
        return pa.array([None if each is None else _seconds(each) for each in array.to_pylist()], pa.float64())
    if not isinstance(kind, pa.BaseExtensionType):
        return array
    if kind.extension_name == _PERIOD:
        return _starts(array)
    if kind.extension_name == _INTERVAL:
        starts = pc.struct_field(array.storage, "left")
        return as_ordinary(pc.if_else(array.is_valid(), starts, pa.scalar(None, starts.type)))
    if kind.extension_name == "arrow.bool8":
        return pc.not_equal(array.storage, 0)
    return as_ordinary(array.storage)


def _seconds(calendar):
    months, days, nanoseconds = calendar
    return 86400.0 * (_DAYS_OF_MONTH * months + days) + nanoseconds / 1e9


def _starts(array):
    """Return the times, in whole seconds, when periods of pandas begin."""
    import pandas as pd

    ordinals = array.storage.fill_null(0).to_numpy(zero_copy_only=False)
    starts = pd.arrays.PeriodArray(ordinals, pd.PeriodDtype(array.type.freq)).to_timestamp(how="start")
    missing = array.is_null().to_numpy(zero_copy_only=False)
    return pa.array(np.asarray(starts).astype("M8[s]"), pa.timestamp("s"), mask=missing)


def seconds_or_hours(array: pa.Array) -> np.ndarray:
    """Return durations as numbers of seconds and times of day as numbers of hours, as of texts; missing as NaN."""
    kind = array.type
    whole = array.cast(pa.int32()).cast(pa.int64()) if kind.bit_width == 32 else array.cast(pa.int64())
    values = whole.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return values / (_PER_SECOND[kind.unit] * (3600 if pa.types.is_time(kind) else 1))


def has_types_of_pandas(schema: pa.Schema) -> bool:
    """Return whether a schema has periods or intervals of pandas that Arrow does not know yet; then make them known."""
    metadata = [each.metadata or {} for each in schema]
    if not any(each.get(b"ARROW:extension:name", b"").startswith(b"pandas.") for each in metadata):
        return False
    import pandas as pd

    pa.array(pd.array([], dtype="period[D]"))  # which registers them
    return True


def without_byte_order(values: Any) -> Any:
    """Return an array or series of numbers or times of another byte order in that of the machine, else unchanged."""
    dtype = getattr(values, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind in "iufmMU" and not dtype.isnative:
        return np.asarray(values).astype(dtype.newbyteorder("="))
    return values


def are_plain_numbers(values: Any) -> bool:
    """Return whether this is an array of one dimension or a series of pandas with numbers that Arrow takes as they are.

    Halves are not among them: whether Arrow reads them depends on its version.
    """
    dtype = getattr(values, "dtype", None)
    if not isinstance(dtype, np.dtype) or dtype.itemsize not in _WIDTHS.get(dtype.kind, ()):
        return False
    return dtype.isnative and (hasattr(values, "iloc") or type(values) is np.ndarray) and values.ndim == 1

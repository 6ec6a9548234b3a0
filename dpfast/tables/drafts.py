"""Drafts of a schema for the owner of a table, and the differences between a table and a schema.

Both read all rows and report what they find. Neither is private, and no learner uses them.
"""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.parts.blocks import slices
from dpfast.tables.arrow import Frame, days, numbers, texts
from dpfast.tables.cells import LABEL_MARKS, text_cells
from dpfast.tables.columns import Boolean, Category, Column, Date, Numeric, coder, text_of
from dpfast.tables.discovered import Discovered
from dpfast.tables.labels import missing_labels
from dpfast.tables.naming import listed, not_there, suggests_person
from dpfast.tables.objects import Fault

MARKS = ("", " ", *(mark for mark in LABEL_MARKS if mark), "-")  # what a draft takes for missing if it occurs
MOST_VALUES = 1000  # of a category in a draft; a column with more is left out
FORMATS = (  # of dates; None is YYYY-MM-DD. Two digits of a year come first, as four would be read of them, too
    *(None, "%d.%m.%y", "%d.%m.%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d"),
)
_GLANCE, LOOK = 1000, 100_000  # rows that are read first, and rows that remarks are about
NEARLY = 0.95  # of the rows
_MOST_WORDS = 0.5  # of very many values among numbers and dates, so that these are not left out
FEW = 20  # values, whatever the number of rows
_YEARS_OF_DATES = 1900, 2100  # of whole numbers such as 20201231


def make_draft(
    table: Any, label: str | None = None, missing: Sequence[str] = ()
) -> tuple[list[Column], tuple[str, ...] | None, list[str], list[str]]:
    """Return a draft: columns, classes of the label, marks of missing values, and columns to ignore."""
    frame = Frame(table)
    if label is not None and label not in frame.names:
        raise ValueError(not_there(label, frame.names))
    if not frame.n:
        raise ValueError("the table has no rows")
    marks = marks_of(missing)
    marks_present: set[str] = set()
    columns, ignored, classes = [], [], None
    for name in frame.names:
        pieces = frame.pieces(name, LOOK)
        values = None if name == label else _numbers(name, frame.n, pieces, marks)
        if name == label:
            of_label = tuple(dict.fromkeys((*LABEL_MARKS, *missing)))
            marks_present = marks_present.union(*(_marks_in(piece(), of_label) for piece in pieces))
            classes = classes_in(table, name, missing)
            continue
        if values is None or np.isnan(values).any():
            marks_present = marks_present.union(*(_marks_in(piece(), marks) for piece in pieces))
        different = values_to_look_at(frame, name) if values is None else np.unique(values)
        if suggests_person(name) and len(different) > FEW:  # whose rows they are is the unit, and nothing to learn
            ignored.append(name)
            continue
        column = _suggest_column(name, different, frame.n, marks) if values is None else _suggest_number(name, values)
        if column is None:
            ignored.append(name)
        else:
            columns.append(column)
    return columns, classes, [mark for mark in marks if mark in marks_present] or [""], ignored


def classes_in(table: Any, label: str, missing: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the labels that occur, stripped of blanks."""
    frame = Frame(table)
    return values_of(label, values_to_look_at(frame, label), tuple(dict.fromkeys((*LABEL_MARKS, *missing))))


def spelled_as(table: Any, draft: Any, missing: Sequence[str] = ()) -> Any:
    """Return a draft whose values are written as in this table of the same rows, in which no text was changed."""
    frame = Frame(table)
    names = [each.name for each in draft.columns if isinstance(each, Category)]
    return draft.with_facts(
        {name: {"values": values_of(name, values_to_look_at(frame, name), marks_of(missing))} for name in names}
    )


def check(schema: Any, table: Any) -> list[str]:
    """Return the differences of `Schema.check`."""
    frame, findings = Frame(table), []
    declared = schema.label
    label = declared.name if declared else None
    names = {*schema.names, *schema.ignore, label}
    findings += [f"column {name!r} is in the table, and not in the schema" for name in frame.names if name not in names]
    for column in schema.columns:
        if column.name not in frame.names:
            findings.append(f"column {column.name!r} is in the schema, and not in the table")
            continue
        try:
            findings += _differences(column, frame.column(column.name), schema.missing_values)
        except Fault as fault:
            findings.append(str(fault))
    if label is not None and label not in frame.names:
        findings.append(f"the label {label!r} is in the schema, and not in the table")
    elif declared is not None and label is not None:
        marks = missing_labels(declared.classes, schema.missing_values)
        index, values = texts(label, frame.column(label), marks)
        if declared.classes is not None:
            classes = {*map(text_of, declared.classes)}
            findings += _find_unknown(label, index, values, lambda value: value.strip() in classes or value in classes)
    return findings


def marks_of(missing: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*MARKS, *missing)))


def _suggest_column(name: str, array: pa.Array, rows: int, marks: tuple[str, ...]) -> Column | None:
    """Return the column that the name and type of what is no number suggest; None for one that should be left out.

    Of texts, `array` has each once.
    """
    if pa.types.is_dictionary(array.type):
        values = tuple(text_of(value) for value in array.dictionary.to_pylist() if value is not None)
        return Category(name, values, nullable=True, unconfirmed=("values",)) if values else None
    if pa.types.is_boolean(array.type):
        return Boolean(name, nullable=True)
    if pa.types.is_nested(array.type) or pa.types.is_binary(array.type) or array.null_count == len(array):
        return None
    for format in FORMATS:
        with suppress(Fault):
            return _date(name, array, format, marks)
    values = values_of(name, array, marks)
    if not values:
        return None
    if {value.lower() for value in values} <= {"false", "true"}:
        return Boolean(name, nullable=True, unconfirmed=("kind",))
    too_many = len(values) > min(MOST_VALUES, max(FEW, rows // 2))
    if len(values) > FEW and len(read_as_words(values)) < (_MOST_WORDS if too_many else 1 - NEARLY) * len(values):
        return Discovered(name, unconfirmed=("kind",))  # numbers or dates by the form of each cell, such as 13:05
    if too_many:
        return None
    return Category(name, values, nullable=True, unconfirmed=("values", "kind"))


def values_of(name: str, array: pa.Array, marks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values that occur, stripped of blanks."""
    _, found = texts(name, array, marks)
    return tuple(sorted({value.strip() for value in found if value is not None} - {*marks}))


def read_as_words(values):
    """Return the values that are words if nothing is declared, neither numbers nor dates, in order."""
    words = {*text_cells(pa.array(values, pa.large_string()))[1]} if values else set()
    return [value for value in values if value in words]


def values_to_look_at(frame, name):
    """Return a column, or each value once, if it is text."""
    pieces = frame.pieces(name, LOOK)
    if not is_text(pieces[0]().type):
        return frame.column(name)
    return pc.unique(pa.chunked_array([pc.unique(piece()) for piece in pieces])).drop_null()


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _numbers(name, n, pieces, marks):
    """Return the numbers of a column of n numbers; None for a column of something else, or of nothing."""
    values, start = np.empty(n), 0
    try:
        for piece in pieces:
            array = piece()
            if pa.types.is_dictionary(array.type) or pa.types.is_boolean(array.type):
                return None
            if not start:
                numbers(name, array.slice(0, _GLANCE), marks)  # refuses words early
            values[start : start + len(array)] = numbers(name, array, marks)
            start += len(array)
    except Fault:
        return None
    return values if np.isfinite(values).any() else None


def _numeric(name, values):
    finite = np.isfinite(values)
    values = values if finite.all() else values[finite]
    low, high = values.min(), values.max()
    if low >= 0 and high <= 1 and np.isin(values, (0, 1)).all():
        return Boolean(name, nullable=True, unconfirmed=("kind",))
    whole = all((values[rows] == np.rint(values[rows])).all() for rows in slices(len(values), LOOK))
    if low == high or (whole and len(values) > 20 and _numbers_rows(values, low, high)):
        return None
    low, high = (int(low), int(high)) if whole and max(abs(low), abs(high)) < 1 << 53 else (float(low), float(high))
    return Numeric(name, low, high, integer=whole, nullable=True, unconfirmed=("low", "high", "integer", "kind"))


def _suggest_number(name, values):
    """Return a column of numbers, or of dates if all of them are such as 20201231 or 20201231103000."""
    whole = values[np.isfinite(values)]
    for format, places in (("%Y%m%d", 10**4), ("%Y%m%d%H%M", 10**8), ("%Y%m%d%H%M%S", 10**10)):
        low, high = (places * year for year in _YEARS_OF_DATES)
        if len(whole) and whole.min() >= low and whole.max() < high and (whole == np.rint(whole)).all():
            written = pa.array(np.unique(whole).astype(np.int64)).cast(pa.string())
            with suppress(Fault):
                return _date(name, written, format, ())
    return _numeric(name, values)


def _numbers_rows(values, low, high):
    """Return whether each integer from the least to the largest number occurs once, as for row numbers."""
    return high - low + 1 == len(values) == len(np.unique(values))


def _date(name, array, format, marks):
    """Return a column of dates of this format, or None if all are the same; others are a Fault."""
    days(name, array.slice(0, _GLANCE), format, marks)  # refuses most others early
    values = days(name, array, format, marks)
    values = values[np.isfinite(values)].astype("datetime64[D]")
    if not values.size:
        raise Fault(name, "holds no dates")
    if values.min() == values.max():
        return None
    ends, guessed = (str(values.min()), str(values.max())), ("low", "high")
    guessed += ("kind",) if is_text(array.type) else ()
    guessed += ("format",) if format is not None else ()
    return Date(name, *ends, format=format, nullable=True, unconfirmed=guessed)


def _marks_in(array, marks):
    """Return the marks that occur in a column."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary
    if not is_text(array.type):
        return set()
    return {*pc.unique(array.filter(pc.is_in(array, value_set=pa.array(marks, array.type)))).to_pylist()}


def _differences(column, array, marks):
    name, findings = column.name, []
    if isinstance(column, Numeric):
        values = numbers(name, array, marks)
        missing = np.isnan(values)
        findings += [] if column.low is None else _count(name, values < column.low, f"numbers below {column.low:g}")
        findings += [] if column.high is None else _count(name, values > column.high, f"numbers above {column.high:g}")
    elif isinstance(column, Date):
        values = days(name, array, column.format, marks)
        missing = np.isnan(values)
        low, high = (np.datetime64(end).astype(int) for end in (column.low, column.high))
        findings += _count(name, values < low, f"dates before {column.low}")
        findings += _count(name, values > high, f"dates after {column.high}")
    else:
        index, values = texts(name, array, marks)
        missing, code = index < 0, coder(column)
        if not (isinstance(column, Category) and column.values is None):
            findings += _find_unknown(name, index, values, lambda value: code(value) is not None)
    return ([] if column.nullable else _count(name, missing, "missing values, and is not nullable")) + findings


def _count(name, rows, what):
    count = int(rows.sum())
    return [f"column {name!r} has {count:,} {what}"] if count else []


def _find_unknown(name, index, values, knows):
    unknown = [k for k, value in enumerate(values) if value is not None and not knows(value)]
    rows = np.isin(index, unknown)
    if not rows.any():
        return []
    return _count(name, rows, f"values that are not declared: {listed([repr(values[k]) for k in unknown], 4)}")

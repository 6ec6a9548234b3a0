"""Drafts of a schema for the owner of a table, and the differences between a table and a schema.

Both read all rows and report what they find. Neither is private, and no learner uses them.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.parts.blocks import slices
from dpfast.tables.arrow import Frame, days, numbers, texts
from dpfast.tables.cells import LABEL_MARKS, text_cells
from dpfast.tables.columns import BINS, Boolean, Category, Column, Date, Numeric, coder, text_of
from dpfast.tables.dates import ORDERS, iso_dates
from dpfast.tables.discovered import Discovered
from dpfast.tables.labels import missing_labels
from dpfast.tables.naming import NAMELESS, alike, listed, not_there, suggests_code, suggests_person
from dpfast.tables.objects import Fault

# what a draft takes for missing if it occurs
MARKS = ("", " ", "?", "-", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "<NA>", "NaT")
MOST_VALUES = 1000  # of a category in a draft; a column with more is left out
FORMATS = (  # of dates; None is YYYY-MM-DD. Two digits of a year come first, as four would be read of them, too
    *(None, "%d.%m.%y", "%d.%m.%Y", "%d/%m/%y", "%m/%d/%y", "%d-%m-%y", "%m-%d-%y"),
    *("%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d"),
)
MOST_ODD = 3  # texts in a column of numbers that may mark missing values
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,([0-9]{1,2}|[0-9]{4,})")  # not a separator of thousands
_GLANCE, LOOK = 1000, 100_000  # rows that are read first, and rows that remarks are about
_NEARLY, _MOST = 0.95, 0.5  # shares of the rows
_FEW = 20  # values, whatever the number of rows
_REPEATS, _APART = 1.5, 5  # rows of a value on average, and places for each, of what may be numbers of persons
_ROWS_OF_ONE = 20  # on average, from which a code is not taken to say whose a row is
_DATE = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})(?![0-9])")
_SHORT_YEAR = re.compile(r"[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2}(?![0-9])")
_YEARS_OF_DATES = 1900, 2100  # of whole numbers such as 20201231
_DATE_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_AMOUNT = re.compile(  # a number that is written with separators of thousands, a decimal comma or a unit, or without
    r"[+-]?[$€£¥]?\s?([0-9]+|[1-9][0-9]{0,2}([ ,.'\u2019\u00a0\u202f][0-9]{3})+)([.,][0-9]+)?\s?[%$€£¥]?"
)


def make_draft(
    table: Any, label: str | None = None, missing: Sequence[str] = ()
) -> tuple[list[Column], tuple[str, ...] | None, list[str], list[str]]:
    """Return a draft: columns, classes of the label, marks of missing values, and columns to ignore."""
    frame = Frame(table)
    if label is not None and label not in frame.names:
        raise ValueError(not_there(label, frame.names))
    if not frame.n:
        raise ValueError("the table has no rows")
    marks = _marks(missing)
    seen: set[str] = set()
    columns, ignored, classes = [], [], None
    for name in frame.names:
        pieces = frame.pieces(name, LOOK)
        values = None if name == label else _numbers(name, frame.n, pieces, marks)
        if name == label:
            of_label = tuple(dict.fromkeys((*LABEL_MARKS, *missing)))
            seen = seen.union(*(_marks_in(piece(), of_label) for piece in pieces))
            classes = _values(name, _values_to_look_at(frame, name), of_label)
            continue
        if values is None or np.isnan(values).any():
            seen = seen.union(*(_marks_in(piece(), marks) for piece in pieces))
        different = _values_to_look_at(frame, name) if values is None else np.unique(values)
        if suggests_person(name) and len(different) > _FEW:  # whose rows they are is the unit, and nothing to learn
            ignored.append(name)
            continue
        column = _suggest_column(name, different, frame.n, marks) if values is None else _suggest_number(name, values)
        if column is None:
            ignored.append(name)
        else:
            columns.append(column)
    return columns, classes, [mark for mark in marks if mark in seen] or [""], ignored


def almost_numeric(schema: Any, table: Any, missing: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return the columns of a draft that are numbers except for a few texts, and these texts, which may mark gaps."""
    frame, found = Frame(table), {}
    text = [column.name for column in schema.columns if isinstance(column, Category | Discovered)]
    for name in (*text, *schema.ignore):
        array = _values_to_look_at(frame, name)
        if _is_text(array.type):
            values = _values(name, array, _marks(missing))
            odd = [value for value in values if not _is_number(value) and not _AMOUNT.fullmatch(value)]
            if 0 < len(odd) <= MOST_ODD and len(values) > 10 * len(odd):
                found[name] = odd
    return found


def remarks(schema: Any, table: Any, missing: Sequence[str] = (), decimal: str = ".") -> list[str]:
    """Return texts with what the owner of a table should know of a draft.

    These are labels and values with two spellings, columns that may identify units, numbers and dates that are read as
    words because of their format, and long tails. Only the first 100,000 rows are read; `missing` is as in `draft`, and
    `decimal` is the decimal mark with which the table was read.
    """
    frame, tails, marks = Frame(table), [], _marks(missing)
    found, label = [], schema.label.name if schema.label else None
    spelled = {f"classes of the label {label!r}": (schema.label and schema.label.classes) or ()}
    spelled |= {
        f"values of column {each.name!r}": each.values or () for each in schema.columns if isinstance(each, Category)
    }
    for what, spellings in spelled.items():
        if same := alike(spellings):
            found.append(
                f"{what} differ only in capitals, blanks or the form of a number: {listed(same)}. If they mean the "
                "same, write them alike first"
            )
    if label is not None and label in frame.names:
        index, _ = texts(label, frame.column(label), missing_labels(schema.label.classes, schema.missing_values))
        if lacking := int((index < 0).sum()):
            found.append(f"{lacking:,} rows have no label in {label!r}, and a fit leaves them out")
    ends: dict[str, Any] = {each.name: (each.low, each.high) for each in schema.columns if isinstance(each, Numeric)}
    dates = {each.name for each in schema.columns if isinstance(each, Date | Discovered)}
    for name in frame.names:
        array = frame.column(name).slice(0, LOOK)
        if name == label or pa.types.is_nested(array.type) or pa.types.is_dictionary(array.type):
            continue
        values = None
        words = () if name in ends or not _is_text(array.type) else _values(name, array, marks)
        if name in ends:
            values = numbers(name, array, marks)
            values = values[np.isfinite(values)]
            if code := _with_leading_zeros(array):
                found.append(
                    f"column {name!r} has numbers with leading zeros, such as {code!r}. If they are codes and not "
                    'amounts, declare them: kind = "category", with their values'
                )
                continue
        elif amount := _amount(words, left := _read_as_words(words)):
            cure = "write them without separators of thousands and without units first"
            if decimal == ".":
                comma = any(_DECIMAL_COMMA.fullmatch(word) for word in left)
                mark = "the comma is their decimal mark" if comma else f"{cure}; if the comma is the decimal mark"
                cure = f"{mark}, give --decimal ,"
            found.append(
                f"column {name!r} holds numbers of which {_share(words, left)} are read as words, such as {amount!r}: "
                f"{cure}"
            )
            continue
        elif name not in dates and (order := _dates_order(words, left)):
            found.append(
                f"column {name!r} holds dates of which {_share(words, left)} are read as words, such as "
                f"{next(iter(left))!r}: {order}"
            )
            continue
        if name in dates:
            continue
        if (values is None or (values == np.rint(values)).all()) and (
            told := _remark_on_codes(name, array, words, schema)
        ):
            found.append(told)
            continue
        if values is not None and values.size:
            low, high = ends[name]
            if np.mean(values <= low + (high - low) / BINS) > _MOST:
                tails.append(name)
    if tails:
        found.append(
            f"most values of these columns fall into the first of {BINS} equal bins: {listed([*map(repr, tails)])}. "
            "HalfspaceClassifier reads them in finer ones; for other models declare edges, or spacing = "
            '"quantiles" to have them found privately'
        )
    return found


def _remark_on_codes(name, array, words, schema):
    """Return what to do about a column with very many different values, or None; only codes may say whose a row is."""
    known, different = len(array) - array.null_count, pc.count_distinct(array).as_py()
    unique = known > _FEW and different > _NEARLY * known
    how = "is different in nearly every row" if unique else f"has {different:,} different values in {known:,} rows"
    ignore = f"--ignore {name!r}"
    counts = pc.value_counts(array.drop_null()).field("counts").to_numpy()
    is_code = suggests_person(name) or suggests_code(name) or (unique and _are_codes(words))
    is_code = is_code or _repeats_like_persons(array, words, counts)
    if unique and NAMELESS.fullmatch(name):
        return f"column {name!r} {how} and has no name, as an index has none: leave it out: {ignore}"
    if is_code and different > _FEW and (different > known / _ROWS_OF_ONE or suggests_person(name)):
        most, usual = int(counts.max()), int(np.median(counts))
        rows = "" if most == 1 else f"; one has {usual:,} row{'s' * (usual != 1)} in the median and {most:,} at most"
        many = max(1, int(np.quantile(counts, _NEARLY)))
        return (
            f"column {name!r} {how}{rows}. Does it say whose a row is? Then protect persons: --unit {name!r} "
            f"--rows-per-unit {many}. If it is left out instead ({ignore}), rows of one person are protected one by one"
        )
    if unique and not len(words):
        return f"column {name!r} {how}. If it is a code and no amount, leave it out: {ignore}"
    if unique or (name in schema.ignore and different > MOST_VALUES):
        return (
            f"column {name!r} {how}, and few of them can be discovered. If they are of no use, leave it out: {ignore}"
        )
    return None


def _repeats_like_persons(array, words, counts):
    """Return whether values repeat as numbers of persons do: very many of them, most a few times, and far apart.

    Amounts that repeat lie close together, for there are hardly more of them than rows.
    """
    known, different = int(counts.sum()), len(counts)
    if different <= max(_FEW, known / _ROWS_OF_ONE) or known < _REPEATS * different:
        return False
    if len(words):
        return not any(re.search(r"\s", word) for word in words)
    try:
        whole = np.unique(array.drop_null().cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return False
    if not len(whole) or not (whole == np.rint(whole)).all() or np.abs(whole).max() > 2**53:
        return False
    steps = np.diff(whole.astype(np.int64))
    return bool(steps.sum() / np.gcd.reduce(steps) > _APART * different)


def _are_codes(words):
    """Return whether nearly all texts have a digit and no blank."""
    codes = [word for word in words if not re.search(r"\s", word) and re.search(r"\d", word)]
    return len(codes) > _NEARLY * len(words) > 0


def check(schema: Any, table: Any) -> list[str]:
    """Return the differences of `Schema.check`."""
    frame, findings = Frame(table), []
    declared = schema.label
    label = declared.name if declared else None
    known = {*schema.names, *schema.ignore, label}
    findings += [f"column {name!r} is in the table, and not in the schema" for name in frame.names if name not in known]
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


def _marks(missing: Sequence[str]) -> tuple[str, ...]:
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
    values = _values(name, array, marks)
    if not values:
        return None
    if {value.lower() for value in values} <= {"false", "true"}:
        return Boolean(name, nullable=True, unconfirmed=("kind",))
    if len(values) > _FEW and len(_read_as_words(values)) < (1 - _NEARLY) * len(values):
        return Discovered(name, unconfirmed=("kind",))  # numbers or dates by the form of each cell, such as 13:05
    if len(values) > min(MOST_VALUES, max(_FEW, rows // 2)):
        return None
    return Category(name, values, nullable=True, unconfirmed=("values", "kind"))


def _values(name: str, array: pa.Array, marks: tuple[str, ...]) -> tuple[str, ...]:
    """Return the values that occur, stripped of blanks."""
    _, found = texts(name, array, marks)
    return tuple(sorted({value.strip() for value in found if value is not None} - {*marks}))


def _read_as_words(values):
    """Return the values that are words if nothing is declared, neither numbers nor dates, in order."""
    words = {*text_cells(pa.array(values, pa.large_string()))[1]} if values else set()
    return [value for value in values if value in words]


def _share(values, left):
    return f"{len(left) / len(values):.0%} of the values"


def _amount(values, left):
    """Return a word that is a number except for separators or a unit, if nearly all values are numbers."""
    amounts = [value for value in values if _AMOUNT.fullmatch(value)]
    if len(amounts) <= _NEARLY * len(values):
        return None
    return next((value for value in amounts if value in {*left}), None)


def _dates_order(values, left):
    """Return what to do about dates that are read as words, if nearly all values are dates; else None."""
    dates = [value for value in values if _DATE.match(value)]
    if len(dates) <= _NEARLY * len(values) or not left:
        return None
    fits = [each for each in ORDERS if all(map(_DATE_ISO.match, map(iso_dates(each), left)))]
    if not fits:
        return "write all of them as YYYY-MM-DD first"
    short = "; years of two digits are read as 1969 to 2068" if any(map(_SHORT_YEAR.match, left)) else ""
    return (
        "give --dates " + (" or --dates ".join(fits) if len(fits) > 1 else f"{fits[0]}, which fits all of them") + short
    )


def _with_leading_zeros(array):
    """Return a text such as "01234" in a column of numbers, or None."""
    if not _is_text(array.type):
        return None
    found = array.filter(pc.match_substring_regex(array, r"^\s*0[0-9]+\s*$"))
    return found[0].as_py().strip() if len(found) else None


def _values_to_look_at(frame, name):
    """Return a column, or each value once, if it is text."""
    pieces = frame.pieces(name, LOOK)
    if not _is_text(pieces[0]().type):
        return frame.column(name)
    return pc.unique(pa.chunked_array([pc.unique(piece()) for piece in pieces])).drop_null()


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _numbers(name, n, pieces, marks):
    """Return the numbers of a column of n numbers; None for a column of something else, or of nothing."""
    values, done = np.empty(n), 0
    try:
        for piece in pieces:
            array = piece()
            if pa.types.is_dictionary(array.type) or pa.types.is_boolean(array.type):
                return None
            if not done:
                numbers(name, array.slice(0, _GLANCE), marks)  # refuses words early
            values[done : done + len(array)] = numbers(name, array, marks)
            done += len(array)
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
    """Return a column of numbers, or of dates if all of them are such as 20201231."""
    whole = values[np.isfinite(values)]
    low, high = (10_000 * year for year in _YEARS_OF_DATES)
    if len(whole) and whole.min() >= low and whole.max() < high and (whole == np.rint(whole)).all():
        written = pa.array(np.unique(whole).astype(np.int64)).cast(pa.string())
        with suppress(Fault):
            return _date(name, written, "%Y%m%d", ())
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
    guessed += ("kind",) if _is_text(array.type) else ()
    guessed += ("format",) if format is not None else ()
    return Date(name, *ends, format=format, nullable=True, unconfirmed=guessed)


def _marks_in(array, marks):
    """Return the marks that occur in a column."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary
    if not _is_text(array.type):
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

"""Remarks on a table for its owner: what a draft of a schema cannot say, and what should be written otherwise first.

They read rows and are private, like drafts.
"""

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.tables.arrow import Frame, numbers, texts
from dpfast.tables.columns import BINS, Category, Date, Numeric
from dpfast.tables.dates import EXCEL, ORDERS, days_of_numbers, iso_dates
from dpfast.tables.discovered import Discovered
from dpfast.tables.drafts import (
    FEW,
    LOOK,
    MOST_VALUES,
    NEARLY,
    is_text,
    marks_of,
    read_as_words,
    values_of,
    values_to_look_at,
)
from dpfast.tables.forms import NO_POINT
from dpfast.tables.labels import missing_labels
from dpfast.tables.naming import (
    NAMELESS,
    alike,
    listed,
    may_suggest_person,
    repeats_label,
    short_for,
    suggests_code,
    suggests_person,
)

MOST_ODD = 3  # texts in a column of numbers that may mark missing values
_DECIMAL_COMMA = re.compile(r"[+-]?[0-9]+,([0-9]{1,2}|[0-9]{4,})")  # not a separator of thousands
_MOST = 0.5  # of the rows
_REPEATS, _APART = 1.5, 5  # rows of a value on average, and places for each, of what may be numbers of persons
_ROWS_OF_ONE = 20  # on average, from which a code is not taken to say whose a row is
_DATE = re.compile(r"[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}|[0-9]{1,2}[-/.][0-9]{1,2}[-/.]([0-9]{4}|[0-9]{2})(?![0-9])")
_SHORT_YEAR = re.compile(r"[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2}(?![0-9])")
_DATE_ISO = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_AMOUNT = re.compile(  # a number that is written with separators of thousands, a decimal comma or a unit, or without
    r"[+-]?[$€£¥]?\s?([0-9]+|[1-9][0-9]{0,2}([ ,.'\u2019\u00a0\u202f][0-9]{3})+)([.,][0-9]+)?\s?[%$€£¥]?-?"
)
_WITH_UNIT = re.compile(  # or a sign, or neither
    r"(?:(?P<before>[<>\u2264\u2265]=?|')\s?)?[+-]?[$€£¥]?[0-9][0-9.,' ]*?\s?(?P<unit>/?[^\W\d_][^\d\s]{0,9}|[+*½¼¾])?"
)
_PAIR = re.compile(r"[0-9]+(?:[.,][0-9]+)?\s?[-/x\xd7:'\u2013\u2032\xb1]\s?[0-9]+(?:[.,][0-9]+)?[\"\u2033\u201d]?")
_FRACTION = re.compile(r"(?<![\d.,])\d+[.,]\d+(?![\d.,])")  # and no address such as 10.0.0.1
_POINTED = re.compile(rf"[+-]?[0-9]*{NO_POINT}[0-9]+")  # a number with a point beside a decimal comma
_CLOCK = re.compile(r"[0-9]{1,4}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?")
_WITH_BLANKS = re.compile(r"(?=(.*\d){4})[\w+()/.-]+( [\w+()/.-]+){1,3}")  # a code such as +49 170 1234567
_LONG_CODE = re.compile(r"[A-Z]?[0-9]{5,}[A-Z]?")
_SEVERAL = re.compile(r"[^;|,]*[^\d;|,][^;|,]*([;|,])")  # answers, and what divides them
_MOST_ANSWERS = 30
_ENDINGS = {*"senr", "es", "en", "rs", "our", "ours", "ear", "ears", "ay", "ays"}  # of units that mean the same
_NO_UNITS = {*"NSWEkKMB", "bn", "mn", "am", "pm", "AM", "PM", "a.m.", "p.m."}  # of the compass, thousands and a clock
_SECONDS = (9.4e8, 2.1e9)  # since 1970, from 1999 to 2036
_EXCEL_DAYS = np.array(["1970-01-01", "2050-01-01"], "M8[D]")
_OF_DAYS = re.compile("date|datum|day|tag|dob|birth|geb|fecha|jour|since|seit|serial|admi|start|end", re.IGNORECASE)
_LIMIT = re.compile(r"[<>\u2264\u2265]=?\s?[0-9].*")


def almost_numeric(schema: Any, table: Any, missing: Sequence[str] = ()) -> dict[str, list[str]]:
    """Return the columns of a draft that are numbers except for a few texts, and these texts, which may mark gaps."""
    frame, found = Frame(table), {}
    text = [column.name for column in schema.columns if isinstance(column, Category | Discovered)]
    for name in (*text, *schema.ignore):
        array = values_to_look_at(frame, name)
        if is_text(array.type):
            values = values_of(name, array, marks_of(missing))
            odd = [value for value in values if not _is_number(value) and not _AMOUNT.fullmatch(value)]
            if 0 < len(odd) <= MOST_ODD and len(values) > 10 * len(odd):
                found[name] = odd
    return found


def odd_remarks(schema: Any, table: Any, missing: Sequence[str] = ()) -> list[str]:
    """Return what to do about the few texts in columns of numbers: gaps, limits, or further lines of a header."""
    found, more = almost_numeric(schema, table, missing), []
    if heads := _further_heads(Frame(table), found):
        first = "row has texts" if len(heads) == 1 else f"{len(heads)} rows have texts"
        more.append(
            f"the first {first} where most rows have numbers, such as {next(iter(heads[0].values()))!r}. If they are "
            "further lines of the header, remove them first"
        )
    for name, odd in found.items():
        limits = [text for text in odd if _LIMIT.fullmatch(text)]
        gaps = [text for text in odd if text not in limits and text not in {row.get(name) for row in heads}]
        if gaps:
            options = " ".join(f"--missing {text!r}" for text in gaps)
            more.append(f"column {name!r} has numbers and {listed(gaps)}: if that means missing, add {options} here")
        if limits:
            more.append(
                f"column {name!r} has numbers and {listed(limits)}. Undeclared, such a limit is a value of its own, if "
                "enough rows have it; to declare numbers, write limits as numbers first"
            )
    return more


def _further_heads(frame, odd):
    """Return those of the first rows that have odd texts in two columns of numbers or more: the texts by column."""
    heads: list[dict[str, str]] = []
    for row in range(min(MOST_ODD, frame.n)):
        cells = {name: str(frame.column(name).slice(row, 1)[0].as_py()).strip() for name in odd}
        cells = {name: cell for name, cell in cells.items() if cell in odd[name]}
        if len(cells) < 2 or 2 * len(cells) < len(odd):
            break
        heads.append(cells)
    return heads


def remarks(schema: Any, table: Any, missing: Sequence[str] = (), decimal: str = ".") -> list[str]:
    """Return texts with what the owner of a table should know of a draft.

    These are labels and values with two spellings, columns that may identify units, numbers and dates that are read as
    words because of their format, and long tails. Only the first 100,000 rows are read; `missing` is as in `draft`, and
    `decimal` is the decimal mark with which the table was read.
    """
    frame, tails, marks = Frame(table), [], marks_of(missing)
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
    for short, long in short_for((schema.label and schema.label.classes) or ()):
        found.append(
            f"the class {short!r} of the label {label!r} may be short for {long!r}. If they mean the same, write them "
            "alike first"
        )
    found += _remarks_on_names(frame, schema, label)
    if label is not None and label in frame.names:
        index, _ = texts(label, frame.column(label), missing_labels(schema.label.classes, schema.missing_values))
        if lacking := int((index < 0).sum()):
            rows = "1 row has" if lacking == 1 else f"{lacking:,} rows have"
            found.append(f"{rows} no label in {label!r}, and a fit leaves them out")
    ends: dict[str, Any] = {each.name: (each.low, each.high) for each in schema.columns if isinstance(each, Numeric)}
    dates = {each.name for each in schema.columns if isinstance(each, Date | Discovered)}
    for name in frame.names:
        array = frame.column(name).slice(0, LOOK)
        if name == label or pa.types.is_nested(array.type) or pa.types.is_dictionary(array.type):
            continue
        values = None
        words = () if name in ends or not is_text(array.type) else values_of(name, array, marks)
        if name in ends:
            values = numbers(name, array, marks)
            values = values[np.isfinite(values)]
            if code := _with_leading_zeros(array):
                found.append(
                    f"column {name!r} has numbers with leading zeros, such as {code!r}. If they are codes and not "
                    'amounts, declare them: kind = "category", with their values'
                )
                continue
        elif more := (None if suggests_person(name) else _of_words(words, decimal, name in dates)):
            found.append(f"column {name!r} {more}")
            continue
        if name in dates:
            continue
        if more := _times_since_1970(name, values) or _days_of_excel(name, values):
            found.append(more)
            continue
        if (values is None or (values == np.rint(values)).all()) and (
            more := _remark_on_codes(name, array, words, schema)
        ):
            found.append(more)
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


def _remarks_on_names(frame, schema, label):
    """Return texts about columns that hold the label once more, by their names, and about those of a single value."""
    found = [
        f"column {name!r} has the name of the label. If it holds the same, a model only copies it. Leave it out by "
        f"--ignore {name!r}"
        for name in frame.names
        if label is not None and repeats_label(name, label)
    ]
    counts = {name: pc.count_distinct(frame.column(name).slice(0, LOOK)).as_py() for name in schema.ignore}
    if single := [repr(name) for name, count in counts.items() if count <= 1]:
        found.append(f"columns with one value or none are left out: {listed(single)}")
    return found


def _times_since_1970(name, values):
    """Return what to do about whole numbers that may be seconds or milliseconds since 1970; None if they are none."""
    if values is None or len(values) <= FEW or not (values == np.rint(values)).all():
        return None
    for unit, per_second in (("seconds", 1), ("milliseconds", 1000)):
        low, high = values.min() / per_second, values.max() / per_second
        if _SECONDS[0] <= low < high <= _SECONDS[1] and not (suggests_person(name) or suggests_code(name)):
            days = [str(np.datetime64(int(each), "s").astype("M8[D]")) for each in (low, high)]
            return (
                f"column {name!r} has numbers that would be {days[0]} to {days[1]} as {unit} since 1970. If they are "
                f'times, declare kind = "date", format = "{unit}"'
            )
    return None


def _days_of_excel(name, values):
    """Return what to do about whole numbers that may be days as spreadsheets count them, by the name; else None."""
    if values is None or len(values) <= FEW or not _OF_DAYS.search(name) or not (values == np.rint(values)).all():
        return None
    low, high = days_of_numbers(np.array([values.min(), values.max()]), EXCEL).astype("M8[D]")
    if not _EXCEL_DAYS[0] <= low < high <= _EXCEL_DAYS[1]:
        return None
    return (
        f"column {name!r} has numbers that would be {low} to {high} as spreadsheets count days. If they are dates, "
        f'declare kind = "date", format = "{EXCEL}"'
    )


def _remark_on_codes(name, array, words, schema):
    """Return what to do about a column with very many different values, or None; only codes may say whose a row is."""
    n_cells, different = len(array) - array.null_count, pc.count_distinct(array).as_py()
    unique = n_cells > FEW and different > NEARLY * n_cells
    how = "is different in nearly every row" if unique else f"has {different:,} different values in {n_cells:,} rows"
    ignore = f"--ignore {name!r}"
    persons = f". If it says whose a row is, --unit {name!r} protects persons instead"
    counts = pc.value_counts(array.drop_null()).field("counts").to_numpy()
    words = () if all(map(_is_number, words)) else words
    is_named = suggests_person(name) or (bool(len(words)) and may_suggest_person(name))
    is_code = is_named or suggests_code(name) or (unique and _are_codes(words))
    is_code = is_code or _repeats_like_persons(array, words, counts)
    if unique and NAMELESS.fullmatch(name):
        return f"column {name!r} {how} and has no name, as an index has none: leave it out: {ignore}"
    if is_code and different > FEW and (different > n_cells / _ROWS_OF_ONE or suggests_person(name)):
        most, usual = int(counts.max()), int(np.median(counts))
        rows = "" if most == 1 else f"; one has {usual:,} row{'s' * (usual != 1)} in the median and {most:,} at most"
        many = max(1, int(np.quantile(counts, NEARLY)))
        return (
            f"column {name!r} {how}{rows}. Does it say whose a row is? Then protect persons: --unit {name!r} "
            f"--rows-per-unit {many}. If it is left out instead ({ignore}), rows of one person are protected one by one"
        )
    if unique and not len(words):
        return f"column {name!r} {how}. If it is a code and no amount, leave it out: {ignore}{persons}"
    if unique or (name in schema.ignore and different > MOST_VALUES):
        return (
            f"column {name!r} {how}, and few of them can be discovered. If they are of no use, leave it out: "
            f"{ignore}{persons}"
        )
    return _several_answers(name, words)


def _several_answers(name, words):
    """Return what to do about cells such as "car;bike", of which each combination is a value of its own; else None."""
    marks = Counter(match[1] for word in words if (match := _SEVERAL.match(word)))
    if len(words) <= MOST_ODD or not marks or 2 * marks.total() < len(words):
        return None
    mark = marks.most_common(1)[0][0]
    answers = {each.strip() for word in words for each in word.split(mark)}
    if not len(answers) < min(len(words), _MOST_ANSWERS):
        return None
    several = next(word for word in words if mark in word)
    return (
        f"column {name!r} holds several answers in a cell, such as {several!r}, and each combination is a value of its "
        f"own: make a column of 0 and 1 of each answer first, as by str.get_dummies({mark!r}) of pandas"
    )


def _repeats_like_persons(array, words, counts):
    """Return whether values repeat as numbers of persons do: very many of them, most a few times, and far apart.

    Amounts that repeat lie close together, for there are hardly more of them than rows.
    """
    n_cells, different = int(counts.sum()), len(counts)
    if different <= max(FEW, n_cells / _ROWS_OF_ONE) or n_cells < _REPEATS * different:
        return False
    if len(words):
        fractions = sum(map(bool, map(_FRACTION.search, words)))
        return 2 * fractions < len(words) and all(
            _WITH_BLANKS.fullmatch(word) or not re.search(r"\s", word) for word in words
        )
    if is_text(array.type) and not pc.all(pc.match_substring_regex(array, r"^\s*[0-9]*\s*$")).as_py():
        return False
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
    return len(codes) > NEARLY * len(words) > 0


def _of_words(words, decimal, read):
    """Return what to do about numbers and dates of which some are read as words, or are not meant as read; or None.

    Without it the column is `read` as it is meant.
    """
    left = read_as_words(words)
    if units := _different_units(words, left):
        return (
            f"holds numbers in several units, such as {units[0]!r} and {units[1]!r}, and units do not count: write all "
            "of them in one unit first"
        )
    if len({word.count(":") for word in words if _CLOCK.fullmatch(word)}) > 1 and sum(
        map(bool, map(_CLOCK.fullmatch, words))
    ) > NEARLY * len(words):
        return (
            "holds both 59:30 and 1:02:03, which are read as 59.5 of what the first part counts and as 1.03: write "
            "all of them with hours, as 0:59:30, first"
        )
    if not left:
        return None
    share = f"{len(left) / len(words):.0%} of the values"
    if decimal != "." and (pointed := [word for word in left if _POINTED.fullmatch(word)]):
        share = f"{len(pointed) / len(words):.0%} of the values"
        return (
            f"holds numbers with a point, such as {pointed[0].replace(NO_POINT, '.')!r}, and the decimal mark is "
            f"{decimal!r}: {share} are read as words. Write them with {decimal!r} first"
        )
    if amount := _first(words, left, _AMOUNT):
        cure = "write them without separators of thousands and without units first"
        if decimal == ".":
            comma = any(_DECIMAL_COMMA.fullmatch(word) for word in left)
            mark = "the comma is their decimal mark" if comma else f"{cure}; if the comma is the decimal mark"
            cure = f"{mark}, give --decimal ,"
        return f"holds numbers of which {share} are read as words, such as {amount!r}: {cure}"
    beside = [(each["before"] or each["unit"] or "") for word in words if (each := _WITH_UNIT.fullmatch(word))]
    units = Counter(filter(None, beside))
    amounts = (all(beside) and not all(map(_LONG_CODE.fullmatch, words))) or (
        len(left) > MOST_ODD and (not all(map(str.isalpha, units)) or any(map(_FRACTION.search, words)))
    )  # and no codes, nor numbers beside a few odd texts
    if len(words) > FEW and amounts and 0 < len(units) <= MOST_ODD and (amount := _first(words, left, _WITH_UNIT)):
        return (
            f"holds numbers beside {listed([*units])}, of which {share} are read as words, such as {amount!r}: write "
            "the numbers alone first"
        )
    if not read and (order := _dates_order(words, left)):
        return f"holds dates of which {share} are read as words, such as {next(iter(left))!r}: {order}"
    if not read and len(words) > FEW and (pair := _first(words, left, _PAIR)):
        return f"holds two numbers in a cell, such as {pair!r}, which are read as words: make two columns of them first"
    return None


def _different_units(words, left):
    """Return a number in each unit of those that are read without them, if there are several that differ in meaning."""
    read, units = {*words} - {*left}, {}
    for word in words:
        if (match := _WITH_UNIT.fullmatch(word)) and match["unit"] and match["unit"] not in _NO_UNITS and word in read:
            units.setdefault(match["unit"].lower(), word)
    different: list[str] = []
    for unit in sorted(units, key=len):
        if not any(unit[:-1] == each[:-1] or unit.removeprefix(each) in _ENDINGS for each in different):
            different.append(unit)
    return [units[unit] for unit in different] if len(different) > 1 else []


def _first(words, left, form):
    """Return the first word of this form that is read as a word, if nearly all words have the form; else None."""
    those = [word for word in words if form.fullmatch(word)]
    return next((word for word in those if word in {*left}), None) if len(those) > NEARLY * len(words) else None


def _dates_order(values, left):
    """Return what to do about dates that are read as words, if nearly all values are dates; else None."""
    dates = [value for value in values if _DATE.match(value)]
    if len(dates) <= NEARLY * len(values) or not left:
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
    if not is_text(array.type):
        return None
    found = array.filter(pc.match_substring_regex(array, r"^\s*0[0-9]+\s*$"))
    return found[0].as_py().strip() if len(found) else None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True

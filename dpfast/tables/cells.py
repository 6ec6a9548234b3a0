"""Codes of single cells: a fixed map for columns that nobody declared, and what the codes of a column mean.

A cell of an undeclared column is a number, a date, a word or missing, by itself. Numbers and dates have one of finitely
many fixed codes, the same for every table; a word stands for itself. No function here looks at two cells at once, so
the codes of a row follow from that row alone. Dates come first, then numbers, a missing cell and words.

*Dates.* A date has the code of its day. There are codes for 2^16 days from 1900-01-01 on; earlier and later dates have
the first and the last of them.

*Numbers.* Code ZERO is zero. Every float from 2^-20 to 2^44 has a code of its own, in increasing order; smaller
positive and larger numbers have the first and the last of these codes. The same holds for negative numbers, except that
those from -2^-20 on have the code of zero. So a column whose numbers are close together beside their size is no coarser
than another one, and a code determines the side of any edge between numbers.

*Texts.* Blanks around a text do not count. A text is missing if it is empty or one of MARKS; a label is if it is one
of LABEL_MARKS, since "none" and "-" are answers, too. A text is a number if it consists of digits with at most one
decimal point and an exponent, or is inf, and a date if it is YYYY-MM-DD, with or without a time of day after it;
`dpfast.tables.forms` has further forms of numbers, and `dpfast.tables.dates` of dates. Everything else is a word. Of a
word of more than LONGEST characters, its first 64 and a digest of 128 bits are kept; otherwise its space in memory
would have no bound.

*Cells of the survey.* Rows are first counted by few cells: numbers by their sign and power of two, whole numbers and
others apart, with zero for itself, dates by their year, and missing ones. A cell of a table is in exactly one of them,
or is a word.

*Storage.* `compact_cells` puts codes into fewer bytes: four times a whole number, a day, the number of a word or, for a
fraction with few decimal places, the fraction times a power of ten, plus its kind. It is lossless; a column with other
numbers keeps its codes.

*Groups.* Words that are not published share GROUPS fixed groups, by a checksum. Numbers and dates without a column of
their own have a group by sign and power of two, or by year. So a learner can distinguish most of them even if there are
too few rows to publish any.

A `CodeColumn` describes the codes of one column: bins between edges, or values.
"""

import math
import zlib
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dpfast.kernels import cells, texts
from dpfast.kernels.own import frozen
from dpfast.tables.dates import days_of, may_be_date
from dpfast.tables.forms import NUMBER, begins_with_money, in_latin_digits, number_of

MARKS = (
    *("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "<NA>", "NaT", "?", "-"),
    *("\\N", "#N/A", "#NA", "NAN", "-nan", "-NaN"),  # of databases, spreadsheets and C
)
LABEL_MARKS = tuple(mark for mark in MARKS if mark not in ("None", "none", "-"))
_BITS = cells.BITS  # of mantissa
_LEAST, _MOST = cells.LEAST_POWER, cells.MOST_POWER  # powers of two
LEAST = 2.0**_LEAST
_SIDE = (_MOST - _LEAST) << _BITS  # codes of one sign
DATES, NUMBERS = cells.DATES, 2 * _SIDE + 1  # numbers of codes
ZERO = cells.ZERO
_FIRST_DAY = -25567  # 1900-01-01, in days since 1970-01-01
MISSING = cells.MISSING  # the code of a missing cell; words come after it
FIXED = MISSING + 1
GROUPS = 64
LONGEST, _BEGINNING = 256, 64  # characters of a word
POWERS = _MOST - _LEAST  # of two, of one sign
SURVEYED_NUMBERS = 2 * POWERS + 1  # cells: negative numbers, zero, positive numbers
_FIRST_YEAR, _YEARS = 1900, cells.YEARS
SURVEYED_DATES = 2 * SURVEYED_NUMBERS  # after all cells of other numbers, and as many of whole ones
SURVEYED_MISSING = SURVEYED_DATES + _YEARS
SURVEYED = cells.SURVEYED  # cells in all, of which that of missing cells is the last
_BASE = (1023 + _LEAST) << _BITS
_TEXT = pa.large_string()
_MARKS = frozen(texts.pack(MARKS))
OTHER_NAME, MISSING_NAME = "other", "missing"
_EPOCH = date(1970, 1, 1)
_DIGITS, _ALL_DIGITS = 5, 17  # of a number as text: the usual ones, and those of a double
_LARGEST_WHOLE = 1e15
_KEPT = 256  # results of `fine_cuts` and of `mixed_edges`
EQUAL, OCTAVE, MOST = 128, 8, 250  # bins at equal distances, bins between powers of two near 0, edges in all
COARSE, HALVINGS = 32, 6  # the same for `mixed_edges`: bins at equal distances, powers of two near 0
_GLANCE = 16  # texts that are tried first


def _aligned(values, dtype=None):
    """Return values as kernels take them; those of a message may begin at any byte."""
    fits = values.flags.c_contiguous and values.flags.aligned and dtype in (None, values.dtype)
    return values if fits else np.require(values, dtype, ["C", "A"])


def number_codes(values: np.ndarray) -> np.ndarray:
    """Return the code of each float64 as int64; NaN has the code of a missing cell."""
    return cells.of_numbers(_aligned(values, np.float64))


def date_codes(days: np.ndarray) -> np.ndarray:
    """Return the code of each date, in days since 1970-01-01, as int64; NaN has the code of a missing cell."""
    missing = np.isnan(days)
    steps = np.floor(np.where(missing, 0.0, days)) - _FIRST_DAY
    codes = np.clip(steps, 0, DATES - 1).astype(np.int64)
    codes[missing] = MISSING
    return codes


def numbers_of(codes: np.ndarray) -> np.ndarray:
    """Return the number of each code of numbers, the largest one if there are several."""
    steps = codes - ZERO
    sizes = (np.where(steps > 0, steps, -1 - steps).clip(0) + _BASE).view(np.float64)
    return np.where(steps > 0, sizes, np.where(steps < 0, -sizes, 0.0))


def last_numbers(edges: Any) -> np.ndarray:
    """Return the largest number with the code of each edge: numbers above it, and no others, have a larger code."""
    codes = number_codes(np.asarray(edges, np.float64))
    return np.where(codes == MISSING - 1, np.inf, numbers_of(codes))  # the last of them is of all larger numbers


def last_codes(edges: Any, *, dates: bool) -> np.ndarray:
    """Return the last code of the numbers, or of the days, up to each edge."""
    if not dates:
        return number_codes(np.asarray(edges, np.float64))
    return np.clip(np.floor(np.asarray(edges, np.float64)) - _FIRST_DAY, -1, DATES - 1).astype(np.int64)


@dataclass(frozen=True)
class Runs:
    """A value of each fixed code and of words, where successive codes mostly have the same.

    The codes from starts[k] on have values[k]; the starts increase from 0, and words have the last value.
    """

    starts: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, *runs: tuple[Any, Any]) -> "Runs":
        """Return runs from pairs of starts and values, in order; of those with the same start the last one counts."""
        starts, values = (np.concatenate(each) for each in zip(*runs, strict=True))
        last = np.concatenate([starts[1:] != starts[:-1], [True]])
        return cls(starts[last], values[last].astype(np.uint16))

    def take(
        self, stored: np.ndarray, dtype: Any = np.uint16, of_words: np.ndarray | None = None, places: int = 0
    ) -> np.ndarray:
        """Return the value of each cell as uint8 or uint16; `of_words` has those of words.

        Cells are codes, or compact with so many decimal places.
        """
        return cells.take(_aligned(stored), self.starts, self.values, of_words, dtype != np.uint8, places)

    def count(self, stored: np.ndarray, size: int, of_words: np.ndarray | None = None, places: int = 0) -> np.ndarray:
        """Return the number of rows with each value below `size`; otherwise like `take`."""
        return cells.count(_aligned(stored), self.starts, self.values, size, of_words, places)


@cache
def _years() -> tuple[np.ndarray, np.ndarray]:
    """Return the year of each day, from the first one on, and the last days of all years but the last."""
    days = np.array([_FIRST_DAY], "datetime64[D]") + np.arange(DATES)
    years = days.astype("datetime64[Y]").astype(np.int64) + 1970 - _FIRST_YEAR
    return frozen(years.astype(np.uint8)), frozen(_FIRST_DAY + np.flatnonzero(np.diff(years)).astype(np.float64))


def survey_cells(stored: np.ndarray, places: int = 0) -> np.ndarray:
    """Return the number of rows in each cell of the survey: int64, shape (SURVEYED,); words have none."""
    return cells.survey(_aligned(stored), _years()[0], places)


@cache
def survey_ends() -> tuple[np.ndarray, np.ndarray]:
    """Return the largest number of each cell of numbers, and the last day of each cell of dates, except the last."""
    sizes = 2.0 ** np.arange(_LEAST, _MOST)
    below = -sizes[::-1]
    below[-1] = np.nextafter(-LEAST, -np.inf)
    return frozen(np.concatenate([below, [0.0], sizes[1:]])), _years()[1]


def compact_cells(codes: np.ndarray, places: int = 0) -> tuple[np.ndarray, int]:
    """Return codes as integers of 8, 16 or 32 bits if all of them have one, else the codes, and their decimal places.

    There are at least `places`, and more if fractions have more.

    >>> cells, places = compact_cells(number_codes(np.array([1.0, -0.25, np.nan])))
    >>> cells.dtype, places
    (dtype('int8'), 2)
    """
    return cells.compact(_aligned(codes), places)


def expand_cells(compact: np.ndarray, places: int = 0) -> np.ndarray:
    """Return the codes that `compact_cells` made compact, as int64."""
    return cells.expand(_aligned(compact), places)


def shorten(word: str) -> str:
    """Return a word, or the beginning and a digest of one that is too long."""
    if len(word) <= LONGEST:
        return word
    return f"{word[:_BEGINNING]}...{blake2b(word.encode(), digest_size=16).hexdigest()}"


def word_group(word: str) -> int:
    """Return the group of a word."""
    return zlib.crc32(word.encode()) % GROUPS


@cache
def _groups() -> tuple[np.ndarray, np.ndarray]:
    """Return the first codes of dates and numbers from which each group is that of the codes, and the groups."""
    power = np.arange(_LEAST, _MOST)
    above, below = np.clip(power + 9, 1, 40), np.clip((power + 90) // 2, 41, GROUPS - 1)
    years, side = np.arange(0, DATES, 365), np.arange(POWERS + 1) << _BITS
    starts: list[Any] = [years, ZERO - side[:0:-1], [ZERO], ZERO + 1 + side[:-1]]
    return frozen(np.concatenate(starts)), frozen(np.concatenate([years // 365 % GROUPS, below[::-1], [0], above]))


def fixed_groups(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return runs of what codes of dates and numbers have, as `Runs.of` takes them, given what each of GROUPS has."""
    starts, groups = _groups()
    return starts, values[groups]


def text_cells(array: pa.Array) -> tuple[np.ndarray, list[str]]:
    """Return the codes of an array of large_string, as int64, and the words of the codes FIXED, FIXED + 1, ...."""
    index, codes, words = distinct_text_cells(array)
    if index is not None:
        codes = np.concatenate([codes, np.array([MISSING])]).take(indices(index), mode="wrap")
    return codes, words


def distinct_text_cells(array: pa.Array) -> tuple[pa.Array | None, np.ndarray, list[str]]:
    """Return the codes and words of distinct texts as `text_cells` does, and the place of each text among them.

    Null has no place. Instead of places there is None if the codes are those of the texts in their order.
    """
    if pa.types.is_dictionary(array.type):
        words = array.dictionary.cast(_TEXT)
        numbers = all_numbers(words)
    else:
        if (numbers := all_numbers(array)) is not None:
            return None, number_codes(numbers), []
        array = pc.dictionary_encode(array)
        words = array.dictionary
    codes, words = _distinct_cells(words) if numbers is None else (number_codes(numbers), [])
    return array.indices, codes, words


def indices(index: pa.Array) -> np.ndarray:
    """Return the places of entries in a dictionary, -1 for a missing one: int32."""
    index = index.cast(pa.int32())
    return (index.fill_null(-1) if index.null_count else index).to_numpy(zero_copy_only=False)


def all_numbers(array: pa.Array) -> np.ndarray | None:
    """Return texts as numbers if all of them are finite numbers or null, else None; their codes are the same."""
    kinds, *_ = texts.kinds(*_text_buffers(array.slice(0, _GLANCE)), _MARKS)
    if not {*kinds.tolist()} <= {texts.NUMBER, texts.MISSING}:  # a failing cast reads all texts, slowly
        return None
    try:
        numbers = array.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return None if pc.is_finite(numbers).false_count else _floats(numbers)


def _distinct_cells(array: pa.Array) -> tuple[np.ndarray, list[str]]:
    """Do what `text_cells` does, for distinct texts without a dictionary, not all of which are numbers."""
    kinds, days, padded = texts.kinds(*_text_buffers(array), _MARKS)
    array = pc.utf8_trim_whitespace(array) if padded else array
    codes = np.full(len(array), MISSING, np.int64)
    some = np.bincount(kinds, minlength=texts.FORM + 1)
    if some[texts.DAY]:
        codes[kinds == texts.DAY] = date_codes(days[kinds == texts.DAY].astype(np.float64))
    if some[texts.NUMBER]:
        of_kind = kinds == texts.NUMBER
        codes[of_kind] = number_codes(_floats(_picked(array, of_kind).cast(pa.float64())))
    if some[texts.FORM] or some[texts.NAMED]:
        numbers = kinds == texts.FORM
        if some[texts.NAMED]:
            of_kind = kinds == texts.NAMED
            numbers[of_kind] = [*map(begins_with_money, _picked(array, of_kind).to_pylist())]
        if numbers.any():
            _read(codes, array, numbers, _numbers_in_a_form)
        _read(codes, array, (codes == MISSING) & (kinds >= texts.NAMED), _dates_in_a_form)
    left = (codes == MISSING) & (kinds != texts.MISSING)
    if not left.any():
        return codes, []
    words = _picked(array, left).to_pylist()
    found = _in_other_digits(words)
    place: dict[str, int] = {}
    codes[left] = [
        FIXED + place.setdefault(shorten(word), len(place)) if code is None else code
        for word, code in zip(words, found, strict=True)
    ]
    return codes, [*place]


def is_word(text: str) -> bool:
    """Return whether a text of ASCII is a word for certain, which stands for itself."""
    if not text.isascii() or len(text) > LONGEST:
        return False
    characters = np.frombuffer(text.encode(), np.uint8)
    (kind,), _, padded = texts.kinds(characters, np.array([0, len(text)]), None, _MARKS)
    named = kind == texts.NAMED and not begins_with_money(text) and not may_be_date(text)
    return not padded and (kind == texts.WORD or named)


def _in_other_digits(words: list[str]) -> list[int | None]:
    """Return the codes of numbers and dates in digits of other scripts, None for other words."""
    written = [in_latin_digits(word) for word in words]
    if not any(written):
        return [None] * len(words)
    codes, _ = _distinct_cells(pa.array(written, _TEXT))
    return [None if text is None or code >= FIXED else code for text, code in zip(written, codes.tolist(), strict=True)]


def _text_buffers(array: pa.Array) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return the bytes of texts, their ends, and which are not null, as `dpfast.kernels.texts` takes them."""
    _, ends, text = array.buffers()
    size = len(array) + 1 if ends else 1  # Arrow may leave out both buffers of no texts
    return (
        np.frombuffer(text or b"", np.uint8),
        _aligned(np.frombuffer(ends or bytes(8), np.int64, size, 8 * array.offset if ends else 0)),
        array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None,
    )


def _read(codes: np.ndarray, array: pa.Array, some: np.ndarray, read: Callable[[pa.Array], np.ndarray]) -> None:
    """Write the codes that a function gives for some of the texts."""
    codes[some] = read(_picked(array, some))


def _picked(array: pa.Array, some: np.ndarray) -> pa.Array:
    """Return the texts that a mask picks."""
    return array if some.all() else array.filter(pa.array(some))


def _numbers_in_a_form(array: pa.Array) -> np.ndarray:
    """Return the codes of texts with further forms of numbers, MISSING for others."""
    codes = np.full(len(array), MISSING, np.int64)
    matches = pc.match_substring_regex(array, NUMBER)
    if matches.true_count:
        codes[matches.to_numpy(zero_copy_only=False)] = number_codes(_each(number_of, array.filter(matches)))
    return codes


def _dates_in_a_form(array: pa.Array) -> np.ndarray:
    """Return the codes of texts with further forms of dates, MISSING for others."""
    matches = np.array([*map(may_be_date, array.to_pylist())])
    codes = np.full(len(array), MISSING, np.int64)
    if matches.any():
        codes[matches] = date_codes(days_of(array.filter(pa.array(matches))))
    return codes


def _each(read: Callable[[str], float], array: pa.Array) -> np.ndarray:
    return np.array([read(text) for text in array.to_pylist()], np.float64)


def _floats(array: pa.Array) -> Any:
    return array.to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class CodeColumn:
    """The meaning of the codes of one column.

    Codes start at 0, with bins from low to high or values in the order of their declaration. The codes of "other"
    follow, if there are any, and the last code is "missing", if there is one.

    Attributes
    ----------
    name : str
    edges : tuple of float or None
        The increasing edges of a column of numbers: code k is for numbers above edges[k - 1] and at most edges[k].
        None for a column of values.
    low, high : float or None
        The declared or discovered bounds of the numbers. Numbers outside have the first or the last bin, or bins of
        their own if discovered edges lie there.
    values : tuple of str
        The values of a column of values.
    other : int
        The number of codes for other values: 0, 1, or one for each of `groups` and one for the rest.
    nullable : bool
        Whether there is a code for missing values.
    dates : bool
        Whether the numbers are days since 1970-01-01.
    whole : bool
        Whether all numbers and edges are whole.
    groups : tuple of int
        The groups of other values that have a code of their own.
    """

    name: str
    edges: tuple[Any, ...] | None = None
    low: float | None = None
    high: float | None = None
    values: tuple = ()
    other: int = 0
    nullable: bool = False
    dates: bool = False
    whole: bool = False
    groups: tuple = ()

    @property
    def ordered(self) -> bool:
        """Return whether all codes except that of missing values are bins of numbers, in increasing order."""
        return self.edges is not None

    @property
    def bins(self) -> int:
        """Return the number of codes of bins or declared values."""
        return len(self.values) if self.edges is None else len(self.edges) + 1

    @property
    def size(self) -> int:
        """Return the number of codes."""
        return self.bins + self.other + self.nullable

    @property
    def missing(self) -> int | None:
        """Return the code of a missing value, or None."""
        return self.size - 1 if self.nullable else None

    def ends(self) -> np.ndarray:
        """Return the ends of all bins, from the lowest to the highest: float64, shape (bins + 1,)."""
        edges = self.edges or (self.low,)
        return np.array([min(self.low, edges[0]), *(self.edges or ()), max(self.high, edges[-1])], np.float64)

    def bins_within(self) -> range:
        """Return the bins that hold the numbers from `low` to `high`; all bins if a single one does."""
        edges = self.edges or ()
        first, last = (bisect_left(edges, end) for end in (self.low, self.high))
        return range(first, last + 1) if first < last else range(self.bins)

    def midpoints(self) -> np.ndarray:
        """Return a number for each bin, the middle of its part of [low, high]: float64, shape (bins,)."""
        ends = np.clip([self.low, *(self.edges or ()), self.high], self.low, self.high)
        return ends[:-1] / 2 + ends[1:] / 2

    def meaning(self, code: int) -> str:
        """Return the meaning of a code as text.

        For example ``"above 30, at most 40"``, ``"= 22"``, ``"23 to 30"``, ``"about 1"``, ``"clerk"``, ``"other"`` or
        ``"missing"``.
        """
        if not 0 <= code < self.size:
            raise ValueError(f"codes of {self.name!r} lie in [0, {self.size}), got {code}")
        if code == self.missing:
            return MISSING_NAME
        if code >= self.bins:
            of = code - self.bins
            return f"{OTHER_NAME}, group {self.groups[of] + 1} of {GROUPS}" if of < len(self.groups) else OTHER_NAME
        if self.edges is None:
            return self.values[code]
        if self.whole and 0 < code < len(self.edges):
            first, last = self.edges[code - 1] + 1, self.edges[code]
            return f"= {self.format_edge(last)}" if first == last else f"{first:.0f} to {self.format_edge(last)}"
        if 0 < code < len(self.edges) and not self.dates and self._is_about_one(*self.edges[code - 1 : code + 1]):
            return f"about {self.format_edge(self.edges[code])}"
        words = ("after", "until", "any date") if self.dates else ("above", "at most", "any number")
        above = f"{words[0]} {self.format_edge(self.edges[code - 1])}" if code else ""
        most = f"{words[1]} {self.format_edge(self.edges[code])}" if code < len(self.edges) else ""
        return ", ".join(filter(None, (above, most))) or words[2]

    @staticmethod
    def _is_about_one(low, high):
        """Return whether a bin is one code of numbers, the finest that is discovered, and ends at its only integer."""
        if high == 0:
            return low >= -2 * LEAST
        return high == int(high) and high - low <= min(abs(high) / 128, 0.5)

    def format_edge(self, edge: float) -> str:
        """Return an edge as text: a date as YYYY-MM-DD, or a number.

        Whole numbers are written in full, other numbers with five significant digits, or more if rounding would change
        the edge by more than a fiftieth of the bin.
        """
        if self.dates:
            return (_EPOCH + timedelta(days=edge)).isoformat()
        place = bisect_left(self.edges or (), edge)
        others = (self.low, *(self.edges or ())[max(0, place - 1) : place + 2], self.high)
        return _decimal(edge, min((abs(each - edge) for each in others if each not in (None, edge)), default=math.inf))


def bins_of(column: CodeColumn | None) -> int:
    """Return the number of bins of a column of numbers, and 0 of another one or of one without a meaning.

    Parameters
    ----------
    column : CodeColumn or None

    Returns
    -------
    int
    """
    return column.bins if column is not None and column.ordered else 0


def _decimal(number, apart):
    """Return a number as text, with an error of at most a fiftieth of the distance `apart` to the next one."""
    if abs(number) < _LARGEST_WHOLE and number == int(number):
        return f"{int(number)}"
    digits = len(f"{abs(number):.0f}") + 1 if abs(number) < _LARGEST_WHOLE else 0
    for precision in range(max(_DIGITS, digits), _ALL_DIGITS):
        text = f"{number:.{precision}g}"
        if abs(float(text) - number) <= apart / 50:
            return text
    return repr(float(number))


@lru_cache(maxsize=_KEPT)
def fine_cuts(low: float, high: float) -> tuple[float, ...]:
    """Return edges at equal distances and, near 0, at about equal ratios: at most MOST, the same on every machine.

    They increase, up to rounding, within [low, high]. Numbers with a long tail, such as amounts of money and counts,
    are mostly in the first of equal bins. Where bins at equal ratios are narrower, their edges are added, starting with
    the largest.
    """
    step = high / EQUAL - low / EQUAL
    cuts = {low + i * step for i in range(1, EQUAL)} | ({0.0} if low <= 0 <= high else set())
    power = math.frexp(OCTAVE * step)[1]
    for exponent in range(power, power - MOST // OCTAVE, -1):
        for part in range(OCTAVE - 1, -1, -1):
            size = math.ldexp(1 + part / OCTAVE, exponent)
            new = {each for each in (size, -size) if low < each < high and size < OCTAVE * step} - cuts
            if len(cuts) + len(new) > MOST:
                return tuple(sorted(cuts))
            cuts |= new
    return tuple(sorted(cuts))


@lru_cache(maxsize=_KEPT)
def mixed_edges(low: float, high: float) -> tuple[float, ...]:
    """Return 31 edges at equal distances and, near 0, at most 6 more on each side: 0 and powers of two.

    They increase, up to rounding, within [low, high], and are the same on every machine. Counts and amounts of money
    are mostly in the first of 32 equal bins; these edges divide it.
    """
    step = high / COARSE - low / COARSE
    cuts = {low + i * step for i in range(1, COARSE)} | ({0.0} if low <= 0 <= high else set())
    power = math.frexp(step)[1] - 1
    for exponent in range(power, power - HALVINGS, -1):
        size = math.ldexp(1.0, exponent)
        cuts |= {each for each in (size, -size) if low < each < high}
    return tuple(sorted(cuts))

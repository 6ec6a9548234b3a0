"""Cells of columns that nobody declared: one fixed map of single cells, the same for every table.

A cell is a number, a date, a word or missing, by itself. Numbers and dates have one of finitely many fixed codes; a
word stands for itself. Nothing here looks at two cells at once, so that a row's codes follow from that row alone.

*Numbers.* Code ZERO is zero. A positive number x has the code ZERO + 1 + k if it lies above m_k and is at most m_{k+1},
where m_0 < m_1 < ... are the floats of 8 bits of mantissa from 2^-20 to 2^44; smaller and larger numbers have the first
and the last of these codes. A negative number has the mirrored code: it is at least -m_{k+1} and below -m_k; those from
-m_0 on have the code of zero. Codes rise with the numbers, and a power of two is an upper end.

*Dates.* A date has the code of its day, from 1900-01-01 on for 2^16 days; earlier and later ones have the first and the
last.

*Texts.* Blanks around a text do not count. A text is missing if it is empty or one of MARKS; it is a number if it
consists of digits with at most one decimal point and an exponent; it is a date if it is YYYY-MM-DD, with or without a
time of day after it; everything else is a word. A word of more than LONGEST characters is known by its first 64 and a
digest of 128 bits, as its room in memory would have no bound otherwise.

*Bands.* Rows are counted by bands of 16 codes of numbers, and of 32 days, so that noise on the counts adds up less.

*Groups.* Words that are not published share GROUPS fixed groups, by a checksum; numbers and dates that have no column
of their own have a group by sign and power of two, or by year. A learner so tells most of them apart where there are
too few rows to publish any.
"""

import zlib
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

MARKS = ("", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "none", "<NA>", "NaT", "?", "-")
_BITS = 8  # of mantissa
_LEAST, _MOST = -20, 44  # powers of two
LEAST = 2.0**_LEAST
_SIDE = (_MOST - _LEAST) << _BITS  # codes of one sign
ZERO, NUMBERS = _SIDE, 2 * _SIDE + 1
DATES = 1 << 16
_FIRST_DAY = -25567  # 1900-01-01, in days since 1970-01-01
MISSING = NUMBERS + DATES  # the code of a missing cell; words come after it
FIXED = MISSING + 1
GROUPS = 64
LONGEST, _BEGINNING = 256, 64  # characters of a word
_BAND, _MONTH = 16, 32  # codes of a band of numbers, and of dates
SIDE_BANDS, DATE_BANDS = _SIDE // _BAND, DATES // _MONTH
NUMBER_BANDS = 2 * SIDE_BANDS + 1
MISSING_BAND = NUMBER_BANDS + DATE_BANDS
BANDS = MISSING_BAND + 1
_SHIFT = 52 - _BITS
_BASE = (1023 + _LEAST) << _BITS
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_DATE = r"^[0-9]{4}-[0-9]{2}-[0-9]{2}([T ].*)?$"
_TEXT = pa.large_string()


def number_codes(values: np.ndarray) -> np.ndarray:
    """Return the code of each number, that of a missing cell for NaN.

    Parameters
    ----------
    values : ndarray of float64, shape (n,)

    Returns
    -------
    ndarray of int32, shape (n,)
    """
    values = np.ascontiguousarray(values, np.float64)
    positive = values > 0
    steps = ((np.abs(values).view(np.int64) - positive) >> _SHIFT) - _BASE
    steps = np.clip(steps, 0, _SIDE - 1).astype(np.int32)
    codes = np.where(positive, ZERO + 1 + steps, ZERO - 1 - steps)
    codes[(values <= 0) & (values >= -LEAST)] = ZERO
    codes[np.isnan(values)] = MISSING
    return codes.astype(np.int32, copy=False)


def date_codes(days: np.ndarray) -> np.ndarray:
    """Return the code of each date, in days since 1970-01-01; that of a missing cell for NaN."""
    missing = np.isnan(days)
    steps = np.floor(np.where(missing, 0.0, days)) - _FIRST_DAY
    codes = (NUMBERS + np.clip(steps, 0, DATES - 1)).astype(np.int32)
    codes[missing] = MISSING
    return codes


def number_ends() -> np.ndarray:
    """Return the largest number of each code but the last: float64, shape (NUMBERS - 1,)."""
    sizes = (np.arange(_SIDE + 1, dtype=np.int64) + _BASE << _SHIFT).view(np.float64)
    below = -sizes[:-1][::-1]
    below[-1] = np.nextafter(-LEAST, -np.inf)
    return np.concatenate([below, [0.0], sizes[1:-1]])


def date_ends() -> np.ndarray:
    """Return the day of each code of dates but the last: float64, shape (DATES - 1,)."""
    return _FIRST_DAY + np.arange(DATES - 1.0)


def band_ends() -> tuple[np.ndarray, np.ndarray]:
    """Return the largest number, and the last day, of each band but the last."""
    bands = _bands()
    last = np.flatnonzero(np.diff(bands[:NUMBERS]))
    return number_ends()[last], date_ends()[_MONTH - 1 :: _MONTH]


def banded(counts: np.ndarray) -> np.ndarray:
    """Return the rows of each band, given those of each fixed code: int64, shape (BANDS,)."""
    return np.bincount(_bands(), weights=counts, minlength=BANDS).astype(np.int64)


@cache
def _bands():
    """The band of each fixed code."""
    side = np.arange(_SIDE) // _BAND
    numbers = np.concatenate([SIDE_BANDS - 1 - side[::-1], [SIDE_BANDS], SIDE_BANDS + 1 + side])
    return np.concatenate([numbers, NUMBER_BANDS + np.arange(DATES) // _MONTH, [MISSING_BAND]])


def shortened(word: str) -> str:
    """Return a word, or the beginning and a digest of one that is too long."""
    if len(word) <= LONGEST:
        return word
    return f"{word[:_BEGINNING]}...{blake2b(word.encode(), digest_size=16).hexdigest()}"


def word_group(word: str) -> int:
    """Return the group of a word."""
    return zlib.crc32(word.encode()) % GROUPS


@cache
def fixed_groups() -> np.ndarray:
    """Return the group of each code of numbers and dates: int64, shape (MISSING,)."""
    power = (np.arange(_SIDE) >> _BITS) + _LEAST
    above, below = np.clip(power + 9, 1, 40), np.clip((power + 90) // 2, 41, GROUPS - 1)
    return np.concatenate([below[::-1], [0], above, np.arange(DATES) // 365 % GROUPS])


def text_cells(array: pa.Array, decimal: str = ".") -> tuple[np.ndarray, list[str]]:
    """Return the codes of texts, and the words that codes from FIXED on stand for.

    Parameters
    ----------
    array : pyarrow.Array
        Of large_string, with or without a dictionary.
    decimal : str, default="."
        The decimal mark of numbers; a text with another one is a word.

    Returns
    -------
    codes : ndarray of int32, shape (n,)
    words : list of str
        Code FIXED + k is words[k].
    """
    if pa.types.is_dictionary(array.type):
        codes, words = text_cells(array.dictionary.cast(_TEXT), decimal)
        index = array.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        return np.append(codes, np.int32(MISSING))[index], words
    if decimal == "." and (numbers := _all_numbers(array)) is not None:
        return number_codes(numbers), []
    codes = np.full(len(array), MISSING, np.int32)
    array = pc.utf8_trim_whitespace(array)
    left = pc.fill_null(pc.invert(pc.is_in(array, value_set=pa.array(MARKS, _TEXT))), False)
    left = pc.and_(left, array.is_valid())
    pointed = array
    if decimal != ".":
        pointed = pc.replace_substring(pc.replace_substring(array, ".", "?"), decimal, ".")
    left = _read(codes, pointed, left, _NUMBER, lambda found: number_codes(_floats(found.cast(pa.float64()))))
    left = _read(codes, array, left, _DATE, _date_texts)
    rest = left.to_numpy(zero_copy_only=False)
    if not rest.any():
        return codes, []
    encoded = pc.dictionary_encode(array.filter(left))
    codes[rest] = FIXED + encoded.indices.to_numpy(zero_copy_only=False)
    return codes, [*map(shortened, encoded.dictionary.to_pylist())]


def _all_numbers(array: pa.Array) -> np.ndarray | None:
    """Texts as numbers if all of them are finite numbers or null: faster, with the same codes."""
    try:
        numbers = array.cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    finite = pc.all(pc.is_finite(numbers), skip_nulls=True, min_count=0).as_py()
    return _floats(numbers) if finite else None


def _read(codes: np.ndarray, array: pa.Array, left: pa.Array, pattern: str, read: Callable) -> pa.Array:
    """Write the codes of texts that match, and return which are left."""
    match = pc.and_(left, pc.fill_null(pc.match_substring_regex(array, pattern), False))
    places = np.flatnonzero(match.to_numpy(zero_copy_only=False))
    if not len(places):
        return left
    found = read(array.filter(match))
    known = found != MISSING
    codes[places[known]] = found[known]
    if known.all():
        return pc.and_not(left, match)
    read_as = np.zeros(len(array), bool)
    read_as[places[known]] = True
    return pc.and_not(left, pa.array(read_as))


def _date_texts(array: pa.Array) -> np.ndarray:
    """The codes of texts that look like dates, MISSING for those that are none, as 2021-02-30."""
    day = pc.utf8_slice_codeunits(array, 0, 10)
    parsed = pc.strptime(day, format="%Y-%m-%d", unit="s", error_is_null=True)
    written = pc.strftime(parsed, format="%Y-%m-%d")
    real = pc.fill_null(pc.equal(written.cast(_TEXT), day), False)
    parsed = pc.if_else(real, parsed, pa.scalar(None, parsed.type))
    return date_codes(_floats(parsed.cast(pa.int64()).cast(pa.float64())) // 86400)


def _floats(array: pa.Array) -> Any:
    return array.to_numpy(zero_copy_only=False)

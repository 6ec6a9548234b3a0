"""Further forms of numbers and dates in texts, each read by itself.

Only forms that mean the same in every country are read here. 01/05/2020 and 1,234 do not: whether the day or the month
comes first, and whether a comma is a decimal mark, has to be declared.

*Numbers.* 1,234.50 and 1.234,50, where both marks occur; 1,234,567 and 1'234'567; a number beside a currency, where
three digits after a mark are thousands, as in $1,200; a number with a percent sign or a unit of UNITS, such as 50.2 kg;
a time of day, such as 13:05 or 1:05 pm, as a number of hours.

*Dates.* 31.12.2020; 2020/12/31; Jan 05, 2020; 5 January 2020 and 05-Jan-2020, with or without a time of day after it.
"""

import re
from collections.abc import Callable
from datetime import date

UNITS = (
    *("kg", "mg", "lb", "lbs", "oz", "km", "cm", "mm", "mi", "ft", "yd", "ml", "cl", "gal", "ms", "sec", "min", "mins"),
    *("hr", "hrs", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "yr", "yrs", "year", "years"),
    *("km/h", "mph", "m/s", "kb", "mb", "gb", "tb", "kw", "kwh", "hz", "khz", "mhz", "ghz", "kcal", "cal", "mmhg"),
    *("mg/dl", "mmol/l", "bpm", "px", "°c", "°f", "°", "m²", "m2", "km²", "sqft", "ha", "minutes", "seconds", "miles"),
)
_ALONE = "gmlshwvt"  # only after a blank, as 2h is rather a name
_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_MONTH = {name: k + 1 for k, name in enumerate(_MONTHS)} | {name[:3]: k + 1 for k, name in enumerate(_MONTHS)}
_MONTH["sept"] = 9
_PLAIN = r"[0-9]+\.?[0-9]*|\.[0-9]+"
_BOTH = r"[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+"
_THOUSANDS = r"[0-9]{1,3}(?:,[0-9]{3}){2,}|[0-9]{1,3}(?:['\x{2019}\x{a0}\x{202f}][0-9]{3})+(?:[.,][0-9]+)?"
_ONE_MARK = r"[0-9]{1,3}[.,][0-9]{3}|[0-9]+,[0-9]{1,2}"  # beside a currency
_DECIMAL = r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})"  # beside a unit
_SIGN, _MINUS, _CURRENCY = r"[-+\x{2212}]?", r"\x{2212}", r"[$\x{20ac}\x{a3}\x{a5}]"
_BLANK = r"[ \x{a0}\x{202f}]?"
_UNIT = "(?i:%|" + "|".join(map(re.escape, sorted(UNITS, key=len, reverse=True))) + ")"
_LONE = rf"[ \x{{a0}}][{_ALONE}]"
_TIME_AFTER = r"(?:[T ,]+[0-9]{1,2}:.*)?"
_TIME = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?(?i:[ap]m))?"
NUMBER = (  # for Arrow, whose regular expressions are those of RE2
    rf"^(?:{_SIGN}(?:{_BOTH}|{_THOUSANDS})|{_MINUS}(?:{_PLAIN})"
    rf"|{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_DECIMAL})(?:{_BLANK}{_UNIT}|{_LONE})"
    rf"|{_SIGN}{_CURRENCY}{_BLANK}{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_ONE_MARK})"
    rf"|{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_ONE_MARK}){_BLANK}{_CURRENCY}|{_TIME})$"
)
DATE = (
    rf"^(?:[0-9]{{1,2}}\.[0-9]{{1,2}}\.[0-9]{{4}}|[0-9]{{4}}[/.][0-9]{{1,2}}[/.][0-9]{{1,2}}"
    rf"|[A-Za-z]{{3,9}}\.? [0-9]{{1,2}},? [0-9]{{4}}|[0-9]{{1,2}}[. -]{{1,2}}[A-Za-z]{{3,9}}[., -]{{1,2}}[0-9]{{4}})"
    rf"{_TIME_AFTER}$"
)
BEGINNING = r"^(?:[-+.0-9$\x{20ac}\x{a3}\x{a5}\x{2212}]|[A-Za-z]{3,9}\.? [0-9])"  # of texts in one of the two
_CLOCK = re.compile(r"([0-9]{1,2}):([0-9]{2})(?::([0-9.]+))?(?: ?([apAP])[mM])?")
_AMOUNT = re.compile(r"[0-9.,'\u2019\u00a0\u202f]*[0-9.]")
_YEAR_FIRST = re.compile(r"([0-9]{4})[/.]([0-9]{1,2})[/.]([0-9]{1,2})")
_DAY_FIRST = re.compile(r"([0-9]{1,2})[. -]{1,2}([A-Za-z]+|[0-9]{1,2})[., -]{1,2}([0-9]{4})")
_MONTH_FIRST = re.compile(r"([A-Za-z]+)\.? ([0-9]{1,2}),? ([0-9]{4})")
SLASHES = r"^\s*[0-9]{1,2}[/-][0-9]{1,2}[/-][0-9]{4}([^0-9].*)?$"  # dates whose day or month comes first
_SLASHES = re.compile(r"\s*([0-9]{1,2})([/-])([0-9]{1,2})\2([0-9]{4})(\D.*)?")
_EPOCH = date(1970, 1, 1)
NAN = float("nan")


def number_of(text: str) -> float:
    """Return the number of a text that matches NUMBER; NaN if it is none after all."""
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds, half = int(clock[1]), int(clock[2]), float(clock[3] or 0), clock[4]
        if half:
            hours = hours % 12 + 12 * (half in "pP") if 1 <= hours <= 12 else 24
        return hours + minutes / 60 + seconds / 3600 if hours < 24 and minutes < 60 > seconds else NAN
    digits = _AMOUNT.search(text)
    if digits is None:
        return NAN
    amount, beside = digits[0], bool(re.search("[$\u20ac\u00a3\u00a5]", text))
    marks = [mark for mark in amount if mark in ".,"]
    if marks.count(",") and marks.count("."):
        amount = amount.replace("," if marks[-1] == "." else ".", "").replace(",", ".")
    elif len(marks) == 1 and beside and len(re.split("[.,]", amount)[1]) == 3 and amount[0] not in ".,":
        amount = re.sub("[.,]", "", amount)
    elif marks.count(",") == 1:
        amount = amount.replace(",", ".")
    else:
        amount = amount.replace(",", "")
    value = float(re.sub("['\u2019\u00a0\u202f]", "", amount))
    return -value if re.search("[-\u2212]", text[: digits.start()]) else value


def day_of(text: str) -> float:
    """Return the date of a text that matches DATE, in days since 1970-01-01; NaN if there is no such day."""
    if found := _YEAR_FIRST.match(text):
        year, month, day = found.groups()
    elif found := _DAY_FIRST.match(text):
        day, month, year = found.groups()
    elif found := _MONTH_FIRST.match(text):
        month, day, year = found.groups()
    else:
        return NAN
    number = int(month) if month.isdecimal() else _MONTH.get(month.lower(), 0)
    try:
        return float((date(int(year), number, int(day)) - _EPOCH).days)
    except ValueError:
        return NAN


def iso_dates(order: str) -> Callable[[str], str]:
    """Return the function that writes dates such as 01/05/2020 as YYYY-MM-DD, and leaves other texts unchanged.

    `order` is "dmy" or "mdy".
    """

    def rewrite(text: str) -> str:
        found = _SLASHES.fullmatch(text)
        if found is None:
            return text
        first, second = int(found[1]), int(found[3])
        day, month = (first, second) if order == "dmy" else (second, first)
        try:
            return date(int(found[4]), month, day).isoformat() + (found[5] or "")
        except ValueError:
            return text

    return rewrite

"""Further forms of numbers in texts, each read by itself; `dpfast.tables.dates` has those of dates.

Only forms that mean the same in every country are read here. 1,234 does not: whether a comma is a decimal mark has to
be declared.

They are 1,234.50 and 1.234,50, where both marks occur; 1,234,567 and 1'234'567; a number beside a currency, where three
digits after a mark are thousands, as in $1,200; a number with a percent sign or a unit of UNITS, such as 50.2 kg; a
number in parentheses, which is negative, and in which three digits after a comma are thousands, as in (1,234); a time
of day, such as 13:05 or 1:05 pm, as a number of hours; a duration, such as 2 days 13:05:00 or P2DT13H5M, as a number of
seconds; and an interval, such as (0, 10], as the number where it begins.
"""

import re

UNITS = (
    *("kg", "mg", "lb", "lbs", "oz", "km", "cm", "mm", "mi", "ft", "yd", "ml", "cl", "gal", "ms", "sec", "min", "mins"),
    *("hr", "hrs", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "yr", "yrs", "year", "years"),
    *("km/h", "mph", "m/s", "kb", "mb", "gb", "tb", "kw", "kwh", "hz", "khz", "mhz", "ghz", "kcal", "cal", "mmhg"),
    *("mg/dl", "mmol/l", "bpm", "px", "°c", "°f", "°", "m²", "m2", "km²", "sqft", "ha", "minutes", "seconds", "miles"),
)
_ALONE = "gmlshwvt"  # only after a blank, as 2h is rather a name
_PLAIN = r"[0-9]+\.?[0-9]*|\.[0-9]+"
_BOTH = r"[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+"
_THOUSANDS = r"[0-9]{1,3}(?:,[0-9]{3}){2,}|[0-9]{1,3}(?:['\x{2019}\x{a0}\x{202f}][0-9]{3})+(?:[.,][0-9]+)?"
_ONE_MARK = r"[0-9]{1,3}[.,][0-9]{3}|[0-9]+,[0-9]{1,2}"  # beside a currency
_DECIMAL = r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})"  # beside a unit
_SIGN, _MINUS, _CURRENCY = r"[-+\x{2212}]?", r"\x{2212}", r"[$\x{20ac}\x{a3}\x{a5}]"
_BLANK = r"[ \x{a0}\x{202f}]?"
_UNIT = "(?i:%|" + "|".join(map(re.escape, sorted(UNITS, key=len, reverse=True))) + ")"
_LONE = rf"[ \x{{a0}}][{_ALONE}]"
_TIME = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: ?(?i:[ap]\.?m\.?))?|[0-9]{1,2} ?(?i:[ap]\.?m\.?)"
_DURATION = r"[-+]?[0-9]+ days?,? [-+]?[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
_ISO_DURATION = r"-?P(?:[0-9]+D)?(?:T(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?"
_FLOAT = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?"
_INTERVAL = rf"[(\[](?:{_FLOAT}|-inf), +(?:{_FLOAT}|inf)[)\]]"
_SIGNED = (
    rf"{_SIGN}(?:{_BOTH}|{_THOUSANDS})|{_MINUS}(?:{_PLAIN})"
    rf"|{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_DECIMAL})(?:{_BLANK}{_UNIT}|{_LONE})"
    rf"|{_SIGN}{_CURRENCY}{_BLANK}{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_ONE_MARK})"
    rf"|{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_ONE_MARK}){_BLANK}{_CURRENCY}"
)
_AMOUNTS = rf"{_PLAIN}|{_BOTH}|{_THOUSANDS}|[0-9]{{1,3}},[0-9]{{3}}"
_NEGATIVE = rf"(?:{_CURRENCY}{_BLANK})?\((?:{_CURRENCY}{_BLANK})?(?:{_AMOUNTS})(?:{_BLANK}(?:%|{_CURRENCY}))?\)"
_NEGATIVE += rf"(?:{_BLANK}(?:%|{_CURRENCY}))?"
# for Arrow, whose regular expressions are those of RE2
NUMBER = rf"^(?:{_SIGNED}|{_NEGATIVE}|{_TIME}|{_DURATION}|{_ISO_DURATION}|{_INTERVAL})$"
_CLOCK = re.compile(r"([0-9]{1,2})(?::([0-9]{2}))?(?::([0-9.]+))?(?: ?([apAP])\.?[mM]\.?)?")
_DAYS = re.compile(r"([-+]?[0-9]+) days?,? ([-+]?)([0-9]{1,2}):([0-9]{2}):([0-9.]+)")
_ISO = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?")
_START = re.compile(rf"[(\[]({_FLOAT}|-inf), +[^,]*[)\]]")
_AMOUNT = re.compile(r"[0-9.,'\u2019\u00a0\u202f]*[0-9.]")
NAN = float("nan")


def number_of(text: str) -> float:
    """Return the number of a text that matches NUMBER; NaN if it is none after all."""
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds, half = int(clock[1]), int(clock[2] or 0), float(clock[3] or 0), clock[4]
        if half:
            hours = hours % 12 + 12 * (half in "pP") if 1 <= hours <= 12 else 24
        return hours + minutes / 60 + seconds / 3600 if hours < 24 and minutes < 60 > seconds else NAN
    if duration := _DAYS.fullmatch(text):
        time = 3600 * int(duration[3]) + 60 * int(duration[4]) + float(duration[5])
        return 86400 * int(duration[1]) + (-time if duration[2] == "-" else time)
    if duration := _ISO.fullmatch(text):
        parts = [float(each or 0) for each in duration.groups()[1:]]
        size = sum(each * seconds for each, seconds in zip(parts, (86400, 3600, 60, 1), strict=True))
        return NAN if text.endswith(("P", "T")) else -size if duration[1] else size
    if interval := _START.fullmatch(text):
        return float(interval[1])
    digits = _AMOUNT.search(text)
    if digits is None:
        return NAN
    amount, negative = digits[0], "(" in text
    beside = (negative and "," in amount) or bool(re.search("[$\u20ac\u00a3\u00a5]", text))
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
    return -value if negative or re.search("[-\u2212]", text[: digits.start()]) else value

"""Further forms of numbers in texts, each read by itself; `dpfast.tables.dates` has those of dates.

Only forms that mean the same in every country are read here. 1,234 does not: whether a comma is a decimal mark has to
be declared.

They are 1,234.50 and 1.234,50, where both marks occur; 1,234,567, 1'234'567 and 12,34,567; 1 234,50, and 1 234 beside a
currency or a unit, since 600 123 456 alone may be a telephone number; a number beside a currency, a symbol or one of
CODES, where three digits after a mark are thousands, as in $1,200 and 1.200.000 EUR, or before a dash for no cents, as
in 1,200/- and 50.-; a number with a percent sign or a unit of UNITS, such as 50.2 kg; a number in parentheses, which is
negative, and in which three digits after a comma are thousands, as in (1,234); an amount with its minus at the end, as
in 1.234,56-; a time of day or a duration, such as 13:05, 1:05 pm or 45:10, as a number of hours, or of what else its
first number counts, and the pace 4:30/km alike; a duration such as 2 days 13:05:00 or P2DT13H5M, as a number of
seconds; an interval, such as (0, 10], as the number where it begins; and degrees with a letter of the compass, such as
48.2082 N and 16\u00b022'30"W, which are negative in the south and in the west; a number with k, K, M or a word for its
thousands, such as 8.7k, \u20ac110.5M, 2 million and 1.2 crore, where b, bn and m are read beside a currency only; two
numbers with their units, such as 5 ft 11 in, 7 lb 4 oz, 8h 3m and 3 years 2 months, as a number of the first one; and a
number after ~ or \u2248, which do not count.

Digits of other scripts, such as \u0664\u0665 and those of full width, are read as these ones: `in_latin_digits`.
"""

import re

UNITS = (
    *("kg", "mg", "lb", "lbs", "oz", "km", "cm", "mm", "mi", "ft", "yd", "ml", "cl", "gal", "ms", "sec", "min", "mins"),
    *("hr", "hrs", "hour", "hours", "day", "days", "week", "weeks", "month", "months", "yr", "yrs", "year", "years"),
    *("km/h", "mph", "m/s", "kb", "mb", "gb", "tb", "kw", "kwh", "hz", "khz", "mhz", "ghz", "kcal", "cal", "mmhg"),
    *("mg/dl", "mmol/l", "bpm", "px", "°c", "°f", "°", "m²", "m2", "km²", "sqft", "ha", "minutes", "seconds", "miles"),
    *("y", "yo", "y/o", "pcs", "wh", "mwh", "kj", "mj", "bar", "mbar", "hpa", "kpa", "psi", "rpm", "ppm", "ppb", "db"),
    *("dl", "mcg", "µg", "ug", "iu", "u/l", "iu/l", "iu/ml", "g/dl", "g/l", "mg/l", "µg/l", "ug/l", "ng/ml", "pg/ml"),
    *("µmol/l", "umol/l", "nmol/l", "mmol/mol", "meq/l", "ml/min", "l/min", "kg/m²", "kg/m2", "w/m²", "w/m2", "m³"),
    *("ft²", "ft2", "sqm", "l/h", "kn", "kts", "knots", "acres"),
    *("jahr", "jahre", "monat", "monate", "woche", "wochen", "tag", "tage", "stunde", "stunden", "minuten", "sekunden"),
    *("an", "ans", "mois", "semaine", "semaines", "jour", "jours", "heure", "heures", "stk", "stück"),
    *("año", "años", "mes", "meses", "semana", "semanas", "día", "días", "hora", "horas", "ano", "anos", "dia", "dias"),
    *("anno", "anni", "mese", "mesi", "giorno", "giorni", "ora", "ore", "jaar", "maanden", "weken", "dagen", "uur"),
    *("歳", "才", "岁", "세", "年", "ヶ月", "か月", "個", "件", "回", "人", "分", "秒", "時間"),
)
CODES = (  # of currencies, in capitals
    "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|RMB|HKD|SGD|TWD|INR|KRW|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|TRY|RUB|UAH|BRL"
    "|MXN|ARS|CLP|COP|PEN|ZAR|NGN|KES|EGP|ILS|AED|SAR|THB|IDR|MYR|PHP|VND|PKR"
)
_ALONE = "gmlshwvt"  # only after a blank, as 2h is rather a name
_PLAIN = r"[0-9]+\.?[0-9]*|\.[0-9]+"
_BOTH = r"[0-9]{1,3}(?:,[0-9]{3})+\.[0-9]+|[0-9]{1,3}(?:\.[0-9]{3})+,[0-9]+"
_THOUSANDS = r"[0-9]{1,3}(?:,[0-9]{3}){2,}|[0-9]{1,3}(?:[ '\x{2019}\x{a0}\x{202f}\x{2009}][0-9]{3})+(?:[.,][0-9]+)?"
_THOUSANDS += r"|[0-9]{1,2}(?:,[0-9]{2})+,[0-9]{3}(?:\.[0-9]+)?"  # lakhs
_POINTS = r"[0-9]{1,3}(?:\.[0-9]{3}){2,}"  # beside a currency or a unit
_ONE_MARK = r"[0-9]{1,3}[.,][0-9]{3}|[0-9]+,[0-9]{1,2}"  # beside a currency
_DECIMAL = r"[0-9]+,(?:[0-9]{1,2}|[0-9]{4,})"  # beside a unit
_SIGN, _MINUS, _BLANK = r"[-+\x{2212}\x{2013}]?", r"\x{2212}\x{2013}", r"[ \x{a0}\x{202f}\x{2009}]?"  # or a dash
_SYMBOLS = "$\u20ac\xa3\xa5\u20b9\u20a9\u20bd\u20ba\u20aa\u0e3f"
_OTHERS = "z\u0142|K\u010d|円|元|원"
_CURRENCY = rf"(?:(?:R|US|A|C|NZ|HK|S)?[{_SYMBOLS}]|{CODES}|kr\.?|{_OTHERS}|Rs\.?)"
_UNIT = "(?i:%|" + "|".join(map(re.escape, sorted(UNITS, key=len, reverse=True))) + ")"
_LONE = rf"[ \x{{a0}}](?:[{_ALONE}]|m3)"  # 2010m3 is a month
_CLOCKS = r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?"
_PACE = rf"{_BLANK}(?:min)?{_BLANK}/{_BLANK}(?:km|mi|mile|100{_BLANK}m)"
_TIME = rf"{_CLOCKS} ?(?i:[ap]\.?m\.?)|[0-9]{{1,2}} ?(?i:[ap]\.?m\.?)|[0-9]{{0,2}}{_CLOCKS}(?:{_PACE})?"
_DURATION = r"[-+]?[0-9]+ days?,? [-+]?[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?"
_ISO_DURATION = r"-?P(?:[0-9]+D)?(?:T(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?"
_FLOAT = r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[-+]?[0-9]+)?"
_INTERVAL = rf"[(\[](?:{_FLOAT}|-inf), +(?:{_FLOAT}|inf)[)\]]"
_PART, _MINUTES, _SECONDS = r"[0-9]{1,3}(?:[.,][0-9]+)?", "['\u2032\u2019]", "(?:[\"\u2033\u201d]|'')"
_COMPASS = (
    rf"[0-9]{{1,3}}[.,][0-9]{{3,}} ?[NSEW]"
    rf"|{_PART} ?\xb0 ?(?:{_PART} ?{_MINUTES} ?(?:{_PART} ?{_SECONDS} ?)?)?[NSEW]"
)
_SIGNED = (
    rf"{_SIGN}(?:{_BOTH}|{_THOUSANDS})|[{_MINUS}](?:{_PLAIN})"
    rf"|{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_POINTS}|{_DECIMAL})(?:{_BLANK}{_UNIT}|{_LONE})"
    rf"|{_SIGN}{_CURRENCY}{_BLANK}{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_POINTS}|{_ONE_MARK})"
    rf"|{_SIGN}(?:{_PLAIN}|{_BOTH}|{_THOUSANDS}|{_POINTS}|{_ONE_MARK}){_BLANK}{_CURRENCY}"
    rf"|(?:[0-9]*\.[0-9]+|{_BOTH}|{_THOUSANDS})[-{_MINUS}]"
)
_WORDS = "(?:thousand|million|billion|lakhs?|lacs?|crores?|Tsd|Mio|Mrd)"
_THOUSAND = rf"{_BLANK}{_WORDS}\.?"
_BARE = rf"{_SIGN}(?:{_PLAIN}|{_DECIMAL})"
_SIZED = rf"{_BARE}(?:[kKM]|{_THOUSAND})|{_SIGN}{_CURRENCY}{_BLANK}{_BARE}(?:[kKmMbB]|[bm]n|{_THOUSAND})"
_SIZED += rf"|{_BARE}(?:[kKmMbB]|[bm]n|{_THOUSAND}){_BLANK}{_CURRENCY}"
_NO_CENTS = "(?:[.,](?:--?|\u2013|\u2014)|/-)"
_ROUND = rf"{_SIGN}(?:{_CURRENCY}{_BLANK})?(?:[0-9]+|{_THOUSANDS}|[0-9]{{1,3}}[.,][0-9]{{3}}){_NO_CENTS}"
_ROUND += rf"(?:{_BLANK}{_CURRENCY})?"
_PAIRS = (  # units, and how many of the second one make one of the first
    (r"ft\.?|feet|foot", r"in\.?|inch|inches", 12),
    ("lbs?|pounds?", "oz|ounces?", 16),
    ("y|yrs?|years?", "m|mos?|months?", 12),
    ("d|days?", "h|hrs?|hours?", 24),
    ("h|hrs?|hours?", "m|mins?|minutes?", 60),
    ("m|mins?|minutes?", "s|secs?|seconds?", 60),
)
_WHOLE, _REST = r"[0-9]{1,4}", r"[0-9]{1,2}(?:\.[0-9]+)?"
_TWO = [rf"({_WHOLE}) ?(?i:{first}),? ?({_REST}) ?(?i:{second})" for first, second, _ in _PAIRS]
_TWO.append("([0-9]{1,2}) ?h ?([0-9]{2})")
_AMOUNTS = rf"{_PLAIN}|{_BOTH}|{_THOUSANDS}|[0-9]{{1,3}},[0-9]{{3}}"
_NEGATIVE = rf"(?:{_CURRENCY}{_BLANK})?\((?:{_CURRENCY}{_BLANK})?(?:{_AMOUNTS})(?:{_BLANK}(?:%|{_CURRENCY}))?\)"
_NEGATIVE += rf"(?:{_BLANK}(?:%|{_CURRENCY}))?"
_ABOUT = rf"[~\x{{2248}}]{_BLANK}"
# for Arrow, whose regular expressions are those of RE2, and compiled anew for each column: a longer one takes longer
NUMBER = rf"^(?:(?:{_ABOUT})?(?:{_SIGNED}|{_SIZED}|{_ROUND})|{_ABOUT}(?:{_PLAIN})|{_NEGATIVE}|{_TIME}|{_DURATION}"
NUMBER += rf"|{_ISO_DURATION}|{_INTERVAL}|{_COMPASS}|{'|'.join(_TWO)})$"
NUMBER = NUMBER.replace(CODES, "[A-Z]{3}")  # so the pattern is compiled faster; `number_of` knows the codes
_WITH_COMMA = r"[0-9]{1,3}(?:\.[0-9]{3})+(?:,[0-9]*)?|[0-9]+,[0-9]*"
_LATER = rf"[-{_MINUS}]|{_BLANK}(?:{_UNIT}|{_CURRENCY})|{_LONE}| ?[NSEW]|[kKmMbB]|[bm]n|{_THOUSAND}"
# numbers by themselves or in such a form, whose decimal mark is a comma, with three digits after each point
COMMA = rf"^\s*(?:{_ABOUT})?[-+({_MINUS}]{{0,2}}(?:{_CURRENCY}{_BLANK})?[-+({_MINUS}]{{0,2}}"
COMMA += rf"(?:{_WITH_COMMA})(?:{_LATER})?\)?(?:{_BLANK}(?:%|{_CURRENCY}))?\s*$"
NO_POINT = "\u2024"  # looks like a point, in texts that would be numbers if it were one, beside a decimal comma
_CLOCK = re.compile(r"([0-9]{1,4})(?::([0-9]{2})(?::([0-9.]+))?(?:[^0-9:]*/.*)?)?(?: ?([apAP])\.?[mM]\.?)?")
_DAYS = re.compile(r"([-+]?[0-9]+) days?,? ([-+]?)([0-9]{1,2}):([0-9]{2}):([0-9.]+)")
_ISO = re.compile(r"(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?)?")
_START = re.compile(rf"[(\[]({_FLOAT}|-inf), +[^,]*[)\]]")
_DEGREES = re.compile(rf"({_PART}) ?\xb0? ?(?:({_PART}) ?{_MINUTES} ?(?:({_PART}) ?{_SECONDS} ?)?)?([NSEW])")
_MONEY = re.compile(_CURRENCY)
_CAPITALS, _KNOWN = re.compile("(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])"), {*CODES.split("|"), *map(str.upper, UNITS)}
_AMOUNT = re.compile(r"\.?[0-9](?:[0-9.,' \u2019\u00a0\u202f\u2009]*[0-9.])?")
_MAY_BE_TWO = re.compile(r"[0-9]+ ?[A-Za-z]+\.?,? ?[0-9]")
_SIZE = re.compile(rf"[-+\u2212\u2013 \u00a0\u202f\u2009]*([0-9.,]+)(?:([kKmMbB]|[bm]n)|\s?({_WORDS})\.?)\s?")
_POWERS = {"k": 3, "t": 3, "l": 5, "m": 6, "c": 7, "b": 9, "mrd": 9}
_IN_GROUPS = re.compile(r"[-+\u2212\u2013]?[0-9]{1,3}(?: [0-9]{3})+[-\u2212\u2013]?")  # or rather a telephone number
_LAST = re.compile(rf"{_NO_CENTS}(?=\s?(?:{_CURRENCY})?$)")
_FULL_WIDTH = {0xFF01 + k: 0x21 + k for k in range(0x5E)} | {0xFFE1: 0xA3, 0xFFE5: 0xA5}
_ZEROS = (
    *(0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6),
    *(0xC66, 0xCE6, 0xD66, 0xE50, 0xED0, 0xF20, 0x1040, 0x17E0),
)
_LATIN = {zero + k: 0x30 + k for zero in _ZEROS for k in range(10)} | _FULL_WIDTH
_LATIN |= {0x66A: ord("%"), 0x66B: ord("."), 0x66C: ord(",")}
_COUNTED = [*zip(map(re.compile, _TWO), [*(how_many for *_, how_many in _PAIRS), 60], strict=True)]
NAN = float("nan")


def begins_with_money(text: str) -> bool:
    """Return whether a text begins with a currency; one that begins with a letter matches NUMBER only if it does."""
    return _MONEY.match(text) is not None


def in_latin_digits(text: str) -> str | None:
    """Return a text with digits of other scripts, and the marks beside them, as those of ASCII; None if it has none."""
    if text.isascii():
        return None
    written = text.translate(_LATIN)
    return written if written != text and any(map(str.isdecimal, written)) else None


def number_of(text: str) -> float:
    """Return the number of a text that matches NUMBER; NaN if it is none after all."""
    if clock := _CLOCK.fullmatch(text):
        hours, minutes, seconds, half = float(clock[1]), int(clock[2] or 0), float(clock[3] or 0), clock[4]
        if half:
            hours = hours % 12 + 12 * (half in "pP") if 1 <= hours <= 12 else NAN
        return hours + minutes / 60 + seconds / 3600 if minutes < 60 > seconds else NAN
    if duration := _DAYS.fullmatch(text):
        time = 3600 * int(duration[3]) + 60 * int(duration[4]) + float(duration[5])
        return 86400 * float(duration[1]) + (-time if duration[2] == "-" else time)
    if duration := _ISO.fullmatch(text):
        parts = [float(each or 0) for each in duration.groups()[1:]]
        size = sum(each * seconds for each, seconds in zip(parts, (86400, 3600, 60, 1), strict=True))
        return NAN if text.endswith(("P", "T")) else -size if duration[1] else size
    if interval := _START.fullmatch(text):
        return float(interval[1])
    if degrees := _DEGREES.fullmatch(text):
        parts = [float((each or "0").replace(",", ".")) for each in degrees.groups()[:3]]
        size = parts[0] + parts[1] / 60 + parts[2] / 3600
        return -size if degrees[4] in "SW" else size
    if text[0] in "~\u2248":
        return number_of(text[1:].strip())
    if _IN_GROUPS.fullmatch(text):
        return NAN
    for form, how_many in _COUNTED if _MAY_BE_TWO.match(text) else ():
        if two := form.fullmatch(text):
            return float(two[1]) + float(two[2]) / how_many
    if (code := _CAPITALS.search(text)) and code[0] not in _KNOWN:
        return NAN
    bare = _MONEY.sub("", _LAST.sub("", text))
    if sized := _SIZE.fullmatch(bare):
        word = (sized[2] or sized[3]).lower()
        power = _POWERS.get(word) or _POWERS[word[0]]
        size = float(f"{sized[1].replace(',', '.')}e{power}")
        return -size if re.search("[-\u2212\u2013]", bare) else size
    digits = _AMOUNT.search(bare)
    if digits is None:
        return NAN
    amount, negative = digits[0], "(" in bare
    beside = (negative and "," in amount) or bare != text
    marks = [mark for mark in amount if mark in ".,"]
    if marks.count(",") and marks.count("."):
        amount = amount.replace("," if marks[-1] == "." else ".", "").replace(",", ".")
    elif beside and re.fullmatch("[0-9]{1,3}[.,][0-9]{3}", amount):
        amount = re.sub("[.,]", "", amount)
    elif marks.count(".") > 1:
        amount = amount.replace(".", "")
    elif marks.count(",") == 1:
        amount = amount.replace(",", ".")
    else:
        amount = amount.replace(",", "")
    value = float(re.sub("[' \u2019\u00a0\u202f\u2009]", "", amount))
    minus = bare[: digits.start()] + bare[-1]
    return -value if negative or re.search("[-\u2212\u2013]", minus) else value

"""Forms of dates in texts, each read by itself.

Only forms that mean the same in every country are read here; the order of the numbers in 01/05/2020, 01-05-20 and
5.1.20 has to be declared. Weekdays before a date and times of day in or after it do not count.

*Days.* 31.12.2020, 31. 12. 2020 and 31.12.20; 2020/12/31, 2020.12.31, 2020. 12. 31. and 2020-1-5;
2020\u5e7412\u670831\u65e5; 5 January 2020, 05-Jan-2020, 05-Jan-20, 05Jan2020 and 5 de enero de 2020; Jan 05, 2020;
2020-Jan-05; 20200105T1030.

*Longer times* have the date on which they begin: 2020-03, 03/2020, Mar 2020 and Mar-20 are months, and so is 2020m3 of
Stata and Eurostat; 2020-H1 and H1 2020 are half years, 2020-Q1, Q1 2020 and 1Q20 quarters, 2020-W05 and 2020-W05-2
weeks and days of ISO 8601.

A year of two digits is 1969 to 2068, as in POSIX: from PIVOT on it is one of the last century. Names of months are
those of LANGUAGES, in which no name stands for two months.
"""

import re
from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

PIVOT = 69
LANGUAGES = {  # names of months, and abbreviations
    "English": (
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct"
        "|november nov|december dec"
    ),
    "German": (
        "januar jan jänner jän|februar feb|märz mär maerz mrz|april apr|mai|juni jun|juli jul|august aug"
        "|september sept sep|oktober okt|november nov|dezember dez"
    ),
    "French": (
        "janvier janv jan|février fevrier févr fevr fév|mars|avril avr|mai|juin|juillet juil|août aout|septembre sept"
        "|octobre oct|novembre nov|décembre decembre déc dec"
    ),
    "Spanish": (
        "enero ene|febrero feb|marzo mar|abril abr|mayo may|junio jun|julio jul|agosto ago|septiembre setiembre sep"
        "|octubre oct|noviembre nov|diciembre dic"
    ),
    "Italian": (
        "gennaio gen|febbraio feb|marzo mar|aprile apr|maggio mag|giugno giu|luglio lug|agosto ago|settembre sett set"
        "|ottobre ott|novembre nov|dicembre dic"
    ),
    "Portuguese": (
        "janeiro jan|fevereiro fev|março marco mar|abril abr|maio mai|junho jun|julho jul|agosto ago|setembro set"
        "|outubro out|novembro nov|dezembro dez"
    ),
    "Dutch": (
        "januari jan|februari feb|maart mrt|april apr|mei|juni jun|juli jul|augustus aug|september sept sep|oktober okt"
        "|november nov|december dec"
    ),
    "Swedish": (
        "januari jan|februari feb|mars mar|april apr|maj|juni jun|juli jul|augusti aug|september sept sep|oktober okt"
        "|november nov|december dec"
    ),
    "Danish": (
        "januar jan|februar feb|marts mar|april apr|maj|juni jun|juli jul|august aug|september sept sep|oktober okt"
        "|november nov|december dec"
    ),
    "Norwegian": (
        "januar jan|februar feb|mars mar|april apr|mai|juni jun|juli jul|august aug|september sept sep|oktober okt"
        "|november nov|desember des"
    ),
}
MONTHS = {
    name: k + 1 for months in LANGUAGES.values() for k, names in enumerate(months.split("|")) for name in names.split()
}
_WEEKDAYS = (
    " monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun"
    " montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so"
    " lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim"
    " lunes martes miércoles miercoles jueves viernes sábado sabado domingo mié mie jue vie sáb sab dom"
    " lunedì martedì mercoledì giovedì venerdì gio"
    " segunda-feira terça-feira quarta-feira quinta-feira sexta-feira seg ter qua qui sex"
    " maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo"
    " måndag tisdag onsdag torsdag fredag lördag söndag mandag tirsdag lørdag søndag "
)
_LETTER = r"[^\W\d_]"
_NAME = rf"{_LETTER}{{3,10}}"
_USUAL = "(?:1[89]|2[01])[0-9]{2}"  # years beside nothing but a month, since other numbers are rather codes
_YEAR = "'?(?:[0-9]{4}|[0-9]{2})"
_TEXTS = (  # dates without time and weekday
    r"[0-9]{1,2}\. ?[0-9]{1,2}\. ?[0-9]{4}|[0-9]{2}\.[0-9]{2}\.[0-9]{2}|[0-9]{4}[-/.][0-9]{1,2}[-/.][0-9]{1,2}",
    r"[0-9]{4}\. ?[0-9]{1,2}\. ?[0-9]{1,2}\.?|[0-9]{4}[年년] ?[0-9]{1,2}[月월](?: ?[0-9]{1,2}[日일])?",
    rf"[0-9]{{1,2}}(?:st|nd|rd|th|er)?[. /-]{{0,2}}(?:de |of )?{_NAME}[., /-]{{0,2}}(?:de )?{_YEAR}",
    rf"{_NAME}\.?[ -][0-9]{{1,2}}(?:st|nd|rd|th)?(?:,? ?|[ -])[0-9]{{4}}|{_NAME}\.? [0-9]{{1,2}}, '?[0-9]{{2}}",
    rf"{_NAME}\.?(?: |, |-| de )[0-9]{{4}}|{_NAME}(?:-| ?')[0-9]{{2}}",
    rf"[0-9]{{4}}[- ]?{_NAME}(?:[- ]?[0-9]{{1,2}})?|{_USUAL}[-/][0-9]{{2}}|[0-9]{{1,2}}/{_USUAL}",
    rf"{_USUAL}[Mm][0-9]{{1,2}}|{_USUAL}-?[Hh][12]|[Hh][12][ /-]{_USUAL}",
    r"[0-9]{4}[- ]?[Qq][1-4]|[Qq][1-4][ /-]?[0-9]{4}|[1-4][Qq][ /-]?(?:[0-9]{4}|[0-9]{2})",
    r"[0-9]{4}-?W[0-9]{2}(?:-?[1-7])?|[0-9]{8}T[0-9]{2,6}(?:[.][0-9]+)?(?:Z|[+-][0-9:]+)?",
)
_BETWEEN = r" [0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?: [A-Z]{2,5}| [+-][0-9]{4})? ([0-9]{4})$"  # time and year
_AFTER = r"(?:[T ,]+|:)[0-9]{1,2}:.*$|[ ,]+[0-9]{1,2} ?[AaPp]\.?[Mm]\.?$"
_BEFORE = rf"{_LETTER}{{2,10}}(?:-feira)?[.,]{{0,2}} "
DATE = re.compile(
    rf"(?:{_BEFORE})?(?:(?:{'|'.join(_TEXTS)})(?:{_AFTER}|$)|{_NAME} +[0-9]{{1,2}}{_BETWEEN})".replace("$", r"\Z")
)
_FIRST = re.compile(f"{_LETTER}+")
_FIRST_WORDS = {*MONTHS, *(each.partition("-")[0] for each in _WEEKDAYS.split()), "q", "h"}  # in small letters
_LETTERS, _NTH = f"({_NAME})", "(?:st|nd|rd|th|er)?"
_READ = [  # what is read of a text in small letters without time and weekday: year, and what comes after it
    (re.compile(pattern), order)
    for pattern, order in (
        (r"([0-9]{1,2})\. ?([0-9]{1,2})\. ?([0-9]{4}|[0-9]{2})", "dmy"),
        (r"([0-9]{4})\. ?([0-9]{1,2})\. ?([0-9]{1,2})\.?", "ymd"),
        (r"([0-9]{4})[年년] ?([0-9]{1,2})[月월] ?([0-9]{1,2})[日일]", "ymd"),
        (r"([0-9]{4})[年년] ?([0-9]{1,2})[月월]", "ym"),
        (r"([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})", "ymd"),
        (
            rf"([0-9]{{1,2}}){_NTH}[. /-]{{0,2}}(?:de |of )?{_LETTERS}[., /-]{{0,2}}(?:de )?'?([0-9]{{4}}|[0-9]{{2}})",
            "dmy",
        ),
        (rf"{_LETTERS}\.?[ -]{{1,2}}([0-9]{{1,2}}){_NTH}[, -]{{1,2}}'?([0-9]{{4}}|[0-9]{{2}})", "mdy"),
        (rf"{_LETTERS}\.?(?: |, |-| de | ?')([0-9]{{4}}|[0-9]{{2}})", "my"),
        (rf"([0-9]{{4}})[- ]?{_LETTERS}[- ]?([0-9]{{1,2}})", "ymd"),
        (rf"([0-9]{{4}})[- ]?{_LETTERS}", "ym"),
        (r"([0-9]{4})[-/]([0-9]{2})", "ym"),
        (r"([0-9]{1,2})/([0-9]{4})", "my"),
        (r"([0-9]{4})m([0-9]{1,2})", "ym"),
        (r"([0-9]{4})-?h([12])", "yh"),
        (r"h([12])[ /-]([0-9]{4})", "hy"),
        (r"([0-9]{4})[- ]?q([1-4])", "yq"),
        (r"q([1-4])[ /-]?([0-9]{4})", "qy"),
        (r"([1-4])q[ /-]?([0-9]{4}|[0-9]{2})", "qy"),
        (r"([0-9]{4})-?w([0-9]{2})-?([1-7])?", "ywk"),
        (r"([0-9]{4})([0-9]{2})([0-9]{2})t[0-9.z:+-]+", "ymd"),
    )
]
_WEEKDAY = re.compile(rf"({_LETTER}{{2,10}}(?:-feira)?)[.,]{{0,2}} (?=\w)")
_TIME_BETWEEN, _TIME_AFTER = re.compile(_BETWEEN, re.IGNORECASE), re.compile(_AFTER, re.IGNORECASE)
_EPOCH = date(1970, 1, 1)
NAN = float("nan")
ORDERS = ("dmy", "mdy", "ymd")  # of day, month and year where a form has several readings
ORDERED = r"^\s*[0-9]{1,2}[/-][0-9]{1,2}[/-](?:[0-9]{4}|[0-9]{2})(?:[^0-9].*)?$"  # dates of which the order is declared
DOTTED = r"^\s*[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{2}(?:[^0-9.].*)?$"  # and further ones, unless the month comes first
_ORDERED = re.compile(r"\s*([0-9]{1,2})([/.-])([0-9]{1,2})\2([0-9]{4}|[0-9]{2})(\D.*)?")
SINCE_1970 = {"seconds": "s", "milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}  # units of numpy
EXCEL = "excel days"  # since 1899-12-30
NUMBERED = (*SINCE_1970, EXCEL)  # what numbers that are dates may count
_EXCEL_DAY = -25569


def may_be_date(text: str) -> bool:
    """Return whether a text matches DATE, and its first word, if it begins with one, is that of a date."""
    first = _FIRST.match(text)
    return (first is None or first[0].lower() in _FIRST_WORDS) and DATE.match(text) is not None


def day_of(text: str) -> float:
    """Return the date of a text that matches DATE, in days since 1970-01-01; NaN if there is no such day."""
    text = _TIME_AFTER.sub("", _TIME_BETWEEN.sub(r" \1", text)).lower()
    if (before := _WEEKDAY.match(text)) and f" {before[1]} " in _WEEKDAYS:
        text = text[before.end() :]
    for pattern, order in _READ:
        if match := pattern.fullmatch(text):
            part = dict(zip(order, match.groups(), strict=True))
            try:
                return float((_date(part) - _EPOCH).days)
            except (KeyError, ValueError):
                return NAN
    return NAN


def _date(part):
    """Return the date of the parts of a text; raise KeyError or ValueError if there is none."""
    year = year_of(part["y"])
    if "w" in part:
        return date.fromisocalendar(year, int(part["w"]), int(part["k"] or 1))
    if "q" in part:
        return date(year, 3 * int(part["q"]) - 2, 1)
    if "h" in part:
        return date(year, 6 * int(part["h"]) - 5, 1)
    month = int(part["m"]) if part["m"].isdecimal() else MONTHS[part["m"]]
    return date(year, month, int(part.get("d", 1)))


def year_of(digits: str) -> int:
    """Return the year of four or two digits."""
    return int(digits) if len(digits) > 2 else int(digits) + (1900 if int(digits) >= PIVOT else 2000)


def days_of(array: pa.Array) -> np.ndarray:
    """Return the dates of texts that match DATE as `day_of` does: each different day is read once."""
    array = pc.replace_substring_regex(pc.replace_substring_regex(array, _BETWEEN, r" \1"), _AFTER, "")
    encoded = pc.dictionary_encode(array)
    days = np.array([day_of(text) for text in encoded.dictionary.to_pylist()], np.float64)
    return days[encoded.indices.to_numpy(zero_copy_only=False)]


def iso_dates(order: str) -> Callable[[str], str]:
    """Return the function that writes dates such as 01/05/2020 as YYYY-MM-DD, and leaves other texts unchanged.

    `order` is one of ORDERS. With "ymd", years have two digits.
    """

    def rewrite(text: str) -> str:
        match = _ORDERED.fullmatch(text)
        if match is None or (match[2] == "." and (order == "mdy" or len(match[4]) > 2)):
            return text
        part = dict(zip(order, (match[1], match[3], match[4]), strict=True))
        try:
            if len(part["y"]) == 1:
                return text
            written = date(year_of(part["y"]), int(part["m"]), int(part["d"])).isoformat()
        except ValueError:
            return text
        return written + (match[5] or "")

    return rewrite


def with_iso_dates(texts: pa.Array, order: str) -> pa.Array:
    """Return texts with dates such as 01/05/2020 as YYYY-MM-DD, each by itself; `order` is as in `iso_dates`."""
    pattern = ORDERED if order == "mdy" else f"{ORDERED}|{DOTTED}"
    matches = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    if not pc.any(matches).as_py():
        return texts
    encoded = pc.dictionary_encode(texts.filter(matches))
    written = pa.array(map(iso_dates(order), encoded.dictionary.to_pylist()), texts.type)
    return pc.replace_with_mask(texts, matches, written.take(encoded.indices))


def days_of_numbers(numbers: np.ndarray, unit: str) -> np.ndarray:
    """Return numbers that are times as days since 1970-01-01; `unit` is one of NUMBERED."""
    if unit == EXCEL:
        return np.floor(numbers) + _EXCEL_DAY
    each: Any = SINCE_1970[unit]
    per_day = np.timedelta64(1, "D") // np.timedelta64(1, each)
    return np.floor(numbers / per_day)

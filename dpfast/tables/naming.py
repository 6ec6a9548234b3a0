"""Messages about missing columns, with the name that may be meant; names and labels as they may be shown."""

import re
from collections import Counter
from decimal import Decimal
from difflib import get_close_matches
from unicodedata import normalize

LABELS = " to take labels from"
LATER_HEADER = "If the header is a later line, give the number of lines before it: --skip-lines (skip_lines=)"
_NUMBER = re.compile(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?", re.ASCII)
_PERSON = (
    "patient|person|user|customer|client|member|subject|student|employee|passenger|participant|citizen|respondent|donor"
    "|voter|guest|tenant|player|author|cardholder|policyholder|account|household|owner|case|beneficiary|enrollee|resident"
    "|pupil|worker|applicant|borrower|driver|subj|cust|pat|emp|hh|resp|panelist"
    "|patienten|patientin|kunden?|mitarbeiter|benutzer|versicherten?|paciente|cliente|usuario|persona|personne"
)
_CODE = "ids?|no|nr|num|number|key|code|uuid|guid|names?|hash|ref|identifier|nummer|numero"
_SUGGESTS = re.compile(
    rf".*\b({_PERSON}) (.* )?({_CODE})( .*)?|(id )?({_PERSON})(id)?"
    r"|.*\b(ssn|e ?mail|iban|passport|username|surname|mrn|usubjid|subjid|nhs|nino|pesel|personnummer|pid|imei|imsi"
    r"|msisdn|aadhaar|cpf|curp|kennzeichen|nachname|vorname|(sozial)?versicherungsnummer|personalnummer|matrikelnummer"
    r"|steuernummer|(telefon|handy)nummer|(full|first|last|family|given) name|((license|licence|number) plate)"
    r"|(tele|mobile )?phone (no|nr|num|number)|mobile (no|nr|num|number)|(device|cookie|tax) id)\b.*"
)
_MAY_SUGGEST = re.compile(r".*\b(names?|(tele)?phone|tel|telefon|mobile|handy|fax|plate|vin|ip|login|device)")
_FLAG = re.compile(
    r"(has|have|had|is|was|with|without|valid|verified|no|num|number|count|n|opt|opted|allow|allows)\b.*"
)
NAMELESS = re.compile(r"column [0-9]+|Unnamed: [0-9]+")  # what readers call a column whose name is empty
_CONTROLS = {c: 0x2400 + c for c in range(32)} | {127: 0x2421}  # their pictures
_HIDDEN = (range(0x80, 0xA0), range(0x202A, 0x202F), range(0x2066, 0x206A), (0x2028, 0x2029), range(0xD800, 0xE000))
_CONTROLS |= {c: 0xFFFD for codes in _HIDDEN for c in codes}
_INSIDE = {c: symbol for c, symbol in _CONTROLS.items() if chr(c) not in "\n\t"}


def visible(text, *, lines=False):
    """Return a text in which control characters are replaced by visible ones, for terminals, pages and messages.

    They are those of C0 and C1, marks of direction that reorder what follows, separators of lines, and surrogates.
    With `lines`, ends of lines and tabs are kept.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_INSIDE if lines else _CONTROLS)


def not_there(name, names, what="column", use=LABELS):
    """Return the message that there is no column, or array, of this name."""
    there = f"{len(names):,} others, with numbers among them" if are_cells(names) else listed(names) or "none"
    return f"there is no {what} {name!r}{use}{hint_of(name, names)}; there is {there}{_no_header(names)}"


def are_cells(names):
    """Return whether names of columns are rather cells of a row, which no message repeats: one is a number."""
    return any(_NUMBER.fullmatch(name) for name in names)


def _no_header(names):
    """Return a hint if names look like the cells of a row or of a line before the header, or like no cells at all."""
    if len(names) == 1 and " " in names[0].strip() and not names[0].startswith("#"):
        return ". If blanks separate the columns, give --separator space; the first line must name them"
    few = len(names) <= 2 or any(NAMELESS.fullmatch(name) or name.endswith(":") for name in names)
    if few or are_cells(names) or any(name.startswith("#") for name in names):
        return f". A file must have a line of names. {LATER_HEADER}"
    return ""


def hint_of(name, names):
    """Return a question such as "(is it 'age'?)" if one of the names is similar to this one, else nothing."""
    by_casefold = {str(each).casefold(): each for each in names}
    near = get_close_matches(str(name).casefold(), by_casefold, n=1, cutoff=0.75)
    return f" (is it {by_casefold[near[0]]!r}?)" if near else ""


def suggests_person(name: str) -> bool:
    """Return whether the name of a column, such as "patient_id", suggests that it says whose a row is."""
    words = " ".join(_words_of(name))
    return _SUGGESTS.fullmatch(words) is not None and not _FLAG.fullmatch(words)


def may_suggest_person(name: str) -> bool:
    """Return whether the name of a column, such as "phone", may suggest it of values that are as many as persons."""
    words = " ".join(_words_of(name))
    return _MAY_SUGGEST.fullmatch(words) is not None and not _FLAG.fullmatch(words)


def repeats_label(name: str, label: str) -> bool:
    """Return whether a column has the name of the label, as readers write it of a second column of this name."""
    return (
        name != label
        and re.fullmatch(rf"{re.escape(label.strip())}\s*( \([0-9]+\)|\.[0-9]+)?", name.strip()) is not None
    )


def suggests_code(name: str) -> bool:
    """Return whether the name of a column, such as "order_no", ends as that of a code does, and not as "name"."""
    return bool(words := _words_of(name)) and re.fullmatch(_CODE, words[-1]) is not None and "name" not in words[-1]


def _words_of(name):
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def alike(names):
    """Return the names that differ from another one only in capitals, blanks or how they write a number or a letter."""
    folded = [_fold_number("".join(normalize("NFKC", str(name)).split()).casefold()) for name in names]
    times = Counter(folded)
    return [name for name, fold in zip(names, folded, strict=True) if times[fold] > 1]


def short_for(names):
    """Return pairs of a name of one letter, and the only longer name that begins with it, in any case."""
    pairs = []
    for name in (each for each in map(str, names) if len(each.strip()) == 1 and each.strip().isalpha()):
        letter = name.strip().casefold()
        longer = [
            str(each) for each in names if len(str(each).strip()) > 1 and str(each).strip().casefold()[0] == letter
        ]
        if len({*map(str.casefold, map(str.strip, longer))}) == 1:
            pairs.append((name, longer[0]))
    return pairs


def _fold_number(text):
    return str(Decimal(text).normalize()) if _NUMBER.fullmatch(text) else text


def listed(values, most=8):
    """Return values as text: the first few, and how many there are if they are more."""
    return ", ".join(map(str, values[:most])) + (f", ... ({len(values):,} in all)" if len(values) > most else "")

"""Messages about missing columns, with the name that may be meant; names and labels as they may be shown."""

import re
from collections import Counter
from decimal import Decimal
from difflib import get_close_matches

LABELS = " to take labels from"
_NUMBER = re.compile(r"[+-]?[0-9]{1,25}(\.[0-9]{0,25})?", re.ASCII)
_CONTROLS = {c: 0x2400 + c for c in range(32)} | {127: 0x2421}  # their pictures
_HIDDEN = (range(0x80, 0xA0), range(0x202A, 0x202F), range(0x2066, 0x206A), (0x2028, 0x2029), range(0xD800, 0xE000))
_CONTROLS |= {c: 0xFFFD for codes in _HIDDEN for c in codes}
_INSIDE = {c: shown for c, shown in _CONTROLS.items() if chr(c) not in "\n\t"}


def visible(text, *, lines=False):
    """Return a text in which control characters are replaced by visible ones, for terminals, pages and messages.

    They are those of C0 and C1, marks of direction that reorder what follows, separators of lines, and surrogates.
    With `lines`, ends of lines and tabs are kept.
    """
    return text if text.isascii() and text.isprintable() else text.translate(_INSIDE if lines else _CONTROLS)


def not_there(name, names, what="column", use=LABELS):
    """Return the message that there is no column, or array, of this name."""
    return f"there is no {what} {name!r}{use}{meant(name, names)}; there is {listed(names) or 'none'}"


def meant(name, names):
    """Return a question such as "(is it 'age'?)" if one of the names is similar to this one, else nothing."""
    known = {str(each).casefold(): each for each in names}
    near = get_close_matches(str(name).casefold(), known, n=1, cutoff=0.75)
    return f" (is it {known[near[0]]!r}?)" if near else ""


def alike(names):
    """Return the names that differ from another one only in capitals, blanks or how they write the same number."""
    folded = [_folded("".join(str(name).split()).casefold()) for name in names]
    times = Counter(folded)
    return [name for name, fold in zip(names, folded, strict=True) if times[fold] > 1]


def _folded(text):
    return str(Decimal(text).normalize()) if _NUMBER.fullmatch(text) else text


def listed(values, most=8):
    """Return values as text: the first few, and how many there are if they are more."""
    return ", ".join(map(str, values[:most])) + (f", ... ({len(values):,} in all)" if len(values) > most else "")

"""Messages about missing columns, with the name that may be meant."""

from collections import Counter
from difflib import get_close_matches

LABELS = " to take labels from"


def not_there(name, names, what="column", use=LABELS):
    """Return the message that there is no column, or array, of this name."""
    return f"there is no {what} {name!r}{use}{meant(name, names)}; there is {listed(names) or 'none'}"


def meant(name, names):
    """Return a question such as "(is it 'age'?)" if one of the names is similar to this one, else nothing."""
    known = {str(each).casefold(): each for each in names}
    near = get_close_matches(str(name).casefold(), known, n=1, cutoff=0.75)
    return f" (is it {known[near[0]]!r}?)" if near else ""


def alike(names):
    """Return the names that differ from another one only in capitals or blanks."""
    folded = ["".join(str(name).split()).casefold() for name in names]
    times = Counter(folded)
    return [name for name, fold in zip(names, folded, strict=True) if times[fold] > 1]


def listed(values, most=8):
    """Return values as text: the first few, and how many there are if they are more."""
    return ", ".join(map(str, values[:most])) + (f", ... ({len(values):,} in all)" if len(values) > most else "")

"""Notes of a fit: what was decided for its user, in short sentences, from released and public facts alone."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from dpfast.accounting.claims.spend import DiscoveryWarning, warn
from dpfast.base.others import has_others, share_in_words
from dpfast.discovery.facts import LARGEST
from dpfast.tables.cells import LEAST
from dpfast.tables.discovered import Discovered
from dpfast.tables.naming import NAMELESS, alike, listed, repeats_label, suggests_person

WITHOUT_LABEL = "Rows without a label (an empty cell, NA, NULL or ?), if any, were left out."
MOST_NOTES = 10  # lines that are printed
_MOST, _MANY = 0.5, 0.1  # of the rows
_CODES = (
    " Codes such as 01234 are numbers there, too; declare them as a category if they are names. Units do not count: 2 "
    "h and 45 min are 2 and 45."
)


def notes_of(model: Any, rows_per_unit: int | None = None) -> Iterator[str]:
    """Yield what the fit of a classifier decided about its table, its labels and the unit of its claim.

    Parameters
    ----------
    model : private classifier
        Its attributes are those of a fit that was charged.
    rows_per_unit : int, optional
        The largest number of rows of a unit, if the claim protects units.

    Yields
    ------
    str
        A sentence or two.
    """
    yield from _of_labels(model)
    encoder, names = getattr(model, "encoder_", None), getattr(model, "feature_names_in_", ())
    if encoder is not None:
        yield from _of_columns(encoder)
        names = encoder.schema_.names
        yield from _of_label_twice(encoder.schema_.label, names)
    yield from _of_units(rows_per_unit, names, getattr(encoder, "_persons", ()))


def _of_labels(model):
    encoder, origin = getattr(model, "encoder_", None), model._facts.get("classes")
    if same := alike(getattr(model, "classes_", np.empty(0)).tolist()):
        yield (
            "Labels that differ only in capitals, blanks or the form of a number are separate classes: "
            f"{listed(same)}. If they mean the same, write them alike first; dpfast schema draft shows such labels."
        )
    if hasattr(encoder, "other_label_"):
        classes = listed(getattr(model, "classes_", []))
        shares = hasattr(encoder, "other_labels_")
        rows = f"{share_in_words(encoder.other_labels_)} have other labels" if shares else "Rows with any other label"
        if hasattr(model, "classes_") and has_others(model):
            yield (
                f"The labels were discovered: {classes}. The class {encoder.other_label_!r} stands for all labels that "
                f"too few rows have to be discovered{f': {rows}' * shares}; classes= (--classes) declares the labels. "
                f"{WITHOUT_LABEL}"
            )
            return
        yield (
            f"The labels were discovered: {classes}. {rows[0].upper() + rows[1:]}{', which' * shares} were learned as "
            f"{encoder.other_label_}; classes= (--classes) declares the labels. {WITHOUT_LABEL}"
        )
    elif origin == "read off the rows" and hasattr(model, "classes_"):
        yield "The set of labels was read off the rows and is published as it is; classes= (--classes) declares it."


def _of_columns(encoder):
    """Yield how the columns were read that no schema declared, and those of which nothing was discovered."""
    columns, lost = _discovered(encoder)
    kinds: dict[str, list] = {}
    for column in columns:
        if column.name not in lost:
            kinds.setdefault(_kind(column), []).append(column)
    for kind, read in kinds.items():
        texts = "numbers" in kind and any(getattr(column, "reads", "") == "text" for column in read)
        yield f"Read as {kind}: {listed([column.name for column in read])}." + _CODES * texts
    if lost:
        unread = [column for column in columns if column.name in lost and isinstance(column, Discovered)]
        texts = len(lost) < len(columns) and any(column.reads == "text" for column in unread)
        marks = (
            " In a text file, numbers such as 1,5 need decimal= (--decimal), those such as 1,234 are to be written "
            "without separators, and dates such as 01/05/2020 need dates= (--dates)."
        )
        yield (
            f"Nothing was discovered of {len(lost):,} of {len(encoder.schema_.columns):,} columns ({listed(lost)}): "
            "too few rows have any one value at this epsilon. They are read by bins at public places, or by groups "
            "of words. Declare their ranges or values in a schema, or give more rows or a larger epsilon."
            + marks
            * texts
        )
    yield from _of_size(columns)
    if nameless := [column.name for column in columns if NAMELESS.fullmatch(column.name)]:
        yield (
            f"{listed(nameless)} had no name. A column that only numbers the rows, as an index does, is of no use: "
            f"leave it out by --ignore {nameless[0]!r}, or drop it."
        )
    texts = {column.name for column in columns if any(each.values for each in column.code_columns())}
    beside = " These may be rare words, or numbers and dates among words."
    for how, least, most, of, may in (("Most", _MOST, 1, encoder.other_, ""), ("Many", _MANY, _MOST, texts, beside)):
        rest = [(name, share) for name, share in encoder.other_.items() if least < share <= most and name in of]
        if rest := [f"{name} (about {share:.0%} of the rows)" for name, share in rest if share < 1]:
            yield (
                f"{how} cells of {listed(rest)} hold nothing that was discovered, and share a few codes.{may} Declare "
                "the range or the values in a schema, or give more rows or a larger epsilon."
            )


def _of_label_twice(label, names):
    """Yield a note on columns that have the name of the label, and may hold it once more."""
    if label is not None and (twice := [name for name in names if repeats_label(str(name), label.name)]):
        yield (
            f"{listed(twice)} has the name of the label, {label.name!r}. If it holds the same, the model only copies "
            f"it. Leave it out by --ignore {twice[0]!r}, or drop it."
        )


def _of_size(columns):
    """Yield notes on columns that were seen to have numbers too large, or too small, to have codes of their own."""
    codes = [each for column in columns for each in column.code_columns() if each.ordered and not each.dates]
    if large := [each.name for each in codes if max(-each.low, each.high) >= LARGEST - 1]:
        yield (
            f"{listed(large)} may have numbers of more than {LARGEST:,.0f} in size, which share one code: write them "
            'in a larger unit, or declare the range (low, high) in a schema, or kind = "date" and the format of times.'
        )
    if small := [each.name for each in codes if 0 < max(-each.low, each.high) <= LEAST]:
        yield (
            f"{listed(small)} may have numbers nearer to 0 than {LEAST:.0e}, which share one code: write them in a "
            "smaller unit, or declare the range (low, high) in a schema."
        )


def warn_of_lost(model: Any) -> None:
    """Warn if nothing was discovered of most columns of a fitted model that no schema declared."""
    if (encoder := getattr(model, "encoder_", None)) is None:
        return
    columns, lost = _discovered(encoder)
    if 2 * len(lost) > len(columns):
        warn(
            f"nothing was discovered of {len(lost):,} of {len(columns):,} columns ({listed(lost)}), so little can be "
            "learned from them: declare their ranges or values in a schema, or give more rows or a larger epsilon; see "
            "notes_",
            DiscoveryWarning,
        )


def _discovered(encoder):
    """Return the columns that no schema declared, and the names of those of which nothing was discovered."""
    columns = [column for column in encoder.schema_.columns if column.name in encoder.found_]
    return columns, [column.name for column in columns if encoder.other_.get(column.name) == 1]


def _kind(column):
    """Return how the cells of a column are read, in words."""
    codes = column.code_columns()
    kinds = ["dates" if each.dates else "numbers" for each in codes if each.ordered]
    return " and ".join(dict.fromkeys([*kinds, *("words" for each in codes if not each.ordered and each.values)])) or (
        "missing or not"
    )


def _of_units(rows, names, alike):
    """Yield whom the claim protects, if rows were left out for it, or if a column suggests that persons have rows.

    It does by its name, or by released facts of its values, which are `alike` to numbers of persons.
    """
    suggesting = [str(name) for name in names if suggests_person(str(name)) or name in alike]
    if rows is not None:
        used = "row of each person was" if rows == 1 else "rows of each person were"
        yield f"At most {rows:,} {used} used, chosen at random."
    elif suggesting:
        yield (
            f"The claim protects rows, not persons, and {listed(suggesting)} may say whose a row is. If a person has "
            "several rows, units= and rows_per_unit= (--unit, --rows-per-unit) protect persons."
        )

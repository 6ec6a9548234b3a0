"""The type of labels: what was given as integers, floats or truth values comes back as such."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.tables.arrow import Frame
from dpfast.tables.columns import text_of
from dpfast.tables.labels import LabelColumn, tidy_labels

KINDS = ("integer", "float", "boolean", "text")


def label_kind(X: Any, y: Any, name: str) -> str | None:
    """Return the type of labels, one of KINDS; None where they have none that no row chose, as in CSV files.

    Parameters
    ----------
    X : table
    y : array_like or None
        The labels, by default the column `name` of X.
    name : str
    """
    if isinstance(y, LabelColumn):
        return None
    try:
        frame = Frame({name: y} if y is not None else X)
        kind = frame.column(name).type
    except (KeyError, ValueError):
        return None
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    return "float" if pa.types.is_floating(kind) else "text"


def typed(labels: Iterable | None, kind: str | None) -> Any:
    """Return labels as an array of a type; as they are if one of them is not of it, or there is no type."""
    if labels is None or kind is None:
        return labels
    texts = [text_of(label) for label in labels]
    try:
        if kind == "boolean":
            return np.array([{"true": True, "false": False}[text.lower()] for text in texts])
        if kind == "text":
            return np.array(texts) if texts else np.empty(0, str)
        if kind == "float":
            return np.array([float(text) for text in texts])
        whole = [int(text) for text in texts]
        return np.array(whole, np.uint64 if max(whole, default=0) >= 1 << 63 else np.int64)
    except (KeyError, ValueError, OverflowError):
        return labels


def typed_labels(column: LabelColumn, kind: str | None) -> LabelColumn:
    """Return a column of labels as labels of a type."""
    if kind is None:
        return column
    spellings = typed(column.spellings.tolist(), kind)
    return LabelColumn(column.numbers, np.asarray(spellings))


def completed(texts: Sequence[str], kind: str | None) -> np.ndarray:
    """Return the classes that were published, two at least: one or two more stand for all others, if need be.

    Parameters
    ----------
    texts : sequence of str
        Published labels.
    kind : str or None
        Of KINDS, or None for whatever all texts are.

    Returns
    -------
    ndarray
        Sorted.
    """
    found = [text for text in texts if not text.endswith("\0")]  # which arrays of text do not keep
    if kind == "boolean":
        return np.array([False, True])
    more = ("other", "none", "neither") if kind == "text" or (kind is None and found) else ("0", "1", "2")
    spare = iter([each for each in more if each not in found])
    while len(found) < 2:
        found.append(next(spare))
    classes = tidy_labels(found) if kind is None else np.asarray(typed(found, kind))
    return np.unique(classes)


def labels_among(numbers: np.ndarray, spellings: Iterable, classes: np.ndarray, other: Any) -> LabelColumn:
    """Return labels as some classes, compared as texts; what is none of them as the class `other`.

    Parameters
    ----------
    numbers : ndarray of int, shape (n,)
        Of the spelling of each row.
    spellings : iterable of labels
    classes : ndarray
    other : label
        One of the classes.
    """
    place = {text_of(each): k for k, each in enumerate(classes.tolist())}
    rest = place[text_of(other)]
    codes = [place.get(text_of(each).strip(), rest) for each in spellings]
    return LabelColumn(np.array(codes, np.int64)[numbers], classes)

"""Types of labels, which follow from the type of their column or from a declaration, never from the labels."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.tables.arrays import is_dask
from dpfast.tables.arrow import Frame
from dpfast.tables.columns import text_of

ABOVE = 'Label("price", above=50000) of a schema, or --above 50000'
CONTINUOUS = (
    "Unknown label type: continuous. Labels are classes, and a number with decimals is none; if they are amounts, ask "
    f"whether they are above a public number: {ABOVE}"
)
_KINDS = {"b": "boolean", "i": "integer", "u": "integer", "f": "float", "U": "text", "T": "text", "O": "cells"}


def label_kind(X: Any, y: Any, name: str) -> str | None:
    """Return the type of labels y, or of column `name` of X: "integer", "float", "boolean", "text" or "cells".

    "cells" is for lists and objects, each of which has its own type. None is returned for files whose cells have no
    type, such as CSV files: without declared classes, the type follows from the published set.
    """
    values = X if y is None else y
    if hasattr(y, "kind") and hasattr(y, "spellings"):  # a LabelColumn
        return y.kind
    if type(y) is np.ndarray and y.dtype.kind in _KINDS:
        return _KINDS[y.dtype.kind]
    if is_dask(values):
        values = getattr(values, "_meta", None)  # no row is read
        if values is not None and _unknown_to_dask(values if y is not None else values.get(name)):
            return "cells"
    if values is None:
        return None
    try:
        frame = Frame(values if y is None else {name: values})
        if frame.is_untyped(name):
            return "cells"
        kind = frame.column(name).type
    except (KeyError, ValueError):
        return None
    if pa.types.is_null(kind):
        return None
    return kind_of_arrow(kind)


def kind_of_arrow(kind: pa.DataType) -> str:
    """Return the type of labels of an Arrow type."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind) or (pa.types.is_decimal(kind) and kind.scale <= 0):
        return "integer"
    return "float" if pa.types.is_floating(kind) or pa.types.is_decimal(kind) else "text"


def _unknown_to_dask(column):
    """Return whether a column of Dask has categories that are known only to its parts."""
    categories = getattr(getattr(column, "dtype", None), "categories", ())
    return "__UNKNOWN_CATEGORIES__" in categories


def refuse_floating(kind: str | None, name: str | None) -> None:
    """Refuse labels of a floating or decimal type, by the type alone."""
    if kind == "float":
        raise ValueError(
            f"Unknown label type: {'y' if name is None else repr(name)} is of a floating or decimal type, and dpfast "
            "learns classes only: make integers or text of its labels, y.astype('Int64') of pandas, also with gaps; "
            f"declare them by classes=; or, if they are amounts, ask whether they are above a public number: {ABOVE}"
        )


def as_type(labels: Iterable | None, kind: str | None) -> Any:
    """Return labels as an array of a type, or unchanged if there is no type or one of them changes its text in it."""
    if labels is None or kind in (None, "cells"):
        return labels
    texts = [text_of(label) for label in labels]
    try:
        if kind == "text":
            return np.array(texts) if texts else np.empty(0, str)
        if kind == "boolean":
            values = np.array([{"true": True, "false": False}[text.lower()] for text in texts], bool)
            return values if len({*values.tolist()}) == len(texts) else labels
        if kind == "float":
            values = np.array([float(text) for text in texts])
        else:
            whole = [int(text) for text in texts]
            values = np.array(whole, np.uint64 if max(whole, default=0) >= 1 << 63 else np.int64)
    except (KeyError, ValueError, OverflowError):
        return labels
    return values if [*map(text_of, values.tolist())] == texts else labels

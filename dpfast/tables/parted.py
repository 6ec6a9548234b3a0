"""Tables whose rows are parts, in this process or elsewhere: read where they are, and known here by what is public.

Rows come as parts of (rows, labels) and become parts of `Piece`. What comes here of them are numbers of rows, types,
names and the set of labels.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from dpfast.parts.blocks import PartedTable, Piece, digest
from dpfast.tables.codes import CodeTable
from dpfast.tables.counts import Counts
from dpfast.tables.encoding import Encoding, label_column
from dpfast.tables.labels import Labels, class_codes, seen_labels
from dpfast.tables.schema import Label, Schema


class PartedEncoding:
    """Like `dpfast.tables.encoding.Encoding`, for parts.

    Parameters
    ----------
    raw : EngineParts
        Of pairs of a table, as `Frame` takes it, and labels or None.
    schema : Schema
    label : Label, optional

    Raises
    ------
    ValueError
        For a part that is not as declared.
    """

    def __init__(self, raw: Any, schema: Schema, label: Label | None = None):
        parts = raw.map(_read, schema, label)
        sizes = parts.each(len)
        self.schema, self.label, self.n = schema, label, sum(sizes)
        self._parts = parts.pick(np.flatnonzero(sizes).tolist())

    def labels(self) -> Any:
        """Return the distinct labels."""
        assert self.label is not None
        return label_column(self.label, np.arange(len(self._spellings())), self._spellings())

    def counts(self) -> Counts:
        """Return the counts, like `Encoding.counts`."""
        return self._parts.sum(Encoding.counts)

    def table(self, schema: Schema, known: Labels) -> PartedTable:
        """Return all rows as codes, with the numbers of their classes.

        Parameters
        ----------
        schema : Schema
            This one with everything found.
        known : Labels
            What `class_codes` says of `labels()`.
        """
        columns = schema.code_columns
        zeros = [np.zeros(1, np.uint8)] * len(columns)
        sizes, names = [column.size for column in columns], [column.name for column in columns]
        like = CodeTable.from_arrays(zeros, sizes, names=names, columns=columns)
        numbers = dict(zip(self._spellings(), known.codes.tolist(), strict=True))
        return PartedTable(self._parts.map(_coded, schema, numbers), self.n, like, known)

    def spelled(self) -> tuple[np.ndarray, list]:
        """Return the distinct labels, like `Encoding.spelled`."""
        return np.arange(len(self._spellings())), self._spellings()

    def _spellings(self):
        if not hasattr(self, "_seen"):
            self._seen = sorted(set().union(*self._parts.each(Encoding.spellings)))
        return self._seen


def parted_numbers(raw: Any, classes: Any = None, *, one_column: bool = False) -> PartedTable:
    """Return a table of numbers without a schema, in parts.

    Parameters
    ----------
    raw : EngineParts
        Of pairs of rows, an array, a sparse matrix, a DataFrame or a CodeTable, and labels.
    classes : array_like, optional
        The public set of labels; read off the rows by default.
    one_column : bool
        Whether rows of one dimension are a column.

    Raises
    ------
    ValueError
        If parts do not fit together, or labels are invalid.
    """
    if one_column:
        raw = raw.map(_column)
    told = raw.each(_told)
    facts = [(n, *fact) for n, *fact in told if n]
    if not facts:
        raise ValueError("X must have at least one row, all its parts have none")
    odd = next((k for k, fact in enumerate(facts) if fact[1:] != facts[0][1:]), None)
    if odd is not None:
        raise ValueError(
            f"parts of X must have the same columns and types: {_put(facts[0])}, but another {_put(facts[odd])}"
        )
    raw = raw.pick([k for k, (n, *_) in enumerate(told) if n])
    seen = np.unique(np.concatenate(raw.each(_labels_seen)))
    known = class_codes(seen, len(seen), classes)
    n, like = sum(fact[0] for fact in facts), _like(*facts[0][1:])
    return PartedTable(raw.map(_numbered, known.classes), n, like, known)


# ---- what is asked of a part ---------------------------------------------------------------------------------------


def _read(pair, schema, label):
    encoding = _Read(schema, label)
    encoding.add(*pair)
    return encoding


class _Read(Encoding):
    """An encoding of a part, which is the same whenever the part is read again."""

    def fingerprint(self) -> bytes:
        """Return a digest of what was read, computed once."""
        if not hasattr(self, "_digest"):
            kept = [each.whole() for room in self._kept for each in room]
            words = [repr([*each[1]]).encode() for each in kept if isinstance(each, tuple)]
            arrays = [each[0] if isinstance(each, tuple) else each for each in kept]
            self._digest = digest(*arrays, np.frombuffer(b"".join(words), np.uint8))
        return self._digest


def _coded(encoding, schema, numbers):
    labels, spellings = encoding.spelled()
    place = np.array([numbers.get(each, -1) for each in spellings], np.int64)
    return Piece(encoding.table(schema), place[labels])


def _column(pair):
    X, y = pair
    return (X.reshape(-1, 1) if np.ndim(X) == 1 else X), y


def _told(pair):
    X, y = pair
    if y is None:
        raise ValueError("y must be given: there is no schema that declares a label")
    if np.ndim(X) != 2 or len(y) != X.shape[0]:
        raise ValueError(f"X must have two dimensions and y as many rows, got {np.shape(X)} and {len(y)} labels")
    if isinstance(X, CodeTable):
        return len(X), X.shape[1], "u1", _zeros(X), None
    if hasattr(X, "columns"):
        kinds = {str(dtype): np.dtype(dtype) for dtype in X.dtypes if isinstance(dtype, np.dtype)}
        if len({*map(str, X.dtypes)}) != len(kinds) or any(kind.kind not in "biuf" for kind in kinds.values()):
            raise ValueError("X holds columns that are no numbers; declare them by a schema=")
        return len(X), X.shape[1], np.result_type(*kinds.values()).str, "frame", tuple(map(str, X.columns))
    return X.shape[0], X.shape[1], X.dtype.str, getattr(X, "format", "array"), None


def _labels_seen(pair):
    return seen_labels(pair[1])[1]


def _numbered(pair, classes):
    X, y = pair
    return Piece(X, class_codes(y, len(y), classes).codes)


def _zeros(table):
    """Return one row of zeros, with codes declared like these."""
    zeros = [np.zeros(1, np.uint8)] * table.shape[1]
    return CodeTable.from_arrays(zeros, table.sizes, names=table.names, columns=table.columns)


def _like(d, dtype, form, names):
    if isinstance(form, CodeTable):
        return form
    zeros = np.zeros((1, d), np.dtype(dtype))
    if form == "frame":
        import pandas as pd

        return pd.DataFrame(zeros, columns=list(names))
    return zeros if form == "array" else sp.csr_array(zeros).asformat(form)


def _put(fact):
    _, d, dtype, form, names = fact
    return f"one has {d} columns of {np.dtype(dtype)} ({form})" + (f", {', '.join(names[:3])}, ..." if names else "")

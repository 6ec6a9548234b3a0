"""Tables in parts, in this process or elsewhere. Parts are read where they are; this process knows public facts only.

A part is a pair of rows and labels, and becomes a `Piece`. Only numbers of rows, types, names and the set of labels are
sent to this process.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from dpfast.parts import MemoryParts, Piece
from dpfast.parts.blocks import Spool, Storage, Table
from dpfast.parts.marks import AsRead
from dpfast.tables.arrays import is_dask, is_frame, is_ray, is_spark, narrowest, parts_of, take_entries
from dpfast.tables.arrow import ArrayStore, distinct, header_of
from dpfast.tables.classes import class_numbers
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import Category
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import Encoding, label_column
from dpfast.tables.label_kinds import label_kind
from dpfast.tables.labels import Labels, codes_among, labels_of, labels_that_occur, missing_labels, number_labels
from dpfast.tables.schema import Label, Schema
from dpfast.tables.sources import (
    Memory,
    Source,
    are_wide_numbers,
    array_header,
    count_rows,
    labels_beside,
    pick_rows,
    unit_column,
    units_of,
)
from dpfast.tables.streams import MEMORY
from dpfast.tables.words import HELD, Counts, Words, add_counts, tally


class Parted(Source):
    """A table in parts, in this process, on the workers of an engine or in a collection of Dask, Ray or Spark."""

    in_parts = True
    _names_ignored = False

    _array_names: Sequence[str] | None = None

    def __init__(self, X: Any):
        self._table = X

    @cached_property
    def _outline(self):
        """Return the table, or, for a DataFrame of Spark, a table without rows that has its columns."""
        return self._table.limit(0).toArrow() if is_spark(self._table) else self._table

    @property
    def tabular(self) -> bool:
        return is_frame(self._outline)

    @cached_property
    def _dense(self):
        """Return what dense numbers in parts have in common, as `_Dense`, or None; no entry is read for it."""
        table = self._table
        if self.label is not None or self.tabular or is_ray(table):
            return None
        if is_dask(table) and not _may_be_dense(getattr(table, "_meta", None)):
            return None
        every = self._raw.each(_dense)
        some = [each for each in every if each is None or each.n]
        if not some or None in some or len({each._replace(n=0) for each in some}) > 1:
            return None
        return some[0]._replace(n=sum(each.n for each in some))

    @cached_property
    def _raw(self):
        return parts_of(self._table, labels_beside(self)).map(AsRead)

    def dense_shape(self) -> tuple[int, int] | None:
        return None if self._dense is None else (self._dense.n, len(self._dense.dtypes))

    def label_kind(self, name: str) -> str | None:
        kind = super().label_kind(name)
        return self._dense.labels if kind is None and self._array_names is not None else kind

    def with_names(self, names: Sequence[str]) -> "Parted":
        if self._dense is None:
            return self
        other = copy(self)
        other._array_names, other.nameless = names, self._dense.names is None
        return other

    def _tables(self, columns):
        """Return the parts, in which arrays are tables."""
        if self._array_names is None:
            return parts_of(self._table, self.y, columns=columns)
        return self._raw.map(_name_columns, self._array_names)

    @property
    def labelled(self) -> bool:
        return super().labelled or self._array_names is not None

    def header(self) -> dict[str, pa.DataType]:
        if not self.tabular and not hasattr(getattr(self._table, "_meta", None), "iloc") and self._dense is not None:
            types = [array_header(1, np.dtype(each))["x0"] for each in self._dense.dtypes]
            return dict(zip(self._dense.names or [f"x{j}" for j in range(len(types))], types, strict=True))
        if not (self.tabular or hasattr(self._table, "_meta")):
            kind = type(self._table).__name__
            raise ValueError(f"the columns of a {kind} are not known before it is read: give a schema=")
        return header_of(self._outline)

    def like(self) -> Any:
        return self._outline

    def encode(self, schema: Schema, label: Label | None, unit: str | None = None) -> "PartedEncoding":
        names = [*schema.names, *([] if label is None else [label.name])]
        return PartedEncoding(self._tables(names), schema, label)

    def vectors(self, classes: Any = None, *, one_column: bool = False) -> Table:
        return numbers_in_parts(self._raw, classes, one_column=one_column)

    def limit_units(self, units: Any, schema: Schema | None, label: Label | None, choose: Callable) -> "Parted":
        name = units if isinstance(units, str) else None
        if schema is None:
            if name is not None:
                raise ValueError(f"units={units!r} is the name of a column, and X holds vectors: give an array")
            parts = self._raw
        else:
            assert label is not None
            columns = [*schema.names, label.name, *([] if name is None else [name])]
            parts = self._tables(columns).map(_read, schema, label, name)
        return Parted(bound_parts(parts, units, choose))


class PartedEncoding:
    """Like `dpfast.tables.encoding.Encoding`, for parts: pairs of a table that `Frame` accepts, and labels or None."""

    def __init__(self, raw: Any, schema: Schema, label: Label | None = None):
        parts = raw.map(_read, schema, label) if len(raw) else MemoryParts([_Read(schema, label)])
        sizes, sizes_in_memory = np.array(parts.each(_sizes), np.int64).reshape(-1, 2).T
        self.schema, self.label, self.n = schema, label, int(sizes.sum())
        self.complete = bool((sizes == sizes_in_memory).all())
        self._parts = parts.pick(np.flatnonzero(sizes).tolist() or [0])  # if none has rows, one answers

    def labels(self) -> Any:
        """Return the distinct labels."""
        assert self.label is not None
        return label_column(self.label, *self.label_numbers())

    def counts(self) -> Counts:
        """Return the counts, like `Encoding.counts`.

        Parts send at most HELD words at a time, all parts together. The words are stored like those of a table in
        memory: at most HELD of a column and those received last in memory, the others in runs that may be in a file.
        """
        counts, storage = self._parts.sum(_counts_of), Storage(Spool(MEMORY))
        words = [Words(storage) for _ in self.schema.columns]
        for own in _shares(self._parts.each(_numbers_of_words)):
            for answer in self._parts.each(_some_words, own=own):
                for column, some, rows in answer:
                    words[column].append(some, rows)
        counts.words = [each.counts() for each in words]
        return counts

    def cells(self, looks: Sequence) -> list:
        """Return the counts, like `Encoding.cells`."""
        return self._parts.sum(_cells, looks).of

    def to_codes(self, schema: Schema, names: Labels) -> Table:
        """Return all rows as codes, with the numbers of their classes, like `Encoding.to_codes`."""
        like = CodeTable.of_columns(schema.code_columns, 1)
        numbers = dict(zip(self._spellings, names.codes.tolist(), strict=True))
        return Table(self._parts.map(_encode, schema, numbers), self.n, like, names, self.complete)

    def label_numbers(self) -> tuple[np.ndarray, list]:
        """Return the distinct labels, like `Encoding.label_numbers`."""
        return np.arange(len(self._spellings)), self._spellings

    @cached_property
    def _spellings(self):
        return sorted(set().union(*self._parts.each(Encoding.spellings)))


def _shares(numbers: list[list[int]]) -> Iterator[list]:
    """Yield the words to ask each part for, as (column, start, stop); at most HELD words of all parts together.

    `numbers` has the number of words of each column for each part.
    """
    share: list[list] = [[] for _ in numbers]
    left = HELD
    for column, of_parts in enumerate(zip(*numbers, strict=True)):
        for part, n in enumerate(of_parts):
            start = 0
            while start < n:
                stop = min(n, start + left)
                share[part].append((column, start, stop))
                start, left = stop, left - (stop - start)
                if not left:
                    yield share
                    share, left = [[] for _ in numbers], HELD
    if left < HELD:
        yield share


def numbers_in_parts(raw: Any, classes: Any = None, *, one_column: bool = False) -> Table:
    """Return a table of numbers without a schema, in parts of type `AsRead`.

    The set of labels is read off the rows by default. With `one_column`, rows of one dimension are a column.
    """
    if one_column:
        raw = raw.map(_column)
    every = raw.each(_facts)
    facts = [fact for fact in every if fact[0]] or (every if classes is not None else [])
    if not facts:
        declared = ", unless classes= declares the labels" if every else ""
        raise ValueError(f"X must have at least one row, all its parts have none{declared}")
    odd = next((k for k, fact in enumerate(facts) if fact[1:] != facts[0][1:]), None)
    if odd is not None:
        raise ValueError(
            f"parts of X must have the same columns and types: {_put(facts[0])}, but another {_put(facts[odd])}"
        )
    raw = raw.pick([k for k, (n, *_) in enumerate(every) if n] or [0])
    answers = raw.each(_labels_seen, classes)
    occurring, kinds = sorted(set().union(*(labels for labels, _, _ in answers))), {kind for _, kind, _ in answers}
    kind, numbers = kinds.pop() if len(kinds) == 1 else "cells", np.arange(len(occurring))
    names = (
        labels_that_occur(numbers, occurring, kind) if classes is None else labels_of(numbers[:0], [], classes, kind)
    )
    if classes is not None and -1 in class_numbers(occurring, names.classes, -1):
        raise ValueError(f"a row has a label that is not among classes={names.classes.tolist()}")
    n, like = sum(fact[0] for fact in facts), _like(*facts[0][1:])
    return Table(raw.map(_number_labels, names.classes), n, like, names, all(complete for *_, complete in answers))


def bound_parts(parts: Any, units: Any, choose: Callable) -> Any:
    """Return the kept rows of each unit, each in its part, of type `_Read` or `AsRead`.

    `choose` is as in `Source.limit_units`. Rows are chosen among the rows of all parts together, in their order, so
    that a unit whose rows are in several parts keeps no more rows than one whose rows are in one part. The parts return
    the unit of each row. This process chooses the rows, and tells each part which of its rows are kept.
    """
    name = units if isinstance(units, str) else None
    units = np.asarray(units) if is_dask(units) else units
    sizes = parts.each(_size)
    if name is not None:
        units = units_of({name: _join(name, parts.each(_owners))}, name)
    mask = choose(units)
    n = len(units) if mask is None else len(mask)
    if n != sum(sizes):
        raise ValueError(f"units must have an entry for each row: {n} entries, and {sum(sizes)} rows of X")
    masks = [None] * len(sizes) if mask is None else map(np.packbits, np.split(mask, np.cumsum(sizes)[:-1]))
    return parts.map(_keep_rows, own=[*masks])


def _join(name, arrays):
    """Return the columns of all parts as one."""
    arrays = [array for array in arrays if len(array)] or arrays[:1]
    kinds = sorted({str(array.type) for array in arrays})
    if len(kinds) > 1:
        raise ValueError(f"units={name!r} must have one type in all parts, got {' and '.join(kinds)}")
    return pa.chunked_array(arrays)


# ---- what is asked of a part ---------------------------------------------------------------------------------------


def _read(pair, schema, label, unit=None):
    if isinstance(pair, _Read):  # its rows were chosen beforehand
        return pair
    encoding = _Read(schema, label)
    encoding.add(*pair)
    if unit is not None:
        encoding.owners = _units_of_rows(pair, unit)
    return encoding


class _Read(Encoding):
    """The encoding of a part; `owners` is the column of units, until rows are chosen by it."""

    owners: Any = None

    @cached_property
    def words(self) -> list[Words]:
        """Return the words to count of each column; none for columns without words."""
        return [_words_of(*each) for each in zip(self.schema.columns, self._stores, strict=True)]


def _words_of(column, stores):
    if isinstance(column, Discovered) and column.to_find:
        return stores[0].words
    words = Words(ArrayStore)
    if isinstance(column, Category) and column.to_find:
        totals = tally(*stores[0].read_all())
        words.append([*totals], np.array([*totals.values()], np.int64))
    return words


def _sizes(encoding):
    return encoding.n, encoding.held


def _counts_of(encoding):
    counts = encoding.counts()
    return Counts(counts.fixed, [], counts.labels)


class _Cells:
    """Counts of columns, which add up."""

    def __init__(self, of: list):
        self.of = of

    def __add__(self, other: "_Cells") -> "_Cells":
        return _Cells(add_counts(self.of, other.of))


def _cells(encoding, looks):
    return _Cells(encoding.cells(looks))


def _numbers_of_words(encoding):
    return [len(words) for words in encoding.words]


def _some_words(encoding, share):
    return [(column, *encoding.words[column].some(start, stop)) for column, start, stop in share]


def _encode(encoding, schema, numbers):
    labels, spellings = encoding.label_numbers()
    place = np.array([numbers.get(each, -1) for each in spellings], narrowest(len(numbers)))
    return Piece(encoding.table(schema), take_entries(place, labels))


class _Dense(NamedTuple):
    """What is public of a part of dense numbers."""

    n: int
    names: tuple[str, ...] | None
    dtypes: tuple[str, ...]
    labels: str | None


def _dense(rows):
    if not isinstance(rows, tuple) or len(rows) != 2 or rows[1] is None:
        return None
    source = Memory(*rows)
    frame = source.tabular and hasattr(source.X, "iloc")
    shape = source.X.shape if frame else source.dense_shape()
    if shape is None:
        return None
    kinds = [*source.X.dtypes] if hasattr(source.X, "iloc") else [source.X.dtype] * shape[1]
    if not are_wide_numbers(kinds):
        return None
    names = tuple(source.X.columns) if frame else None
    return _Dense(shape[0], names, tuple(each.str for each in kinds), label_kind(None, source.y, "y"))


def _may_be_dense(meta):
    """Return whether a collection of Dask may hold dense numbers, by the type of its parts; lists have none."""
    if meta is None:
        return True
    if hasattr(meta, "iloc"):
        return are_wide_numbers([*meta.dtypes])
    return isinstance(meta, np.ndarray) and are_wide_numbers([meta.dtype])


class _Named(tuple):
    """A table with names of columns and its labels, made of a part that was read, whose mark it takes."""


def _name_columns(rows, names):
    X, y = rows
    if hasattr(X, "iloc"):
        return _Named((X.set_axis([*names], axis=1), y))
    return _Named(({name: X[:, j] for j, name in enumerate(names)}, y))


def _column(rows):
    X, y = rows
    return AsRead((X.reshape(-1, 1) if np.ndim(X) == 1 else X, y))


def _facts(rows):
    X, y = rows
    if y is None:
        raise ValueError("y must be given: there is no schema that declares a label")
    if np.ndim(X) != 2 or len(y) != X.shape[0]:
        raise ValueError(f"X must have two dimensions and y as many rows, got {np.shape(X)} and {len(y)} labels")
    if isinstance(X, CodeTable):
        return len(X), X.shape[1], "u1", X.row_of_zeros(), None
    if hasattr(X, "columns"):
        kinds = {str(dtype): np.dtype(dtype) for dtype in X.dtypes if isinstance(dtype, np.dtype)}
        if len({*map(str, X.dtypes)}) != len(kinds) or any(kind.kind not in "biuf" for kind in kinds.values()):
            raise ValueError("X holds columns that are no numbers; declare them by a schema=")
        return len(X), X.shape[1], np.result_type(*kinds.values()).str, "frame", tuple(map(str, X.columns))
    return X.shape[0], X.shape[1], X.dtype.str, getattr(X, "format", "array"), None


def _labels_seen(rows, classes):
    """Return the identities of the labels that occur, the type of all, and whether every row has one."""
    numbers, identities = number_labels(rows[1], missing_labels(classes))
    return (
        {identities[k] for k in np.unique(numbers).tolist() if k >= 0},
        label_kind(None, rows[1], "y"),
        (numbers >= 0).all(),
    )


def _number_labels(rows, classes):
    X, y = rows
    codes = codes_among(y, classes)
    labelled_rows = codes >= 0
    return (
        Piece(X, codes)
        if labelled_rows.all()
        else Piece(pick_rows(X, None, labelled_rows, len(labelled_rows))[0], codes[labelled_rows])
    )


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


def _owners(encoding):
    return encoding.owners


def _units_of_rows(pair, name):
    """Return the unit of each row, as integers or as distinct values and their numbers."""
    array = unit_column(pair[0], name)
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    return array if pa.types.is_integer(array.type) else distinct(name, array)


def _size(rows):
    return len(rows) if isinstance(rows, _Read) else count_rows(rows[0])


def _keep_rows(rows, mask):
    """Return the rows of a part that are kept; None stands for all."""
    rows_to_keep = None if mask is None else np.unpackbits(mask, count=_size(rows)).astype(bool)
    if not isinstance(rows, _Read):
        return AsRead(pick_rows(*rows, rows_to_keep, _size(rows)))
    return rows if rows_to_keep is None else rows[rows_to_keep]

"""Sources: tables before they are read. Each kind has its public facts and its own way to rows.

`dpfast.files.encodings.source_of` recognizes the kind of a table; no later code asks for the kind. A source knows its
columns, and returns its rows once: as an encoding by a schema, or as vectors of numbers. No claim depends on the order
of rows.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.parts import MemoryParts, Piece
from dpfast.parts.blocks import Table
from dpfast.tables.arrays import as_numbers, as_objects, is_frame
from dpfast.tables.arrow import ArrayStore, Frame, UnitStore, header_of, rows_of
from dpfast.tables.arrow_types import reads_of
from dpfast.tables.codes import CodeTable
from dpfast.tables.discovered import Discovered, refuse_many
from dpfast.tables.encoding import Encoding
from dpfast.tables.label_kinds import label_kind
from dpfast.tables.labels import codes_of_labelled
from dpfast.tables.naming import LABELS, hint_of, not_there
from dpfast.tables.schema import Label, Schema


class Source:
    """A table that is read once; a subclass has `header` and `encode`.

    `label` is the column of labels, if no schema names it, and `y` the labels, if they are given beside the table. If
    it is `in_parts`, the rows stay in parts, which return only sums; otherwise X is the table. Columns of a `tabular`
    source have names and types, so that they are discovered if no schema is given.
    """

    label: str | None = None
    y: Any = None
    X: Any = None
    in_parts = False
    nameless = False  # whether it was an array, whose columns have no names
    public: Mapping[str, Any] = MappingProxyType({})  # facts on which the plan of the survey depends, once known
    _marks: tuple[str, ...] = ()  # texts that mark missing values, in addition to those of all cells
    _names_ignored = True  # whether its schema names the columns that are not features

    @property
    def tabular(self) -> bool:
        return False

    @property
    def width_read_off(self) -> bool:
        """Return whether the number of columns depends on rows, so that a fit publishes what it is."""
        return False

    @property
    def labelled(self) -> bool:
        """Return whether its rows have labels besides those that a schema names."""
        return self.y is not None

    def header(self) -> dict[str, pa.DataType]:
        """Return the types of the columns by their names: public facts, for which no row is read.

        Returns
        -------
        dict from str to pyarrow.DataType
        """
        raise NotImplementedError

    def like(self) -> Any:
        """Return a table whose columns have the types of these, with or without rows.

        Returns
        -------
        table or None
            None if the types of labels depend on rows, as in CSV files.
        """
        return None

    def dense_shape(self) -> tuple[int, int] | None:
        """Return the numbers of rows and columns of a dense table of numbers, whose types are not those of bits.

        Both are public facts, for which no entry is read.

        Returns
        -------
        tuple of int, or None
            None for any other table.
        """
        return None

    def with_names(self, names: Sequence[str]) -> "Source":
        """Return the same source; an array becomes a table whose columns have these names, and is then `nameless`.

        Parameters
        ----------
        names : list of str

        Returns
        -------
        Source
        """
        return self

    def label_kind(self, name: str) -> str | None:
        """Return the type of the labels, like `dpfast.tables.label_kinds.label_kind`.

        Parameters
        ----------
        name : str
            The name of the label.

        Returns
        -------
        str or None
        """
        return label_kind(self.like(), self.y, name)

    def encode(self, schema: Schema, label: Label | None, unit: str | None = None) -> Any:
        """Read all rows, and prepare their encoding.

        Parameters
        ----------
        schema : Schema
        label : Label or None
            The column of labels, if they are needed.
        unit : str, optional
            The column of the unit of each row.

        Returns
        -------
        Encoding
        """
        raise NotImplementedError

    def vectors(self, classes: Any = None, *, one_column: bool = False) -> Table:
        """Return all rows as vectors of numbers.

        Parameters
        ----------
        classes : array_like, optional
            The public set of labels; read off the labels by default.
        one_column : bool, default=False
            Whether rows of one dimension are a column.

        Returns
        -------
        dpfast.parts.blocks.Table
        """
        raise ValueError(f"X is a {type(self).__name__}, whose columns need a schema: give schema=, or an array")

    def limit_units(self, units: Any, schema: Schema | None, label: Label | None, choose: Callable) -> "Source":
        """Return the kept rows of each unit.

        Parameters
        ----------
        units : str
            The column of the unit of each row.
        schema : Schema
        label : Label
        choose : callable
            Maps the unit of each row to a mask of the kept rows, or to None if all are kept.

        Returns
        -------
        Source
        """
        if not isinstance(units, str) or schema is None:
            raise ValueError(
                f"units= is an array for tables in memory or in parts, and X is a {type(self).__name__}; of a stream, "
                "and of files with a schema, it may be the name of a column"
            )
        encoding = self.encode(schema, label, units)
        mask = choose(encoding.units.read_all())
        return Memory(encoding if mask is None else encoding[mask])

    def refuse_labels(self) -> None:
        """Refuse labels given beside a source whose rows come in an order of their own."""
        if self.y is not None:
            raise ValueError(
                "y must not be given beside files, a stream or a LazyFrame: name the column of them that is the label, "
                'as y="buys", or give rows in memory, as frame.collect()'
            )


class Memory(Source):
    """A table in memory, which is a single part: an array, a frame, codes, or an encoding that was read before."""

    _names_ignored = False

    def __init__(self, X: Any, y: Any = None):
        self.X, self.y = X, y

    @cached_property
    def tabular(self) -> bool:
        return is_frame(self.X)

    def header(self) -> dict[str, pa.DataType]:
        return self._types

    @cached_property
    def _types(self):
        if self.tabular:
            return header_of(self.X)
        X = _array(self.X)
        return array_header(X.shape[1], X.dtype)

    def dense_shape(self) -> tuple[int, int] | None:
        X = self.X
        if self.label is not None:  # it names a column, which arrays lack
            return None
        if hasattr(X, "iloc") and not self.tabular and getattr(X, "ndim", 0) == 2:
            kinds = [*X.dtypes]
        else:
            dense = isinstance(X, np.ndarray) and not isinstance(X, np.ma.MaskedArray) and X.ndim == 2
            kinds = [X.dtype] if dense else []
        return (X.shape[0], X.shape[1]) if are_wide_numbers(kinds) else None

    def with_names(self, names: Sequence[str]) -> "Memory":
        if self.tabular:
            return self
        other = Memory(with_names(self.X, names), self.y)
        other.label, other.public, other.nameless = self.label, self.public, True
        return other

    def like(self) -> Any:
        return self.X

    def encode(self, schema: Schema, label: Label | None, unit: str | None = None) -> Encoding:
        if isinstance(self.X, Encoding):
            if self.X.schema != schema:
                raise ValueError("X was read by another schema")
            return self.X
        encoding = Encoding(schema, label, unit=unit, stay=True)
        encoding.add(self.X, self.y)
        pa.default_memory_pool().release_unused()
        return encoding

    def vectors(self, classes: Any = None, *, one_column: bool = False) -> Table:
        X = self.X
        if _is_empty(X):  # refused here: its labels would be refused instead
            table = X if hasattr(X, "shape") else as_numbers(X)
            if not table.shape[0] and classes is None:
                raise ValueError("X must have at least one row, unless classes= declares the labels")
        if one_column:
            X = as_objects(X)
            X = X[:, np.newaxis] if X.ndim == 1 else X
        labels, mask = codes_of_labelled(labels_beside(self), classes)
        n = len(labels.codes) if mask is None else len(mask)
        if mask is not None:
            X, _ = pick_rows(X, None, mask, n)
        like = X.row_of_zeros() if isinstance(X, CodeTable) else X
        return Table(MemoryParts([Piece(X, labels.codes)]), n, like, labels, mask is None)

    def limit_units(self, units: Any, schema: Schema | None, label: Label | None, choose: Callable) -> "Memory":
        if isinstance(units, str):
            if schema is None:
                raise ValueError(f"units={units!r} is the name of a column, and X holds vectors: give an array")
            units = units_of(self.X, units)
        return Memory(*pick_rows(self.X, self.y, choose(units), len(units)))


def array_header(d: int, dtype: np.dtype) -> dict[str, pa.DataType]:
    """Return the types of the columns of an array of d columns, which have the names x0, x1, ..."""
    kind = pa.string() if dtype.kind in "OUS" else pa.int64() if dtype.kind in "iu" else pa.float64()
    return {f"x{j}": kind for j in range(d)}


def are_wide_numbers(dtypes: Sequence[Any]) -> bool:
    """Return whether all these types, at least one, are numbers and none is that of bits or of single bytes."""
    return bool(dtypes) and all(
        isinstance(each, np.dtype) and each.kind in "iuf" and each.itemsize > 1 for each in dtypes
    )


def with_labels(source: Source, y: Any) -> Source:
    """Return the same source with other labels: the name of their column, or the labels."""
    if isinstance(y, Mapping):
        raise ValueError("y is a dict, and its keys would be learned: give the name of a column of X, or its values")
    if is_frame(y) or hasattr(y, "iloc"):
        y = _column_of_frame(y)
    other = copy.copy(source)
    if isinstance(y, str) or (isinstance(y, Integral) and is_frame(source.X)):
        other.label = str(y)
    else:
        other.y = y
    return other


def _column_of_frame(y):
    """Return the column of a frame that has one; a series is unchanged."""
    if not hasattr(y, "columns"):
        return y
    if y.shape[1] != 1:
        raise ValueError(f"y is a frame of {y.shape[1]} columns, and labels are a single one: give that column")
    if hasattr(y, "iloc"):
        return y.iloc[:, 0]
    return y.column(0) if hasattr(y, "num_rows") else y.to_series()


def schema_to_discover(source: Source, without: Sequence[str] = ()) -> Schema:
    """Return the schema that declares the label, and only names and types of the columns except those `without`."""
    types = source.header()
    for name, use in [*((name, "") for name in without), (source.label, LABELS)]:
        if name is not None and name not in types:
            raise ValueError(not_there(name, [*types], use=use))
    features = {name: kind for name, kind in types.items() if name != source.label and name not in without}
    if not features:
        raise ValueError("the table has no columns to learn from; give at least one besides the label")
    refuse_many(len(features))
    columns = [Discovered(name, reads=reads_of(name, kind)) for name, kind in features.items()]
    ignored = tuple(without) if source._names_ignored else ()
    return Schema(columns, label=source.label, ignore=ignored, missing_values=source._marks)


def labels_beside(source: Source) -> Any:
    """Return the labels given beside the table, or None; refuse the name of a column of vectors."""
    if source.label is not None:
        raise ValueError(
            "y is the name of a column, and no schema says what the others are: give schema=, or an array y; "
            'schema="discover" finds it out'
        )
    return source.y


def with_names(X: Any, names: Sequence[str]) -> Any:
    """Return a frame unchanged, and an array as a frame whose columns have these names."""
    if is_frame(X):
        return X
    array = _array(X)
    return {name: array[:, j] for j, name in enumerate(names)}


def pick_rows(X: Any, y: Any, mask: np.ndarray | None, n: int) -> tuple[Any, Any]:
    """Return the kept rows of a table and its labels; refuse a table of another length."""
    for name, table in (("X", X), ("y", y)):
        rows = n if table is None else count_rows(table)
        if rows != n:
            raise ValueError(f"units must have an entry for each row: {n} entries, and {rows} rows of {name}")
    if mask is None:
        return X, y
    return _pick_rows(X, mask), None if y is None else _pick_rows(y, mask)


def units_of(table: Any, name: str) -> np.ndarray:
    """Return a number for each row of a frame, equal for rows of the same unit, by the column of this name."""
    store = UnitStore(name, ArrayStore)
    store.append(store.read(unit_column(table, name)))
    return store.read_all()


def unit_column(table: Any, name: str) -> pa.Array:
    """Return the column of units of a frame, or their identities if it has no type."""
    frame = Frame(table)
    if name not in frame.names:
        raise ValueError(f"units= names the column {name!r}, which the table lacks{hint_of(name, frame.names)}")
    return frame.distinguish_cells(name)


def count_rows(table: Any) -> int:
    """Return the number of rows of a table of any kind."""
    if isinstance(table, dict):
        return len(next(iter(table.values()))) if table else 0
    if hasattr(table, "num_rows"):
        return int(table.num_rows)
    return int(table.shape[0]) if hasattr(table, "shape") else len(table)


def _array(X):
    """Return X as an array of two dimensions, with entries of any type; a list as an array of objects."""
    from sklearn.utils.validation import check_array

    return check_array(as_objects(X) if isinstance(X, list | tuple) else X, dtype=None, ensure_all_finite=False)


def _is_empty(X):
    """Return whether X has no rows or is not a table."""
    shape = getattr(X, "shape", None)
    return not (shape[0] if shape else shape is None and hasattr(X, "__len__") and len(X))


def _pick_rows(table: Any, mask: np.ndarray) -> Any:
    if isinstance(table, dict):
        return {name: _pick_rows(column, mask) for name, column in table.items()}
    if hasattr(table, "iloc"):
        return table.iloc[np.flatnonzero(mask)]
    if hasattr(table, "num_rows") or (hasattr(table, "type") and hasattr(table, "take")):  # of Arrow
        return rows_of(table, np.flatnonzero(mask))
    if isinstance(table, list | tuple):
        return [row for row, keep in zip(table, mask, strict=True) if keep]
    if hasattr(table, "tocsr"):
        return table.tocsr()[np.flatnonzero(mask)]
    if hasattr(table, "get_column") or hasattr(table, "gather"):  # a frame or a column of polars
        return table[np.flatnonzero(mask)]
    try:
        return table[mask]
    except TypeError:
        raise ValueError(
            f"a unit has more than rows_per_unit rows, and a {type(table).__name__} cannot be bounded: leave out "
            "rows beforehand, by a choice that does not look at them"
        ) from None

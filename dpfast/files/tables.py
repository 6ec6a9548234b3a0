"""Tables with a schema, read from files block by block and encoded as codes."""

import os
import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from dpfast.files import csv
from dpfast.files.datasets import dataset_path
from dpfast.files.names import check_names, has_its_labels, kind_of, separator_of
from dpfast.files.parquet import ParquetFiles
from dpfast.files.readers import csv_steps, fewer, named
from dpfast.tables import Label, Schema
from dpfast.tables.arrow import Kept
from dpfast.tables.columns import Date, Numeric
from dpfast.tables.discovered import Discovered
from dpfast.tables.drafts import MARKS
from dpfast.tables.encoding import Encoding
from dpfast.tables.naming import meant
from dpfast.tables.objects import Fault

_PLAIN = pa.large_string()


def read_codes(
    path: str | os.PathLike[str],
    schema: Schema,
    label: Label | None = None,
    *,
    separator: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
) -> Any:
    """Read a table as codes, by a schema that declares all of it.

    Parameters
    ----------
    path : str or path-like
        A .csv or .tsv file (and .gz), a .parquet file, a folder or a pattern of such, or the name of a bundled table.
    schema : Schema
    label : Label, optional
        The column to read as labels, such as `schema.label`; by default no labels are read.
    separator, decimal, encoding
        As in `dpfast.files.readers.read_table`.

    Returns
    -------
    tuple of CodeTable and LabelColumn, or None

    Raises
    ------
    ValueError, OSError
        If a file is missing or damaged, or a cell differs from its declaration; the message names the line.

    Examples
    --------
    >>> from dpfast.files.datasets import dataset_schema
    >>> schema = dataset_schema("adult")
    >>> table, labels = read_codes("adult", schema, schema.label)
    >>> table.shape, labels[:2].tolist()
    ((48842, 14), ['<=50K', '<=50K'])
    """
    encoded = read_encoding(path, schema, label, separator=separator, decimal=decimal, encoding=encoding)
    return encoded.table(), None if label is None else encoded.labels()


def header_of_file(path, *, separator=None, decimal=".", encoding="utf-8"):
    """Return the Arrow types of the columns of a CSV or Parquet file by their names; all columns of CSV are text."""
    kind = kind_of(Path(path))
    if kind == "bundled":
        with dataset_path(str(path)) as bundled:
            return header_of_file(bundled)
    if kind == "parquet":
        schema = ParquetFiles(path).schema
        return dict(zip(schema.names, schema.types, strict=True))
    if kind != "csv":
        has_its_labels(path, "of a table")
    path = Path(path)
    with csv.faults_of(path):
        file = csv.CsvFile(path, separator=separator or separator_of(path), decimal=decimal, encoding=encoding)
        check_names(file.names, None, needs_label=False)
        return dict.fromkeys(file.names, _PLAIN)


def read_encoding(path, schema, label=None, *, room=None, unit=None, separator=None, decimal=".", encoding="utf-8"):
    """Like `read_codes`, but return the `Encoding`, for a schema that leaves something to be discovered.

    `room`, if given, maps an upper bound of the rows to the storage of the columns: see `Encoding`. `unit` is the
    column of the person of each row.
    """
    kind, room = kind_of(Path(path)), room or (lambda most: Kept)
    if kind == "bundled":
        with dataset_path(str(path)) as bundled:
            return read_encoding(bundled, schema, label, room=room, unit=unit)
    if kind == "parquet":
        files = ParquetFiles(path)
        encoded = Encoding(schema, label, room(sum(files.sizes)), unit)
        try:
            files.encode(encoded)
        except Fault as fault:
            raise ValueError(f"{path}: {fault}") from None
        return encoded
    if kind != "csv":
        has_its_labels(path, schema.names[0])
    path = Path(path)
    with csv.faults_of(path):
        file = csv.CsvFile(path, separator=separator or separator_of(path), decimal=decimal, encoding=encoding)
        check_names(file.names, None, needs_label=False)
        return _encoded_csv(file, schema, label, room(file.count()), lambda row: f"line {file.line_of(row)}", unit)


def _encoded_csv(file, schema, label, keep, place, unit=None):
    """Return the `Encoding` of a CSV file; refuse invalid cells, and name their place by `place`(number of the row)."""
    encoded = Encoding(schema, label, keep, unit)
    lacking = next((name for name in encoded.names if name not in file.names), None)
    if lacking is not None:
        hint = meant(lacking, [name for name in file.names if name not in encoded.names])
        raise ValueError(f"there is no column {lacking!r}, which the schema declares{hint}")
    try:
        return _encoded(file, encoded, {column.name: _type_of(column) for column in schema.columns}, True)
    except (csv.Unparsed, Fault):
        file.refuse_ragged()
    try:  # as text, cell by cell: slow, only to find the cell at fault; a single cell must not choose how all are read
        _encoded(file, Encoding(schema, label, unit=unit), {}, False)
    except Fault as fault:
        if fault.row is None:
            raise
        raise ValueError(f"{place(fault.row)}, column {fault.column!r} {fault.what}") from None
    raise ValueError("a cell is written in a way that is not read, blanks other than spaces around a number say")


def read_code_steps(path, size, schema, *, skip=0, separator=None, decimal=".", encoding="utf-8"):
    """Yield the codes and the labels of a table a few rows at a time, each step as soon as its rows are there.

    Parameters
    ----------
    path : str or path-like
        As in `read_codes`, or "-" for a CSV table from standard input.
    size : int
        The number of rows per step; the last step may have fewer.
    schema : Schema
        A schema that declares everything and names the label.
    skip : int, default=0
        The number of rows to skip at the beginning.
    separator, decimal, encoding
        As in `read_codes`.

    Yields
    ------
    tuple of CodeTable and LabelColumn
    """
    text = {"separator": separator or separator_of(Path(path)), "decimal": decimal, "encoding": encoding}
    if str(path) != "-" and kind_of(Path(path)) != "csv":
        whole = read_encoding(path, schema, schema.label)
        if whole.n < skip:
            raise ValueError(f"{path}: {fewer(whole.n, skip)}")
        for start in range(skip, whole.n, size):
            part = whole[start : start + size]
            yield part.table(), part.labels()
        return
    with csv.faults_of(named(path)):
        for file, seen in csv_steps(path, size, skip, schema.label.name, **text):
            encoded = _encoded_csv(file, schema, schema.label, Kept, lambda row, seen=seen: f"row {seen + row + 1}")
            yield encoded.table(), encoded.labels()


def read_frame(path, *, separator=None, decimal=".", encoding="utf-8"):
    """Return all columns of a table unchanged, text as text, as a whole Arrow table for its owner to inspect."""
    kind = kind_of(Path(path))
    if kind == "bundled":
        with dataset_path(str(path)) as bundled:
            return read_frame(bundled)
    if kind == "parquet":
        return pa.concat_tables([pyarrow.parquet.read_table(each) for each in ParquetFiles(path).paths])
    if kind != "csv":
        has_its_labels(path, "of a table")
    path = Path(path)
    with csv.faults_of(path):
        file = csv.CsvFile(path, separator=separator or separator_of(path), decimal=decimal, encoding=encoding)
        check_names(file.names, None, needs_label=False)
        schema = pa.schema([(name, pa.string()) for name in file.names])
        try:
            table = pa.Table.from_batches(file.batches(dict(zip(schema.names, schema.types, strict=True))), schema)
        except csv.Unparsed:
            file.refuse_ragged()
            raise
        if decimal == ".":
            return table
        return pa.table({name: _pointed(table.column(name), decimal) for name in table.column_names})


def _pointed(texts, decimal):
    """Return a column of numbers with this decimal mark as texts with a point; return any other column unchanged."""
    missing = pc.is_in(texts, value_set=pa.array(MARKS, texts.type))
    number = pc.match_substring_regex(texts, rf"^ *[-+]?[0-9]+({re.escape(decimal)}[0-9]+)?([eE][-+]?[0-9]+)? *$")
    return pc.replace_substring(texts, decimal, ".") if pc.all(pc.or_(missing, number)).as_py() else texts


def _encoded(file, encoded, types, marked):
    types = {name: types.get(name, csv.TEXT if marked else _PLAIN) for name in encoded.names}
    for batch in file.batches(types, encoded.schema.missing_values if marked else ()):
        encoded.add(batch if marked or file.decimal == "." else _with_points(batch, encoded.schema, file.decimal))
    return encoded


def _with_points(batch, schema, decimal):
    """Return texts of numbers with this decimal mark as texts with a point; other points make a text invalid."""
    kinds = {column.name: type(column) for column in schema.columns}
    return {
        name: _as_pointed(array, decimal, kinds[name]) if kinds.get(name) in (Numeric, Discovered) else array
        for name, array in zip(batch.schema.names, batch.columns, strict=True)
    }


def _as_pointed(array, decimal, kind):
    pointed = pc.replace_substring(pc.replace_substring(array, ".", "?"), decimal, ".")
    if kind is Numeric:
        return pointed
    number = pc.match_substring_regex(array, rf"^\s*[-+]?[0-9.]*({re.escape(decimal)}[0-9]*)?([eE][-+]?[0-9]+)?\s*$")
    return pc.if_else(pc.fill_null(number, False), pointed, array)


def _type_of(column):
    return (
        pa.float64() if isinstance(column, Numeric) else _PLAIN if isinstance(column, Date | Discovered) else csv.TEXT
    )

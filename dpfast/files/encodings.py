"""Tables in files as sources of rows: each is read once, by a schema as codes, or as numbers.

What was read is kept in memory or in a scratch file.
"""

import os
import zipfile
from collections.abc import Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import scipy.sparse as sp

from dpfast.files import csv
from dpfast.files.datasets import dataset_path
from dpfast.files.names import (
    NotNumbers,
    check_names,
    features_of,
    is_svmlight,
    is_workbook,
    kind_of,
    paths_of,
    separator_of,
)
from dpfast.files.parquet import ParquetFiles
from dpfast.files.readers import csv_steps, name_for_messages, read_table, too_few_rows
from dpfast.parts.blocks import BLOCK_BYTES, Spool, Storage, Table
from dpfast.tables.arrays import is_parted, is_stream
from dpfast.tables.arrow import ArrayStore, UnitStore
from dpfast.tables.encoding import Encoding
from dpfast.tables.label_kinds import label_kind
from dpfast.tables.objects import Fault
from dpfast.tables.schema import Label, Schema
from dpfast.tables.sources import Memory, Source, are_wide_numbers, array_header, with_labels
from dpfast.tables.streams import MEMORY, StreamParts


class FileParts(Source):
    """A table in files, for `fit` of any classifier: read once, whatever the number of rounds.

    The rows are kept as small integers, by a schema, or as numbers: in memory up to a limit, and beyond it in a scratch
    file that is mapped into memory, so that every pass runs at the speed of the system's cache or of the disk. The
    scratch file has no name, no other process can open it, and its space is freed when the model has been learned or
    the process is killed.

    Parameters
    ----------
    path : str or path-like
        With a schema: a .parquet or .csv file (and .tsv, .csv.gz, .bz2, .zst), a workbook (.xlsx), or a folder or
        pattern of Parquet files. Without one: Parquet of numbers, .npy, .npz with an array ``X`` or a sparse matrix as
        `scipy.sparse.save_npz` writes it, or whatever `dpfast.files.read_table` reads.
    label : str, optional
        The column, or the array of a .npz file, of labels; with a schema, the name of its label.
    memory : int, default=2**30
        The number of bytes that may be kept in memory.
    scratch : str or path-like, optional
        The folder of the scratch file; by default that of temporary files.
    dtype : {"float32", "float64"}, default="float32"
        The dtype to which numbers in Parquet files are converted.
    n_features : int, optional
        The number of columns of an svmlight file. By default it is read off the rows, and thereby published, which a
        `PrivacyWarning` says.
    separator, decimal, encoding, skip_lines
        Format of text, as in `dpfast.files.read_table`.
    dates : {"dmy", "mdy", "ymd"}, optional
        The order of day, month and year in dates such as 01/05/2020 and 01-05-20 of a CSV file, which are words by
        default.
    sheet : str, optional
        The sheet of a workbook (.xlsx, .xls, .ods), which is read like a CSV file; by default the only one. It needs
        python-calamine: ``pip install 'dpfast[excel]'``.

    Examples
    --------
    >>> rows = FileParts("people/*.parquet", memory=4 << 30)
    >>> clf = dpfast.HalfspaceClassifier(schema="people.toml").fit(rows)  # doctest: +SKIP
    """

    _marks = ("",)

    def __init__(
        self,
        path: Any,
        *,
        label: str | None = None,
        memory: int = MEMORY,
        scratch: Any = None,
        dtype: str = "float32",
        n_features: int | None = None,
        separator: str | None = None,
        decimal: str = ".",
        encoding: str = "utf-8",
        dates: str | None = None,
        sheet: str | None = None,
        skip_lines: int = 0,
    ) -> None:
        self.path, self.label, self.memory, self.scratch, self.dtype = path, label, memory, scratch, dtype
        self.n_features = n_features
        self._text: dict[str, Any] = {"separator": separator, "decimal": decimal, "encoding": encoding}
        self._text |= {"dates": dates, "sheet": sheet, "skip_lines": skip_lines}

    def encode(self, schema: Schema, label: Label | None, unit: str | None = None) -> Encoding:
        self.refuse_labels()
        spool = Spool(self.memory, self.scratch)
        storage_of = partial(Storage, spool)
        with _refuse_changes(self.path):
            encoding = read_encoding(self.path, schema, label, storage_of=storage_of, unit=unit, **self._text)
        pa.default_memory_pool().release_unused()
        return encoding

    @property
    def width_read_off(self) -> bool:
        return self.n_features is None and is_svmlight(Path(self.path))

    def dense_shape(self) -> tuple[int, int] | None:
        path = Path(self.path)
        if self.label is not None and self.y is None and path.suffix not in (".npy", ".npz"):
            kind = kind_of(path)
            if kind == "csv":  # whose cells are text, and may be numbers
                return self._csv_shape
            if kind == "parquet":
                files = ParquetFiles(path)
                kinds = [each for name, each in files.types.items() if name != self.label]
                wide = self.label in files.types and kinds and all(map(_is_wide_number, kinds))
                return (sum(files.sizes), len(kinds)) if wide else None
        shape, dtype, _ = self._array
        return shape if dtype is not None and are_wide_numbers([dtype]) else None

    def label_kind(self, name: str) -> str | None:
        labels = self._array[2]
        return super().label_kind(name) if labels is None else label_kind(None, np.empty(0, labels), name)

    def with_names(self, names: Sequence[str]) -> Source:
        if self._array[0] is None:
            return self
        X, y = self._numbers_with_labels()
        return Memory(X, y).with_names(names)

    @cached_property
    def _csv_shape(self) -> tuple[int, int] | None:
        """Return the numbers of rows and of features of a CSV file; None if it lacks the label."""
        names = [*self.header()]
        if self.label not in names or len(names) == 1:
            return None
        return sum(map(len, _column_of_file(self.path, self.label, **self._text))), len(names) - 1

    @cached_property
    def _array(self) -> Any:
        """Return the shape and the type of the dense array in a .npy or .npz file, and the type of the labels in it.

        All are None for other files, and the last one if the file has no labels.
        """
        path, labels = Path(self.path), None
        if path.suffix == ".npy" and path.is_file():
            with open(path, "rb") as file:
                shape, _, dtype = _array_header(file)
        elif path.suffix == ".npz" and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                there = archive.namelist()
                if "X.npy" not in there:
                    return None, None, None
                with archive.open("X.npy") as file:
                    shape, _, dtype = _array_header(file)
                if (name := f"{self.label or 'y'}.npy") in there:
                    with archive.open(name) as file:
                        labels = _array_header(file)[2]
        else:
            return None, None, None
        return (shape, dtype, labels) if len(shape) == 2 and dtype.kind in "biuf" else (None, None, None)

    def header(self) -> dict[str, Any]:
        shape, dtype, _ = self._array
        if shape is not None:
            beside = {} if self.label is None else {self.label: pa.string()}
            return array_header(shape[1], dtype) | beside
        return header_of_file(self.path, **self._text)

    def like(self) -> pa.Table | None:
        if self._array[0] is not None or kind_of(Path(self.path)) != "parquet":
            return None
        return pa.schema(list(self.header().items())).empty_table()

    def numbers(self) -> tuple[Any, Any]:
        """Read all rows as numbers.

        Returns
        -------
        features : ndarray or csr_matrix
        labels : ndarray or None
        """
        spool = Spool(self.memory, self.scratch)
        with _refuse_changes(self.path):
            if Path(self.path).suffix == ".npy":
                with open(self.path, "rb") as file:
                    return _stream(file, spool), None
            kind = kind_of(Path(self.path))
            if kind == "parquet":
                return _parquet(self.path, self.label, self.dtype, spool)
            if kind == "npz" and zipfile.is_zipfile(self.path):
                return _npz(self.path, self.label, spool)
            stored = {"memory": self.memory, "scratch": self.scratch}
            stored |= {"n_features": self.n_features}
            text = {name: value for name, value in self._text.items() if name != "dates"}
            table = read_table(self.path, label=self.label, values="either", **stored, **text)
            return table.X, table.y

    def vectors(self, classes: Any = None, *, one_column: bool = False) -> Table:
        try:
            X, y = self._numbers_with_labels()
        except NotNumbers as error:
            raise NotNumbers(f'{error}; schema="discover" reads text, dates and missing cells, too') from None
        return Memory(X, y).vectors(classes, one_column=one_column)

    def _numbers_with_labels(self):
        X, y = self.numbers()
        if (y is None) == (self.y is None):
            raise ValueError("y must be given, or be read from the files by FileParts(..., label=), and not both")
        return X, self.y if y is None else y


def _is_wide_number(kind):
    """Return whether a type of Arrow is one of numbers of more than a byte."""
    return (pa.types.is_integer(kind) or pa.types.is_floating(kind)) and kind.bit_width > 8


def source_of(X: Any, y: Any = None) -> Source:
    """Return a table of any kind as a source; nothing is read. `y` are the labels, or the name of their column."""
    if isinstance(X, Source):
        source = X
    elif isinstance(X, str | os.PathLike):
        source = FileParts(X)
    elif is_stream(X):
        source = StreamParts(X)
    elif is_parted(X):
        from dpfast.tables.parted import Parted

        source = Parted(X)
    else:
        source = Memory(X)
    return source if y is None else with_labels(source, y)


@contextmanager
def _refuse_changes(path):
    """Refuse files whose size or time stamp changed during the block."""
    before = _stamps(path)
    yield
    after = _stamps(path)
    changed = [each for each in (after | before) if before.get(each) != after.get(each)]
    if changed:
        raise ValueError(f"{changed[0]} changed while it was read: nothing was learned from it; fit again")


def _stamps(path):
    try:
        paths = paths_of(path)
    except FileNotFoundError:  # a bundled table, or a file that its reader will refuse
        return {}
    stats = {each: os.stat(each) for each in paths}
    return {each: (stat.st_size, stat.st_mtime_ns) for each, stat in stats.items()}


def _parquet(path, label, dtype, spool):
    if dtype not in ("float32", "float64"):
        raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
    files, dtype = ParquetFiles(path), np.dtype(dtype)
    check_names(files.schema.names, label, needs_label=False)
    names = features_of(files.schema.names, label)
    files.refuse_text(names, "features are numbers")
    filling = spool.array((sum(files.sizes), len(names)), dtype)
    for block in files.floats(names, dtype):
        filling.append(block)
        del block  # before the next one is read
    return filling.read_all(), None if label is None else files.labels(label)


def _npz(path, label, spool):
    label = label or "y"
    with zipfile.ZipFile(path) as archive:
        there = {name.removesuffix(".npy") for name in archive.namelist()}

        def read(name):
            with archive.open(f"{name}.npy") as file:
                return _stream(file, spool)

        y = read(label) if label in there else None
        if "X" in there:
            return read("X"), y
        if not {"data", "indices", "indptr", "shape", "format"} <= there or bytes(read("format").item()) != b"csr":
            raise ValueError(f"{path}: there is neither an array X nor a sparse matrix in CSR format")
        shape = tuple(read("shape").tolist())
        return sp.csr_array((read("data"), read("indices"), read("indptr")), shape=shape), y


def _array_header(file):
    """Return the shape, whether the order is Fortran's, and the type of an array in numpy's format."""
    version = np.lib.format.read_magic(file)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(file)


def _stream(file, spool):
    """Read an array in numpy's format block by block."""
    shape, fortran, dtype = _array_header(file)
    if dtype.hasobject or (fortran and len(shape) > 1):
        raise ValueError(
            f"an array must hold numbers or text, row by row, got {dtype} in {'F' if fortran else 'C'} order"
        )
    if not shape:
        return np.frombuffer(file.read(dtype.itemsize), dtype).reshape(())
    filling, left = spool.array(shape, dtype), shape[0]
    size = dtype.itemsize * int(np.prod(shape[1:]))
    while left:
        rows = min(left, max(1, BLOCK_BYTES // max(1, size)))
        data = file.read(rows * size)
        if len(data) != rows * size:
            raise ValueError("the file ends before the array does")
        filling.append(np.frombuffer(data, dtype).reshape(rows, *shape[1:]))
        left -= rows
    return filling.read_all()


def read_codes(
    path: str | os.PathLike[str],
    schema: Schema,
    label: Label | None = None,
    *,
    separator: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    dates: str | None = None,
    sheet: str | None = None,
    skip_lines: int = 0,
) -> Any:
    """Read a table as codes, by a schema that declares all of it.

    Parameters
    ----------
    path : str or path-like
        A .csv or .tsv file (and .gz, .bz2, .zst), a .parquet file, a folder or a pattern of such, or the name of a
        bundled table.
    schema : Schema
    label : Label, optional
        The column to read as labels, such as `schema.label`; by default no labels are read.
    separator, decimal, encoding, skip_lines
        As in `dpfast.files.readers.read_table`.
    dates : {"dmy", "mdy", "ymd"}, optional
        As in `dpfast.FileParts`.
    sheet : str, optional
        As in `dpfast.FileParts`.

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
    text: dict[str, Any] = {"separator": separator, "decimal": decimal, "encoding": encoding, "dates": dates}
    text |= {"sheet": sheet, "skip_lines": skip_lines}
    encoded = read_encoding(path, schema, label, **text)
    return encoded.table(), None if label is None else encoded.labels()


@contextmanager
def _open_table(path, *, separator=None, **text):
    """Yield a table of text whose columns have valid names, or `ParquetFiles`; a bundled table has its own format."""
    path = Path(path)
    kind = kind_of(path)
    if kind == "bundled":
        with dataset_path(str(path)) as bundled, _open_table(bundled) as file:
            yield file
    elif kind == "parquet":
        yield ParquetFiles(path)
    elif kind == "csv":
        with csv.faults_of(path):
            file = csv.CsvFile(path, separator=separator or separator_of(path), **text)
            check_names(file.names, None, needs_label=False)
            yield file
    else:
        raise ValueError(f"{path}: columns are declared or discovered in CSV and Parquet files only")


def header_of_file(path, **text):
    """Return the Arrow types of the columns of a CSV or Parquet file by their names; all columns of CSV are text."""
    with _open_table(path, **text) as file:
        if isinstance(file, ParquetFiles):
            return file.types
        return dict.fromkeys(file.names, csv.PLAIN)


def units_of_file(path, column, **text):
    """Return a number for each row of a CSV or Parquet file, equal for rows of the same unit, by a column."""
    store, n = UnitStore(column, ArrayStore), 0
    for batch in _column_of_file(path, column, **text):
        try:
            store.append(store.read(batch))
        except Fault as fault:
            row = None if fault.row is None else n + fault.row
            raise ValueError(f"{path}: {Fault(column, fault.what, row)}") from None
        n += len(batch)
    return store.read_all()


def _column_of_file(path, column, **text):
    """Yield a column of a CSV or Parquet file, block by block."""
    with _open_table(path, **text) as file:
        try:
            yield from file.column(column)
        except csv.Unparsed:
            file.refuse_ragged()
            raise


def read_encoding(path, schema, label=None, *, storage_of=lambda most: ArrayStore, unit=None, **text):
    """Like `read_codes`, but return the `Encoding`, for a schema that leaves something to be discovered.

    `storage_of` maps an upper bound of the rows to the storage of the columns: see `Encoding`. `unit` is the column of
    the unit of each row.
    """
    with _open_table(path, **text) as file:
        if not isinstance(file, ParquetFiles):
            return csv.encode_csv(file, schema, label, storage_of(file.count()), unit)
        encoded = Encoding(schema, label, storage_of(sum(file.sizes)), unit)
        try:
            file.encode(encoded)
        except Fault as fault:
            raise ValueError(f"{path}: {fault}") from None
        return encoded


def read_code_steps(path, size, schema, *, skip=0, **text):
    """Yield the codes and the labels of `size` rows at a time, each as soon as its rows are there, after `skip` rows.

    The schema declares everything and names the label. The path "-" is a CSV table from standard input, and `text` says
    how text is written, as for `read_codes`. Rows without a label have none.
    """
    if str(path) != "-" and (kind_of(Path(path)) != "csv" or is_workbook(Path(path))):
        whole = read_encoding(path, schema, schema.label, **text)
        if whole.n < skip:
            raise ValueError(f"{path}: {too_few_rows(whole.n, skip)}")
        rows = whole if whole.complete else read_encoding(path, schema, **text)
        for start in range(skip, whole.n, size):
            step = slice(start, start + size)
            yield rows[step].table(), whole[step].labels_of_all()
        return
    with csv.faults_of(name_for_messages(path)):
        for file, _ in csv_steps(path, size, skip, schema.label.name, **text):
            encoded = csv.encode_csv(file, schema, schema.label, ArrayStore)
            rows = encoded if encoded.complete else csv.encode_csv(file, schema, None, ArrayStore)
            yield rows.table(), encoded.labels_of_all()


def read_frame(path, *, columns=None, numbers=None, days=None, **text):
    """Return a table, by default all of its columns, as a whole Arrow table for its owner; text stays text.

    Numbers in the columns `numbers` of a text file have a decimal point, and dates in `days` are YYYY-MM-DD; by
    default these are all columns. Other cells are as they are written.
    """
    with _open_table(path, **text) as file:
        if isinstance(file, ParquetFiles):
            from pyarrow.parquet import read_table as read_parquet

            return pa.concat_tables([read_parquet(each, columns=columns) for each in file.paths])
        schema = pa.schema([(name, pa.string()) for name in columns or file.names])
        try:
            table = pa.Table.from_batches(file.batches(dict(zip(schema.names, schema.types, strict=True))), schema)
        except csv.Unparsed:
            file.refuse_ragged()
            raise
        whole = table.combine_chunks().to_batches() or [pa.record_batch([[]] * len(schema), schema=schema)]
        numbers, days = ({*schema.names} if names is None else names for names in (numbers, days))
        usual = file.usual(whole[0], numbers, days)
        return table if usual is whole[0] else pa.table(usual)

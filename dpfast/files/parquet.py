"""Tables in Parquet: one file, or all files of a folder or of a pattern as one table. Parsed by pyarrow."""

import itertools
import os
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.files.entries import Entries, TableBuilder, block_rows
from dpfast.files.names import (
    FILL_OR_DROP,
    LabelReader,
    NotNumbers,
    check_expansion,
    check_names,
    features_of,
    paths_of,
)
from dpfast.parts.blocks import slices
from dpfast.tables.columns import refuse_lacking
from dpfast.tables.naming import not_there

_LARGE = 1 << 30  # bytes
_BUFFER = 1 << 16  # of a column's pages, so that no row group has to be in memory
_HELD, _COLUMNS = 1 << 27, 8  # bytes of a row group that may be held, and columns that are read together


class ParquetRows:
    """The numbers of Parquet files as a `RowBlocks`; the row groups in use, and optionally some more, are in memory.

    Indexing by a mask returns the rows of the files that the mask selects.

    Parameters
    ----------
    path : str or path-like
        A file, a folder of .parquet files, or a pattern such as ``"part-*.parquet"``; files are sorted by name.
    label : str, optional
        A column that holds labels; see `labels`.
    dtype : {"float32", "float64"}, default="float32"
        The dtype to which the columns are converted.
    keep : int, default=0
        The approximate number of bytes of blocks that stay in memory after they were read.

    Attributes
    ----------
    shape : tuple (n, d)
    bounds : list of int
        The first rows of the row groups, and n; empty row groups are left out.
    dtype : dtype
    feature_names : list of str

    Raises
    ------
    ValueError
        If a column other than the label does not hold numbers, or there is no such label; in `block` and `labels`, if a
        value is missing or not finite.

    Examples
    --------
    >>> rows = ParquetRows("rows.parquet", label="y")  # doctest: +SKIP
    >>> clf = dpfast.BoostedHalfspaceClassifier().fit(rows, rows.labels())  # doctest: +SKIP
    """

    ndim = 2

    def __init__(
        self, path: str | os.PathLike[str], *, label: str | None = None, dtype: str = "float32", keep: int = 0
    ) -> None:
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
        self._files, self._label, self.dtype, self._keep = ParquetFiles(path), label, np.dtype(dtype), keep
        schema = self._files.schema
        if label is not None and label not in schema.names:
            raise ValueError(not_there(label, schema.names))
        self.feature_names = features_of(schema.names, label)
        for name in self.feature_names:
            if not holds_numbers(schema.field(name)):
                raise NotNumbers(f"columns must hold numbers, column {name!r} holds {schema.field(name).type}")
        self._starts = [0, *itertools.accumulate(self._files.sizes)]
        self._pick(np.ones(self._starts[-1], bool))

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, chosen):
        """Return the rows that a mask selects; they are still read from the files, a row group per block."""
        chosen = np.asarray(chosen)
        if chosen.dtype != bool or chosen.shape != (len(self),):
            raise IndexError(f"rows are picked by {len(self)} booleans, got {chosen.dtype} of shape {chosen.shape}")
        mask = np.zeros_like(self._chosen)
        mask[np.flatnonzero(self._chosen)[chosen]] = True
        picked = object.__new__(ParquetRows)
        vars(picked).update(vars(self))
        picked._pick(mask)
        return picked

    def _pick(self, mask):
        """Restrict this object to the rows that a mask selects; groups without such rows are left out."""
        counts = [int(mask[start:end].sum()) for start, end in itertools.pairwise(self._starts)]
        self._kept, self._room = {}, self._keep
        self._chosen, self._groups = mask, np.flatnonzero(counts).tolist()
        self.bounds = [0, *itertools.accumulate(counts[k] for k in self._groups)]
        self.shape = self.bounds[-1], len(self.feature_names)

    def block(self, k: int) -> Any:
        """Return the rows of one block, which are those of a row group.

        Parameters
        ----------
        k : int
            The number of the block.

        Returns
        -------
        ndarray
            Finite numbers; read-only.
        """
        k = self._groups[k]
        if k in self._kept:
            return self._kept[k]
        with self._files.group(k, self.feature_names) as (group, start):
            block = self._floats(group, start)
        chosen = self._chosen[self._starts[k] : self._starts[k + 1]]
        block = block if chosen.all() else block[chosen]
        if block.nbytes <= self._room:
            self._kept[k] = block
            self._room -= block.nbytes
        return block

    def _floats(self, group, start, names=None):
        """Return the rows of an Arrow table or batch of some features; `start` numbers its first row in its file."""
        names = self.feature_names if names is None else names
        block = np.empty((group.num_rows, len(names)), self.dtype)
        with np.errstate(over="ignore"):  # infinity is refused below
            for j, (name, column) in enumerate(zip(names, group.columns, strict=True)):
                refuse_missing(name, column, start)
                block[:, j] = np.asarray(column)
        if not np.isfinite(block).all():
            Entries("numbers").check(block, names, start)
        return block

    def _group(self, file, k, n, start):
        """Yield the rows of a row group.

        A reader of a column holds its pages and its dictionary, which take some megabytes. A row group is therefore
        read a few columns at a time, or, if it is too large to be held, with all columns and a few rows at a time.
        """
        d = self.shape[1]
        if n * d * self.dtype.itemsize > _HELD:
            yield from (part for _, part in self._batches(file, k, start, slice(0, d)))
            return
        whole = np.empty((n, d), self.dtype)
        for columns in slices(d, _COLUMNS):
            for rows, part in self._batches(file, k, start, columns):
                whole[rows, columns] = part
        yield whole

    def _batches(self, file, k, start, columns):
        """Yield slices of the rows of a row group, and their floats in some of the columns."""
        names, row = self.feature_names[columns], 0
        for batch in file.iter_batches(block_rows(len(names)), row_groups=[k], columns=names, use_threads=False):
            yield slice(row, row + len(batch)), self._floats(batch, start + row, names)
            row += len(batch)

    def labels(self) -> Any:
        """Return the labels of these rows.

        Returns
        -------
        column of labels
            Integers if all labels are, else text. `numpy.asarray` makes an array of it.
        """
        if self._label is None:
            raise ValueError("these rows have no label column; see label=")
        labels = LabelReader()
        for batch in self._files.batches([self._label]):
            labels.add(batch.column(0))
        return labels.column()[self._chosen]


def few_at_a_time(rows):
    """Yield all rows of Parquet files in order, at most a row group of moderate size at a time."""
    for path in rows._files.paths:
        with _opened(path) as file:
            start = 0
            for k in range(file.metadata.num_row_groups):
                n = file.metadata.row_group(k).num_rows
                yield from rows._group(file, k, n, start)
                start += n


class ParquetFiles:
    """Parquet files with the same schema, as one table; `sizes` are the numbers of rows of all row groups, in order."""

    def __init__(self, path):
        self.paths = paths_of(path)
        self.sizes, self._places = [], []  # and for each row group its file, and its number there
        for at, each in enumerate(self.paths):
            with _opened(each) as file:
                if not at:
                    self.schema = file.schema_arrow
                elif file.schema_arrow.names != self.schema.names:
                    raise ValueError(f"{each}: its columns are not those of {self.paths[0]}")
                numbers = range(file.metadata.num_row_groups)
                self._places += [(at, k) for k in numbers]
                self.sizes += [file.metadata.row_group(k).num_rows for k in numbers]

    def groups(self):
        """Return all nonempty row groups as pairs of the number of a file and the number of a group in it."""
        return [place for place, size in zip(self._places, self.sizes, strict=True) if size]

    @contextmanager
    def group(self, k, columns):
        """Read row group k, and the number of its first row in its file; errors in the block name the file."""
        at, number = self._places[k]
        with _opened(self.paths[at]) as file:
            group = file.read_row_group(number, columns=columns, use_threads=False)
            yield group, sum(self.sizes[k - number : k])

    def batches(self, columns):
        """Yield blocks of rows of some columns, which have no nulls."""
        for path in self.paths:
            with _opened(path) as file:
                row = 0
                for batch in file.iter_batches(batch_size=block_rows(len(columns)), columns=columns):
                    for name in columns:
                        refuse_missing(name, batch.column(name), row)
                    row += len(batch)
                    yield batch

    def encode(self, encoding):
        """Pass all rows to a `dpfast.tables.encoding.Encoding`."""
        for path in self.paths:
            with _opened(path) as file:
                refuse_lacking(encoding.names, file.schema_arrow.names)
                for batch in file.iter_batches(batch_size=1 << 16, columns=encoding.names):
                    encoding.add(batch)


def table_of(path, label, needs_label, entries, may_stay):
    """Return the features of Parquet files as bits, numbers or rows on disk, their labels, and their names."""
    files = ParquetFiles(path)
    try:
        names = files.schema.names
        check_names(names, label, needs_label)
        for field in files.schema:
            if field.name != label and not holds_numbers(field):
                raise ValueError(f"column {field.name!r} holds {field.type}; {entries.wanted}")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    features = features_of(names, label)
    entries = entries.typed(all(files.schema.field(name).type == pa.bool_() for name in features))
    row = 4 * len(features)  # bytes of the numbers of a row
    large = sum(files.sizes) * row > _LARGE > max(files.sizes, default=0) * row  # and has row groups that are not
    if may_stay and entries.values == "numbers" and large:
        rows = ParquetRows(path, label=label, keep=_LARGE)
        return rows, None if label is None else rows.labels(), features
    labels, gathered = LabelReader(), TableBuilder(entries, features, lambda: sum(files.sizes))
    try:
        check_expansion(
            sum(files.sizes) * row // (32 if entries.values == "bits" else 1),
            sum(each.stat().st_size for each in files.paths),
        )
        for batch in files.batches(names):
            gathered.add(np.stack([batch.column(name).to_numpy(zero_copy_only=False) for name in features], axis=1))
            if label is not None:
                labels.add(batch.column(label))
        return gathered.table(), None if label is None else labels.column(), features
    except ValueError as error:
        known = any(str(error).startswith(str(each)) for each in files.paths)
        raise error if known else ValueError(f"{path}: {error}") from None


def delayed_parquet(path: Any, columns: list[str]) -> tuple[list, int]:
    """Return a list of delayed Arrow tables, for `fit`, and their total number of rows.

    This process and the workers must see the file, the folder or the pattern under the same name.
    """
    from dask.delayed import delayed

    files = ParquetFiles(path)
    lacking = [name for name in columns if name not in files.schema.names]
    if lacking:
        raise ValueError(f"{path}: there is no column {lacking[0]!r}")
    read = delayed(_group, pure=False)
    paths = [str(each.absolute()) for each in files.paths]
    return [read(paths[at], k, columns) for at, k in files.groups()], sum(files.sizes)


def _group(path, k, columns):
    with _opened(path) as file:
        return file.read_row_group(k, columns=columns, use_threads=False)


def holds_numbers(field):
    """Return whether a column of a Parquet file holds booleans, integers or floats."""
    return pa.types.is_boolean(field.type) or pa.types.is_integer(field.type) or pa.types.is_floating(field.type)


def refuse_missing(name, column, row):
    """Refuse a column with a missing value; `row` is the number of its first row, from 0."""
    if column.null_count:
        missing = row + column.is_null().to_pylist().index(True) + 1
        raise NotNumbers(f"row {missing}, column {name!r} is empty; {FILL_OR_DROP}")


@contextmanager
def _opened(path):
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, buffer_size=_BUFFER) as file:
            yield file
    except pa.ArrowException as error:
        raise ValueError(f"{path} is not a whole Parquet file: {error}") from None
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise (NotNumbers if isinstance(error, NotNumbers) else ValueError)(f"{path}: {error}") from None

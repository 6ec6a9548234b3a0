"""Tables in Parquet: one file, or all files of a folder or of a pattern as one table. Parsed by pyarrow."""

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
from dpfast.tables.arrow_types import has_types_of_pandas
from dpfast.tables.columns import refuse_lacking

_BUFFER = 1 << 16  # of a column's pages, so that no row group has to be in memory
_HELD, _COLUMNS = 1 << 27, 8  # bytes of a row group that may be held, and columns that are read together


class ParquetFiles:
    """Parquet files with the same schema, as one table; `sizes` are the numbers of rows of all row groups, in order."""

    def __init__(self, path):
        self.paths = paths_of(path)
        self._schemas: list[pa.Schema] = []
        self.sizes, self._places = [], []  # and for each row group its file, and its number there
        for at, each in enumerate(self.paths):
            with _open_file(each) as file:
                self._schemas.append(file.schema_arrow)
                if not at:
                    self.schema = file.schema_arrow
                elif file.schema_arrow.names != self.schema.names:
                    raise ValueError(f"{each}: its columns are not those of {self.paths[0]}")
                numbers = range(file.metadata.num_row_groups)
                self._places += [(at, k) for k in numbers]
                self.sizes += [file.metadata.row_group(k).num_rows for k in numbers]

    @property
    def types(self):
        """Return the type in which a column is declared in all files, by its name: text, if they differ in kind."""
        return {name: _common({each.field(name).type for each in self._schemas}) for name in self.schema.names}

    def column(self, name):
        """Yield a column block by block."""
        for path in self.paths:
            with _open_file(path) as file:
                for batch in file.iter_batches(batch_size=1 << 16, columns=[name]):
                    yield batch.column(0)

    def groups(self):
        """Return all nonempty row groups as pairs of the number of a file and the number of a group in it."""
        return [place for place, size in zip(self._places, self.sizes, strict=True) if size]

    def batches(self, columns, label=None):
        """Yield blocks of rows of some columns, which have no nulls, except that of labels."""
        for path in self.paths:
            with _open_file(path) as file:
                row = 0
                for batch in file.iter_batches(batch_size=block_rows(len(columns)), columns=columns):
                    for name in features_of(columns, label):
                        refuse_missing(name, batch.column(name), row)
                    row += len(batch)
                    yield batch

    def labels(self, name):
        """Return a column of labels, in its type."""
        labels = LabelReader(self.schema.field(name).type)
        for batch in self.batches([name], name):
            labels.add(batch.column(0))
        return labels.column()

    def refuse_text(self, names, domain):
        """Refuse columns that do not hold numbers."""
        for name in names:
            kind = self.schema.field(name).type
            if not (pa.types.is_boolean(kind) or pa.types.is_integer(kind) or pa.types.is_floating(kind)):
                raise NotNumbers(f"column {name!r} holds {kind}; {domain}")

    def floats(self, names, dtype):
        """Yield the rows of some columns as finite floats, in order, at most a row group of moderate size at a time.

        A reader of a column holds its pages and its dictionary, which take some megabytes. A row group is therefore
        read a few columns at a time, or, if it is too large to be held, with all columns and a few rows at a time.
        """
        for path in self.paths:
            with _open_file(path) as file:
                start = 0
                for k in range(file.metadata.num_row_groups):
                    n = file.metadata.row_group(k).num_rows
                    if n * len(names) * dtype.itemsize > _HELD:
                        yield from (part for _, part in _floats(file, k, names, dtype, start))
                    else:
                        whole = np.empty((n, len(names)), dtype)
                        for columns in slices(len(names), _COLUMNS):
                            for rows, part in _floats(file, k, names[columns], dtype, start):
                                whole[rows, columns] = part
                        yield whole
                    start += n

    def encode(self, encoding):
        """Pass all rows to a `dpfast.tables.encoding.Encoding`."""
        for path in self.paths:
            with _open_file(path) as file:
                refuse_lacking(encoding.names, file.schema_arrow.names)
                for batch in file.iter_batches(batch_size=1 << 15, columns=encoding.names):
                    encoding.add(batch)


def _common(kinds):
    """Return the type of which columns of several types are read; in a text, each cell is read by itself."""
    kinds = {each.value_type if pa.types.is_dictionary(each) else each for each in kinds}
    kinds = {each for each in kinds if not pa.types.is_null(each)} or kinds
    if len(kinds) == 1:
        return kinds.pop()
    if all(map(pa.types.is_integer, kinds)):
        return pa.int64()
    return (
        pa.float64() if all(pa.types.is_integer(each) or pa.types.is_floating(each) for each in kinds) else pa.string()
    )


def _floats(file, k, names, dtype, start):
    """Yield slices of the rows of row group k, whose first row in the file is `start`, and their floats."""
    row = 0
    for batch in file.iter_batches(block_rows(len(names)), row_groups=[k], columns=names, use_threads=False):
        block = np.empty((len(batch), len(names)), dtype)
        with np.errstate(over="ignore"):  # infinity is refused below
            for j, (name, column) in enumerate(zip(names, batch.columns, strict=True)):
                refuse_missing(name, column, start + row)
                block[:, j] = np.asarray(column)
        if not np.isfinite(block).all():
            Entries("numbers").check(block, names, start + row)
        yield slice(row, row + len(batch)), block
        row += len(batch)


def table_of(path, label, needs_label, entries, spool):
    """Return the features of Parquet files as bits or numbers, their labels, and their names."""
    files = ParquetFiles(path)
    try:
        names = files.schema.names
        check_names(names, label, needs_label)
        features = features_of(names, label)
        files.refuse_text(features, entries.demand)
    except ValueError as error:
        raise type(error)(f"{path}: {error}") from None
    entries = entries.resolve(all(files.schema.field(name).type == pa.bool_() for name in features))
    n, row = sum(files.sizes), 4 * len(features)  # bytes of the numbers of a row
    labels = None if label is None else LabelReader(files.schema.field(label).type)
    gathered = TableBuilder(entries, features, lambda: n, spool)
    try:
        check_expansion(
            n * row // (32 if entries.values == "bits" else 1),
            sum(each.stat().st_size for each in files.paths),
        )
        for batch in files.batches(names, label):
            gathered.add(np.stack([batch.column(name).to_numpy(zero_copy_only=False) for name in features], axis=1))
            if labels is not None:
                labels.add(batch.column(label))
        return gathered.table(), None if labels is None else labels.column(), features
    except ValueError as error:
        names_file = any(str(error).startswith(str(each)) for each in files.paths)
        raise error if names_file else ValueError(f"{path}: {error}") from None


def delay_parquet(path: Any, columns: list[str]) -> tuple[list, int]:
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
    with _open_file(path) as file:
        return file.read_row_group(k, columns=columns, use_threads=False)


def refuse_missing(name, column, row):
    """Refuse a column with a missing value; `row` is the number of its first row, from 0."""
    if column.null_count:
        missing = row + column.is_null().to_pylist().index(True) + 1
        raise NotNumbers(f"row {missing}, column {name!r} is empty; {FILL_OR_DROP}")


@contextmanager
def _open_file(path):
    from pyarrow import parquet

    try:
        with parquet.ParquetFile(path, buffer_size=_BUFFER) as file:
            if not has_types_of_pandas(file.schema_arrow):
                yield file
                return
        with parquet.ParquetFile(path, buffer_size=_BUFFER) as file:  # whose types Arrow knows now
            yield file
    except pa.ArrowException as error:
        raise ValueError(f"{path} is not a whole Parquet file: {error}") from None
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise (NotNumbers if isinstance(error, NotNumbers) else ValueError)(f"{path}: {error}") from None

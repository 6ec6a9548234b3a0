"""Rows of a Parquet file, read row group by row group."""

import itertools

import numpy as np

from dpfast.data.entries import Entries
from dpfast.data.labels import MISSING, Labels


class ParquetRows:
    """The numbers of a Parquet file as a `RowBlocks`: the row groups in use are in memory, and some more if wanted.

    Indexed by a mask, these are the rows of the file that the mask picks.

    Parameters
    ----------
    path : str or path-like
    label : str, optional
        A column that holds labels; see `labels`.
    dtype : {"float32", "float64"}, default="float32"
        What the columns become.
    keep : int, default=0
        Bytes of blocks, about, that stay in memory once they were read, and are not read again.

    Attributes
    ----------
    shape : tuple (n, d)
    bounds : list of int
        Where row groups begin, and n; those without rows are left out.
    feature_names : list of str

    Raises
    ------
    ValueError
        If a column other than the label is not of numbers, or there is no such label; by `block` and `labels`, if a
        value is missing or not finite.

    Examples
    --------
    >>> rows = ParquetRows("rows.parquet", label="y")  # doctest: +SKIP
    >>> clf = dpfast.BoostedHalfspaceClassifier().fit(rows, rows.labels())  # doctest: +SKIP
    """

    ndim = 2

    def __init__(self, path, *, label=None, dtype="float32", keep=0):
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
        self._path, self._label, self._dtype, self._keep = path, label, dtype, keep
        _, parquet = pyarrow(path)
        with parquet.ParquetFile(path) as file:
            schema, metadata = file.schema_arrow, file.metadata
            sizes = [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]
        if label is not None and label not in schema.names:
            raise ValueError(
                f"there is no column {label!r} to take labels from; there is {', '.join(schema.names[:8])}"
            )
        self.feature_names = [name for name in schema.names if name != label]
        for name in self.feature_names:
            if not holds_numbers(schema.field(name)):
                raise ValueError(f"columns must hold numbers, column {name!r} holds {schema.field(name).type}")
        self._starts = [0, *np.cumsum(sizes).tolist()]  # in the file
        self._pick(np.ones(self._starts[-1], bool))

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, chosen):
        """The rows that a mask picks: still read from the file, a row group a block."""
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
        """Be the rows of the file that a mask picks; groups without any are no blocks."""
        counts = [int(mask[start:end].sum()) for start, end in itertools.pairwise(self._starts)]
        self._kept, self._room = {}, self._keep
        self._chosen, self._groups = mask, np.flatnonzero(counts).tolist()
        self.bounds = [0, *itertools.accumulate(counts[k] for k in self._groups)]
        self.shape = self.bounds[-1], len(self.feature_names)

    def block(self, k):
        """The rows of block k, which are those of a row group: finite floats, not to be written to."""
        k = self._groups[k]
        if k in self._kept:
            return self._kept[k]
        block = self._read(k)
        if block.nbytes <= self._room:
            self._kept[k] = block
            self._room -= block.nbytes
        return block

    def _read(self, k):
        _, parquet = pyarrow(self._path)
        with parquet.ParquetFile(self._path) as file:
            group = file.read_row_group(k, columns=self.feature_names, use_threads=False)
        start = self._starts[k]
        block = np.empty((group.num_rows, self.shape[1]), self._dtype)
        try:
            with np.errstate(over="ignore"):  # infinity, which is refused
                for j, (name, column) in enumerate(zip(self.feature_names, group.itercolumns(), strict=True)):
                    refuse_missing(name, column, start)
                    block[:, j] = column.to_numpy()
            if not np.isfinite(block).all():
                Entries("numbers").check(block, self.feature_names, start)
        except ValueError as error:
            raise ValueError(f"{self._path}: {error}") from None
        chosen = self._chosen[start : start + len(block)]
        return block if chosen.all() else block[chosen]

    def labels(self):
        """The labels of these rows: ndarray, shape (n,), of int64 if all are integers, else of str."""
        if self._label is None:
            raise ValueError("these rows have no label column; see label=")
        _, parquet = pyarrow(self._path)
        labels, start = Labels(), 0
        try:
            with parquet.ParquetFile(self._path) as file:
                for batch in file.iter_batches(columns=[self._label]):
                    refuse_missing(self._label, batch.column(0), start)
                    for value in batch.column(0).to_pylist():
                        labels.add(value)
                    start += len(batch)
        except ValueError as error:
            raise ValueError(f"{self._path}: {error}") from None
        return labels.array()[self._chosen]


def pyarrow(path):
    """pyarrow's modules lib and parquet, or the error that tells how to get them."""
    try:
        from pyarrow import lib, parquet
    except ImportError:
        raise ImportError(f"{path}: reading Parquet needs pyarrow: pip install 'dpfast[parquet]'") from None
    return lib, parquet


def holds_numbers(field):
    """Whether a column of a Parquet file is of booleans, integers or floats."""
    from pyarrow import types

    return types.is_boolean(field.type) or types.is_integer(field.type) or types.is_floating(field.type)


def refuse_missing(name, column, row):
    """Refuse a column with a missing value; `row` is the number of its first row, from 0."""
    if column.null_count:
        missing = row + column.is_null().to_pylist().index(True) + 1
        raise ValueError(f"row {missing}, column {name!r} is empty; {MISSING}")

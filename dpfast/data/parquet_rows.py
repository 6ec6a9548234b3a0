"""Rows of a Parquet file, read row group by row group."""

import numpy as np

from dpfast.data.readers import holds_numbers, pyarrow


class ParquetRows:
    """The numbers of a Parquet file as a `RowBlocks`: nothing but the row group in use is in memory.

    Parameters
    ----------
    path : str or path-like
    label : str, optional
        A column that holds labels; see `labels`.
    dtype : {"float32", "float64"}, default="float32"
        What the columns become.

    Attributes
    ----------
    shape : tuple (n, d)
    bounds : list of int
        Where row groups begin, and n.
    feature_names : list of str

    Raises
    ------
    ValueError
        If a column other than the label is not of numbers, or there is no such label. NaN is refused by who reads.

    Examples
    --------
    >>> rows = ParquetRows("rows.parquet", label="y")  # doctest: +SKIP
    >>> clf = dpfast.BoostedHalfspaceClassifier().fit(rows, rows.labels())  # doctest: +SKIP
    """

    def __init__(self, path, *, label=None, dtype="float32"):
        if dtype not in ("float32", "float64"):
            raise ValueError(f'dtype must be "float32" or "float64", got {dtype!r}')
        self._path, self._label, self._dtype = path, label, dtype
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
        self.bounds = [0, *np.cumsum(sizes).tolist()]
        self.shape = self.bounds[-1], len(self.feature_names)

    def __len__(self):
        return self.shape[0]

    def block(self, k):
        """The rows of row group k as floats; missing values are NaN."""
        _, parquet = pyarrow(self._path)
        with parquet.ParquetFile(self._path) as file:
            group = file.read_row_group(k, columns=self.feature_names, use_threads=False)
        block = np.empty((group.num_rows, self.shape[1]), self._dtype)
        for j, column in enumerate(group.itercolumns()):
            block[:, j] = column.to_numpy()
        return block

    def labels(self):
        """The label column, whole."""
        if self._label is None:
            raise ValueError("these rows have no label column; see label=")
        _, parquet = pyarrow(self._path)
        with parquet.ParquetFile(self._path) as file:
            return file.read(columns=[self._label]).column(0).to_numpy()

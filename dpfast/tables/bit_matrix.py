"""Packed 0/1 tables from dense, sparse and pandas input, and sparse 0/1 tables as the places of their ones."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from dpfast.kernels import bits
from dpfast.kernels.own import frozen, own
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices
from dpfast.tables.arrays import as_numbers, row_index
from dpfast.tables.row_array import by_row


class BitMatrix:
    """A 0/1 table of n rows and d columns, packed 64 entries to a word, by rows and by columns.

    Parameters
    ----------
    X : array_like, sparse matrix or array, DataFrame or BitMatrix, shape (n, d)
        Booleans or 0 and 1; any real numbers if `threshold` is given.
    threshold : None, float or array_like of float, shape (d,)
        An entry becomes the bit ``x > threshold``; one number for all columns, or one for each. Declare it; do not
        compute it from private rows. With None, all entries must be 0 or 1.
    feature_names : sequence of str, length d, optional
        Taken from a DataFrame's columns by default.

    Attributes
    ----------
    rows : ndarray of uint64, shape (n, ceil(d / 64))
        Read-only.
    columns : ndarray of uint64, shape (d, ceil(n / 64))
        The transpose, computed at first use; read-only.
    shape : tuple (n, d)
    feature_names : list of str or None

    Raises
    ------
    ValueError
        For NaN, infinities, entries that are not 0 or 1 without a threshold, and wrong shapes.

    Notes
    -----
    Each layout takes n d / 8 bytes. The input is converted in blocks of a few MB and never copied as a whole.

    Examples
    --------
    >>> BitMatrix([[0, 1], [1, 1]])
    BitMatrix of shape (2, 2)
    """

    def __init__(
        self, X: Any, *, threshold: ArrayLike | None = None, feature_names: Sequence[str] | None = None
    ) -> None:
        self._rows: Any
        self._columns: Any
        self.shape: tuple[int, int]
        self.feature_names: list[str] | None
        if isinstance(X, BitMatrix):
            if threshold is not None:
                raise ValueError(f"a BitMatrix holds bits already: threshold must be None, got {threshold!r}")
            self._rows, self._columns, self.shape = X._rows, X._columns, X.shape
            self.feature_names = X.feature_names
        else:
            self._rows = self._columns = None
            self.feature_names = None
            if hasattr(X, "iloc"):
                self._pack_frame(X, threshold)
            elif sp.issparse(X):
                self._pack_sparse(as_numbers(X, sparse=["csr", "csc"]), threshold)
            else:
                self._pack_dense(as_numbers(X), threshold)
        if feature_names is not None:
            self.feature_names = [str(name) for name in feature_names]
            if len(self.feature_names) != self.shape[1]:
                raise ValueError(f"feature_names must number {self.shape[1]}, got {len(self.feature_names)}")

    @classmethod
    def from_columns(cls, columns, n):
        """Return the table with these packed columns.

        Parameters
        ----------
        columns : ndarray of uint64, shape (d, words(n))
            Copied unless it and all arrays that it is a view of are read-only, so that nobody can change it.
        n : int
            The number of rows.
        """
        return cls._of(None, _check_words("columns", columns, "n", n), (n, columns.shape[0]))

    @classmethod
    def from_rows(cls, rows, d):
        """Return the table with these packed rows.

        Parameters
        ----------
        rows : ndarray of uint64, shape (n, words(d))
            Copied unless it and all arrays that it is a view of are read-only, so that nobody can change it.
        d : int
            The number of columns.
        """
        return cls._of(_check_words("rows", rows, "d", d), None, (rows.shape[0], d))

    @classmethod
    def _of(cls, rows, columns, shape):
        table = cls.__new__(cls)
        table._rows, table._columns, table.shape, table.feature_names = rows, columns, shape, None
        return table

    def __setstate__(self, state):
        arrays = {name: each for name, each in state.items() if isinstance(each, np.ndarray)}
        self.__dict__.update(state | {name: np.require(each, None, "A") for name, each in arrays.items()})

    @property
    def rows(self) -> np.ndarray:
        if self._rows is None:
            self._rows = bits.transpose(self._columns, self.shape[0])
        return frozen(self._rows)

    @property
    def columns(self) -> np.ndarray:
        if self._columns is None:
            self._columns = bits.transpose(self._rows, self.shape[1])
        return frozen(self._columns)

    @property
    def has_columns(self) -> bool:
        """Return whether `columns` has been computed."""
        return self._columns is not None

    def column(self, j: int) -> np.ndarray:
        """Return one column, packed, without computing the transpose.

        Parameters
        ----------
        j : int

        Returns
        -------
        ndarray of uint64
        """
        return self._columns[j] if self.has_columns else bits.column(self._rows, self.shape[1], j)

    ndim = 2

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        """Return the table of the rows that a slice, a mask or an array of row numbers selects."""
        picked = self.rows[row_index(index, "BitMatrix")]
        table = BitMatrix.from_rows(frozen(np.ascontiguousarray(picked)), self.shape[1])
        table.feature_names = self.feature_names
        return table

    def toarray(self) -> np.ndarray:
        """Return the table as booleans.

        Returns
        -------
        ndarray of bool, shape (n, d)
        """
        return bits.unpack(self.rows, self.shape[1])

    def __matmul__(self, w):
        """Return the products of the rows with a vector or a matrix, each row by itself: float64."""
        parts = slices(len(self), BLOCK_BYTES // (8 * self.shape[1]))
        return np.concatenate([by_row(self[part].toarray()) @ np.asarray(w, np.float64) for part in parts])

    def __repr__(self):
        return f"BitMatrix of shape {self.shape}"

    def _pack_dense(self, X, threshold):
        self.shape = n, d = X.shape
        above = _comparison(threshold, d)
        rows = np.empty((n, bits.words(d)), np.uint64)

        def pack(block):
            bits.pack(np.ascontiguousarray(above(X[block])).view(np.uint8), rows[block])

        map_blocks(pack, slices(n, BLOCK_BYTES // (d * X.itemsize)))
        self._rows = rows

    def _pack_frame(self, X, threshold):
        if X.columns.map(lambda name: isinstance(name, str)).all():
            self.feature_names = list(X.columns)
        self.shape = n, d = X.shape
        if n == 0 or d == 0:
            as_numbers(X)  # raises the error
        above = _comparison(threshold, d, names=list(X.columns))
        columns = np.empty((d, bits.words(n)), np.uint64)
        for block in slices(d, BLOCK_BYTES // (8 * max(1, n))):
            values = _frame_values(X, block)
            bits.pack(np.ascontiguousarray(above(values, block).T).view(np.uint8), columns[block])
        self._columns = columns

    def _pack_sparse(self, X, threshold):
        self.shape = n, d = X.shape
        by_rows = X.format == "csr"
        along = d if by_rows else n
        if threshold is None:
            flipped, absent = _as_bits(X.data), None
        else:
            level = _thresholds(threshold, d)
            column = X.indices if by_rows else np.repeat(np.arange(d), np.diff(X.indptr))
            absent = level < 0  # columns in which entries that are not stored become 1
            flipped = (X.data > level[column]) != absent[column]
        indptr, indices = X.indptr, X.indices
        if not flipped.all():
            indptr, indices = _places(X, flipped)
        packed = bits.pack_sparse(indptr.astype(X.indptr.dtype, copy=False), indices, along)
        if absent is not None and absent.any():
            if by_rows:
                packed ^= bits.pack(absent[np.newaxis].view(np.uint8))
            else:
                packed[absent] ^= bits.pack(np.ones((1, n), np.uint8))
        if by_rows:
            self._rows = packed
        else:
            self._columns = packed


def _check_words(what, words, name, entries):
    """Return packed words that nobody else can change; refuse words that are not packed as by `bits.pack`."""
    demand = f"{what} must be a C-contiguous ndarray of uint64, {bits.words(entries)} words for each {name}={entries}"
    if not isinstance(words, np.ndarray) or words.dtype != np.uint64 or words.ndim != 2:
        kind = f"{words.dtype} {words.shape}" if isinstance(words, np.ndarray) else type(words).__name__
        raise TypeError(f"{demand}, got {kind}")
    if not words.flags.c_contiguous or words.shape[1] != bits.words(entries):
        raise ValueError(f"{demand}, got shape {words.shape}, strides {words.strides}")
    words = own(words)
    if entries % 64 and (words[:, -1] >> np.uint64(entries % 64)).any():
        raise ValueError(f"{what} must be zero past {name}={entries}, some have bits there")
    return words


def _comparison(threshold, d, names=None):
    """Return the function from a block of entries (and its columns) to booleans."""
    if threshold is None:
        return lambda values, block=slice(None): _as_bits(values, names[block] if names else None)
    level = _thresholds(threshold, d)
    return lambda values, block=slice(None): values > level[block]


def refuse_threshold(threshold: ArrayLike | None, d: int) -> None:
    """Refuse what cannot be a threshold of d columns."""
    if threshold is not None:
        _thresholds(threshold, d)


def _thresholds(threshold, d):
    """Return the threshold of each of d columns."""
    try:
        level = np.asarray(threshold, dtype=np.float64)
    except OverflowError:  # an integer beyond all floats
        level = np.array(np.inf)
    if level.ndim > 1 or level.size not in (1, d) or not np.isfinite(level).all():
        raise ValueError(f"threshold must be one finite number or one for each of {d} columns, got {threshold!r}")
    return np.broadcast_to(level, (d,))


def _as_bits(values, names=None):
    """Return entries as booleans; refuse those that are neither 0 nor 1, by the names of their columns if given."""
    if values.dtype == bool:
        return values
    ones = values == 1
    wrong = ~(ones | (values == 0))
    if wrong.any():
        place = tuple(np.argwhere(wrong)[0])
        where = f" in column {names[place[1]]!r}" if names else ""
        raise ValueError(
            f"entries must be 0 or 1, got {values[place]}{where}; give threshold=, a number or one for each column, "
            "to turn real values into bits x > threshold"
        )
    return ones


def _places(X, entries):
    """Return the row pointers and the indices of the chosen stored entries of a sparse matrix."""
    return np.concatenate([[0], np.cumsum(entries)])[X.indptr], X.indices[entries]


def _frame_values(X, block):
    try:
        return as_numbers(X.iloc[:, block])
    except ValueError:
        for j in range(block.start, block.stop):
            try:
                as_numbers(X.iloc[:, [j]])
            except ValueError as error:
                raise ValueError(f"column {X.columns[j]!r}: {error}") from None
        raise


SPARSE = 1 << 10  # with more entries than this for each stored one, places take less time than packed bits


class SparseBits:
    """A 0/1 table of n rows and d columns, stored as the places of its ones; its memory grows with the stored entries.

    `X` and `threshold` are as for `BitMatrix`; the threshold is at least 0, so that entries that are not stored become
    0.
    """

    def __init__(self, X, threshold=None):
        X = as_numbers(X, sparse=["csr"])
        level = None if threshold is None else _thresholds(threshold, X.shape[1])[X.indices]
        self._ends, self._columns = _places(X, _as_bits(X.data) if level is None else X.data > level)
        self.shape = X.shape

    def __len__(self):
        return self.shape[0]

    def column(self, j: int) -> np.ndarray:
        """Return bit j of all rows, packed; the time is that of a pass over all ones of the table."""
        mask = np.zeros(len(self), np.uint8)
        mask[np.searchsorted(self._ends, np.flatnonzero(self._columns == j), side="right") - 1] = 1
        return bits.pack(mask[np.newaxis])[0]

    def counts(self, labels: np.ndarray, classes: int, mask: np.ndarray | None = None) -> np.ndarray:
        """Return the counts of rows with each bit and label, like `CodeBits.counts`: int64, shape (classes, d)."""
        rows = np.arange(len(self)) if mask is None else bits.nonzero(mask)
        of_class = [rows[labels[rows] == c] for c in range(classes)]
        return np.stack([np.bincount(self._of(rows), minlength=self.shape[1]) for rows in of_class])

    def _of(self, rows):
        """Return the columns of the ones of some rows, row after row."""
        starts, sizes = self._ends[rows], self._ends[rows + 1] - self._ends[rows]
        first = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        return self._columns[first + np.arange(len(first))]


def suits(X, threshold) -> bool:
    """Return whether `SparseBits` suits a table, by its format and the number of its stored entries."""
    if not sp.issparse(X) or X.shape[0] * X.shape[1] <= SPARSE * X.nnz:
        return False
    return threshold is None or np.min(threshold) >= 0

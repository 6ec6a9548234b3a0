"""Tables of codes: one small integer a column and row, for a bin, a value or what is missing."""

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast.kernels.codes import MOST_SIZE, Columns
from dpfast.kernels.own import frozen, own


class CodeTable:
    """A table of n rows and p columns of codes: column j holds integers below ``sizes[j]``.

    A code stands for what was declared of its column: a bin of numbers, a value of a category, "missing", "other". The
    code of an entry depends on that entry and on declarations only; so do sizes: they are declared, not counted.

    Parameters
    ----------
    codes : array_like of int, shape (n, p)
        See also `from_arrays`.
    sizes : sequence of int, length p
        How many codes a column has, 1 to 65536, whether they occur or not.
    names : sequence of str, length p, optional
        Of the columns.
    columns : sequence of objects, length p, optional
        What the codes of each column mean. Kept and handed on, never looked at here.

    Attributes
    ----------
    shape : tuple (n, p)
    sizes : ndarray of int64, shape (p,)
    offsets : ndarray of int64, shape (p + 1,)
        In what learners keep for all codes, entry offsets[j] + v belongs to code v of column j.
    names, feature_names : list of str or None
    columns : tuple or None
    codes : dpfast.kernels.codes.Columns
        What kernels read.

    Raises
    ------
    TypeError
        For codes that are not integers.
    ValueError
        For a code that is negative or not below its column's size, and for shapes that do not fit.

    Notes
    -----
    One byte an entry, two where a column has more than 256 codes, column by column.

    Examples
    --------
    >>> CodeTable([[0, 2], [1, 1]], sizes=[2, 3], names=["smokes", "age"])
    CodeTable of shape (2, 2), 5 codes
    """

    def __init__(
        self,
        codes: ArrayLike,
        sizes: Sequence[int],
        *,
        names: Sequence[str] | None = None,
        columns: Sequence[Any] | None = None,
    ) -> None:
        codes = np.asarray(codes)
        if codes.ndim != 2:
            raise ValueError(f"codes must have two dimensions, got shape {codes.shape}")
        self._set(codes.T, sizes, names, columns)

    @classmethod
    def from_arrays(cls, arrays, sizes, *, names=None, columns=None):
        """Return the table whose columns these are.

        Parameters
        ----------
        arrays : sequence of p arrays of int, shape (n,)
            Contiguous uint8, or uint16 where a column has more than 256 codes, is not copied if it is read-only, as is
            all that it is a view of: nobody changes codes that were checked.
        sizes : sequence of int
            The codes of column j are below sizes[j].
        names : sequence of str, optional
        columns : sequence of CodeColumn, optional
            What the codes mean.
        """
        table = cls.__new__(cls)
        table._set([np.asarray(array) for array in arrays], sizes, names, columns)
        return table

    def _set(self, arrays, sizes, names, columns):
        sizes = [operator.index(size) for size in sizes]
        if len(arrays) == 0 or len(arrays) != len(sizes):
            raise ValueError(f"sizes must number the columns, got {len(sizes)} sizes for {len(arrays)} columns")
        if not 1 <= min(sizes) <= max(sizes) <= MOST_SIZE:
            raise ValueError(f"sizes must lie within 1 and {MOST_SIZE}, got {min(sizes)} to {max(sizes)}")
        self.names = None if names is None else [str(name) for name in names]
        self.columns = None if columns is None else tuple(columns)
        for what, given in (("names", self.names), ("columns", self.columns)):
            if given is not None and len(given) != len(sizes):
                raise ValueError(f"{what} must number {len(sizes)}, got {len(given)}")
        labels = range(len(sizes)) if self.names is None else map(repr, self.names)
        arrays = [_as_codes(*column) for column in zip(arrays, sizes, labels, strict=True)]
        lengths = {len(array) for array in arrays}
        if len(lengths) > 1:
            raise ValueError(f"columns must have one length, got {min(lengths)} to {max(lengths)}")
        self.codes = Columns(arrays, sizes)
        self.sizes, self.offsets = self.codes.sizes, self.codes.offsets
        self.shape = (self.codes.n, len(sizes))

    ndim = 2

    @property
    def feature_names(self) -> list[str] | None:
        return self.names

    @property
    def nbytes(self) -> int:
        return sum(array.nbytes for array in self.codes.columns)

    def column(self, j: int) -> np.ndarray:
        """Return the codes of one column. They are not copied.

        Parameters
        ----------
        j : int

        Returns
        -------
        ndarray of uint8 or uint16, shape (n,), read-only
        """
        return self.codes.columns[j]

    def __len__(self):
        return self.shape[0]

    def __getitem__(self, index):
        """The table of the rows that a slice, a mask or an array of row numbers picks."""
        if isinstance(index, tuple):
            if len(index) != 2 or index[1] not in (slice(None), Ellipsis):
                raise IndexError("a CodeTable is indexed by rows only")
            index = index[0]
        if isinstance(index, list):
            index = np.asarray(index, None if index else np.intp)
        picked = [frozen(column[index]) for column in self.codes.columns]
        if picked[0].ndim != 1:
            raise IndexError(f"a CodeTable is indexed by several rows at once, got {index!r}")
        return CodeTable.from_arrays(picked, self.sizes, names=self.names, columns=self.columns)

    def __eq__(self, other):
        return (
            isinstance(other, CodeTable)
            and self.shape == other.shape
            and np.array_equal(self.sizes, other.sizes)
            and self.names == other.names
            and self.columns == other.columns
            and all(map(np.array_equal, self.codes.columns, other.codes.columns))
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self):
        return _from_arrays, (self.codes.columns, self.sizes, self.names, self.columns)

    def toarray(self) -> np.ndarray:
        """Return the codes as they are.

        Returns
        -------
        ndarray of uint8 or uint16, shape (n, p)
        """
        return np.stack(self.codes.columns, axis=1)

    def __array__(self, dtype=None, copy=None):
        """For numpy and scikit-learn: the codes as they are."""
        if copy is False:
            raise ValueError("codes are kept by columns: an array of them is a copy")
        return self.toarray() if dtype is None else self.toarray().astype(dtype)

    def __repr__(self):
        return f"CodeTable of shape {self.shape}, {self.offsets[-1]} codes"


def _from_arrays(arrays, sizes, names, columns):
    return CodeTable.from_arrays(map(frozen, arrays), sizes, names=names, columns=columns)


def _as_codes(array, size, label):
    """The array as the kernel reads it."""
    if array.dtype.kind not in "bui":
        raise TypeError(f"codes must be integers, got {array.dtype} in column {label}")
    if array.ndim != 1:
        raise ValueError(f"a column must have one dimension, got shape {array.shape} in column {label}")
    if array.size and not 0 <= array.min() <= array.max() < size:
        raise ValueError(f"codes of column {label} must lie in [0, {size}), got {array.min()} to {array.max()}")
    return own(array, np.uint8 if size <= 1 << 8 else np.uint16)

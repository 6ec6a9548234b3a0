"""Tables of codes: a small integer for each row and column, which stands for a bin, a value or a missing value.

Halfspace learners ask rows of codes (`CodeRows`) for counts by code, sums of look-ups, and sums of residuals by code.
Their image of a row is a sum over columns of a vector that depends only on the column's code, so the image is given by
a matrix with a row for each code. A score is then a sum of look-ups, and a weighted sum of images is this matrix times
the sums of weights by code. The image of a single row is never computed.
"""

import operator
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast.kernels import codes as kernel
from dpfast.kernels import grid, logistic, residuals
from dpfast.kernels.codes import MOST_SIZE, Columns
from dpfast.kernels.own import frozen, own
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices, threads
from dpfast.tables.arrays import check_shape, row_index


class CodeTable:
    """A table of n rows and p columns of codes: column j holds integers below ``sizes[j]``.

    A code stands for something declared: a bin of numbers, a value of a category, "missing" or "other". The code of an
    entry depends only on that entry and on declarations. Sizes are declared, too, and not computed from the codes.

    Parameters
    ----------
    codes : array_like of int, shape (n, p)
        See also `from_arrays`.
    sizes : sequence of int, length p
        The number of codes of each column, 1 to 65536, whether they occur or not.
    names : sequence of str, length p, optional
        The names of the columns.
    columns : sequence of objects, length p, optional
        The meaning of the codes of each column. It is stored but not used here.

    Attributes
    ----------
    shape : tuple (n, p)
    sizes : ndarray of int64, shape (p,)
    offsets : ndarray of int64, shape (p + 1,)
        In an array over all codes, entry offsets[j] + v belongs to code v of column j.
    names, feature_names : list of str or None
    columns : tuple or None
    codes : dpfast.kernels.codes.Columns
        The codes in the form that kernels read.

    Raises
    ------
    TypeError
        For codes that are not integers.
    ValueError
        For a code that is negative or not below its column's size, and for shapes that do not fit.

    Notes
    -----
    Codes are stored column by column, with one byte for each entry, or two if the column has more than 256 codes.

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
        """Return the table with these columns.

        Parameters
        ----------
        arrays : sequence of p arrays of int, shape (n,)
            Contiguous arrays of uint8 (uint16 for more than 256 codes) are not copied if they and all arrays that they
            are views of are read-only, so that nobody can change codes after they were checked.
        sizes : sequence of int
            The codes of column j are below sizes[j].
        names : sequence of str, optional
        columns : sequence of CodeColumn, optional
            The meaning of the codes.
        """
        table = cls.__new__(cls)
        table._set([np.asarray(array) for array in arrays], sizes, names, columns)
        return table

    @classmethod
    def of_columns(cls, columns, n, arrays=None):
        """Return the table of n rows whose columns are declared like these.

        Parameters
        ----------
        columns : sequence of CodeColumn
        n : int
        arrays : sequence of arrays of int, shape (n,), optional
            The codes, as in `from_arrays`; zeros by default.
        """
        arrays = [frozen(np.zeros(n, np.uint8))] * len(columns) if arrays is None else arrays
        sizes, names = [column.size for column in columns], [column.name for column in columns]
        return cls.from_arrays(arrays, sizes, names=names, columns=columns)

    def with_rows(self, columns: Any) -> "CodeTable":
        """Return a table with the names and the sizes of this one, and other codes.

        Parameters
        ----------
        columns : sequence of sequences of int
            The codes of each column.

        Returns
        -------
        CodeTable
        """
        table, wide = CodeTable.__new__(CodeTable), (self.sizes > 1 << 8).tolist()
        codes = frozen(np.array(columns, np.uint16))
        narrow = frozen(codes.astype(np.uint8))
        arrays = [codes[j] if of_two else narrow[j] for j, of_two in enumerate(wide)]
        table.names, table.columns, table.codes = self.names, self.columns, Columns(arrays, self.sizes)
        table.sizes, table.offsets, table.shape = self.sizes, self.offsets, (table.codes.n, len(self.sizes))
        return table

    def row_of_zeros(self) -> "CodeTable":
        """Return a table of one row, all of whose codes are 0, with the names and the sizes of this one.

        Returns
        -------
        CodeTable
        """
        zeros = [frozen(np.zeros(1, np.uint8))] * self.shape[1]
        return CodeTable.from_arrays(zeros, self.sizes, names=self.names, columns=self.columns)

    def _set(self, arrays, sizes, names, columns):
        sizes = [operator.index(size) for size in sizes]
        if len(arrays) == 0 or len(arrays) != len(sizes):
            raise ValueError(f"sizes must number the columns, got {len(sizes)} sizes for {len(arrays)} columns")
        if not 1 <= min(sizes) <= max(sizes) <= MOST_SIZE:
            raise ValueError(f"sizes must lie within 1 and {MOST_SIZE}, got {min(sizes)} to {max(sizes)}")
        self.names = None if names is None else [str(name) for name in names]
        self.columns = None if columns is None else tuple(columns)
        for what, values in (("names", self.names), ("columns", self.columns)):
            if values is not None and len(values) != len(sizes):
                raise ValueError(f"{what} must number {len(sizes)}, got {len(values)}")
        labels = range(len(sizes)) if self.names is None else self.names
        arrays = [_as_codes(*column) for column in zip(arrays, sizes, labels, strict=True)]
        lengths = {len(array) for array in arrays}
        if len(lengths) > 1:
            raise ValueError(f"columns must have one length, got {min(lengths)} to {max(lengths)}")
        try:
            self.codes = Columns(arrays, sizes)
        except ValueError:
            for column in zip(arrays, sizes, labels, strict=True):
                _refuse_codes(*column)
            raise
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
        """Return the codes of one column, without a copy.

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
        """Return the table of the rows that a slice, a mask or an array of row numbers selects."""
        index = row_index(index, "CodeTable")
        picked = [frozen(column[index]) for column in self.codes.columns]
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
        """Return the codes as an array.

        Returns
        -------
        ndarray of uint8 or uint16, shape (n, p)
        """
        return np.stack(self.codes.columns, axis=1)

    def __array__(self, dtype=None, copy=None):
        """Return the codes as an array, for numpy and scikit-learn."""
        if copy is False:
            raise ValueError("codes are kept by columns: an array of them is a copy")
        return self.toarray() if dtype is None else self.toarray().astype(dtype)

    def __repr__(self):
        return f"CodeTable of shape {self.shape}, {self.offsets[-1]} codes"


def _from_arrays(arrays, sizes, names, columns):
    return CodeTable.from_arrays(map(frozen, arrays), sizes, names=names, columns=columns)


def _as_codes(array, size, label):
    """Return the array in the type that the kernel reads, which refuses codes of that type that are too large."""
    if array.dtype.kind not in "bui":
        raise TypeError(f"codes must be integers, got {array.dtype} in column {label!r}")
    if array.ndim != 1:
        raise ValueError(f"a column must have one dimension, got shape {array.shape} in column {label!r}")
    dtype = np.uint8 if size <= 1 << 8 else np.uint16
    if array.dtype != dtype:
        _refuse_codes(array, size, label)
    return own(array, dtype)


def _refuse_codes(array, size, label):
    if array.size and not 0 <= array.min() <= array.max() < size:
        raise ValueError(f"codes of column {label!r} must lie in [0, {size}), got {array.min()} to {array.max()}")


_LARGE_PARTS = 16  # blocks of bytes in a part, enough for tables of joint codes to pay off
_SMALL_PART = 1 << 12  # rows that a second thread takes as long to begin with as to read
_NEAR = 1 << 18  # residuals that are computed before they are added up
_NEAR_PAIRS = 1 << 15  # the same, if codes of pairs are computed too
_LIMITED = 1 << 16  # rows whose limits are computed together
_WALKED = 1 << 14  # rows whose leaves are found together


class CodeRows:
    """Rows of a table of codes, with `sizes` and `offsets` as in `CodeTable`.

    `columns` has the meaning of the codes of each column; None for each if the table does not declare it.
    """

    def __init__(self, table):
        check_shape(table.shape)
        self._set(table.codes, table.columns or (None,) * table.shape[1])

    def _set(self, codes, columns):
        self._codes, self.columns = codes, columns
        self.sizes, self.offsets = codes.sizes, codes.offsets
        self.shape = codes.n, int(codes.offsets[-1])
        size = min(_LARGE_PARTS * BLOCK_BYTES // codes.p, max(_SMALL_PART, -(-codes.n // threads())))
        self._parts = [(part, codes.part(part.start, part.stop)) for part in slices(codes.n, size)]

    def column(self, j):
        """Return the codes of one column, without a copy."""
        return self._codes.columns[j]

    def counts(self):
        """Return how many rows have each code: int64, shape (codes,)."""
        none = np.zeros(self.shape[0], np.uint8)
        return sum(map_blocks(lambda part: kernel.counts(part[1], none[part[0]], 1)[:, 0], self._parts))

    def linear_scores(self, coef, intercept):
        """Return intercept + the sum of the coefficients (codes, k) of a row's codes: float32, shape (n, k).

        Coefficients are rounded to 2**-24 times the largest range of the coefficients of one column. With more than 128
        columns the unit is 2**-31 times the largest possible sum, if that is larger.
        """
        if len(coef) != self.shape[1]:
            raise ValueError(f"the model has coefficients for {len(coef)} codes, X has {self.shape[1]}")
        table, step = self.round_coefficients(coef)
        constant, out = intercept.astype(np.float32), np.empty((self.shape[0], coef.shape[1]), np.float32)

        def look_up(part):
            rows, columns = part
            np.multiply(kernel.margins(columns, table), np.float32(step), out=out[rows], dtype=np.float32)
            out[rows] += constant

        map_blocks(look_up, self._parts)
        return out

    def round_coefficients(self, coef):
        """Return integers and a step whose products approximate the coefficients, of shape (codes, k)."""
        return round_coefficients(coef, self.offsets)

    def limits(self, squares, allowed, most):
        """Return a limit for each row with limit * sqrt(square) <= most * sqrt(allowed), exactly: int32, shape (n,).

        The square of a row is the sum of `squares` over its codes, below 2**31; `allowed` is below 2**29, and `most`,
        the largest limit, at most 2**16.
        """
        out = np.empty(self.shape[0], np.int32)

        def look_up(part):
            rows, columns = part
            for some in slices(columns.n, _LIMITED):
                square = kernel.margins(columns.part(some.start, some.stop), squares).astype(np.int64)
                limit = np.floor(most * np.sqrt(np.minimum(1.0, allowed / np.maximum(square, 1)))).astype(np.int64)
                limit -= limit * limit * square > most * most * allowed
                out[rows.start + some.start : rows.start + some.stop] = limit

        map_blocks(look_up, self._parts)
        return out

    def residual_sums(self, labels, limits, table, step, constants):
        """Return the exact sums of residuals by code: int64, shape (codes, 1) for two classes, else (codes, k).

        `table` and `step` are the result of `round_coefficients` for the coefficients of the scores.
        """
        return self._sum_blocks(_NEAR, residuals.sums, labels, limits, table, step, constants)

    def pair_sums(self, pairs, labels, limits, table, step, constants):
        """Return the sums of residuals by the cells of pairs of columns: int64, shape (cells of all pairs, 1 or k).

        A column has the same groups in all pairs; the other arguments are those of `residual_sums`.
        """
        return self._sum_blocks(_NEAR_PAIRS, partial(_pair_sums, pairs), labels, limits, table, step, constants)

    def with_pairs(self, pairs):
        """Return the rows with one more column for each pair; its codes are the cells, row by row."""
        cells = [np.empty(self.shape[0], np.uint8) for _ in pairs]

        def join(part):
            rows, columns = part
            for pair, out in zip(pairs, cells, strict=True):
                a, b = (_group(columns.columns[j], group) for j, group in zip(pair.columns, pair.groups, strict=True))
                np.add(a * np.uint8(pair.shape[1]), b, out=out[rows])

        for pair in pairs:
            in_table = max(pair.columns) < len(self.sizes)
            if not in_table or [len(group) for group in pair.groups] != [self.sizes[j] for j in pair.columns]:
                raise ValueError(f"columns {pair.columns} of X have other codes than the model's")
        map_blocks(join, self._parts)
        return self._with(cells, [pair.size for pair in pairs])

    def with_leaves(self, forest):
        """Return the rows with one more column for each tree; its codes are the leaves."""
        for j, places in forest.orders:
            if j >= len(self.sizes) or len(places) != self.sizes[j]:
                raise ValueError(f"column {j} of X has other codes than the model's")
        leaves = np.empty((len(forest.asked), self.shape[0]), np.uint8)

        def walk(part):
            rows, columns = part
            for some in slices(columns.n, _WALKED):
                near = columns.part(some.start, some.stop).columns
                views = [_group(near[j], places) for j, places in forest.orders]
                leaves[:, rows.start + some.start : rows.start + some.stop] = forest.leaves(views)

        map_blocks(walk, self._parts)
        return self._with(leaves, forest.sizes)

    def without_rows(self):
        """Return the same columns of codes without rows."""
        rows = CodeRows.__new__(CodeRows)
        rows._set(self._codes.part(0, 0), self.columns)
        return rows

    def _with(self, columns, sizes):
        """Return the rows with further columns of bytes, of these sizes."""
        arrays = [*self._codes.columns, *map(frozen, columns)]
        rows = CodeRows.__new__(CodeRows)
        rows._set(kernel.Columns(arrays, [*self.sizes, *sizes]), (*self.columns, *[None] * len(sizes)))
        return rows

    def _sum_blocks(self, near, add_up, labels, limits, table, step, constants):
        """Return the total of what `add_up` computes from the residuals of blocks of rows."""
        step_rows = max(1 << 14, near // len(constants))

        def add(group):
            blocks = ((rows, columns, some) for rows, columns in group for some in slices(columns.n, step_rows))
            return sum(add_block(*block) for block in blocks)

        def add_block(rows, columns, some):
            at = slice(rows.start + some.start, rows.start + some.stop)
            return add_up(columns.part(some.start, some.stop), table, labels[at], limits[at], step, constants)

        if len(self._parts) == 1 and self.shape[0] <= step_rows:  # a small table, which is asked a hundred times
            ((rows, columns),) = self._parts
            return add_block(rows, columns, slice(0, self.shape[0]))
        groups = [self._parts[k :: threads()] for k in range(min(threads(), len(self._parts)))]
        return sum(map_blocks(add, groups))


def round_coefficients(coef: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, float]:
    """Return integers and a step whose products approximate the coefficients, of shape (codes, k), of these columns.

    A sum of one entry of each column is below 2**31.
    """
    return grid.of_columns(np.ascontiguousarray(coef, np.float64), offsets)


def _group(codes, groups):
    """Return the group of each code: ndarray of uint8."""
    table = np.asarray(groups, np.uint8)
    if codes.dtype != np.uint8:
        return table[codes]
    return np.frombuffer(codes.tobytes().translate(table.tobytes().ljust(256, b"\0")), np.uint8)  # faster than indices


def _pair_sums(pairs, columns, table, labels, limits, step, constants):
    """Return the sums of residuals by the cells of pairs; pairs with the same first column are summed together."""
    groups, sums, scores = {}, [], kernel.margins(columns, table)
    if len(constants) == 1:
        of_rows = logistic.two(scores, labels, limits, step, float(constants[0]))
    else:
        of_rows = logistic.many(scores, labels, limits, step, constants)
    for pair in pairs:
        for j, group in zip(pair.columns, pair.groups, strict=True):
            if j not in groups:
                groups[j] = _group(columns.columns[j], group)
    for _, some in groupby(pairs, lambda pair: pair.columns[0]):
        some = list(some)
        cells = [groups[a] * np.uint8(pair.shape[1]) + groups[b] for pair in some for a, b in [pair.columns]]
        sums.append(kernel.sums(kernel.Columns(list(map(frozen, cells)), [pair.size for pair in some]), of_rows))
    return np.concatenate(sums)

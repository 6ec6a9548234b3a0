"""Tables of codes as bits, for learners that read bits. The meaning of a bit follows from declarations."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpfast.kernels import codes
from dpfast.kernels.own import frozen
from dpfast.parts.blocks import map_blocks, slices
from dpfast.tables.bit_matrix import BitMatrix
from dpfast.tables.cells import MISSING_NAME, CodeColumn
from dpfast.tables.codes import CodeTable

_BLOCK_ROWS = 1 << 18  # a multiple of 64


class CodeBits:
    """The bits of a table of codes, computed when they are used; bit j is 1 for some codes of one column.

    A column of bins has a bit for each edge, such as "age > 37", and one for missing. A column of two values that
    cannot be missing has a single bit, for the second value. Other columns of values, and codes without a meaning in
    the table's `columns`, have a bit for each code, exactly one of which is 1.

    `spans` has the column of each bit, and the first and the last code for which it is 1: int64, shape (d, 3).
    """

    ndim = 2

    def __init__(self, table: CodeTable):
        columns = table.columns or (None,) * table.shape[1]
        names = table.names or [f"x{j}" for j in range(table.shape[1])]
        self._codes = table.codes
        called, self.spans = _names_of_bits(columns, tuple(names), tuple(table.sizes.tolist()))
        self.feature_names = list(called)
        starts = table.offsets[self.spans[:, 0]]
        self._starts, self._ends = starts + self.spans[:, 1], starts + self.spans[:, 2] + 1
        self.shape = (len(table), len(self.spans))

    def __len__(self):
        return self.shape[0]

    def column(self, j: int) -> np.ndarray:
        """Return bit j of all rows, packed."""
        return codes.match(self._codes, *self.spans[j].tolist())

    def counts(self, labels: np.ndarray, classes: int, mask: np.ndarray | None = None) -> np.ndarray:
        """Return counts of rows with each bit and label: int64, shape (classes, d); `mask` packs the rows to count.

        The codes are read once; the count of a bit is a difference of cumulative counts of codes.
        """

        def count(block):
            rows = None if mask is None else mask[block.start // 64 : -(-block.stop // 64)]
            return codes.counts(self._codes.part(block.start, block.stop), labels[block], classes, rows)

        counted = sum(map_blocks(count, slices(len(self), _BLOCK_ROWS)))
        below = np.zeros((classes, len(counted) + 1), np.int64)
        np.cumsum(counted.T, axis=1, out=below[:, 1:])
        return below.take(self._ends, axis=1) - below.take(self._starts, axis=1)

    def pack(self) -> BitMatrix:
        """Return all bits, packed: n / 8 bytes for each."""
        bits = BitMatrix.from_columns(frozen(codes.matches(self._codes, self.spans)), len(self))
        bits.feature_names = self.feature_names
        return bits


def pack_codes(X):
    """Return a table of codes as packed bits, with the names of `CodeBits`, and any other table unchanged."""
    return CodeBits(X).pack() if isinstance(X, CodeTable) else X


def bit_count(columns: Sequence[CodeColumn]) -> int:
    """Return the number of bits of the codes of declared columns."""
    return sum(
        column.bins - 1 + column.nullable if column.ordered else 1 if _is_lone(column, column.size) else column.size
        for column in columns
    )


@lru_cache(maxsize=1 << 4)  # by declarations, for repeated fits
def _names_of_bits(columns, names, sizes):
    """Return the name of each bit, and its column, first and last code: int64, shape (bits, 3)."""
    bits = [_bits(*of) for of in zip(columns, sizes, strict=True)]
    called = [f"{name} {meaning}" for name, (all_meant, _) in zip(names, bits, strict=True) for meaning in all_meant]
    of_column = np.repeat(np.arange(len(bits)), [len(spans) for _, spans in bits])
    return called, np.column_stack([of_column, np.concatenate([spans for _, spans in bits])])


@lru_cache(maxsize=1 << 12)
def _bits(column, size):
    """Return the meaning of each bit of a column, and its first and last code: int64, shape (bits, 2)."""
    each = np.arange(size).repeat(2).reshape(-1, 2)
    if column is None:
        return [f"= {code}" for code in range(size)], each
    if column.ordered:
        first, above = np.arange(1, column.bins), [f"> {column.format_edge(edge)}" for edge in column.edges]
        spans = np.column_stack([first, np.full_like(first, column.bins - 1)])
        return ([*above, f"= {MISSING_NAME}"], np.vstack([spans, each[-1:]])) if column.nullable else (above, spans)
    if _is_lone(column, size):
        return [f"= {column.values[1]}"], each[1:]
    return [f"= {column.meaning(code)}" for code in range(size)], each


def _is_lone(column, size):
    """Return whether a column of values has a single bit."""
    return size == 2 and not column.other and not column.nullable

"""Tables of few ones among many columns, as the places of the ones."""

import numpy as np
import scipy.sparse as sp

from dpfast.kernels import bits
from dpfast.tables.arrays import as_numbers
from dpfast.tables.bit_matrix import check_bits, thresholds

SPARSE = 1 << 10  # entries of the table to one that is stored, above which places take less time than packed bits


class SparseBits:
    """A 0/1 table of n rows and d columns by the places of its ones: never packed, memory by what is stored.

    Parameters
    ----------
    X : sparse matrix, shape (n, d)
        Booleans or 0 and 1; any real numbers if `threshold` is given.
    threshold : None, float or array_like of float, shape (d,)
        As of `BitMatrix`, at least 0: what is not stored is not above it.

    Attributes
    ----------
    shape : tuple (n, d)

    Raises
    ------
    ValueError
        As `BitMatrix`.
    """

    def __init__(self, X, threshold=None):
        X = as_numbers(X, sparse=["csr"])
        if threshold is None:
            check_bits(X.data)
            ones = X.data != 0
        else:
            ones = X.data > thresholds(threshold, X.shape[1])[X.indices]
        ends = np.concatenate([[0], np.cumsum(ones)])[X.indptr]
        self._ends, self._columns, self.shape = ends, X.indices[ones], X.shape

    def __len__(self):
        return self.shape[0]

    def column(self, j: int) -> np.ndarray:
        """Bit j of all rows, packed. Time by all ones of the table."""
        mask = np.zeros(len(self), np.uint8)
        mask[np.searchsorted(self._ends, np.flatnonzero(self._columns == j), side="right") - 1] = 1
        return bits.pack(mask[np.newaxis])[0]

    def counts(self, labels: np.ndarray, classes: int, mask: np.ndarray | None = None) -> np.ndarray:
        """Rows with each bit and label: int64, shape (classes, d); as `CodeBits.counts`."""
        rows = np.arange(len(self)) if mask is None else bits.nonzero(mask)
        of_class = [rows[labels[rows] == c] for c in range(classes)]
        return np.stack([np.bincount(self._of(rows), minlength=self.shape[1]) for rows in of_class])

    def _of(self, rows):
        """The columns of the ones of some rows, row after row."""
        starts, sizes = self._ends[rows], self._ends[rows + 1] - self._ends[rows]
        first = np.repeat(starts - (np.cumsum(sizes) - sizes), sizes)
        return self._columns[first + np.arange(len(first))]


def suits(X, threshold) -> bool:
    """Whether a table is better read by the places of its ones: by its format and what it stores."""
    if not sp.issparse(X) or X.shape[0] * X.shape[1] <= SPARSE * X.nnz:
        return False
    return threshold is None or np.min(threshold) >= 0

"""Valid entries of a table, and conversion of blocks of rows to packed bits or floats."""

import numpy as np
import scipy.sparse as sp

from dpfast.kernels.own import frozen
from dpfast.parts.blocks import BLOCK_BYTES, Spool, slices
from dpfast.tables.arrays import sound_csr
from dpfast.tables.bit_matrix import BitMatrix

LARGEST = float(np.finfo(np.float32).max)
_TEXT = "text needs a 0/1 column for each of its values, unless it is the label and named as such"


class Entries:
    """The set of valid entries of features; the arguments are those of `dpfast.files.read_table`.

    "bits" accepts 0 and 1, or any numbers with a threshold. "either" means bits if the types of a file are boolean, and
    otherwise numbers: see `resolve`. Numbers beyond float32 are always refused.
    """

    def __init__(self, values="bits", threshold=None, limits=None):
        if values not in ("bits", "numbers", "either"):
            raise ValueError(f'values must be "bits", "numbers" or "either", got {values!r}')
        self.values = values if threshold is None else "bits"
        self.threshold, self._limits = threshold, limits
        self._low, self._high = (-LARGEST, LARGEST) if limits is None else limits
        if self.values == "bits":
            demand = "features are 0 or 1, true or false, or finite numbers with a threshold; " + _TEXT
        elif limits is None:
            demand = "features are finite numbers, up to 3.4e+38 in size, or true or false; " + _TEXT
        else:
            demand = f"features are numbers declared to lie in [{self._low:g}, {self._high:g}]; see --clip"
        self.demand = demand

    def resolve(self, boolean):
        """Return the meaning of "either" for a table whose types, not its entries, determine whether it is boolean."""
        if self.values != "either":
            return self
        return Entries("bits" if boolean else "numbers", limits=self._limits)

    def fit(self, values):
        """Return a mask of the valid values; NaN is never valid."""
        if self.values != "bits":
            return (self._low <= values) & (values <= self._high)
        return (values == 0) | (values == 1) if self.threshold is None else np.isfinite(values)

    def check(self, block, names=None, row=0):
        """Refuse a block of rows with an invalid entry, and name its place; the first row has number `row`, from 0."""
        entries = block.data if sp.issparse(block) else block
        good = self.fit(entries)
        if good.all():
            return
        place = tuple(np.argwhere(~good)[0])
        if sp.issparse(block):
            i, j = np.searchsorted(block.indptr, place[0], side="right") - 1, block.indices[place[0]]
        else:
            i, j = place
        column = repr(names[j]) if names else j + 1
        raise ValueError(f"row {row + i + 1}, column {column} holds another value; {self.demand}")


class TableBuilder:
    """Collects blocks of rows into a table of bits or of numbers, as `entries` says.

    `rows` returns an upper bound of the number of rows, and is called only for a table of numbers. Bits take n d / 8
    bytes, twice that at the end, and numbers 4 n d bytes of the `spool`.
    """

    def __init__(self, entries, names, rows, spool):
        self._entries, self._names, self._rows, self._spool = entries, names, rows, spool
        self._packed, self._numbers, self._size, self._d = [], None, 0, None

    def add(self, block):
        """Add a block: ndarray of numbers or booleans, shape (., d)."""
        entries = self._entries
        entries.check(block, self._names, self._size)
        if entries.values == "bits":
            self._packed.append(BitMatrix(block, threshold=entries.threshold).rows)
        else:
            if self._numbers is None:
                self._numbers = self._spool.array((self._rows(), block.shape[1]), np.float32)
            self._numbers.append(block)
        self._size += len(block)
        self._d = block.shape[1]

    def table(self):
        """Return the BitMatrix, or the floats as float32 of shape (n, d)."""
        if self._d is None:
            self.add(np.empty((0, len(self._names))))
        if self._numbers is not None:
            return self._numbers.read_all()
        table = BitMatrix.from_rows(frozen(np.concatenate(self._packed)), self._d)
        table.feature_names = self._names
        return table


def from_dense(X, entries, names=None):
    """Return the table of an array of numbers; floats that are not converted to bits are not copied."""
    entries, parts = entries.resolve(X.dtype == bool), slices(len(X), block_rows(X.shape[1]))
    if X.dtype in (np.float32, np.float64) and entries.values == "numbers":
        for part in parts:
            entries.check(X[part], names, part.start)
        return X
    gathered = TableBuilder(entries, names, lambda: len(X), Spool())
    for part in parts:
        gathered.add(X[part])
    return gathered.table()


def from_sparse(X, entries, names=None):
    """Return the table of a sparse matrix: a BitMatrix if bits are wanted, else CSR with float32 values."""
    entries, X = entries.resolve(False), sound_csr(X)
    if entries.values == "bits":
        return BitMatrix(X, threshold=entries.threshold, feature_names=names)
    entries.check(X, names)
    return X.astype(np.float32, copy=False)


def block_rows(width):
    return max(1, BLOCK_BYTES // (8 * max(1, width)))

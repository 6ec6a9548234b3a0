"""Random projections of tables of any kind, and products of their rows with a vector, by blocks of rows."""

import numpy as np
import scipy.sparse as sp

from dpfast.kernels import reals, signs
from dpfast.parts.blocks import BLOCK_BYTES, map_blocks, slices
from dpfast.tables.arrays import as_numbers, check_shape
from dpfast.tables.bit_matrix import BitMatrix
from dpfast.tables.code_bits import pack_codes

LARGEST = 1e28  # entry, so that no sum of 2**31 leaves float32


def projectable(X):
    """Return X in a form for `project`; refuse NaN, infinities, entries above 1e28 in size and wrong shapes.

    Codes are read as bits.
    """
    X = pack_codes(X)
    if isinstance(X, BitMatrix):
        check_shape(X.shape)
        return X
    if _is_boolean(X):
        return BitMatrix(X)
    X = as_numbers(X, sparse=["csr"])
    values = X.data if sp.issparse(X) else X
    if values.size and not -LARGEST <= float(values.min()) <= float(values.max()) <= LARGEST:
        raise ValueError(f"entries must be at most {LARGEST} in size, got {values.min()} to {values.max()}")
    return X.astype(np.float32, copy=False)


def project(X, m, key):
    """Return A x for each row x: float32, shape (n, m); `key` determines the m x d matrix A of entries +-1/sqrt(m).

    Bits and booleans are 0 and 1; real numbers are converted to float32. The key is in [0, 2**128), drawn independently
    of the data; see `dpfast.kernels.signs`, whose ``lift(w, d, key)`` maps a linear function w of the components back
    to the d coordinates.

    There are m signed additions for each entry of a dense table or each stored entry of a sparse one; for bits, and in
    sparse rows whose entries are all 1, six bit operations for 256 of them. In addition to the result, at most d * m
    bits are stored, and none if X has fewer than d stored entries.

    >>> project([[3.0, 4.0]], 1000, key=7).shape
    (1, 1000)
    """
    X = projectable(X)
    n, d = X.shape
    stored = signs.matrix(d, m, key) if not sp.issparse(X) or X.nnz >= d else None
    if isinstance(X, BitMatrix):
        rows, entries = X.rows, d // 2

        def part(block):
            return signs.project_packed(rows[block], d, m, key, matrix=stored)

    elif sp.issparse(X):
        entries = X.nnz // max(1, n)

        def part(block):
            indptr = X.indptr[block.start : block.stop + 1]
            of = slice(indptr[0], indptr[-1])
            return signs.project_csr(indptr - of.start, X.indices[of], X.data[of], d, m, key, matrix=stored)

    else:
        entries = d

        def part(block):
            return signs.project_dense(X[block], m, key, matrix=stored)

    out = np.empty((n, m), np.float32)

    def write(block):
        out[block] = part(block)

    map_blocks(write, slices(n, BLOCK_BYTES // (4 * (entries + m))))
    return out


def _is_boolean(X):
    """Return whether X is dense and every entry is of a boolean type."""
    if hasattr(X, "iloc"):
        return all(dtype.kind == "b" for dtype in X.dtypes)
    return isinstance(X, np.ndarray) and X.dtype.kind == "b"


def readable(X):
    """Return X in a form for `row_products`; refuse NaN, infinities and wrong shapes."""
    return X if isinstance(X, BitMatrix) else as_numbers(X, sparse=["csr", "csc"])


def row_products(X, w):
    """Return <x_i, w> for each row: float64, shape (n,); bits are 0 and 1.

    At most a block of X is copied at a time. The product of a row depends neither on other rows nor on the machine.
    """
    if sp.issparse(X):
        X = X.tocsr()
        return reals.products_csr(X.indptr, X.indices, X.data, w)
    return np.concatenate([np.empty(0), *(reals.products(block, w) for block in _blocks(X))])


def dense_rows(X):
    """Return the result of `readable` as an array of float64, shape (n, d)."""
    return np.asarray(X.toarray(), np.float64) if sp.issparse(X) else np.concatenate(list(_blocks(X)))


def _blocks(X):
    """Return X as arrays of float64, some rows at a time."""
    parts = slices(X.shape[0], BLOCK_BYTES // (8 * X.shape[1]))
    blocks = (X[part].toarray() if isinstance(X, BitMatrix) else X[part] for part in parts)
    return (np.ascontiguousarray(block, np.float64) for block in blocks)

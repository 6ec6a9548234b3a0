"""Products of the rows of any table with a vector."""

import numpy as np
import scipy.sparse as sp

from dpfast.kernels import reals
from dpfast.parts.blocks import BLOCK_BYTES, RowBlocks, read_block, slices
from dpfast.tables.arrays import as_numbers
from dpfast.tables.bit_matrix import BitMatrix


def readable(X):
    """Return X in a form for `row_products`; refuse NaN, infinities and wrong shapes.

    Parameters
    ----------
    X : array_like, sparse matrix, DataFrame, BitMatrix or RowBlocks, shape (n, d)
    """
    return X if isinstance(X, (BitMatrix, RowBlocks)) else as_numbers(X, sparse=["csr", "csc"])


def row_products(X, w):
    """Return <x_i, w> for each row: float64, shape (n,); bits are 0 and 1.

    Parameters
    ----------
    X : result of `readable`, shape (n, d)
    w : ndarray of float64, shape (d,)

    Notes
    -----
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
    if isinstance(X, RowBlocks):
        blocks = (read_block(X, k) for k in range(len(X.bounds) - 1))
    else:
        parts = slices(X.shape[0], BLOCK_BYTES // (8 * X.shape[1]))
        blocks = (X[part].toarray() if isinstance(X, BitMatrix) else X[part] for part in parts)
    return (np.ascontiguousarray(block, np.float64) for block in blocks)

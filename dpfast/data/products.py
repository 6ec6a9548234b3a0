"""Products of the rows of any table with a vector."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from dpfast.data.bit_matrix import BitMatrix
from dpfast.data.blocks import BLOCK_BYTES, RowBlocks, slices


def readable(X):
    """X as `row_products` takes it; refuses NaN, infinities and wrong shapes.

    Parameters
    ----------
    X : array_like, sparse matrix, DataFrame, BitMatrix or RowBlocks, shape (n, d)
    """
    return X if isinstance(X, (BitMatrix, RowBlocks)) else check_array(X, accept_sparse=["csr", "csc"])


def row_products(X, w):
    """<x_i, w> for each row: float64, shape (n,) or (n, k); bits are 0 and 1.

    Parameters
    ----------
    X : what `readable` returned, shape (n, d)
    w : ndarray of float64, shape (d,) or (d, k)

    Notes
    -----
    Never more than a block of X is copied.
    """
    if sp.issparse(X):
        return np.asarray(X @ w, np.float64)
    if isinstance(X, RowBlocks):
        blocks = map(X.block, range(len(X.bounds) - 1))
    else:
        parts = slices(X.shape[0], BLOCK_BYTES // (8 * X.shape[1]))
        blocks = (X[part].toarray() if isinstance(X, BitMatrix) else X[part] for part in parts)
    return np.concatenate([np.empty((0, *w.shape[1:])), *(np.asarray(block, np.float64) @ w for block in blocks)])

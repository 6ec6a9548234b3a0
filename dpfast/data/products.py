"""Products of the rows of any table with a vector."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array

from dpfast.data.bit_matrix import BitMatrix
from dpfast.data.blocks import BLOCK_BYTES, RowBlocks, slices


def row_products(X, w):
    """<x_i, w> for each row: float64, shape (n,); bits are 0 and 1.

    Parameters
    ----------
    X : array_like, sparse matrix, DataFrame, BitMatrix or RowBlocks, shape (n, d)
    w : ndarray of float64, shape (d,)

    Notes
    -----
    Never more than a block of X is copied.
    """
    if isinstance(X, RowBlocks):
        return np.concatenate([np.asarray(X.block(k), np.float64) @ w for k in range(len(X.bounds) - 1)])
    if isinstance(X, BitMatrix):
        blocks = slices(len(X), BLOCK_BYTES // (8 * X.shape[1]))
        return np.concatenate([np.empty(0), *(X[block].toarray() @ w for block in blocks)])
    X = check_array(X, accept_sparse=["csr", "csc"])
    if sp.issparse(X):
        return np.asarray(X @ w, np.float64)
    blocks = slices(len(X), BLOCK_BYTES // (8 * X.shape[1]))
    return np.concatenate([np.asarray(X[block], np.float64) @ w for block in blocks])

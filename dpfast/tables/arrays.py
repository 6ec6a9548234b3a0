"""Arrays and sparse matrices of finite numbers of a declared type, as all tables are read.

A row's image is a function of that row, of the format and the type of its table, and of parameters; it never depends
on what other rows hold. So nothing here, nor in any module of `dpfast.tables`, chooses by values: an array or a column
has its type, and what has none, a list say, is float64.
"""

import numpy as np
import scipy.sparse as sp

from dpfast.parts.sources import refuse_masked, refuse_parts, refuse_plan


def as_numbers(X, sparse=()):
    """Return X as an ndarray or a sparse matrix of booleans, integers or floats up to float64, all of them finite.

    Parameters
    ----------
    X : array_like, sparse matrix or DataFrame, shape (n, d)
        Its type stays, but objects, and lists, which have no type, become float64; so do wider floats, before they
        are seen to be finite.
    sparse : sequence of str
        The formats that a sparse matrix may keep; another becomes the first of them. None are allowed by default.

    Raises
    ------
    ValueError, TypeError
        For NaN, infinities, wrong shapes and entries that are no numbers; for indices that do not fit; for parts.
    """
    if sp.issparse(X):
        X = _sound(X)
    if _plain(X, sparse):
        return canonical(X) if sp.issparse(X) else X

    from sklearn.utils import check_array

    refuse_parts(X)
    refuse_plan(X)
    refuse_masked("X", X)
    typed = sp.issparse(X) or hasattr(X, "__array__")
    try:
        X = check_array(X, accept_sparse=list(sparse) or False, dtype="numeric" if typed else np.float64)
    except ValueError as error:  # which would repeat a cell
        if "could not convert" not in str(error):
            raise
        raise ValueError("X holds text where numbers are wanted; declare columns of text in a schema") from None
    except OverflowError as error:  # an integer of Python
        raise ValueError(f"X holds a number too large for float64: {error}") from None
    if X.dtype.kind not in "biuf":
        raise ValueError(f"X must hold numbers, got {X.dtype}")
    if X.dtype.kind == "f" and X.dtype.itemsize > 8:
        with np.errstate(over="ignore"):  # infinity, which is refused
            X = check_array(X.astype(np.float64), accept_sparse=True)
    return canonical(X) if sp.issparse(X) else X


def _plain(X, sparse):
    """Return whether X already is a result of `as_numbers`; scikit-learn's check takes longer than a small fit."""
    if sp.issparse(X):
        entries = X.data if X.format in sparse and X.format in ("csr", "csc") else None
    else:
        entries = X if type(X) is np.ndarray and X.ndim == 2 else None
    if entries is None or 0 in X.shape or entries.dtype.kind not in "biuf" or entries.dtype.itemsize > 8:
        return False
    with np.errstate(all="ignore"):  # no sum, or one that overflows, is looked at again by scikit-learn
        return entries.dtype.kind != "f" or bool(np.isfinite(entries.sum(dtype=np.float64)))


def sound_csr(X):
    """Return a sparse matrix as CSR, with checked indices that increase in each row and occur once.

    Raises
    ------
    ValueError
        For indices that do not fit the shape or do not end where the next row's begin.
    """
    return canonical(_sound(X).tocsr())


def canonical(X):
    """Return a CSR or CSC matrix with increasing, unique indices: itself if it has them, else a copy."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


def _sound(X):
    """Check all indices of a sparse matrix: nothing compiled may touch them before."""
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array, got a sparse array of shape {X.shape} instead")
    if X.format in ("csr", "csc", "bsr"):
        for name in ("indptr", "indices"):
            index = getattr(X, name)
            if index.dtype.kind != "i":
                raise ValueError(f"{name} of a sparse matrix must be signed integers, got {index.dtype}")
        if (X.indptr[1:] < X.indptr[:-1]).any():  # also where the last is 0, which scipy lets pass
            raise ValueError("indptr of a sparse matrix must not fall")
        X.check_format(full_check=X.format == "bsr")
        width = X.shape[1 if X.format == "csr" else 0]
        if X.format != "bsr" and X.indices.view(f"u{X.indices.itemsize}").max(initial=0) >= max(1, width):
            raise ValueError(f"indices of a sparse matrix must lie in [0, {width}), got {_outside(X.indices, width)}")
    elif X.format == "coo":
        X = sp.coo_array((X.data, X.coords), shape=X.shape)  # the constructor checks them
    return X


def _outside(indices, width):
    return indices[(indices < 0) | (indices >= width)][0]

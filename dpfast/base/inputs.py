"""What fits and models check of the tables that they are given, and the rows of bits that they make of these."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import validate_data

from dpfast.base.fitting import Public
from dpfast.base.scikit import BaseEstimator
from dpfast.tables import BitMatrix, CodeTable
from dpfast.tables.arrays import check_shape
from dpfast.tables.bit_matrix import SparseBits, suits
from dpfast.tables.code_bits import CodeBits

_TABLES = (BitMatrix, CodeBits, CodeTable)


def check_columns(estimator: Any, X: Any, width: int, names: Any) -> None:
    """Refuse X if it has not these columns, like scikit-learn does for frames and arrays."""
    if not isinstance(X, _TABLES):
        validate_data(estimator, X, skip_check_array=True, reset=False)
        return
    kind, own = type(estimator).__name__, None if X.feature_names is None else np.array(X.feature_names, dtype=object)
    if X.shape[1] != width:
        raise ValueError(f"X has {X.shape[1]} features, but {kind} is expecting {width} features as input")
    if own is not None and names is not None and not np.array_equal(own, names):
        raise ValueError("The feature names should match those that were passed during fit, in the same order")


def public_of(X: Any, labels: Any) -> Public:
    """Return what a fit on X with these `Labels` treats as public."""
    width, names = columns_of(X)
    return Public(len(labels.codes), width, names, labels.classes, labels.declared)


def columns_of(X):
    """Return the number of the columns of X and their names, or None, as scikit-learn reads them off frames."""
    if sp.issparse(X) or (type(X) is np.ndarray and X.ndim == 2):
        return X.shape[1], None
    if isinstance(X, _TABLES):
        return X.shape[1], None if X.feature_names is None else np.array(X.feature_names, dtype=object)
    new = BaseEstimator()
    validate_data(new, X, skip_check_array=True, reset=True)
    return new.n_features_in_, getattr(new, "feature_names_in_", None)


def packed_rows(X, threshold, packs=True):
    """Return X as packed bits, as the bits of its codes, or, without `packs`, as the positions of its few ones."""
    if isinstance(X, CodeBits | CodeTable):
        table = CodeBits(X) if isinstance(X, CodeTable) else X
    elif not packs and suits(X, threshold):
        table = SparseBits(X, threshold)
    else:
        table = BitMatrix(X, threshold=None if isinstance(X, BitMatrix) else threshold)
    check_shape(table.shape)
    return table


def refuse_weights(arguments):
    """Raise an error for unknown arguments of `fit`; for `sample_weight`, explain why."""
    if arguments.pop("sample_weight", None) is not None:
        raise ValueError(
            "sample_weight is refused: a row of weight w moves the sums w times as far, and the privacy claim "
            "is for rows that count once each"
        )
    if arguments:
        raise TypeError(f"fit() got an unexpected keyword argument {next(iter(arguments))!r}")

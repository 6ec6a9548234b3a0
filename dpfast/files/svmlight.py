"""Tables in the svmlight format. Parsed by scikit-learn."""

import gzip
import math
import os
import zlib

import numpy as np

from dpfast.files.entries import from_sparse
from dpfast.files.names import ALWAYS, EXPANSION, open_expanded, refuse_label
from dpfast.tables.label_columns import LabelColumn

_COLUMN = 40  # bytes that a model needs for a column, about


def table_of(path, label, entries, n_features):
    """Return the features of a file as bits or CSR, and its labels.

    Without `n_features`, the number of columns is the largest number of a feature, which some row chose.
    """
    from sklearn.datasets import load_svmlight_file

    refuse_label(path, label)
    if n_features is not None and _COLUMN * n_features > _memory():
        raise ValueError(f"{path}: a model of {n_features:,} columns needs more than the memory of this machine")
    try:
        dtype = np.float64 if entries.values == "bits" else np.float32
        with open_expanded(path) as file:
            X, y = load_svmlight_file(file, n_features=n_features, dtype=dtype, zero_based=False)
        if n_features is None and _COLUMN * X.shape[1] > max(ALWAYS, EXPANSION * path.stat().st_size):
            raise ValueError(
                f"the largest number of a feature is {X.shape[1]:,}, far beyond the size of the file; if the table has "
                "so many columns, declare their number by n_features= (--columns)"
            )
        return from_sparse(X, entries), _labels(y)
    except OverflowError:
        raise ValueError(f"{path}: the number of a feature is above 2**31 - 1") from None
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        if "Invalid index 0" in str(error):
            error = "the number 0 is used for a feature; in this format they start at 1"
        elif "n_features was set to" in str(error):
            error = f"a row has a feature beyond the {n_features:,} columns that were declared"
        raise ValueError(f"{path}: {error}") from None


def _labels(y):
    """Return labels as floats; their classes are integers if all classes are, as the format has no types."""
    if not np.isfinite(y).all():
        raise ValueError("every row needs a label, got NaN or infinity")
    values, numbers = np.unique(y, return_inverse=True)
    return LabelColumn(numbers, values, None, may_lack=False)


def _memory():
    """Return the bytes of memory of this machine, infinity if they are not known."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return math.inf

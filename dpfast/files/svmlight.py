"""Tables in the svmlight format. Parsed by scikit-learn."""

import gzip
import zlib

import numpy as np

from dpfast.files.entries import from_sparse
from dpfast.files.names import opened, refuse_label
from dpfast.tables.labels import tidy_labels


def table_of(path, label, entries, n_features):
    """Return the features of a file as bits or CSR, and its labels."""
    from sklearn.datasets import load_svmlight_file

    refuse_label(path, label)
    try:
        dtype = np.float64 if entries.values == "bits" else np.float32
        with opened(path) as file:
            X, y = load_svmlight_file(file, n_features=n_features, dtype=dtype, zero_based=False)
        return from_sparse(X, entries), tidy_labels(y)
    except OverflowError:
        raise ValueError(f"{path}: the number of a feature is above 2**31 - 1") from None
    except (ValueError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        if "Invalid index 0" in str(error):
            error = "the number 0 is used for a feature; in this format they start at 1"
        raise ValueError(f"{path}: {error}") from None

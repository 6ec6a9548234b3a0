"""Tables in .npz files. Parsed by numpy, sparse ones by scipy."""

import zipfile
import zlib

import numpy as np
import scipy.sparse as sp

from dpfast.files.entries import from_dense, from_sparse
from dpfast.files.names import check_expansion
from dpfast.tables.label_columns import stored_labels
from dpfast.tables.naming import not_there

_FAULTS = (ValueError, KeyError, EOFError, MemoryError, NotImplementedError, zipfile.BadZipFile, zlib.error)
_WIDEST = 2**31 - 1
_NOT_LABELS = {"X", "feature_names", "data", "indices", "indptr", "format", "shape", "_is_array"}


def table_of(path, label, needs_label, entries):
    """Return the features of a file as bits, floats or CSR, and its labels and names, if it has any."""
    try:
        if not zipfile.is_zipfile(path):
            raise ValueError("this is not a whole .npz file (cut short?)")
        with zipfile.ZipFile(path) as parts:
            for part in parts.infolist():
                check_expansion(part.file_size, part.compress_size)
        with np.load(path, allow_pickle=False) as stored:
            names = _names(stored["feature_names"]) if "feature_names" in stored else None
            if (label or needs_label) and (label or "y") not in stored:
                arrays = [name for name in stored.files if name not in _NOT_LABELS]
                raise ValueError(not_there(label or "y", arrays, "array"))
            label = label or "y"
            y = stored_labels(stored[label]) if label in stored else None
            if "format" in stored:
                X = from_sparse(_numeric(sp.load_npz(path), names), entries, names)
            elif "X" in stored:
                X = from_dense(_numeric(stored["X"], names), entries, names)
            else:
                raise ValueError(
                    f"there is neither an array X nor a sparse matrix, only {', '.join(stored.files) or 'nothing'}"
                )
        if y is not None and y.shape != X.shape[:1]:
            raise ValueError(f"{label!r} must hold a label for each of {X.shape[0]} rows, got shape {y.shape}")
        return X, y, names
    except _FAULTS as error:
        raise ValueError(f"{path}: {error}") from None


def _names(names):
    """Return names that are stored as text, or as one UTF-8 blob with one name per line."""
    names = names.tobytes().decode().split("\n") if names.dtype.kind in "iu" else names.astype(str).tolist()
    nul = next((name for name in names if "\0" in name), None)
    if nul is not None:
        raise ValueError(f"the name {nul!r} in feature_names has a NUL in it")
    return names


def _numeric(X, names):
    """Return X; refuse it if it is no table of numbers, or its columns do not match the names."""
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise ValueError(f"X must be a two-dimensional array of numbers, got {X.dtype} of shape {X.shape}")
    if not 1 <= X.shape[1] <= _WIDEST:
        raise ValueError(f"X must have from 1 to 2**31 - 1 columns, got {X.shape[1]:,}")
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(f"feature_names must have {X.shape[1]} names, got {len(names)}")
    return X

"""Files that commands read and write."""

import json
import os

from .report import errors, some


def read(data, **options):
    from dpfast.data.readers import read_table

    with errors.status(f"reading {data}"):
        return read_table(data, **options)


def check_writable(path):
    """Refuse, before any work, a file that could not be written after it."""
    if path is None:
        return
    if path.is_dir() or not os.access(path.absolute().parent, os.W_OK):
        raise ValueError(f"{path} cannot be written: it must name a file in a folder that exists")


def limits_of(estimator):
    """What an estimator declares that numbers lie between, and refuses others; else None."""
    if getattr(estimator, "out_of_range", None) != "error":
        return None
    return tuple(getattr(estimator, "feature_range", (-1, 1)))


def is_packed(X):
    from dpfast.data import BitMatrix

    return isinstance(X, BitMatrix)


def name_features(estimator, names):
    """Give a fitted model the names of its columns, which arrays do not have."""
    import numpy as np

    if names is not None:
        estimator.feature_names_in_ = np.array(names, dtype=object)


def save(estimator, path, *, bits, threshold):
    """Write a model, and with it how its table was read, for `reading_of`; replaces the file at once or not at all."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        estimator.save(partial)
        document = json.loads(partial.read_text(encoding="utf-8"))
        document["table"] = {"values": "bits" if bits else "numbers", "threshold": threshold}
        partial.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def reading_of(path):
    """How the table of a saved model was read: its `values` and `threshold`; None if the model was saved in Python."""
    return json.loads(path.read_text(encoding="utf-8")).get("table")


def check_names(table, estimator, data, model):
    """Refuse a table whose columns are not the model's, naming one that is amiss."""
    names, wanted = table.feature_names, list(getattr(estimator, "feature_names_in_", []))
    if not wanted or names is None or names == wanted:
        if table.X.shape[1] != estimator.n_features_in_:
            raise ValueError(
                f"{data} has {table.X.shape[1]} features, {model} was fitted on {estimator.n_features_in_}"
            )
        return
    there, known = set(names), set(wanted)
    lacking = [name for name in wanted if name not in there]
    extra = [name for name in names if name not in known]
    if lacking:
        raise ValueError(f"{data} lacks features that {model} was fitted on: {some(lacking)}")
    if extra:
        raise ValueError(f"{data} has columns that {model} does not know: {some(extra)}; --label leaves one out")
    raise ValueError(f"{data} has the features that {model} was fitted on, in another order")

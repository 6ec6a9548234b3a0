"""Predictions for Dask collections as lazy collections, and for streams, batch by batch, as one array."""

import copy
from collections.abc import Callable
from functools import wraps
from inspect import cleandoc
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.tables.arrays import is_dask, is_stream
from dpfast.tables.streams import StreamParts

F = TypeVar("F", bound=Callable[..., Any])
_SECTIONS = """{}

Parameters
----------
X : table of a kind that `fit` takes, shape (n, d)

Returns
-------
{}
"""


def in_batches(returns: str = "") -> Callable[[F], F]:
    """Return the decorator of methods that predict rows, for them to take collections of Dask, and streams, too.

    For a collection it returns a lazy collection with the same parts. A stream is read once, batch by batch, and the
    predictions for all rows are returned as one array. `returns` completes the docstring of a method of classifiers.
    """

    def decorated(method):
        @wraps(method)
        def predict(self, X):
            if is_dask(X):
                return _lazy(self, method.__name__, X)
            streams = is_stream(X) or isinstance(X, StreamParts)
            return _of_stream(self, method, X) if streams else method(self, X)

        if returns:
            predict.__doc__ = _SECTIONS.format(cleandoc(method.__doc__), returns)
        return predict

    return decorated


def refuse_collections(X: Any) -> None:
    """Refuse collections of Dask, and streams, for methods that take a table in memory."""
    if is_dask(X) or is_stream(X) or isinstance(X, StreamParts):
        raise ValueError("X must be a table in memory: explain a part of the rows at a time")


def _of_stream(model, method, X):
    if method.__name__ == "transform":
        return method(model, X)
    check_is_fitted(model)
    if not hasattr(model, "encoder_"):
        raise ValueError("X is a stream of columns, and the model learned from vectors: give an array")
    batches = StreamParts(X).batches(model.encoder_.schema_.names)
    predicted = [method(model, batch) for batch in batches if len(batch)]
    return np.concatenate(predicted or [_no_rows(model, method.__name__, _columns(model, method.__name__))])


def _lazy(model, name, X):
    """Return a Series or DataFrame for a DataFrame, an array for an array, a list for a list of delayed tables."""
    check_is_fitted(model)
    model = _public_part(model)
    if isinstance(X, list | tuple):
        from dask.delayed import delayed

        predicted = delayed(_predict_rows, pure=False)
        return [predicted(each, model, name) for each in X]
    columns = _columns(model, name)
    if hasattr(X, "to_bag"):
        meta = _as_frame(_no_rows(model, name, columns), X._meta.index[:0], columns)
        return X.map_partitions(_predicted_frame, model, name, columns, meta=meta)
    X = X.rechunk({1: -1})
    shape = {"drop_axis": 1} if columns is None else {"chunks": (X.chunks[0], (len(columns),))}
    return X.map_blocks(_predict_rows, model, name, dtype=_no_rows(model, name, columns).dtype, **shape)


def _public_part(model):
    """Return the model without the attributes that only its owner may have."""
    model = copy.copy(model)
    for name in ("budget", "random_state"):
        if hasattr(model, name):
            setattr(model, name, None)
    return model


def _columns(model, name):
    """Return the names of the output columns, or None if there is one value per row."""
    if name == "transform":
        return model.get_feature_names_out().tolist()
    several = name == "predict_proba" or (name == "decision_function" and len(model.classes_) > 2)
    return model.classes_.tolist() if several else None


def _no_rows(model, name, columns):
    """Return the empty output for no rows, of the right dtype."""
    dtype = {"predict": lambda: model.classes_.dtype, "transform": lambda: np.uint16}.get(name, lambda: np.float64)()
    return np.empty((0,) if columns is None else (0, len(columns)), dtype)


def _predict_rows(X, model: Any, name: str):
    if X.shape[0] == 0:
        return _no_rows(model, name, _columns(model, name))
    predicted = getattr(model, name)(X)
    return predicted.toarray().astype(np.uint16) if name == "transform" else predicted


def _predicted_frame(X, model, name, columns):
    return _as_frame(_predict_rows(X, model, name), X.index, columns)


def _as_frame(predicted, index, columns):
    import pandas as pd

    if columns is None:
        return pd.Series(predicted, index=index)
    return pd.DataFrame(predicted, index=index, columns=columns)

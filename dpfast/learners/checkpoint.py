"""Checkpoints: all that a stream needs to go on, in a file for its owner only.

The file is a line of text that says that it is private, a line of JSON, and the scores in numpy's format. A saved model
(`dpfast.load`) is another thing: it holds what was released and nothing else.
"""

import json
import os
from pathlib import Path

import numpy as np

from dpfast import accounting

_VERSION = 1
_NAME = b"dpfast checkpoint"
_FIRST_LINE = _NAME + b", PRIVATE: it holds scores and noise that undo the stream's privacy. Keep it from others.\n"


def check_new(path):
    """Refuse a place where the checkpoint of a new stream cannot be, or where something is."""
    path = Path(path)
    if path.exists():
        raise ValueError(f"{path.name} exists: resume() goes on with its stream; a new stream needs a new checkpoint")
    if not os.access(path.absolute().parent, os.W_OK):
        raise ValueError(f"{path} cannot be written: checkpoint must name a file in a folder that exists")


def write(path, estimator):
    """Replace the file at once or not at all; it is on the disk, for its owner only, when this returns.

    Parameters
    ----------
    path : str or path-like
    estimator : PrivateClassifier
        On a stream; gives its private state by `_private`, for JSON, and an array.
    """
    path = Path(path)
    private, scores = estimator._private()
    document = {
        "version": _VERSION,
        "model": estimator._model,
        "parameters": {
            name: value
            for name, value in estimator.get_params(deep=False).items()
            if name not in ("budget", "checkpoint", "random_state")
        },
        "classes": estimator.classes_,
        "n_features": estimator.n_features_in_,
        "feature_names": getattr(estimator, "feature_names_in_", None),
        "privacy": estimator.privacy_.to_dict(),
        "released": estimator._released(),
        "private": private,
    }
    partial = path.with_name(f"{path.name}.part")
    partial.unlink(missing_ok=True)  # of a process that was killed
    try:
        with open(partial, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
            file.write(_FIRST_LINE)
            file.write(json.dumps(document, default=_plain).encode() + b"\n")
            np.save(file, scores, allow_pickle=False)
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)
    if os.name == "posix":  # else the old file could come back after a power cut
        folder = os.open(path.absolute().parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def read(path, kind):
    """The estimator, of class `kind`, that `write` wrote; without a budget, and with fresh randomness.

    Raises
    ------
    ValueError
        If the file is cut short, is no checkpoint of this kind, or was written by a newer version.
    """
    path = Path(path)
    with open(path, "rb") as file:
        first = file.readline(len(_FIRST_LINE))
        if not first.startswith(_NAME) and not _NAME.startswith(first):
            raise ValueError(f"{path.name} is not a dpfast checkpoint")
        try:
            document = json.loads(file.readline())
            newer = document["version"] > _VERSION
            scores = None if newer else np.load(file, allow_pickle=False)
        except (ValueError, EOFError, KeyError, TypeError) as error:
            raise ValueError(f"{path.name} is not a whole checkpoint (cut short?): {error}") from None
    if newer:
        raise ValueError(
            f"{path.name} has format version {document['version']}, this dpfast reads up to {_VERSION}: install a "
            "newer one"
        )
    if document.get("model") != kind._model:
        raise ValueError(f"{path.name} holds a stream of kind {document.get('model')!r}, not {kind._model!r}")
    try:
        estimator = kind(**document["parameters"], checkpoint=path)
        estimator.classes_ = np.array(document["classes"])
        estimator.n_features_in_ = document["n_features"]
        if document["feature_names"] is not None:
            estimator.feature_names_in_ = np.array(document["feature_names"], dtype=object)
        estimator._restore(document["released"])
        estimator._restore_private(document["private"], scores)
        estimator.privacy_ = accounting.PrivacySpend.from_dict(document["privacy"])
    except (KeyError, TypeError, IndexError, ValueError) as error:
        raise ValueError(f"{path.name} is damaged: {type(error).__name__}: {error}") from None
    return estimator


def _plain(value):
    """For JSON: arrays and scalars of numpy, and fractions."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else float(value)

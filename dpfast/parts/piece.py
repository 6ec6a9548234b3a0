"""A piece: some rows of a table, with the numbers of their classes."""

from collections.abc import Callable
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np


class Piece:
    """Rows of a part, in their original form and in the form that a learner reads.

    Parameters
    ----------
    X : table of any kind
    labels : ndarray of int, shape (n,)
        The numbers of the classes.
    image : callable, optional
        Maps X to the form that a learner reads, `rows`; it is computed at first use and never moved with the piece.

    Attributes
    ----------
    rows : table as a learner reads it
        The image of `X`.
    memo : dict
        Cache of questions; answers never depend on it. Private, and never moved.
    """

    def __init__(self, X: Any, labels: np.ndarray, image: Callable | None = None, rows: Any = None):
        self.X, self.labels, self.image, self._rows = X, labels, image, rows
        self.memo: dict[Any, Any] = {}

    @property
    def rows(self) -> Any:
        if self._rows is None:
            assert self.image is not None
            self._rows = self.image(self.X)
        return self._rows

    def fingerprint(self) -> bytes:
        """Return a digest of the rows and labels, computed once; a part that is recomputed has the same digest.

        Returns
        -------
        bytes
        """
        if "fingerprint" not in self.memo:
            self.memo["fingerprint"] = digest(self.labels, *_arrays(self.X))
        return bytes(self.memo["fingerprint"])

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "labels": self.labels, "image": self.image}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Piece.__init__(self, **state)

    def __sizeof__(self) -> int:  # what a scheduler reckons with
        return int(getattr(self.X, "nbytes", 0)) + self.labels.nbytes + object.__sizeof__(self)


def digest(*arrays: np.ndarray) -> bytes:
    """Return a digest of the types, shapes and entries of arrays; it is not secret."""
    found = blake2b(digest_size=16)
    for array in map(np.ascontiguousarray, arrays):
        found.update(f"{array.dtype.str}{array.shape}".encode())
        found.update(array.data.cast("B") if array.size and not array.dtype.hasobject else b"")
    return found.digest()


def _arrays(X):
    """Return the arrays of which a table consists; none for a frame, as its labels suffice to identify the rows."""
    if isinstance(X, np.ndarray):
        return [X]
    if hasattr(X, "codes"):
        return X.codes.columns
    return [X.data, X.indices, X.indptr] if hasattr(X, "indptr") else []


def imaged(piece: Piece, image: Callable) -> Piece:
    """Return a piece with the same rows, for a learner that reads them by this image."""
    return Piece(piece.X, piece.labels, image)


class PartedTable(NamedTuple):
    """Rows and labels in parts.

    Attributes
    ----------
    parts : MemoryParts or EngineParts
        Parts of type `Piece`, all of them with rows.
    n : int
    like : table
        One row of zeros, with the type and the names of the others.
    labels : dpfast.tables.labels.Labels
        The distinct labels that occur.
    """

    parts: Any
    n: int
    like: Any
    labels: Any

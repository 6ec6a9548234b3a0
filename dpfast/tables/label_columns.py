"""Columns of labels of files and frames: each distinct spelling once, and its number for each row."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpfast.tables.arrays import narrowest
from dpfast.tables.label_kinds import label_kind
from dpfast.tables.objects import identity


class LabelColumn:
    """Labels as files and frames store them: each distinct spelling once, and its number for each row, -1 for none.

    An array of texts would take the width of the longest spelling for every row; ``numpy.asarray`` returns it, or an
    array of objects with None for rows without a label.

    Attributes
    ----------
    numbers : ndarray of int, shape (n,)
    spellings : ndarray
    kind : str or None
        The type of the column, as of `dpfast.tables.label_kinds.label_kind`: by default that of `spellings`, and None
        for the cells of a file without types.
    may_lack : bool
        Whether a label may be missing, by the type of the file or of the column alone.
    """

    name: str | None = None  # of the column, if it has one

    def __init__(self, numbers: np.ndarray, spellings: np.ndarray, kind: str | None = "", may_lack: bool = True):
        self.numbers, self.spellings, self.may_lack = numbers, spellings, may_lack
        self.kind = label_kind(None, spellings, "y") if kind == "" else kind

    @property
    def dtype(self) -> np.dtype:
        return self.spellings.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self.numbers.shape

    def identities(self) -> list[str]:
        """Return the identities of the spellings (`dpfast.tables.objects`)."""
        return [str(identity(each)) for each in self.spellings.tolist()]

    def tolist(self) -> list:
        spellings = [*self.spellings.tolist(), None]
        return [spellings[k] for k in self.numbers.tolist()]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, rows: Any) -> Any:
        picked = self.numbers[rows]
        if np.ndim(picked):
            return LabelColumn(picked, self.spellings, self.kind, self.may_lack)
        return self.spellings[picked] if picked >= 0 else None

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if (self.numbers < 0).any():
            return np.array([*self.spellings.tolist(), None], object)[self.numbers].astype(dtype or object, copy=False)
        return self.spellings[self.numbers].astype(dtype or self.dtype, copy=False)

    def __eq__(self, other: Any) -> Any:
        return np.asarray(self) == np.asarray(other)

    __hash__ = None  # type: ignore[assignment]  # as arrays have none


def text_array(texts: Sequence[str]) -> np.ndarray:
    """Return texts as an array, also if there are none."""
    return np.array(texts) if len(texts) else np.empty(0, str)


def stored_labels(y: np.ndarray) -> np.ndarray | LabelColumn:
    """Return the labels of an array in a file, in its type; as a LabelColumn if those of its type may be missing."""
    y = y.astype(str) if y.dtype.kind == "S" else y
    if y.ndim != 1 or y.dtype.kind not in "Uf":
        return y
    has_label = ~np.isnan(y) if y.dtype.kind == "f" else np.ones(len(y), bool)
    spellings, places = np.unique(y[has_label], return_inverse=True)
    numbers = np.full(len(y), -1, narrowest(len(spellings)))
    numbers[has_label] = places
    return LabelColumn(numbers, spellings)


def may_lack(y: Any) -> bool:
    """Return whether labels of a file may be missing, by their type alone: not if they are integers or truth values."""
    return isinstance(y, LabelColumn) and y.may_lack

"""Storage of the columns of an encoding, block by block: numbers, or texts with each value stored once."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.tables.arrow import texts
from dpfast.tables.cells import FIXED
from dpfast.tables.objects import Fault
from dpfast.tables.words import Words


class Kept:
    """An array in memory that grows; `dpfast.parts.spool.Filling` is another."""

    def __init__(self, dtype: Any):
        self._parts: list[np.ndarray] = []
        self._dtype = dtype

    @classmethod
    def apart(cls, n: int, dtype: Any) -> "Kept":
        """Return what keeps another array, of n entries."""
        return cls(dtype)

    def append(self, rows: np.ndarray) -> None:
        self._parts.append(rows)

    def whole(self) -> np.ndarray:
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.empty(0, self._dtype), *self._parts])]
        return self._parts[0]


class KeptTexts:
    """Values by their numbers: -1 where one is missing.

    Parameters
    ----------
    keep : callable
        From a dtype to what keeps an array of it.
    """

    def __init__(self, keep: Callable):
        self._numbers = keep(np.int32)
        self._place: dict[str, int] = {}

    def append(self, texts: tuple[np.ndarray, list]) -> None:
        """Append the numbers of some values, and the values."""
        index, values = texts
        place = [-1 if value is None else self._place.setdefault(value, len(self._place)) for value in values]
        self._numbers.append(np.array([*place, -1], np.int32)[index])

    def whole(self) -> tuple[np.ndarray, list]:
        return self._numbers.whole(), [*self._place]


class KeptCells:
    """Codes of cells, as `dpfast.tables.cells` makes them: one integer a cell, and the words apart.

    Parameters
    ----------
    keep : Kept or dpfast.parts.spool.Room
    """

    def __init__(self, keep: Callable):
        self._codes, self._words = keep(np.int32), Words(keep)

    def append(self, cells: Iterable[tuple[np.ndarray, list]]) -> None:
        """Append blocks of the codes of some cells, and of the words that codes from FIXED on stand for."""
        for codes, words in cells:
            if words:
                is_word = codes >= FIXED
                local = codes[is_word] - FIXED
                numbers = self._words.append(words, np.bincount(local, minlength=len(words)))
                codes = codes.copy()
                codes[is_word] = FIXED + numbers[local]
            self._codes.append(codes)

    def picked(self, rows: Any) -> Iterator[tuple[np.ndarray, list]]:
        """Return blocks of the cells that a mask or a slice picks, as `append` takes them."""
        codes, first = self._codes.whole()[rows], 0
        for words in self._words.blocks():
            beyond = codes >= FIXED + first + len(words)
            block, codes = np.split(codes, [int(np.argmax(beyond)) if beyond.any() else len(codes)])
            yield np.where(block >= FIXED, block - first, block), words
            first += len(words)

    def whole(self) -> tuple[np.ndarray, Words]:
        return self._codes.whole(), self._words


class KeptUnits:
    """Whose each row is: integers as they are, all else as numbers of texts.

    Parameters
    ----------
    name : str
        Of the column.
    keep : callable
        From a dtype to what keeps an array of it.
    """

    def __init__(self, name: str, keep: Callable):
        self.name, self._keep = name, keep
        self._kept: Any = None

    def read(self, array: pa.Array) -> Any:
        """Return the entries of some rows; a row that is of nobody is refused."""
        if pa.types.is_integer(array.type):
            missing = array.is_null().to_numpy(zero_copy_only=False)
            read: Any = array.fill_null(0).to_numpy(zero_copy_only=False)
        else:
            read = texts(self.name, array)
            nobody = [k for k, value in enumerate(read[1]) if value is None or not value.strip()]
            missing = (read[0] < 0) | np.isin(read[0], nobody)
        if missing.any():
            raise Fault(self.name, "is empty, and units= says whose each row is", int(np.argmax(missing)))
        return read

    def append(self, read: Any) -> None:
        """Append a result of `read`."""
        if self._kept is None:
            self._kept = KeptTexts(self._keep) if isinstance(read, tuple) else self._keep(read.dtype)
        self._kept.append(read)

    def whole(self) -> np.ndarray:
        """Return a number for each row, the same for rows of one unit."""
        if self._kept is None:
            return np.empty(0, np.int64)
        whole = self._kept.whole()
        return whole[0] if isinstance(whole, tuple) else whole

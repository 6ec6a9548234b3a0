"""Storage of columns that are read block by block: numbers as they are, and texts with each value stored once."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from dpfast.tables.arrays import narrowest
from dpfast.tables.arrow import texts
from dpfast.tables.cells import FIXED, MISSING
from dpfast.tables.objects import Fault
from dpfast.tables.words import Words


class Kept:
    """An array in memory that grows; `dpfast.parts.blocks.Filling` does the same in a fixed space."""

    def __init__(self, dtype: Any):
        self._parts: list[np.ndarray] = []
        self._dtype = dtype

    @classmethod
    def of(cls, n: int) -> "type[Kept]":
        """Return the storage of arrays of n entries."""
        return cls

    def append(self, rows: np.ndarray) -> None:
        self._parts.append(rows)

    def whole(self) -> np.ndarray:
        if len(self._parts) != 1:
            self._parts = [np.concatenate([np.empty(0, self._dtype), *self._parts])]
        return self._parts[0]


class KeptIntegers:
    """Storage of signed integers; when some need a wider type than those before them, integers of that type follow."""

    def __init__(self, keep: Any):
        self._keep, self._n = keep, 0
        self._kept: list[Any] = []
        self._dtype = np.dtype(np.int8)

    def append(self, rows: np.ndarray) -> None:
        """Append integers, which are kept in their type or in that of earlier ones, whichever is wider."""
        dtype = np.promote_types(self._dtype, rows.dtype)
        if not self._kept or dtype != self._dtype:
            self._dtype = dtype
            self._kept.append(self._keep(dtype))
        self._kept[-1].append(rows.astype(dtype, copy=False))
        self._n += len(rows)

    def whole(self) -> np.ndarray:
        if len(self._kept) != 1:
            joined, several, self._kept = self._keep.of(self._n)(self._dtype), self._kept[::-1], []
            while several:
                joined.append(several.pop().whole())
            self._kept = [joined]
        return self._kept[0].whole()


class KeptTexts:
    """Storage of texts as numbers of the distinct values; a missing one has the number -1."""

    def __init__(self, keep: Any):
        self._numbers = KeptIntegers(keep)
        self._place: dict[str, int] = {}

    def append(self, texts: tuple[np.ndarray, list]) -> None:
        """Append the numbers of some values, and the values."""
        index, values = texts
        place = [-1 if value is None else self._place.setdefault(value, len(self._place)) for value in values]
        self._numbers.append(np.array([*place, -1], narrowest(len(self._place)))[index])

    def whole(self) -> tuple[np.ndarray, list]:
        return self._numbers.whole(), [*self._place]


class KeptCells:
    """Storage of codes of cells (`dpfast.tables.cells`): their differences from MISSING, and the words separately.

    Code FIXED + k stands for word k of `words`.
    """

    def __init__(self, keep: Callable):
        self._codes, self.words = KeptIntegers(keep), Words(keep)

    def append(self, cells: Iterable[tuple[np.ndarray, list]]) -> None:
        """Append blocks of the codes of some cells, and of the words that codes from FIXED on stand for."""
        for codes, words in cells:
            if words:
                is_word = codes >= FIXED
                local = codes[is_word] - FIXED
                numbers = self.words.append(words, np.bincount(local, minlength=len(words)))
                codes = codes.copy()
                codes[is_word] = FIXED + numbers[local]
            if len(codes):
                codes = codes - np.int32(MISSING)
                self._codes.append(codes.astype(np.min_scalar_type(min(codes.min(), ~codes.max(), -1)), copy=False))

    def picked(self, rows: Any) -> Iterator[tuple[np.ndarray, list]]:
        """Return blocks of the cells that a mask or a slice picks, as `append` takes them."""
        codes, first = self.codes(rows), 0
        for words in self.words.blocks():
            beyond = codes >= FIXED + first + len(words)
            block, codes = np.split(codes, [int(np.argmax(beyond)) if beyond.any() else len(codes)])
            yield np.where(block >= FIXED, block - first, block) if first else block, words
            first += len(words)

    def codes(self, rows: Any) -> np.ndarray:
        """Return the codes of the cells that a mask, a slice or an array of row numbers picks: int32."""
        return self._codes.whole()[rows] + np.int32(MISSING)

    def whole(self) -> tuple[np.ndarray, Words]:
        """Return what is stored: the differences of all codes from MISSING, and the words."""
        return self._codes.whole(), self.words


class KeptUnits:
    """Storage of the unit of each row: integers as they are, anything else as numbers of texts."""

    def __init__(self, name: str, keep: Callable):
        self.name, self._keep = name, keep
        self._kept: Any = None

    def read(self, array: pa.Array) -> Any:
        """Return the entries of some rows; a row without a unit is refused."""
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

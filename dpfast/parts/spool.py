"""Storage for a table that is read once: memory up to a limit, then an unnamed memory-mapped file.

The file is in a scratch folder, has no name from its creation on, and belongs to the arrays that are mapped from it.
The system frees its space when the last array is deleted, also if the process is killed. No other process can open it.
"""

import errno
import mmap
import shutil
import tempfile
from typing import Any

import numpy as np


class Spool:
    """Arrays of declared lengths, each filled once from its start.

    Parameters
    ----------
    memory : int
        Bytes that are kept in memory; arrays beyond them go to the file.
    scratch : path-like, optional
        The folder of the file; by default that of temporary files.

    Attributes
    ----------
    in_memory, on_disk : int
        Bytes requested so far.
    """

    def __init__(self, memory: int, scratch: Any = None):
        self._memory, self._scratch = memory, scratch
        self._file: Any = None
        self.in_memory = self.on_disk = 0

    def array(self, shape: tuple[int, ...] | int, dtype: Any) -> "Filling | FileFilling":
        """Return storage for an array of at most so many rows.

        Raises
        ------
        OSError
            If the scratch folder has no space for it.
        """
        shape, dtype = (shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype)
        size = dtype.itemsize * int(np.prod(shape))
        if self.holds(size):
            return Filling(np.empty(shape, dtype))
        start = self.on_disk
        self.on_disk = start + -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        if self._file is None:
            self._folder = self._scratch or tempfile.gettempdir()
            self._file = _Nameless(self._folder)
        if self.on_disk - self._file.written > shutil.disk_usage(self._folder).free:
            raise full(self._folder, self.on_disk)
        self._file.grow(self.on_disk)
        return FileFilling(self._file, start, shape, dtype)

    def growing(self, dtype: Any) -> "Growing":
        """Return storage for a one-dimensional array of unknown length."""
        return Growing(self, np.dtype(dtype))

    def holds(self, size: int) -> bool:
        """Reserve so many bytes of memory, and return whether they were available."""
        if self.in_memory + size > self._memory:
            return False
        self.in_memory += size
        return True

    def free(self, size: int) -> None:
        """Free memory that was reserved."""
        self.in_memory -= size


class Room:
    """Factory of the arrays that store the columns of a table read block by block, by their dtypes.

    Parameters
    ----------
    spool : Spool
    most : int, optional
        An upper bound on the rows; by default their number is unknown.
    """

    def __init__(self, spool: Spool, most: int | None = None):
        self._spool, self._most = spool, most

    def __call__(self, dtype: Any) -> "Filling | FileFilling | Growing":
        return self._spool.growing(dtype) if self._most is None else self._spool.array(self._most, dtype)

    def apart(self, n: int, dtype: Any) -> "Filling | FileFilling":
        """Return storage for a further array of n entries."""
        return self._spool.array(n, dtype)


class Filling:
    """An array that is being filled; `whole` returns the filled part."""

    def __init__(self, array: np.ndarray):
        self._array, self.n = array, 0

    def append(self, rows: np.ndarray) -> None:
        """Append rows, cast to the type."""
        self._array[self.n : self.n + len(rows)] = rows
        self.n += len(rows)

    def whole(self) -> np.ndarray:
        return self._array[: self.n]


class FileFilling:
    """An array that is being filled in a file by writing, so that a full disk raises an error and not a bus fault."""

    def __init__(self, file: "_Nameless", start: int, shape: tuple[int, ...], dtype: np.dtype):
        self._file, self._start, self._shape, self._dtype = file, start, shape, dtype
        self._row = dtype.itemsize * int(np.prod(shape[1:]))
        self.n = 0

    def append(self, rows: np.ndarray) -> None:
        if self.n + len(rows) > self._shape[0]:
            raise ValueError(f"room is for {self._shape[0]} rows, got {self.n + len(rows)}")
        data = np.ascontiguousarray(rows, self._dtype).data.cast("B") if rows.size else b""
        self._file.write(self._start + self.n * self._row, data)
        self.n += len(rows)

    def whole(self) -> np.ndarray:
        shape = (self.n, *self._shape[1:])
        if not self.n * self._row:
            return np.empty(shape, self._dtype)
        return np.frombuffer(self._file.mapped(self._start, self.n * self._row), self._dtype).reshape(shape)


class Growing:
    """An array of unknown length that is being filled: pieces in memory while there is space, else in the file.

    `whole` joins the pieces, once; until then a piece in the file takes its space there twice.
    """

    def __init__(self, spool: Spool, dtype: np.dtype):
        self._spool, self._dtype, self.n = spool, dtype, 0
        self._pieces: list[np.ndarray | Filling | FileFilling] = []
        self._whole: Filling | FileFilling | None = None

    def append(self, rows: np.ndarray) -> None:
        """Append rows, which are cast to the type and copied."""
        self.n += len(rows)
        if self._spool.holds(len(rows) * self._dtype.itemsize):
            self._pieces.append(np.array(rows, self._dtype))  # a view would keep the whole batch
            return
        filling = self._spool.array(len(rows), self._dtype)
        filling.append(rows)
        self._pieces.append(filling)

    def whole(self) -> np.ndarray:
        if self._whole is None:
            pieces, self._pieces = self._pieces[::-1], []
            self._whole = self._spool.array(self.n, self._dtype)
            while pieces:
                piece = pieces.pop()
                if isinstance(piece, np.ndarray):
                    self._whole.append(piece)
                    self._spool.free(piece.nbytes)
                else:
                    self._whole.append(piece.whole())
        return self._whole.whole()


class _Nameless:
    """The unnamed file; arrays mapped from it remain valid when it is closed."""

    def __init__(self, folder: Any):
        self._folder, self.written = folder, 0
        self._file = tempfile.TemporaryFile(dir=folder, prefix="dpfast-", buffering=0)  # noqa: SIM115

    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self._file.close()

    def grow(self, size: int) -> None:
        self._file.truncate(size)

    def write(self, at: int, data: Any) -> None:
        self.written += len(data)
        try:
            self._file.seek(at)
            while len(data):
                data = data[self._file.write(data) :]
        except OSError as error:
            if error.errno in (errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)):
                raise full(self._folder, None) from None
            raise

    def mapped(self, start: int, size: int) -> mmap.mmap:
        return mmap.mmap(self._file.fileno(), size, offset=start, access=mmap.ACCESS_WRITE)


def full(folder: Any, needed: int | None) -> OSError:
    """Return the error for a scratch folder without space."""
    wanted = "" if needed is None else f", {needed / 1e9:.3g} GB are needed"
    what = f"the scratch folder has no room left{wanted}; see scratch= and memory="
    return OSError(errno.ENOSPC, what, str(folder))

"""Pieces of a table in this process, whose questions are computed over blocks of rows on threads, and their storage.

Blocks do not depend on the number of threads, so results do not either.

A table that is read once is stored by a `Spool`: in memory up to a limit, then in an unnamed memory-mapped file. The
file is in a scratch folder, has no name from its creation on, and belongs to the arrays that are mapped from it. The
system frees its space when the last array is deleted, also if the process is killed. No other process can open it.
"""

import errno
import math
import mmap
import os
import shutil
import tempfile
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from dpfast.kernels.rng import process


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
    mark : bytes
        Fingerprint of the rows and labels as they were read, which an engine sets (`dpfast.parts.make_state`).
    """

    def __init__(
        self, X: Any, labels: np.ndarray, image: Callable | None = None, rows: Any = None, *, mark: bytes = b""
    ):
        self.X, self.labels, self.image, self._rows, self.mark = X, labels, image, rows, mark
        self.memo: dict[Any, Any] = {}

    @property
    def rows(self) -> Any:
        if self._rows is None:
            assert self.image is not None
            self._rows = self.image(self.X)
        return self._rows

    def __getstate__(self) -> dict[str, Any]:
        return {"X": self.X, "labels": self.labels, "image": self.image, "mark": self.mark}

    def __setstate__(self, state: dict[str, Any]) -> None:
        Piece.__init__(self, **state)

    def __sizeof__(self) -> int:  # what a scheduler reckons with
        return int(getattr(self.X, "nbytes", 0)) + self.labels.nbytes + object.__sizeof__(self)


def with_image(piece: Piece, image: Callable) -> Piece:
    """Return a piece with the same rows, for a learner that reads them by this image."""
    return Piece(piece.X, piece.labels, image)


class Table(NamedTuple):
    """Rows and labels as learners ask them: in one part, if they are in memory, or in several parts.

    Attributes
    ----------
    parts : EngineParts
        Parts of type `Piece`, all of them with rows.
    n : int
        The number of rows, of which those without a label are in no part.
    like : table
        A table with the type and the names of all rows. Of codes, and of parts, it is one row of zeros.
    labels : dpfast.tables.labels.Labels
        The public set of labels; its codes are those of `like` or of the distinct labels.
    complete : bool
        Whether every row has a label.
    """

    parts: Any
    n: int
    like: Any
    labels: Any
    complete: bool = True


BLOCK_BYTES = 1 << 22  # of input per block


_this = threading.local()
_processors = cache(os.cpu_count)  # to count them takes a while


def threads():
    """Return the number of threads: the environment variable DPFAST_THREADS, or the number of processors."""
    if getattr(_this, "alone", False):
        return 1
    return max(1, int(os.environ.get("DPFAST_THREADS") or _processors() or 1))


@contextmanager
def one_thread():
    """Let this thread's work use no further threads within the block, since other threads work on other parts."""
    before = getattr(_this, "alone", False)
    _this.alone = True
    try:
        yield
    finally:
        _this.alone = before


def slices(size, step):
    """Return consecutive slices of at most `step`, and at least 1, that cover range(size); an empty one for size 0."""
    step = max(1, step)
    return [slice(start, min(start + step, size)) for start in range(0, max(1, size), step)]


@cache
def _pool(workers, process):
    """Return a pool of threads of this process; a fork has none of the threads of its parent."""
    return ThreadPoolExecutor(workers, thread_name_prefix="dpfast")


def map_blocks(function, blocks):
    """Return [function(block) for block in blocks], computed on threads; raise the failure of the first failed block.

    After a failure no further block is started. No number of a block raises an error or a warning of numpy: threads
    have not what their caller set by `numpy.seterr`.
    """
    workers = min(threads(), len(blocks)) if len(blocks) > 1 else 1
    if workers <= 1:
        return [function(block) for block in blocks]
    waiting, results, failures = deque(enumerate(blocks)), [None] * len(blocks), {}

    def work():
        while waiting:
            try:
                k, block = waiting.popleft()
            except IndexError:
                return  # another thread was faster
            try:
                with np.errstate(all="ignore"):
                    results[k] = function(block)
            except BaseException as failure:  # KeyboardInterrupt too: the other threads must stop
                failures[k] = failure
                waiting.clear()

    pool = _pool(threads() - 1, process())
    helpers = [pool.submit(work) for _ in range(workers - 1)]
    try:
        work()
    finally:
        waiting.clear()
        wait([helper for helper in helpers if not helper.cancel()])
    if failures:
        raise failures[min(failures)]
    return results


_PIECE = 1 << 20  # bytes of a piece of an array of unknown length, unless more are appended at a time
_PAGES = 1 << 16  # bytes of an array that has pages of its own
_PRIVATE: dict[str, Any] = {"flags": mmap.MAP_PRIVATE} if hasattr(mmap, "MAP_PRIVATE") else {}


class Spool:
    """Arrays of declared lengths, each filled once from its start.

    Arrays beyond `memory` bytes go to the file, in the folder `scratch` or that of temporary files; by default none do.
    `in_memory` and `on_disk` are the bytes requested so far.
    """

    def __init__(self, memory: float = math.inf, scratch: Any = None):
        self._memory, self._scratch = memory, scratch
        self._file: Any = None
        self.in_memory = self.on_disk = 0

    def array(self, shape: tuple[int, ...] | int, dtype: Any) -> "MemoryStore | FileStore":
        """Return a store for an array of at most so many rows; raise OSError if the scratch folder has no space."""
        shape, dtype = (shape,) if isinstance(shape, int) else tuple(shape), np.dtype(dtype)
        size = dtype.itemsize * int(np.prod(shape))
        if self.holds(size):  # a large array has pages of its own, which go back to the system when it is freed
            return MemoryStore(np.ndarray(shape, dtype, mmap.mmap(-1, size, **_PRIVATE) if size >= _PAGES else None))
        start = self.on_disk
        self.on_disk = start + -(-size // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
        if self._file is None:
            self._folder = self._scratch or tempfile.gettempdir()
            self._file = _Nameless(self._folder)
        if self.on_disk - self._file.written > shutil.disk_usage(self._folder).free:
            raise _full(self._folder, self.on_disk)
        self._file.grow(self.on_disk)
        return FileStore(self._file, start, shape, dtype)

    def growing(self, dtype: Any) -> "GrowingStore":
        """Return a store for a one-dimensional array of unknown length."""
        return GrowingStore(self, np.dtype(dtype))

    def holds(self, size: int) -> bool:
        """Reserve so many bytes of memory, and return whether they were available."""
        if self.in_memory + size > self._memory:
            return False
        self.in_memory += size
        return True

    def free(self, size: int) -> None:
        """Free memory that was reserved."""
        self.in_memory -= size


class Storage:
    """Factory of stores, by the dtypes of their arrays, for the columns of a table that is read block by block.

    `most` is an upper bound on the rows, or None if their number is unknown.
    """

    def __init__(self, spool: Spool, most: int | None = None):
        self._spool, self._most = spool, most

    def __call__(self, dtype: Any) -> "MemoryStore | FileStore | GrowingStore":
        return self._spool.growing(dtype) if self._most is None else self._spool.array(self._most, dtype)

    def of(self, n: int) -> "Storage":
        """Return the factory of stores of n entries."""
        return Storage(self._spool, n)


class MemoryStore:
    """An array that is being filled; `read_all` returns the filled part."""

    def __init__(self, array: np.ndarray):
        self._array, self.n, self.in_memory = array, 0, array.nbytes  # bytes in memory

    def append(self, rows: np.ndarray) -> None:
        """Append rows, cast to the type."""
        self._array[self.n : self.n + len(rows)] = rows
        self.n += len(rows)

    def read_all(self) -> np.ndarray:
        return self._array[: self.n]


class FileStore:
    """An array that is being filled in a file by writing, so that a full disk raises an error and not a bus fault."""

    in_memory = 0  # bytes in memory

    def __init__(self, file: "_Nameless", start: int, shape: tuple[int, ...], dtype: np.dtype):
        self._file, self._start, self._shape, self._dtype = file, start, shape, dtype
        self._row = dtype.itemsize * int(np.prod(shape[1:]))
        self.n = 0

    def append(self, rows: np.ndarray) -> None:
        if self.n + len(rows) > self._shape[0]:
            raise ValueError(f"the store is for {self._shape[0]} rows, got {self.n + len(rows)}")
        data = np.ascontiguousarray(rows, self._dtype).data.cast("B") if rows.size else b""
        self._file.write(self._start + self.n * self._row, data)
        self.n += len(rows)

    def read_all(self) -> np.ndarray:
        shape = (self.n, *self._shape[1:])
        if not self.n * self._row:
            return np.empty(shape, self._dtype)
        return np.frombuffer(self._file.map_region(self._start, self.n * self._row), self._dtype).reshape(shape)


class GrowingStore:
    """An array of unknown length that is being filled: pieces in memory while there is space, else in the file.

    `read_all` joins the pieces, once, and frees each as soon as it is copied; until then a piece in the file takes its
    space there twice.
    """

    def __init__(self, spool: Spool, dtype: np.dtype):
        self._spool, self._dtype, self.n = spool, dtype, 0
        self._pieces: list[MemoryStore | FileStore] = []
        self._left = 0  # rows that the last piece has space for
        self._whole: MemoryStore | FileStore | None = None

    def append(self, rows: np.ndarray) -> None:
        """Append rows, which are cast to the type and copied."""
        while len(rows):
            if not self._left:
                self._left = max(len(rows), min(self.n, _PIECE // self._dtype.itemsize))
                self._pieces.append(self._spool.array(self._left, self._dtype))
            some, rows = rows[: self._left], rows[self._left :]
            self._pieces[-1].append(some)
            self.n, self._left = self.n + len(some), self._left - len(some)

    def read_all(self) -> np.ndarray:
        if self._whole is None:
            pieces, self._pieces, self._left = self._pieces[::-1], [], 0
            self._whole = self._spool.array(self.n, self._dtype)
            while pieces:
                piece = pieces.pop()
                self._whole.append(piece.read_all())
                self._spool.free(piece.in_memory)
        return self._whole.read_all()


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
                raise _full(self._folder, None) from None
            raise

    def map_region(self, start: int, size: int) -> mmap.mmap:
        return mmap.mmap(self._file.fileno(), size, offset=start, access=mmap.ACCESS_WRITE)


def _full(folder: Any, needed: int | None) -> OSError:
    """Return the error for a scratch folder without space."""
    need = "" if needed is None else f", {needed / 1e9:.3g} GB are needed"
    what = f"the scratch folder has no space left{need}; see scratch= and memory="
    return OSError(errno.ENOSPC, what, str(folder))

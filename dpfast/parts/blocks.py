"""Pieces of a table in this process, whose questions are computed over blocks of rows on threads.

Blocks do not depend on the number of threads, so that results do not either.
"""

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from typing import Any, NamedTuple, Protocol, runtime_checkable

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


class Table(NamedTuple):
    """Rows and labels as learners ask them: in one part, if they are in memory, or in several parts.

    Attributes
    ----------
    parts : EngineParts
        Parts of type `Piece`, all of them with rows.
    n : int
        The number of rows.
    like : table
        A table with the type and the names of all rows. Of codes, and of parts, it is one row of zeros.
    labels : dpfast.tables.labels.Labels
        The public set of labels; its codes are those of `like` or of the distinct labels.
    """

    parts: Any
    n: int
    like: Any
    labels: Any


BLOCK_BYTES = 1 << 22  # of input per block


_this = threading.local()


def threads():
    """Return the number of threads: the environment variable DPFAST_THREADS, or the number of processors."""
    if getattr(_this, "alone", False):
        return 1
    return max(1, int(os.environ.get("DPFAST_THREADS") or os.cpu_count() or 1))


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
    """Return consecutive slices of at most `step`, and at least 1, that cover range(size)."""
    step = max(1, step)
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


@cache
def _pool(workers, process):
    """Return a pool of threads of this process; a fork has none of the threads of its parent."""
    return ThreadPoolExecutor(workers, thread_name_prefix="dpfast")


def map_blocks(function, blocks):
    """Return [function(block) for block in blocks], computed on threads; raise the failure of the first failed block.

    After a failure no further block is started.
    """
    workers = min(threads(), len(blocks))
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


@runtime_checkable
class RowBlocks(Protocol):
    """Table that is read block by block, anew in every pass; implement it for a file too large for memory.

    Attributes
    ----------
    shape : tuple (n, d)
    bounds : sequence of int
        Increasing from 0 to n: block k holds the rows from bounds[k] to bounds[k + 1] - 1.
    feature_names : list of str or None
    dtype : dtype, optional
        The dtype to which the entries of all blocks are converted, such as float32; by default float64. It is declared,
        so that the conversion of a row does not depend on the other rows.
    """

    shape: tuple
    bounds: list
    feature_names: list | None

    def block(self, k):
        """Return the rows of one block; it may be called on a thread.

        Parameters
        ----------
        k : int
            The number of the block.

        Returns
        -------
        ndarray of numbers, shape (bounds[k + 1] - bounds[k], d)
        """


def read_block(X, k):
    """Return block k of a `RowBlocks` as finite numbers of its declared type.

    Raises
    ------
    ValueError
        For NaN, infinities, a wrong shape, and entries that the declared type cannot hold.
    """
    from sklearn.utils import assert_all_finite

    dtype = np.dtype(getattr(X, "dtype", np.float64))
    block = np.asarray(X.block(k))
    wanted = X.bounds[k + 1] - X.bounds[k], X.shape[1]
    if block.shape != wanted or not np.can_cast(block.dtype, dtype, "same_kind"):
        raise ValueError(
            f"block {k} must have shape {wanted} and a type that becomes {dtype}, got {block.dtype} {block.shape}"
        )
    with np.errstate(over="ignore"):  # infinity is refused below
        block = block.astype(dtype, copy=False)
    assert_all_finite(block, input_name="X")
    return block

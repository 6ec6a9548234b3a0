"""Work in blocks that do not depend on the number of threads, so that results do not either."""

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Protocol, runtime_checkable

import numpy as np

from dpfast.kernels.rng import process

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

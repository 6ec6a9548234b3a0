"""Work by blocks: the same pieces whatever the number of threads, so the same results."""

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import Protocol, runtime_checkable

import numpy as np

from dpfast.kernels.rng import process

BLOCK_BYTES = 1 << 22  # of input to a piece of work


_this = threading.local()


def threads():
    """Threads to use: the environment variable DPFAST_THREADS, or one for each processor; see also `one_thread`."""
    if getattr(_this, "alone", False):
        return 1
    return max(1, int(os.environ.get("DPFAST_THREADS") or os.cpu_count() or 1))


@contextmanager
def one_thread():
    """Within this, for what this thread does: others are busy with other parts."""
    before = getattr(_this, "alone", False)
    _this.alone = True
    try:
        yield
    finally:
        _this.alone = before


def slices(size, step):
    """Consecutive slices of at most `step`, and at least 1, that make up range(size)."""
    step = max(1, step)
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


@cache
def _pool(workers, process):
    """Threads of this process; a fork, whoever made it, has none of the threads of the process that it came from."""
    return ThreadPoolExecutor(workers, thread_name_prefix="dpfast")


def map_blocks(function, blocks):
    """[function(block) for block in blocks], on threads, this one among them; the first block's failure is raised.

    After a failure no block is begun.
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
            except BaseException as failure:  # KeyboardInterrupt too: the others must stop
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
    """A table that is read block by block, in every pass anew: what a file too large for memory implements.

    Attributes
    ----------
    shape : tuple (n, d)
    bounds : sequence of int
        Rising from 0 to n: block k holds the rows from bounds[k] on, below bounds[k + 1].
    feature_names : list of str or None
    dtype : dtype, optional
        What the entries of all blocks become, float32 say; float64 where there is no such attribute. It is declared,
        so that a row becomes the same whatever the rows beside it hold.
    """

    shape: tuple
    bounds: list
    feature_names: list | None

    def block(self, k):
        """Return the rows of one block. It may be called on a thread.

        Parameters
        ----------
        k : int
            The number of the block.

        Returns
        -------
        ndarray of numbers, shape (bounds[k + 1] - bounds[k], d)
        """


def read_block(X, k):
    """Block k of a `RowBlocks`, as finite numbers of its declared type.

    Raises
    ------
    ValueError
        For NaN, infinities, another shape, and entries of a type that the declared one cannot hold.
    """
    from sklearn.utils import assert_all_finite

    dtype = np.dtype(getattr(X, "dtype", np.float64))
    block = np.asarray(X.block(k))
    wanted = X.bounds[k + 1] - X.bounds[k], X.shape[1]
    if block.shape != wanted or not np.can_cast(block.dtype, dtype, "same_kind"):
        raise ValueError(
            f"block {k} must have shape {wanted} and a type that becomes {dtype}, got {block.dtype} {block.shape}"
        )
    with np.errstate(over="ignore"):  # infinity, which is refused
        block = block.astype(dtype, copy=False)
    assert_all_finite(block, input_name="X")
    return block

"""Work by blocks: the same pieces whatever the number of threads, so the same results."""

import os
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol, runtime_checkable

BLOCK_BYTES = 1 << 22  # of input to a piece of work


def threads():
    """Threads to use: the environment variable DPFAST_THREADS, or one for each processor."""
    return max(1, int(os.environ.get("DPFAST_THREADS") or os.cpu_count() or 1))


def slices(size, step):
    """Consecutive slices of at most `step`, and at least 1, that make up range(size)."""
    step = max(1, step)
    return [slice(start, min(start + step, size)) for start in range(0, size, step)]


def map_blocks(function, blocks):
    """[function(block) for block in blocks], on threads; the first failure is raised."""
    workers = min(threads(), len(blocks))
    if workers <= 1:
        return [function(block) for block in blocks]
    with ThreadPoolExecutor(workers) as pool:
        return list(pool.map(function, blocks))


@runtime_checkable
class RowBlocks(Protocol):
    """A table that is read block by block, in every pass anew: what a file too large for memory implements.

    Attributes
    ----------
    shape : tuple (n, d)
    bounds : sequence of int
        Rising from 0 to n: block k holds the rows from bounds[k] on, below bounds[k + 1].
    feature_names : list of str or None
    """

    shape: tuple
    bounds: list
    feature_names: list | None

    def block(self, k):
        """The rows of block k: ndarray of numbers, shape (bounds[k + 1] - bounds[k], d). May be called on a thread."""

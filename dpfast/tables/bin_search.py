"""How many edges of bins are below each number, faster than by halving: the bins are guessed first."""

from collections.abc import Callable

import numpy as np

from dpfast.tables.cells import FIXED, number_codes


def bin_search(edges: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return the function from numbers to how many of the edges are below each; of NaN it is any number of them.

    Parameters
    ----------
    edges : ndarray of float64
        Rising, at least one.
    """
    k = len(edges)
    even = np.linspace(edges[0], edges[-1], k)
    step = (edges[-1] - edges[0]) / max(1, k - 1)
    if k < 4 or not np.isfinite(1 / step) or np.abs(edges - even).max() > 0.4 * step:
        return _search_codes(edges)
    low, high = np.append(np.nan, edges), np.append(edges, np.nan)  # of what shares a code; NaN is no bound

    def below(x):
        near = np.fmin(np.fmax(x, edges[0] - step), edges[-1] + step)
        guess = np.minimum(((near - edges[0]) / step).astype(np.int32) + 1, k)  # wrong by one at most
        guess += (x > high[guess]).astype(np.int32)
        return guess - (x <= low[guess])

    return below


def _search_codes(edges):
    """As `bin_search`, by the codes of numbers: few edges share one, or there is nothing gained."""
    of_edges = number_codes(edges)
    first, most = np.searchsorted(of_edges, np.arange(FIXED)), np.bincount(of_edges).max()
    if len(edges) < 32 or most > 2:
        return lambda x: np.searchsorted(edges, x)
    first, high = first.astype(np.int32), np.append(edges, np.nan)

    def below(x):
        guess = first[number_codes(x)]
        for _ in range(most):
            guess += x > high[guess]
        return guess

    return below

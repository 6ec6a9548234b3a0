"""Quantiles of numbers, drawn from a public grid by the exponential mechanism.

Consider N numbers in an interval. The distance of x from the quantile of share q is |L(x) - q N| rows, where L(x) is
the number of values that are at most x; the score is its negative. Adding a row adds 1 - q to L(x) - q N for x at least
the row's number, and -q for other x. So no score changes by more than w = max(q, 1 - q) in either direction, and the
change has range at most 2 w (1 for the median). Replacing a row within the interval changes L(x) by one, in one
direction, for the x between the two numbers only: range 2. A row that moves to another interval is removed from the
first and added to the second.

Edges between bins of equal shares are drawn by bisection: first the middle edge, then those below and above it from the
rows below and above, level by level. The intervals of a level are disjoint. With weights exp(t score) a draw of range R
is t R-DP and (t R)^2 / 8-zCDP, and a level costs the larger of the following:

    add-remove   one row in one interval         t 2 w                  (t 2 w)^2 / 8
    replace      one row within an interval      t 2                    (t 2)^2 / 8
                 one row in each of two          2 t 2 w                2 (t 2 w)^2 / 8

The levels compose adaptively, so their costs add up.
"""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.accounting.numbers import check_neighbors
from dpfast.mechanisms.exponential import exponential

_FINEST = 1 << 20  # denominator of a share of an interval: 2**42 rows times this is below 2**62


def quantiles(
    values: ArrayLike,
    grid: ArrayLike,
    shares: Any,
    exponent: float | Fraction,
    *,
    rng: int | np.random.Generator | None = None,
) -> np.ndarray:
    """Return edges between bins with given shares of some numbers, drawn from a public grid.

    **Privacy.** With P, Z = ``quantiles_cost(shares, neighbors)`` all edges together are ``exponent * P``-DP and
    ``exponent**2 * Z``-zCDP for that relation, if every row has at most one number. The documentation of this module
    gives theorem and proof.

    Parameters
    ----------
    values : array_like of float, shape (n,)
        Numbers other than NaN. Numbers beyond the grid count as its ends.
    grid : array_like of float, shape (g,)
        The candidates in increasing order; declared, not computed from the values.
    shares : int, or sequence of Fraction
        The number of bins of equal shares, or the share of the rows below each edge, increasing in (0, 1).
    exponent : Fraction, int or float
        The number t in the weights exp(-t * distance), for a distance in rows.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    ndarray of float64, shape (number of shares,)
        Nondecreasing: if an interval holds no candidate, its lower end is used again.

    Examples
    --------
    >>> quantiles(range(10_000), range(0, 10_000, 100), 4, 0.1, rng=0)
    array([2500., 5000., 7500.])
    """
    at_most, places = _count_at_most(values, grid)
    shares, exponent, rng = _shares(shares), _exponent(exponent), random.generator(rng)
    edges = np.empty(len(shares))
    # (first and end of the edges to draw, first and end of their candidates, values below the interval and in it)
    level = [(0, len(shares), 0, len(places), 0, int(at_most[-1]))]
    for first, end, low, high, below, inside in level:
        if first == end:
            continue
        middle, q = _middle(shares, first, end)
        if low == high:
            edges[first:end] = places[max(low, 1) - 1]
            continue
        distance = np.abs(q.denominator * (at_most[low:high] - below) - q.numerator * inside)
        index = low + exponential(-distance, exponent / q.denominator, rng=rng)
        edges[middle] = places[index]
        lower = int(at_most[index]) - below
        level.append((first, middle, low, index, below, lower))
        level.append((middle + 1, end, index + 1, high, below + lower, inside - lower))
    return edges


def quantiles_cost(shares: Any, neighbors: str = "replace") -> tuple[Any, ...]:
    """Return the cost of `quantiles` at exponent 1: P of pure DP and Z of zCDP, both exact.

    Parameters
    ----------
    shares : as in `quantiles`
    neighbors : {"replace", "add-remove"}

    Returns
    -------
    tuple of Fraction
        The edges are ``exponent * P``-DP, and ``exponent**2 * Z``-zCDP.
    """
    check_neighbors(neighbors)
    shares = _shares(shares)
    pure = rho = Fraction(0)
    level = [(0, len(shares))]
    while level:
        draws = [(first, end, *_middle(shares, first, end)) for first, end in level]
        width = 2 * max(max(q, 1 - q) for *_, q in draws)
        if neighbors == "add-remove":
            level_pure, level_rho = width, width**2 / 8
        else:
            touched = min(2, len(draws))
            level_pure, level_rho = max(2, touched * width), max(Fraction(4, 8), touched * width**2 / 8)
        pure, rho = pure + level_pure, rho + level_rho
        halves = [half for first, end, middle, _ in draws for half in ((first, middle), (middle + 1, end))]
        level = [(first, end) for first, end in halves if first < end]
    return pure, rho


def _middle(shares, first, end):
    """Return the first edge to draw of a range of edges, and the share of the interval's rows below it.

    The share is rounded to a fraction by which 64-bit integers can multiply rows. The cost of a draw is computed from
    the rounded share, which depends on `shares` alone.
    """
    middle = (first + end) // 2
    low = shares[first - 1] if first else Fraction(0)
    high = shares[end] if end < len(shares) else Fraction(1)
    return middle, ((shares[middle] - low) / (high - low)).limit_denominator(_FINEST)


def _count_at_most(values, grid):
    """Return how many numbers are at most each candidate, followed by how many there are, and the candidates."""
    values, grid = np.asarray(values, np.float64), np.asarray(grid, np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise ValueError(f"values must be numbers of shape (n,), without NaN, got shape {values.shape}")
    if grid.ndim != 1 or not grid.size or not np.isfinite(grid).all() or not (np.diff(grid) > 0).all():
        raise ValueError(f"grid must be finite numbers of shape (g,) that rise, got shape {grid.shape}")
    return np.bincount(np.searchsorted(grid, values), minlength=len(grid) + 1).cumsum(), grid


def _shares(shares):
    if isinstance(shares, int | np.integer) and not isinstance(shares, bool):
        if shares < 2:
            raise ValueError(f"there must be at least 2 bins, got {shares}")
        return [Fraction(i, int(shares)) for i in range(1, int(shares))]
    shares = [Fraction(share) for share in shares]
    ends = [Fraction(0), *shares, Fraction(1)]
    if not shares or any(not low < high for low, high in pairwise(ends)):
        raise ValueError(f"shares must be a number of bins, or rise in (0, 1), got {[*map(str, shares)]}")
    if max(share.denominator for share in shares) > 1 << 16:
        raise ValueError("shares must be fractions with denominators of at most 65536")
    return shares


def _exponent(exponent):
    exponent = Fraction(exponent)
    if not exponent > 0:
        raise ValueError(f"exponent must be a number above 0, got {float(exponent)}")
    return exponent

"""Noisy sums of weighted rows in which every row has a budget of its own."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.accounting.checks import count
from dpfast.accounting.individual import individual_sigma

from .noise import discrete_gaussian
from .sole import Sole, told

_LARGEST = 1 << 12  # of a weight, so that sums fit


class IndividualSums:
    """Noisy sums of integer rows, by weights that follow from a row and earlier sums; a row that has spent is left out.

    **Privacy.** All sums together, `releases` of them at most, are (epsilon, delta)-DP for `neighbors`, whatever the
    weights, **if the weights of a row are a function of that row and of what was released alone**. A row is in a sum if
    its squared weights, this one's included, add up to `squares` at most: sums move by no more than sqrt(squares) times
    the largest norm of a row, in Euclidean norm over all releases, twice that under "replace". Theorem and proof:
    `dpfast.accounting.individual` (Feldman and Zrnic, 2021). Who was left out is private, and not released. What rows
    have spent is told once: sums are neither copied nor pickled, and only the process that made them releases them, one
    at a time.

    Parameters
    ----------
    rows : ndarray of int, shape (n, d), or an object with `shape`, `reach` and `weighted_sum`
        Integers whose norms are at most `reach`; such as `dpfast.tables.unit_rows.unit_rows` makes.
    squares : int, >= 1
        What the squared weights of a row may add up to.
    releases : int, >= 1
        How many sums there may be.
    epsilon, delta : real
    columns : int, default=1
        Weights that a row has in a sum: a sum is of shape (d,), or (d, columns) for more than one.
    reach : int, optional
        The largest norm of a row: public. Needed for an array.
    neighbors : {"replace", "add-remove"}, default="replace"
    random_state : None, int or numpy.random.Generator

    Attributes
    ----------
    sigma : float
        Of the noise on each coordinate, in steps of the rows' grid.
    cost : tuple of dpfast.accounting.Cost
        Of all sums together.
    left : int
        Sums that may still be asked for.

    Raises
    ------
    ValueError
        Before anything is drawn: for a row beyond `reach`, and for what is not an integer.

    Notes
    -----
    A sum costs one pass over the rows, and 8 bytes a row are kept.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[3, 4], [0, 5], [-5, 0]])
    >>> sums = IndividualSums(rows, squares=2, releases=10, epsilon=1.0, delta=1e-6, reach=5, random_state=0)
    >>> sums.release([1, 0, 1]).shape, sums.left
    ((2,), 9)
    """

    def __init__(
        self,
        rows: Any,
        *,
        squares: int,
        releases: int,
        epsilon: float | Fraction,
        delta: float | Fraction,
        columns: int = 1,
        reach: int | None = None,
        neighbors: str = "replace",
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        if not hasattr(rows, "weighted_sum"):
            rows = _Rows(rows, count("reach", reach, or_else="given for an array: "))
        self._rows, self._squares, self._columns = rows, count("squares", squares), count("columns", columns)
        n, d = rows.shape
        asked = {"squares": squares, "reach": rows.reach, "neighbors": neighbors}
        noise = individual_sigma(epsilon, delta, **asked, releases=releases, size=d * columns)
        self._sigma, self._cost, self._left = noise.sigma, noise.cost, int(releases)
        self._spent, self._rng = np.zeros(n, np.int64), random.generator(random_state)
        self._sole = Sole("a run of sums")

    sigma = told("_sigma")
    cost = told("_cost")
    left = told("_left")

    def release(self, weights: ArrayLike) -> np.ndarray:
        """Release the noisy sum of the rows by these weights, without the rows that have spent what they may.

        Parameters
        ----------
        weights : array_like of int, shape (n,) or (n, columns)
            From -4096 to 4096. The weight of a row is a function of that row and of earlier sums.

        Returns
        -------
        ndarray of int64, shape (d,) or (d, columns)

        Raises
        ------
        ValueError
            Before anything is drawn or counted; also if no sum is left.
        RuntimeError
            In a thread while another is at it, and in another process than the one that made this.
        """
        with self._sole.used():
            return self._release(np.asarray(weights))

    def _release(self, weights):
        n, d = self._rows.shape
        if weights.dtype.kind not in "iub" or weights.reshape(len(weights), -1).shape != (n, self._columns):
            wanted = f"integers of shape {(n, self._columns)}"
            raise ValueError(f"weights must be {wanted}, got {weights.dtype} of shape {weights.shape}")
        if ((weights < -_LARGEST) | (weights > _LARGEST)).any():  # the size of the least integer of a type is negative
            raise ValueError(f"weights must be from {-_LARGEST} to {_LARGEST}")
        if self._left < 1:
            raise ValueError("no sum is left: all that `releases` allows were made")
        weights = weights.astype(np.int32).reshape(n, self._columns)
        asked = np.square(weights, dtype=np.int64).sum(axis=1)
        fits = self._spent + asked <= self._squares
        total = self._rows.weighted_sum(weights * fits[:, np.newaxis])
        self._left -= 1
        self._spent += asked * fits
        noisy = discrete_gaussian(total, self._sigma, rng=self._rng)
        return noisy if self._columns > 1 else noisy.reshape(d)

    def __reduce__(self):
        raise TypeError("IndividualSums holds rows and what they have spent, which are private: not copied or pickled")


class _Rows:
    """An array of integers as rows that can be summed."""

    def __init__(self, rows, reach):
        rows = np.asarray(rows)
        if rows.dtype.kind not in "iub" or rows.ndim != 2 or 0 in rows.shape:
            raise ValueError(f"rows must be integers of shape (n, d), got {rows.dtype} of shape {rows.shape}")
        if len(rows) * reach * _LARGEST >= 1 << 63:
            raise ValueError(f"sums of {len(rows)} rows of norm up to {reach} must fit into 64 bits")
        if max((rows.astype(object) ** 2).sum(axis=1)) > reach**2:
            raise ValueError(f"rows must have norm at most reach = {reach}")
        self._rows, self.reach, self.shape = rows.astype(np.int64), reach, rows.shape

    def weighted_sum(self, weights):
        return self._rows.T @ weights.astype(np.int64)

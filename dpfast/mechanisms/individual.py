"""Noisy sums of weighted rows with an individual budget for every row."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.accounting.checks import count
from dpfast.accounting.individual import individual_sigma

from .noise import discrete_gaussian
from .sole import Sole, told

_LARGEST = 1 << 12  # of a weight, so that sums fit into 64 bits


class IndividualSums:
    """Release noisy sums of weighted integer rows; a row is left out once its own budget is spent.

    **Privacy.** All sums together, at most `releases` of them, are (epsilon, delta)-DP for `neighbors`, for any
    weights, **if the weights of a row are a function of that row and of earlier releases alone**. A row enters a sum if
    its squared weights, including the current ones, add up to at most `squares`. So sums change by at most
    sqrt(squares) times the largest norm of a row, in Euclidean norm over all releases, and by twice that under
    "replace". `dpfast.accounting.individual` gives theorem and proof (Feldman and Zrnic, 2021). The set of excluded
    rows is private and not released. To count every expense once, the object can be neither copied nor pickled, and
    only the process that created it releases sums, one at a time.

    Parameters
    ----------
    rows : ndarray of int, shape (n, d), or an object with `shape`, `reach` and `weighted_sum`
        Integers whose norms are at most `reach`, such as the result of `dpfast.tables.unit_rows.unit_rows`.
    squares : int, >= 1
        The largest sum of squared weights of a row.
    releases : int, >= 1
        The largest number of sums.
    epsilon, delta : real
    columns : int, default=1
        The number of weights of a row in a sum: a sum has shape (d,), or (d, columns) for more than one.
    reach : int, optional
        The largest norm of a row; public. Required for an array.
    neighbors : {"replace", "add-remove"}, default="replace"
    random_state : None, int or numpy.random.Generator

    Attributes
    ----------
    sigma : float
        The standard deviation of the noise on each coordinate, in grid steps of the rows.
    cost : tuple of dpfast.accounting.Cost
        The cost of all sums together.
    left : int
        The number of sums left.

    Raises
    ------
    ValueError
        Before anything is drawn: if a row exceeds `reach`, or a value is not an integer.

    Notes
    -----
    A sum takes one pass over the rows; 8 bytes per row are kept.

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
        """Release the noisy sum of the rows by these weights, without the rows whose budget is spent.

        Parameters
        ----------
        weights : array_like of int, shape (n,) or (n, columns)
            Integers from -4096 to 4096. The weight of a row is a function of that row and of earlier sums.

        Returns
        -------
        ndarray of int64, shape (d,) or (d, columns)

        Raises
        ------
        ValueError
            Before anything is drawn or counted; also if no sum is left.
        RuntimeError
            While another thread uses this object, and in a process other than the one that created it.
        """
        with self._sole.used():
            return self._release(np.asarray(weights))

    def _release(self, weights):
        n, d = self._rows.shape
        if weights.dtype.kind not in "iub" or weights.reshape(len(weights), -1).shape != (n, self._columns):
            wanted = f"integers of shape {(n, self._columns)}"
            raise ValueError(f"weights must be {wanted}, got {weights.dtype} of shape {weights.shape}")
        if ((weights < -_LARGEST) | (weights > _LARGEST)).any():  # abs() of the least integer overflows
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

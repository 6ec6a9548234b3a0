"""Oracle that answers statistical queries privately; it makes an SQ algorithm private."""

import math
import threading
from collections.abc import Callable, Iterable
from dataclasses import MISSING, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import special

from dpfast.accounting import (
    Budget,
    BudgetExceeded,
    Cost,
    PrivacySpend,
    Release,
    discrete_gaussian_sigma,
    laplace_scale,
)
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.claims.noise import LARGEST_SCALE
from dpfast.accounting.claims.spend import warn_of_claim
from dpfast.accounting.curves.zcdp import SLACK
from dpfast.accounting.papers.new_rows import query_deviation
from dpfast.base.parameters import BETWEEN_0_AND_1, choice, count, described, estimator, parameter, real
from dpfast.base.plan import Plan, Proved, Task
from dpfast.kernels.grid import unit_sum
from dpfast.learners.experts.prepaid import Prepaid
from dpfast.mechanisms.draws import read_only
from dpfast.parts.blocks import slices
from dpfast.parts.marks import AsRead
from dpfast.tables.arrays import parts_of

_GRID_BITS = 20
_BLOCK = 1 << 16  # rows per call of a query


@estimator
class StatisticalQueryOracle(Prepaid):
    """Answer statistical queries, the means over the rows of functions into [0, 1], with exact discrete noise.

    **Privacy.** All answers together are (epsilon, delta)-DP for the relation `neighbors`. The values of a query are
    rounded to multiples of 2**-20 and summed as integers, so that replacing or adding one row changes the sum by at
    most 2**20 of these units. Each sum gets discrete noise, and the `n_queries` releases compose:
    `discrete_gaussian_sigma`, `laplace_scale`. Queries may depend on earlier answers. A query must give each row a
    value that depends on that row alone, and not, for example, on the mean of the rows it receives. Under "add-remove"
    one further release, drawn at once, is a noisy number of rows by which all answers are divided.

    A query is counted before it is called, and therefore also if it fails, if it asks another query, and in threads; it
    is refused in a process other than the oracle's. Values outside [0, 1] are clipped and NaN counts as 0, without a
    warning, as their presence is private. A query runs where the rows are and could copy them elsewhere: there is no
    protection against a malicious author, and exceptions of a query are shown to the owner of the rows.

    Parameters
    ----------
    data : table, or tuple of tables
        Tables that can be sliced by rows: arrays, DataFrames, CSR matrices, BitMatrix; for example (X, y).
        Alternatively, a collection of Dask, or two of them with rows and labels; queries are then called on the
        workers, where they must be importable.
    delta : float, default=1e-6
        0 is pure differential privacy and needs Laplace noise.
    n_queries : int
        The number K of answers that are paid for.
    noise : {"discrete-gaussian", "discrete-laplace"}, default="discrete-gaussian"

    Attributes
    ----------
    noise_scale_ : float
        sigma of the Gaussian noise, or scale of the Laplace noise, on a sum of values in [0, 1].
    n_rows_ : int or float
        The divisor of sums: the number of rows, or the noisy number, at least 1.
    answered_ : int

    Notes
    -----
    A query is called on blocks of at most 65,536 rows. Answers are not clipped to [0, 1].

    References
    ----------
    C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014, section 11.1.
    A. Blum, C. Dwork, F. McSherry, K. Nissim, Practical Privacy: the SuLQ Framework, PODS 2005.
    C. Canonne, G. Kamath, T. Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020.
    M. Kearns, Efficient Noise-Tolerant Learning from Statistical Queries, Journal of the ACM 45, 1998.

    Examples
    --------
    Learn the conjunction of the variables that are hardly ever 0 in a positive example [Kearns]:

    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 8)) < 0.7
    >>> y = X[:, 2] & X[:, 5]
    >>> oracle = StatisticalQueryOracle((X, y), 1.0, 1e-6, n_queries=8, random_state=0)
    >>> answers = oracle.answer_all(lambda X, y, j=j: y & ~X[:, j] for j in range(8))
    >>> np.flatnonzero(answers <= oracle.tolerance(0.01)).tolist()
    [2, 5]
    >>> print(oracle.privacy_)
    (1.0, 1e-06)-DP, replace one row; 8 of 8 releases used; drawn with a seed: reproducible, not private
    """

    delta: float = field(default=1e-6, kw_only=False, metadata=described(real(0, 1, "[)")))
    n_queries: int = parameter(MISSING, count(1))
    noise: str = parameter("discrete-gaussian", choice("discrete-gaussian", "discrete-laplace"))

    def __init__(
        self,
        data: Any,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        *,
        n_queries: int,
        noise: str = "discrete-gaussian",
        neighbors: str = "replace",
        budget: Budget | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.epsilon, self.delta, self.n_queries, self.noise = epsilon, delta, n_queries, noise
        self.neighbors, self.budget, self.random_state = neighbors, budget, random_state
        p = self._read_parameters()
        self._parts = parts_of(*(data if isinstance(data, tuple) else (data,))).map(AsRead)
        n = sum(self._parts.each(_size))
        if not n:
            raise ValueError("the tables of data must have at least 1 row, they have none")
        public = n if p.neighbors == "replace" else None
        self._run = self._start(public)
        warn_of_claim(p.epsilon, p.delta, public)
        self._charge()
        self._counting, self._answered = threading.Lock(), 0
        self._scale = self._run.scale("queries")
        self._noise_scale = self._scale / (1 << _GRID_BITS)
        self._counted = n
        if public is None:
            self._counted = max(1.0, int(self._run.release("counts", n << _GRID_BITS)) / (1 << _GRID_BITS))

    def plan(self, task: Task) -> Plan:
        p = self._terms  # the attributes may have been edited since
        if p.noise == "discrete-gaussian" and not task.delta:
            raise ValueError('delta = 0 needs noise="discrete-laplace"')
        releases = p.n_queries + (task.neighbors == "add-remove")
        query: dict[str, Any] = {"sensitivity": 1 << _GRID_BITS, "releases": releases}
        if p.noise == "discrete-gaussian":
            scale = discrete_gaussian_sigma(task.epsilon, task.delta, **query)
            cost = discrete_gaussian_cost(scale, **query, size=1)
        else:
            scale = laplace_scale(task.epsilon, task.delta, **query)
            cost = (Cost("pure", (1 << _GRID_BITS) / scale * (1 + SLACK), times=releases),)
        if scale > LARGEST_SCALE:
            raise ValueError(f"the noise for {releases} releases at epsilon={task.epsilon!r} is too large to be drawn")
        mechanism = p.noise.removeprefix("discrete-")
        counts = {"counts": Proved(mechanism, scale)} if task.neighbors == "add-remove" else {}
        return Plan(queries=Proved(mechanism, scale, cost, times=p.n_queries), **counts)

    noise_scale_ = read_only("_noise_scale")
    n_rows_ = read_only("_counted")
    answered_ = read_only("_answered")

    def answer(self, query: Callable[..., Any]) -> float:
        """Return the noisy mean of a query.

        Parameters
        ----------
        query : callable
            Maps a block of rows (of each table, in order) to values in [0, 1], shape (rows,). Booleans are 0 and 1.
            Arrays are read-only views; frames and sparse matrices are copies.

        Returns
        -------
        float

        Raises
        ------
        BudgetExceeded, RuntimeError
            If all queries have been answered; in a process other than the oracle's. The query is not called.
        ValueError
            If the query does not give one real number per row. The query has been counted.
        """
        return float(self.answer_all([query])[0])

    def answer_all(self, queries: Iterable[Callable[..., Any]]) -> np.ndarray:
        """Return the noisy means of several queries; all are evaluated before any noise is drawn.

        Parameters
        ----------
        queries : iterable of callables
            As in `answer`.

        Returns
        -------
        ndarray of float64, shape (n_queries,)
        """
        queries = list(queries)
        self._count(len(queries))  # before the first query runs
        if not queries:
            return np.zeros(0)
        sums = self._parts.sum(_sums, queries)
        self._access.check_process()  # a query may have forked
        with self._counting:
            noisy = self._run.release("queries", sums, times=len(queries)).tolist()
        return np.array([total / (1 << _GRID_BITS) / self._counted for total in noisy])

    def tolerance(self, failure: float = 0.05, *, population: bool = False) -> float:
        """Return a bound on the error of all `n_queries` answers together; it fails with probability at most `failure`.

        Parameters
        ----------
        failure : float in (0, 1)
        population : bool
            Whether the error is relative to the expectations of the distribution from which the rows are i.i.d. draws,
            and not to the means over the rows. This is valid for queries fixed before the rows are drawn.

        Returns
        -------
        float
            The bound for the noise and half a step of the grid. With `population` it includes the sampling error, and
            each of the two gets half of the failure probability (`dpfast.accounting.papers.new_rows`).
        """
        failure = BETWEEN_0_AND_1.read("failure", failure)
        if population:
            noise, rows = self.tolerance(failure / 2), self._counted
            if self._terms.neighbors == "add-remove":
                rows -= noise * rows  # the noise of the count is smaller, except if `noise` fails
            return noise + query_deviation(rows, self._terms.n_queries, failure / 2)
        counted = self._terms.neighbors == "add-remove"
        each = -math.expm1(math.log1p(-failure) / (self._terms.n_queries + counted))  # the noise terms are independent
        if self._terms.noise == "discrete-gaussian":  # P(|X| >= m): at most the continuous one's at m - 1 [CKS20, 25]
            most = math.ceil(-self._scale * special.ndtri(each / 2))
        else:  # P(|X| >= m) = 2 q^m / (1 + q)
            most = max(0, math.ceil(self._scale * math.log(2 / ((1 + math.exp(-1 / self._scale)) * each))) - 1)
        step = 1 << _GRID_BITS
        off = most / step / self._counted * (1 + 1e-12)  # of one noise term; "add-remove" has two
        return (1 + counted) * off + (1 + counted * off) / (2 * step)

    @property
    def privacy_(self) -> PrivacySpend:
        counts = [Release("counts", 1, 1)] if self._terms.neighbors == "add-remove" else []
        return self._claim(Release("queries", self.answered_, self._terms.n_queries), *counts)

    def _count(self, queries):
        """Count queries that are about to be called, or refuse them."""
        self._access.check_process()
        with self._counting:
            left = self._terms.n_queries - self._answered
            if queries > left:
                raise BudgetExceeded(
                    f"{queries} more do not fit: of n_queries={self._terms.n_queries}, {left} are left"
                )
            self._answered += queries

    def __repr__(self):
        return (
            f"StatisticalQueryOracle(epsilon={self.epsilon}, delta={self.delta}, n_queries={self.n_queries}, "
            f"noise={self.noise!r}, neighbors={self.neighbors!r}: {self.answered_} answered)"
        )


def _part(table, rows):
    """Return some rows for a query to read; writing to them does not change the table."""
    if hasattr(table, "iloc"):
        return table.iloc[rows].copy()
    part = table[rows]
    if sp.issparse(part):
        return part.copy()
    for view in (part, getattr(part, "rows", None)):  # the rows of a BitMatrix
        if isinstance(view, np.ndarray):
            view.setflags(write=False)
    return part


def _size(tables):
    sizes = {table.shape[0] if hasattr(table, "shape") else len(table) for table in tables if table is not None}
    if len(sizes) != 1:
        raise ValueError(f"the tables of data must have one number of rows, at least 1, got {sorted(sizes)}")
    return sizes.pop()


def _sums(tables, queries):
    """Return the sums of the values of queries over the rows of a part, in units of the grid: int64, one for each.

    All queries are asked of a block of rows before the next: it is read once, and in the caches for all but the first.
    """
    tables = [table for table in tables if table is not None]
    totals = [0] * len(queries)
    for rows in slices(_size(tables), _BLOCK):
        for k, query in enumerate(queries):
            values = np.asarray(query(*(_part(table, rows) for table in tables)))
            totals[k] += _sum(values, rows.stop - rows.start)
    return np.array(totals, np.int64)


def _sum(values, size):
    """Return the sum of the values of a query for a number of rows, in units of the grid."""
    if values.shape != (size,) or values.dtype.kind not in "biuf":
        raise ValueError("a query must give one real number for each row that it is shown, shape (rows,)")
    if values.dtype == bool:
        return int(np.count_nonzero(values)) << _GRID_BITS
    if values.dtype not in (np.float32, np.float64):
        with np.errstate(over="ignore"):
            values = values.astype(np.float64)
    return unit_sum(values, _GRID_BITS)

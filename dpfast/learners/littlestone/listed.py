"""Arbitrary finite classes, as tables of bits."""

import math
import sys
from collections.abc import Sequence
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast.base.parameters import count
from dpfast.kernels import bits, classes

from .decomposition import Reduction, Schedule, grow
from .hypothesis_class import ClassCost, HypothesisClass, check_labels, counted
from .searches import BitTable, Search, SearchGivenUp, number


def _limit_recursion(search):
    """Decorate a search so that a recursion beyond Python's limit raises SearchGivenUp."""

    @wraps(search)
    def bounded(self, *arguments, **options):
        try:
            return search(self, *arguments, **options)
        except RecursionError:
            raise SearchGivenUp(
                f"the search in {self} needs trees deeper than Python's recursion limit, {sys.getrecursionlimit()}"
            ) from None

    return bounded


class FiniteClass(HypothesisClass):
    """Class whose functions are the rows of a table.

    Parameters
    ----------
    table : array_like of 0 and 1, shape (n_hypotheses, n_points)
        The entry in row h and column x is the label of hypothesis h at point x. Repeated rows are dropped.
    max_nodes : int, default=10**7
        Limit of the subclasses that one search (for a dimension, a depth, or essential functions) may visit. A search
        that needs more raises a ValueError. `estimate` returns a bound on this number.

    Attributes
    ----------
    table : ndarray of bool, shape (size, n_points)
        The members in the order given; read-only.

    Notes
    -----
    LDim is computed by a search in C over bit sets with a cache; the other searches are in Python
    (`dpfast.learners.littlestone.searches`). All are exponential in the worst case: finding the fewest points that
    reduce a class is a hitting set problem, which is hardest if p is slightly below that number.

    Examples
    --------
    >>> H = FiniteClass([[0, 0], [0, 1], [1, 1]])
    >>> H.littlestone_dimension(), H.restrict(0, 0).size, [H.soa(x) for x in (0, 1)]
    (1, 2, [0, 1])
    """

    def __init__(self, table: Any, *, max_nodes: int = 10**7) -> None:
        rows = _check_table(table)
        order = np.sort(np.unique(rows, axis=0, return_index=True)[1]) if len(rows) > 1 else np.arange(len(rows))
        self._shared = BitTable(rows[order].view(bool), count(1).read("max_nodes", max_nodes))
        self._members, self.size = self._shared.everyone, len(order)

    def _part(self, members, size):
        part = object.__new__(FiniteClass)
        part._shared, part._members, part.size = self._shared, members, size
        return part

    @property
    def n_points(self) -> int:  # type: ignore[override]  # that of the table
        return self._shared.table.shape[1]

    @property
    def table(self) -> np.ndarray:
        if self.size == len(self._shared.table):
            return self._shared.table
        part = self._shared.table[bits.nonzero(self._members)]
        part.flags.writeable = False
        return part

    def restrict(self, point: int, label: int) -> Any:
        point, label = int(self.check_points(point)), bool(check_labels(label))
        return self._part(*classes.restrict(self._shared.columns, self._members, point, label))

    def littlestone_dimension(self) -> int:
        return Search(self._shared).dimension(number(self._members))

    @_limit_recursion
    def reduction_depth(self, dimension: int, *, at_most: int | None = None) -> int | None:
        search = Search(self._shared, Reduction(count(0).read("dimension", dimension)))
        most = max(0, min(self.n_points, self.size - 1))
        for depth in range((most if at_most is None else min(most, at_most)) + 1):
            if search.valid(number(self._members), -depth):
                return depth
        return None

    def balls(self, points: ArrayLike, labels: ArrayLike, radii: Sequence[int]) -> Any:
        points, labels = self.check_points(points), check_labels(labels)
        distinct, rows, ones = counted(points, labels, self.n_points)
        errors = self._shared.table[:, distinct] @ (rows - 2 * ones) + ones.sum()
        inside = bits.unpack(self._members[None], len(errors))[0]
        for radius in radii:
            ball = inside & (errors <= radius)
            yield self._part(bits.pack(ball[None].view(np.uint8))[0], int(ball.sum()))

    def estimate(self) -> Any:
        bound = self.size.bit_length() - 1
        nodes = sum(math.comb(self.n_points, j) << j for j in range(max(1, min(bound - 1, self.n_points) + 1)))
        shared = self._shared
        size = shared.table.nbytes + shared.columns.nbytes + shared.memo.nbytes
        return ClassCost(self.size, bound, min(nodes, 1 << min(self.size, 4096)), size)

    def _root(self):
        whole = len(self._shared.table)
        return self if self.size == whole else self._part(self._shared.everyone, whole)

    def _alone(self):
        alone = self._part(self._members, self.size)
        alone._shared = self._shared.forgetful()
        return alone

    def _labels(self, code, points):
        if isinstance(code, bytes):
            return np.unpackbits(np.frombuffer(code, np.uint8), count=self.n_points)[points]
        return self._shared.table[code, points].view(np.uint8)

    def _describe(self, code):
        return "a function that is no member" if isinstance(code, bytes) else f"member {code}"

    def _member_codes(self):
        return bits.nonzero(self._members)

    def _is_member(self, code):
        return isinstance(code, int) and bool(number(self._members) >> code & 1)

    def _soa_code(self):
        return self._shared.code(Search(self._shared).soa(number(self._members)))

    @_limit_recursion
    def _degree(self, p, d):
        if self.size < 2:
            return self.size - 1
        most = min(self.n_points, self.size - 1)
        top = 0 if p >= most else self.littlestone_dimension()
        if p << (d - top) >= most:
            return 0
        return next(
            r for r in range(top + 1) if Search(self._shared, Schedule(p, d, r)).valid(number(self._members), 0)
        )

    @_limit_recursion
    def _tree(self, schedule, depth):
        search = Search(self._shared, schedule)
        return grow(self, lambda part, depth: search.question(number(part._members), depth), depth)

    @_limit_recursion
    def _essential_between(self, p, d, degree):
        sets = Search(self._shared, Schedule(p, d, degree)).essential(number(self._members))
        return [self._shared.code(labels) for labels in sets]

    def _key(self):
        return self._shared.table.shape, self._shared.table.tobytes(), self._members.tobytes()

    def _to_document(self):
        table = self._shared.table
        return {
            "table": [row.tobytes().hex() for row in np.packbits(table, axis=1)],
            "n_points": self.n_points,
            "members": None if self.size == len(table) else self._member_codes().tolist(),
            "max_nodes": self._shared.max_nodes,
        }

    @classmethod
    def _from_document(cls, saved):
        packed = np.array([list(bytes.fromhex(row)) for row in saved["table"]], np.uint8)
        if packed.shape[1] != -(-saved["n_points"] // 8):
            raise ValueError(f"rows of {saved['n_points']} points, {packed.shape[1]} bytes each")
        whole = cls(np.unpackbits(packed, axis=1, count=saved["n_points"]), max_nodes=saved["max_nodes"])
        if saved["members"] is None:
            return whole
        members = np.zeros(whole.size, np.uint8)
        members[saved["members"]] = 1
        return whole._part(bits.pack(members[np.newaxis])[0], int(members.sum()))

    def _has_code(self, code):
        if isinstance(code, bytes):
            return len(code) == -(-self.n_points // 8)
        return isinstance(code, int) and 0 <= code < len(self._shared.table)

    def __reduce__(self):  # without the cache of searches, which may contain private subclasses
        return _restore, (self._shared.table, self._shared.max_nodes, self._members, self.size)

    def __repr__(self):
        return f"FiniteClass({self.size} hypotheses on {self.n_points} points)"


def littlestone_dimension(table: Any) -> int:
    """Return the Littlestone dimension of the class whose members are the rows of a table; rows may repeat.

    Parameters
    ----------
    table : array_like of 0 and 1, shape (n_hypotheses, n_points)

    Returns
    -------
    int
        At most log2 of the number of distinct rows.

    References
    ----------
    N. Littlestone, Learning Quickly When Irrelevant Attributes Abound, Machine Learning 2, 1988.

    Examples
    --------
    >>> littlestone_dimension([[0, 0], [0, 1], [1, 0], [1, 1]])
    2
    """
    return FiniteClass(table).littlestone_dimension()


def _check_table(table):
    """Return the table as uint8 of shape (n_hypotheses, n_points)."""
    if not isinstance(table, np.ndarray):
        table = [np.asarray(row) for row in table]
        lengths = sorted({row.size for row in table})
        if len(lengths) > 1:
            raise ValueError(f"all hypotheses must speak about the same points, got rows of lengths {lengths}")
        table = np.array(table)
    if table.ndim != 2 or 0 in table.shape:
        empty = "the class is empty: " if table.size == 0 else ""
        raise ValueError(
            f"{empty}a table must have shape (n_hypotheses, n_points), at least one of each, got shape {table.shape}"
        )
    if table.dtype.kind not in "iubf":
        raise ValueError(f"entries of a table must be 0 or 1, got {table.dtype}")
    if (wrong := table[(table != 0) & (table != 1)]).size:
        raise ValueError(f"entries of a table must be 0 or 1, got {wrong[0]}")
    return np.ascontiguousarray(table.astype(np.uint8))


def _restore(table, max_nodes, members, size):
    whole = object.__new__(FiniteClass)
    whole._shared = BitTable(np.array(table), max_nodes)
    whole._members, whole.size = members, size
    return whole

"""Any finite class, as a table of bits."""

import math
import sys
import threading
from functools import wraps

import numpy as np

from dpfast.kernels import bits, classes

from .hypothesis_class import ClassCost, HypothesisClass, _count, check_labels

_KEPT = 1 << 18  # answers remembered


def _bounded(search):
    """A search that may look at max_nodes subclasses, and go as deep as Python does."""

    @wraps(search)
    def bounded(self, *arguments, **options):
        self._shared.begin()
        try:
            return search(self, *arguments, **options)
        except RecursionError:
            raise ValueError(
                f"the search in {self} needs trees deeper than Python's recursion limit, {sys.getrecursionlimit()}"
            ) from None

    return bounded


class FiniteClass(HypothesisClass):
    """The functions that are the rows of a table.

    Parameters
    ----------
    table : array_like of 0 and 1, shape (n_hypotheses, n_points)
        Row h says at column x what hypothesis h says at point x. A row that is there already is left out: a class is a
        set.
    max_nodes : int, default=10**7
        Subclasses that one search (for a dimension, a depth, or what is essential) may look at; one that needs more is
        given up with a ValueError that says so. `estimate` tells what it may come to.

    Attributes
    ----------
    table : ndarray of bool, shape (size, n_points)
        The members, in the order given; read-only.

    Notes
    -----
    LDim is a search in C over bit sets, with memo: about a millisecond for 512 random hypotheses on 64 points. The
    other questions are searches of the same kind in Python. All are exponential in LDim in the worst case.

    Examples
    --------
    >>> H = FiniteClass([[0, 0], [0, 1], [1, 1]])
    >>> H.littlestone_dimension(), H.restrict(0, 0).size, [H.soa(x) for x in (0, 1)]
    (1, 2, [0, 1])
    """

    def __init__(self, table, *, max_nodes=10**7):
        rows = _checked(table)
        kept = np.sort(np.unique(rows, axis=0, return_index=True)[1]) if len(rows) > 1 else np.arange(len(rows))
        self._shared = _Table(rows[kept].view(bool), _count("max_nodes", max_nodes, 1))
        self._members, self.size = self._shared.everyone, len(kept)

    def _part(self, members, size):
        part = object.__new__(FiniteClass)
        part._shared, part._members, part.size = self._shared, members, size
        return part

    @property
    def n_points(self):
        return self._shared.table.shape[1]

    @property
    def table(self):
        if self.size == len(self._shared.table):
            return self._shared.table
        part = self._shared.table[bits.nonzero(self._members)]
        part.flags.writeable = False
        return part

    def restrict(self, point, label):
        point, label = int(self.check_points(point)), bool(check_labels(label))
        return self._part(*classes.restrict(self._shared.columns, self._members, point, label))

    def littlestone_dimension(self):
        return self._shared.dimension(self._members)

    @_bounded
    def reduction_depth(self, dimension, *, at_most=None):
        r, top = _count("dimension", dimension, 0), self.littlestone_dimension()
        most = max(0, min(self.n_points, self.size - 1))
        for depth in range(max(0, top - r), (most if at_most is None else min(most, at_most)) + 1):
            if self._shared.reaches(self._members, r, depth):
                return depth
        return None

    def balls(self, points, labels, radii):
        points, labels = self.check_points(points), check_labels(labels)
        seen, which = np.unique(points, return_inverse=True)
        ones = np.bincount(which, weights=labels, minlength=len(seen)).astype(np.int64)
        step = np.bincount(which, minlength=len(seen)) - 2 * ones  # what saying 1 there adds
        errors = self._shared.table[:, seen] @ step + ones.sum()
        inside = bits.unpack(self._members[None], len(errors))[0]
        for radius in radii:
            chosen = inside & (errors <= radius)
            yield self._part(bits.pack(chosen[None].view(np.uint8))[0], int(chosen.sum()))

    def estimate(self):
        bound = self.size.bit_length() - 1
        nodes = sum(math.comb(self.n_points, j) << j for j in range(max(1, min(bound - 1, self.n_points) + 1)))
        shared = self._shared
        kept = shared.table.nbytes + shared.columns.nbytes + shared.memo.nbytes
        return ClassCost(self.size, bound, min(nodes, 1 << min(self.size, 4096)), kept)

    def _root(self):
        whole = len(self._shared.table)
        return self if self.size == whole else self._part(self._shared.everyone, whole)

    def _labels(self, code, points):
        if isinstance(code, bytes):
            return np.unpackbits(np.frombuffer(code, np.uint8), count=self.n_points)[points]
        return self._shared.table[code, points].view(np.uint8)

    def _describe(self, code):
        return "a function that is no member" if isinstance(code, bytes) else f"member {code}"

    def _member_codes(self):
        return bits.nonzero(self._members)

    def _soa_code(self):
        return self._shared.code([self.soa(x) for x in range(self.n_points)])

    def _question(self, dimension, depth):
        return self._shared.reaches(self._members, dimension, depth) - 1

    @_bounded
    def _essential_between(self, p, d, degree):
        found = self._essential(degree, p, p * ((1 << (d - degree)) - 1), {})
        return sorted(found, key=str)

    def _essential(self, r, p, k, memo):
        """E(H, k) of the theory: a set of codes, None for all functions."""
        top = self.littlestone_dimension()
        if top < r:
            return frozenset()
        if top == r:
            reducible = self._shared.reaches(self._members, r - 1, k + p)
            return frozenset() if reducible else frozenset([self._soa_code()])
        if not self._shared.reaches(self._members, r, k):
            return None
        key = self._members.tobytes(), k
        if key not in memo:
            self._shared.spend()
            common = None
            for x in self._shared.splits(self._members, self.size):
                parts = [self.restrict(x, label)._essential(r, p, k - 1, memo) for label in (0, 1)]
                if None not in parts:
                    either = parts[0] | parts[1]
                    common = either if common is None else common & either
                    if not common:
                        break
            memo[key] = common
        return memo[key]

    def _key(self):
        return self._shared.table.shape, self._shared.table.tobytes(), self._members.tobytes()

    def _saved(self):
        table = self._shared.table
        return {
            "table": [row.tobytes().hex() for row in np.packbits(table, axis=1)],
            "n_points": self.n_points,
            "members": None if self.size == len(table) else self._member_codes().tolist(),
            "max_nodes": self._shared.max_nodes,
        }

    @classmethod
    def _from_saved(cls, saved):
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

    def __reduce__(self):  # without what searches remember, which may be of private subclasses
        return _restored, (self._shared.table, self._shared.max_nodes, self._members, self.size)

    def __repr__(self):
        return f"FiniteClass({self.size} hypotheses on {self.n_points} points)"


class _Table:
    """What a class and its restrictions share: the bits, and what searches remember."""

    def __init__(self, table, max_nodes):
        table.flags.writeable = False
        self.table, self.max_nodes = table, max_nodes
        self.columns = bits.pack(np.ascontiguousarray(table.T).view(np.uint8))
        self.everyone = bits.pack(np.ones((1, len(table)), np.uint8))[0]
        self.memo = classes.memo(len(self.everyone))
        self.lock = threading.RLock()
        self.dimensions, self.depths, self.codes, self.left = {}, {}, None, max_nodes

    def begin(self):
        """A search starts: it may look at max_nodes subclasses."""
        self.left = self.max_nodes
        if len(self.depths) >= _KEPT:
            self.depths.clear()

    def spend(self):
        self.left -= 1
        if self.left < 0:
            self._give_up()

    def _give_up(self):
        raise ValueError(
            f"the search looked at max_nodes={self.max_nodes:,} subclasses of a class of {len(self.table)} hypotheses "
            f"on {self.table.shape[1]} points without an answer: raise max_nodes, see estimate()"
        )

    def dimension(self, members):
        key = members.tobytes()
        if key not in self.dimensions:
            with self.lock:
                found, _ = classes.dimension(self.columns, members, self.memo, self.max_nodes)
            if found is None:
                self._give_up()
            if len(self.dimensions) >= _KEPT:
                self.dimensions.clear()
            self.dimensions[key] = found
        return self.dimensions[key]

    def splits(self, members, size):
        """Points at which members differ, the most even first."""
        ones = classes.counts(self.columns, members).astype(np.int64)
        smaller = np.minimum(ones, size - ones)
        order = np.argsort(-smaller, kind="stable")
        return order[: np.count_nonzero(smaller)].tolist()

    def reaches(self, members, r, k):
        """0 if no tree of depth k has leaves of LDim at most r only, else 1 + a point that one begins with.

        A tree that separates m members has m leaves, and at most sum_{i <= LDim} C(k, i) (Lemma 4.2).
        """
        top = self.dimension(members)
        if top <= r:
            return 1
        if top - r > k:
            return 0
        size = bits.popcount(members)
        if r == 0 and sum(math.comb(k, i) for i in range(top + 1)) < size:
            return 0
        key = members.tobytes(), r
        low, high, point = self.depths.get(key, (0, math.inf, 0))  # not reached below low, reached from high on
        if k >= high:
            return 1 + point
        if k < low:
            return 0
        for x in self.splits(members, size):
            self.spend()
            parts = [classes.restrict(self.columns, members, x, label)[0] for label in (False, True)]
            if all(self.dimension(part) - r <= k - 1 for part in parts) and all(
                self.reaches(part, r, k - 1) for part in parts
            ):
                low, high, point = self.depths.get(key, (0, math.inf, 0))
                self.depths[key] = low, k, x
                return 1 + x
        low, high, point = self.depths.get(key, (0, math.inf, 0))
        self.depths[key] = max(low, k + 1), high, point
        return 0

    def code(self, labels):
        """The code of a function: a member's number, or its packed bits."""
        if self.codes is None:
            self.codes = {row.tobytes(): h for h, row in enumerate(np.packbits(self.table, axis=1))}
        packed = np.packbits(np.array(labels, np.uint8)).tobytes()
        return self.codes.get(packed, packed)


def littlestone_dimension(table):
    """Littlestone dimension of the class whose members are the rows of a table; rows may repeat.

    Parameters
    ----------
    table : array_like of 0 and 1, shape (n_hypotheses, n_points)

    Returns
    -------
    int
        At most log2 of the number of distinct rows.

    Raises
    ------
    ValueError
        For rows of different lengths, no rows, or entries that are not 0 or 1.

    Notes
    -----
    As `FiniteClass.littlestone_dimension`.

    References
    ----------
    N. Littlestone, Learning Quickly When Irrelevant Attributes Abound, Machine Learning 2, 1988.

    Examples
    --------
    >>> littlestone_dimension([[0, 0], [0, 1], [1, 0], [1, 1]])
    2
    """
    return FiniteClass(table).littlestone_dimension()


def _checked(table):
    """The table as uint8 of shape (n_hypotheses, n_points)."""
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
    if table.dtype.kind not in "iubf" or not ((table == 0) | (table == 1)).all():
        raise ValueError(f"entries of a table must be 0 or 1, got {_other(table)}")
    return np.ascontiguousarray(table.astype(np.uint8))


def _other(table):
    if table.dtype.kind not in "iubf":
        return table.dtype
    return table[(table != 0) & (table != 1)].flat[0]


def _restored(table, max_nodes, members, size):
    whole = object.__new__(FiniteClass)
    whole._shared = _Table(np.array(table), max_nodes)
    whole._members, whole.size = members, size
    return whole

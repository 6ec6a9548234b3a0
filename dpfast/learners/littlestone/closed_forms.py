"""Point functions and thresholds on any number of points, by closed forms instead of tables."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast.base.parameters import count

from .decomposition import Schedule, grow
from .hypothesis_class import ClassCost, HypothesisClass, check_labels, counted

_MOST_POINTS = 1 << 62
_ZERO = -1  # the code of the function 0


class _ClosedForm(HypothesisClass):
    """A class on N points that computes the points of its trees."""

    def __init__(self, n_points: int) -> None:
        self.n_points = count(1, _MOST_POINTS).read("n_points", n_points)

    def _root(self):
        return type(self)(self.n_points)

    def _tree(self, schedule, depth):
        return grow(self, lambda part, depth: part._question(schedule, depth), depth)

    def _question(self, schedule, depth):
        """Return the point that such a tree asks for at this depth, or None for a leaf."""
        top = self.littlestone_dimension()
        if top < 1 or (
            depth <= schedule.leaf(top) and self.reduction_depth(top - 1, at_most=schedule.irreducible(top)) is None
        ):
            return None
        return self._splitting_point()


class PointFunctions(_ClosedForm):
    """The N functions on N points that are 1 at one point and 0 elsewhere.

    Parameters
    ----------
    n_points : int
        The number N of points, in [1, 2**62].

    Notes
    -----
    A subclass is a set of points or the complement of a set. LDim is 1 if it has at least two members. A tree that
    separates m members asks for m - 1 points one after another, so the class is k-reducible iff k >= m - 1, and its (p,
    d)-decomposition dimension is 0 iff p (2^d - 1) >= m - 1. The SOA of at least two members is the function 0, which
    is not a member.

    Examples
    --------
    >>> points = PointFunctions(2**40)
    >>> points.littlestone_dimension(), points.soa(7), points.restrict(7, 1).soa(7)
    (1, 0, 1)
    """

    def __init__(self, n_points: int) -> None:
        super().__init__(n_points)
        self._points: frozenset[int] = frozenset()
        self._complement = True

    def _part(self, points, complement):
        part = object.__new__(PointFunctions)
        part.n_points, part._points, part._complement = self.n_points, frozenset(points), complement
        return part

    @property
    def size(self) -> int:  # type: ignore[override]  # computed, not stored
        return self.n_points - len(self._points) if self._complement else len(self._points)

    def _has(self, point):
        return (point in self._points) != self._complement

    def restrict(self, point: int, label: int) -> Any:
        point, label = int(self.check_points(point)), int(check_labels(label))
        if label:
            return self._part([point] if self._has(point) else [], False)
        if not self._has(point):
            return self
        return self._part(self._points ^ {point}, self._complement)

    def littlestone_dimension(self) -> int:
        return min(1, self.size - 1)

    def reduction_depth(self, dimension: int, *, at_most: int | None = None) -> int | None:
        depth = 0 if count(0).read("dimension", dimension) else max(0, self.size - 1)
        return depth if at_most is None or depth <= at_most else None

    def balls(self, points: ArrayLike, labels: ArrayLike, radii: Sequence[int]) -> Any:
        points, labels = self.check_points(points), np.asarray(check_labels(labels))
        distinct, rows, ones = counted(points, labels, self.n_points)
        gain = 2 * ones - rows
        needs = int(labels.sum()) - np.asarray(radii, np.int64)  # what a member must gain over the function 0
        for least in needs.tolist():
            if least > 0:
                yield self._part([x for x in distinct[gain >= least].tolist() if self._has(x)], False)
            elif self._complement:
                yield self._part(self._points.union(distinct[gain < least].tolist()), True)
            else:
                yield self._part(self._points.difference(distinct[gain < least].tolist()), False)

    def estimate(self) -> Any:
        return ClassCost(self.size, min(1, self.size - 1), 1, 64 * (1 + len(self._points)))

    def _labels(self, code, points):
        return (points == code).astype(np.uint8)

    def _describe(self, code):
        return "the function 0" if code == _ZERO else f"1 at point {code}"

    def _member_codes(self):
        if not self._complement:
            return np.array(sorted(self._points), np.int64)
        every = np.arange(self.n_points)
        return np.setdiff1d(every, np.fromiter(self._points, np.int64, len(self._points)), assume_unique=True)

    def _soa_code(self):
        if self.size > 1:
            return _ZERO
        return int(self._member_codes()[0]) if not self._complement else self._first()

    def _first(self):
        return next(x for x in range(len(self._points) + 1) if x not in self._points)

    def _is_member(self, code):
        return code != _ZERO and self._has(code)

    def _some_members(self, most):
        if not self._complement:
            return sorted(self._points)
        return list(islice((x for x in range(self.n_points) if x not in self._points), most))

    def _splitting_point(self):
        return min(self._points) if not self._complement else self._first()

    def _degree(self, p, d):
        return self.size - 1 if self.size < 2 else int(self.size - 1 > Schedule(p, d, 0).leaf(0))

    def _key(self):
        if self._complement and self.n_points == len(self._points):
            return self.n_points, frozenset(), False
        return self.n_points, self._points, self._complement

    def _to_document(self):
        return {"n_points": self.n_points, "points": sorted(self._points), "complement": self._complement}

    @classmethod
    def _from_document(cls, saved):
        whole = cls(saved["n_points"])
        points = whole.check_points(saved["points"]).tolist()
        return whole._part(points, bool(saved["complement"]))

    def _has_code(self, code):
        return isinstance(code, int) and _ZERO <= code < self.n_points

    def __repr__(self):
        part = "" if self.size == self.n_points else f", {self.size} of them"
        return f"PointFunctions({self.n_points}{part})"


class Thresholds(_ClosedForm):
    """The N + 1 functions on N points that are 0 below a threshold t and 1 from it on, t = 0, ..., N.

    Parameters
    ----------
    n_points : int
        The number N of points, in [1, 2**62].

    Notes
    -----
    A subclass is a union of intervals. Any m thresholds behave as a chain: LDim is floor(log2 m), SOA is one of the
    thresholds, and the least depth of a tree with leaves of LDim r is the least k with 2^k (2^(r+1) - 1) >= m. Halving
    is a valid tree of degree 0, except for three members at p = d = 1.

    Examples
    --------
    >>> thresholds = Thresholds(2**40)
    >>> thresholds.littlestone_dimension(), thresholds.restrict(1023, 1).littlestone_dimension()
    (40, 10)
    """

    def __init__(self, n_points: int) -> None:
        super().__init__(n_points)
        self._set(np.zeros(1, np.int64), np.full(1, self.n_points, np.int64))

    def _set(self, low, high):
        """Set the thresholds to increasing intervals [low, high]."""
        self._low, self._high = low, high
        self._below = np.concatenate([[0], np.cumsum(high - low + 1)])  # number of members below each interval

    def _part(self, low, high):
        part = object.__new__(Thresholds)
        part.n_points = self.n_points
        part._set(low, high)
        return part

    @property
    def size(self) -> int:  # type: ignore[override]  # computed, not stored
        return int(self._below[-1])

    def _at_most(self, t):
        """Return the number of members that are at most t."""
        i = int(np.searchsorted(self._low, t, side="right"))
        return 0 if i == 0 else int(self._below[i - 1] + min(t, self._high[i - 1]) - self._low[i - 1] + 1)

    def _member(self, rank):
        """Return member number `rank`, counted from 0."""
        i = int(np.searchsorted(self._below, rank, side="right")) - 1
        return int(self._low[i] + rank - self._below[i])

    def restrict(self, point: int, label: int) -> Any:
        point, label = int(self.check_points(point)), int(check_labels(label))
        if label:  # t <= point
            low, high = self._low, np.minimum(self._high, point)
        else:
            low, high = np.maximum(self._low, point + 1), self._high
        return self._part(low[low <= high], high[low <= high])

    def littlestone_dimension(self) -> int:
        return self.size.bit_length() - 1

    def soa(self, point: int) -> int:
        self._check_members()
        one = self._at_most(int(self.check_points(point)))
        return int(one.bit_length() > (self.size - one).bit_length())

    def reduction_depth(self, dimension: int, *, at_most: int | None = None) -> int | None:
        leaf = (2 << count(0).read("dimension", dimension)) - 1
        depth = max(0, -(-self.size // leaf) - 1).bit_length()
        return depth if at_most is None or depth <= at_most else None

    def balls(self, points: ArrayLike, labels: ArrayLike, radii: Sequence[int]) -> Any:
        points, labels = self.check_points(points), np.asarray(check_labels(labels))
        # Threshold t errs on the ones below it and the zeros from it on: constant between two neighbouring points.
        distinct, rows, ones = counted(points, labels, self.n_points)
        errors = np.concatenate([[0], np.cumsum(2 * ones - rows)]) + (len(labels) - int(labels.sum()))
        low, high = np.concatenate([[0], distinct + 1]), np.concatenate([distinct, [self.n_points]])
        for radius in radii:
            fine = errors <= radius
            first, last = np.flatnonzero(np.diff(fine.astype(np.int8), prepend=0, append=0)).reshape(-1, 2).T
            yield self._intersect(low[first], high[last - 1])

    def _intersect(self, low, high):
        """Return the members within increasing disjoint intervals."""
        if len(self._low) == 1:
            low, high = np.maximum(low, self._low[0]), np.minimum(high, self._high[0])
        else:
            lows, highs = np.maximum.outer(low, self._low), np.minimum.outer(high, self._high)
            low, high = lows[lows <= highs], highs[lows <= highs]
        return self._part(low[low <= high], high[low <= high])

    def estimate(self) -> Any:
        return ClassCost(self.size, self.size.bit_length() - 1, 1, 24 * len(self._low) + 8)

    def _labels(self, code, points):
        return (points >= code).astype(np.uint8)

    def _describe(self, code):
        return f"1 from point {code} on"

    def _member_codes(self):
        pieces = [np.arange(low, high + 1) for low, high in zip(self._low, self._high, strict=True)]
        return np.concatenate([np.empty(0, np.int64), *pieces])

    def _is_member(self, code):
        return self._at_most(code) > self._at_most(code - 1)

    def _soa_code(self):
        """Return the code of SOA; it is 1 where the members that say 1 outnumber the others in bits: monotone."""
        low, high = 1, self.size
        while low < high:
            a = (low + high) // 2
            low, high = (low, a) if a.bit_length() > (self.size - a).bit_length() else (a + 1, high)
        return self._member(low - 1)

    def _splitting_point(self):
        return self._member(-(-self.size // 2) - 1)  # the lower half says 1

    def _degree(self, p, d):
        # Halves have at most 2^(d + 1 - k) members after k questions, so LDim <= d + 1 - k, as N allows.
        return self.size - 1 if self.size < 2 else int((p, d, self.size) == (1, 1, 3))

    def _key(self):
        joined = np.flatnonzero(self._low[1:] == self._high[:-1] + 1)
        low, high = np.delete(self._low, joined + 1), np.delete(self._high, joined)
        return self.n_points, tuple(low.tolist()), tuple(high.tolist())

    def _to_document(self):
        return {"n_points": self.n_points, "low": self._low.tolist(), "high": self._high.tolist()}

    @classmethod
    def _from_document(cls, saved):
        low, high = np.array(saved["low"], np.int64), np.array(saved["high"], np.int64)
        whole = cls(saved["n_points"])
        inside = low.shape == high.shape and (low >= 0).all() and (high <= whole.n_points).all()
        if not (inside and (low <= high).all() and (high[:-1] < low[1:]).all()):
            raise ValueError(f"low and high must be rising intervals in [0, {whole.n_points}]")
        return whole._part(low, high)

    def _has_code(self, code):
        return isinstance(code, int) and 0 <= code <= self.n_points

    def __repr__(self):
        part = "" if self.size == self.n_points + 1 else f", {self.size} of {self.n_points + 1}"
        return f"Thresholds({self.n_points}{part})"

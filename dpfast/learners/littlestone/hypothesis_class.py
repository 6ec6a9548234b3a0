"""Base of hypothesis classes: restriction, Littlestone dimension, SOA, irreducibility, decomposition.

A class holds functions from points 0, ..., n_points - 1 to {0, 1}. `dpfast.learners.littlestone.decomposition` gives
the definitions, the theorems and the algorithms.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpfast.base.parameters import count

from .decomposition import Reduction, Schedule, most_leaves
from .hypothesis import Hypothesis
from .searches import SearchGivenUp


class ClassCost(NamedTuple):
    """Bounds on the work with a class, known before it starts.

    Attributes
    ----------
    hypotheses, dimension_bound : int
        The number of members of the class, and an upper bound of its Littlestone dimension.
    nodes, bytes : int
        The largest number of subclasses that a search may visit, and the memory that the class holds.
    """

    hypotheses: int
    dimension_bound: int
    nodes: int
    bytes: int


class HypothesisClass(ABC):
    """Immutable set of `size` functions from points 0, ..., `n_points` - 1 to labels 0 and 1.

    Learners identify a function of the root class, the class without any restriction, by a *code*, an int or bytes. A
    subclass defines, besides the abstract methods:

    - `_root()`: the root class
    - `_labels(code, points)`: uint8 labels of an int64 array of points
    - `_describe(code)`: a short description; `_has_code(code)`: whether a root class has this function
    - `_member_codes()`: the codes of all members; `_is_member(code)`: whether a code is one of them
    - `_soa_code()`: the code of SOA
    - `_degree(p, d)`: the (p, d)-decomposition dimension, for d >= LDim
    - `_tree(schedule, depth)`: a `Tree` that the schedule allows from this depth on, for an attainable degree
    - `_key()`: the value by which two classes of the same type are compared
    - `_to_document()`: the class as JSON values, and the class method `_from_document(saved)`, which reads them
    """

    _degree: Callable[[int, int], int]
    _tree: Callable[[Any, int], Any]
    _soa_code: Callable[[], Any]

    n_points: int
    size: int

    @abstractmethod
    def restrict(self, point, label):
        """Return the members that have this label at a point, as a class of the same type.

        Parameters
        ----------
        point : int
        label : {0, 1}

        Returns
        -------
        HypothesisClass
        """

    @abstractmethod
    def littlestone_dimension(self):
        """Return the Littlestone dimension of the class, -1 if it has no members.

        Returns
        -------
        int
        """

    @abstractmethod
    def reduction_depth(self, dimension, *, at_most=None):
        """Return the least depth of a tree on the class whose leaves all have at most this Littlestone dimension.

        Parameters
        ----------
        dimension : int, >= 0
        at_most : int, optional
            Stop the search beyond this depth.

        Returns
        -------
        int or None
            None if the depth exceeds `at_most`.
        """

    @abstractmethod
    def balls(self, points, labels, radii):
        """Yield, for each radius in order, the members that err on at most that many of the examples.

        Parameters
        ----------
        points : array_like of int, shape (n,)
        labels : array_like of 0 and 1, shape (n,)
        radii : sequence of int

        Yields
        ------
        HypothesisClass
        """

    @abstractmethod
    def estimate(self):
        """Return bounds on the work with the class.

        Returns
        -------
        ClassCost
        """

    def soa(self, point: int) -> int:
        """Return the label whose restriction at a point has the larger Littlestone dimension, 0 for ties.

        In a 1-irreducible class, where the theory needs it, this is the label defined in [Lyu]. A class without members
        is refused.

        Parameters
        ----------
        point : int

        Returns
        -------
        int
        """
        self._check_members()
        one, zero = (self.restrict(point, label).littlestone_dimension() for label in (1, 0))
        return int(one > zero)

    def soa_hypothesis(self) -> Any:
        """Return the SOA of the class, which need not be a member; refuse an empty class.

        Returns
        -------
        Hypothesis
        """
        self._check_members()
        return self._hypothesis(self._soa_code())

    def reducibility_witness(self, k: int) -> Any:
        """Return a tree that proves that the class is k-reducible (Definition 4.1), or None.

        On the longest path of the tree the labels of SOA reduce the class at every point.

        Parameters
        ----------
        k : int, >= 0

        Returns
        -------
        Tree or None
            A tree of depth at most `k` whose leaves all have a smaller Littlestone dimension than the class; None if
            the class is k-irreducible.
        """
        k, top = count(0).read("k", k), self.littlestone_dimension()
        depth = self.reduction_depth(top - 1, at_most=k) if top > 0 else None
        return None if depth is None else self._tree(Reduction(top - 1), -depth)

    def decomposition(self, p: int, d: int | None = None, *, max_leaves: int = 10**6) -> Any:
        """Return a valid (p, d)-decomposition tree of least degree (Definition 4.2), which is optimal.

        Parameters
        ----------
        p : int, >= 1
        d : int, optional
            A bound of at least the Littlestone dimension, which is the default; a smaller one is refused.
        max_leaves : int
            A tree that may have more leaves is refused.

        Returns
        -------
        Tree
            The tree, whose `degree` is the decomposition dimension.
        """
        p, d = self._check_parameters(p, d)
        self._check_members()
        schedule = Schedule(p, d, self._degree(p, d))
        if schedule.degree < self.littlestone_dimension():
            most = most_leaves(schedule.leaf(0), self.littlestone_dimension(), self.size)
            if most > max_leaves:
                raise ValueError(f"the tree may have {most:,} leaves, more than max_leaves={max_leaves:,}")
        return self._tree(schedule, 0)

    def decomposition_dimension(self, p: int, d: int | None = None) -> int:
        """Return the (p, d)-decomposition dimension (Definition 4.2), from 0 to LDim; -1 for a class without members.

        Parameters
        ----------
        p, d
            As in `decomposition`.

        Returns
        -------
        int
        """
        p, d = self._check_parameters(p, d)
        return self._degree(p, d)

    def essential_hypotheses(self, p: int, d: int | None = None, *, max_hypotheses: int = 10**6) -> Any:
        """Return the essential functions of the class (Definition 4.3).

        There may be none. There is at least one if 2 p gives the same dimension as p (Corollary 4.1).

        Parameters
        ----------
        p, d
            As in `decomposition`.
        max_hypotheses : int
            A larger number of functions is refused.

        Returns
        -------
        tuple of Hypothesis
        """
        p, d = self._check_parameters(p, d)
        if self._degree(p, d) == 0 and self.size > max_hypotheses:
            raise ValueError(
                f"there are {self.size:,} essential hypotheses, more than max_hypotheses={max_hypotheses:,}"
            )
        codes = self._essential_codes(p, d)
        codes = codes.tolist() if isinstance(codes, np.ndarray) else codes
        return tuple(map(self._hypothesis, codes))

    def list_bound(self, p: int, d: int | None = None) -> Any:
        """Return a bound on the number of essential hypotheses of the class and of any subclass, by Lemma 4.1.

        Parameters
        ----------
        p, d
            As in `decomposition`.

        Returns
        -------
        int
        """
        p, d = self._check_parameters(p, d)
        return most_leaves(Schedule(p, d, 0).leaf(0), min(d, self.estimate().dimension_bound), self.size)

    def check_points(self, points: ArrayLike) -> np.ndarray:
        """Return points as int64; refuse other values than integers in [0, n_points).

        Parameters
        ----------
        points : array_like of int

        Returns
        -------
        ndarray of int64, of the same shape
        """
        points = np.asarray(points)
        if points.dtype.kind not in "iu" and points.size:
            raise ValueError(f"points must be integers in [0, {self.n_points}), got {points.dtype}")
        if points.size and not 0 <= points.min() <= points.max() < self.n_points:
            wrong = points.min() if points.min() < 0 else points.max()
            raise ValueError(f"points must lie in [0, {self.n_points}), got {wrong}")
        return points.astype(np.int64)

    # ---- for the learners --------------------------------------------------------------------------------------------

    def _hypothesis(self, code):
        return Hypothesis(self._root(), code)

    def _private_codes(self, p, d, degree=None):
        """Return `_essential_codes` of a class that depends on rows; empty if the search reaches its limit.

        It is also empty if `degree` is given and differs from the decomposition dimension. The result is a function of
        the class and of public numbers alone: the search starts with an empty cache and leaves none behind. So whether
        the limit stops it reveals nothing about other classes, and the caller is not told.
        """
        try:
            alone = self._alone()
            return alone._essential_codes(p, d) if degree in (None, alone._degree(p, d)) else []
        except SearchGivenUp:
            return []

    def _alone(self):
        """Return the same class with a separate cache of searches."""
        return self

    def _some_members(self, most):
        """Return the codes of at least `most` members, or of all if there are fewer."""
        return self._member_codes().tolist()

    def _essential_between(self, p, d, degree):
        raise NotImplementedError  # degrees strictly between 0 and LDim are implemented for tables only

    def _essential_codes(self, p, d):
        """Return a sequence of codes, for a class of LDim at most d."""
        degree = self._degree(p, d)
        if degree <= 0:
            return self._member_codes()
        if degree == self.littlestone_dimension():
            return [self._soa_code()]
        return self._essential_between(p, d, degree)

    def _check_members(self):
        if self.size == 0:
            raise ValueError("the class has no members")

    def _check_parameters(self, p, d):
        p = count(1).read("p", p)
        if d is None:
            return p, max(0, self.littlestone_dimension())
        return p, self._check_declared(count(0).read("d", d))

    def _check_declared(self, d):
        if 1 << d < self.size and self.littlestone_dimension() > d:
            raise ValueError(
                f"the class has Littlestone dimension {self.littlestone_dimension()}, above the declared {d}"
            )
        return d

    def __len__(self):
        return self.size

    def __eq__(self, other):
        return self._key() == other._key() if type(self) is type(other) else NotImplemented

    def __hash__(self):
        return hash(self._key())


def check_labels(labels):
    """Return labels as uint8 of the same shape; refuse values other than 0 and 1."""
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iub" and labels.size:
        raise ValueError(f"labels must be integers 0 and 1, got {labels.dtype}")
    wrong = labels[(labels != 0) & (labels != 1)]
    if wrong.size:
        raise ValueError(f"labels must be 0 or 1, got {wrong.flat[0]}")
    return labels.astype(np.uint8)


def counted(points, labels, n_points):
    """Return the distinct points in order, the number of rows at each, and how many of these have label 1."""
    if n_points <= len(points):  # without sorting
        rows = np.bincount(points, minlength=n_points)
        distinct = np.flatnonzero(rows)
        return distinct, rows[distinct], np.bincount(points, weights=labels)[distinct].astype(np.int64)
    distinct, which = np.unique(points, return_inverse=True)
    return distinct, np.bincount(which), np.bincount(which, weights=labels).astype(np.int64)

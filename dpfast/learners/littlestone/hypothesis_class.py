"""What every hypothesis class can tell: restriction, Littlestone dimension, SOA, irreducibility, decomposition.

H is a class of functions from points 0, ..., n_points - 1 to {0, 1}; H|x,y are its members that say y at x. LDim(H) is
the Littlestone dimension: -1 for no member, 0 for one, otherwise the largest 1 + min(LDim(H|x,0), LDim(H|x,1)). SOA(H)
says at x the y with the larger LDim(H|x,y), and here 0 on ties. A tree asks for the label of a point at each node;
its leaves are the restrictions of H along its paths, and those without members are left out.

[Lyu] is X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025; [GGKM] is B. Ghazi, N.
Golowich, R. Kumar, P. Manurangsi, Sample-efficient proper PAC learning with approximate differential privacy, 2021.
Of [Lyu] only the abstract was at hand. **The definitions are therefore a reconstruction**: from [GGKM]'s irreducibility
and from facts known of [Lyu] (the bound on leaves, items 2 and 4 of its Corollary 4.1). They have every property that
the learners need, with these proofs.

**Definition 4.1.** H is k-reducible if some tree of depth at most k has only leaves of smaller LDim (the witness), and
k-irreducible otherwise. In a k-irreducible class, k >= 1, no SOA label is a tie; a class of LDim 0 is irreducible.

**Definition 4.2.** A valid (p, d)-decomposition tree of degree r, 0 <= r <= d, of a class of LDim at most d is a tree
of depth at most k_r = p (2^(d-r) - 1) whose leaves all have LDim at most r. (k_d = 0 and k_{r-1} = 2 k_r + p.)

**Definition 4.3.** The (p, d)-decomposition dimension is the least degree r of a valid tree. A function f is essential
if every valid tree of degree r has a p-irreducible leaf of LDim r whose SOA is f.

**Lemma 4.1.** If H' is in H, LDim H' = LDim H and H' is k-irreducible, k >= 1, so is H, and SOA(H) = SOA(H'). Proof: in
every tree the leaf where H' keeps its dimension is one where H keeps it; the label that keeps it is the SOA's. And if H
is k-irreducible, then following SOA labels for j <= k points keeps LDim and leaves a (k - j)-irreducible class. In
particular SOA(H) agrees on any k points with a member of H.

**Lemma 4.2.** A tree of depth k has at most sum_{i<=d} C(k, i) <= (k + 1)^d leaves with members; a valid one so has at
most (p 2^d)^d = p^d 2^(d^2). (Sauer's lemma for trees, by induction on the root's two subtrees, one of LDim < d.)

**Lemma 4.3.** If H' is in H, the decomposition dimension of H' is at most that of H, and if they are equal, what is
essential for H' is so for H. Proof: a valid tree for H is one for H', of the same degree. A p-irreducible leaf of H' of
LDim r with SOA f lies in H's leaf, which has LDim at most r, so r: Lemma 4.1 gives the rest.

**Corollary 4.1.** (1) There are between 1 and p^d 2^(d^2) essential functions, if H has members. (2) Lemma 4.3. (3)
Each agrees with a member of H on any p points. (4) If p >= n_points, d >= 1, the decomposition dimension is 0 and the
members are what is essential. Proof of (1): some leaf v of a valid tree T of degree r has LDim r and is (k_r + p)-
irreducible (if r = 0, any): else T could be continued by depth k_r + p from all such leaves, to a valid tree of degree
r - 1, as 2 k_r + p = k_{r-1}. In any other valid tree S, follow from v the path that keeps LDim: at most k_r points, so
that a p-irreducible part of H_v of LDim r lies in a leaf of S. Hence SOA(H_v) is essential. (4): any tree of degree 0
separates all members, each irreducible and its own SOA.

**Computation.** With D(H, r) the least depth of a tree on H whose leaves have LDim at most r, H is k-reducible iff D(H,
LDim H - 1) <= k, and the decomposition dimension is the least r with D(H, r) <= k_r. Essential functions are E(H, k_r),
E(H, k) being what no tree of depth k that reaches degree r avoids: nothing if LDim H < r; SOA(H) if LDim H = r and H is
(k + p)-irreducible, nothing if it is not (that tree's first k levels avoid it); all functions if LDim H > r and
D(H, r) > k; otherwise the intersection over x of the unions of E(H|x,0, k - 1) and E(H|x,1, k - 1).
"""

import math
from abc import ABC, abstractmethod
from numbers import Integral
from typing import NamedTuple

import numpy as np


class ClassCost(NamedTuple):
    """What work on a class may cost, before any is done."""

    hypotheses: int
    dimension_bound: int
    nodes: int
    bytes: int


class Hypothesis:
    """A function from points to labels that a class or a learner gives: call it on points.

    Equal hypotheses of one class compare equal, and hash so.
    """

    def __init__(self, domain, code):
        self._domain, self._code = domain, code

    def __call__(self, points):
        """Labels of points, an int or array_like of int: uint8 of the same shape."""
        points = self._domain.check_points(points)
        return self._domain._labels(self._code, points)

    def __eq__(self, other):
        if not isinstance(other, Hypothesis):
            return NotImplemented
        return self._code == other._code and self._domain._key() == other._domain._key()

    def __hash__(self):
        return hash((type(self._domain), self._code))

    def __repr__(self):
        return f"<{self._domain._describe(self._code)}>"


class Tree:
    """A tree of questions: a leaf, or a point and a subtree for each of its labels.

    Attributes
    ----------
    members : HypothesisClass
        The class restricted to the path to here.
    point : int or None
        None for a leaf.
    zero, one : Tree or None
        Subtrees for label 0 and 1; None where no hypothesis goes on, or at a leaf.
    """

    __slots__ = ("members", "one", "point", "zero")

    def __init__(self, members):
        self.members, self.point, self.zero, self.one = members, None, None, None

    def leaves(self):
        """The leaves as classes, all with members, from left to right."""
        found, waiting = [], [self]
        while waiting:
            node = waiting.pop()
            if node.point is None:
                found.append(node.members)
            else:
                waiting += [child for child in (node.one, node.zero) if child is not None]
        return found

    @property
    def degree(self):
        """The largest Littlestone dimension of a leaf."""
        return max(leaf.littlestone_dimension() for leaf in self.leaves())

    @property
    def depth(self):
        """Questions on the longest path."""
        deepest, waiting = 0, [(self, 0)]
        while waiting:
            node, depth = waiting.pop()
            deepest = max(deepest, depth)
            waiting += [(child, depth + 1) for child in (node.zero, node.one) if child is not None]
        return deepest

    def __repr__(self):
        return f"<Tree of depth {self.depth} with {len(self.leaves())} leaves>"


class HypothesisClass(ABC):
    """A set of functions from points 0, ..., n_points - 1 to labels 0 and 1. Never changed: restriction gives another.

    Attributes
    ----------
    n_points : int
    size : int
        Number of members.
    """

    @abstractmethod
    def restrict(self, point, label):
        """The members that say `label` at `point`, as a class of the same kind."""

    @abstractmethod
    def littlestone_dimension(self):
        """LDim: -1 without members."""

    @abstractmethod
    def reduction_depth(self, dimension, *, at_most=None):
        """Least depth of a tree on the class whose leaves all have at most this Littlestone dimension.

        Parameters
        ----------
        dimension : int, >= 0
        at_most : int, optional
            Give up beyond this depth.

        Returns
        -------
        int or None
            None if it is more than `at_most`.
        """

    @abstractmethod
    def balls(self, points, labels, radii):
        """For each radius the members that err on at most so many of the examples.

        Parameters
        ----------
        points : array_like of int, shape (n,)
        labels : array_like of 0 and 1, shape (n,)
        radii : sequence of int

        Yields
        ------
        HypothesisClass
            One for each radius, in order.
        """

    @abstractmethod
    def estimate(self):
        """A `ClassCost`: members, a bound on LDim, and on the subclasses searched and bytes kept to compute LDim."""

    def soa(self, point):
        """The label whose restriction at `point` has the larger Littlestone dimension; 0 on ties.

        Raises
        ------
        ValueError
            If the class has no members.
        """
        self._check_members()
        one, zero = (self.restrict(point, label).littlestone_dimension() for label in (1, 0))
        return int(one > zero)

    def soa_hypothesis(self):
        """SOA of the class as a `Hypothesis`; it need not be a member."""
        self._check_members()
        return self._hypothesis(self._soa_code())

    def reducibility_witness(self, k):
        """A `Tree` of depth at most `k` whose leaves all have a smaller Littlestone dimension; None if there is none.

        The class is k-reducible or k-irreducible accordingly (Definition 4.1).

        Parameters
        ----------
        k : int, >= 0

        Notes
        -----
        O(leaves) restrictions once `reduction_depth` is known, which is a search for a table.
        """
        k, top = _count("k", k, 0), self.littlestone_dimension()
        if top < 1 or self.reduction_depth(top - 1, at_most=k) is None:
            return None
        return self._tree(top - 1, k)

    def decomposition(self, p, d=None, *, max_leaves=10**6):
        """A valid (p, d)-decomposition tree of least degree (Definition 4.2).

        Parameters
        ----------
        p : int, >= 1
        d : int, optional
            At least the Littlestone dimension, which is the default.
        max_leaves : int
            A tree that may have more leaves is refused.

        Returns
        -------
        Tree
            Its `degree` is the decomposition dimension.

        Raises
        ------
        ValueError
            If the class has no members or a larger dimension than `d`, or the tree would be too large.
        """
        p, d = self._check_parameters(p, d)
        self._check_members()
        degree = self._degree(p, d)
        depth = depth_allowed(p, d, degree)
        if degree < self.littlestone_dimension():
            _check_limit("leaves of the tree", self._most_leaves(depth), "max_leaves", max_leaves)
        return self._tree(degree, depth)

    def decomposition_dimension(self, p, d=None):
        """The (p, d)-decomposition dimension, in [0, LDim] (Definition 4.3); -1 without members.

        Parameters
        ----------
        p, d
            As in `decomposition`.
        """
        p, d = self._check_parameters(p, d)
        return self._degree(p, d)

    def essential_hypotheses(self, p, d=None, *, max_hypotheses=10**6):
        """The essential functions (Definition 4.3): a tuple of `Hypothesis`, empty without members.

        Parameters
        ----------
        p, d
            As in `decomposition`.
        max_hypotheses : int
            More than so many are refused.

        Raises
        ------
        ValueError
            If the class has a larger dimension than `d`, or there may be too many.
        """
        p, d = self._check_parameters(p, d)
        degree = self._degree(p, d)
        if degree == 0:
            _check_limit("essential hypotheses", self.size, "max_hypotheses", max_hypotheses)
        codes = self._essential_codes(p, d)
        codes = codes.tolist() if isinstance(codes, np.ndarray) else codes
        return tuple(map(self._hypothesis, codes))

    def list_bound(self, p, d=None):
        """The most essential hypotheses that the class or any subclass can have: the smaller of size and Lemma 4.2."""
        p, d = self._check_parameters(p, d)
        return self._most_leaves(depth_allowed(p, d, 0), d)

    def check_points(self, points):
        """Points as int64 of the same shape; refused unless integers in [0, n_points)."""
        points = np.asarray(points)
        if points.dtype.kind not in "iu" and points.size:
            raise ValueError(f"points must be integers in [0, {self.n_points}), got {points.dtype}")
        if points.size and not 0 <= points.min() <= points.max() < self.n_points:
            wrong = points.min() if points.min() < 0 else points.max()
            raise ValueError(f"points must lie in [0, {self.n_points}), got {wrong}")
        return points.astype(np.int64)

    # ---- for the learners: hypotheses by code, an int or bytes that names a function of the root class ---------------

    @abstractmethod
    def _root(self):
        """The class that codes belong to; it knows nothing of restrictions."""

    def _hypothesis(self, code):
        return Hypothesis(self._root(), code)

    @abstractmethod
    def _labels(self, code, points):
        """uint8 labels of an int64 array of points."""

    @abstractmethod
    def _describe(self, code):
        """A few words on a code."""

    @abstractmethod
    def _member_codes(self):
        """Codes of all members."""

    @abstractmethod
    def _soa_code(self):
        """The code of SOA."""

    @abstractmethod
    def _question(self, dimension, depth):
        """A point with which a tree of this depth to this dimension may begin."""

    @abstractmethod
    def _key(self):
        """What makes two classes of a type equal."""

    @abstractmethod
    def _saved(self):
        """The class as JSON, for `_from_saved`."""

    @classmethod
    @abstractmethod
    def _from_saved(cls, saved):
        """The class that `_saved` wrote."""

    @abstractmethod
    def _has_code(self, code):
        """Whether a code names a function of this root class."""

    def _essential_between(self, p, d, degree):
        raise NotImplementedError  # a degree strictly between 0 and LDim: tables only

    def _essential_codes(self, p, d):
        """A sequence of codes, for a class of LDim at most d."""
        degree = self._degree(p, d)
        if degree <= 0:
            return self._member_codes()
        if degree == self.littlestone_dimension():
            return [self._soa_code()]  # (k_r + p)-irreducible, or the degree would be less
        return self._essential_between(p, d, degree)

    def _degree(self, p, d):
        if self.size < 2:
            return self.size - 1
        if depth_allowed(p, d, 0) >= min(self.n_points, self.size - 1):
            return 0
        top = self.littlestone_dimension()
        for degree in range(top):
            if self.reduction_depth(degree, at_most=depth_allowed(p, d, degree)) is not None:
                return degree
        return top

    def _most_leaves(self, depth, dimension=None):
        """The smaller of size and Lemma 4.2's sum."""
        dimension = max(0, self.littlestone_dimension()) if dimension is None else dimension
        total = 0
        for i in range(min(dimension, depth) + 1):
            total += math.comb(depth, i)
            if total >= self.size:
                return self.size
        return total

    def _tree(self, dimension, depth):
        root = Tree(self)
        waiting = [(root, depth)]
        while waiting:
            node, left = waiting.pop()
            if node.members.littlestone_dimension() <= dimension:
                continue
            node.point = node.members._question(dimension, left)
            for name, label in (("zero", 0), ("one", 1)):
                part = node.members.restrict(node.point, label)
                if part.size:
                    setattr(node, name, child := Tree(part))
                    waiting.append((child, left - 1))
        return root

    def _check_members(self):
        if self.size == 0:
            raise ValueError("the class has no members")

    def _check_parameters(self, p, d):
        p = _count("p", p, 1)
        if d is None:
            return p, max(0, self.littlestone_dimension())
        return p, self._check_declared(_count("d", d, 0))

    def _check_declared(self, d):
        if 1 << d < self.size and self.littlestone_dimension() > d:
            raise ValueError(
                f"the class has Littlestone dimension {self.littlestone_dimension()}, above the declared {d}"
            )
        return d

    def __len__(self):
        return self.size

    def __bool__(self):
        return self.size > 0

    def __eq__(self, other):
        return self._key() == other._key() if type(self) is type(other) else NotImplemented

    def __hash__(self):
        return hash(self._key())


def depth_allowed(p, d, degree):
    """k_r of Definition 4.2."""
    return p * ((1 << (d - degree)) - 1)


def check_labels(labels):
    """Labels as uint8 of the same shape; refused unless 0 and 1."""
    labels = np.asarray(labels)
    if labels.dtype.kind not in "iub" and labels.size:
        raise ValueError(f"labels must be integers 0 and 1, got {labels.dtype}")
    wrong = labels[(labels != 0) & (labels != 1)]
    if wrong.size:
        raise ValueError(f"labels must be 0 or 1, got {wrong.flat[0]}")
    return labels.astype(np.uint8)


def _count(name, value, least):
    if not isinstance(value, Integral) or isinstance(value, bool) or value < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")
    return int(value)


def _check_limit(what, number, name, limit):
    if number > limit:
        raise ValueError(f"there may be {number:,} {what}, more than {name}={limit:,}")

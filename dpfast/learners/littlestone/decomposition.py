"""Irreducibility and decompositions, as defined in [Lyu, section 4], and the correctness of the searches.

LDim(H) is the Littlestone dimension: -1 for no member, 0 for one member, otherwise the largest 1 + min(LDim(H|x,0),
LDim(H|x,1)) over points x at which members differ. H|x,y are the members that have label y at x. In [Lyu], SOA(H) at x
is the label y with LDim(H|x,y) = LDim(H), and 1 if there is none. Here the label of the larger dimension is used at
such points, and 0 for ties. In a 1-irreducible class there are no such points, and both definitions agree.

**Definition 4.1.** H is k-irreducible if restricting it by SOA(H)'s labels at any k points keeps LDim(H); otherwise it
is k-reducible. Equivalently, a class is k-reducible if it has a tree of depth k whose leaves all have smaller LDim. One
direction: follow SOA(H) along one path; every leaf off that path has a smaller LDim. The other: in any such tree the
path of SOA(H) ends in a class of smaller LDim.

**Definition 4.2.** For LDim(H) <= d, a (p, d)-decomposition is a binary tree that asks for the label of a point at each
inner node. It is valid if every node v of depth k has k <= N(LDim H_v), and every leaf has k <= F(LDim H_v) and is p
2^(d - LDim H_v)-irreducible, where

    F(t) = p (2^(d-t) - 1),    N(t) = p (2^(d-t+1) - 1) = F(t - 1) = F(t) + p 2^(d-t).

Its degree is the largest LDim of a leaf; the (p, d)-decomposition dimension DDim is the least degree.

**Definition 4.3.** A function is essential if it is the SOA of a leaf of LDim r in every valid tree of least degree r.

**Claim 4.1.** A class of LDim t at depth k <= F(t) can be continued to a valid tree of degree at most t: while it is
reducible, ask the p 2^(d-t) points that reduce it. Classes off that path have LDim < t and depth at most F(t - 1).

**Lemma 4.1.** A valid tree has at most sum_{i <= d} C(F(0), i) <= p^d 2^(d^2) leaves with members, since its leaves
have depth at most F(0), and one side of every question has a smaller dimension.

**Lemma 4.3.** If G is in H then DDim_{2p}(G) <= DDim_p(H). If both equal t, the SOA of every leaf of LDim t of any
valid (2p, d)-tree of degree t of G is essential for (H, p). (The leaf G_v is 2p 2^(d-t)-irreducible. Following SOA(G_v)
in a tree of H for that many questions keeps LDim t, but no node of H's tree deeper than N(t) has LDim t. So the path
reaches a leaf, which has the same SOA.)

**Corollary 4.1.** (1) There are at most as many essential functions as leaves. (2) If G is in H and both have the same
DDim_p, every function essential for G is essential for H: a valid tree of H that avoids f, continued by Claim 4.1, is a
valid tree of G. (3) If DDim_{2p}(H) = DDim_p(H) there is an essential function; otherwise there may be none. (4) If
DDim is 0 the essential functions are the members. DDim is 0 if p 2^(d - LDim H) >= min(n_points, |H| - 1), since then
the class and every part of it is reducible while LDim > 0.

**Fact 4**, with the size that its proof needs: a leaf is p-irreducible, so its SOA agrees on any p points with one of
its members. If all members of H err on at most a share a of at most p examples, so does every essential function.

**Computation.** Let V(G, k) be whether G has a valid tree of degree at most r from depth k on; it is monotone in k. By
Claim 4.1 it holds if LDim G = t <= r and k <= F(t); otherwise it needs k <= N(t) and a question both of whose sides are
valid at k + 1. For LDim 1 every question removes one member, so that k + |G| - 1 <= F(0) decides. For t > r some path
must lose dimension t within N(t) + 1 - k questions, and that path follows SOA(G): sets of points that reduce G are
searched first (`searches.Search.reduces`).

The essential functions are {SOA(H)} if r = LDim H, the members if r = 0, and otherwise those SOAs of leaves of one
valid tree that no other valid tree avoids. A leaf with SOA f is on the path that f follows. So f is avoided below (G,
k) in three cases: if LDim G < r and G is valid; if LDim G = r and G is valid to degree r - 1, or valid with SOA(G)
other than f (all leaves of LDim r below have SOA(G)); or if for some question the side off f's path is valid and f is
avoided on the other side.

[Lyu] is X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025.
"""

import math
from typing import Any, NamedTuple

_NEVER = -(1 << 62)


class Schedule(NamedTuple):
    """Largest depths of the nodes and leaves of a valid (p, d)-tree of this degree: Definition 4.2."""

    p: int
    d: int
    degree: int

    def leaf(self, dimension):
        """Return F, the largest depth at which a class of this dimension can be continued to leaves of the degree."""
        return self.p * ((1 << (self.d - dimension)) - 1) if dimension <= self.degree else _NEVER

    def node(self, dimension):
        """Return N, the largest depth of a node of this dimension."""
        return self.p * ((1 << (self.d - dimension + 1)) - 1)

    def irreducible(self, dimension):
        """Return the number of points that must not reduce a leaf of this dimension."""
        return self.p << (self.d - dimension)


class Reduction(NamedTuple):
    """Schedule of any trees with leaves of at most this dimension; depths count up to 0."""

    degree: int

    def leaf(self, dimension):
        return 0 if dimension <= self.degree else _NEVER

    def node(self, dimension):
        return -1

    def irreducible(self, dimension):
        return 0


class Tree:
    """Tree of questions: either a leaf, or a point with a subtree for each label.

    Attributes
    ----------
    members : HypothesisClass
        The class restricted to the path that leads here.
    point, zero, one : int or None, Tree or None, Tree or None
        The point, and the subtrees for the labels 0 and 1 if there are members with that label; all None at a leaf.
    """

    __slots__ = ("members", "one", "point", "zero")

    def __init__(self, members: Any) -> None:
        self.members = members
        self.point: int | None = None
        self.zero: Tree | None = None
        self.one: Tree | None = None

    def leaves(self) -> Any:
        """Return the leaves of the tree from left to right, which all have members.

        Returns
        -------
        list of HypothesisClass
        """
        leaves, waiting = [], [self]
        while waiting:
            node = waiting.pop()
            if node.point is None:
                leaves.append(node.members)
            else:
                waiting += [child for child in (node.one, node.zero) if child is not None]
        return leaves

    @property
    def degree(self) -> int:
        """Return the largest Littlestone dimension of a leaf."""
        return max(leaf.littlestone_dimension() for leaf in self.leaves())

    @property
    def depth(self) -> int:
        """Return the number of questions on the longest path."""
        deepest = 0
        waiting: list[tuple[Tree, int]] = [(self, 0)]
        while waiting:
            node, depth = waiting.pop()
            deepest = max(deepest, depth)
            waiting += [(child, depth + 1) for child in (node.zero, node.one) if child is not None]
        return deepest

    def __repr__(self):
        return f"<Tree of depth {self.depth} with {len(self.leaves())} leaves>"


def grow(root, question, depth):
    """Return the tree from this class and depth on; `question(class, depth)` gives its points, and None for a leaf."""
    tree = Tree(root)
    waiting = [(tree, depth)]
    while waiting:
        node, depth = waiting.pop()
        node.point = question(node.members, depth)
        if node.point is None:
            continue
        for name, label in (("zero", 0), ("one", 1)):
            part = node.members.restrict(node.point, label)
            if part.size:
                setattr(node, name, child := Tree(part))
                waiting.append((child, depth + 1))
    return tree


def most_leaves(depth, dimension, size):
    """Return the minimum of the size and the sum of Lemma 4.1."""
    total = 0
    for i in range(min(dimension, depth) + 1):
        total += math.comb(depth, i)
        if total >= size:
            return size
    return total

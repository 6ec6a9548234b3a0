"""Irreducibility and decompositions, as [Lyu, section 4] prints them, and what the searches here rest on.

LDim(H) is the Littlestone dimension: -1 for no member, 0 for one, otherwise the largest 1 + min(LDim(H|x,0),
LDim(H|x,1)) over points x at which members differ; H|x,y are the members that say y at x. [Lyu]'s SOA(H) says at x the
label y with LDim(H|x,y) = LDim(H), and 1 if there is none; here ties, and such points, go to the larger dimension, then
to 0. In a 1-irreducible class there are no such points, and both are one function.

**Definition 4.1.** H is k-irreducible if restricting it by SOA(H)'s labels at any k points keeps LDim(H); otherwise it
is k-reducible. Equally, k-reducible classes have a tree of depth k, its leaves all of smaller LDim: one path follows
SOA(H), whatever leaves it has a smaller LDim; and in any such tree that path ends in a smaller class.

**Definition 4.2.** For LDim(H) <= d, a (p, d)-decomposition is a binary tree that asks for the label of a point at each
inner node. It is valid if every node v of depth k has k <= N(LDim H_v), and every leaf has k <= F(LDim H_v) and is
p 2^(d - LDim H_v)-irreducible, where

    F(t) = p (2^(d-t) - 1),    N(t) = p (2^(d-t+1) - 1) = F(t - 1) = F(t) + p 2^(d-t).

Its degree is the largest LDim of a leaf; the (p, d)-decomposition dimension DDim is the least degree.

**Definition 4.3.** A function is essential if every valid tree of least degree r has a leaf of LDim r whose SOA it is.

**Claim 4.1.** A class of LDim t at depth k <= F(t) can be continued to a valid tree of degree at most t: while it is
reducible, ask the p 2^(d-t) points that reduce it; those who leave that path have LDim < t and depth at most F(t - 1).

**Lemma 4.1.** A valid tree has at most sum_{i <= d} C(F(0), i) <= p^d 2^(d^2) leaves with members: its leaves are no
deeper than F(0), and one side of every question loses a dimension.

**Lemma 4.3.** If G is in H then DDim_{2p}(G) <= DDim_p(H); and if both are t, the SOA of every leaf of LDim t of any
valid (2p, d)-tree of degree t of G is essential for (H, p). (Its leaf G_v is 2p 2^(d-t)-irreducible; following SOA(G_v)
in a tree of H for as many questions keeps LDim t, which no node of H's tree deeper than N(t) has: a leaf is reached,
and with it the same SOA.)

**Corollary 4.1.** (1) There are no more essential functions than leaves. (2) If G is in H and both have the same
DDim_p, what is essential for G is so for H: a valid tree of H that avoids f, continued by Claim 4.1, is one of G.
(3) If DDim_{2p}(H) = DDim_p(H) there is an essential function; otherwise there may be none. (4) If DDim is 0 the
members are what is essential. And DDim is 0 if p 2^(d - LDim H) >= min(n_points, |H| - 1): such a class, and every part
of it, is reducible while LDim > 0.

**Fact 4**, with the size that its proof needs: a leaf is p-irreducible, so its SOA agrees on any p points with one of
its members. If all members of H err on at most a share a of no more than p examples, so does every essential function.

**Computation.** V(G, k), whether G has a valid tree of degree at most r below depth k, does not rise with k. By Claim
4.1 it holds if LDim G = t <= r and k <= F(t); otherwise it needs k <= N(t) and a question both of whose sides are valid
at k + 1. For LDim 1 every question takes one member away, so that k + |G| - 1 <= F(0) decides. From t > r on some
path must lose dimension t within N(t) + 1 - k questions, and that path is SOA(G)'s: sets of points that reduce G are
searched first (`searches.Search.reduces`).

What is essential is {SOA(H)} if r = LDim H, the members if r = 0, and else those SOAs of leaves of one valid tree that
no other avoids. A leaf with SOA f is on the path that f takes, so f is avoided below (G, k) if LDim G < r and G is
valid; if LDim G = r and G is valid to degree r - 1, or valid with SOA(G) not f (all leaves of LDim r below have
SOA(G)); or if for some question the side that f does not take is valid and f is avoided on the other.

[Lyu] is X. Lyu, Private Learning of Littlestone Classes, Revisited, arXiv 2510.00076, 2025.
"""

import math
from typing import Any, NamedTuple

_NEVER = -(1 << 62)


class Schedule(NamedTuple):
    """How deep the nodes and leaves of a valid (p, d)-tree of this degree may be: Definition 4.2."""

    p: int
    d: int
    degree: int

    def leaf(self, dimension):
        """F: the largest depth at which a class of this dimension can be continued to leaves of the degree."""
        return self.p * ((1 << (self.d - dimension)) - 1) if dimension <= self.degree else _NEVER

    def node(self, dimension):
        """N: the largest depth of a node of this dimension."""
        return self.p * ((1 << (self.d - dimension + 1)) - 1)

    def irreducible(self, dimension):
        """Points that must not reduce a leaf of this dimension."""
        return self.p << (self.d - dimension)


class Reduction(NamedTuple):
    """The same for trees to leaves of at most this dimension, of any kind; depths count up to 0."""

    degree: int

    def leaf(self, dimension):
        return 0 if dimension <= self.degree else _NEVER

    def node(self, dimension):
        return -1

    def irreducible(self, dimension):
        return 0


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

    def __init__(self, members: Any) -> None:
        self.members = members
        self.point: int | None = None
        self.zero: Tree | None = None
        self.one: Tree | None = None

    def leaves(self) -> Any:
        """Return the leaves of the tree from left to right.

        Returns
        -------
        list of HypothesisClass
            All with members.
        """
        found, waiting = [], [self]
        while waiting:
            node = waiting.pop()
            if node.point is None:
                found.append(node.members)
            else:
                waiting += [child for child in (node.one, node.zero) if child is not None]
        return found

    @property
    def degree(self) -> int:
        """The largest Littlestone dimension of a leaf."""
        return max(leaf.littlestone_dimension() for leaf in self.leaves())

    @property
    def depth(self) -> int:
        """Questions on the longest path."""
        deepest = 0
        waiting: list[tuple[Tree, int]] = [(self, 0)]
        while waiting:
            node, depth = waiting.pop()
            deepest = max(deepest, depth)
            waiting += [(child, depth + 1) for child in (node.zero, node.one) if child is not None]
        return deepest

    def __repr__(self):
        return f"<Tree of depth {self.depth} with {len(self.leaves())} leaves>"


def grown(root, question, depth):
    """The tree that begins with a class at this depth and asks what `question(class, depth)` says; None is a leaf."""
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
    """The smaller of size and Lemma 4.1's sum."""
    total = 0
    for i in range(min(dimension, depth) + 1):
        total += math.comb(depth, i)
        if total >= size:
            return size
    return total

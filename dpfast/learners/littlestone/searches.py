"""Searches in a table of hypotheses: dimensions, reducing points, valid trees, essential functions.

A subclass is an int here, with bit h for hypothesis h. `decomposition` proves the correctness of the searches.
"""

import copy
import math
from threading import RLock

import numpy as np

from dpfast.kernels import bits, classes

from .circuits import Circuits

_KEPT = 1 << 18  # number of cached dimensions
_HURRY = 1 << 14  # subclasses that a search for points may visit before a proof is tried that there are none
_UNKNOWN = math.inf, -math.inf, None  # first depth without a tree, last known depth with a tree, and its first point


class SearchGivenUp(ValueError):
    """A search of a table exceeded its limit."""


class BitTable:
    """Data shared by a class and its restrictions: the bits, and the known dimensions."""

    def __init__(self, table, max_nodes):
        table.flags.writeable = False
        self.table, self.max_nodes = table, max_nodes
        self.columns = bits.pack(np.ascontiguousarray(table.T).view(np.uint8))
        self.everyone = bits.pack(np.ones((1, len(table)), np.uint8))[0]
        self.masks = [number(column) for column in self.columns]
        self.codes = {row.tobytes(): h for h, row in enumerate(np.packbits(table, axis=1))}
        self._forget()

    def _forget(self):
        self.memo, self.lock, self.dimensions = classes.memo(len(self.everyone)), RLock(), {}

    def forgetful(self):
        """Return the same bits with an empty cache."""
        other = copy.copy(self)
        other._forget()
        return other

    def code(self, labels):
        """Return the code of a function: a member's number, or its packed bits."""
        packed = np.packbits(np.array(labels, np.uint8)).tobytes()
        return self.codes.get(packed, packed)


def number(members):
    """Return packed words as an int."""
    return int.from_bytes(members.tobytes(), "little")


class Search:
    """Search of a table under a schedule of depths, with the table's limit of visited subclasses."""

    def __init__(self, table, schedule=None):
        self.table, self.schedule = table, schedule
        self.n_left = table.max_nodes
        self._depths, self._reductions = {}, {}

    def spend(self, nodes=1):
        self.n_left -= nodes
        if self.n_left < 0:
            table = self.table
            raise SearchGivenUp(
                f"the search looked at max_nodes={table.max_nodes:,} subclasses of a class of {len(table.table)} "
                f"hypotheses on {table.table.shape[1]} points without an answer: raise max_nodes, see estimate()"
            )

    def dimension(self, members):
        size = members.bit_count()
        if size < 4:
            return min(size, 2) - 1
        table = self.table
        dimension = table.dimensions.get(members)
        if dimension is None:
            words = np.frombuffer(members.to_bytes(8 * len(table.everyone), "little"), np.uint64)
            with table.lock:
                dimension, nodes = classes.dimension(table.columns, words, table.memo, max(1, self.n_left))
            self.spend(nodes + (dimension is None))
            if len(table.dimensions) >= _KEPT:
                table.dimensions.clear()
            table.dimensions[members] = dimension
        return dimension

    def sides(self, members):
        """Return (x, members that say 1, members that say 0) where members differ, the most even x first."""
        sides, size = [], members.bit_count()
        for x, mask in enumerate(self.table.masks):
            one = members & mask
            ones = one.bit_count()
            if 0 < ones < size:
                sides.append((-min(ones, size - ones), x, one, members ^ one))
        sides.sort()
        self.spend(len(sides))
        return [each[1:] for each in sides]

    def soa(self, members):
        """Return the labels of SOA; in an irreducible class [Lyu]'s definition and ours agree."""
        labels = []
        for mask in self.table.masks:
            one = members & mask
            labels.append(int(self.dimension(one) > self.dimension(members ^ one)))
        return labels

    # ---- reducing points -----------------------------------------------------------------------------------------

    def reduces(self, members, most):
        """Return at most so many points whose SOA labels leave a smaller dimension; None if there are none.

        The search is over sets of points, not paths. A set of points is a circuit if not asking for any of them keeps
        the dimension, so at least one point of every circuit has to be asked for. Disjoint circuits count towards
        `most`.
        """
        failed, reduction = self._reductions.get(members, (0, None))
        if reduction is not None and len(reduction) <= most:
            return reduction
        if most <= failed:
            return None
        reduction = self._reduce(members, most)
        self._reductions[members] = (max(failed, most), None) if reduction is None else (failed, reduction)
        return reduction

    def _reduce(self, members, most):
        top, astray = self.dimension(members), {}
        for x, one, zero in self.sides(members):
            keeps = self.dimension(one) == top, self.dimension(zero) == top
            if not any(keeps):
                return [x]
            astray[x] = zero if keeps[0] else one  # the members that leave the path of SOA at x
        if top > 1:
            return self._find_hitting_set(members, top, astray, most)
        distinct = list({member: x for x, member in astray.items()}.values())  # each removes one member
        size = members.bit_count()
        return distinct[: size - 1] if size - 1 <= most else None

    def _find_hitting_set(self, members, top, astray, most):
        """Search with a small limit first, then, after a failed proof that there is no such set, with the whole one."""
        others = max(0, self.n_left - _HURRY)
        self.n_left -= others
        try:
            return self._search_hitting_set(members, top, astray, frozenset(), most)
        except SearchGivenUp:
            if not others:
                raise
        finally:
            self.n_left = max(0, self.n_left) + others
        if Circuits(self, astray, most).robust(members, top):
            return None
        return self._search_hitting_set(members, top, astray, frozenset(), most)

    def _search_hitting_set(self, members, top, astray, excluded, most):
        """Return at most so many points outside of `excluded` that meet every circuit of the members."""
        if self.dimension(members) < top:
            return []
        sizes = [part.bit_count() for x, each in astray.items() if x not in excluded and (part := each & members)]
        if most == 0 or not self._may_shrink(members, top, sorted(sizes)[-most:]):
            return None
        circuit, disjoint, rest = None, 0, members
        while self.dimension(rest) == top:
            disjoint += 1
            if disjoint > most:
                return None
            points = self._circuit(rest, top, astray, excluded)
            if not points:
                return None
            circuit = points if circuit is None or len(points) < len(circuit) else circuit
            for x in points:
                rest &= ~astray[x]
        for x in sorted(circuit, key=lambda x: -(astray[x] & members).bit_count()):
            deeper = self._search_hitting_set(members & ~astray[x], top, astray, excluded, most - 1)
            if deeper is not None:
                return [x, *deeper]
            excluded |= {x}
        return None

    def _circuit(self, members, top, astray, excluded):
        """Return few points outside of `excluded` that keep the dimension unless they are asked for."""
        points = []
        for x in sorted(astray.keys() - excluded, key=lambda x: (-(astray[x] & members).bit_count(), x)):
            fewer = members & ~astray[x]
            self.spend()
            if fewer.bit_count() >> top and self.dimension(fewer) == top:
                members = fewer
            else:
                points.append(x)
        return [x for x in points if astray[x] & members]

    def _may_shrink(self, members, top, sizes):
        """Return whether points that remove so many members may leave a smaller dimension (Sauer's lemma)."""
        points = sum(1 for mask in self.table.masks if 0 != members & mask != members) - len(sizes)
        return members.bit_count() - sum(sizes) <= sum(math.comb(points, i) for i in range(top))

    # ---- valid trees ---------------------------------------------------------------------------------------------

    def valid(self, members, depth):
        """Return V: whether the schedule allows a tree on the members from this depth on."""
        top = self.dimension(members)
        if top < 0 or depth <= self.schedule.leaf(top):
            return True
        if top == 0 or depth > self.schedule.node(top):
            return False
        if top == 1:
            return depth + members.bit_count() - 1 <= self.schedule.leaf(0)
        low, high, _ = self._depths.get(members, _UNKNOWN)
        if depth <= high or depth >= low:
            return depth <= high
        point = self._begin(members, top, depth)
        low, high, other = self._depths.get(members, _UNKNOWN)
        self._depths[members] = (min(low, depth), high, other) if point is None else (low, max(high, depth), point)
        return point is not None

    def question(self, members, depth):
        """Return a first point of a tree on valid members from this depth on; None for a leaf."""
        top = self.dimension(members)
        if depth <= self.schedule.leaf(top):
            points = self.reduces(members, self.schedule.irreducible(top)) if top > 0 else None
            return None if points is None else points[0]
        _, high, point = self._depths.get(members, _UNKNOWN)
        return point if depth <= high else self._begin(members, top, depth)

    def _begin(self, members, top, depth):
        """Return a point whose two sides are valid at the next depth, or None."""
        points = self.reduces(members, self.schedule.node(top) - depth + 1)
        if points is None or not self._may_separate(members, top, depth):
            return None
        if self._follows(members, depth, points):
            return points[0]
        split = self.sides(members)
        if not all(self._may_be_valid(side, depth) for _, *sides in split for side in sides):
            return None
        for x, *sides in split:
            if all(self.valid(side, depth + 1) for side in sorted(sides, key=self.dimension)):
                return x
        return None

    def _may_be_valid(self, members, depth):
        """Return False only if the members are not valid; then no superset is valid either, by Claim 4.1."""
        top = self.dimension(members)
        most = self.schedule.node(top) - depth + 1
        return top <= self.schedule.degree or self.reduces(members, most) is not None

    def _follows(self, members, depth, points):
        """Return whether asking these points in order, on the path of SOA, leaves only valid classes."""
        top = self.dimension(members)
        for x in points:
            one = members & self.table.masks[x]
            sides = sorted((one, members ^ one), key=self.dimension)
            depth += 1
            if not self.valid(sides[0], depth):
                return False
            members = sides[1]
            if self.dimension(members) < top:
                break
        return self.valid(members, depth)

    def _may_separate(self, members, top, depth):
        """Return whether leaves of one member each are required and too many (Lemma 4.1)."""
        depth = self.schedule.leaf(0) - depth
        return self.schedule.degree > 0 or sum(math.comb(depth, i) for i in range(top + 1)) >= members.bit_count()

    # ---- essential functions -------------------------------------------------------------------------------------

    def leaves(self, members, depth):
        """Return the leaves of one valid tree."""
        leaves, waiting = [], [(members, depth)]
        while waiting:
            part, depth = waiting.pop()
            x = self.question(part, depth)
            if x is None:
                leaves.append(part)
                continue
            one = part & self.table.masks[x]
            waiting += [(side, depth + 1) for side in (one, part ^ one) if side]
        return leaves

    def essential(self, members):
        """Return the labels of the essential functions, for a degree strictly between 0 and the dimension."""
        degree, sets = self.schedule.degree, {}
        for leaf in self.leaves(members, 0):
            if self.dimension(leaf) == degree:
                sets.setdefault(tuple(self.soa(leaf)), []).append(leaf)
        lower = Search(self.table, self.schedule._replace(degree=degree - 1))
        return [
            labels
            for labels, leaves in sorted(sets.items())
            if not all(lower.valid(leaf, 0) for leaf in leaves)  # a function avoided in all is avoided in each
            or not self._avoids_labels(members, 0, labels, lower, {})
        ]

    def _avoids_labels(self, members, depth, labels, lower, depths):
        """Return whether some valid tree has no leaf of the degree whose SOA has these labels."""
        top, degree = self.dimension(members), self.schedule.degree
        if top < degree:
            return self.valid(members, depth)
        if top == degree:
            return lower.valid(members, depth) or (self.valid(members, depth) and tuple(self.soa(members)) != labels)
        low, high = depths.get(members, (math.inf, -math.inf))
        if depth <= high or depth >= low:
            return depth <= high
        avoids = any(
            self.valid(zero if labels[x] else one, depth + 1)
            and self._avoids_labels(one if labels[x] else zero, depth + 1, labels, lower, depths)
            for x, one, zero in self.sides(members)
        )
        low, high = depths.get(members, (math.inf, -math.inf))
        depths[members] = (low, max(high, depth)) if avoids else (min(low, depth), high)
        return avoids

"""Proofs that a class is not reducible: disjoint sets of points, each of which any reducing questions must meet.

Points x may be asked; then the members `astray[x]` that leave the followed path are removed. A *circuit* of members for
a dimension t and a number of questions m is a set C of points such that the dimension stays at least t if no point of C
and at most m points in total are asked. Members are *robust* if the empty set is a circuit.

* t = 0: C is the points that remove a member; robust if m questions cannot remove all (the m largest together do not).
* t = 1: C is the points that remove one of two members; robust if m questions leave at least two.
* t > 1: C is a, with a circuit for t - 1 of each of its two sides. If a is not asked both sides stay, as LDim t needs.

If more than m circuits have no point in common, no m questions meet all of them, so the members are robust. Circuits of
robust sides are small (a alone if both sides are robust), so that many of them are disjoint. The test is sound but not
complete: `robust` may return False for robust members.
"""


class Circuits:
    """Circuits for a fixed path and at most m questions; `astray` maps points to the members that leave the path."""

    def __init__(self, search, astray, most):
        self._search, self._astray, self._most = search, astray, most
        self._memo = {}

    def robust(self, members, t, excluded=0):
        """Return whether it is proved that no m questions, none of them in `excluded`, leave a dimension below t."""
        size = members.bit_count()
        if size < 1 << t:
            return False
        key = members, t, excluded
        if key not in self._memo:
            self._memo[key] = self._stays(members, t, excluded) if t < 2 else self._pack(members, t, excluded)
        return self._memo[key]

    def _stays(self, members, t, excluded):
        """Return, for t = 0 or 1, whether any m questions leave more than t members."""
        self._search.spend(1 + (members.bit_count() >> 3))
        sizes = sorted((members & others).bit_count() for x, others in self._astray.items() if not excluded >> x & 1)
        if members.bit_count() - sum(sizes[max(0, len(sizes) - self._most) :]) > t:
            return True
        used, apart = excluded, 0
        for points in sorted((self._points(member, excluded) for member in bits_of(members)), key=int.bit_count):
            if not points & used & ~excluded:
                used, apart = used | points, apart + 1
                if apart > self._most + t:
                    return True
        return False

    def _pack(self, members, t, excluded):
        used, number = 0, 0
        while number <= self._most:
            circuit = self.circuit(members, t, used, excluded)
            if circuit is None:
                return False
            if not circuit:
                return True
            used, number = used | circuit, number + 1
            free = len(self._astray) - used.bit_count()
            if (self._most + 1 - number) * circuit.bit_count() > free:  # the next circuits are hardly smaller
                return False
        return True

    def circuit(self, members, t, used, excluded=0):
        """Return a small circuit without the points `used`, as bits, or None; points in `excluded` are never asked."""
        if t < 2:
            return self._pair(members, t, used, excluded)
        best = None
        for a, one, zero in self._search.sides(members):
            own = 0 if a not in self._astray or excluded >> a & 1 else 1 << a
            if used & own:
                continue
            if min(one.bit_count(), zero.bit_count()) < 1 << (t - 1):
                break  # points are sorted by how evenly they split
            circuit = own
            for side in sorted((one, zero), key=int.bit_count):
                if not self.robust(side, t - 1, excluded | own):
                    more = self.circuit(side, t - 1, used, excluded | own)
                    if more is None:
                        circuit = None
                        break
                    circuit |= more
            if circuit is not None and (best is None or circuit.bit_count() < best.bit_count()):
                best = circuit
                if best.bit_count() <= 1:
                    break
        return best

    def _pair(self, members, t, used, excluded):
        """Return, for t = 0 or 1, the points that remove one of t + 1 members."""
        if self.robust(members, t, excluded):
            return 0
        self._search.spend(1 + (members.bit_count() >> 3))
        sets = (self._points(member, excluded) for member in bits_of(members))
        sets = sorted((points for points in sets if not points & used), key=int.bit_count)
        if len(sets) <= t:
            return None
        if t == 0:
            return sets[0]
        return min((first | second for i, first in enumerate(sets[:3]) for second in sets[i + 1 :]), key=int.bit_count)

    def _points(self, member, excluded):
        points = self._memo.get(member)
        if points is None:
            points = sum(1 << x for x, others in self._astray.items() if others >> member & 1)
            self._memo[member] = points
        return points & ~excluded


def bits_of(number):
    """Return the positions of the ones of an int in increasing order."""
    while number:
        low = number & -number
        yield low.bit_length() - 1
        number ^= low

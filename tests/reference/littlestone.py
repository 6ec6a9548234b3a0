"""Littlestone classes the slow way: sets of tuples, definitions word by word."""

from functools import cache
from itertools import product


def dimension(hypotheses):
    """LDim of a set of equally long tuples of 0 and 1."""
    return _dimension(frozenset(hypotheses))


@cache
def _dimension(h):
    if len(h) < 2:
        return len(h) - 1
    best = 0
    for x in range(len(next(iter(h)))):
        one = frozenset(f for f in h if f[x])
        if 0 < len(one) < len(h):
            best = max(best, 1 + min(_dimension(one), _dimension(h - one)))
    return best


def soa(h):
    """The SOA function of a nonempty set: at each point the label whose restriction has the larger LDim; 0 on ties."""
    return tuple(int(dimension(f for f in h if f[x]) > dimension(f for f in h if not f[x])) for x in range(_points(h)))


def trees(h, depth):
    """The leaf sets of every tree of at most this depth on h, as frozensets of nonempty classes; repetitions too."""
    h = frozenset(h)
    yield frozenset([h])
    if depth == 0:
        return
    for x in range(_points(h)):
        one = frozenset(f for f in h if f[x])
        if 0 < len(one) < len(h):
            for left, right in product(set(trees(h - one, depth - 1)), set(trees(one, depth - 1))):
                yield left | right


def reducible(h, k):
    """Whether some tree of depth k has only leaves of smaller LDim."""
    top = dimension(h)
    return any(all(dimension(leaf) < top for leaf in leaves) for leaves in trees(h, k))


def valid_trees(h, p, d):
    """(degree, the valid trees of that degree): Definition 4.2 with the least degree there is."""
    for degree in range(d + 1):
        valid = [
            leaves
            for leaves in trees(h, p * (2 ** (d - degree) - 1))
            if all(dimension(leaf) <= degree for leaf in leaves)
        ]
        if valid:
            return degree, valid
    raise AssertionError("the class has a larger dimension than d")


def essential(h, p, d):
    """Functions that every valid tree of least degree has as the SOA function of a p-irreducible leaf of that LDim."""
    degree, valid = valid_trees(h, p, d)
    found = [
        {soa(leaf) for leaf in leaves if dimension(leaf) == degree and not (degree and reducible(leaf, p))}
        for leaves in valid
    ]
    return set.intersection(*found)


def _points(h):
    return len(next(iter(h)))

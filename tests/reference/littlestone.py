"""Littlestone classes the slow way: sets of tuples, the definitions of [Lyu], section 4, word by word."""

from functools import cache
from itertools import combinations


def dimension(hypotheses):
    """LDim of a set of equally long tuples of 0 and 1."""
    return _dimension(frozenset(hypotheses))


@cache
def _dimension(h):
    if len(h) < 2:
        return len(h) - 1
    best = 0
    for x in range(n_points(h)):
        one = restrict(h, x, 1)
        if 0 < len(one) < len(h):
            best = max(best, 1 + min(_dimension(one), _dimension(h - one)))
    return best


def n_points(h):
    return len(next(iter(h)))


def restrict(h, x, y):
    return frozenset(f for f in h if f[x] == y)


def soa(h):
    """The label whose restriction has the larger LDim, 0 on ties: the product's rule."""
    return tuple(int(dimension(restrict(h, x, 1)) > dimension(restrict(h, x, 0))) for x in range(n_points(h)))


@cache
def printed_soa(h, points):
    """0 if restricting to 0 keeps LDim, otherwise 1: the paper's rule."""
    return tuple(0 if dimension(restrict(h, x, 0)) == dimension(h) else 1 for x in range(points))


@cache
def irreducible(h, k, points):
    """Definition 4.1. Sets of points instead of sequences: restricting twice to one label changes nothing."""
    labels = printed_soa(h, points)
    return all(
        dimension(f for f in h if all(f[x] == labels[x] for x in asked)) == dimension(h)
        for asked in combinations(range(points), min(k, points))
    )


@cache
def valid_trees(h, p, d, points, depth=0):
    """Definition 4.2: for every valid (p, d)-tree on h from this depth on, the (LDim, SOA) of its leaves."""
    top = dimension(h)
    if depth > p * (2 ** (d - top + 1) - 1):
        return frozenset()
    found = set()
    if depth <= p * (2 ** (d - top) - 1) and irreducible(h, p * 2 ** (d - top), points):
        found.add(frozenset([(top, printed_soa(h, points))]))
    if h:
        for x in range(points):
            zero, one = (valid_trees(restrict(h, x, y), p, d, points, depth + 1) for y in (0, 1))
            found |= {left | right for left in zero for right in one}
    return frozenset(found)


def degree(leaves):
    return max(top for top, _ in leaves)


def decomposition_dimension(h, p, d):
    """Definition 4.2: the least degree of a valid tree."""
    return _least_degree(frozenset(h), p, d)


@cache
def _least_degree(h, p, d):
    return min(map(degree, valid_trees(h, p, d, n_points(h))))


def essential(h, p, d):
    """Definition 4.3: the functions that are the SOA of a leaf of the largest LDim in every optimal tree."""
    return _essential(frozenset(h), p, d)


@cache
def _essential(h, p, d):
    least = _least_degree(h, p, d)
    optimal = [leaves for leaves in valid_trees(h, p, d, n_points(h)) if degree(leaves) == least]
    return frozenset.intersection(*(frozenset(f for top, f in leaves if top == least) for leaves in optimal))

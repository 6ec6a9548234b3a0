"""Random trees over columns of codes, drawn from what the first rounds released, so that they cost no privacy.

A sum of terms, one for each column, cannot say what columns say together. After a few rounds the released terms show
which columns matter, and the released counts show where rows lie. Trees are drawn from these alone, so drawing them is
post-processing. Each tree is one more column of codes, whose codes are its leaves, and the remaining rounds go on over
all columns. Extremely randomized trees [G]_ are drawn in the same way from the rows themselves, and totally random ones
are the best known for private boosting [M]_.

**Drawing.** A node asks about one column, drawn with a probability that grows with the size of its released term, the
root of its mean square over the rows (`_FLOOR` of the largest is added, so that no column is left out). The codes of
the column are put into an order: bins of numbers as they are, missing ones first, and values by their released terms,
for more than two classes by those of one class, drawn at random. A row goes to the second child if its place in the
order is above a threshold. This is a random quantile among synthetic rows that reached the node. Synthetic rows are
drawn from the released counts, as if columns were independent. The shares of synthetic rows that reach the leaves are
taken for the shares of rows, which centre the images of leaves. If they are wrong, rows are centred badly; nothing else
depends on them.

**Guided by pairs.** Trees whose columns are drawn by main effects find only by chance what two columns say together. If
pairs of columns were chosen before (`dpfast.learners.halfspaces.pairs`), half of the nodes follow them: a node asks
about a partner of a column that a node above it asks about, or, if there is none, about a column of some pair.

**The image of a row** has an entry w for its leaf in each tree, where w^2 times the number of trees is `_RATIO` times
the centred mean square of the image without trees, by the released counts. As for pairs, the radius and the limit of
each row are computed anew, so a row still adds a vector of norm at most 1 to the sum of a round, and the sensitivity of
a round is as before (`dpfast.learners.halfspaces.images`). The noise was planned for the additional coordinates.

Each tree is a group of shrinkage (`dpfast.learners.halfspaces.model`).

[G] P. Geurts, D. Ernst, L. Wehenkel, Extremely randomized trees, Machine Learning 63 (2006).
[M] S. Maddock and others, Federated Boosted Decision Trees with Differential Privacy, CCS 2022.
"""

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpfast.accounting import gaussian_sigma
from dpfast.base.plan import Number
from dpfast.base.saving import entries, integer, integers
from dpfast.kernels import reals
from dpfast.kernels import trees as kernel
from dpfast.kernels.own import frozen

MOST_TREES, DEEPEST = 1000, 6
BEFORE = Fraction(15, 100), Fraction(30, 100)  # share of the rounds before trees are drawn, without and with pairs
CLEAR = 10_000_000  # the least n mu at which trees are drawn as soon as pairs are chosen
_TREES = (-math.inf, 100), (1_000_000, 200)  # for trees="auto", from n mu on; with more than two classes, the first
ENOUGH = 10_000  # of `signal`, for trees that are "auto"
_EACH = 72  # and for each code that rows have, which may be a signal of its own that trees take noise from
_MOST_EACH = 20  # codes of a column of numbers: its image has few entries
_DEPTHS = ((1, 4), (16_000, 5), (40_000, 6))  # the depth, from n mu on
_RATIO = 6.0  # of the mean square of the images of leaves to that of the other columns
_FLOOR = 0.05  # of the largest term, added to the size of every term
_SYNTHETIC = 4096  # synthetic rows
_INNER = 0.15, 0.85  # the quantiles between which a threshold lies
_ORDERS = 8  # orders of the values of a column, at most one for each class
_GUIDED = 0.5  # the share of nodes whose column is that of a pair, if there are pairs
_PLACES = 256  # in an order


@dataclass(frozen=True)
class Forest:
    """Complete binary trees over columns of codes, drawn from releases.

    Attributes
    ----------
    orders : tuple of (int, tuple of int)
        A column and the place of each of its codes, 0 to 255; a column can have several orders.
    asked, thresholds : tuple of tuple of int
        For each tree and node, in breadth-first order, the number of an order and a threshold: a row goes to the second
        child if its place is above the threshold.
    """

    orders: tuple[tuple[int, tuple[int, ...]], ...]
    asked: tuple[tuple[int, ...], ...]
    thresholds: tuple[tuple[int, ...], ...]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def depth(self) -> int:
        """Return the number of questions that lead to a leaf."""
        return len(self.asked[0]).bit_length()

    @property
    def sizes(self) -> list[int]:
        """Return the number of leaves of each tree."""
        return [1 << self.depth] * len(self.asked)

    def leaves(self, columns: Any) -> np.ndarray:
        """Return the leaf of each row in each tree: uint8, shape (trees, n), from columns of places by order."""
        return kernel.leaves(columns, *self._nodes)

    @cached_property
    def places(self) -> list[tuple[int, np.ndarray]]:
        """Return `orders` as arrays of bytes."""
        return [(column, frozen(np.array(places, np.uint8))) for column, places in self.orders]

    @cached_property
    def _nodes(self) -> tuple[np.ndarray, np.ndarray]:
        """Return `asked` and `thresholds` as the kernel takes them."""
        return frozen(np.array(self.asked, np.uint32)), frozen(np.array(self.thresholds, np.uint8))

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a file, for `read_forest`."""
        return {
            "orders": [{"column": column, "places": list(places)} for column, places in self.orders],
            "asked": [list(each) for each in self.asked],
            "thresholds": [list(each) for each in self.thresholds],
        }


def read_forest(saved: Any) -> Forest:
    """Return the trees in a file; refuse invalid content."""
    saved = entries(saved, "orders", "asked", "thresholds")
    lists = saved["orders"], saved["asked"], saved["thresholds"]
    if not all(isinstance(each, list) and each for each in lists) or len(lists[1]) != len(lists[2]):
        raise ValueError("wanted orders of codes, and questions and thresholds for each tree")
    orders = []
    for each in lists[0]:
        each = entries(each, "column", "places")
        places = tuple(integers(each["places"], 0, _PLACES - 1).tolist())
        orders.append((integer(each["column"], 0, 1 << 31), places))
    questions = tuple(tuple(integers(each, 0, len(orders) - 1).tolist()) for each in lists[1])
    thresholds = tuple(tuple(integers(each, 0, _PLACES - 1).tolist()) for each in lists[2])
    nodes = len(questions[0])
    depth = nodes.bit_length()
    if (
        nodes + 1 != 1 << depth
        or not 1 <= depth <= kernel.DEEPEST
        or {*map(len, questions), *map(len, thresholds)} != {nodes}
    ):
        raise ValueError(f"trees must have 2**D - 1 nodes for a depth D of 1 to {kernel.DEEPEST}, got {nodes}")
    return Forest(tuple(orders), questions, thresholds)


def most_trees(trees: int | str, classes: int) -> int:
    """Return the number of trees that a fit of any number of rows plans for; "auto" may come to fewer, or none."""
    return max(number for _, number in _numbers(classes)) if trees == "auto" else int(trees)


def number_of(n: float, epsilon: Number, delta: Number, trees: int | str, classes: int) -> int:
    """Return the number of trees, given the public or released number of rows; it grows with `n`."""
    if trees != "auto":
        return int(trees)
    many = signal(n, epsilon, delta)
    return max(number for least, number in _numbers(classes) if many >= least)


def _numbers(classes):
    """Return the numbers of trees: each further class takes time for each tree."""
    return _TREES if classes == 2 else _TREES[:1]


def depth_of(n: float, epsilon: Number, delta: Number, trees: int | str, codes: float = 0.0) -> int:
    """Return the depth of the trees, or 0 for none.

    It follows from the public or released number of rows, from the budget and, for "auto", from `held_codes`.
    """
    many = signal(n, epsilon, delta)
    if trees == "auto" and many < max(ENOUGH, _EACH * codes):
        return 0
    return max(depth for least, depth in _DEPTHS if many >= least or depth == _DEPTHS[0][1])


def signal(n: float, epsilon: Number, delta: Number) -> float:
    """Return n mu for n rows, where a Gaussian mechanism with noise of 1 / mu is (epsilon, delta)-DP."""
    return n / _sigma(epsilon, delta)


@lru_cache(maxsize=64, typed=True)
def _sigma(epsilon, delta):
    """Return the noise of a Gaussian mechanism of this budget; a fit asks for it several times."""
    return gaussian_sigma(epsilon, delta)


def held_codes(opening: Any) -> float:
    """Return about how many codes of all columns rows have, by released counts: for shares s, one over the sum of s^2.

    Leaves make the images of single columns shorter beside the noise. Where effects are spread over many values, each
    of them needs a clear sum, and trees would cost accuracy, however many rows there are.
    """
    size = 0.0
    for count, rank in zip(opening.counts, opening.ranks, strict=True):
        total = reals.sum(count)
        if total > 0:
            codes = total**2 / reals.dot(count, count)
            size += codes if rank is None else min(codes, _MOST_EACH)
    return size


def weight(square: float, trees: int) -> float:
    """Return the entry w of a leaf, given the centred mean square of the image without trees."""
    return math.sqrt(_RATIO * square / trees)


def grow(
    opening: Any, coef: np.ndarray, trees: int, depth: int, rng: np.random.Generator, pairs: Any = ()
) -> tuple[Forest, np.ndarray, float] | None:
    """Draw trees, from releases alone.

    Parameters
    ----------
    opening : Opening
        The released counts of codes.
    coef : ndarray of float64, shape (codes, columns)
        What each code adds to the scores so far, with one column for two classes.
    trees, depth : int
    rng : numpy.random.Generator
    pairs : sequence of (int, int)
        The numbers of the columns of chosen pairs, which are the last columns of the opening. Trees do not ask about
        these last columns.

    Returns
    -------
    (Forest, ndarray of float64, shape (trees, 2**depth), float) or None
        The trees, the share of the rows in each leaf, and the variance of what single columns add to the scores of
        rows, as if they were independent; None if no column has two codes that rows have.
    """
    informative = _columns(opening, len(opening.counts) - len(pairs), coef, rng)
    if not informative:
        return None
    orders: list[Any] = []
    sizes, first = [], []  # of the orders of a column, the first one
    for _, places, size in informative:
        first.append(len(orders))
        orders += places
        sizes.append(size)
    first.append(len(orders))
    chances = np.cumsum(np.array(sizes) + _FLOOR * max(sizes))
    columns = [column for column, places, _ in informative for _ in places]
    rows = _synthetic(opening, [column for column, _, _ in informative], rng)
    views = np.stack([order[rows[k]] for k, (_, places, _) in enumerate(informative) for order in places])
    partners = _partners([column for column, _, _ in informative], pairs)
    shape = trees, (1 << depth) - 1
    choices = np.searchsorted(chances, rng.random(shape) * chances[-1], side="right").clip(max=len(informative) - 1)
    if partners:
        _follow(partners, choices, rng.random(shape) < _GUIDED, rng.random(shape))
    firsts = np.array(first)
    positions = firsts[choices] + (rng.random(shape) * (firsts[choices + 1] - firsts[choices])).astype(np.int64)
    low, high = _INNER
    thresholds, codes = kernel.thresholds([*views], positions.astype(np.uint32), low + (high - low) * rng.random(shape))
    forest = Forest(
        tuple((column, tuple(order.tolist())) for column, order in zip(columns, orders, strict=True)),
        tuple(map(tuple, positions.tolist())),
        tuple(map(tuple, thresholds.tolist())),
    )
    return forest, codes / _SYNTHETIC, sum(size**2 for size in sizes)


def _partners(columns, pairs):
    """Return the places in `columns` of the partners of each place that is in a pair."""
    place, partners = {column: k for k, column in enumerate(columns)}, {}
    for a, b in pairs:
        if a in place and b in place:
            partners.setdefault(place[a], []).append(place[b])
            partners.setdefault(place[b], []).append(place[a])
    return partners


def _follow(partners, choices, guided, at):
    """Let guided nodes ask about a partner of what a node above them asks about, or about any that has one.

    `drawn` has the place of the column of each node, which changes; `at` are random numbers in [0, 1).
    """
    above = [_above(q) for q in range(choices.shape[1])]
    for t, q in np.argwhere(guided).tolist():
        ancestors = {int(choices[t, node]) for node in above[q]}
        near = [b for a in sorted(ancestors) for b in partners.get(a, ()) if b not in ancestors] or list(partners)
        choices[t, q] = near[int(at[t, q] * len(near))]


def _above(q):
    """Return the nodes above node q."""
    return [] if q == 0 else [(q - 1) // 2, *_above((q - 1) // 2)]


def _columns(opening, n_columns, coef, rng):
    """Return for each of the first columns with two codes that rows have its number, its orders, and its term's size.

    The size of a term is the root of its mean square over the rows.
    """
    informative, start, classes = [], 0, coef.shape[1]
    for j, (count, rank) in enumerate(zip(opening.counts[:n_columns], opening.ranks[:n_columns], strict=True)):
        part = coef[start : start + len(count)]
        start += len(count)
        if np.count_nonzero(count) < 2:
            continue
        share = count / reals.sum(count)
        term = part - np.array([reals.dot(share, column) for column in np.ascontiguousarray(part.T)])
        size = math.sqrt(sum(reals.dot(share, np.square(column)) for column in np.ascontiguousarray(term.T)))
        if rank is not None:
            informative.append((j, [_order_of_numbers(rank, len(count))], size))
            continue
        of = range(classes) if classes <= _ORDERS else sorted({int(rng.random() * classes) for _ in range(_ORDERS)})
        informative.append((j, [_order_of_values(term[:, c], share) for c in of], size))
    return informative


def _order_of_numbers(rank, size):
    """Return the place of each bin, by its rank if there are too many, after those of missing numbers."""
    places, most = np.arange(len(rank)), _PLACES - 1
    if len(rank) > most:
        places = np.maximum.accumulate(np.clip((rank + 1) / 2 * most, 0, most - 1).astype(np.int64))
    return np.append(places + 1, np.zeros(size - len(rank), np.int64)).astype(np.uint8)


def _order_of_values(term, share):
    """Return the place of each value by its term; if there are too many, neighbours of few rows share one."""
    by_term = np.argsort(term, kind="stable")
    places = np.arange(len(term))
    if len(term) > _PLACES:
        below = np.cumsum(share[by_term])
        places = np.clip(below * _PLACES, 0, _PLACES - 1).astype(np.int64)
    order = np.empty(len(term), np.uint8)
    order[by_term] = places
    return order


def _synthetic(opening, columns, rng):
    """Return the codes of synthetic rows, drawn from the released counts of each column: shape (columns, rows)."""
    rows = []
    for j in columns:
        below = np.cumsum(opening.counts[j])
        heights = rng.random(_SYNTHETIC) * below[-1]
        rows.append(np.searchsorted(below, heights, side="right").clip(max=len(below) - 1))
    return np.stack(rows)

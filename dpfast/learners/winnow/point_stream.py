"""Hard instances of private online learning: streams of a point function [BF, section 4.4]."""

import numpy as np

from dpfast import random
from dpfast.base.parameters import count
from dpfast.kernels.own import frozen
from dpfast.tables import BitMatrix

_MOST_BYTES = 1 << 32


def make_point_stream(
    horizon: int, dimension: int, insertions: int, *, random_state: int | np.random.Generator | None = None
) -> tuple[BitMatrix, np.ndarray, int]:
    """Return a stream of a point function on which private online learners make many mistakes.

    Point x of d is a row of signs, -1 except for a +1 at position x. The target is "is it point j?", which is the
    halfspace of the unit vector e_j, with margin 1 [BF, section 4.4]. The stream is that by which the
    bound of `dpfast.accounting.papers.lower_bounds` is proved: different points other than j, one per round, then the
    first one again; at some place among them j is repeated `insertions` times. By `dpfast.accounting.point_lower_bound`
    every private learner makes that many mistakes on one of these streams.

    Parameters
    ----------
    horizon : int, >= 1
        The number T of rounds.
    dimension : int, >= 2
        The number d of columns.
    insertions : int
        The number k of repetitions, in [1, min(T, d - 1)].
    random_state : None, int or numpy.random.Generator, default=None

    Returns
    -------
    X, y, target : BitMatrix, shape (T, d); ndarray of -1 and 1, shape (T,); int
        The points, their labels, and the point j.

    Examples
    --------
    >>> X, y, target = make_point_stream(8, 100, 3, random_state=0)
    >>> X.shape, int((y == 1).sum()), bool((X.toarray()[:, target] == (y == 1)).all())
    ((8, 100), 3, True)
    """
    T, d = count(1).read("horizon", horizon), count(2).read("dimension", dimension)
    different = min(T, d - 1)
    k = count(1, different).read("insertions", insertions)
    words = -(-d // 64)
    if 8 * words * T > _MOST_BYTES:
        raise ValueError(f"horizon times dimension must be at most 2**35 bits, got {T:,} rounds of {d:,}")
    rng = random.generator(random_state)
    target, *others = rng.permutation(d)[: different + 1].tolist() if different > d // 8 else _some(d, different, rng)
    points = np.full(T, others[0])
    points[:different] = others
    start = int(rng.integers(different - k + 1))
    points[start : start + k] = target
    rows = np.zeros((T, words), np.uint64)
    rows[np.arange(T), points // 64] = np.uint64(1) << (points % 64).astype(np.uint64)
    return BitMatrix.from_rows(frozen(rows), d), np.where(points == target, 1, -1), target


def _some(d, different, rng):
    """Return this many different points and one more, in random order, without a list of all."""
    marks = {}
    while len(marks) <= different:
        marks[int(rng.integers(d))] = True
    return list(marks)

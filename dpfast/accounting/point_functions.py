"""Number of mistakes that every private online learner makes on point functions ([BF], section 4.4).

[BF] is Bun, Fang, "Privately Learning Decision Lists and a Differentially Private Winnow". Point j of d, as a row of -1
but for a 1 at place j, is told from all others by the unit vector e_j: point functions are halfspaces of margin 1 in d
dimensions. (The paper's rows, of 1 but for a -1, give them with all labels turned.) It quotes a bound of order min(ln
d, ln T) mistakes at (1/2, 1/(20 ln T))-DP, without a constant, from Cohen and others 2024. Here is one with its
constants, by group privacy: of the same order in T, d and 1/epsilon for delta of about 1/T, weaker for larger ones.

**Theorem.** The hypotheses h_1, ..., h_T of a learner, h_t a function of the examples before round t, be (epsilon,
delta)-DP where one example is replaced. With N = min(T, d - 1), for every k <= N some stream of T examples that a point
function is right on has an expected number of mistakes of at least

    [k - delta * sum_{i<k} (e^(i epsilon) - 1)/(e^epsilon - 1)] / [1 + sum_{i<k} e^(i epsilon) / (N - k + 1)].

Where a neighbour has a blank in place of an example (add-remove), replacing is two steps: (2 epsilon, (1 + e^epsilon)
delta). docs/proofs_learning.md has the proof.
"""

import math
from typing import NamedTuple

from .numbers import Number, calculator, check_neighbors, count, delta_of, epsilon_of, float_above

_MOST_INSERTIONS = 10**6  # any k gives a bound; larger ones are best where epsilon is tiny only


class PointBound(NamedTuple):
    """A lower bound on mistakes, and the stream that it is for.

    Attributes
    ----------
    mistakes : float
        The expected mistakes that every learner with the claim makes on some stream of this kind.
    insertions : int
        The number k of rounds that the proof replaces by examples of the point.
    """

    mistakes: float
    insertions: int


@calculator
def point_lower_bound(
    epsilon: Number, delta: Number, *, horizon: int, dimension: int, neighbors: str = "replace"
) -> PointBound:
    """Return the expected mistakes that every private online learner makes on some stream of a point function.

    Parameters
    ----------
    delta : real, 0 or at least 1e-300 and below 1
    horizon : int, >= 1
        The number T of rounds.
    dimension : int, >= 2
        The number d of points, or of columns of the corresponding halfspaces of margin 1.
    neighbors : {"replace", "add-remove"}

    Returns
    -------
    PointBound
        The best bound over k, rounded down, and that k; `dpfast.make_point_stream` draws the stream of the proof.

    Notes
    -----
    The time is linear in the best k, about ln(min(T, d)) / epsilon.

    Examples
    --------
    >>> [round(point_lower_bound(1.0, 0, horizon=10**k, dimension=10**9).mistakes, 1) for k in (2, 4, 6)]
    [3.0, 6.8, 11.0]
    """
    epsilon_of(epsilon)
    if delta:
        delta_of(delta)
    epsilon, delta = float_above(epsilon), float_above(delta)
    check_neighbors(neighbors)
    if neighbors == "add-remove":
        epsilon, delta = 2 * epsilon, delta * (1 + math.exp(min(epsilon, 700.0)))
    N = min(count("horizon", horizon), count("dimension", dimension, least=2) - 1)
    best, lost, grown, growth = PointBound(0.0, 1), 0.0, 0.0, 1.0
    for k in range(1, min(N, _MOST_INSERTIONS) + 1):
        lost += delta * grown  # (e^(i epsilon) - 1) / (e^epsilon - 1) at i = k - 1
        grown += growth  # of e^(i epsilon), i < k
        mistakes = (k - lost) / (1 + grown / (N - k + 1)) * (1 - 1e-9)
        if mistakes > best.mistakes:
            best = PointBound(mistakes, k)
        if grown > 4 * (N + 1) * (k + 1):  # the bound is below 1/4 from here on
            break
        growth *= math.exp(min(epsilon, 600.0))
    return best

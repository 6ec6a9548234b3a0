"""The privacy of an opening histogram: Gaussian noise on all counts, and a threshold for words.

A table has q columns, and a row has one cell in each. Counts of fixed codes are released with discrete Gaussian noise,
whether the codes occur or not. Words are not listed beforehand: a word that some row has gets the same noise on its
count, and is published, with its noisy count, if that reaches a threshold.

**Fixed codes.** A row that is added changes one count of each column by 1, a replaced one two counts of each: the
counts move by sqrt(q) and sqrt(2 q) in Euclidean norm, and k rows by k times that. A column in which a row counts c
times, as that of the labels, stands for c^2 of the q.

**Theorem (words).** Let neighbours differ in at most k rows. In each column i that holds words, let a count of j <= k
rows of a word that only one of two neighbours has reach the threshold with probability at most j d_i / k, and let d < 1
be the sum of the d_i. With G the curve of the Gaussian mechanism that moves as above,

    delta(E) <= d + G(E).

docs/proofs_privacy.md has the proof.

**Threshold.** On the grid a row counts `unit` steps, and X is discrete Gaussian noise of scale sigma steps. A lone word
of j rows is published if j unit + X >= t. P(X >= m) <= P(N(0, sigma^2) >= m - 1) (Canonne, Kamath, Steinke 2020,
proposition 25), so that t = max over j of j unit + 1 + sigma z(1 - j d / (k w)) will do, where z is the quantile of
N(0, 1), if w columns with the same threshold have d_i = d / w each. In j the first term rises and the second falls
along a curve whose slope falls, so that the maximum over real j is not always at an end: the maximum is taken over all
j = 1 .. k, or, for k above 1000, of both terms apart.

Floats are rounded towards safety: thresholds up.
"""

import math

from scipy import special

from .numbers import Number, check_neighbors, count, delta_of

_UP = 1 + 1e-12
_MOST_ROWS = 1000


def opening_moves(columns: int, neighbors: str, rows_per_unit: int = 1) -> int:
    """Return the square of what the counts of columns, that of the label included, move by in Euclidean norm."""
    check_neighbors(neighbors)
    each = 2 if neighbors == "replace" else 1
    return each * count("columns", columns) * count("rows_per_unit", rows_per_unit) ** 2


def opening_threshold(sigma: Number, delta: float, *, unit: int = 1, words: int = 1, rows_per_unit: int = 1) -> int:
    """Return the least threshold, in steps, at which lone words are published with probability at most delta.

    A row counts `unit` steps, and the noise has the scale `sigma` in steps; `words` columns may hold words.

    >>> opening_threshold(100, 1e-7)
    522
    """
    delta, k = delta_of(delta), count("rows_per_unit", rows_per_unit)
    share = delta / (k * count("words", words)) / _UP
    if not share >= 1e-300:
        raise ValueError(f"delta is too small for {words} columns of words, got {delta!r}")
    scale = float(sigma) * _UP

    def reach(chance):
        return max(0.0, -float(special.ndtri(chance))) * scale * _UP

    if k > _MOST_ROWS:
        return k * unit + 1 + math.ceil(reach(share))
    return max(j * unit + 1 + math.ceil(reach(j * share)) for j in range(1, k + 1))

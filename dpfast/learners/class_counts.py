"""Class counts of cells that every row is in one of, and the shares of the classes that they tell of.

A row is in one cell by the released model, and in one class. The class counts of all cells are thus a histogram of
disjoint places: a row added or deleted moves one count by one; a row replaced leaves one and enters another. Discrete
Laplace noise of scale 1/e under add-remove, and 2/e under replace, on every count makes all of them together e-DP
(`dpfast.mechanisms.discrete_laplace`). Released after a model that is (epsilon - e, delta)-DP, the two are (epsilon,
delta)-DP by basic composition. Everything else is computed from the noisy counts.
"""

from fractions import Fraction

import numpy as np

_SENSITIVITY = {"replace": 2, "add-remove": 1}
_LARGEST_SCALE = 1 << 52  # of noise


def noise_scale(epsilon: Fraction, neighbors: str, share: str = "rule_counts", rows_per_unit: int = 1) -> Fraction:
    """The scale of the noise on each count that makes all of them epsilon-DP; `share` is the parameter that says so.

    For persons of k rows it is k times as large: all of them may leave one place, and enter another.
    """
    scale = rows_per_unit * _SENSITIVITY[neighbors] / epsilon
    if scale > _LARGEST_SCALE:
        least = float(rows_per_unit * _SENSITIVITY[neighbors] / Fraction(_LARGEST_SCALE))
        raise ValueError(f"{share} must be 0 or a share of at least {least:.3g} of epsilon 1, got {float(epsilon):.3g}")
    return scale


def class_shares(counts, labels):
    """Shares of the classes among the rows of each cell, estimated from noisy counts.

    A cell, the rows that a rule decides say, is predicted to be of one class, its own. Negative counts are read as 0; a
    class counted more often than the own one shares its surplus with it, since the cell speaks for its own; then one
    row of each class is added, and one of the own.

    Parameters
    ----------
    counts : ndarray of int, shape (cells, n_classes)
    labels : ndarray of int, shape (cells,)
        The class of each cell.

    Returns
    -------
    ndarray of float64, shape (cells, n_classes)
        Rows sum to one; the own class has the largest share.
    """
    shares = np.maximum(counts, 0).astype(np.float64)
    for share, own in zip(shares, labels, strict=True):
        others = np.sort(np.delete(share, own))[::-1]
        level, pooled = share[own], 0
        while pooled < len(others) and others[pooled] > level:
            level = (level * (pooled + 1) + others[pooled]) / (pooled + 2)
            pooled += 1
        share[:] = np.minimum(share, level)
        share[own] = level
        share += 1
        share[own] += 1
    return shares / shares.sum(axis=1, keepdims=True)

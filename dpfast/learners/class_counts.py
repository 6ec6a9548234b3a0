"""Noisy class counts of disjoint cells, and class shares estimated from them.

Every row is in one cell, determined by the released model, and in one class. The class counts of all cells therefore
form a histogram: adding or deleting a row changes one count by one; replacing a row decreases one count and increases
another. Discrete Laplace noise on every count, of scale 1/e under add-remove and 2/e under replace, makes all counts
together e-DP (`dpfast.mechanisms.discrete_laplace`). If the model is (epsilon - e, delta)-DP, the model and the counts
together are (epsilon, delta)-DP by basic composition. Everything else is computed from the noisy counts.
"""

import numpy as np


def class_shares(counts, labels):
    """Return the shares of the classes among the rows of each cell, estimated from noisy counts.

    Every cell, such as the rows that a rule decides, has an own class, the one that is predicted for it. Negative
    counts are read as 0. If another class has a larger count than the own class, the two share the difference equally,
    so that the own class stays the largest. Finally one row of each class and one more of the own class are added.

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

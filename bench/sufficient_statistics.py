"""Logistic regression from noisy pairs of columns: sufficient statistics that depend on the data, our own version.

Ferrando, Sheldon, "Private Regression via Data-Dependent Sufficient Statistic Perturbation" (TMLR 2025). The logistic
loss is replaced by its Chebyshev polynomial of degree 2 on [-6, 6], of which X'X and X'y are all that is needed, and
these are sums over the tables of counts of pairs of columns. The tables come from AIM (McKenna and others, 2022): round
by round, the pair that is estimated worst is drawn by the exponential mechanism and counted with Gaussian noise, and
the noise is halved when a count told nothing new; all that in zCDP. After the paper's text, not its code, with two
differences: every column's pairs with the label are counted first (the paper's variant), and a pair that was not
counted is estimated as independent given the label, where AIM fits a graphical model to all counts. Floats throughout,
which is in favour of this peer.

A row replaced moves one entry of a table of counts down and one up: sqrt(2) in the second norm, 2 in the first.

How much the quadratic form is regularised is left to whoever calls: who tunes it on the test part does it in favour.
"""

import numpy as np
import scipy.sparse as sp
from numpy.polynomial import Chebyshev, Polynomial

from dpfast.accounting import zcdp_rho

RIDGES = (1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
_TO_COUNT = 0.9  # of the budget; the rest draws what is counted
_LOSS = Chebyshev.interpolate(lambda s: np.logaddexp(0, -s), 2, [-6, 6]).convert(kind=Polynomial).coef


def attributes(names=None, sizes=None):
    """Where columns of 0 and 1 that stand for one attribute begin: by the names "attribute=value", or the numbers."""
    if sizes is not None:
        return np.cumsum([0, *sizes])
    of = [name.split("=")[0] for name in names]
    return np.array([0, *(j for j in range(1, len(of)) if of[j] != of[j - 1]), len(of)])


def codes(X, starts):
    """One code for each attribute, 0 where none of its columns is 1; and how many codes it has."""
    columns = sp.csc_array(X)
    drawn = np.zeros((X.shape[0], len(starts) - 1), np.int64)
    for a, low in enumerate(starts[:-1]):
        high = starts[a + 1]
        block = columns[:, low:high]
        if block.sum(axis=1).max() > 1:
            raise ValueError(f"columns {low} to {high} are not values of one attribute")
        drawn[:, a] = block @ np.arange(1, high - low + 1)
    return drawn, np.diff(starts) + 1


def rows(drawn, sizes):
    """Indicators of the codes and a constant: CSR, shape (n, sum(sizes) + 1)."""
    n, p = drawn.shape
    at = np.column_stack([drawn + np.cumsum([0, *sizes[:-1]]), np.full(n, np.sum(sizes))]).astype(np.int32)
    ends = np.arange(n + 1, dtype=np.int32) * (p + 1)
    return sp.csr_array((np.ones(at.size), at.ravel(), ends), (n, int(np.sum(sizes)) + 1))


def fit(drawn, sizes, y, epsilon, delta, *, ridges=RIDGES, rng):
    """Weights of `rows`, a column for each ridge; each alone is (epsilon, delta)-DP, replace one row.

    Parameters
    ----------
    drawn : ndarray of int, shape (n, p)
        Codes, below `sizes`.
    sizes : ndarray of int, shape (p,)
    y : ndarray, shape (n,)
        -1 and +1.
    epsilon, delta : float
    ridges : array_like, shape (k,)
        In units of the number of rows.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (sum(sizes) + 1, k)
    """
    by_label, pairs = _released(drawn, np.asarray(sizes), y > 0, zcdp_rho(epsilon, delta), rng)
    n, (_, linear, square) = len(y), _LOSS
    count = by_label.sum(axis=0)
    one = count.reshape(1, -1)
    moments = np.block([[pairs, one.T], [one, np.array([[n]])]])
    values, vectors = np.linalg.eigh(moments)
    lean = by_label[1] - by_label[0]
    drift = np.append(lean, lean.sum() / drawn.shape[1])
    flat = vectors.T @ (-linear * drift)
    return vectors @ (
        flat[:, np.newaxis] / (2 * (square * np.maximum(values, 0)[:, np.newaxis] + n * np.array(ridges)))
    )


def _released(drawn, sizes, positive, rho, rng):
    """Estimated counts: by label, shape (2, M), and of pairs of codes, shape (M, M)."""
    n, p = drawn.shape
    X = rows(drawn, sizes)[:, :-1]
    starts = np.cumsum([0, *sizes[:-1]])
    exact = (X.T @ X).toarray()
    exact_by_label = np.stack([X.T @ (positive == side) for side in (False, True)])
    cells = np.append(
        np.outer(sizes, sizes).ravel(), 2 * sizes
    )  # of every pair of columns, and of those with the label

    rounds = 16 * (p + 1)
    sigma, exponent = np.sqrt(rounds / (2 * _TO_COUNT * rho)), np.sqrt(8 * (1 - _TO_COUNT) * rho / rounds)
    noisy_by_label = np.zeros_like(exact_by_label)
    weight_by_label, weight, noisy = np.zeros(p), np.zeros((p, p)), np.zeros_like(exact)

    def count_with_label(a):
        block = slice(starts[a], starts[a] + sizes[a])
        told = exact_by_label[:, block] + np.sqrt(2) * sigma * rng.normal(size=(2, sizes[a]))
        total = weight_by_label[a] + sigma**-2
        noisy_by_label[:, block] += (told - noisy_by_label[:, block]) * sigma**-2 / total
        weight_by_label[a] = total

    def count_pair(a, b):
        i, j = (slice(starts[c], starts[c] + sizes[c]) for c in (a, b))
        told = exact[i, j] + np.sqrt(2) * sigma * rng.normal(size=(sizes[a], sizes[b]))
        total = weight[a, b] + sigma**-2
        noisy[i, j] += (told - noisy[i, j]) * sigma**-2 / total
        noisy[j, i] = noisy[i, j].T
        weight[a, b] = weight[b, a] = total

    def estimated():
        by_label = np.maximum(noisy_by_label, 1e-9)
        label = np.average(np.add.reduceat(noisy_by_label, starts, axis=1), axis=1, weights=weight_by_label)
        label = np.clip(label, 1, n)
        label *= n / label.sum()
        by_label *= (label[:, np.newaxis] / np.add.reduceat(by_label, starts, axis=1)).repeat(sizes, axis=1)
        free = np.einsum("si,sj->ij", by_label / label[:, np.newaxis], by_label)
        known = (weight > 0).repeat(sizes, axis=0).repeat(sizes, axis=1)
        pairs = np.where(known, np.maximum(noisy, 0), free)
        for block in map(slice, starts, starts + sizes):
            pairs[block, block] = np.diag(by_label[:, block].sum(axis=0))
        return by_label, pairs

    spent = 0.0
    for a in range(p):
        count_with_label(a)
        spent += 1 / (2 * sigma**2)
    by_label, pairs = estimated()
    upper = np.triu(np.ones((p, p), bool), 1).ravel()
    while spent < rho * (1 - 1e-9):
        cost = exponent**2 / 8 + 1 / (2 * sigma**2)
        if rho - spent < 2 * cost:  # the last round takes what is left
            sigma, exponent = 1 / np.sqrt(2 * _TO_COUNT * (rho - spent)), np.sqrt(8 * (1 - _TO_COUNT) * (rho - spent))
            cost = rho - spent
        spent += cost
        wrong = np.add.reduceat(np.add.reduceat(np.abs(exact - pairs), starts, axis=0), starts, axis=1).ravel()
        wrong_by_label = np.add.reduceat(np.abs(exact_by_label - by_label).sum(axis=0), starts)
        score = np.append(np.where(upper, wrong, -np.inf), wrong_by_label) - np.sqrt(2 / np.pi) * sigma * cells
        chosen = int(np.argmax(exponent / 4 * score + rng.gumbel(size=len(score))))  # a score moves by 2 either way
        before = by_label, pairs
        if chosen < p * p:
            count_pair(*divmod(chosen, p))
        else:
            count_with_label(chosen - p * p)
        by_label, pairs = estimated()
        moved = np.abs(pairs - before[1]).sum() / 2 if chosen < p * p else np.abs(by_label - before[0]).sum()
        if moved <= np.sqrt(2 / np.pi) * sigma * cells[chosen]:
            sigma, exponent = sigma / 2, 2 * exponent
    return by_label, pairs

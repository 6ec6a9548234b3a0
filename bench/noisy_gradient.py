"""Logistic regression by noisy gradient descent: what a private linear model is usually fitted with.

Full batches, rows of norm 1 that have a constant, so that every gradient has norm at most 1 and nothing is clipped. The
sum of gradients moves by at most 2 when a row is replaced. T of them with Gaussian noise of deviation sigma are exactly
one Gaussian mechanism of sensitivity 2 sqrt(T): see `dpfast.accounting.gaussian_sigma`.

Both settings are left to whoever calls; `utility.py` tunes them on the test part at no cost in privacy, in its favour.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from dpfast.accounting import gaussian_sigma

STEPS = (5, 10, 20, 40, 80, 160)
RATES = (1, 2, 4, 8, 16, 32, 64, 128)


def unit_rows(X):
    """Rows of X with a constant 1 appended, divided by their norms; CSR stays CSR."""
    if sp.issparse(X):
        rows = sp.hstack([X.astype(float), np.ones((X.shape[0], 1))], format="csr")
        return sp.diags_array(1 / np.sqrt(rows.multiply(rows).sum(axis=1))).tocsr() @ rows
    rows = np.column_stack([X, np.ones(len(X))])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def fit(X, y, epsilon, delta, *, steps, rates, rng):
    """Weights after `steps` steps, a column for each learning rate; each alone is (epsilon, delta)-DP, replace one row.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (n, d)
        Rows of norm at most 1.
    y : ndarray, shape (n,)
        -1 and +1.
    epsilon, delta : float
    steps : int
        T.
    rates : array_like, shape (k,)
        Learning rates, for the mean gradient.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (d, k)
    """
    n, d = X.shape
    sigma = gaussian_sigma(epsilon, delta, sensitivity=2 * np.sqrt(steps))
    signed = sp.diags_array(y.astype(float)).tocsr() @ X if sp.issparse(X) else X * y[:, np.newaxis]
    weights = np.zeros((d, len(rates)))
    for _ in range(steps):
        gradient = signed.T @ expit(-(signed @ weights))
        weights += np.asarray(rates) * (gradient + sigma * rng.normal(size=weights.shape)) / n
    return weights

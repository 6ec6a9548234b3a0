"""Logistic regression by private Frank-Wolfe: steps to corners of an l1 ball, drawn by their gradient.

Talwar, Thakurta, Zhang, "Nearly Optimal Private LASSO" (2015), with exact selection. A row adds y x_j times its share,
a number of [0, 1] in steps of 1 / UNIT, to the score of a corner, |x_j| <= 1: a row replaced moves scores by at most
2 UNIT either way, their range is 4 UNIT, and T draws of exponent t are T (4 UNIT t)^2 / 8-zCDP. (Real features are
summed first and rounded then, which is a little in favour of this peer.)

Both settings are left to whoever calls; `utility.py` tunes them on the test part at no cost in privacy, in its favour.
"""

import numpy as np
import scipy.sparse as sp
from scipy.special import expit

from dpfast.accounting import zcdp_rho
from dpfast.mechanisms import exponential

STEPS = (5, 10, 20, 40, 80)
RADII = (1, 3, 10, 30, 100)
UNIT = 256


def rows(X):
    """X with a constant 1 appended; CSR stays CSR."""
    constant = np.ones((X.shape[0], 1))
    return sp.hstack([X.astype(float), constant], format="csr") if sp.issparse(X) else np.column_stack([X, constant])


def fit(X, y, epsilon, delta, *, steps, radius, rng):
    """Weights after `steps` steps; (epsilon, delta)-DP, replace one row.

    Parameters
    ----------
    X : ndarray or CSR matrix, shape (n, d)
        Entries of at most 1 in size.
    y : ndarray, shape (n,)
        -1 and +1.
    epsilon, delta : float
    steps : int
        T.
    radius : float
        Of the l1 ball.
    rng : numpy.random.Generator

    Returns
    -------
    ndarray, shape (d,)
    """
    exponent = np.sqrt(8 * zcdp_rho(epsilon, delta) / steps) / (4 * UNIT) * (1 - 1e-12)
    weights = np.zeros(X.shape[1])
    for t in range(steps):
        shares = np.floor(UNIT * expit(-y * (X @ weights)))
        agreement = np.rint(X.T @ (y * shares)).astype(np.int32)
        corner, sign = divmod(int(exponential(np.ravel([agreement, -agreement], "F"), exponent, rng=rng)), 2)
        weights *= 1 - 2 / (t + 2)
        weights[corner] += 2 / (t + 2) * (-radius if sign else radius)
    return weights

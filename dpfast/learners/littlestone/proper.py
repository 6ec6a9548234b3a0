"""Conversion of a function that is not a member to members, by [Lyu, remark after Theorem 3] and [GGKM21].

**Why.** Let f be the SOA of a k-irreducible part G of H, and mu any distribution on the points. Some member of G agrees
with f on k points drawn from mu. If k is large relative to the VC dimension, some member therefore errs on f with
probability at most a small a under mu. This holds for every mu, so by von Neumann's minimax theorem one mixture of
members errs on f with probability at most a at every single point. Hence on any rows the average error of the members
of the mixture is at most the error of f plus a, and the best member is at least as good as the average. The members
depend only on f and H, which are public; the exponential mechanism chooses the best of them on the rows.

[GGKM21] is B. Ghazi, N. Golowich, R. Kumar, P. Manurangsi, Sample-efficient proper PAC learning with approximate
differential privacy, STOC 2021.
"""

import numpy as np
from scipy.optimize import linprog

_LEAST_WEIGHT = 1e-9


def members_near(hypothesis_class, code, most):
    """Return codes of members, a mixture of which is close to this function at every point; itself if it is a member.

    Parameters
    ----------
    hypothesis_class : HypothesisClass
    code : int or bytes
        The code of a function of the root class.
    most : int
        Number of members to use of a class that is too large to be listed.

    Returns
    -------
    list of int
    """
    if hypothesis_class._is_member(code):
        return [code]
    members = hypothesis_class._some_members(most)
    if len(members) < hypothesis_class.size:
        return members  # point functions: each errs on the function 0 at a point of its own
    points = np.arange(hypothesis_class.n_points)
    labels = hypothesis_class._labels(code, points)
    errs = np.array([hypothesis_class._labels(member, points) != labels for member in members], float).T
    if not errs.any(axis=0).all():
        return [members[int(np.argmin(errs.sum(axis=0)))]]
    weights = best_mixture(errs)
    return [member for member, weight in zip(members, weights, strict=True) if weight > _LEAST_WEIGHT]


def best_mixture(errs):
    """Return weights of columns, of sum 1, that minimize the largest row sum; equal weights if no solution is found.

    Parameters
    ----------
    errs : ndarray of float, shape (rows, columns)
    """
    rows, columns = errs.shape
    found = linprog(
        np.append(np.zeros(columns), 1),
        A_ub=np.hstack([errs, -np.ones((rows, 1))]),
        b_ub=np.zeros(rows),
        A_eq=np.append(np.ones(columns), 0)[np.newaxis],
        b_eq=[1],
    )
    return found.x[:-1] if found.success else np.full(columns, 1 / columns)

"""From a function that is no member to members: the conversion that [Lyu, remark after Theorem 3] takes from [GGKM21].

**Why.** Let f be the SOA of a k-irreducible part G of H, and mu any law on the points. On k points drawn from mu some
member of G agrees with f, so that, k being large against the VC dimension, some member errs on f with probability at
most a small a under mu. This is so for every mu; by von Neumann's theorem one mixture of members errs on f with
probability at most a at every single point. Then on any rows the average of the mixture's members has at most the
errors of f and a share a of all rows more, and the best of them no more than the average. The members depend on f and
H, which are public; which of them is best on the rows is told by the exponential mechanism.

[GGKM21] is B. Ghazi, N. Golowich, R. Kumar, P. Manurangsi, Sample-efficient proper PAC learning with approximate
differential privacy, STOC 2021.
"""

import numpy as np
from scipy.optimize import linprog

_LEAST_WEIGHT = 1e-9


def members_near(hypothesis_class, code, most):
    """Codes of members, a mixture of which is near this function at every point; itself if it is one.

    Parameters
    ----------
    hypothesis_class : HypothesisClass
    code : int or bytes
        Of a function of the root class.
    most : int
        Members asked of a class too large to be listed.

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
    """Weights of columns, of sum 1, whose largest row sum is least; all alike if no solution is found.

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

"""The loss of `HalfspaceClassifier`, and the probabilities that its scores mean.

With p the softmax of a row's scores, the residual of a row of class y is h (e_y - q): h = min(1, 2 (1 - p_y)), and q
the chances of the other classes given that it is one of these, 0 for y (csrc/logistic.h). So |residual| <= sqrt(2), and
of two classes, of which one score is kept, <= 1: twice what is left to learn of a row, and no more for a row on the
wrong side than for one on the boundary.

**It is the gradient of a convex loss.** Let m = ln(sum of e^f_c over c != y) - f_y, which is convex in the scores; its
gradient is q - e_y. The loss phi(m), with phi(m) = 2 ln(1 + e^m) for m <= 0 and m + 2 ln 2 above, has phi' = 2 / (1 +
e^-m) = 2 (1 - p_y) up to m = 0 and 1 above: phi is convex and rises, so that phi(m) is convex.

**Strictly proper.** Let classes have chances pi. As h (e_y - q) = s_y (e_y - p) with s_y = h / (1 - p_y), the mean
residual is 0 if and only if pi_c s_c = p_c (sum of pi_y s_y), that is, if pi_c is proportional to G(p_c) = p_c / s_c =
p_c max(1/2, 1 - p_c). G rises strictly, so that for given pi one factor lambda alone makes the G^-1(lambda pi_c) add up
to 1: the minimum is at one p, its most probable class is that of pi, and pi follows from it. Of two classes with scores
apart by f the log odds are sign(f) ln((1 + e^|f|) / 2).
"""

import numpy as np

from dpfast.kernels.reals import exp, log


def class_weights(declared, classes):
    """Declared weights of classes, the largest 1: float64, shape (k,).

    Parameters
    ----------
    declared : dict
        Positive finite numbers by class; a class that it does not name has weight 1.
    classes : ndarray, shape (k,)

    Raises
    ------
    ValueError
        For a class that there is not.
    """
    known = classes.tolist()
    if foreign := [label for label in declared if label not in known]:
        raise ValueError(f"class_weight names {foreign[0]!r}, which is none of the classes {known[:5]!r}")
    weights = np.array([float(declared.get(label, 1)) for label in known])
    return weights / weights.max()


def starts(sizes):
    """The scores of a row of which nothing is known: float64, shape (1,) for two classes, else (k,).

    Parameters
    ----------
    sizes : ndarray of float64, shape (k,)
        Of the classes, each above 0.
    """
    logs = log(sizes)
    return logs[1:] - logs[:1] if len(logs) == 2 else logs - logs.mean()


def log_odds(scores):
    """Of the second of two classes: float64, the shape of the scores."""
    size = np.abs(np.asarray(scores, np.float64))
    return np.copysign(size + log((1 + exp(-size)) / 2), scores)


def log_chances(scores):
    """Logarithms of the chances of classes, but for a number for each row: float64, shape (n, k).

    Parameters
    ----------
    scores : ndarray, shape (n, k)
    """
    below = np.asarray(scores, np.float64) - scores.max(axis=1, keepdims=True)
    chances = exp(below)
    chances /= chances.sum(axis=1, keepdims=True)
    return below + log(np.maximum(0.5, 1 - chances))

"""Class probabilities for models that only predict a class or a side; they cost a share of epsilon.

In addition to the model, noisy class counts of cells are released. A cell is a predicted class, a level of the score or
a rule. Every row is in one cell, determined by the released model, and in one class. The class counts of all cells
therefore form a histogram: adding or deleting a row changes one count by one; replacing a row decreases one count and
increases another. Discrete Laplace noise on every count, of scale 1/e under add-remove and 2/e under replace, makes all
counts together e-DP (`dpfast.mechanisms.discrete_laplace`). If the model is (epsilon - e, delta)-DP, the model and the
counts together are (epsilon, delta)-DP by basic composition. Everything else is computed from the noisy counts.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from dpfast.base.parameters import parameter, real
from dpfast.base.saving import integers
from dpfast.kernels.reals import expit
from dpfast.learners.calibration import Line, fitted_line, groups
from dpfast.report.drawing import Dot


def class_shares(counts, labels):
    """Return the shares of the classes among the rows of each cell, from noisy counts of shape (cells, n_classes).

    Every cell, such as the rows that a rule decides, has an own class, the one that is predicted for it. Negative
    counts are read as 0. If another class has a larger count than the own class, the two share the difference equally,
    so that the own class stays the largest. Finally one row of each class and one more of the own class are added.
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


_LARGEST_COUNT = 1 << 62
_DEVIATIONS = 1.96  # of a confidence interval of about 95%


def reliability(
    counts: np.ndarray, own: np.ndarray, classes: np.ndarray, scale: Any, shares: np.ndarray | None = None
) -> list[Dot]:
    """Return the predicted share of the own class beside the share that came true, for the cells with enough rows.

    `shares` are predicted shares of all classes, by default those of `class_shares`.
    """
    shares = class_shares(counts, own) if shares is None else shares
    return [
        _dot(classes[k], shares[cell, k], counts[cell], k, float(scale))
        for cell, k in enumerate(own)
        if counts[cell].sum() > 5 * float(scale) * math.sqrt(2 * counts.shape[1])  # otherwise they may be noise
    ]


def sided_reliability(counts: np.ndarray, label: Any, scale: Fraction) -> list[Dot]:
    """Return the predicted share of the second class, `label`, beside the share that came true, by groups of levels."""
    pools = groups(counts, math.sqrt(2) * float(scale))
    chances = line_of(counts, scale).log_odds(np.array([group.place for group in pools]))
    return [
        _dot(label, chance, group.rows, 1, float(scale) * math.sqrt(group.levels))
        for chance, group in zip(expit(chances), pools, strict=True)
    ]


def line_of(counts: np.ndarray, scale: Fraction) -> Line:
    """Return the line that maps places of rows to log odds, from noisy counts of levels with noise of this scale."""
    return fitted_line(counts, 2**0.5 * float(scale))


def _dot(label, chance, rows, k, scale):
    """Return a point of the noisy counts of class k among some rows, with a confidence interval."""
    n, deviation = float(rows.sum()), math.sqrt(2) * scale
    share = min(max(float(rows[k]) / n, 0.0), 1.0)
    noise = deviation**2 * ((1 - share) ** 2 + (len(rows) - 1) * share**2) / n**2
    reach = _DEVIATIONS * math.sqrt(noise + share * (1 - share) / n)
    return Dot(str(label), float(chance), share, max(0.0, share - reach), min(1.0, share + reach))


def if_counted(share: str, counts: str, of: Callable[[Any], bool] = lambda model: True) -> Callable[[Any], Any]:
    """Return the decorator of methods that need noisy counts, an attribute, which cost the parameter `share`.

    Estimators of which `of` is false do not have the method.
    """

    def counted(model: Any) -> bool:
        """Return whether there are such counts, or will be after a fit."""
        if not of(model):
            return False
        if not (hasattr(model, counts) if model.__sklearn_is_fitted__() else getattr(model, share) != 0):
            raise AttributeError(f"probabilities need noisy counts of the classes of rows: fit with {share} above 0")
        return True

    return available_if(counted)


def class_counts_from(saved: Any, cells: int, classes: int) -> np.ndarray:
    """Return the noisy class counts in a model's file: int64, shape (cells, classes); refuse any other value."""
    counts = [integers(row, -_LARGEST_COUNT, _LARGEST_COUNT) for row in saved]
    if [len(row) for row in counts] != [classes] * cells:
        raise ValueError(f"wanted {classes} counts for each of {cells} cells")
    return np.stack(counts)


PROBABILITY_SHARE = parameter(
    0.0,
    real(0, 1, "[)"),
    """float in [0, 1), default=0.0
    Share c of epsilon for noisy class counts of the rows by predicted label, or, in linear classifiers, by level of the
    score (`dpfast.learners.calibration`); `predict` then returns the more probable label. `predict_proba` uses the
    counts; 0 releases none. The model is then ((1 - c) epsilon, delta)-DP and the counts are (c epsilon, 0)-DP
    (`dpfast.learners.probabilities`): together they are (epsilon, delta)-DP by basic composition.""",
)


def confusion(predicted: np.ndarray, codes: np.ndarray, classes: int) -> np.ndarray:
    """Return counts of rows by predicted class and true class: int64, shape (classes, classes); private."""
    return np.bincount(predicted * classes + codes, minlength=classes**2).reshape(classes, classes)

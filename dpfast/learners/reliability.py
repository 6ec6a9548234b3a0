"""Predicted probabilities beside the shares that came true, by the noisy counts that a model released of its rows."""

import math
from typing import Any

import numpy as np
from scipy.special import expit

from dpfast.learners.calibration import Line, groups
from dpfast.report.drawing import Dot

_DEVIATIONS = 1.96  # of a confidence interval of about 95%


def of_cells(shares: np.ndarray, counts: np.ndarray, own: np.ndarray, classes: np.ndarray, scale: float) -> list[Dot]:
    """Return the points of the cells that have enough rows.

    `shares` has the predicted shares of the classes in each cell, `counts` the released noisy counts with noise of
    this scale, and `own` the number of the class that is predicted for the cell.
    """
    return [
        _one(str(classes[k]), shares[cell, k], counts[cell], k, scale)
        for cell, k in enumerate(own)
        if counts[cell].sum() > 5 * scale * math.sqrt(2 * counts.shape[1])  # otherwise they may be noise
    ]


def of_levels(line: Line, counts: np.ndarray, label: Any, scale: float) -> list[Dot]:
    """Return the points of groups of score levels, for the second class; `line` gives its log odds."""
    found = groups(counts, math.sqrt(2) * scale)
    chances = expit(line.log_odds(np.array([group.place for group in found])))
    return [
        _one(str(label), chance, group.rows, 1, scale * math.sqrt(group.levels))
        for chance, group in zip(chances, found, strict=True)
    ]


def _one(what, chance, rows, k, scale):
    n, deviation = float(rows.sum()), math.sqrt(2) * scale
    share = min(max(float(rows[k]) / n, 0.0), 1.0)
    noise = deviation**2 * ((1 - share) ** 2 + (len(rows) - 1) * share**2) / n**2
    reach = _DEVIATIONS * math.sqrt(noise + share * (1 - share) / n)
    return Dot(what, float(chance), share, max(0.0, share - reach), min(1.0, share + reach))

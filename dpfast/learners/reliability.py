"""Predicted probabilities beside the shares that came true, by the noisy counts that a model released of its rows."""

import math
from typing import Any

import numpy as np
from scipy.special import expit

from dpfast.learners.calibration import groups
from dpfast.learners.probabilities import class_shares
from dpfast.report.drawing import Dot

_DEVIATIONS = 1.96  # of a confidence interval of about 95%


def said(model: Any) -> list[Dot]:
    """Return predicted probabilities beside the shares that came true; empty if the model released no counts."""
    if hasattr(model, "rule_counts_"):
        own = np.searchsorted(model.classes_, [rule.label for rule in model.rules_])
        return _of_cells(model, model.rule_counts_, own, float(model.rule_counts_scale_))
    if not hasattr(model, "class_counts_"):
        return []
    scale = float(model.class_counts_scale_)
    if not hasattr(model, "decision_function"):
        return _of_cells(model, model.class_counts_, np.arange(len(model.classes_)), scale)
    line = model.calibration_line()
    found = groups(model.class_counts_, math.sqrt(2) * scale)
    chances = expit(line.log_odds(np.array([group.place for group in found])))
    return [
        _one(str(model.classes_[1]), chance, group.rows, 1, scale * math.sqrt(group.levels))
        for chance, group in zip(chances, found, strict=True)
    ]


def _of_cells(model, counts, own, scale):
    shares = class_shares(counts, own)
    return [
        _one(str(model.classes_[k]), shares[cell, k], counts[cell], k, scale)
        for cell, k in enumerate(own)
        if counts[cell].sum() > 5 * scale * math.sqrt(2 * counts.shape[1])  # otherwise they may be noise
    ]


def _one(what, chance, rows, k, scale):
    n, deviation = float(rows.sum()), math.sqrt(2) * scale
    share = min(max(float(rows[k]) / n, 0.0), 1.0)
    noise = deviation**2 * ((1 - share) ** 2 + (len(rows) - 1) * share**2) / n**2
    reach = _DEVIATIONS * math.sqrt(noise + share * (1 - share) / n)
    return Dot(what, float(chance), share, max(0.0, share - reach), min(1.0, share + reach))

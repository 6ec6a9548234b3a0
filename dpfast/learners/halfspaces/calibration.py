"""Probabilities from scores: a slope and a shift, fitted to a noisy histogram of right and wrong.

With two classes a row has one score, and its *hit* is whether it is of the second; with more, its *lead* is the best
score less the second best, and a hit whether it is of the best class. A row is in one cell, that of the bin of its
score or lead and of whether it is a hit. Given scores, replacing a row takes 1 from one cell and adds 1 to another: the
histogram moves by sqrt(2) in Euclidean norm; adding a row moves it by 1.

The log odds of a hit are a slope times the score or the lead, and a shift; `dpfast.learners.calibration` fits both.
Scores are in thresholds, so that slopes are much alike whatever the table. Nothing in the fit sees a row.
"""

import numpy as np

from dpfast.kernels.reals import exp, expit
from dpfast.learners.calibration import Scale, class_sizes, fitted_line

BINS = 16
_REACH = 3.0  # leads beyond it have the first or the last bin
_WIDTH = 2 * _REACH / BINS
_THRESHOLDS = Scale(np.arange(BINS + 1) * _WIDTH - _REACH, 1.0, 2.5, 0.5, (0.1, 50.0))
_AHEAD = 1e-9  # of the best class, relative, so that rounding cannot make another the most probable


def histogram(scores, labels):
    """Rows in each cell: int64, shape (BINS, 2).

    Parameters
    ----------
    scores : ndarray, shape (n, 1) for two classes, else (n, k)
        In thresholds.
    labels : ndarray of int, shape (n,)
    """
    if scores.shape[1] == 1:
        place, hit = scores[:, 0], labels
    else:
        place, hit = _lead(scores), scores.argmax(axis=1) == labels
    bins = np.clip(np.floor(place / _WIDTH) + BINS // 2, 0, BINS - 1).astype(np.int64)
    return np.bincount(2 * bins + hit, minlength=2 * BINS).reshape(BINS, 2)


def fit(counts, deviation):
    """Return the slope, and the shift at a score or a lead of 0.

    Parameters
    ----------
    counts : ndarray of float64, shape (BINS, 2)
        Noisy.
    deviation : float
        Of the noise in a cell.
    """
    line = fitted_line(counts, deviation, _THRESHOLDS)
    return line.slope, line.shift - line.slope * line.middle


def sizes(counts, deviation):
    """Return about how many rows each of two classes has: float64, shape (2,); at least two deviations of its noise.

    Parameters
    ----------
    counts, deviation
        As in `fit`.
    """
    return np.array(class_sizes(counts, deviation))


def probabilities(scores, shift):
    """Of all classes: float64, shape (n, k), for scores of k > 2 classes that the slope is part of.

    The best class has that of a hit. The others share the rest, by the softmax of their scores; none gets more than the
    best.
    """
    every, best = np.arange(len(scores)), scores.argmax(axis=1)
    others = scores.copy()
    others[every, best] = -np.inf
    shared = exp(others - others.max(axis=1, keepdims=True))
    shared /= sum(shared.T)[:, np.newaxis]  # column by column: one order on every machine
    most = shared.max(axis=1)
    hit = np.maximum(expit(_lead(scores) + shift), most / (1 + most) * (1 + _AHEAD))
    shared *= (1 - hit)[:, np.newaxis]
    shared[every, best] = hit
    return shared


def _lead(scores):
    first_two = np.partition(scores, -2, axis=1)[:, -2:]
    return first_two[:, 1] - first_two[:, 0]

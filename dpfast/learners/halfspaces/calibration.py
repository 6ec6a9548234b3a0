"""Probabilities from scores: a slope and a shift, fitted to a noisy histogram of right and wrong.

With two classes a row has one score, and its *hit* is whether it is of the second; with more, its *lead* is the best
score less the second best, and a hit whether it is of the best class. A row is in one cell, that of the bin of its
score or lead and of whether it is a hit. Given scores, replacing a row takes 1 from one cell and adds 1 to another: the
histogram moves by sqrt(2) in Euclidean norm; adding a row moves it by 1.

The log odds of a hit are taken to be a slope times the score or the lead, and a shift. The fit is the maximum of the
likelihood of the cells times a prior: scores are in thresholds, so that slopes are much alike whatever the table. Cells
are noisy counts, and count for as much less as the noise is more than what they say. Nothing in the fit sees a row.
"""

import numpy as np
from scipy.special import expit, softmax

from dpfast.learners.calibration import most_likely

BINS = 16
_REACH = 3.0  # leads beyond it have the first or the last bin
_WIDTH = 2 * _REACH / BINS
_USUAL, _VARIANCE = np.array([2.5, 0.0]), np.array([0.5, 0.25])  # of slope and shift, beforehand
_SLOPES = 0.1, 50.0  # what a slope may be
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
    """The slope and the shift.

    Parameters
    ----------
    counts : ndarray of float64, shape (BINS, 2)
        Noisy.
    deviation : float
        Of the noise in a cell.
    """
    middles = (np.arange(BINS) + 0.5) * _WIDTH - _REACH
    return most_likely(middles, counts, deviation, _USUAL, _VARIANCE, _SLOPES)


def sizes(counts, deviation):
    """About how many rows each of two classes has: float64, shape (2,); at least two deviations of its noise.

    Parameters
    ----------
    counts, deviation
        As in `fit`.
    """
    return np.maximum(counts.sum(axis=0), 2 * deviation * BINS**0.5)


def probabilities(scores, shift):
    """Of all classes: float64, shape (n, k), for scores of k > 2 classes that the slope is part of.

    The best class has that of a hit. The others share the rest, by the softmax of their scores; none gets more than the
    best.
    """
    every, best = np.arange(len(scores)), scores.argmax(axis=1)
    others = scores.copy()
    others[every, best] = -np.inf
    shared = softmax(others, axis=1)
    most = shared.max(axis=1)
    hit = np.maximum(expit(_lead(scores) + shift), most / (1 + most) * (1 + _AHEAD))
    shared *= (1 - hit)[:, np.newaxis]
    shared[every, best] = hit
    return shared


def _lead(scores):
    first_two = np.partition(scores, -2, axis=1)[:, -2:]
    return first_two[:, 1] - first_two[:, 0]

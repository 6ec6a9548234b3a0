"""Log odds and probabilities of scores, by the link of capped residuals; `model` beside it has the proof."""

import numpy as np

from dpfast.kernels.reals import exp, log


def log_odds(scores):
    """Return the log odds of the second of two classes: float64, of the shape of the scores."""
    size = np.abs(np.asarray(scores, np.float64))
    return np.copysign(size + log((1 + exp(-size)) / 2), scores)


def log_chances(scores):
    """Return the logarithms of the probabilities of the classes, up to a constant for each row: float64, shape (n, k).

    Parameters
    ----------
    scores : ndarray, shape (n, k)
    """
    below = np.asarray(scores, np.float64) - scores.max(axis=1, keepdims=True)
    chances = exp(below)
    chances /= chances.sum(axis=1, keepdims=True)
    return below + log(np.maximum(0.5, 1 - chances))

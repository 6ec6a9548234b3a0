"""Log odds of scores, and the slope and the shift of released scores from noisy class counts of score levels.

The residual by margin (csrc/logistic.h) finds a good direction, but it does not determine probabilities: its link is
nearly flat between margins of -1 and 1. So the fit cuts the scores f of the rows into LEVELS intervals with fixed ends,
and releases how many rows of each class each interval has, with noise. A row is in one interval, so that replacing a
row changes two of these counts by 1, and adding one changes one.

The log odds of the second class are taken to be `log_odds(slope * f + shift)`, the link of capped residuals. Given
probabilities p and 1 - p at the middle of a level with noisy counts (a, b), the number (1 - p) b - p a has mean 0 and a
known variance: that of the noise, times p^2 + (1 - p)^2, and that of the labels, p (1 - p) for each row. Taking it to
be Gaussian gives a likelihood. In the prior log(slope) and shift are Gaussian too, about 0. The result is the mean of
log(slope) and of the shift over a grid.

The prior and the ends of the levels were chosen on usps, farm_ads and adult_a9a, the prior also with a look at a table
of 300 rows.

Log odds and probabilities follow from scores by the link of capped residuals; `model` beside it has the proof.
"""

import numpy as np

from dpfast.kernels import reals
from dpfast.kernels.reals import exp, log

ENDS = np.array([-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0])  # between levels
LEVELS = len(ENDS) + 1
_PLACES = np.concatenate([[-5.5], (ENDS[1:] + ENDS[:-1]) / 2, [5.5]])
_SPREADS = 0.5, 0.4  # standard deviations of log(slope) and of the shift in the prior
_SLOPES = np.arange(-14, 15) / 8  # log(slope)
_SHIFTS = np.arange(-24, 25) / 8
_LEAST = 0.25  # variance of a count, besides


def log_odds(scores):
    """Return the log odds of the second of two classes: float64, of the shape of the scores."""
    size = np.abs(np.asarray(scores, np.float64))
    return np.copysign(size + log((1 + exp(-size)) / 2), scores)


def log_chances(scores):
    """Return the logarithms of the probabilities of the classes, up to a constant for each row: shape (n, k)."""
    below = np.asarray(scores, np.float64) - scores.max(axis=1, keepdims=True)
    chances = exp(below)
    chances /= chances.sum(axis=1, keepdims=True)
    return below + log(np.maximum(0.5, 1 - chances))


def slope_and_shift(counts, deviation, shifted=True):
    """Return the posterior mean slope, in [exp(-1.75), exp(1.75)], and shift, within 3 of 0 and 0 unless `shifted`.

    `counts` are noisy `level_counts` of `dpfast.learners.calibration` with these ENDS, in one row.
    """
    steeper, shifts = _SLOPES[:, np.newaxis], (_SHIFTS if shifted else np.zeros(1))[np.newaxis]
    logs = -np.square(steeper / _SPREADS[0]) / 2 - np.square(shifts / _SPREADS[1]) / 2
    for place, (a, b) in zip(_PLACES, np.asarray(counts, np.float64).reshape(LEVELS, 2).tolist(), strict=True):
        p = reals.expit(log_odds(reals.exp(steeper) * place + shifts))
        rows = max(a + b, 0.0)
        variance = deviation**2 * (np.square(p) + np.square(1 - p)) + rows * p * (1 - p) + _LEAST
        logs = logs - (np.square((1 - p) * b - p * a) / variance + reals.log(variance)) / 2
    weights = reals.exp(np.maximum(logs - logs.max(), -700.0))
    total = reals.sum(weights)
    slope = reals.sum(weights * steeper) / total
    return float(reals.exp(slope)), reals.sum(weights * shifts) / total

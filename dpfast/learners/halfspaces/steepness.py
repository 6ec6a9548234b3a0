"""Log odds of scores, and the line from released scores to log odds, from noisy facts about the scores of the rows.

The residual by margin (csrc/logistic.h) finds a good direction, but it determines neither probabilities nor a
threshold: it is nearly flat between margins of -1 and 1, and where columns say little its minimum is far on the side of
the larger class. Where rows are few, their noisy mean also leaves a constant in all scores. So the fit makes two
releases after the rounds. The first is the mean of the scores f of the rows, each within REACH of the score of the
released mean row. The second cuts the scores, minus this middle, into intervals, and counts the rows of each class in
each interval. There are LEVELS intervals with fixed ends, or only four if the noise in a count is more than a 25th of
the number of rows: then most of the ten would hold little but noise, all of which would enter the line. The number of
rows is public or comes from the opening. A row is in one interval, so that replacing a row changes two of these counts
by 1, and adding one changes one.

The log odds of the second class are taken to be `log_odds(slope * (f - middle) + height)`, the link of capped
residuals. The prior of log(slope) is Gaussian. That of the height given the slope is the product of two Gaussians:

* A row of middle score has about the odds of the classes. These are known twice: from the noisy class sizes, with a
  prior under which log odds are rarely beyond 4, and from the middle itself, since the residuals of the two classes
  cancel where their odds are those of `_odds_by_margin`. Both are weighed by their precision. The more the scores
  vary, the less this holds, so the deviation grows with their noisy variance.
* The score of even odds is near 0, where it is for the residual by margin.

Given probabilities p and 1 - p at the middle of a level with noisy counts (a, b), the number (1 - p) b - p a has mean 0
and a known variance: that of the noise, times p^2 + (1 - p)^2, and that of the labels, p (1 - p) for each row. Taking
it to be Gaussian gives a likelihood. Where noise is large, its normalizing factors prefer probabilities near a half,
that is, small slopes. This is right where coefficients are little but noise, so the factors of four levels are raised
to a power that makes them count as ten. The result is the mean of log(slope) and of the height over a grid.

Log odds and probabilities follow from scores by the link of capped residuals; `model` beside it has the proof, and
docs/records/tuning.md the tables on which the constants were chosen.
"""

import math

import numpy as np

from dpfast.kernels import reals
from dpfast.kernels.reals import exp, expit, log

ENDS = np.array([-4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 4.0])  # between levels
LEVELS = len(ENDS) + 1
REACH = 2.0  # of a score from that of the mean row, in the mean of the scores
STEPS = 1 << 12  # of REACH, on the grid
_FEW_ENDS, _NOISY = np.array([-1.0, 0.0, 1.0]), 0.04  # if the noise in a count is more than this share of the rows
_OUTER = 1.375  # the places of the outer levels, over the outer ends
_SLOPE, _SPREAD = 0.1, 0.5  # mean and standard deviation of log(slope) in the prior
_ZERO = 0.6  # standard deviation of the score of even odds
_NEAR, _APART = 0.3, 0.3  # that of the height: at least, and for scores of variance 1
_VARIANCE, _WORTH = 0.64, 25.0  # that of the scores in the prior, and the variance of this number
_MIDDLE = 0.6  # standard deviation of the mean score
_FINE = 0.125
_ODDS = np.arange(-56, 57) * _FINE  # log odds of the classes
_UNEQUAL = 2.0  # their standard deviation in the prior
_CANCELLED = 0.5  # that of the log odds at the middle by the cancellation of residuals
_CERTAIN = 4.0  # the largest middle that tells more than a smaller one
_FARTHEST = 8.0  # score of even odds
_SLOPES = np.arange(-14, 15) / 8  # log(slope)
_HEIGHTS = np.arange(-24, 25) / 8  # beyond the expected one
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


def score_of(odds):
    """Return the score of these log odds: the inverse of `log_odds`, for a number."""
    return math.copysign(float(log(2 * exp(abs(odds)) - 1)), odds)


def class_odds(share, deviation):
    """Return the mean and the variance of the log odds of the second class, given the noisy share of its rows."""
    logs = -(np.square((expit(_ODDS) - share) / deviation) + np.square(_ODDS / _UNEQUAL)) / 2
    weights = exp(np.maximum(logs - logs.max(), -700.0))
    weights /= reals.sum(weights)
    mean = reals.dot(weights, _ODDS)
    return mean, max(reals.dot(weights, np.square(_ODDS - mean)), _FINE**2)


def middle_of(total, deviation, n):
    """Return the estimated mean of n numbers in [-REACH, REACH], given their noisy sum and its deviation."""
    noise = (deviation / n) ** 2
    return min(max(total / n * (_MIDDLE**2 / (_MIDDLE**2 + noise)), -REACH), REACH)


def level_ends(deviation, n):
    """Return the ends between levels for noise of this deviation in each count of n rows."""
    return _FEW_ENDS if deviation > _NOISY * n else ENDS


def slope_and_height(counts, deviation, n, middle, odds):
    """Return the posterior mean slope, in [exp(-1.75), exp(1.75)], and height of a row of middle score, within 11 of 0.

    `counts` are noisy `level_counts` of `dpfast.learners.calibration` with the `level_ends` of this deviation, in one
    row, of scores from which `middle` was subtracted; `deviation` is that of the noise in each. `odds` are
    `class_odds`; without them the height is 0.
    """
    ends = level_ends(deviation, n)
    places = np.concatenate([[_OUTER * ends[0]], (ends[1:] + ends[:-1]) / 2, [_OUTER * ends[-1]]])
    counts = np.asarray(counts, np.float64).reshape(len(places), 2)
    steeper = _SLOPES[:, np.newaxis]
    slopes = exp(steeper)
    logs = -np.square((steeper - _SLOPE) / _SPREAD) / 2
    heights = np.zeros((1, 1))
    if odds is not None:
        expected, variance = _expected(middle, odds)
        heights = expected + _HEIGHTS[np.newaxis]
        variance = variance + _NEAR**2 + np.square(_APART * slopes) * _varied(places, counts, deviation, n)
        even = np.clip(middle - heights / slopes, -_FARTHEST, _FARTHEST)
        logs = logs - (np.square(heights - expected) / variance + log(variance) + np.square(even / _ZERO)) / 2
    for place, (a, b) in zip(places, counts.tolist(), strict=True):
        p = expit(log_odds(slopes * place + heights))
        rows = max(a + b, 0.0)
        variance = deviation**2 * (np.square(p) + np.square(1 - p)) + rows * p * (1 - p) + _LEAST
        logs = logs - (np.square((1 - p) * b - p * a) / variance + LEVELS / len(places) * log(variance)) / 2
    weights = exp(np.maximum(logs - logs.max(), -700.0))
    total = reals.sum(weights)
    slope = reals.sum(weights * steeper) / total
    return float(exp(slope)), reals.sum(weights * heights) / total


def _expected(middle, odds):
    """Return the mean and the variance of the height, from the class sizes and from the middle score."""
    by_sizes, by_middle = 1 / odds[1], 1 / _CANCELLED**2
    mean = (by_sizes * odds[0] + by_middle * _odds_by_margin(middle)) / (by_sizes + by_middle)
    return score_of(mean), 1 / (by_sizes + by_middle)


def _odds_by_margin(score):
    """Return the log odds of the classes for which residuals by margin cancel if all rows have this score."""
    size = min(abs(score), _CERTAIN)
    return math.copysign(float(log((1 + exp(2 * size - 4)) / (1 + exp(-4.0)))), score)


def _varied(places, counts, deviation, n):
    """Return the estimated variance of the scores around their middle, from noisy counts of levels."""
    squares = np.square(places)
    noise = 2 * reals.dot(squares, squares) * (deviation / n) ** 2
    mean = reals.dot(squares, counts[:, 0] + counts[:, 1]) / n
    return max(0.0, (_WORTH * mean + noise * _VARIANCE) / (_WORTH + noise))

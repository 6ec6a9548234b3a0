"""Images of plain rows for noisy descent: rows of numbers or bits, as opposed to rows of codes (`images`).

Rows, dense, sparse or packed, are scaled to norm 1 on the grid of `UnitRows`: a row is an integer vector q of norm at
most 2**17. With two classes the rounds use the residual by margin. After them, the mean of the scores is released, and
counts of score levels (`steepness`).

The opening is the sum of the rows, together with the class sizes. An entry of the sum is set to 0 where it may be
nothing but noise, and otherwise shrunk by the share of its square that is noise on average. The mean m computed from
it therefore has entries only for columns whose mean is large. A round uses the vectors (q - m, h) with limits, as for
codes: limit * |(q - m, h)| is at most `reach`, exactly (`UnitRows.limits`). The mean square of q - m is about that of
rows minus that of m, plus twice the noise that is left in m.
"""

import math

import numpy as np

from dpfast.kernels import reals
from dpfast.kernels.reals import log
from dpfast.learners.calibration import level_counts
from dpfast.learners.halfspaces.images import (
    LEAST,
    SHORTER,
    TOP,
    Opening,
    class_counts,
    class_sizes,
    counted_rows,
    labels_of,
    rows_of_sizes,
)
from dpfast.learners.halfspaces.scales import MOST_COLUMNS
from dpfast.learners.halfspaces.steepness import REACH, STEPS, class_odds
from dpfast.mechanisms.opening import SURE
from dpfast.tables.unit_rows import CentredRows, Centring

_LONGER = 4.0  # the longest step of wide rows, over that of others: entries of many columns seldom agree
_FEW = 2.0  # deviations of the noise in a class size
_LIMIT = 1 << 10  # the largest limit; R is at least a quarter, so limits over R fit into the sums


class PlainShape:
    """Sizes of the images of plain rows, which are public, with the attributes of `CodeShape`.

    `reach` is the norm of a row of norm 1 on the grid. `steady` is the largest step of the intercept over `fastest`.
    """

    def __init__(self, width, reach, classes, fit_intercept):
        self._classes, self._centred = classes, bool(fit_intercept)
        self.by_margin = classes == 2
        self.by_middle = self.by_margin and self._centred
        self._width, self._unit = width, reach
        self.size, self.reach = width + self._centred, _LIMIT * reach
        longer = _LONGER if width > MOST_COLUMNS else 1.0
        self.fastest, self.steady = (128.0 if self._centred else 32.0) * longer, 1 / longer
        self._weight = reach if self._centred else 1
        self.opening_size = width * self._centred + classes

    def most_pairs(self, interactions):
        """Return 0; refuse a number of pairs, since only rows of codes have any."""
        if interactions not in ("auto", 0):
            raise ValueError(
                f'interactions must be 0 or "auto" for rows that are not codes, got {interactions}: give a schema'
            )
        return 0

    def most_trees(self, trees):
        """Return 0; refuse a number of trees, since only rows of codes have any."""
        if trees not in ("auto", 0):
            raise ValueError(f'trees must be 0 or "auto" for rows that are not codes, got {trees}: give a schema')
        return 0

    def opening_square(self, changes):
        return self._centred * (changes * self._unit) ** 2 + changes * self._weight**2


class PlainImage(PlainShape):
    """Images of plain rows, with the methods of `CodeImage`; the opening is the sum of the rows and the class sizes."""

    def __init__(self, rows, classes, fit_intercept):
        super().__init__(rows.shape[1], rows.reach, classes, fit_intercept)
        self._linear = rows.linear
        self._mean, self._top, self._radius = np.zeros(self._width, np.int32), 0, self._unit
        self._large = np.zeros(0, np.intp)  # the columns whose mean is not 0
        self._centre = np.zeros(self._width)  # the mean of rows of norm 1
        self.groups = np.append(np.zeros(self._width, np.int64), np.full(int(self._centred), -1))

    def opening_question(self):
        return _plain_counts, self._classes, self._weight, self._centred

    def open(self, noisy, deviation, n):
        sizes = noisy[len(noisy) - self._classes :] / self._weight
        n = rows_of_sizes(sizes, deviation / self._weight, n)
        self.opening = Opening(n, class_sizes(sizes, deviation / self._weight, n), (), ())
        if self.by_margin:
            share = 0.5 + (sizes[1] - sizes[0]) / (2 * n)
            self.odds = class_odds(share, deviation / self._weight / n * 0.5**0.5)
        if self._centred:
            self._centre_at(noisy, deviation, n)
        return counted_rows(noisy, deviation, self._classes, self._weight)

    def _centre_at(self, noisy, deviation, n):
        """Set what follows from the noisy mean of the rows."""
        mean, noise = noisy[: self._width] / self._unit / n, deviation / self._unit / n
        large = np.abs(mean) > _certain(self._width) * noise
        mean = np.where(
            large, mean * (1 - np.square(noise / np.where(large, mean, 1.0))), self._small(mean, large, noise)
        )
        mean /= max(1.0, reals.norm(mean))
        self._mean = np.rint(mean * self._unit).astype(np.int32)
        self._centre, self._large = self._mean / self._unit, np.flatnonzero(self._mean)
        apart = 1 - reals.dot(mean, mean) + 2 * np.count_nonzero(large) * noise**2
        square = SHORTER * min(max(apart, LEAST), 1.0)
        self._top = int(TOP * math.sqrt(square) * self._unit)
        self._radius = int(math.sqrt(square * (1 + TOP**2)) * self._unit)

    def _small(self, mean, large, noise):
        """Return what is left of the entries of a noisy mean that are not large."""
        return 0.0

    def question(self, u, constants):
        centring = self._mean, self._top, self._radius, self.reach
        return _plain_sums, centring, *self._arguments(u, constants)

    def of_mean(self, u, constants):
        """Return the score of a row that is the released mean: float; scores are those of a round."""
        return float(self._constant(u)[0] + constants[0])

    def middle_question(self, u, constants):
        """Return the question for the sum of the scores minus that of the mean, and its arguments."""
        return _plain_middle, *self._arguments(u, constants - self.of_mean(u, constants))

    def level_question(self, u, constants, ends):
        """Return the question that counts score levels with these ends, and its arguments; scores are of a round."""
        return _plain_levels, *self._arguments(u, constants), ends

    def _arguments(self, u, constants):
        coef, shift = self._by_row(u)
        norm = reals.norm(coef) or 1.0
        coef /= norm
        return coef, norm, (shift + constants).astype(np.float32)

    def entries(self, total):
        sums, residuals = total[: self.size].copy(), total[-1]
        sums[self._large] -= self._mean[self._large, np.newaxis] * residuals
        if self._centred:
            sums[-1] = self._top * residuals
        return sums

    def linear(self, u):
        coef, shift = self._by_row(u)
        return *self._linear(coef), shift

    def _by_row(self, u):
        """Return <u, image> as coefficients of rows of norm 1, (width, columns), and a constant, (columns,)."""
        coef = u[: self._width] * (self._unit / self._radius)
        of_mean = np.array([reals.dot(self._centre, column) for column in np.ascontiguousarray(coef.T)])
        return coef, self._constant(u) - of_mean

    def _constant(self, u):
        """Return what the intercept adds to all scores: float64, shape (columns,)."""
        return u[self._width :].sum(axis=0) * (self._top / self._radius)


class CentredImage(PlainImage):
    """Plain rows of learners that add up weighted rows, which a released mean centres: `CentredRows`.

    The opening is that of `PlainImage`, but a row counts half in the class sizes, and rows whose type excludes negative
    entries change the sum by less: |x - x'|^2 <= |x|^2 + |x'|^2.
    """

    def __init__(self, rows, classes, fit_intercept):
        super().__init__(rows, classes, fit_intercept)
        self._weight = rows.reach // 2 if self._centred else 1
        self._signed = rows.signed
        self.columns = 1 if classes == 2 else classes
        self.width, self.shape, self.reach = rows.shape[1], (rows.shape[0], rows.shape[1] + 1), CentredRows.reach

    def open(self, noisy, deviation, n):
        counted = super().open(noisy, deviation, n)
        self._sizes = np.maximum(self.opening.sizes, _FEW * deviation / self._weight)
        return counted

    def opening_square(self, changes):
        of_rows = changes**2 if self._signed else changes
        of_sizes = changes * self._weight**2
        return self._centred * of_rows * self._unit**2 + of_sizes

    def _small(self, mean, large, noise):
        """Return the entries multiplied by the share of their squares that noise does not explain."""
        left = np.where(large, 0.0, mean)
        square = reals.dot(left, left)
        return left * max(0.0, 1 - np.count_nonzero(~large) * noise**2 / square) if square else left

    def centring(self):
        """Return the `Centring` that follows from the opening; without an intercept it leaves rows as they are."""
        return Centring.of(self._centre, self._top / self._unit, self._radius / self._unit)

    def start(self):
        """Return coefficients of centred rows whose scores are the log odds of the classes: (size,) or (size, k)."""
        start = np.zeros((self.width + 1, self.columns))
        if self._centred:
            start[-1] = self.log_odds() * (self._radius / self._top)
        return start[:, 0] if self.by_margin else start

    def log_odds(self):
        """Return the log odds of the second of two classes, (1,), or the logarithms of sizes minus their mean, (k,).

        No class is taken to have fewer rows than two deviations of the noise in its size.
        """
        logs = log(self._sizes)
        return logs[1:] - logs[:1] if self.by_margin else logs - reals.sum(logs) / len(logs)

    def start_share(self):
        """Return the mean weight min(1, exp(-margin)) of the rows at the start, from the class sizes."""
        sizes = np.sort(self._sizes)[::-1]
        return float(1 - (sizes[0] - sizes[1]) / reals.sum(sizes))


def _certain(size):
    """Return so many deviations that none of `size` numbers of noise alone is expected to exceed them."""
    return max(SURE, math.sqrt(2 * math.log(2) * size.bit_length()))


def _plain_counts(piece, classes, weight, centred):
    """Return the sum of the rows, followed by the class sizes."""
    sizes = weight * class_counts(piece, classes)
    if not centred:
        return sizes
    return np.concatenate([piece.rows.weighted_sum(np.ones(piece.rows.shape[0], np.int32)), sizes])


def _plain_sums(piece, centring, w, step, constants):
    """Return the sum of the rows times their residuals, followed by the sum of residuals."""
    memo = piece.memo.get(_plain_sums)
    if memo is None or memo[0][1:] != centring[1:] or not np.array_equal(memo[0][0], centring[0]):
        memo = piece.memo[_plain_sums] = centring, piece.rows.limits(*centring)
    labels, limits = labels_of(piece, len(constants)), memo[1]
    return piece.rows.residual_sums(w, labels, limits, step, constants)


def _plain_middle(piece, w, step, constants):
    """Return the sum of the scores, each within REACH of 0, in STEPS of REACH: int64, shape (1,)."""
    scores = (piece.rows.margins(w)[:, 0] * np.float32(step) + constants[0]).astype(np.float64)
    return np.rint(np.clip(scores, -REACH, REACH) * (STEPS / REACH)).astype(np.int64).sum(keepdims=True)


def _plain_levels(piece, w, step, constants, ends):
    """Return the counts of rows by score level and class."""
    scores = piece.rows.margins(w)[:, 0] * np.float32(step) + constants[0]
    return level_counts(scores, piece.labels, ends).ravel()

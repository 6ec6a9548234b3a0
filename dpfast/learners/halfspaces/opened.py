"""What learners of plain rows share that begin with an opening: its noise, its release, centred rows and their model.

The opening is a noisy sum of the rows, together with the class sizes: see `dpfast.learners.halfspaces.plain`. It
determines the mean that is subtracted from the rows, and the log odds of the classes, from which the scores start. Each
round then releases a noisy sum of centred rows. All noise is planned by one bill before a row is read.
"""

import math
from fractions import Fraction
from functools import partial

import numpy as np

from dpfast.accounting import NoisySums, bill_noise
from dpfast.kernels import reals
from dpfast.learners.parameters import changed_rows, check_scale
from dpfast.mechanisms import discrete_gaussian
from dpfast.parts.blocks import Piece
from dpfast.tables.unit_rows import CentredRows

SHARE = Fraction(1, 20)  # of the bill, for the opening
LATE = 0.8  # the model is the mean over the rounds after this share of them


class OpenedNoise:
    """The noise of the opening and of the rounds, which are together (epsilon, delta)-DP.

    A row that changes moves the sum of a round by at most `moved` times the norm of its longest row, for more than two
    classes times sqrt(2), as a weight then counts for one class and against another. If a unit has several rows, it
    moves all sums by as many times as much.
    """

    def __init__(self, p, image, moved, n_rounds):
        moves = math.isqrt((1 if image.by_margin else 2) * (moved * image.reach) ** 2 - 1) + 1
        opening = Fraction(math.isqrt((image.opening_square(changed_rows(p.neighbors)) << 32) - 1) + 1, 1 << 16)
        parts = (
            NoisySums(p.rows_per_unit * moves, 1 - SHARE, image.columns * image.shape[1], n_rounds),
            NoisySums(p.rows_per_unit * opening, SHARE, image.opening_size, 1),
        )
        (self.sigma, self.opening), self.cost = bill_noise(parts, p.epsilon, p.delta)
        check_scale(self.sigma, p.epsilon)


class CentredModel:
    """Released coefficients of centred rows, and the linear function of rows that they are."""

    def __init__(self, image, n_features, n_rounds):
        self._image, self._n_features = image, n_features
        self._centring, self._late, self._w = None, _LateMean(n_rounds), None

    def open(self, parts, noise, n, run):
        """Release the opening; return the parts with centred rows, and the coefficients of their start.

        `n` is the number of rows, if it is public.
        """
        counts = parts.sum(*self._image.opening_question())
        self._image.open(discrete_gaussian(counts, noise.opening, rng=run.rng), noise.opening, n)
        run.used["opening"] += 1
        run.attributes["class_sizes_"] = self._image.opening.sizes
        self._centring, self._w = self._image.centring(), self._image.start()
        return parts.map(_centred, self._centring), self._w

    def add(self, w):
        """Add the coefficients of a round to the mean."""
        self._w = self._late.add(w)

    def set(self, w):
        """Set the coefficients."""
        self._w = w

    def coefficients(self):
        """Return the released coefficients for rows of norm 1 and a constant, for each column of scores, or None."""
        return None if self._w is None else self._centring.linear(self._w)

    def linear(self):
        """Return coefficients, intercepts and shifts, as `LinearClassifier` publishes them."""
        two = self._image.by_margin
        coef, shift = self.coefficients() or (
            np.zeros((self._image.width, *([] if two else [self._image.columns]))),
            0.0,
        )
        coef = self.lifted(coef)
        own, constant = coef[: self._n_features], coef[self._n_features :].sum(axis=0)
        if two:
            return own, float(constant), float(shift)
        return np.ascontiguousarray(own.T), constant, np.broadcast_to(shift, constant.shape).copy()

    def lifted(self, coef):
        """Return the coefficients of the columns, and last that of the constant 1, if rows end with it."""
        return coef


class _LateMean:
    """The mean over the last rounds, or the last coefficients before them."""

    def __init__(self, n_rounds):
        self._before, self._used, self._total = int(LATE * n_rounds), 0, 0.0

    def add(self, w):
        self._used += 1
        if self._used <= self._before:
            return w
        self._total = self._total + w
        return self._total / (self._used - self._before)


def without_sum(noisy):
    """Return noisy sums minus their mean over the classes, which is nothing but noise, for more than two classes."""
    return noisy if noisy.ndim == 1 else noisy - noisy.mean(axis=1, keepdims=True)


def against(one, other):
    """Return the product of two noisy sums."""
    return reals.dot(one.ravel(), other.ravel())


def _centred(piece, centring):
    """Return the piece with centred rows."""
    image = partial(_centred_rows, image=piece.image, centring=centring)
    return Piece(piece.X, piece.labels, image, rows=CentredRows(piece.rows, centring))


def _centred_rows(X, image, centring):
    return CentredRows(image(X), centring)

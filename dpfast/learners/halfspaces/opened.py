"""What learners of plain rows share that begin with an opening: its plan, its release, centred rows and their model.

The opening is a noisy sum of the rows, together with the class sizes: see `dpfast.learners.halfspaces.plain`. It
determines the mean that is subtracted from the rows, and the log odds of the classes, from which the scores start. Each
round then releases a noisy sum of centred rows. All noise is planned by one bill before a row is read.
"""

import math
from fractions import Fraction
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from dpfast.base.plan import GaussianSum, Task
from dpfast.kernels import reals
from dpfast.learners.halfspaces.linear import stack_columns
from dpfast.learners.halfspaces.plain import CentredImage
from dpfast.parts.blocks import Piece
from dpfast.tables.unit_rows import CentredRows

SHARE = Fraction(1, 20)  # of the bill, for the opening
LATE = 0.8  # the model is the mean over the rounds after this share of them


class PlainForm(NamedTuple):
    """Public facts of plain rows of norm 1: their columns, the steps of their grid, whether entries may be negative."""

    shape: tuple[int, int]
    reach: int | None
    signed: bool
    linear: None = None

    @classmethod
    def of(cls, task: Task) -> Self:
        """Return the form of the rows of a task, whose number is 1 if it is private."""
        return cls((task.n_rows or 1, task.n_columns), task.reach, task.form is not False)


def plan_opening(image: CentredImage, task: Task, moved: int, n_rounds: int) -> dict[str, GaussianSum]:
    """Return the releases of an opening and of rounds.

    A row that changes moves the sum of a round by at most `moved` times the norm of its longest row, for more than two
    classes times sqrt(2), as a weight then counts for one class and against another.
    """
    moves = math.isqrt((1 if image.by_margin else 2) * (moved * image.reach) ** 2 - 1) + 1
    opening = Fraction(math.isqrt((image.opening_square(task.changed_rows) << 32) - 1) + 1, 1 << 16)
    return {
        "opening": GaussianSum(opening, image.opening_size, share=SHARE, steps=1),
        "rounds": GaussianSum(moves, image.columns * image.shape[1], n_rounds, 1 - SHARE, steps=1),
    }


class CentredState:
    """The releases so far of a learner of centred rows, and the linear function of rows that they are."""

    def __init__(self, image, n_features, n_rounds):
        self._image, self._n_features = image, n_features
        self._centring, self._late, self._w = None, _LateMean(n_rounds), None

    def open(self, parts, rows, run):
        """Release the opening; return the parts with centred rows, and the coefficients of their start."""
        counts = parts.sum(*self._image.opening_question())
        run.count(*self._image.open(run.release("opening", counts), run.scale("opening"), rows.n))
        self._centring, self._w = self._image.centring(), self._image.start()
        return parts.map(_centred, self._centring), self._w

    def sizes_or(self, sizes):
        """Return the noisy sizes of the classes, or before the opening those that are known."""
        return sizes if self._centring is None else self._image.opening.sizes

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
        """Return coefficients, intercepts and shifts, as `LinearModel` has them."""
        two = self._image.by_margin
        coef, shift = self.coefficients() or (
            np.zeros((self._image.width, *([] if two else [self._image.columns]))),
            0.0,
        )
        coef = self.lifted(coef)
        own, constant = coef[: self._n_features], coef[self._n_features :].sum(axis=0)
        return stack_columns(np.ascontiguousarray(own.T), constant, shift)

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

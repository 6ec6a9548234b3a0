"""Noisy descent on the hinge loss over the unit ball [NUZ, Algorithm 1 and appendix A].

Rows x_i are on the unit sphere and, for sums, integers q_i of norm at most `reach`; labels y_i are +-1. A row's loss is
max(0, c - L y <w, x>) with L = 1 / (0.86 margin); a subgradient is -L y x if y <w, x> < c / L, and 0 otherwise. The
paper's c is 96/86: its loss is 0 from 0.96 margin on, and 1 at a tenth of the margin. The descent over all rows has
c = 1, which up to a factor is the loss for a margin of 0.86/0.96 times the declared one;
`dpfast.accounting.papers.halfspaces` names the proof for it. A step releases the sum of y q over such rows plus exact
discrete Gaussian noise; everything else is a function of these releases.
"""

from functools import cache, partial

import numpy as np

from dpfast.accounting.papers.halfspaces import HINGE_SHARE
from dpfast.kernels import reals
from dpfast.kernels.own import frozen
from dpfast.learners.halfspaces.boosting_parts import Sides
from dpfast.learners.halfspaces.measure import CAP, local_table, local_weights
from dpfast.learners.halfspaces.opened import against, without_sum
from dpfast.mechanisms import discrete_gaussian
from dpfast.mechanisms.draws import Question, ask

_FARTHEST, _LONGEST = 8.0, 4.0  # log odds of classes, and lengths of centred rows, that are hardly exceeded
MARGINS = 2.0 ** np.arange(-7, 1)  # geometric, from 1/128 to 1
_PAPER_HINGE = 0.96  # of the margin
_CHUNK_BYTES = 1 << 20  # of noise drawn at a time


class FullBatch:
    """Descent along noisy sums over all rows, with step sizes that need no scale.

    The step size of round t is sqrt(2) / sqrt(sum of |g_s|^2 up to t) for the noisy sums g (Streeter and McMahan, "Less
    Regret via Online Conditioning", 2010). It needs neither the number of rows, nor L, nor the scale of the noise,
    since they cancel. The model is the average of the iterates of the second half of the rounds.

    **Margin "auto".** Without a declared margin, each round uses the least member of MARGINS that is not below the
    noise. Let s be the deviation of one noisy sum along a row, and G the sum of the t sums so far: noise alone gives a
    row a product y <G, x> / |G| of about sqrt(t) s / |G|. The margin is a function of the releases. Given these, a row
    still adds its own vector or nothing, so the claim is the same.
    """

    def __init__(self, margin, n_rounds, size):
        self._declared, self._rounds = margin, n_rounds
        self._w, self._total, self._sum = np.zeros(size), np.zeros(size), np.zeros(size)
        self._squares = 0.0
        self.used = 0

    def step(self, parts, reach, sigma, release):
        """Release one sum and make a step; `parts` have rows of `unit_rows`, which are read twice.

        `release` returns the sum with noise of the deviation `sigma`, in steps of the grid.
        """
        self._move(release(parts.sum(_active_sum, self._w, HINGE_SHARE * self.margin(sigma / reach))) / reach)

    def margin(self, deviation):
        """Return the margin of the next round, for noise of this deviation along a row of norm 1."""
        if self._declared != "auto":
            return self._declared
        norm = reals.norm(self._sum.ravel())
        least = np.sqrt(self.used) * deviation / norm if norm > 0 else np.inf
        return MARGINS[min(np.searchsorted(MARGINS, least), len(MARGINS) - 1)]

    def _move(self, noisy):
        self.used += 1
        self._sum += noisy
        self._squares += against(noisy, noisy)
        if self._squares > 0:
            self._w = _into_ball(self._w + np.sqrt(2 / self._squares) * noisy)
        if 2 * self.used > self._rounds:
            self._total += self._scored()

    def model(self):
        """Return the model released so far: of the shape `size`, in the unit ball."""
        late = self.used - self._rounds // 2
        return self._total / late if late > 0 else self._scored()

    def _scored(self):
        """Return the vector by which rows are scored."""
        return self._w


class FadingDescent(FullBatch):
    """The same descent over centred rows, whose residuals fade: min(1, exp(-margin)) in place of 1 or 0.

    The scores of a row are those of the start, the log odds of the classes, plus <w, row> over the margin of
    `FullBatch`. The own margin of a row is the score of its class, or for more than two classes this score minus that
    of its rival (`Sides`). The residual is the gradient of a convex loss, exp(-margin) above 0 and 1 - margin below. A
    row counts its residual for its own class and against the rival, so there is a vector w for each class, and all of
    them are in one ball. The model is the average of the scores over the second half of the rounds.
    """

    def __init__(self, n_rounds, start, classes):
        super().__init__("auto", n_rounds, np.shape(start))
        self._start, self._classes, self._steepness = start, classes, 1.0

    def step(self, parts, reach, sigma, release):
        """Release one sum and make a step; `parts` have `CentredRows`, which are read twice."""
        unit = reach * CAP
        self._steepness = 1 / self.margin(sigma / unit)
        farthest = _FARTHEST + _LONGEST * self._steepness
        total = parts.sum(_faded_sum, self._scored() / farthest, farthest, self._classes)
        self._move(without_sum(release(total) / unit))

    def _scored(self):
        return self._start + self._w * self._steepness


def _faded_sum(piece, w, farthest, classes):
    """Return the sum of the rows of a piece times their residuals, for more than two classes by class.

    Scores are <w, row> times `farthest`, which hardly any score exceeds.
    """
    sides = Sides(piece.labels, classes)
    sides.add(piece.rows.margins(w))
    return sides.weighted_sum(piece.rows, sides.weights(partial(local_weights, table=_table(farthest))))


@cache
def _table(farthest):
    return frozen(local_table(farthest))


def _active_sum(piece, w, hinge):
    """Return the sum of y q over the rows of a piece whose hinge loss is not 0."""
    signs = (2 * piece.labels - 1).astype(np.int8)
    active = signs * piece.rows.margins(w) < hinge
    return piece.rows.weighted_sum(np.where(active, signs, 0).astype(np.int32))


def single_sample_steps(integers, reach, signs, margin, sigma, rng, claim=None):
    """Make n^2 steps, each along one random row [NUZ, appendix A; BST, Algorithm 1]; the paper makes n^2 - 1 steps.

    Yields the vector w after every n steps; the last one is the result. `integers` are the rows q_i, shape (n, size),
    sigma is in steps of the grid, and `claim` covers all the steps together. The step size of round t is 2 / sqrt(t (1
    + size s^2)) with s = sigma / reach. In [BST] it is diameter / sqrt(t (n^2 L^2 + size s'^2)) for n times the
    gradient, where n L cancels.

    [BST] is Bassily, Smith, Thakurta, Private Empirical Risk Minimization, FOCS 2014.
    """
    n, size = integers.shape
    rows = integers / reach * signs[:, np.newaxis]
    rate = 2 / np.sqrt(1 + size * (sigma / reach) ** 2)
    hinge, w, t = _PAPER_HINGE * margin, np.zeros(size), 0
    chunk = max(1, _CHUNK_BYTES // (8 * size))
    for _ in range(n):
        order = rng.integers(n, size=n)
        for start in range(0, n, chunk):
            batch = order[start : start + chunk]
            noise = discrete_gaussian(np.zeros((len(batch), size), np.int64), sigma, rng=rng)
            for i, extra in zip(batch, noise, strict=True):
                t += 1
                gradient = _noisy(signs[i] * integers[i] * (reals.dot(rows[i], w) < hinge), extra, sigma, claim, rng)
                w = _into_ball(w + (rate / np.sqrt(t) / reach) * gradient)
        yield w


def _noisy(exact, noise, sigma, claim, rng):
    return ask(
        lambda: Question("single_sample", exact, "euclidean", 1 / sigma, claim=claim), lambda: exact + noise, rng
    )


def _into_ball(w):
    return w / max(1.0, reals.norm(w.ravel()))

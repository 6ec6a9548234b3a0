"""Pairs of columns of codes, chosen privately by what two columns say together that neither says by itself.

After some rounds, the residual of row i is an integer vector r_i, a function of that row and of the releases (see
csrc/logistic.h). The codes of each column are put into at most GROUPS groups, by the releases alone. A pair of columns
has a cell for each two groups, and

    q = sum over its cells and over the classes of |sum of r_i over the rows of the cell|.

**Sensitivity of q.** A row is in one cell of each pair. By the triangle inequality, adding it changes q by at most
|r_i|_1, up or down, and replacing it changes q by at most twice the largest |r|_1. If A is the largest limit, |r|_1 is
at most A for two classes and 2 A for more. So the q of each pair changes by a number in [-D, D], where D = 2 A or 4 A
under "replace" and A or 2 A under "add-remove", and k times that for units of k rows.

**The choice.** The score of a pair is q minus a public number. One more candidate, "none", has a public score: its
change, 0, is in [-D, D] too. An exponential mechanism of exponent t over scores whose changes all lie in [-D, D] has
log ratios in an interval of length 2 D t (`dpfast.accounting.Draws` of width 2 D). Draws follow one another, each among
the remaining pairs. The first "none" ends them, but all draws are paid for. Only the pairs are released, never q. The
first draw decides whether there is anything to see, and gets a third of the cost of the draws.

**The public number** has two parts. The first is the value that q would have if residuals were noise, the sum of
sqrt(2 v n_cell / pi) over the cells, where the sizes of cells are those for independent columns. The mean square v of
the residuals of a class follows from the released scores of synthetic rows, if classes are as likely as scores say. It
is too large where columns say the same, so a pair of noise has a negative score. Residuals are capped and do not shrink
where columns tell nothing: there v is 1 for two classes. The second part is a part of the noise that the sums of the
cells will have, so that a pair is not chosen if it could not be learned. The score of "none" is the logarithm of the
number of pairs over t, which is the lead of the best pair by chance, plus a margin. If no pair has any score, the first
draw is "none" in 95% of all fits.

A chosen pair becomes one more column of codes (`joined`), and the rounds continue over all columns.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpfast.accounting.claims.bill import Draws
from dpfast.accounting.claims.noise import changed_rows
from dpfast.base.saving import entries, integers
from dpfast.kernels import reals

ENOUGH = 2_500  # of `dpfast.learners.halfspaces.trees.signal`, for pairs that are "auto"
SEEN = 3  # pairs that show that columns belong together, so that trees are worth their noise below their own limit
GROUPS = 8  # of the codes of a column
SHARE = 20  # the draws cost one over this of the bill
PAIRS_BEFORE = Fraction(15, 100)  # share of the rounds before the choice
_COLUMNS = 32  # the most columns whose pairs are considered
_CELLS = 1 << 21  # the most cells of all pairs and classes together
_SYNTHETIC = 1024  # synthetic rows, whose residuals have about the mean square of those of the rows
_FARTHEST = 30.0  # score from that of another class that is told from longer ones
_NOISE = 0.25  # the share of the noise of a pair's cells that is subtracted from its score
_FIRST = 3  # the first draw costs one over this of all draws
MOST_CHOICES = _COLUMNS * (_COLUMNS - 1) // 2 + 1  # pairs of a draw, and "none"
_MARGINS = 3.0, 1.0  # of the score of "none", times the exponent: in the first draw and in later ones


@dataclass(frozen=True)
class Interaction:
    """Two columns of codes whose combination has weights: their numbers, and the group of each of their codes."""

    columns: tuple[int, int]
    groups: tuple[tuple[int, ...], tuple[int, ...]]

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of groups of each column."""
        return max(self.groups[0]) + 1, max(self.groups[1]) + 1

    @property
    def size(self) -> int:
        """Return the number of cells."""
        return self.shape[0] * self.shape[1]

    def to_dict(self) -> dict[str, Any]:
        """Return the content of a file, for `read_pair`."""
        return {"columns": list(self.columns), "groups": [list(group) for group in self.groups]}


def read_pair(saved: Any) -> Interaction:
    """Return the interaction in a file; refuse invalid content."""
    saved = entries(saved, "columns", "groups")
    columns, groups = integers(saved["columns"], 0, 1 << 31).tolist(), saved["groups"]
    if len(columns) != 2 or not isinstance(groups, list) or len(groups) != 2 or not all(groups):
        raise ValueError(f"wanted two columns and the groups of their codes, got {saved!r}")
    first, second = (tuple(integers(group, 0, GROUPS - 1).tolist()) for group in groups)
    return Interaction((columns[0], columns[1]), (first, second))


def draws(neighbors, classes, limit, share, most, rows_per_unit=1):
    """Return the planned draws of a fit for a share of the bill, the first one and the others.

    The claim is in the documentation of this module; `limit` is the largest of a row's residual.
    """
    changes = changed_rows(neighbors) * (1 if classes == 2 else 2) * limit
    width = 2 * rows_per_unit * changes
    if most == 1:
        return [Draws(width, share)]
    return [Draws(width, share / _FIRST), Draws(width, share - share / _FIRST, times=most - 1)]


class ColumnPairs:
    """The pairs that are considered (`of`), and the public part of their scores.

    `coef` is what each code adds to the scores so far: shape (codes, columns), with one column for two classes.
    `constants` are added to all scores. `deviation` is that of the noise in the sum of residuals of a cell, if later
    rounds released it.
    """

    def __init__(self, opening, coef, constants, deviation):
        classes = coef.shape[1]
        groups = [_groups(count, rank) for count, rank in zip(opening.counts, opening.ranks, strict=True)]
        sizes = [np.bincount(group, count) for group, count in zip(groups, opening.counts, strict=True)]
        columns = _considered(opening, coef, groups)
        groups_of = {j: tuple(groups[j].tolist()) for j in columns}
        self.of = tuple(
            Interaction((a, b), (groups_of[a], groups_of[b])) for i, a in enumerate(columns) for b in columns[i + 1 :]
        )
        squares = _squares(_synthetic_scores(opening, coef) + constants)
        roots = {j: reals.sum(np.sqrt(sizes[j])) for j in columns}
        chance = reals.sum(np.sqrt(2 * squares / math.pi)) / math.sqrt(opening.n)
        noise = _NOISE * deviation * classes * math.sqrt(2 / math.pi)
        self._less = [chance * roots[a] * roots[b] + noise * pair.size for pair in self.of for a, b in [pair.columns]]

    def choose(self, total, limit, run):
        """Draw pairs one after the other, at most as many as `run` has planned, until "none" is drawn; return them.

        `total` has the sums of residuals: shape (cells of all pairs, columns).
        """
        ends = np.cumsum([0, *(pair.size for pair in self.of)])
        q = np.add.reduceat(np.abs(total).sum(axis=1), ends[:-1])
        scores = q - np.ceil(np.array(self._less) * limit).astype(np.int64)
        left, pairs = list(range(len(self.of))), []
        for k, exponent in enumerate(run.scale("pairs")[: len(left)]):
            none = math.ceil((float(reals.log(float(len(left)))) + _MARGINS[min(k, 1)]) / float(exponent))
            place = run.select("pairs", np.append(scores[left], none))
            if place == len(left):
                break
            pairs.append(self.of[left.pop(place)])
        return pairs


def _synthetic_scores(opening, coef):
    """Return the scores of synthetic rows, drawn from released counts as if columns were independent.

    They are drawn with the same random numbers in all fits, since nothing is hidden by them.
    """
    rng, scores, start = np.random.Generator(np.random.Philox(key=0)), np.zeros((_SYNTHETIC, coef.shape[1])), 0
    for count in opening.counts:
        below = np.cumsum(count)
        at = rng.random(_SYNTHETIC)
        if below[-1] > 0:
            codes = np.searchsorted(below, at * below[-1], side="right").clip(max=len(count) - 1)
            scores += coef[start + codes]
        start += len(count)
    return scores


def _squares(scores):
    """Return the mean square of the residuals of each column of scores, if classes are as likely as scores say.

    See `dpfast.learners.halfspaces.model` for residuals and for the probabilities of classes.
    """
    if scores.shape[1] == 1:
        powers = reals.exp(np.minimum(np.abs(scores), _FARTHEST))
        wrong, small = 2 / (3 + powers), 2 / (1 + powers)
        return np.array([reals.sum((wrong + (1 - wrong) * np.square(small)).ravel()) / len(scores)])
    powers = reals.exp(np.maximum(scores - scores.max(axis=1, keepdims=True), -_FARTHEST))
    p = powers / _row_sums(powers)
    likely = p * np.maximum(0.5, 1 - p)
    likely /= _row_sums(likely)
    own = likely * np.square(np.minimum(1.0, 2 * (1 - p)))
    others = likely * np.square(1 / np.maximum(0.5, 1 - p))
    squares = own + np.square(p) * (_row_sums(others) - others)
    return np.array([reals.sum(column) / len(scores) for column in np.ascontiguousarray(squares.T)])


def _row_sums(of_classes):
    """Return the sum of each row, class by class, which is the same on every machine: shape (n, 1)."""
    return sum(of_classes.T)[:, np.newaxis]


def _considered(opening, coef, groups):
    """Return the columns whose pairs are considered: those with two groups or more that move scores most."""
    moved, start, classes = [], 0, coef.shape[1]
    for count in opening.counts:
        share, part = count / max(reals.sum(count), 1.0), coef[start : start + len(count)]
        start += len(count)
        moved.append(sum(reals.dot(share, np.abs(column - reals.dot(share, column))) for column in part.T.copy()))
    parted = [j for j in np.argsort(-np.array(moved), kind="stable").tolist() if groups[j].max() > 0]
    most = 2
    while most < _COLUMNS and most * (most + 1) // 2 * GROUPS**2 * classes <= _CELLS:
        most += 1
    return sorted(parted[:most])


def _groups(count, rank):
    """Return the group of each code: numbers by rank, missing ones separately; of values, the rarer ones together."""
    if rank is None:
        if len(count) <= GROUPS:
            return np.arange(len(count))
        groups = np.full(len(count), GROUPS - 1)
        groups[np.argsort(-count, kind="stable")[: GROUPS - 1]] = np.arange(GROUPS - 1)
        return groups
    bins, most = len(rank), GROUPS - (len(count) > len(rank))
    groups = np.arange(bins)
    if bins > most:
        groups = np.maximum.accumulate(np.clip((rank + 1) / 2 * most, 0, most - 1).astype(np.int64))
        groups = np.unique(groups, return_inverse=True)[1].ravel()
    return np.append(groups, np.full(len(count) - bins, groups[-1] + 1))

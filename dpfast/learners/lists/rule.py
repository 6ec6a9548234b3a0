"""Rules of a decision list: the rows that each decides, and its noisy support and precision.

Every row is decided by exactly one rule, so the class counts of all rules are those of `dpfast.learners.probabilities`,
which states their claim. Everything else here is computed from the noisy counts.
"""

import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import optimize, special, stats

from dpfast.kernels import bits


class Literal(NamedTuple):
    """A feature that must be 1, or 0 if it is negated.

    Attributes
    ----------
    feature, negated : int, bool
    """

    feature: int
    negated: bool


class Rule(NamedTuple):
    """Predict the label if all literals hold; a rule without literals always holds.

    Attributes
    ----------
    literals, label : tuple of Literal, object
    """

    literals: tuple[Literal, ...]
    label: Any


def decided(rules, table):
    """Yield for each rule in turn the rows of a BitMatrix that it decides, packed: those where it is the first to hold.

    The next iteration overwrites them.
    """
    left = packed(np.ones(len(table), dtype=bool))
    holds = np.empty_like(left)
    for rule in rules:
        holds[:] = left
        for literal in rule.literals:
            keep = bits.bitwise_andnot if literal.negated else bits.bitwise_and
            keep(holds, table.column(literal.feature), holds)
        bits.bitwise_andnot(left, holds, left)
        yield holds


def packed(mask):
    """Return a mask of rows in packed form."""
    return bits.pack(mask[np.newaxis].view(np.uint8))[0]


KINDS = ("laplace", "gaussian")


class CountNoise(NamedTuple):
    """Noise of noisy counts.

    Attributes
    ----------
    gaussian : bool
        P(x) is proportional to exp(-x**2 / (2 scale**2)), about, and otherwise to exp(-abs(x) / scale).
    scale : Fraction
        In rows.
    """

    gaussian: bool
    scale: Fraction

    @property
    def kind(self) -> str:
        return KINDS[self.gaussian]

    @property
    def deviation(self) -> float:
        """Return the standard deviation, about."""
        return float(self.scale) * (1 if self.gaussian else math.sqrt(2))

    def reach(self, terms: int, failure: float) -> int:
        """Return a bound that the absolute sum of `terms` of them exceeds with probability at most `failure`."""
        if not self.gaussian:
            return noise_reach(self.scale, terms, failure)
        return math.ceil(self.deviation * math.sqrt(terms) * -special.ndtri(failure / 2) * (1 + 1e-9)) + terms


def shrunk_shares(counts, own, bars, weights, deviation) -> np.ndarray:
    """Return estimated shares of the classes among the rows of each rule, shape (n_rules, n_classes).

    A rule of label c was drawn where, with weights, about a share b (its bar) of the rows that it decides had label c.
    This is the expectation to which noisy counts are shrunk, by so many rows that noise does not decide.

    Parameters
    ----------
    counts : ndarray of int64, shape (n_rules, n_classes)
        Noisy; negative ones are read as 0.
    own : ndarray of int, shape (n_rules,)
        The class for which each rule was drawn.
    bars : sequence of float
    weights : sequence of int, shape (n_classes,)
    deviation : float
        Of the noise of a count.
    """
    rows = 2 + math.sqrt(2) * deviation
    expected = np.empty(counts.shape)
    for row, label, bar in zip(expected, own, bars, strict=True):
        row[:] = (1 - bar) / max(1, len(row) - 1) / np.asarray(weights, np.float64)
        row[label] = bar / weights[label]
        row /= row.sum()
    shares = np.maximum(counts, 0) + rows * expected
    return shares / shares.sum(axis=1, keepdims=True)


class RuleWorth(NamedTuple):
    """The support and the precision of a rule, each with an interval."""

    support: int
    support_interval: tuple[int, int]
    precision: float
    precision_interval: tuple[float, float]


def class_sizes(piece, classes):
    """Return the number of rows of each class of a piece: int64, shape (classes,); private."""
    return np.bincount(piece.labels, minlength=classes).astype(np.int64)


def class_counts(piece, rules, classes):
    """Return counts of the rows of a piece by deciding rule and class: int64, shape (n_rules, classes); private."""
    of_class = [packed(piece.labels == c) for c in range(classes)]
    both = np.empty_like(of_class[0])
    decides = decided(rules, piece.rows)
    return np.array([[bits.bitwise_and(rows, of, both) for of in of_class] for rows in decides], np.int64)


def worth(counts, own, noise: CountNoise, failure) -> RuleWorth:
    """Return the support and precision of one rule, from the noisy counts of its rows by class.

    The interval of the support fails with probability at most `failure` over the noise. The interval of the precision
    is about the population of the rows: half of its failure probability is for the noise, half for the sampling
    (Clopper, Pearson).
    """
    right, all_rows = int(counts[own]), int(counts.sum())
    others = all_rows - right
    reach = noise.reach(len(counts), failure)
    of_right, of_others = (noise.reach(terms, failure / 4) for terms in (1, len(counts) - 1))
    support = max(0, all_rows)
    return RuleWorth(
        support,
        (max(0, all_rows - reach), max(0, all_rows + reach)),
        max(0, right) / (max(0, right) + max(0, others)) if max(right, others) > 0 else math.nan,
        (
            _share_bound(right - of_right, others + of_others, failure / 4),
            1 - _share_bound(others - of_others, right + of_right, failure / 4),
        ),
    )


def noise_reach(scale, terms, failure) -> int:
    """Return a bound that |the sum of `terms` discrete Laplace numbers| exceeds with probability at most `failure`.

    A discrete Laplace number is the difference of two exponential numbers, rounded down, so it differs by less than one
    from a Laplace number. The absolute value of a sum of m Laplace numbers is distributed as a mixture of Gamma
    distributions.
    """
    shapes = np.arange(terms, 0, -1)
    mixture = 2 * special.comb(2 * terms - 1 - shapes, terms - shapes) * 0.5 ** (2 * terms - shapes)
    farthest = 2 * terms * math.log(2 * terms / failure)
    x = optimize.brentq(lambda x: math.fsum(mixture * special.gammaincc(shapes, x)) - failure * (1 - 1e-9), 0, farthest)
    return math.ceil(float(scale) * x * (1 + 1e-9)) + terms


def _share_bound(hits, misses, failure):
    """Return a lower bound of a share, given a lower bound of the hits and an upper bound of the misses."""
    hits, misses = max(0, hits), max(0, misses)
    return float(stats.beta.ppf(failure, hits, misses + 1)) if hits else 0.0

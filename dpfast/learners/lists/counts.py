"""What the rules of a list are worth: noisy numbers of the rows that each decides, by class.

Every row is decided by exactly one rule, so the class counts of all rules of a released list are those of
`dpfast.learners.class_counts`, where their claim stands. Everything else here is computed from the noisy counts.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import optimize, special, stats

from dpfast.kernels import bits
from dpfast.learners.lists.rule import decided, packed


class RuleWorth(NamedTuple):
    """How many rows a rule decides, and for which share of them its label is right, each with an interval."""

    support: int
    support_interval: tuple[int, int]
    precision: float
    precision_interval: tuple[float, float]


def class_counts(piece, rules, classes):
    """Rows of a piece that each rule decides, by class: int64, shape (n_rules, classes). Private."""
    of_class = [packed(piece.labels == c) for c in range(classes)]
    both = np.empty_like(of_class[0])
    decides = decided(rules, piece.rows)
    return np.array([[bits.bitwise_and(rows, of, both) for of in of_class] for rows in decides], np.int64)


def worth(counts, own, scale, failure) -> RuleWorth:
    """What one rule is worth, from the noisy counts of its rows by class.

    The interval of the support fails with probability `failure` at most, over the noise. That of the precision speaks
    of the rows that the table was drawn from: half its failure is the noise's, half the sample's (Clopper, Pearson).
    """
    right, all_rows = int(counts[own]), int(counts.sum())
    others = all_rows - right
    reach = noise_reach(scale, len(counts), failure)
    of_right, of_others = (noise_reach(scale, terms, failure / 4) for terms in (1, len(counts) - 1))
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
    """What the sum of so many independent discrete Laplace numbers exceeds in size with probability `failure` at most.

    A discrete Laplace number is the difference of two exponential ones rounded down, so it is less than one away from a
    Laplace number. The sum of m of these is, in size, beyond x scales with the probability of a mixture of Gamma laws.
    """
    shapes = np.arange(terms, 0, -1)
    mixture = 2 * special.comb(2 * terms - 1 - shapes, terms - shapes) * 0.5 ** (2 * terms - shapes)
    farthest = 2 * terms * math.log(2 * terms / failure)
    x = optimize.brentq(lambda x: math.fsum(mixture * special.gammaincc(shapes, x)) - failure * (1 - 1e-9), 0, farthest)
    return math.ceil(float(scale) * x * (1 + 1e-9)) + terms


def _share_bound(hits, misses, failure):
    """A lower bound of a share, from at least so many hits and at most so many misses."""
    hits, misses = max(0, hits), max(0, misses)
    return float(stats.beta.ppf(failure, hits, misses + 1)) if hits else 0.0

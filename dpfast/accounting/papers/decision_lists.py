"""Number of rows that greedy cover needs to learn decision lists: derived here, and as in [BF].

[BF] is Bun, Fang, "Privately Learning Decision Lists and a Differentially Private Winnow" (arXiv 2602.07370).
DP-GreedyCover draws a list over M conditions rule by rule. A round draws one of the conditions that are left, or the
constant true, and a label, with probability proportional to exp(-t W): W is how many uncovered rows the condition
covers that have the other label. A list ends with the constant true, after M + 1 rounds at most. The n rows are i.i.d.,
and some decision list over the conditions gives all their labels.

**Claim.** Let ln L = ln M! + (M + 1) ln 2 + 1/2. But for probability beta the list drawn errs on a new row with
probability at most alpha if
    n >= (ln L + ln(1/beta)) / R,    R = -ln(1 - alpha (1 - e^(-t))).
Nothing is split between privacy and the sample: where t grows this becomes Occam's bound, and for small t n is about
ln(L/beta) / (t alpha).

**Flipped labels.** Let each label be flipped, on its own, with a probability that may depend on its row and is at most
eta. But for probability beta the list drawn errs on a new row, before flipping, with probability at most alpha if
    n >= (ln L + ln(1/beta)) / R,    R = the largest over 0 < s <= 1 of
        -ln(1 + eta (e^(stM) - 1) - alpha (1 - e^(-st)) (1 - eta - eta e^(st(M+1)))).
Some n is enough if and only if eta < alpha / (M + 2 alpha). docs/proofs_learning.md has both proofs, and a table on
which the M is needed.

**The paper's**, Theorem 3.5: n >= 64/alpha (VC ln(64/alpha) + ln(16/beta)) to generalise and >= 8 M ln(2M/sqrt(beta)) /
(e alpha) for privacy, e = epsilon / (2 (ln(1/delta) + 3/2)) and exponents e/2. VC is M + 1: a list "if f_1 then b_1,
..., else b_k", b_i = +-1, is the sign of sum_i 2^-i b_i f_i(x), the constant true its last feature, because the first
term that is not 0 outweighs all later ones, so that it is a halfspace over M features with an offset. M + 1 is reached,
on the unit vectors and 0.

**Lower bound.** That of `dpfast.accounting.papers.lower_bounds`: its rows are the unit vectors of M/2 columns and 0, on
which a list over the columns and their negations has any labels.

**As halfspaces**, decision lists are learned by Winnow ([BF] section 4.3, as in `dpfast.accounting.papers.winnow`)."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from dpfast.accounting.curves.cover import cover_exponent
from dpfast.accounting.numbers import Number, calculator_like, chance, count, number
from dpfast.accounting.papers.lower_bounds import shattered_lower_bound
from dpfast.accounting.papers.winnow import feature_ends

_SLACK = 1e-12


class DecisionListPlan(NamedTuple):
    """Rows for a list by greedy cover.

    Attributes
    ----------
    n : int
        Rows.
    exponent : float
        t, per wrong row.
    log_lists : float
        ln L, the logarithm of the number of lists.
    lower_bound : int
        Rows that every private learner needs.
    n_conditions : int
        M.
    noise : float
        eta, the largest probability with which a label is flipped.
    """

    n: int
    exponent: float
    log_lists: float
    lower_bound: int
    n_conditions: int
    noise: float

    def error(self, n: int, beta: float = 0.1) -> float:
        """Return the least error alpha that the claim has for a number of rows.

        Parameters
        ----------
        n : int
            Rows.
        beta : float in (0, 1), default=0.1
            The probability of missing it.

        Returns
        -------
        float
            Above 1 where the claim says nothing.
        """
        slack = -math.expm1(-(self.log_lists - math.log(beta)) * (1 + _SLACK) / n)
        return min((loss + slack) / gain for loss, gain in _tilts(self.exponent, self.n_conditions, self.noise))


class DecisionListPaper(NamedTuple):
    """The rows of [BF] Theorem 3.5, as printed.

    Attributes
    ----------
    n : int
        The larger of the next two.
    sample_rows, privacy_rows : int
        Rows for the error on new rows, and for privacy.
    exponent : float
        t, per wrong row, by the paper's composition.
    """

    n: int
    sample_rows: int
    privacy_rows: int
    exponent: float


@calculator_like(cover_exponent)
def decision_list_plan(
    epsilon: Number,
    delta: Number,
    n_conditions: int,
    *,
    alpha: float = 0.1,
    beta: float = 0.1,
    neighbors: str = "replace",
    noise: float = 0.0,
) -> DecisionListPlan:
    """Return the rows with which greedy cover learns a decision list; derived, not [BF] Theorem 3.5's own constants.

    Parameters
    ----------
    n_conditions : int, >= 1
        The number M of conditions that a rule may test: 2 d for d columns and their negations.
    alpha, beta : real, from 1e-9 to 1 - 1e-9
        The acceptable error on the labels before flipping, and the probability of exceeding it.
    noise : real, at least 0 and below 1/2
        The largest probability with which a label is flipped, independently; it may depend on the row.

    Returns
    -------
    DecisionListPlan
        The plan is for `DecisionListClassifier(coverage_weight=0, default_prior=1, max_rules=None, rule_counts=0)`, if
        some list over these conditions makes no error before labels are flipped. Every private learner needs at least
        `lower_bound` rows if half of the conditions are free columns and the others are their negations.

    Raises
    ------
    ValueError
        If an argument is out of its range, or labels are too noisy for any number of rows.

    Examples
    --------
    >>> plan = decision_list_plan(1.0, 1e-6, 72)
    >>> plan.n, decision_list_paper(1.0, 1e-6, 72).n
    (33400, 1079976)
    """
    M, alpha, beta = _problem(n_conditions, alpha, beta)
    noise = number("noise", noise, "at least 0 and below 1/2", lambda x: 0 <= x < 0.5)
    t = float(cover_exponent(epsilon, delta, neighbors=neighbors, max_rounds=M + 1))
    log_lists = math.lgamma(M + 1) + (M + 1) * math.log(2) + 0.5
    if noise >= alpha / (M + 2 * alpha) * (1 - 1e-6):
        raise ValueError(
            f"noise must be below alpha / (n_conditions + 2 alpha) = {alpha / (M + 2 * alpha):.3g}, got {noise!r}; "
            "nothing is proved for more"
        )
    each = max((-math.log1p(loss - alpha * gain) for loss, gain in _tilts(t, M, noise)), default=0)  # nats of a row
    if each < 1e-300:
        raise ValueError(f"epsilon is too small for any number of rows, got {epsilon!r}")
    n = math.ceil((log_lists - math.log(beta)) / each * (1 + _SLACK))
    lower = shattered_lower_bound(epsilon, delta, M // 2 + 1, alpha=alpha, beta=beta, neighbors=neighbors)
    return DecisionListPlan(n, t, log_lists, lower, M, noise)


@calculator_like(decision_list_plan)
def decision_list_paper(
    epsilon: Number,
    delta: Number,
    n_conditions: int,
    *,
    alpha: float = 0.1,
    beta: float = 0.1,
    neighbors: str = "replace",
) -> DecisionListPaper:
    """Return the rows of [BF] Theorem 3.5 with the paper's constants; not claimed here.

    Parameters
    ----------
    delta : real, at least 1e-300 and below 1

    Returns
    -------
    DecisionListPaper

    Examples
    --------
    >>> decision_list_paper(1.0, 1e-6, 72).sample_rows
    305128
    """
    M, alpha, beta = _problem(n_conditions, alpha, beta)
    t = float(cover_exponent(epsilon, delta, neighbors=neighbors, accounting="paper"))
    sample = math.ceil(64 / alpha * ((M + 1) * math.log(64 / alpha) + math.log(16 / beta)))
    privacy = math.ceil(8 * M * math.log(2 * M / math.sqrt(beta)) / (2 * t * alpha))
    return DecisionListPaper(max(sample, privacy), sample, privacy, t)


def _tilts(t, M, noise):
    """Return, for values of s, by how much flipped labels raise a row's mean, and an error lowers it."""
    if not noise:
        return [(0.0, -math.expm1(-t))]
    safe, tilts = _SLACK, []  # the two may differ by little
    for s in (2 ** (-i / 8) for i in range(400)):
        if s * t * (M + 1) < 700:
            gain = -math.expm1(-s * t) * (1 - noise - noise * math.exp(s * t * (M + 1))) * (1 - safe)
            if gain > 0:
                tilts.append((noise * math.expm1(s * t * M) * (1 + safe), gain))
    return tilts


def _problem(n_conditions, alpha, beta):
    return count("n_conditions", n_conditions), chance("alpha", alpha), chance("beta", beta)


class DecisionListHalfspace(NamedTuple):
    """A halfspace that agrees with a decision list: the sign of intercept + sum of weights * literals.

    Attributes
    ----------
    weights : tuple of int
        One for the literal of each rule but the last.
    intercept : int
        The weight of a constant feature 1.
    norm : int
        The sum of the absolute weights and the absolute intercept.
    margin : Fraction
        The least distance of a row from 0, over `norm`.
    alternations : int
        Changes of the label along the list.
    """

    weights: tuple[int, ...]
    intercept: int
    norm: int
    margin: Fraction
    alternations: int


def decision_list_margin(labels: Sequence[int], *, feature_range: tuple[int, int] = (-1, 1)) -> DecisionListHalfspace:
    """Return a halfspace that represents a decision list, with its margin ([BF] section 4.3).

    Parameters
    ----------
    labels : sequence of {-1, 1}
        Labels of the rules in order; the last rule is the constant true.
    feature_range : {(-1, 1), (0, 1)}
        How literals are written as features: false and true.

    Returns
    -------
    DecisionListHalfspace
        With both signs available (a negative weight is a positive one on the negated copy, -x), dividing weights and
        intercept by `norm` makes them Winnow's target u, and `margin` is the least y <u, x>: exact if the rules use
        different variables, a lower bound otherwise.

    Raises
    ------
    ValueError
        If `labels` is empty or holds anything but -1 and 1, or the range is another one.

    Notes
    -----
    docs/proofs_learning.md proves that the halfspace represents the list, and that its margin is at least
    1 / (2 (1 + r/D)^D - 1) for D alternations and r rules before the last ones of equal labels.

    Examples
    --------
    >>> decision_list_margin([1, 1, -1, 1])
    DecisionListHalfspace(weights=(2, 2, -2), intercept=4, norm=10, margin=Fraction(1, 5), alternations=2)
    """
    labels = list(labels)
    if not labels or any(isinstance(b, bool) or b not in (-1, 1) for b in labels):
        raise ValueError(f"labels must be a sequence of -1 and 1, the last rule's included, got {labels!r}")
    low, high = feature_ends(feature_range)
    if high != 1 or low not in (-1, 0):
        raise ValueError(f"feature_range must be (-1, 1) or (0, 1) here, got {feature_range!r}")
    labels = [int(b) for b in labels]
    last = labels[-1]
    total = {last: 1, -last: 0}
    weights = []
    for b in reversed(labels[:-1]):
        weight = total[-b] + (b != last)
        total[b] += weight
        weights.append(b * weight)
    weights.reverse()
    signed = low == -1
    intercept = 2 * last + sum(weights) if signed else last
    norm = sum(map(abs, weights)) + abs(intercept)
    alternations = sum(a != b for a, b in pairwise(labels))
    return DecisionListHalfspace(tuple(weights), intercept, norm, Fraction(2 if signed else 1, norm), alternations)

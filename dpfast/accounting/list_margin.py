"""Decision lists as halfspaces, for Winnow to learn ([BF] section 4.3, as in `dpfast.accounting.winnow`)."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from .winnow import feature_ends


class DecisionListHalfspace(NamedTuple):
    """A halfspace that agrees with a decision list: the sign of intercept + sum of weights * literals.

    Attributes
    ----------
    weights : tuple of int
        One for each literal.
    intercept : int
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
        `weights` of the literals of all rules but the last, and the `intercept`, the weight of a constant
        feature 1. With both signs available (a negative weight is a positive one on the negated copy, -x),
        dividing by `norm`, the sum of absolute values, makes them Winnow's target u, and `margin` is the least
        y <u, x>: exact if the rules use different variables, a lower bound otherwise. `alternations` counts the
        changes of label.

    Raises
    ------
    ValueError
        If `labels` is empty or holds anything but -1 and 1, or the range is another one.

    Notes
    -----
    Let literals be 0 or 1, b_i the labels, b the last. From the last rule to the first let W_i be the sum of
    the weights of later rules of the other label, the constant among them with weight 1, plus 1 if b_i differs
    from b. **It represents the list**: in f = b + sum b_i W_i x_i let i be the first rule that holds. Earlier
    ones add nothing, later ones of label -b_i take away at most their sum; b counts in that sum, or else on the
    side of b_i. Either way b_i f >= 1. If none holds, f = b: the least |f| is 1. For literals u = 2 x - 1, 2 f
    has weights b_i W_i and intercept 2 b + sum b_i W_i, and the least |2 f| is 2.

    **The margin.** Equal labels in a row form a group and share a weight. Let N_g be 1 plus the weights from
    group g on; those of group g are at most N_{g+1} + 1, so N_g + 1 <= (n_g + 1)(N_{g+1} + 1) for n_g rules;
    the last group's weights are 0. With D alternations and r rules before the last group, N <= 2 prod (n_g + 1)
    - 1 <= 2 (1 + r/D)^D - 1, and both margins (1/N; and 2 over a norm of at most 2 N) are at least 1/N =
    Omega(1/r^D). Conversely W_g >= n_{g+1} W_{g+1}, so N >= 2 prod n_g.

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

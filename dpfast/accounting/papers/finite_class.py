"""Number of rows that one draw of the exponential mechanism needs to learn a finite class ([DR11], section 11.1).

[DR11] is Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", 2014. Of a class of k hypotheses one, h,
is drawn with probability proportional to exp(-t W), W the number of the n rows that it gets wrong; t = epsilon / 2
(replace) or epsilon (add-remove). Rows are i.i.d.; e(h) is the probability that h is wrong on a new row.

**Claim (agnostic).** But for probability beta, e(h) <= min e + alpha if
    sqrt(ln(3k/beta) / (2n)) + sqrt(ln(3/beta) / (2n)) + ln(3k/beta) / (t n) <= alpha.

**Claim (realizable).** If min e = 0 then e(h) <= alpha but for probability beta if n >= ln(k/beta) / R, R = -ln(1 -
alpha (1 - e^(-t))). docs/proofs_learning.md has the proofs.

**The paper's**, agnostic: n >= O(max(ln k / (epsilon alpha), ln k / alpha^2)). It prints no constant for it, and none
for beta; `paper_order` is that number with the constant 1. What it does print, that the draw has at most 2 (ln k +
ln(1/beta)) / epsilon more wrong rows than the best but for probability beta, is ln(k/beta) / t at t = epsilon / 2.
"""

import math
from typing import NamedTuple

from dpfast.accounting.curves.searches import least_integer
from dpfast.accounting.numbers import (
    Number,
    calculator,
    chance,
    check_neighbors,
    count,
    epsilon_of,
    read_planned_epsilon,
)

_SLACK = 1e-12


class FiniteClassPlan(NamedTuple):
    """Rows for one draw from a finite class.

    Attributes
    ----------
    n : int
        Rows.
    exponent : float
        t: the weight of a hypothesis is exp(-t) to the number of its errors.
    excess : float
        The number of errors, on these n rows, of the drawn hypothesis beyond those of the best one.
    paper_order : int
        The paper's number of rows, with 1 for the constant that it does not print.
    """

    n: int
    exponent: float
    excess: float
    paper_order: int


@calculator
def finite_class_plan(
    epsilon: Number,
    n_hypotheses: int,
    *,
    alpha: float = 0.1,
    beta: float = 0.1,
    neighbors: str = "replace",
    realizable: bool = False,
) -> FiniteClassPlan:
    """Return the number of rows with which the exponential mechanism learns an explicit finite class.

    Parameters
    ----------
    epsilon : real, at least 1e-9
    n_hypotheses : int, >= 1
        The number k of hypotheses.
    alpha, beta : real, from 1e-9 to 1 - 1e-9
        The acceptable error above that of the best hypothesis, and the probability of exceeding it.
    neighbors : {"replace", "add-remove"}
    realizable : bool
        Whether some hypothesis is never wrong, which requires far fewer rows.

    Returns
    -------
    FiniteClassPlan

    Examples
    --------
    >>> finite_class_plan(1.0, 1000).n, finite_class_plan(1.0, 1000).paper_order
    (1665, 691)
    >>> finite_class_plan(1.0, 1000, realizable=True).n
    230
    """
    check_neighbors(neighbors)
    k = count("n_hypotheses", n_hypotheses)
    alpha, beta = chance("alpha", alpha), chance("beta", beta)
    read_planned_epsilon(epsilon)
    epsilon = epsilon_of(epsilon)
    t = epsilon / (2 if neighbors == "replace" else 1)
    order = math.ceil(max(math.log(k) / (epsilon * alpha), math.log(k) / alpha**2))
    if realizable:
        n = math.ceil(math.log(k / beta) / -math.log1p(alpha * math.expm1(-t)) * (1 + _SLACK))
        return FiniteClassPlan(max(1, n), t, math.log(k / beta) / t, order)
    every, one = math.log(3 * k / beta), math.log(3 / beta)

    def enough(n):
        return math.sqrt(every / (2 * n)) + math.sqrt(one / (2 * n)) + every / (t * n) <= alpha * (1 - _SLACK)

    return FiniteClassPlan(least_integer(enough), t, every / t, order)

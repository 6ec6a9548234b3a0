"""How far costs may grow until a claim is used up.

Noise is planned by a rule that is simple to prove, such as equal parts of epsilon or of mu squared. The costs of what
was planned often compose to less than the claim (`dpfast.accounting.claims.composition`); what is left is found here.
"""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from dpfast.accounting.claims.composition import Composed
from dpfast.accounting.claims.costs import Cost
from dpfast.accounting.curves.searches import largest, round_down
from dpfast.accounting.numbers import Number, cache_results, calculator, exact, float_below

_WORTH = 1.01  # a smaller factor is not worth that a pure release is pure no more
_UP = 1 + 2**-40  # sizes are rounded up after they are multiplied


@calculator
@cache_results
def growth_of(costs: Sequence[Cost], beside: Sequence[Cost], epsilon: Number, delta: Number) -> Fraction:
    """Return the factor by which the sizes of costs may be multiplied, beside others that stay, within a claim.

    Parameters
    ----------
    costs, beside : tuple of Cost
        Together they are (epsilon, delta)-DP by some proof.
    epsilon : real, > 0
    delta : real, at least 1e-300 and below 1

    Returns
    -------
    Fraction
        At least 1, and 1 where less than a hundredth would be gained. All costs, grown, compose to (epsilon, delta) by
        `dpfast.accounting.claims.composition`.

    Examples
    --------
    >>> float(growth_of([Cost("range", 0.44)], [], 1, 1e-6)) > 2.27
    True
    >>> round(float(growth_of([Cost("pure", 0.01, times=100)], [], 1, 1e-6)), 2)
    2.4
    """
    most, left = float_below(exact("delta", delta)), float_below(exact("epsilon", epsilon))

    def delta_at(factor: float) -> float:
        return Composed([*beside, *(replace(each, size=each.size * factor * _UP) for each in costs)]).delta(left)

    factor = round_down(largest(delta_at, most))
    return Fraction(factor) if factor >= _WORTH else Fraction(1)

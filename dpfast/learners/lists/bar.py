"""What a rightly and a wrongly covered row is worth in each draw of a list.

A candidate scores c * correct - e * errors on the rows that it covers: more than nothing if its precision, the share of
them for which it is right, is above the bar e / (c + e). With one bar for all draws either early rules decide rows that
later ones would decide better, or nothing is worth drawing once the easy rows are gone. So the bar falls from draw to
draw. It depends on the number of draws alone, and the privacy curve on the largest c and e only
(`dpfast.accounting.curves`): a bar that falls costs what one that stays costs.
"""

from fractions import Fraction
from functools import cache

HIGHEST, LOWEST = Fraction(17, 20), Fraction(11, 20)
REACH = Fraction(1, 2)  # the most that a right row is worth, where a wrong one is worth 1 at most
_UNIT = 100


def constant_weights(coverage_weight):
    """coverage_weight * correct - errors in every draw: pairs (c, e) of integers, and how many of these are 1."""
    return [(coverage_weight.numerator, coverage_weight.denominator)], coverage_weight.denominator


@cache
def falling_weights(draws):
    """The weights of a bar that falls in equal steps from HIGHEST for the first rule to LOWEST for the last one.

    Pairs (c, e) of integers, and how many of these are 1: the largest pair with the bar of its draw for which c is at
    most REACH and e at most 1, rounded down to hundredths. The last draw is of a label for all rows that are left: no
    bar counts there, and c and e are as large as they may be.
    """
    pairs = []
    for j in range(draws - 1):
        bar = HIGHEST - (HIGHEST - LOWEST) * Fraction(j, max(1, draws - 2))
        right = min(REACH, (1 - bar) / bar)
        pairs.append((int(_UNIT * right), int(_UNIT * right * bar / (1 - bar))))
    return (*pairs, (int(_UNIT * REACH), _UNIT)), _UNIT

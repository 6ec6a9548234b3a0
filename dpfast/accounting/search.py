"""The largest and the least number with a property, and answers that are kept.

Numbers are looked for among those of 40 significant bits. What decides between neighbours there is never the last bit
of a machine's exponential: noise is the same everywhere, and at most a part in 10^12 above the least.
"""

import math
from collections.abc import Callable
from functools import lru_cache, wraps

_FINE = 2.0**-40  # the step of the numbers looked at, relative


def largest(fits: Callable[[float], bool]) -> float:
    """Return the largest number > 0 of 40 bits that fits, if every smaller number does."""
    low = 1.0
    while not fits(low):
        low /= 2
        if low == 0:
            return 0.0
    high = 2 * low
    while high < math.inf and fits(high):
        low, high = high, 2 * high
    while high - low > _FINE * low and low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def least(fits: Callable[[float], bool]) -> float:
    """Return the least number >= 0 of 40 bits that fits, if every larger number does."""
    if fits(0.0):
        return 0.0
    high = 1.0
    while not fits(high):
        high *= 2
        if high == math.inf:
            return high
    low = high / 2
    while low > 0 and fits(low):
        low, high = low / 2, low
    while high - low > _FINE * low and low < (middle := low + (high - low) / 2) < high:
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def least_integer(fits: Callable[[int], bool]) -> int:
    """Return the least integer >= 1 from which on `fits` holds, by doubling and bisection."""
    high = 1
    while not fits(high):
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def remembered(function):
    """Decorate a function to cache its last few hundred results: a calibration takes longer than a small fit."""
    kept = lru_cache(maxsize=512, typed=True)(function)

    @wraps(function)
    def answer(*arguments, **keywords):
        try:
            return kept(*arguments, **keywords)
        except TypeError:  # what has no hash is refused by the function itself
            return function(*arguments, **keywords)

    return answer

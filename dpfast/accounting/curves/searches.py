"""Searches for the largest and the least numbers that a claim allows.

Numbers are looked for among those of 40 significant bits. What decides between neighbours there is never the last bit
of a machine's exponential: noise is the same everywhere, and at most a part in 10^12 above the least.
"""

import math
from collections.abc import Callable

_NEAR, _GOLDEN = 1e-8, (3 - math.sqrt(5)) / 2  # how near to the argument of the least value; share of an interval
_BITS, _COARSE = 40, 30  # of the numbers looked at, and of those of which any one is a proof
_NEARBY = 6  # a guess that is good to 34 bits is in the interval of the first two steps from it


def largest(value: Callable[[float], float], most: float, near: float = 1.0) -> float:
    """Return the largest number of 40 bits whose value is at most `most`, or 0; values rise with the number.

    The search begins at `near`.
    """
    return _number(_last(lambda x: _gap(value(x), most), _BITS, _index(near, _BITS)), _BITS)


def round_down(number: float) -> float:
    """Return the largest number of 30 bits up to one: what arrays of floats decide differs by less between machines."""
    return _number(_index(number, _COARSE), _COARSE) if number else 0.0


def least(value: Callable[[float], float], most: float, below: float = math.inf, near: float = 0.0) -> float:
    """Return the least number >= 0 of 40 bits whose value is at most `most`; values fall as the number rises.

    If it is not less than `below`, a number of 40 bits, return that. The search begins at `near`, if that is above 0.
    """
    if near == 0 and value(0.0) <= most:
        return 0.0
    beyond = _index(below, _BITS)
    start = (0, _BITS) if near == 0 else (_index(near, _BITS), _NEARBY)
    return _number(_last(lambda x: -_gap(value(x), most), _BITS, *start, beyond) + 1, _BITS)


def solution(value: Callable[[float], float], target: float, slope: Callable[[float], float]) -> float:
    """Return nearly the number of 30 bits whose value is the wanted one; values rise with the number.

    `slope` is the derivative of ln value by ln x, for Newton's method, which proposes where to look.
    """
    near = _search_by_newton(value, target, slope)
    start = (_index(near, _COARSE), 0) if near else (0, _COARSE)
    return _number(_last(lambda x: _gap(value(x), target), _COARSE, *start), _COARSE)


def _search_by_newton(value, target: float, slope) -> float:
    """Return where Newton's method from 1 settles, in logarithms; 0 if it does not."""
    x = 1.0
    for _ in range(12):
        here = value(x)
        if not (target > 0 and 0 < here < math.inf):
            break
        rise = slope(x)
        step = (math.log(target) - math.log(here)) / rise if rise > 0 else math.nan
        if not abs(step) < 500 or not 1e-300 < x * math.exp(step) < 1e300:
            break
        x *= math.exp(step)
        if abs(step) < 1e-6:  # the next one is below 1e-12
            return x
    return 0.0


def lowest(value: Callable[[float], float], low: float, high: float) -> float:
    """Return nearly the least value between two ends, of a function that falls and then rises (Brent's method)."""
    at = second = third = low + (high - low) * _GOLDEN
    least = middle = most = value(at)  # the values there, in this order
    step = before = 0.0
    for _ in range(100):
        center = (low + high) / 2
        if abs(at - center) <= 2 * _NEAR - (high - low) / 2:
            break
        r, q = (at - second) * (least - most), (at - third) * (least - middle)
        p, q = (at - third) * q - (at - second) * r, 2 * (q - r)
        p, q = (-p, q) if q > 0 else (p, -q)
        if abs(before) > _NEAR and abs(p) < abs(q * before / 2) and q * (low - at) < p < q * (high - at):
            before, step = step, p / q  # to the lowest point of the parabola through the three
        else:
            before = (high if at < center else low) - at
            step = before * _GOLDEN
        new = at + (step if abs(step) > _NEAR else math.copysign(_NEAR, step))
        new_value = value(new)
        if new_value <= least:
            low, high = (at, high) if new > at else (low, at)
            third, most, second, middle, at, least = second, middle, at, least, new, new_value
            continue
        low, high = (low, new) if new > at else (new, high)
        if new_value <= middle or second == at:
            third, most, second, middle = second, middle, new, new_value
        elif new_value <= most or third in (at, second):
            third, most = new, new_value
    return least


def _gap(value: float, most: float) -> float:
    """Return ln(value / most), below 0 if the value is at most `most` and else above 0; infinite if there is none."""
    size = math.inf
    if 0 < value < math.inf and most > 0:
        size = max(abs(math.log(value) - math.log(most)), 2.0**-52)
    return -size if value <= most else size


def _last(
    gap: Callable[[float], float], bits: int, index: int = 0, step: int | None = None, beyond: int | None = None
) -> int:
    """Return the index of the last number before `beyond` whose gap is below 0; gaps rise with the number.

    Steps from an index, the first one of 2**step, double until two numbers enclose the place. Between these, each new
    number is where the line through two gaps is 0, with the weights of Anderson and Bjorck; where three have not halved
    the interval, the next one does.
    """
    first, beyond = -1075 << bits, 1024 << bits if beyond is None else beyond  # 0, and infinity
    low, under, high, over = first, -math.inf, beyond, math.inf
    index, step = min(index, beyond - 1), 1 << (bits if step is None else step)
    while low < index < high and (low == first or high == beyond):
        here = gap(_number(index, bits))
        if here < 0:
            low, under, index = index, here, index + step
        else:
            high, over, index = index, here, index - step
        step *= 2
    slow, left = 0, None
    while high - low > 1:
        width = high - low
        share = under / (under - over) if slow < 3 and over - under < math.inf else 0.5
        index = min(max(low + round(width * share), low + 1), high - 1)
        here = gap(_number(index, bits))
        if here < 0:
            over *= _weight(here, under) if left is True else 1
            low, under, left = index, here, True
        else:
            under *= _weight(here, over) if left is False else 1
            high, over, left = index, here, False
        slow = slow + 1 if high - low > width / 2 else 0
    return low


def _weight(here: float, before: float) -> float:
    """Return by how much the gap at the other end of the interval counts less, where one end moves twice."""
    return 1 - here / before if 0 < here / before < 1 else 0.5


def _number(index: int, bits: int) -> float:
    """Return the number of an index: equal steps between powers of two, 0 at 1."""
    power, rest = divmod(index, 1 << bits)
    return math.ldexp((1 << bits) + rest, power - bits) if power < 1024 else math.inf


def _index(number: float, bits: int) -> int:
    """Return the index of the last number up to one that is above 0."""
    if number == math.inf:
        return 1024 << bits
    share, power = math.frexp(number)
    return (power - 1 << bits) + math.floor(math.ldexp(2 * share - 1, bits))


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

"""Public grids of numbers that bounds and edges of a column are chosen from."""

from decimal import Decimal
from functools import cache

import numpy as np

from dpfast.tables.columns import Numeric

EQUAL = 1 << 10  # steps of one length between the bounds
OCTAVES, STEPS = 40, 32  # and distances from both bounds, and from 0, that halve so often, in so many steps each
SMALLEST, LARGEST = -32, 64  # powers of two that a bound may be


def powers() -> np.ndarray:
    """What bounds are chosen from: 0, and powers of two of either sign."""
    sizes = 2.0 ** np.arange(SMALLEST, LARGEST + 1)
    return np.concatenate([-sizes[::-1], [0.0], sizes])


def fine_grid(column: Numeric) -> np.ndarray:
    """What the edges of a column with bounds are chosen from: fine near all that a long tail may begin at.

    From declarations alone, by correctly rounded arithmetic: the same on every machine.
    """
    assert column.low is not None
    assert column.high is not None
    low, high = float(column.low), float(column.high)
    if column.integer and 1 <= high - low <= 4 * EQUAL:
        return np.arange(np.ceil(low), np.floor(high) + 1)
    width = high - low
    points = [low + width * (np.arange(EQUAL + 1) / EQUAL), low + width * _halvings(), high - width * _halvings()]
    if low < 0 < high:
        points += [[0.0], high * _halvings(), low * _halvings()]
    grid = np.concatenate(points)
    return np.unique((np.floor(grid) if column.integer else grid).clip(low, high))


@cache
def _halvings():
    root = Decimal(2) ** (Decimal(-1) / STEPS)
    return np.array([float(root**k) for k in range(OCTAVES * STEPS)])

"""Values that many rows have, from an undeclared set, by a noisy histogram with a threshold.

The count of every value that some row has gets discrete Laplace noise, and the value is published if the sum reaches a
threshold that a count of one reaches with probability at most delta. Let e1 be the inverse of the noise's scale.

The release is (epsilon, delta)-DP with epsilon = e1 under add-remove, and with epsilon = 2 e1 under replace if
1 / (1 - delta) <= e^e1. It is delta-approximately rho-zCDP (Bun, Steinke, "Concentrated Differential Privacy", 2016,
section 8) with rho = e1^2 / 2 for add-remove and e1^2 for replace; rho and delta add up. docs/proofs_privacy.md has the
proofs.
"""

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dpfast import random
from dpfast.accounting.numbers import check_neighbors
from dpfast.mechanisms.draws import Question, ask, discrete_laplace


def frequent_values(
    counts: Mapping[Any, int],
    epsilon: float | Fraction,
    delta: float | Fraction,
    *,
    neighbors: str = "replace",
    rng: int | np.random.Generator | None = None,
) -> dict[Any, int]:
    """Return the values whose noisy counts reach a threshold.

    **Privacy.** The result is (epsilon, delta)-DP for the relation `neighbors`, if every row has at most one value; the
    documentation of this module gives the theorem. The result is sorted by value, so its order reveals nothing
    else.

    Parameters
    ----------
    counts : mapping from values to int
        The number of rows with each value. Values that no row has may be omitted; they are never published.
    epsilon : Fraction, int or float
        Positive.
    delta : Fraction or float
        Positive, at most 1 - exp(-epsilon / 2).
    neighbors : {"replace", "add-remove"}, default="replace"
    rng : None, int or numpy.random.Generator

    Returns
    -------
    dict from values to int
        Noisy counts of the published values, sorted by value.

    Examples
    --------
    >>> [*frequent_values({"clerk": 900, "smith": 500, "astronaut": 1}, 0.5, 1e-6, rng=0)]
    ['clerk', 'smith']
    """
    if not isinstance(counts, Mapping):
        raise TypeError(f"counts must be a mapping from values to integers, got {type(counts).__name__}")
    threshold, scale = frequent_threshold(epsilon, delta, neighbors=neighbors), _scale(epsilon, neighbors)
    cells = sorted((value, int(count)) for value, count in counts.items() if count)
    if any(count < 0 for _, count in cells):
        raise ValueError("counts must be at least 0")
    rng = random.generator(rng)

    def draw() -> dict[Any, int]:
        noisy = discrete_laplace([count for _, count in cells], scale, rng=rng).tolist() if cells else []
        return {value: count for (value, _), count in zip(cells, noisy, strict=True) if count >= threshold}

    return ask(lambda: Question("frequent_values", dict(cells), "absolute", 1 / scale, delta=float(delta)), draw, rng)


def frequent_threshold(epsilon: float | Fraction, delta: float | Fraction, *, neighbors: str = "replace") -> int:
    """Return the least integer that a count of one plus noise reaches with probability at most delta.

    Parameters
    ----------
    epsilon, delta, neighbors
        As in `frequent_values`.

    Returns
    -------
    int
        1 + m, where P(noise >= m) = e^(-m e1) / (1 + e^-e1) is at most delta; rounded up.
    """
    rate = float(1 / _scale(epsilon, neighbors))
    if not 0 < delta <= -math.expm1(-rate):
        raise ValueError(f"delta must lie in (0, {-math.expm1(-rate):.3g}], got {float(delta)}")
    steps = (-math.log(delta) - math.log1p(math.exp(-rate))) / rate
    return 1 + max(1, math.ceil(steps * (1 + 1e-12) + 1e-12))


def frequent_rho(epsilon: float | Fraction, neighbors: str = "replace") -> Fraction:
    """Return the rho for which `frequent_values` is delta-approximately rho-zCDP.

    Parameters
    ----------
    epsilon : real, > 0
    neighbors : {"replace", "add-remove"}

    Returns
    -------
    Fraction
    """
    rate = 1 / _scale(epsilon, neighbors)
    return rate**2 / (2 if neighbors == "add-remove" else 1)


def _scale(epsilon, neighbors):
    check_neighbors(neighbors)
    if not 0 < epsilon < math.inf:
        raise ValueError(f"epsilon must be a finite number above 0, got {epsilon!r}")
    return (2 if neighbors == "replace" else 1) / Fraction(epsilon)

"""Privacy cost of tests of counts without threshold noise, up to a number of positive tests.

**Theorem.** Let each test be an e-DP bit, chosen after the earlier bits are seen, without limit on their number.
Put a = 1 / (1 + exp(-e)), b = 1 - a = 1 / (exp(e) + 1), x = (0, 0, ...) and K times replace x by y, where

    y_0 = (tanh(e / 2) + b x_1 + b**2 x_2) / (1 - a b),    y_i = b x_{i+1} + a y_{i-1}    (i >= 1).

The bits are (i e, x_i)-DP for every i >= 0, and in between with delta linear in exp(E). No smaller delta holds.
docs/proofs_privacy.md has the proof.

**Closed form.** Let v_k be y_0 of replacement number k, and S_0 = 1, S_m(i) = i / (i + 2 m) C(i + 2 m, m), which
are ballot numbers: S_m(i) - S_m(i - 1) = S_{m-1}(i + 1). So by induction on K

    x_i = a**i (v_K S_0(i) + v_{K-1} a b S_1(i) + ... + v_1 (a b)**(K-1) S_{K-1}(i))    (i >= 1),

which gives v_{K+1} in turn; v_1 = tanh(e / 2) / (1 - a b).
"""

import math
from numbers import Real

import numpy as np

from dpfast.accounting.curves.searches import least_integer
from dpfast.accounting.numbers import Number, calculator, count, exact


@calculator
def repeated_epsilon(epsilon: Number, positives: int, delta: float) -> float:
    """Return the epsilon of all tests together up to a number of positive ones, if each test is epsilon-DP.

    Parameters
    ----------
    epsilon : Fraction, int or float
        e, of one test, in [1e-15, 10].
    positives : int
        K, at least 1: testing ends with positive test number K.
    delta : float
        In [1e-300, 1).

    Returns
    -------
    float
        E such that the released bits are (E, delta)-DP, rounded up. O(K**2) operations.

    Examples
    --------
    >>> round(repeated_epsilon(0.1, 20, 1e-6), 2)
    4.29
    """
    e, k = float(exact("epsilon", epsilon)), count("positives", positives)
    if k > 10**6:
        raise ValueError("positives must be at most 10**6: the work grows with its square")
    if not 1e-15 <= e <= 10:
        raise ValueError(f"epsilon of one test must lie in [1e-15, 10], got {e!r}")
    if not (isinstance(delta, Real) and 1e-300 <= delta < 1):
        raise ValueError(f"delta must be at least 1e-300 and below 1, got {delta!r}")
    firsts = _firsts(e, k)
    if _divergence(e, firsts, 0) <= delta:
        return 0.0
    i = least_integer(lambda i: _divergence(e, firsts, i) <= delta)
    before, after = _divergence(e, firsts, i - 1), _divergence(e, firsts, i)
    part = (before - delta) / (before - after)
    return ((i - 1) * e + math.log1p(math.expm1(e) * part)) * (1 + 2.0**-40)


def _firsts(e: float, positives: int) -> np.ndarray:
    """Return v_1, ..., v_K of the theorem."""
    square = 1 / (2 + 2 * math.cosh(e))  # a b
    at_one, at_two = (np.cumprod(np.append(1.0, square * _ratios(i, positives - 1))) for i in (1, 2))
    firsts = np.zeros(positives)
    for k in range(positives):
        later = firsts[:k][::-1]
        later_sum = square * _sum(later * at_one[:k]) + square**2 * _sum(later * at_two[:k])
        firsts[k] = (math.tanh(e / 2) + later_sum) / (1 - square)
    return firsts


def _divergence(e: float, firsts: np.ndarray, i: int) -> float:
    """Return x_i of the theorem, rounded up."""
    positives = len(firsts)
    if i == 0:  # S_m(0) is 0 for m >= 1
        return float(firsts[-1]) * (1 + positives**2 * 2.0**-50)
    log, square = -i * math.log1p(math.exp(-e)), 1 / (2 + 2 * math.cosh(e))
    logs = [log] + [log := log + math.log(square * ratio) for ratio in _ratios(i, positives - 1).tolist()]
    total = math.fsum(math.exp(log + math.log(first)) for log, first in zip(logs, firsts[::-1].tolist(), strict=True))
    largest = max(map(abs, logs))
    return total * (1 + (positives + 4) * (positives + largest + 4) * 2.0**-50)


def _ratios(i: int, most: int) -> np.ndarray:
    """Return S_m(i) / S_{m-1}(i) for m = 1, ..., most."""
    m = np.arange(1.0, most + 1)
    return (i + 2 * m - 1) * (i + 2 * m - 2) / ((i + m) * m)


def _sum(numbers: np.ndarray) -> float:
    """Return the sum of numbers in their order, the same on every machine."""
    return float(np.cumsum(numbers)[-1]) if len(numbers) else 0.0

"""Privacy cost of tests of counts without threshold noise, up to a number of positive tests."""

import math
from numbers import Real

import numpy as np

from .numbers import Number, calculator, count, exact


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
        E such that the released bits are (E, delta)-DP, rounded up. O(K + E / e) numbers, K times.

    Notes
    -----
    **Theorem.** Let each test be an e-DP bit, chosen after the earlier bits are seen, without limit on their number.
    Put a = 1 / (1 + exp(-e)), b = 1 - a = 1 / (exp(e) + 1), x = (0, 0, ...) and K times replace x by y, where

        y_0 = (tanh(e / 2) + b x_1 + b**2 x_2) / (1 - a b),    y_i = b x_{i+1} + a y_{i-1}    (i >= 1).

    The bits are (i e, x_i)-DP for every i >= 0, and in between with delta linear in exp(E). No smaller delta holds.

    **Proof.** Randomised response R says which of the neighbours P, Q it is and lies with probability b. An e-DP bit
    is a mixture, with the same weights for both, of constants and of R or its negation [Kairouz, Oh and Viswanath,
    2015]. Tell which it was: a constant shows nothing and may use up a positive. So take R or its negation always: a
    target hit with probability b at least [Cohen and Lyu, 2023]. Let V_k(j) be the largest value that E_P max(0, 1 -
    Q / P) can reach with k positives left and ln(P / Q) = j e so far. V_0(j) = max(0, 1 - exp(-j e)), and V_k is the
    least function that is at least V_{k-1} and

        (+) a V_{k-1}(j+1) + b V_k(j-1)    and    (-) b V_{k-1}(j-1) + a V_k(j+1).

    Let W be V_0, and for k > 0 what (-) gives for j < 0 and (+) for j > 0, either for j = 0: exchanging P and Q shows
    W_k(j) = 1 - exp(-j e) + exp(-j e) W_k(-j), and the theorem's x_i are W_K(-i). Put h_k(j) = exp(j e / 2) (W_k(j) -
    W_{k-1}(j)), which is even, and c = sqrt(a b). Then h_1(j) = c**abs(j) h_1(0), and for k > 1

        h_k(0) = c (h_{k-1}(1) + h_k(1)),    h_k(j) = c (h_{k-1}(j+1) + h_k(j-1))    (j >= 1),

    so by induction on k, then j, it is positive and falls with abs(j). Hence W_k >= W_{k-1}, and (-) exceeds (+) by
    c exp(-j e / 2) (h_k(j+1) - h_k(j-1)), which is >= 0 for j < 0 and <= 0 for j > 0: W = V. The largest divergence is
    convex in exp(E). Discrete Laplace tests of scale 1 / e at gaps 1 and 0 are R: P(X >= 1) = b, P(X >= 0) = a.

    Examples
    --------
    >>> round(repeated_epsilon(0.1, 20, 1e-6), 2)
    4.29
    """
    e, k = float(exact("epsilon", epsilon)), count("positives", positives)
    if not 1e-15 <= e <= 10:
        raise ValueError(f"epsilon of one test must lie in [1e-15, 10], got {e!r}")
    if not (isinstance(delta, Real) and 1e-300 <= delta < 1):
        raise ValueError(f"delta must be at least 1e-300 and below 1, got {delta!r}")
    size, x = 64, [1.0]
    while x[-1] > delta:
        size *= 2
        x = _largest_divergences(e, k, size)
    i = int(np.argmax(x <= delta))
    if i == 0:
        return 0.0
    part = (x[i - 1] - delta) / (x[i - 1] - x[i])
    return ((i - 1) * e + math.log1p(math.expm1(e) * part)) * (1 + 2.0**-40)


def _largest_divergences(e, positives, size):
    """Return x_0, ..., x_{size - 1} of the theorem, rounded up."""
    from scipy.signal import lfilter  # slow to import

    a, b = 1 / (1 + math.exp(-e)), 1 / (1 + math.exp(e))
    x = np.zeros(size)
    for _ in range(positives):
        beyond = np.append(x[1:], x[-1])  # x falls: more than the truth at the end
        driven = b * beyond
        driven[0] = (math.tanh(e / 2) + b * beyond[0] + b * b * beyond[1]) / (1 - a * b)
        x = lfilter([1.0], [1.0, -a], driven)
    return x * (1 + (positives + size) * 2.0**-49)  # sums of positive terms, each of at most so many operations

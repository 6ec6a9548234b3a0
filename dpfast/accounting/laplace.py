"""Laplace noise on many releases.

Noise with P(x) proportional to exp(-|x| / b), on reals or on integers, makes a release of sensitivity s e-DP with
e = s / b: the log-ratio of two laws lies in [-e, e]. T of them, each chosen with the earlier outcomes in view, are
T e-DP; and for delta > 0 they compose, order by order, like T randomised responses, which `dpfast.accounting.zcdp`
converts ("Pure parts"). What is returned is the better of the two.
"""

from fractions import Fraction

from .numbers import count, delta_of, epsilon_of, exact, float_above, largest, positive, remembered
from .zcdp import composed_epsilon


@remembered
def laplace_scale(
    epsilon: float | Fraction,
    delta: float | Fraction = 0.0,
    *,
    sensitivity: float | Fraction = 1,
    releases: int = 1,
) -> float:
    """Return the least scale of (discrete) Laplace noise at which releases are together (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : real, > 0
    delta : real, 0 or at least 1e-300, and below 1
    sensitivity : real, > 0
        The most that neighbours change one release, in sum of absolute values.
    releases : int, >= 1
        Adaptive releases.

    Returns
    -------
    float
        b, rounded up.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    The claim and its source are in the documentation of this module.

    Examples
    --------
    >>> laplace_scale(0.5, sensitivity=3)
    6.0
    >>> round(laplace_scale(1, releases=1000)), round(laplace_scale(1, 1e-6, releases=1000))
    (1000, 143)
    """
    most, T = epsilon_of(epsilon), count("releases", releases)
    positive("sensitivity", sensitivity)
    pure = exact("epsilon", epsilon) / T
    if delta != 0:
        delta = delta_of(delta)
        pure = max(pure, Fraction(largest(lambda e: composed_epsilon(0.0, delta, e, T) <= most)))
    try:
        return float_above(Fraction(float_above(sensitivity)) / pure)
    except OverflowError:
        raise ValueError(
            f"no float is a scale large enough for epsilon = {epsilon!r} and sensitivity = {sensitivity!r}"
        ) from None

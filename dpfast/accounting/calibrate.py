"""The largest exponent that fits a privacy budget."""

from fractions import Fraction

from .curves import PAPER_LARGEST_EXPONENT, _check_choices, _coverage_weight, _delta, _epsilon, _epsilon_at


def cover_exponent(
    epsilon: float | Fraction,
    delta: float | Fraction,
    *,
    coverage_weight: float | Fraction = 0.0,
    neighbors: str = "replace",
    accounting: str = "curve",
) -> float:
    """Largest exponent at which a whole greedy-cover run is (epsilon, delta)-DP.

    Parameters
    ----------
    epsilon : real, > 0
    delta : real, at least 1e-300 and below 1
    coverage_weight, neighbors, accounting
        As in `cover_delta`.

    Returns
    -------
    float
        Exponent t per unit of score, for weights exp(t * score). Rounded down, so that
        ``cover_epsilon(cover_exponent(epsilon, delta), delta) <= epsilon`` also holds in floats.
        With ``accounting="paper"`` at most 1, where that lemma ends.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    Notes
    -----
    Theorem, proof and source are in the documentation of `dpfast.accounting.curves`.

    Examples
    --------
    >>> round(cover_exponent(1.0, 1e-6), 4)
    0.0848
    >>> round(cover_exponent(1.0, 1e-6, accounting="paper"), 4)
    0.0163
    """
    epsilon, delta, g = _epsilon(epsilon), _delta(delta), _coverage_weight(coverage_weight)
    _check_choices(0.0, g, neighbors, accounting)

    def fits(t: float) -> bool:
        return _epsilon_at(t, delta, g, neighbors, accounting) <= epsilon

    low = PAPER_LARGEST_EXPONENT
    while not fits(low):
        low /= 2
    high = 2 * low
    while fits(high):
        low, high = high, 2 * high
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low

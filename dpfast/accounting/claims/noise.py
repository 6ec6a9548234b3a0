"""How many rows of neighbouring tables differ, and how large noise may be."""

from fractions import Fraction
from typing import Any

LARGEST_SCALE = 1 << 52  # of noise that the kernels draw


def changed_rows(neighbors: str) -> int:
    """Return how many rows differ between neighbouring tables: the row that is replaced by another counts twice."""
    return 2 if neighbors == "replace" else 1


def check_scale(scale: Any, epsilon: Any) -> None:
    """Refuse an epsilon that asks for noise of a scale that is too large to be drawn."""
    if scale > LARGEST_SCALE:
        raise ValueError(f"epsilon must ask for noise that 64-bit integers hold, got {epsilon!r}")


def noise_scale(epsilon: Fraction, neighbors: str, share: str = "rule_counts", rows_per_unit: int = 1) -> Fraction:
    """Return the scale of the noise that makes all class counts epsilon-DP; `share` names the parameter in errors.

    For units of k rows the scale is k times as large, as all k rows may leave one cell and enter another.
    """
    scale = rows_per_unit * changed_rows(neighbors) / epsilon
    if scale > LARGEST_SCALE:
        least = rows_per_unit * changed_rows(neighbors) / LARGEST_SCALE
        raise ValueError(f"{share} must be 0 or a share of at least {least:.3g} of epsilon 1, got {float(epsilon):.3g}")
    return scale

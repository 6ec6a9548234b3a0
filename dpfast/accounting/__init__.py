"""Privacy accounting: numbers only, no data."""

from .budget import Budget, BudgetExceeded, PrivacySpend, Release
from .calibrate import cover_exponent
from .curves import cover_delta, cover_epsilon

__all__ = [
    "Budget",
    "BudgetExceeded",
    "PrivacySpend",
    "Release",
    "cover_delta",
    "cover_epsilon",
    "cover_exponent",
]

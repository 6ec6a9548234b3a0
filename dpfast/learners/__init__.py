"""Learners, with scikit-learn's estimator contract: a family a folder, its private state beside it.

A family loads when first used, and scikit-learn with it: a second, which a command that refuses does not take.
"""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

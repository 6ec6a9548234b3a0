"""Mechanisms: each draws from its exact distribution and states its privacy cost.

An invalid argument raises ValueError or TypeError before anything is drawn. For `rng`, None is a cryptographic
generator, and a seed is for tests.
"""

from dpfast.accounting import repeated_epsilon

from .above_threshold import AboveThreshold, RepeatedThreshold
from .cover import exponential_cover
from .draws import discrete_gaussian, discrete_laplace
from .exponential import exponential
from .frequent import frequent_rho, frequent_threshold, frequent_values
from .quantiles import quantiles, quantiles_cost
from .sparse_sample import sparse_sample

__all__ = [
    "AboveThreshold",
    "RepeatedThreshold",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "exponential_cover",
    "frequent_rho",
    "frequent_threshold",
    "frequent_values",
    "quantiles",
    "quantiles_cost",
    "repeated_epsilon",
    "sparse_sample",
]

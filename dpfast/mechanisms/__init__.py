"""Mechanisms: each draws from its exact law and states what it costs."""

from .above_threshold import AboveThreshold, RepeatedThreshold, repeated_epsilon
from .exponential import exponential
from .gaussian import discrete_gaussian
from .laplace import discrete_laplace
from .sparse_sample import sparse_sample

__all__ = [
    "AboveThreshold",
    "RepeatedThreshold",
    "discrete_gaussian",
    "discrete_laplace",
    "exponential",
    "repeated_epsilon",
    "sparse_sample",
]

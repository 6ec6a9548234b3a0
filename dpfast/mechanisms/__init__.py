"""Mechanisms: each draws from its exact law and states what it costs."""

from .above_threshold import AboveThreshold, RepeatedThreshold, repeated_epsilon
from .exponential import exponential
from .laplace import discrete_laplace

__all__ = ["AboveThreshold", "RepeatedThreshold", "discrete_laplace", "exponential", "repeated_epsilon"]

"""Mechanisms: each draws from its exact law and states what it costs."""

from .exponential import exponential
from .laplace import discrete_laplace

__all__ = ["discrete_laplace", "exponential"]

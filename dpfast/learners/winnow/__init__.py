"""Winnow, private and non-private [BF, section 4]; its private state, streams and checkpoints."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

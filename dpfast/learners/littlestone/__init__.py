"""Littlestone classes: tools for their theory, and private learners for them [Lyu].

`dpfast.learners.littlestone.decomposition` gives theory, definitions and proofs.
"""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

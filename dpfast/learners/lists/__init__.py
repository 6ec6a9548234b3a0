"""Decision lists by greedy cover [BF, section 3]."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

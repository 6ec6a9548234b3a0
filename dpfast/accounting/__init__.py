"""Privacy accounting: numbers only, no data."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

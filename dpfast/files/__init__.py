"""Files, one module a format: readers parse and hand over to `dpfast.tables`."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

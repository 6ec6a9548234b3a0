"""Readers of files, one module per format; they parse files and pass the data to `dpfast.tables`."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

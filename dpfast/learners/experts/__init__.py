"""Experts, explicit finite classes and statistical queries [DR11, chapter 11]."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

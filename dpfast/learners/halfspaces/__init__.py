"""Private halfspaces: the one to take, boosting [BCS], large margins [NUZ]."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

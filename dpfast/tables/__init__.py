"""Tables that learners read, and images of rows; every image depends on one row alone.

Loads what it needs when first used: Arrow, for tables with a schema only.
"""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""What learners read, and how a row becomes an image: one row, one image; nothing here looks at two rows at once.

Loads what it needs when first used: Arrow, for tables with a schema only.
"""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""What people look at: the terms of an additive model, pictures, and one self-contained page for any model.

Everything here is computed from what a model released; nothing looks at rows.
"""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

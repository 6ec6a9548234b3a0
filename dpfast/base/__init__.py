"""The parts of a private learner, public for learners of your own: see the page "A learner of your own"."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

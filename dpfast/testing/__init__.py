"""Checks for private learners, of dpfast and of others, as `sklearn.utils.estimator_checks` has them for estimators."""

from dpfast.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

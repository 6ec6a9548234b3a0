"""Learners, with scikit-learn's estimator contract: a family a folder, its private state beside it.

A family loads when first used, and scikit-learn with it: a second, which a command that refuses does not take.
"""

from importlib import import_module

_HOMES = {
    "BoostedHalfspaceClassifier": "halfspaces",
    "DPWinnowClassifier": "winnow",
    "DecisionListClassifier": "lists",
    "FiniteClassLearner": "experts",
    "HalfspaceClassifier": "halfspaces",
    "LinearLearner": "experts",
    "LinearMinimizer": "experts",
    "NetHalfspaceClassifier": "halfspaces",
    "ProjectedHalfspaceClassifier": "halfspaces",
    "RandomizedWeightedMajority": "experts",
    "StatisticalQueryOracle": "experts",
    "WinnowClassifier": "winnow",
}

__all__ = [*_HOMES]


def __getattr__(name):
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast.learners' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dpfast.learners.{_HOMES[name]}"), name)
    return value

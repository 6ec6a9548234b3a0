"""Learners, with scikit-learn's estimator contract: a family a folder, its private state beside it.

A family loads when first used, and scikit-learn with it: a second, which a command that refuses does not take.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # what a type checker reads; a test compares it with _HOMES
    from dpfast.learners.experts import FiniteClassLearner as FiniteClassLearner
    from dpfast.learners.experts import LinearLearner as LinearLearner
    from dpfast.learners.experts import LinearMinimizer as LinearMinimizer
    from dpfast.learners.experts import RandomizedWeightedMajority as RandomizedWeightedMajority
    from dpfast.learners.experts import StatisticalQueryOracle as StatisticalQueryOracle
    from dpfast.learners.halfspaces import BoostedHalfspaceClassifier as BoostedHalfspaceClassifier
    from dpfast.learners.halfspaces import HalfspaceClassifier as HalfspaceClassifier
    from dpfast.learners.halfspaces import NetHalfspaceClassifier as NetHalfspaceClassifier
    from dpfast.learners.halfspaces import ProjectedHalfspaceClassifier as ProjectedHalfspaceClassifier
    from dpfast.learners.lists import DecisionListClassifier as DecisionListClassifier
    from dpfast.learners.winnow import DPWinnowClassifier as DPWinnowClassifier
    from dpfast.learners.winnow import WinnowClassifier as WinnowClassifier

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast.learners' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"dpfast.learners.{_HOMES[name]}"), name)
    return value

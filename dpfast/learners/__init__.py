"""Learners, with scikit-learn's estimator contract: a family a folder, its private state beside it."""

from .experts import (
    FiniteClassLearner,
    LinearLearner,
    LinearMinimizer,
    RandomizedWeightedMajority,
    StatisticalQueryOracle,
)
from .halfspaces import (
    BoostedHalfspaceClassifier,
    HalfspaceClassifier,
    NetHalfspaceClassifier,
    ProjectedHalfspaceClassifier,
)
from .lists import DecisionListClassifier
from .winnow import DPWinnowClassifier, WinnowClassifier

__all__ = [
    "BoostedHalfspaceClassifier",
    "DPWinnowClassifier",
    "DecisionListClassifier",
    "FiniteClassLearner",
    "HalfspaceClassifier",
    "LinearLearner",
    "LinearMinimizer",
    "NetHalfspaceClassifier",
    "ProjectedHalfspaceClassifier",
    "RandomizedWeightedMajority",
    "StatisticalQueryOracle",
    "WinnowClassifier",
]

"""Learners, with scikit-learn's estimator contract."""

from .boosted_halfspace import BoostedHalfspaceClassifier
from .confident_winnow import WinnowClassifier
from .decision_list import DecisionListClassifier
from .experts import LinearLearner, RandomizedWeightedMajority
from .finite_class import FiniteClassLearner
from .net_halfspace import NetHalfspaceClassifier
from .projected_halfspace import ProjectedHalfspaceClassifier
from .statistical_query import StatisticalQueryOracle
from .winnow import DPWinnowClassifier

__all__ = [
    "BoostedHalfspaceClassifier",
    "DPWinnowClassifier",
    "DecisionListClassifier",
    "FiniteClassLearner",
    "LinearLearner",
    "NetHalfspaceClassifier",
    "ProjectedHalfspaceClassifier",
    "RandomizedWeightedMajority",
    "StatisticalQueryOracle",
    "WinnowClassifier",
]

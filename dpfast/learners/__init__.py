"""Learners, with scikit-learn's estimator contract."""

from .boosted_halfspace import BoostedHalfspaceClassifier
from .confident_winnow import WinnowClassifier
from .decision_list import DecisionListClassifier
from .net_halfspace import NetHalfspaceClassifier
from .projected_halfspace import ProjectedHalfspaceClassifier
from .winnow import DPWinnowClassifier

__all__ = [
    "BoostedHalfspaceClassifier",
    "DPWinnowClassifier",
    "DecisionListClassifier",
    "NetHalfspaceClassifier",
    "ProjectedHalfspaceClassifier",
    "WinnowClassifier",
]

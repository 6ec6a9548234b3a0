"""Learners, with scikit-learn's estimator contract."""

from .confident_winnow import WinnowClassifier
from .decision_list import DecisionListClassifier
from .net_halfspace import NetHalfspaceClassifier
from .winnow import DPWinnowClassifier

__all__ = ["DPWinnowClassifier", "DecisionListClassifier", "NetHalfspaceClassifier", "WinnowClassifier"]

"""Learners, with scikit-learn's estimator contract."""

from .confident_winnow import WinnowClassifier
from .decision_list import DecisionListClassifier
from .winnow import DPWinnowClassifier

__all__ = ["DPWinnowClassifier", "DecisionListClassifier", "WinnowClassifier"]

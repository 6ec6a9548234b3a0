"""Private learners, with scikit-learn's estimator contract."""

from .decision_list import DecisionListClassifier

__all__ = ["DecisionListClassifier"]

"""Decision lists by greedy cover [BF, section 3]."""

from .decision_list import DecisionListClassifier
from .rule import Literal, Rule

__all__ = ["DecisionListClassifier", "Literal", "Rule"]

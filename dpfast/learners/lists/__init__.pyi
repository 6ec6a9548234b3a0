from .decision_list import DecisionListClassifier as DecisionListClassifier
from .rule import Literal as Literal
from .rule import Rule as Rule

from .decision_list import DecisionListClassifier as DecisionListClassifier
from .explained import RuleExplanation as RuleExplanation
from .rule import Literal as Literal
from .rule import Rule as Rule

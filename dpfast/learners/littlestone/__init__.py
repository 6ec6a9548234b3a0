"""Littlestone classes: what online learning costs there, and private learners for them [Lyu].

Theory, definitions and proofs: `dpfast.learners.littlestone.hypothesis_class`.
"""

from .closed_forms import PointFunctions, Thresholds
from .finite_class import FiniteClass, littlestone_dimension
from .hypothesis_class import ClassCost, Hypothesis, Tree
from .learner import LittlestoneLearner, LittlestonePlan
from .online import HalvingLearner, SOALearner
from .online_learner import OnlineLittlestoneLearner, OnlineLittlestonePlan

__all__ = [
    "ClassCost",
    "FiniteClass",
    "HalvingLearner",
    "Hypothesis",
    "LittlestoneLearner",
    "LittlestonePlan",
    "OnlineLittlestoneLearner",
    "OnlineLittlestonePlan",
    "PointFunctions",
    "SOALearner",
    "Thresholds",
    "Tree",
    "littlestone_dimension",
]

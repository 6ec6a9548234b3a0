"""Littlestone classes: tools for their theory, and private learners for them [Lyu].

`dpfast.learners.littlestone.decomposition` gives theory, definitions and proofs.
"""

from .closed_forms import PointFunctions, Thresholds
from .decomposition import Tree
from .hypothesis import Hypothesis
from .hypothesis_class import ClassCost
from .learner import LittlestoneLearner, LittlestonePlan
from .listed import FiniteClass, littlestone_dimension
from .online import HalvingLearner, SOALearner
from .online_learner import OnlineLittlestoneLearner, OnlineLittlestonePlan
from .staged import StagedLittlestoneLearner
from .staged_online import StagedOnlineLittlestoneLearner

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
    "StagedLittlestoneLearner",
    "StagedOnlineLittlestoneLearner",
    "Thresholds",
    "Tree",
    "littlestone_dimension",
]

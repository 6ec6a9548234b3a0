"""Experts, explicit finite classes and statistical queries [DR11, chapter 11]."""

from .finite_class import FiniteClassLearner
from .linear_learner import LinearLearner
from .linear_minimizer import LinearMinimizer
from .statistical_query import StatisticalQueryOracle
from .weighted_majority import RandomizedWeightedMajority

__all__ = [
    "FiniteClassLearner",
    "LinearLearner",
    "LinearMinimizer",
    "RandomizedWeightedMajority",
    "StatisticalQueryOracle",
]

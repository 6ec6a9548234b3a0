"""Private halfspaces: the one to take, boosting [BCS], large margins [NUZ]."""

from .boosted import BoostedHalfspaceClassifier
from .halfspace import HalfspaceClassifier
from .net import NetHalfspaceClassifier
from .projected import ProjectedHalfspaceClassifier

__all__ = [
    "BoostedHalfspaceClassifier",
    "HalfspaceClassifier",
    "NetHalfspaceClassifier",
    "ProjectedHalfspaceClassifier",
]

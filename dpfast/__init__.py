"""dpfast: learning from high-dimensional data under differential privacy, exact, tight and fast."""

from importlib.metadata import version

from dpfast import accounting, kernels, mechanisms
from dpfast.data import BitMatrix, load_dataset
from dpfast.learners import DecisionListClassifier
from dpfast.persistence import load

__version__ = version("dpfast")
__all__ = [
    "BitMatrix",
    "DecisionListClassifier",
    "accounting",
    "kernels",
    "load",
    "load_dataset",
    "mechanisms",
]

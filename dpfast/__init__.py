"""dpfast: learning from high-dimensional data under differential privacy, exact, tight and fast.

Public names load what they need when first used, so that the command line starts at once.
"""

from importlib import import_module
from importlib.metadata import version

__version__ = version("dpfast")

_HOMES = {
    "BitMatrix": "dpfast.data",
    "BoostedHalfspaceClassifier": "dpfast.learners",
    "DPWinnowClassifier": "dpfast.learners",
    "DecisionListClassifier": "dpfast.learners",
    "FiniteClassLearner": "dpfast.learners",
    "LinearLearner": "dpfast.learners",
    "RandomizedWeightedMajority": "dpfast.learners",
    "StatisticalQueryOracle": "dpfast.learners",
    "NetHalfspaceClassifier": "dpfast.learners",
    "ProjectedHalfspaceClassifier": "dpfast.learners",
    "WinnowClassifier": "dpfast.learners",
    "load": "dpfast.persistence",
    "load_dataset": "dpfast.data",
}
_MODULES = ("accounting", "kernels", "littlestone", "mechanisms")

__all__ = [*_HOMES, *_MODULES]


def __getattr__(name):
    if name in _MODULES:
        return import_module(f"dpfast.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})

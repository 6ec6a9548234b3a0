"""dpfast: learning from high-dimensional data under differential privacy, exact, tight and fast.

Public names load what they need when first used, so that the command line starts at once.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what a type checker reads; a test compares it with _HOMES
    from dpfast import accounting as accounting
    from dpfast import audit as audit
    from dpfast import interop as interop
    from dpfast import kernels as kernels
    from dpfast import littlestone as littlestone
    from dpfast import mechanisms as mechanisms
    from dpfast import metrics as metrics
    from dpfast import model_selection as model_selection
    from dpfast import plot as plot
    from dpfast import report as report
    from dpfast.accounting import PrivacyWarning as PrivacyWarning
    from dpfast.files import FileParts as FileParts
    from dpfast.files import load_dataset as load_dataset
    from dpfast.learners import BoostedHalfspaceClassifier as BoostedHalfspaceClassifier
    from dpfast.learners import DecisionListClassifier as DecisionListClassifier
    from dpfast.learners import DPWinnowClassifier as DPWinnowClassifier
    from dpfast.learners import FiniteClassLearner as FiniteClassLearner
    from dpfast.learners import HalfspaceClassifier as HalfspaceClassifier
    from dpfast.learners import LinearLearner as LinearLearner
    from dpfast.learners import LinearMinimizer as LinearMinimizer
    from dpfast.learners import NetHalfspaceClassifier as NetHalfspaceClassifier
    from dpfast.learners import ProjectedHalfspaceClassifier as ProjectedHalfspaceClassifier
    from dpfast.learners import RandomizedWeightedMajority as RandomizedWeightedMajority
    from dpfast.learners import StatisticalQueryOracle as StatisticalQueryOracle
    from dpfast.learners import WinnowClassifier as WinnowClassifier
    from dpfast.learners.encoder import TableEncoder as TableEncoder
    from dpfast.learners.winnow import make_point_stream as make_point_stream
    from dpfast.persistence import load as load
    from dpfast.tables import BitMatrix as BitMatrix
    from dpfast.tables import CodeTable as CodeTable
    from dpfast.tables import Schema as Schema
    from dpfast.tables import StreamParts as StreamParts

    __version__: str

_HOMES = {
    "BitMatrix": "dpfast.tables",
    "BoostedHalfspaceClassifier": "dpfast.learners",
    "CodeTable": "dpfast.tables",
    "DPWinnowClassifier": "dpfast.learners",
    "DecisionListClassifier": "dpfast.learners",
    "FileParts": "dpfast.files",
    "FiniteClassLearner": "dpfast.learners",
    "HalfspaceClassifier": "dpfast.learners",
    "LinearLearner": "dpfast.learners",
    "LinearMinimizer": "dpfast.learners",
    "RandomizedWeightedMajority": "dpfast.learners",
    "Schema": "dpfast.tables",
    "StreamParts": "dpfast.tables",
    "TableEncoder": "dpfast.learners.encoder",
    "StatisticalQueryOracle": "dpfast.learners",
    "NetHalfspaceClassifier": "dpfast.learners",
    "PrivacyWarning": "dpfast.accounting",
    "ProjectedHalfspaceClassifier": "dpfast.learners",
    "WinnowClassifier": "dpfast.learners",
    "load": "dpfast.persistence",
    "load_dataset": "dpfast.files",
    "make_point_stream": "dpfast.learners.winnow",
}
_MODULES = (
    "accounting",
    "audit",
    "interop",
    "kernels",
    "littlestone",
    "mechanisms",
    "metrics",
    "model_selection",
    "plot",
    "report",
)

__all__ = [*_HOMES, *_MODULES]


if not TYPE_CHECKING:  # else any name would do

    def __getattr__(name):
        if name in _MODULES:
            return import_module(f"dpfast.{name}")
        if name == "__version__":
            return _version()
        if name not in _HOMES:
            raise AttributeError(f"module 'dpfast' has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_HOMES[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dpfast")
    except PackageNotFoundError:
        raise ImportError(
            "this folder is the source of dpfast, which is not installed: run `pip install -e .` in its checkout"
        ) from None

"""dpfast: learning from high-dimensional data under differential privacy, exact, tight and fast.

Public names load what they need when first used, so that the command line starts at once.
"""

from importlib import import_module

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
_MODULES = ("accounting", "audit", "kernels", "littlestone", "mechanisms", "metrics", "plot", "report")

__all__ = [*_HOMES, *_MODULES]


def __getattr__(name):
    if name in _MODULES:
        return import_module(f"dpfast.{name}")
    if name == "__version__":
        return _version()
    if name not in _HOMES:
        raise AttributeError(f"module 'dpfast' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__():
    return sorted({*globals(), *__all__})


def _version():
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dpfast")
    except PackageNotFoundError:
        raise ImportError(
            "this folder is the source of dpfast, which is not installed: run `pip install -e .` in its checkout"
        ) from None

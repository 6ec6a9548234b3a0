"""dpfast: learning from high-dimensional data under differential privacy, exact, tight and fast.

Public names load what they need when first used, so that the command line starts at once.
"""

from dpfast.lazy import attach

_public, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name):
    return _version() if name == "__version__" else _public(name)


def _version():
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("dpfast")
    except PackageNotFoundError:
        raise ImportError(
            "this folder is the source of dpfast, which is not installed: run `pip install -e .` in its checkout"
        ) from None

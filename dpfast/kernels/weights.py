"""The former name of `dpfast.kernels.multiplicative_weights`."""

import warnings
from typing import Any

from dpfast.kernels import multiplicative_weights


def __getattr__(name: str) -> Any:
    if name not in ("Losses", "Weights", "csr", "dense", "packed"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    warnings.warn(
        "dpfast.kernels.weights is now dpfast.kernels.multiplicative_weights; the old name goes with 0.3",
        FutureWarning,
        stacklevel=2,
    )
    return getattr(multiplicative_weights, name)

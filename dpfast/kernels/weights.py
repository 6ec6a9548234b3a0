"""The former name of `dpfast.kernels.multiplicative_weights`."""

import warnings

from dpfast.kernels.multiplicative_weights import Losses, Weights, csr, dense, packed

__all__ = ["Losses", "Weights", "csr", "dense", "packed"]

warnings.warn(
    "dpfast.kernels.weights is now dpfast.kernels.multiplicative_weights; the old name goes with 0.3",
    FutureWarning,
    stacklevel=2,
)

"""Rows of real numbers, clipped to a norm and put on a grid of integers, so that their sum has a known sensitivity."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpfast.kernels import reals

CLIP_STEPS = 1 << 20  # of the grid in the norm
_BELOW = 1 - 2**-40  # for the errors of a norm


def clipped(values: Any, norm: float) -> NDArray[np.int64]:
    """Return rows of integers that are at most `CLIP_STEPS` long, exactly, each from its own row alone.

    A row that is longer than `norm` is scaled to it. One step is norm / CLIP_STEPS, and numbers are rounded towards
    zero. A row with a number that is not finite becomes zeros.

    Parameters
    ----------
    values : ndarray of float, shape (n, ...)
    norm : float, > 0

    Returns
    -------
    ndarray of int64
        With the shape of `values`.
    """
    values = np.asarray(values, np.float64)
    rows = np.ascontiguousarray(values.reshape(len(values), math.prod(values.shape[1:])))
    finite = np.isfinite(rows).all(axis=1, keepdims=True)
    rows = np.where(finite, rows, 0.0)
    largest = np.abs(rows).max(axis=1, initial=0.0, keepdims=True)
    rows /= np.where(largest > 0, largest, 1.0)  # so that no square overflows or vanishes
    length = np.sqrt(reals.products(rows * rows, np.ones(rows.shape[1])))[:, np.newaxis]
    with np.errstate(over="ignore"):
        norms = np.minimum(largest * (length / norm), 1.0)
    rows *= norms / np.where(length > 0, length, 1.0) * (CLIP_STEPS * _BELOW)
    whole = np.trunc(rows).astype(np.int64)
    while (longer := (whole * whole).sum(axis=1) > CLIP_STEPS**2).any():  # by rounding: no row was seen to be
        whole[longer] -= np.sign(whole[longer])
    return whole.reshape(values.shape)

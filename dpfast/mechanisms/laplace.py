"""Discrete Laplace noise on counts."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.kernels import noise
from dpfast.mechanisms.recorded import Question, asked


def discrete_laplace(
    counts: ArrayLike, scale: float | Fraction, *, rng: int | np.random.Generator | None = None
) -> Any:
    """Counts plus independent integer noise with P(x) proportional to exp(-abs(x) / scale), exactly.

    **Privacy.** If neighbours of the relation in use change the counts by at most s in all (the sum of absolute
    changes, an integer), the release is ``s / scale``-DP for that relation: the ratio of probabilities of any
    outcome is at most exp(s / scale), but for outcomes of probability below e**-1000 that the noise is cut off before.
    Integers in, integers out: nothing leaks through floating point.

    Parameters
    ----------
    counts : int or array_like of int
        Any shape.
    scale : Fraction, int or float
        Positive, at most 2**52; a float is the rational that it is. For epsilon and sensitivity s it is s / epsilon.
    rng : None, int or numpy.random.Generator
        None is cryptographic; a seed is for tests.

    Returns
    -------
    int, or ndarray of int64 with the shape of `counts`

    Raises
    ------
    ValueError, TypeError
        Before anything is drawn.

    References
    ----------
    A. Ghosh, T. Roughgarden, M. Sundararajan, Universally Utility-Maximizing Privacy Mechanisms, STOC 2009.
    C. Canonne, G. Kamath, T. Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020, Algorithm 2.

    Examples
    --------
    >>> type(discrete_laplace(17, 2))
    <class 'int'>
    """
    counts = np.asarray(counts)
    if counts.dtype.kind not in "iub":
        raise ValueError(f"counts must be integers, got {counts.dtype}")
    exact, rng = counts.astype(np.int64), random.generator(rng)
    noisy = asked(
        lambda: Question("discrete_laplace", exact, "absolute", 1 / scale),
        lambda: exact + noise.discrete_laplace(scale, exact.size, rng).reshape(exact.shape),
        rng,
    )
    return int(noisy) if counts.ndim == 0 else noisy

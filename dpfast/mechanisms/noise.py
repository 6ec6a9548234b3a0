"""Discrete Gaussian and discrete Laplace noise on integers."""

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.kernels import noise
from dpfast.mechanisms.recorded import Question, asked


def discrete_gaussian(
    values: ArrayLike, sigma: float | Fraction, *, rng: int | np.random.Generator | None = None
) -> Any:
    """Return values plus independent integer noise, P(x) exactly proportional to exp(-x**2 / (2 * sigma**2)).

    **Privacy.** If neighbours of the relation in use change the values by at most s in Euclidean norm, the release is
    ``s**2 / (2 * sigma**2)``-zCDP for that relation (Canonne, Kamath, Steinke), and releases add up.
    `dpfast.accounting.discrete_gaussian_delta` gives the claim in (epsilon, delta), which for large sigma is that of
    continuous Gaussian noise; `dpfast.accounting.discrete_gaussian_sigma` is its inverse. Input and output are
    integers, so floating point leaks nothing. Round real values to a grid, and measure s and sigma in its steps.

    Parameters
    ----------
    values : int or array_like of int
        Any shape. Sums are modulo 2**64, which is post-processing.
    sigma : Fraction, int or float
        Positive, at most 2**52; a float is taken exactly.
    rng : None, int or numpy.random.Generator
        None uses a cryptographic generator; a seed is for tests.

    Returns
    -------
    int, or ndarray of int64 with the shape of `values`

    Raises
    ------
    ValueError, TypeError
        Before anything is drawn.

    References
    ----------
    C. Canonne, G. Kamath, T. Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020.

    Examples
    --------
    >>> type(discrete_gaussian(17, 2))
    <class 'int'>
    """
    values = np.asarray(values)
    if values.dtype.kind not in "iub":
        raise ValueError(f"values must be integers, got {values.dtype}")
    exact, rng = values.astype(np.int64), random.generator(rng)
    noisy = asked(
        lambda: Question("discrete_gaussian", exact, "euclidean", 1 / sigma),
        lambda: exact + noise.discrete_gaussian(sigma, exact.size, rng).reshape(exact.shape),
        rng,
    )
    return int(noisy) if values.ndim == 0 else noisy


def discrete_laplace(
    counts: ArrayLike, scale: float | Fraction, *, rng: int | np.random.Generator | None = None
) -> Any:
    """Return counts plus independent integer noise, P(x) exactly proportional to exp(-abs(x) / scale).

    **Privacy.** If neighbours of the relation in use change the counts by at most s in total (the sum of absolute
    changes, an integer), the release is ``s / scale``-DP for that relation: the ratio of probabilities of any outcome
    is at most exp(s / scale), except for outcomes of probability below e**-1000, where the noise is cut off. Input and
    output are integers, so floating point leaks nothing.

    Parameters
    ----------
    counts : int or array_like of int
        Any shape.
    scale : Fraction, int or float
        Positive, at most 2**52; a float is taken exactly. For epsilon and sensitivity s it is s / epsilon.
    rng : None, int or numpy.random.Generator
        None uses a cryptographic generator; a seed is for tests.

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

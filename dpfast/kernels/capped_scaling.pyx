"""The Bregman projection onto measures of bounded density: the least scaled weights, capped at 1, of a given mass.

`dpfast.kernels.measure` does the same for integer scores, with an exact mass; the private boosting uses that one. See
csrc/capped_scaling.h.
"""
import numpy as np

from dpfast.kernels.arrays cimport address
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "capped_scaling.h" nogil:
    bint dpf_capped_scaling_check(const double *weight, size_t n, size_t *positive, double *largest)
    void dpf_capped_scaling_count(const double *weight, size_t n, double c, size_t *capped, double *rest)
    void dpf_capped_scaling_apply(const double *weight, size_t n, double c, double *out)

dpf_cpu_share(shared_level())


def factor(weights, double mass):
    """Return the factor c with sum(min(1, c * weights)) = mass, up to rounding.

    Parameters
    ----------
    weights : ndarray of float64, shape (n,)
        At least 0, and the largest from 1e-280 to 1e280, so that no sum overflows.
    mass : float
        Above 0 and at most the number of weights above 0. For exactly this number, the result is the least c with
        c * weights >= 1 for all of them.

    Returns
    -------
    float

    Notes
    -----
    Newton's method from below, one read of the weights for each of usually 5 to 15 steps; nothing is sorted. The mass is
    right to a relative (n + 64) * 4e-18, the same bits on every machine.

    References
    ----------
    Bun, Carmosino, Sorrell, Efficient, Noise-Tolerant, and Private Learning via Boosting, section 4.
    """
    weights = np.asarray(weights)
    if weights.ndim != 1 or weights.dtype != np.float64:
        raise ValueError(f"weights must be float64 of shape (n,), got {weights.dtype} {weights.shape}")
    weights = np.require(weights, None, "CA")
    cdef const double *weight = <const double *>address(weights)
    cdef size_t n = weights.size, positive = 0, capped = 0, before
    cdef double largest = 0.0, rest = 0.0, c = 0.0, least = 0.0
    cdef bint valid
    with nogil:
        valid = dpf_capped_scaling_check(weight, n, &positive, &largest)
    if not valid:
        raise ValueError("weights must be finite and at least 0")
    if positive and not 1e-280 <= largest <= 1e280:
        raise ValueError(f"the largest weight must lie within 1e-280 and 1e280, got {largest}: rescale the weights")
    if not 0 < mass <= positive:
        raise ValueError(f"mass must lie above 0 and be at most {positive}, the weights above 0, got {mass}")
    if mass == positive:
        least = weights[weights > 0].min()
        c = 1 / least
        return c if c * least >= 1 else np.nextafter(c, np.inf)
    with nogil:
        dpf_capped_scaling_count(weight, n, 0.0, &capped, &rest)
        while True:
            before = capped
            c = max(c, (mass - capped) / rest)
            dpf_capped_scaling_count(weight, n, c, &capped, &rest)
            if capped == before or capped >= mass or rest == 0:
                break
    return c


def project(weights, double mass):
    """Return min(1, c * weights) with the `factor` c for this mass: float64, shape (n,)."""
    cdef double c = factor(weights, mass)
    weights = np.require(weights, None, "CA")
    out = np.empty(len(weights))
    cdef const double *weight = <const double *>address(weights)
    cdef double *scaled = <double *>address(out)
    cdef size_t n = len(out)
    with nogil:
        dpf_capped_scaling_apply(weight, n, c, scaled)
    return out

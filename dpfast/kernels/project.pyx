"""Projection of a measure onto the dense ones. See csrc/project.h."""
import math

import numpy as np

from dpfast.kernels.arrays cimport aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "project.h" nogil:
    enum: DPF_PROJECT_NOT_A_WEIGHT, DPF_PROJECT_OUT_OF_REACH
    size_t dpf_project_scratch(size_t n)
    int dpf_project_cap(const double *log_weight, size_t n, double mass, double *scratch, double *weight,
                        size_t *finite)

dpf_cpu_share(shared_level())


def capped_scaling(log_weights, density, double[::1] out=None):
    """Scale weights up and cap them at 1 until they sum to density * n.

    The Bregman (relative entropy) projection of the measure exp(log_weights) onto the measures of at least that
    density: min(1, c * exp(log_weights)) with the least c >= 1 that makes it so. A measure that is dense already
    is only capped (c = 1).

    Parameters
    ----------
    log_weights : ndarray of float64, shape (n,), contiguous
        Any range; -inf is weight zero.
    density : float
        In (0, 1], at least 1 / n.
    out : ndarray of float64, shape (n,), contiguous, optional
        Where the weights go, apart from `log_weights`; fresh memory can cost more than the projection. What it holds
        after a refusal is undefined.

    Returns
    -------
    ndarray of float64, shape (n,)
        Weights in [0, 1]. Where c > 1 they sum to density * n within a relative 1e-12.

    Raises
    ------
    TypeError
        If `log_weights` is not an ndarray of float64.
    ValueError
        If there are no entries, one is NaN or +inf, `density` is outside its range, or fewer than density * n
        entries are above -inf, or `out` has another shape or shares memory with `log_weights`.

    Notes
    -----
    O(n), without a sort: a sample brackets the level that is capped, a pass sums what is outside the bracket, and
    what is inside is few. About n / 8 doubles of scratch. Weights have a relative error of a few roundings of the
    differences of log weights; below exp(-708) they are zero. The same bits at every instruction-set level.

    When one log weight changes, and the sum is density * n before and after, all other weights move the same way, in
    total by at most 1: the privacy of boosting rests on this.

    References
    ----------
    Bun, Carmosino, Sorrell, Efficient, Noise-Tolerant, and Private Learning via Boosting, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> capped_scaling(np.log([0.5, 0.1, 0.1, 0.05]), 0.5)
    array([1. , 0.4, 0.4, 0.2])
    """
    if not isinstance(log_weights, np.ndarray) or log_weights.dtype != np.float64:
        seen = getattr(log_weights, "dtype", type(log_weights).__name__)
        raise TypeError(f"log_weights must be an ndarray of float64, got {seen}")
    if log_weights.ndim != 1 or not log_weights.flags.c_contiguous:
        raise ValueError(
            f"log_weights must be one-dimensional and contiguous, got shape {log_weights.shape}, "
            f"strides {log_weights.strides}"
        )
    cdef const double[::1] x = log_weights
    cdef size_t n = x.shape[0], finite = 0
    if n == 0:
        raise ValueError("log_weights is empty")
    aligned(&x[0], sizeof(double))
    if not 0 < density <= 1:
        raise ValueError(f"density must lie in (0, 1], got {density!r}")
    cdef double mass = float(density) * n
    if mass < 1 - 1e-12:
        raise ValueError(f"density must be at least 1 / n, got {density!r} for n = {n}")
    if out is None:
        out = np.empty(n)
    elif out.shape[0] != x.shape[0] or np.may_share_memory(out, log_weights):
        raise ValueError(f"out must have shape {log_weights.shape} and its own memory, got shape {(out.shape[0],)}")
    aligned(&out[0], sizeof(double))
    cdef double[::1] scratch = np.empty(dpf_project_scratch(n))
    cdef int status
    with nogil:
        status = dpf_project_cap(&x[0], n, mass, &scratch[0], &out[0], &finite)
    if status == DPF_PROJECT_NOT_A_WEIGHT:
        i = int(np.argmin(log_weights < math.inf))
        raise ValueError(f"log_weights must be below +inf, got {log_weights[i]} at {i}")
    if status == DPF_PROJECT_OUT_OF_REACH:
        raise ValueError(f"density {density!r} of {n} needs {mass:.6g} entries above -inf, got {finite}")
    return np.asarray(out)

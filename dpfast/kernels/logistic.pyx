"""Capped logistic residuals of rows, as integers: how far a model of probabilities is from a row's label.

Given chances p of its classes, the softmax of its scores, a row of class y has the residual h (e_y - q) where
h = min(1, 2 (1 - p_y)) and q are the chances of the other classes, given that it is one of these. A row has a limit, an integer:
its residual times that is truncated so that the entries of other classes are at most 0 and add up to -s, 0 <= s <= limit,
exactly, and that of its own is s. The same bits at every instruction-set level. See csrc/logistic.h.
"""
import numpy as np

from dpfast.kernels.own import own

from libc.math cimport isfinite
from libc.stdint cimport int32_t, uint8_t, uint16_t
from dpfast.kernels.arrays cimport address
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "logistic.h" nogil:
    size_t DPF_LOGISTIC_LANES(size_t k)
    void dpf_logistic_two(const void *score, bint real, float step, float constant, const uint8_t *label,
                          const int32_t *limit, size_t n, int32_t *residual)
    void dpf_logistic_margin(const void *score, bint real, float step, float constant, const uint8_t *label,
                             const int32_t *limit, size_t n, int32_t *residual)
    void dpf_logistic_many(const void *score, bint real, float step, const float *constant, const uint16_t *label,
                           const int32_t *limit, size_t n, size_t k, float *lane, int32_t *residual)

dpf_cpu_share(shared_level())

MOST_LIMIT = 1 << 24


cdef const void *_scores(scores, Py_ssize_t n, Py_ssize_t k) except? NULL:
    if not isinstance(scores, np.ndarray) or scores.dtype not in (np.int32, np.float32) or not scores.flags.c_contiguous:
        raise ValueError(f"scores must be a contiguous ndarray of int32 or float32, got {type(scores).__name__}")
    if scores.shape != (n, k):
        raise ValueError(f"scores must have shape ({n}, {k}), got {scores.shape}")
    return address(scores)


cdef _limits(const int32_t[::1] limits, Py_ssize_t n):
    if limits.shape[0] != n:
        raise ValueError(f"limits must have length {n}, got {limits.shape[0]}")
    cdef const int32_t *limit = &limits[0] if n else NULL
    cdef int32_t most = MOST_LIMIT
    cdef bint valid = True
    cdef Py_ssize_t i
    for i in range(n):
        valid &= (limit[i] >= 0) & (limit[i] <= most)
    if not valid:
        raise ValueError(f"limits must lie within 0 and 2**24, got {np.min(limits)} to {np.max(limits)}")


def two(scores, const uint8_t[::1] labels, const int32_t[::1] limits, float step=1.0, float constant=0.0,
        bint by_margin=False):
    """The entries of the second of two classes.

    Parameters
    ----------
    scores : ndarray of int32 or float32, shape (n, 1), C-contiguous
        Log odds are constant + step * score, every operation in float32, and finite.
    labels : ndarray of uint8, shape (n,)
        0 or 1.
    limits : ndarray of int32, shape (n,)
        In [0, 2**24].
    step, constant : float
    by_margin : bool
        Whether the residual is min(1, (1 + exp(-4)) / (1 + exp(2 m - 4))) instead, for the score m of the row's own
        class.

    Returns
    -------
    ndarray of int32, shape (n, 1)
        Of labels 1 in [0, limit], of labels 0 in [-limit, 0].
    """
    cdef size_t n = labels.shape[0]
    cdef const void *score = _scores(scores, n, 1)
    cdef bint real = scores.dtype == np.float32
    _limits(limits, n)
    if not isfinite(step) or not isfinite(constant) or n and np.max(labels) > 1:
        raise ValueError(f"step and constant must be finite, got {step}, {constant}, and labels 0 or 1")
    out = np.empty((n, 1), np.int32)
    cdef int32_t[:, ::1] residual = out
    if n:
        with nogil:
            if by_margin:
                dpf_logistic_margin(score, real, step, constant, &labels[0], &limits[0], n, &residual[0, 0])
            else:
                dpf_logistic_two(score, real, step, constant, &labels[0], &limits[0], n, &residual[0, 0])
    return out


def many(scores, labels, const int32_t[::1] limits, float step, const float[::1] constants):
    """Return the residuals of all classes.

    Parameters
    ----------
    scores : ndarray of int32 or float32, shape (n, k), C-contiguous
        The score of class c is constants[c] + step * score, every operation in float32, and at most 1e38 in size.
    labels : ndarray of uint16, shape (n,)
        Below k.
    limits : ndarray of int32, shape (n,)
        In [0, 2**24].
    step : float
    constants : ndarray of float32, shape (k,)
        k is at least 2.

    Returns
    -------
    ndarray of int32, shape (n, k)
        Rows add up to 0.
    """
    cdef const uint16_t[::1] label = own(labels)
    cdef size_t n = label.shape[0], k = constants.shape[0]
    cdef const void *score = _scores(scores, n, k)
    cdef bint real = scores.dtype == np.float32
    _limits(limits, n)
    if k < 2 or not isfinite(step) or not np.isfinite(constants).all() or n and np.max(label) >= k:
        raise ValueError(f"labels must lie in [0, {k}), step and constants be finite, got {step} and {list(constants)[:5]}")
    out = np.empty((n, k), np.int32)
    cdef int32_t[:, ::1] residual = out
    cdef float[::1] lane = np.empty(DPF_LOGISTIC_LANES(k), np.float32)
    if n:
        with nogil:
            dpf_logistic_many(score, real, step, &constants[0], &label[0], &limits[0], n, k, &lane[0],
                              &residual[0, 0])
    return out

"""Sums of capped logistic residuals by code: what a round of noisy descent over a table of codes asks of the rows.

The scores of a row are the sums of a table's entries for its codes (dpfast.kernels.codes), its residuals follow from them
and its label (dpfast.kernels.logistic), and are added up for each code. For a small table, three calls with arrays
between them would take longer than the work itself.
"""
import numpy as np

from dpfast.kernels.own import own

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from dpfast.kernels.arrays cimport address, aligned
from dpfast.kernels.codes cimport (
    DPF_CODES_LANES, DPF_CODES_PLANES, Columns, _Plan, dpf_codes_margins, dpf_codes_reach, dpf_codes_sum
)
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "logistic.h" nogil:
    size_t DPF_LOGISTIC_LANES(size_t k)
    void dpf_logistic_two(const void *score, bint real, float step, float constant, const uint8_t *label,
                          const int32_t *limit, size_t n, int32_t *residual)
    void dpf_logistic_many(const void *score, bint real, float step, const float *constant, const uint16_t *label,
                           const int32_t *limit, size_t n, size_t k, float *lane, int32_t *residual)

dpf_cpu_share(shared_level())

cdef int32_t _MOST_LIMIT = 1 << 24
cdef size_t _LINE = 64  # bytes of a cache line


cdef inline size_t _reserve(size_t *used, size_t count, size_t size) noexcept:
    """Where an array of `count` entries begins, in lines; lines used before it, and then with it."""
    cdef size_t at = used[0]
    used[0] = at + (count * size + _LINE - 1) // _LINE
    return at


def sums(Columns columns, table, labels, limits, float step, constants):
    """Return the exact sums of residuals by code, in two reads of the codes.

    Parameters
    ----------
    columns : Columns, n rows
    table : ndarray of int32, shape (offsets[-1], k), C-contiguous
        As in `dpfast.kernels.codes.margins`. k is 1 for two classes, else the number of classes.
    labels : ndarray of uint8, shape (n,), for two classes; else of uint16
        0 or 1; else below k.
    limits : ndarray of int32, shape (n,)
        In [0, 2**24].
    step : float
    constants : ndarray of float32, shape (k,)
        The score of class c is constants[c] + step * margin, every operation in float32; of two classes, the log odds.

    Returns
    -------
    ndarray of int64, shape (offsets[-1], k)
        `dpfast.kernels.codes.sums` of `dpfast.kernels.logistic.two` or `many`.
    """
    cdef const float[::1] constant = constants
    cdef const int32_t[:, ::1] entry = table
    cdef const int32_t[::1] limit = limits
    cdef const uint8_t[::1] second
    cdef const uint16_t[::1] of_many
    cdef size_t n = columns.n, k = constant.shape[0], codes = columns.offset[columns.offset.shape[0] - 1], i
    cdef bint valid = True, two = k == 1
    if <size_t>entry.shape[0] != codes or <size_t>entry.shape[1] != k or k == 0:
        raise ValueError(f"table must have shape ({codes}, {k}), one column for each constant, got {table.shape}")
    aligned(&entry[0, 0], sizeof(int32_t))
    aligned(&constant[0], sizeof(float))
    if dpf_codes_reach(&columns.codes, &entry[0, 0], k) >= <int64_t>1 << 31:
        raise ValueError("table must have entries whose sums fit into 32 bits")
    for i in range(k):
        valid &= isfinite(constant[i])
    if not valid or not isfinite(step):
        raise ValueError(f"step and constants must be finite, got {step} and {list(constants)[:5]}")
    if two:
        second = labels
        valid = <size_t>second.shape[0] == n
    else:
        of_many = labels = own(labels)  # the kernel follows them, and nobody may change them after this check
        valid = <size_t>of_many.shape[0] == n
    if not valid or <size_t>limit.shape[0] != n:
        raise ValueError(f"labels and limits must have length {n}, got {len(labels)} and {len(limits)}")
    out = np.zeros((codes, k), np.int64)
    if n == 0:
        return out
    cdef const int32_t *most = &limit[0]
    cdef const uint8_t *label = NULL
    cdef const uint16_t *wide_label = NULL
    aligned(most, sizeof(int32_t))
    for i in range(n):
        valid &= (most[i] >= 0) & (most[i] <= _MOST_LIMIT)
    if not valid:
        raise ValueError(f"limits must lie within 0 and 2**24, got {np.min(limits)} to {np.max(limits)}")
    if two:
        label = &second[0]
        for i in range(n):
            valid &= label[i] <= 1
    else:
        wide_label = &of_many[0]
        aligned(wide_label, sizeof(uint16_t))
        for i in range(n):
            valid &= wide_label[i] < k
    if not valid:
        raise ValueError(f"labels must lie in [0, {2 if two else k}), got {np.max(labels)}")
    cdef size_t lanes = DPF_CODES_LANES(k), lines = 0
    cdef _Plan plan = columns._plan(4 * lanes)
    cdef size_t joint = _reserve(&lines, plan.cell[plan.cell.shape[0] - 1] * lanes, sizeof(int32_t))
    cdef size_t planes = _reserve(&lines, (columns.offset.shape[0] - 1) * k * DPF_CODES_PLANES, 1)
    cdef size_t margin = _reserve(&lines, n * k, sizeof(int32_t))
    cdef size_t residual = _reserve(&lines, n * k, sizeof(int32_t))
    cdef size_t lane = _reserve(&lines, 0 if two else DPF_LOGISTIC_LANES(k), sizeof(float))
    held = np.empty((lines + 1) * _LINE, np.uint8)
    cdef uint8_t[::1] scratch = held
    cdef uint8_t *line = &scratch[0] + (_LINE - <size_t>&scratch[0] % _LINE) % _LINE
    cdef int64_t[:, ::1] total = out
    with nogil:
        dpf_codes_margins(&columns.codes, &plan.plan, &entry[0, 0], k, <int32_t *>(line + joint * _LINE),
                          line + planes * _LINE, <int32_t *>(line + margin * _LINE))
        if two:
            dpf_logistic_two(line + margin * _LINE, False, step, constant[0], label, most, n,
                             <int32_t *>(line + residual * _LINE))
        else:
            dpf_logistic_many(line + margin * _LINE, False, step, &constant[0], wide_label, most, n, k,
                              <float *>(line + lane * _LINE), <int32_t *>(line + residual * _LINE))
        dpf_codes_sum(&columns.codes, &plan.plan, <int32_t *>(line + residual * _LINE), k,
                      <int32_t *>(line + joint * _LINE), &total[0, 0])
    return out

"""The bins of real numbers between edges. See csrc/bins.h."""
import numpy as np

from dpfast.kernels.own import given, of_64_bits

from libc.stdint cimport uint8_t, uint16_t
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "bins.h" nogil:
    void dpf_bins_count8(const double *x, size_t n, const double *edge, size_t edges, uint8_t missing, uint8_t *bin)
    void dpf_bins_count16(const double *x, size_t n, const double *edge, size_t edges, uint16_t missing, uint16_t *bin)

dpf_cpu_share(shared_level())

MOST = (1 << 16) - 1


@of_64_bits
def count_below(x, edges, unsigned missing, dtype):
    """Return the number of edges below each number, and `missing` for NaN.

    Parameters
    ----------
    x : ndarray of float64, shape (n,)
    edges : ndarray of float64, shape (k,)
        They do not decrease, and none is NaN. k is at most 255 for bytes, else `MOST`.
    missing : int
        At most 255 for bytes, else `MOST`.
    dtype : numpy.uint8 or numpy.uint16

    Returns
    -------
    ndarray of the dtype, shape (n,)

    Raises
    ------
    ValueError
        For other types and shapes, and for edges that decrease.
    """
    if given("x", x).dtype != np.float64 or x.ndim != 1:
        raise ValueError(f"x must be float64 of shape (n,), got {x.dtype} {x.shape}")
    edges = np.array(edges, np.float64, order="C")  # a copy, to which no other thread writes
    if edges.ndim != 1 or not (edges[:-1] <= edges[1:]).all() or np.isnan(edges).any():
        raise ValueError("edges must be numbers of shape (k,) that do not decrease")
    dtype = np.dtype(dtype)
    if dtype not in (np.uint8, np.uint16):
        raise ValueError(f"dtype must be uint8 or uint16, got {dtype}")
    most = np.iinfo(dtype).max
    if len(edges) > most or missing > most:
        raise ValueError(f"edges and missing must be at most {most} for {dtype}, got {len(edges)} and {missing}")
    out = np.empty(len(x), dtype)
    if not len(x):
        return out
    cdef const double[::1] real = np.require(x, None, "CA")
    cdef const double[::1] held = edges if len(edges) else np.zeros(1)
    cdef size_t n = real.shape[0], k = len(edges)
    cdef uint8_t[::1] few
    cdef uint16_t[::1] many
    if dtype == np.uint8:
        few = out
        with nogil:
            dpf_bins_count8(&real[0], n, &held[0], k, missing, &few[0])
    else:
        many = out
        with nogil:
            dpf_bins_count16(&real[0], n, &held[0], k, missing, &many[0])
    return out

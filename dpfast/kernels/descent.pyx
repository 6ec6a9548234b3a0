"""Steps of a noisy descent whose coefficients are in groups. See csrc/descent.h for what is computed."""
import numpy as np

from libc.math cimport isfinite
from libc.stdint cimport uint8_t, uint32_t
from dpfast.kernels.arrays cimport aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level

from dpfast.kernels.own import own, own_indices


cdef extern from "descent.h" nogil:
    ctypedef struct dpf_descent_limits:
        double little, sampled, usual, slope, steep, most, share, least
    void dpf_descent_times(const double *rates, const double *curved, const double *signal, size_t groups,
                           const dpf_descent_limits *limits, double *times)
    void dpf_descent_move(const double *sum, const uint32_t *group, const double *rate, size_t m, size_t k,
                          double lasting, double fresh, double *velocity, double *total)
    void dpf_descent_squares(const double *total, const uint32_t *group, size_t groups, size_t m, size_t k,
                             double *square)
    void dpf_descent_shrink(const double *square, const double *members, const double *noise, const uint8_t *tells,
                            size_t groups, size_t k, double late, double prior, double *signal, double *kept)
    void dpf_descent_keep(const double *total, const uint32_t *group, const double *kept, size_t m, size_t k,
                          double *out)

dpf_cpu_share(shared_level())


cdef class Groups:
    """The groups of coefficients, checked once.

    Parameters
    ----------
    group : ndarray of int, shape (m,)
        The group of each row of coefficients, at least 0; group 0 to the largest are numbered.
    tells : array_like of bool, shape (groups,)
        Whether the group tells the variance of all coefficients; the last group never does, and is shrunk by itself.

    Attributes
    ----------
    members : ndarray of float64, shape (groups,)
        How many rows of coefficients each group has.
    """

    cdef readonly object group, members
    cdef const uint32_t[::1] of_row
    cdef const uint8_t[::1] telling
    cdef const double[::1] size

    def __init__(self, group, tells):
        self.telling, self.group = own(tells, np.uint8), own(own_indices("group", group), np.int64)
        groups = self.telling.shape[0]
        if groups == 0:
            raise ValueError("tells must have at least one entry, that of the last group")
        if self.group.ndim != 1 or self.group.size and not 0 <= self.group.min() <= self.group.max() < groups < 2**32:
            raise ValueError(f"group must have one dimension and lie in [0, {groups})")
        self.members = own(np.bincount(self.group, minlength=groups), np.float64)
        self.of_row, self.size = own(self.group, np.uint32), self.members

    def move(self, const double[:, ::1] sums, const double[::1] rate, double lasting, double fresh,
             double[:, ::1] velocity, double[:, ::1] total):
        """Make a step along noisy sums, of k > 1 less their mean over a row: velocity and total are changed in place.

        Parameters
        ----------
        sums : ndarray of float64, shape (m, k)
        rate : ndarray of float64, shape (groups,)
        lasting, fresh : float
            The share of the velocity that is kept, and that of the rate that is added to it.
        velocity, total : ndarray of float64, shape (m, k)
        """
        cdef size_t m = self.of_row.shape[0], k = total.shape[1]
        self._check_rows("sums", sums.shape[0], sums.shape[1], k)
        self._check_rows("velocity", velocity.shape[0], velocity.shape[1], k)
        self._check_rows("total", total.shape[0], total.shape[1], k)
        self._check_groups("rate", rate.shape[0])
        if m == 0 or k == 0:
            return
        aligned(&sums[0, 0], sizeof(double))
        aligned(&rate[0], sizeof(double))
        aligned(&velocity[0, 0], sizeof(double))
        aligned(&total[0, 0], sizeof(double))
        with nogil:
            dpf_descent_move(&sums[0, 0], &self.of_row[0], &rate[0], m, k, lasting, fresh, &velocity[0, 0],
                             &total[0, 0])

    def shrink(self, const double[:, ::1] total, const double[::1] noise, double late, double prior):
        """Return what is kept of coefficients, given the noise in them.

        Parameters
        ----------
        total : ndarray of float64, shape (m, k)
        noise : ndarray of float64, shape (groups,)
            The variance of the noise in a coefficient.
        late : float
            What the noise of all groups but the last is multiplied by.
        prior : float
            How many members more each group has, with the variance of all that tell.

        Returns
        -------
        signal : ndarray of float64, shape (groups - 1, k)
            The variance of each group but the last without noise.
        kept : ndarray of float64, shape (groups, k)
            The share that each group keeps; the last one keeps 1 - noise / max(its squares, noise).
        shrunken : ndarray of float64, shape (m, k)
            The coefficients times the share of their group.
        """
        cdef size_t groups = self.telling.shape[0], m = self.of_row.shape[0], k = total.shape[1]
        self._check_rows("total", total.shape[0], k, k)
        self._check_groups("noise", noise.shape[0])
        signal, kept, shrunken = np.empty((groups - 1, k)), np.empty((groups, k)), np.empty((m, k))
        cdef double[:, ::1] square = np.empty((groups, k)), own = signal, share = kept, out = shrunken
        if k == 0:
            return signal, kept, shrunken
        cdef const double *coefficient = &total[0, 0] if m else NULL
        cdef const uint32_t *of_row = &self.of_row[0] if m else NULL
        cdef double *found = &own[0, 0] if groups > 1 else NULL
        aligned(coefficient, sizeof(double))
        aligned(&noise[0], sizeof(double))
        with nogil:
            dpf_descent_squares(coefficient, of_row, groups, m, k, &square[0, 0])
            dpf_descent_shrink(&square[0, 0], &self.size[0], &noise[0], &self.telling[0], groups, k, late, prior, found,
                               &share[0, 0])
            if m:
                dpf_descent_keep(coefficient, of_row, &share[0, 0], m, k, &out[0, 0])
        return signal, kept, shrunken

    def times(self, const double[::1] rates, const double[::1] curved, const double[::1] signal, double little,
              double sampled, double usual, double slope, double steep, double most, double share, double least):
        """Return how many times the common rate each group goes; 1 for the last: float64, shape (groups,).

        Parameters
        ----------
        rates : ndarray of float64, shape (groups,)
            How far the groups went: at least 0.
        curved, signal : ndarray of float64, shape (groups - 1,)
            The curvature of a coefficient, above 0, and the variance of the groups without noise.
        little, sampled, usual, slope, steep, most, share, least : float
            As in csrc/descent.h.
        """
        cdef size_t groups = self.telling.shape[0], g
        cdef dpf_descent_limits limits = dpf_descent_limits(little, sampled, usual, slope, steep, most, share, least)
        cdef bint valid = True
        self._check_groups("rates", rates.shape[0])
        self._check_groups("curved and signal", curved.shape[0] + 1)
        self._check_groups("curved and signal", signal.shape[0] + 1)
        out = np.ones(groups)
        cdef double[::1] found = out
        if groups > 1:
            aligned(&rates[0], sizeof(double))
            aligned(&curved[0], sizeof(double))
            aligned(&signal[0], sizeof(double))
            for g in range(groups - 1):
                valid &= rates[g] >= 0 and curved[g] > 0 and isfinite(rates[g]) and isfinite(curved[g])
            if not valid:
                raise ValueError("rates must be at least 0 and curved above 0, all finite")
            with nogil:
                dpf_descent_times(&rates[0], &curved[0], &signal[0], groups - 1, &limits, &found[0])
        return out

    cdef _check_rows(self, what, Py_ssize_t rows, Py_ssize_t width, Py_ssize_t k):
        if rows != self.of_row.shape[0] or width != k:
            raise ValueError(f"{what} must have shape {(self.of_row.shape[0], k)}, got {(rows, width)}")

    cdef _check_groups(self, what, Py_ssize_t length):
        if length != self.telling.shape[0]:
            raise ValueError(f"{what} must be of {self.telling.shape[0]} groups, got {length}")

"""Nets of the unit sphere, enumerated and never stored, and how many rows each member gets wrong.

Rows and net are integers and every comparison is decided exactly, so that one data set gives the same counts on every
machine. The construction, the proof of its radius, and why doubles decide it are in csrc/net.h.
"""
import math
from fractions import Fraction
from operator import index

import numpy as np

from dpfast.kernels.own import of_64_bits

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "net.h" nogil:
    enum: DPF_NET_LARGEST_M
    ctypedef struct dpf_net:
        const int32_t *z
        const double *inverse
        const int64_t *ends
        size_t n, m
        int64_t side, tau
    void dpf_net_prepare(const dpf_net *net, double *inverse, int64_t *ends)
    void dpf_net_line(const dpf_net *net, uint64_t line, uint32_t *scratch, uint32_t *wrong)
    void dpf_net_count(const dpf_net *net, uint64_t start, uint64_t stop, uint32_t *scratch, uint32_t *wrong,
                       uint64_t *histogram)
    uint64_t dpf_net_find(const dpf_net *net, uint64_t start, uint64_t stop, uint32_t level, uint32_t *scratch,
                          uint32_t *wrong, uint64_t *rank)

dpf_cpu_share(shared_level())

_GRID_BITS = 20  # at most


class Net:
    """Members +-p / abs(p), p on a face of a cubic grid of `side` places each way; every unit vector is near one.

    Parameters
    ----------
    m : int
        Coordinates, from 1 to 32.
    radius : float
        In (0, 1]: every unit vector lies within this of a member.

    Attributes
    ----------
    m : int
    side : int
        The least odd integer of at least sqrt(m - 1) / radius.
    lines : int
        m * side**(m - 2): the stretches of 2 side members that are scored at once.
    size : int
        Number of members, 2 m side**(m - 1).
    grid_bits : int
        Rows go to a grid of 2**-grid_bits: the finest, up to 2**-20, on which doubles decide every comparison.

    Raises
    ------
    ValueError
        If m or radius is out of range, or so small a radius that rows would go to a grid of a quarter of it or more.
    """

    def __init__(self, m, radius):
        m = index(m)
        if not 1 <= m <= DPF_NET_LARGEST_M:
            raise ValueError(f"a net must have from 1 to {DPF_NET_LARGEST_M} coordinates, got {m}")
        if not 0 < radius <= 1:
            raise ValueError(f"the radius of a net must lie in (0, 1], got {radius}")
        squared = math.ceil((m - 1) / Fraction(radius) ** 2)  # side**2 at least
        side = math.isqrt(max(squared - 1, 0)) + 1
        self.m, self.side = m, side + 1 - side % 2
        self.lines = m * self.side ** max(0, m - 2)
        self.size = 2 * self.lines * self.side
        unit = math.isqrt((1 << 51) // max(1, m - 1)) // self.side - max(2, m)  # 2**(bits + 1) at most
        self.grid_bits = min(_GRID_BITS, max(unit, 1).bit_length() - 2)
        if m > 1 and 4 * math.sqrt(m) > radius * 2.0 ** (self.grid_bits + 1):
            raise ValueError(
                f"a radius of {radius} is too small: exact comparisons with its {self.size} members would leave rows "
                f"only a grid of 2**{-self.grid_bits}"
            )

    @of_64_bits
    def vectors(self, members):
        """Return integer vectors in the directions of some members.

        Parameters
        ----------
        members : array_like of int, shape (k,)
            Numbers from 0 to size - 1: member number j of line l is 2 side l + j.

        Returns
        -------
        ndarray of int64, shape (k, m)
        """
        members = np.atleast_1d(np.asarray(members, np.uint64))
        if members.ndim != 1:
            raise ValueError(f"members must have shape (k,), got {members.shape}")
        if members.size and not int(members.max()) < self.size:
            raise ValueError(f"members must be below {self.size}, got {members.max()}")
        side, m = np.uint64(self.side), self.m
        line, place = np.divmod(members, np.uint64(2) * side)
        opposite, places = place >= side, [place % side]
        for _ in range(m - 2):
            line, digit = np.divmod(line, side)
            places.append(digit)
        p = np.empty((len(members), m), np.int64)
        for face in np.unique(line).tolist():  # what is left of the line
            here = line == face
            p[here, face] = self.side
            others = [j for j in range(m) if j != face]  # the inner one last
            for j, digit in zip(reversed(others), places):
                p[here, j] = 2 * digit[here].astype(np.int64) - (self.side - 1)
        p[opposite] *= -1
        return p


@of_64_bits
def grid(x, y, bits):
    """Return y x / abs(x) for each row, on the grid of 2**-bits; a row of zeros stays one.

    Parameters
    ----------
    x : ndarray of float32 or float64, shape (n, m)
    y : ndarray of int8, shape (n,)
        -1 and +1.
    bits : int

    Returns
    -------
    ndarray of int32, shape (n, m)
        Each row a function of its own example, and the same on every machine.
    """
    x, y = np.asarray(x), np.asarray(y)
    if x.ndim != 2 or x.dtype.kind != "f" or y.dtype != np.int8 or y.shape != x.shape[:1]:
        raise ValueError(
            f"x must be floats of shape (n, m) and y int8 of shape (n,), got {x.dtype} {x.shape} and {y.dtype} {y.shape}"
        )
    columns = x.T.astype(np.float64)
    largest = np.abs(columns).max(axis=0, initial=0)
    columns /= np.where(largest > 0, largest, 1)  # no square overflows or vanishes
    square = np.zeros(len(x))
    for column in columns:  # sums in a fixed order
        square += column * column
    columns *= y * (2.0**bits / np.sqrt(np.where(square > 0, square, 1)))
    return np.rint(columns).astype(np.int32).T


cdef class Mistakes:
    """The number of rows that each member of a net gets wrong: those with <w, z> < threshold.

    Parameters
    ----------
    net : Net
    rows : ndarray of int32, shape (n, m)
        2**net.grid_bits times vectors z of the unit ball, labels multiplied in, as `grid` gives them; n < 2**31.
    threshold : float
        In (0, 0.1]. Taken to the nearest half between places of the grid, so that no comparison is a tie.

    Raises
    ------
    ValueError
        If an argument is out of range, or the net has 2**53 members or more.

    Notes
    -----
    4 m + 16 bytes a row. A root and a division for each row and line, on one thread. One object may be read by
    several threads.
    """
    cdef dpf_net net
    cdef size_t lines
    cdef int32_t[:, ::1] _z
    cdef double[:, ::1] _inverse
    cdef int64_t[::1] _ends

    def __init__(self, net, rows, threshold):
        if not isinstance(net, Net):
            raise TypeError(f"net must be a Net, got {type(net).__name__}")
        rows = np.asarray(rows)
        if rows.ndim != 2 or rows.dtype != np.int32 or rows.shape[1] != net.m:
            raise ValueError(f"rows must be int32 of shape (n, {net.m}), got {rows.dtype} {rows.shape}")
        if not len(rows) < 2**31:
            raise ValueError(f"rows must number at most 2**31 - 1, got {len(rows)}")
        if not 0 < threshold <= 0.1:
            raise ValueError(f"threshold must lie in (0, 0.1], got {threshold}")
        if net.size >= 2**53:
            raise ValueError(f"a net must have fewer than 2**53 members to be enumerated, got {net.size}")
        m = max(2, net.m)
        z = np.zeros((m, max(1, len(rows))), np.int32)  # one coordinate alone gets an inner one that is zero
        z[: net.m, : len(rows)] = rows.T
        longest = math.sqrt(np.square(z, dtype=np.float64).sum(axis=0).max())
        if longest > 2**net.grid_bits + m / 2:
            raise ValueError(f"rows must lie in the ball of radius 2**{net.grid_bits}, got one of length {longest:.0f}")
        self._z, self._inverse, self._ends = z, np.empty((2, max(1, len(rows)))), np.empty(4, np.int64)
        self.net.z, self.net.inverse, self.net.ends = &self._z[0, 0], &self._inverse[0, 0], &self._ends[0]
        self.net.n, self.net.m, self.net.side = len(rows), m, net.side
        self.net.tau = 2 * math.floor(Fraction(threshold) * 2**net.grid_bits) + 1
        self.lines = net.lines
        with nogil:
            dpf_net_prepare(&self.net, &self._inverse[0, 0], &self._ends[0])

    def scores(self, start, stop):
        """Return how many rows each member of lines start to stop - 1 gets wrong: uint32, shape (lines, 2 side)."""
        cdef uint64_t line, first = self._line(start), past = self._line(stop, first)
        cdef uint32_t[::1] scratch = self._scratch()
        cdef uint32_t[:, ::1] wrong = np.empty((past - first, 2 * self.net.side), np.uint32)
        with nogil:
            for line in range(first, past):
                dpf_net_line(&self.net, line, &scratch[0], &wrong[line - first, 0])
        return np.asarray(wrong)

    def count(self, start, stop):
        """Return how many members of lines from start to stop - 1 get 0, ..., n rows wrong: uint64, shape (n + 1,)."""
        cdef uint64_t first = self._line(start), past = self._line(stop, first)
        cdef uint32_t[::1] scratch = self._scratch(), wrong = np.empty(2 * self.net.side, np.uint32)
        cdef uint64_t[::1] histogram = np.zeros(self.net.n + 1, np.uint64)
        with nogil:
            dpf_net_count(&self.net, first, past, &scratch[0], &wrong[0], &histogram[0])
        return np.asarray(histogram)

    @of_64_bits
    def find(self, start, stop, level, rank):
        """Return member number `rank`, from 0, among those of lines from start to stop - 1 that get `level` rows wrong.

        Returns
        -------
        member : int or None
            None if there are not that many.
        rank : int
            What is left of the rank, for the next lines.
        """
        cdef uint64_t line, first = self._line(start), past = self._line(stop, first), left = rank
        cdef uint32_t wanted = level
        cdef uint32_t[::1] scratch = self._scratch(), wrong = np.empty(2 * self.net.side, np.uint32)
        with nogil:
            line = dpf_net_find(&self.net, first, past, wanted, &scratch[0], &wrong[0], &left)
        if line == past:
            return None, int(left)
        return 2 * int(self.net.side) * int(line) + int(left), 0

    def _scratch(self):
        return np.empty(4 * (self.net.side + 1), np.uint32)

    def _line(self, line, least=0):
        if not least <= line <= self.lines:
            raise ValueError(f"lines must be a range within 0, ..., {self.lines}, got the end {line}")
        return line

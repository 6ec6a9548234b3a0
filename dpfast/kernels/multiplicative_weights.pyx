"""Multiplicative weights of experts: P(j) proportional to exp(-exponent * total[j]), drawn exactly.

Losses are integers on a grid; a round is one pass that adds a row of them to the totals and leaves integer sums from
which the next draw is made, by rejection, without a pass of its own. See csrc/multiplicative_weights.h.
"""
import math

import numpy as np

from dpfast.kernels.inversion import coin
from dpfast.kernels.own import given, of_64_bits, own

from libc.stdint cimport int8_t, int32_t, int64_t, uint32_t, uint64_t
from dpfast.kernels.arrays cimport address, aligned, csr as check_csr, packed as check_packed
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level
from dpfast.kernels.rationals cimport fraction, nearest_double
from dpfast.kernels.rng cimport Words, bitgen, bitgen_t


cdef extern from "multiplicative_weights.h" nogil:
    enum: DPF_WEIGHTS_SCALE, DPF_WEIGHTS_BLOCK, DPF_LOSSES_BITS_FLOAT, DPF_LOSSES_BITS_DOUBLE
    ctypedef enum dpf_losses_kind:
        DPF_LOSSES_FLOAT, DPF_LOSSES_DOUBLE, DPF_LOSSES_GRID, DPF_LOSSES_PACKED, DPF_LOSSES_CSR
    ctypedef enum dpf_weights_status:
        DPF_WEIGHTS_DONE, DPF_WEIGHTS_REFUSED, DPF_WEIGHTS_ROOM, DPF_WEIGHTS_UNDECIDED
    ctypedef struct dpf_losses:
        dpf_losses_kind kind
        const void *values
        size_t stride
        const int64_t *indptr
        const int32_t *indices
        const int8_t *sign
        int32_t low, high
        double unit
    ctypedef struct dpf_weights:
        int32_t *narrow
        int64_t *wide
        size_t d, block
        bint mirrored
        double exponent
        float rate
        uint64_t *sums
        int64_t offset, low, high
        bint stale
        int64_t drawn, paid
    ctypedef struct dpf_weights_coin:
        int64_t expert
        uint64_t gap, bound, word
    uint32_t dpf_weights_bound(const dpf_weights *weights, uint64_t gap)
    void dpf_weights_settle(dpf_weights *weights)
    dpf_weights_status dpf_weights_draw(bitgen_t *rng, dpf_weights *weights, double guard, dpf_weights_coin *coin)
    dpf_weights_status dpf_weights_add(dpf_weights *weights, const dpf_losses *losses, size_t row)
    dpf_weights_status dpf_weights_play(bitgen_t *rng, dpf_weights *weights, const dpf_losses *losses, double guard,
                                        size_t *row, size_t stop, int64_t *expert, dpf_weights_coin *coin)

dpf_cpu_share(shared_level())

_guard_scale = 1.0  # tests widen the guard, so that multiprecision decides often


# ---- losses ------------------------------------------------------------------------------------------------------

cdef class Losses:
    """Rows of losses of d experts on a grid, of `shape` (n, d); `dense`, `packed` and `csr` return them."""

    cdef dpf_losses rows
    cdef readonly tuple shape
    cdef object values, held  # what the pointers point into

    def __init__(self, *args, **kwargs):
        raise TypeError("use weights.dense, weights.packed or weights.csr")

    cdef _declare(self, size_t n, size_t d, int bits, low, high, signs):
        cdef const int8_t[::1] sign
        self.shape = (n, d)
        if not (abs(low) < 2**32 and abs(high) < 2**32 and low == int(low) and high == int(high) and low < high and max(-low, high) << bits < 2**31):
            raise ValueError(f"low and high must be integers, low < high, within 2**{31 - bits} of 0: "
                             f"got {low!r} and {high!r}")
        self.rows.unit = 1 << bits
        self.rows.low, self.rows.high = int(low) << bits, int(high) << bits
        self.rows.sign = NULL
        if signs is not None:
            signs = own(signs)
            if signs.dtype != np.int8 or signs.shape != (n,) or not (np.abs(signs) == 1).all():
                raise ValueError(f"signs must be int8, -1 or 1, of shape ({n},), got {signs.dtype} {signs.shape}")
            sign = signs
            self.rows.sign = &sign[0] if n else NULL
            self.held = signs, self.held

    def check(self):
        """Raise ValueError if a loss lies outside the declared range or is not a number; the losses are read once."""
        if self.rows.kind not in (DPF_LOSSES_PACKED, DPF_LOSSES_CSR) and self.values.size:
            low, high = self.values.min(), self.values.max()
            if not self._low() <= low <= high <= self._high():
                self._refuse(low if not low >= self._low() else high)

    def _low(self):
        return self.rows.low if self.rows.kind in (DPF_LOSSES_GRID, DPF_LOSSES_CSR) else self.rows.low / self.rows.unit

    def _high(self):
        return self.rows.high if self.rows.kind in (DPF_LOSSES_GRID, DPF_LOSSES_CSR) else self.rows.high / self.rows.unit

    def _refuse(self, seen):
        raise ValueError(f"losses must lie in [{self._low():g}, {self._high():g}], got {seen}")


cdef Losses _new():
    return Losses.__new__(Losses)


def dense(values, *, bits=16, low=0, high=1, signs=None):
    """Return rows of losses that are given as an array.

    Parameters
    ----------
    values : ndarray of float32, float64 or int32, shape (n, d)
        Floats from low to high; each is rounded to the nearest multiple of 2**-bits, ties to even. int32 are such
        multiples already, from low * 2**bits to high * 2**bits. Not copied; checked whenever a row is used.
    bits : int
        From 0 to 22 for float32, to 30 for the others.
    low, high : int
        What losses are declared to lie in. Checked when they are used, or by `Losses.check`.
    signs : ndarray of int8, shape (n,), optional
        -1 or 1: what each row is multiplied by. The range is that before. Copied unless read-only.

    Returns
    -------
    Losses
    """
    cdef Losses self = _new()
    most = DPF_LOSSES_BITS_FLOAT if given("values", values).dtype == np.float32 else DPF_LOSSES_BITS_DOUBLE
    if values.ndim != 2 or values.dtype not in (np.float32, np.float64, np.int32):
        raise ValueError(f"losses must be float32, float64 or int32 of shape (n, d), got {values.dtype} {values.shape}")
    if not 0 <= bits <= most:
        raise ValueError(f"bits must lie in [0, {most}] for {values.dtype}, got {bits!r}")
    if not (values.flags.c_contiguous and values.flags.aligned):
        values = np.require(values, None, "CA")
    n, d = values.shape
    self._declare(n, d, bits, low, high, signs)
    if values.dtype.kind == "f" and max(-low, high) << bits > 1 << most:
        raise ValueError(f"losses up to {max(-low, high)} on a grid of 2**-{bits} are too fine for {values.dtype}")
    self.values, self.rows.stride, self.rows.values = values, d, address(values)
    if values.size == 0 or values.dtype == np.int32:
        self.rows.kind = DPF_LOSSES_GRID
    else:
        self.rows.kind = DPF_LOSSES_FLOAT if values.dtype == np.float32 else DPF_LOSSES_DOUBLE
    return self


@of_64_bits
def packed(rows, Py_ssize_t d, *, bits=0, low=0, high=1, signs=None):
    """Return rows of losses of two values: a bit 0 is `low`, a bit 1 is `high`.

    Parameters
    ----------
    rows : ndarray of uint64, shape (n, ceil(d / 64))
        Bits past d are zero, which is checked once. Copied unless read-only.
    d : int
    bits, low, high, signs
        As for `dense`.

    Returns
    -------
    Losses
    """
    cdef Losses self = _new()
    cdef const uint64_t[:, ::1] words = rows
    check_packed("d", words, d, NULL, 0)
    words = rows = own(rows)
    check_packed("d", words, d, NULL, 0)  # of what is kept
    if not 0 <= bits <= DPF_LOSSES_BITS_DOUBLE:
        raise ValueError(f"bits must lie in [0, {DPF_LOSSES_BITS_DOUBLE}], got {bits!r}")
    self._declare(words.shape[0], d, bits, low, high, signs)
    self.rows.kind, self.rows.stride, self.values = DPF_LOSSES_PACKED, words.shape[1], rows
    self.rows.values = &words[0, 0] if words.shape[0] and d else NULL
    return self


@of_64_bits
def csr(indptr, indices, data, Py_ssize_t d, *, bits=16, low=0, high=1, signs=None):
    """Return rows of losses that are given as a CSR matrix; an expert that is not stored loses nothing.

    Parameters
    ----------
    indptr, indices : ndarray of int, shapes (n + 1,) and (nnz,)
        The indices of a row rise strictly within [0, d). Copied unless read-only, as `data` are.
    data : ndarray of float or int32, shape (nnz,)
        As the values of `dense`; copied to the grid if they are floats.
    d : int
    bits, low, high, signs
        As for `dense`; low <= 0 <= high.

    Returns
    -------
    Losses

    Raises
    ------
    ValueError
        Also if a loss lies outside the declared range.
    """
    cdef Losses self = _new()
    cdef const int64_t[::1] starts
    cdef const int32_t[::1] columns, values
    if given("indices", indices).shape != given("data", data).shape:
        raise ValueError(f"indices and data must have one length, got shapes {indices.shape} and {data.shape}")
    if not 0 <= bits <= DPF_LOSSES_BITS_DOUBLE:
        raise ValueError(f"bits must lie in [0, {DPF_LOSSES_BITS_DOUBLE}], got {bits!r}")
    if not low <= 0 <= high:
        raise ValueError(f"low must be at most 0 and high at least 0 for sparse losses, got {low!r} and {high!r}")
    if d > 2**31:
        raise ValueError(f"d must be at most 2**31 for sparse losses, got {d}")
    indptr, indices = own(indptr, np.int64), own(indices)
    data = own(data) if data.dtype.kind != "f" else np.array(data)
    check_csr(indptr, indices)
    used = slice(int(indptr[0]), int(indptr[-1]))
    between = np.diff(indices[used].astype(np.int64))
    ends = indptr[1:-1] - indptr[0] - 1
    between[ends[(ends >= 0) & (ends < len(between))]] = 1  # from one row to another
    part = indices[used]
    if len(part) and ((between <= 0).any() or not 0 <= part.min() <= part.max() < d):
        raise ValueError(f"indices of a row must rise strictly within [0, {d})")
    n = len(indptr) - 1
    self._declare(n, d, bits, low, high, signs)
    self.rows.kind, self.rows.stride = DPF_LOSSES_CSR, 0
    if data.dtype.kind == "f":
        smallest, largest = data[used].min(initial=0), data[used].max(initial=0)
        if not low <= smallest <= largest <= high:
            raise ValueError(f"losses must lie in [{low}, {high}], got {smallest if not smallest >= low else largest}")
        data = np.rint(np.ldexp(data.astype(np.float64), bits))
    elif data.dtype != np.int32:
        raise ValueError(f"losses must be float32, float64 or int32, got {data.dtype}")
    elif len(part) and not self.rows.low <= data[used].min() <= data[used].max() <= self.rows.high:
        self._refuse(data[used].min() if data[used].min() < self.rows.low else data[used].max())
    data = np.require(data, np.int32, "CA")
    indices = np.require(indices, np.int32, "CA")
    self.values, self.held = data, (indptr, indices, self.held)
    starts, columns, values = indptr, indices, data
    self.rows.indptr = &starts[0]
    self.rows.indices = &columns[0] if len(indices) else NULL
    self.rows.values = &values[0] if len(data) else NULL
    return self


# ---- weights -----------------------------------------------------------------------------------------------------

cdef class Weights:
    """Multiplicative weights of d experts, whose totals start at 0.

    Private state: it knows the losses. It is not pickled.

    Parameters
    ----------
    d : int
        1 <= d < 2**32.
    exponent : Fraction, int or float
        At least 0, finite; P(j) is proportional to exp(-exponent * total[j]), totals in units of the losses' grid.
    mirrored : bool
        Whether each expert j has a mirror image, expert d + j, that loses what j wins; not stored.

    Attributes
    ----------
    paid : int
        The sum of what drawn experts lost, each in the row added next after its draw; in grid units.

    Notes
    -----
    4 bytes an expert, 8 once totals differ by 2**28 and more, and 8 bytes a block of experts. One stream of words
    gives the same draws at every instruction-set level. Not to be used by two threads at once.
    """

    cdef dpf_weights state
    cdef object totals_, sums, exponent
    cdef int64_t base  # totals are those of the state and this

    def __init__(self, d, exponent, *, mirrored=False):
        cdef int32_t[::1] totals
        cdef uint64_t[::1] sums
        if not 1 <= d < 2**32:
            raise ValueError(f"d must lie in [1, 2**32), got {d}")
        self.exponent = fraction("exponent", exponent, "a finite number")
        if self.exponent < 0:
            raise ValueError(f"exponent must be at least 0, got {exponent!r}")
        self.state.block = max(DPF_WEIGHTS_BLOCK, 1 << (int(d).bit_length() + 1) // 2)
        self.totals_ = np.zeros(d, np.int32)
        self.sums = np.empty(-(-d // self.state.block), np.uint64)
        totals, sums = self.totals_, self.sums
        self.state.narrow, self.state.wide, self.state.sums = &totals[0], NULL, &sums[0]
        self.state.d, self.state.mirrored, self.base = d, mirrored, 0
        self.state.exponent = nearest_double(self.exponent)
        self.state.rate = min(self.state.exponent / math.log(2) * 2.0**23, 2.0**100)
        self.state.low = self.state.high = self.state.paid = 0
        self.state.drawn = -1
        with nogil:
            dpf_weights_settle(&self.state)

    @property
    def d(self):
        return self.state.d

    @property
    def paid(self):
        return self.state.paid

    def totals(self):
        """Return what each expert lost so far, in grid units: int64, shape (d,)."""
        return self.totals_ + np.int64(self.base)

    def draw(self, rng):
        """Draw an expert for the row that is added next; an int, below d, or 2 d if mirrored.

        Parameters
        ----------
        rng : numpy.random.Generator
        """
        cdef dpf_weights_coin toss
        cdef dpf_weights_status status
        cdef double guard = _guard_scale
        cdef bitgen_t *bits = bitgen(rng)
        self.state.drawn = -1
        with rng.bit_generator.lock:
            while self.state.drawn < 0:
                with nogil:
                    status = dpf_weights_draw(bits, &self.state, guard, &toss)
                if status == DPF_WEIGHTS_UNDECIDED and self._kept(toss, rng):
                    self.state.drawn = toss.expert
        return self.state.drawn

    @of_64_bits
    def add(self, Losses losses, size_t row=0):
        """Add a row of losses to the totals.

        Raises
        ------
        ValueError
            If a loss lies outside the range declared; nothing is added then.
        """
        cdef dpf_weights_status status = DPF_WEIGHTS_ROOM
        self._check(losses, row, row + 1)
        while status == DPF_WEIGHTS_ROOM:
            with nogil:
                status = dpf_weights_add(&self.state, &losses.rows, row)
            self._settled(status, losses, row)

    @of_64_bits
    def play(self, Losses losses, rng, size_t start=0, stop=None, out=None):
        """Call `draw` and `add` for each of the rows from start to stop - 1.

        Parameters
        ----------
        losses : Losses
            A row out of range is refused when it is reached; `Losses.check` tells before anything is drawn.
        rng : numpy.random.Generator
        start, stop : int
            All rows by default.
        out : ndarray of int64, shape (n,), optional
            Where to write.

        Returns
        -------
        ndarray of int64, shape (n,)
            The expert drawn for each row, from `start` up to `stop`.
        """
        cdef size_t end = losses.shape[0] if stop is None else stop, row = start
        self._check(losses, start, end)
        if out is None:
            out = np.full(losses.shape[0], -1)
        cdef int64_t[::1] expert = out
        if expert.shape[0] != losses.shape[0]:
            raise ValueError(f"out must have shape ({losses.shape[0]},), got ({expert.shape[0]},)")
        if expert.shape[0]:
            aligned(&expert[0], sizeof(int64_t))
        cdef dpf_weights_coin toss
        cdef dpf_weights_status status = DPF_WEIGHTS_ROOM
        cdef double guard = _guard_scale
        cdef bitgen_t *bits = bitgen(rng)
        if start == end:
            return out
        with rng.bit_generator.lock:
            while status != DPF_WEIGHTS_DONE:
                with nogil:
                    status = dpf_weights_play(bits, &self.state, &losses.rows, guard, &row, end, &expert[0], &toss)
                if status == DPF_WEIGHTS_UNDECIDED:
                    if self._kept(toss, rng):
                        self.state.drawn = toss.expert
                else:
                    self._settled(status, losses, row)
        return out

    def _bound(self, uint64_t gap):
        return dpf_weights_bound(&self.state, gap)

    cdef _check(self, Losses losses, size_t start, size_t stop):
        n, d = losses.shape
        if d != self.state.d:
            raise ValueError(f"losses must be of {self.state.d} experts, got {d}")
        if not start <= stop <= n:
            raise ValueError(f"rows must lie in [0, {n}], got {start} to {stop}")

    cdef bint _kept(self, dpf_weights_coin toss, rng) except -1:
        """Return the outcome of a coin that floating point left open."""
        return coin(self.exponent * toss.gap, 1 << DPF_WEIGHTS_SCALE, toss.bound, toss.word, Words(rng))

    cdef _settled(self, dpf_weights_status status, Losses losses, size_t row):
        """Refuse a row with an invalid loss, or make room for larger totals, before the row is added again."""
        if status == DPF_WEIGHTS_REFUSED:
            seen = losses.values[row]
            losses._refuse(seen[~((seen >= losses._low()) & (seen <= losses._high()))][0])
        if status == DPF_WEIGHTS_ROOM:
            self._make_room()

    cdef _make_room(self):
        """Store the differences from the least total if they are small enough; otherwise use 8 bytes for each total."""
        cdef int64_t[::1] wide
        with nogil:
            dpf_weights_settle(&self.state)
        if not self.state.mirrored and self.state.low > 2**28 and self.state.high - self.state.low < 2**28:
            self.totals_ -= np.int32(self.state.low)
            self.base += self.state.low
            self.state.high -= self.state.low
            self.state.low = 0
        else:
            self.totals_ = self.totals_.astype(np.int64)
            wide = self.totals_
            self.state.wide, self.state.narrow = &wide[0], NULL
        with nogil:
            dpf_weights_settle(&self.state)

    def __reduce__(self):
        raise TypeError("weights are private state: they are not pickled")

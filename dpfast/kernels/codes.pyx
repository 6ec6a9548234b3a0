"""Tables of codes: p columns of small integers, one for each row; counted, summed by weights and looked up.

Column j holds codes 0, ..., sizes[j] - 1: bins, values, "missing". Whatever is kept for every code is an array whose entry
offsets[j] + v belongs to code v of column j. All results are integers, the same at every instruction-set level. See
csrc/codes.h.
"""
from bisect import bisect_right

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from dpfast.kernels.arrays cimport address, aligned
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level

from dpfast.kernels.own import given, of_64_bits, own


cdef extern from "codes.h" nogil:
    enum: DPF_CODES_CELLS
    enum: DPF_CODES_MEMBERS
    size_t DPF_CODES_COUNTED(size_t classes)
    uint32_t dpf_codes_largest(const void *column, bint wide, size_t n)
    size_t dpf_codes_planed(size_t n, size_t chosen, size_t classes)
    void dpf_codes_count(const dpf_codes *codes, const dpf_codes_plan *plan, size_t planed, const void *label,
                         bint wide_label, size_t classes, const uint64_t *mask, int32_t *joint, int64_t *total)
    void dpf_codes_match(const void *column, bint wide, size_t n, uint32_t low, uint32_t high,
                         uint64_t *rows)

cdef extern from "bits.h" nogil:
    uint64_t dpf_bits_popcount(const uint64_t *words, size_t size)

dpf_cpu_share(shared_level())

MOST_SIZE = 1 << 16
_NEAR = 1 << 13  # bytes of a table of joint codes
_ROWS_A_CELL = 16  # below which making such a table costs more than it saves


cdef _scratch(size, dtype):
    """An array that begins with a cache line."""
    raw = np.empty(size * np.dtype(dtype).itemsize + 63, np.uint8)
    cdef uint8_t[::1] byte = raw
    cdef Py_ssize_t start = (64 - <size_t>&byte[0] % 64) % 64
    return raw[start:len(raw) - 63 + start].view(dtype)


cdef class _Plan:
    """Groups of columns that are read as one."""

    def __init__(self, sizes, members, limit):
        groups = _groups(sizes.tolist(), members.tolist(), limit)
        self.first = np.concatenate([[0], np.cumsum([len(group) for group in groups])]).astype(np.uint32)
        self.member = np.concatenate([[], *groups, [0]]).astype(np.uint32)
        self.cell = np.concatenate([[0], np.cumsum([np.prod(sizes[group]) for group in groups])]).astype(np.uint32)
        self.plan = dpf_codes_plan(&self.first[0], &self.member[0], &self.cell[0], len(groups))

    @property
    def cells(self):
        return self.cell[len(self.cell) - 1]


def _groups(sizes, members, limit):
    """Return groups of columns whose sizes multiply to at most `limit`, each from its largest member on."""
    left = sorted(members, key=sizes.__getitem__)
    ordered = [sizes[j] for j in left]
    groups = []
    while left:
        group, cells = [left.pop()], ordered.pop()
        while len(group) < DPF_CODES_MEMBERS and (at := bisect_right(ordered, limit // cells)):
            group.append(left.pop(at - 1))
            cells *= ordered.pop(at - 1)
        groups.append(group)
    return groups


cdef class Columns:
    """Columns of codes.

    Parameters
    ----------
    columns : sequence of ndarray of uint8 or uint16, each of shape (n,), C-contiguous
        Copied unless read-only: they are checked once.
    sizes : sequence of int
        Codes of each column, 1 to 2**16; all codes are below.

    Attributes
    ----------
    n : int
    sizes : ndarray of int64, shape (p,)
    offsets : ndarray of int64, shape (p + 1,)

    Raises
    ------
    ValueError
        For arrays of another type or shape, and for codes that are not below their column's size. Reads the codes once.
    """

    def __init__(self, columns, sizes):
        cdef Py_ssize_t j
        cdef uint32_t most
        cdef const void *at
        cdef bint wide
        cdef size_t n
        columns, sizes = tuple(columns), np.array(own(sizes, np.int64)).reshape(-1)
        if len(columns) == 0 or len(columns) != len(sizes):
            raise ValueError(f"columns must have one size each, got {len(columns)} columns and {len(sizes)} sizes")
        if not 1 <= sizes.min() <= sizes.max() <= MOST_SIZE or sizes.sum() >= 2**31:
            raise ValueError(f"sizes must lie within 1 and {MOST_SIZE}, below 2**31 in all, "
                             f"got {sizes.min()} to {sizes.max()}, {sizes.sum()} in all")
        for j, column in enumerate(columns):
            _check_codes(f"column {j}", column, len(columns[0]))
        columns = tuple([own(column) for column in columns])
        cdef size_t[::1] addresses = np.empty(len(columns), np.uintp)
        self.wide = np.array([column.dtype == np.uint16 for column in columns], np.uint8)
        for j, column in enumerate(columns):
            at, wide, n = address(column), self.wide[j], len(column)
            with nogil:
                most = dpf_codes_largest(at, wide, n)
            if n and most >= sizes[j]:
                raise ValueError(f"codes of column {j} must be below its size, {sizes[j]}, got {most}")
            addresses[j] = <size_t>at
        self.columns, self.sizes, self.offsets = columns, sizes, np.concatenate([[0], np.cumsum(sizes)])
        self.size, self.offset = sizes.astype(np.uint32), self.offsets.astype(np.uint32)
        self.plans, self.most = {}, sizes.max()
        self._set(len(columns[0]), addresses)

    cdef _set(self, Py_ssize_t n, size_t[::1] address):
        self.n, self.address = n, address
        self.codes = dpf_codes(<const void *const *>&self.address[0], &self.wide[0], &self.size[0], &self.offset[0],
                               n, len(self.sizes))

    @property
    def p(self):
        return len(self.sizes)

    @of_64_bits
    def part(self, Py_ssize_t start, Py_ssize_t stop):
        """Return the rows from `start` to `stop` - 1; nothing is copied or checked again."""
        if not 0 <= start <= stop <= self.n:
            raise ValueError(f"rows {start} to {stop} are not among {self.n}")
        if stop - start == self.n:
            return self
        cdef Columns part = Columns.__new__(Columns)
        part.columns, part.sizes, part.offsets = tuple([c[start:stop] for c in self.columns]), self.sizes, self.offsets
        part.wide, part.size, part.offset, part.plans = self.wide, self.size, self.offset, self.plans
        part.most = self.most
        part._set(stop - start, np.asarray(self.address) + start * (np.asarray(self.wide, np.uintp) + np.uintp(1)))
        return part

    cdef _Plan _plan(self, Py_ssize_t width, Py_ssize_t planed=0):
        """Groups for tables of `width` bytes a joint code, of columns that are not counted by planes."""
        limit = 1
        while limit < min(_NEAR // width, self.n // _ROWS_A_CELL):
            limit *= 2
        if (limit, planed) not in self.plans:
            members = np.flatnonzero((self.sizes > planed) | np.asarray(self.wide, bool))
            self.plans[limit, planed] = _Plan(self.sizes, members, limit)
        return self.plans[limit, planed]


cdef _check_codes(what, column, n):
    if not isinstance(column, np.ndarray) or column.dtype not in (np.uint8, np.uint16) or column.ndim != 1:
        seen = f"{column.dtype} {column.shape}" if isinstance(column, np.ndarray) else type(column).__name__
        raise ValueError(f"{what} must be a one-dimensional ndarray of uint8 or uint16, got {seen}")
    if len(column) != n or not column.flags.c_contiguous:
        raise ValueError(f"{what} must have {n} contiguous entries, got shape {column.shape}, strides {column.strides}")
    if not column.flags.aligned:
        address(column)  # refuses it


@of_64_bits
def counts(Columns columns, labels, Py_ssize_t classes, const uint64_t[::1] mask=None):
    """Return the number of rows with each code and label, in one read of the codes.

    Parameters
    ----------
    columns : Columns, n rows
    labels : ndarray of uint8 or uint16, shape (n,), C-contiguous
        Below `classes`.
    classes : int
        1 to 2**16.
    mask : ndarray of uint64, shape (words(n),), optional
        Packed: only these rows are counted. Bits past n are zero.

    Returns
    -------
    ndarray of int64, shape (offsets[-1], classes)
        Entry (offsets[j] + v, c) counts the rows of code v in column j and label c.
    """
    cdef uint32_t most
    cdef size_t n = columns.n
    cdef bint wide
    _check_codes("labels", labels, columns.n)
    labels = own(labels)
    cdef const void *label = address(labels)
    wide = labels.dtype == np.uint16
    most = dpf_codes_largest(label, wide, n)
    if not 1 <= classes <= MOST_SIZE or n and <Py_ssize_t>most >= classes:
        raise ValueError(f"labels must lie in [0, {classes}), at most 2**16 classes, got {most}")
    if columns.n >= 2**31:
        raise ValueError(f"at most 2**31 - 1 rows are counted at a time, got {columns.n}")
    out = np.zeros((columns.offsets[-1], classes), np.int64)
    if mask is not None:
        _check_mask(mask, columns.n)
    if n == 0:
        return out
    if columns.most * classes > 1 << 16:
        return _counts_by_label(columns, labels, classes, mask, out)
    cdef const uint64_t *chosen = NULL
    cdef size_t planed = n
    if mask is not None:
        chosen = &mask[0]
        planed = dpf_bits_popcount(chosen, mask.shape[0])
    planed = dpf_codes_planed(n, planed, classes)
    cdef _Plan plan = columns._plan(4 * classes, planed)
    cdef int32_t[::1] joint = _scratch(max(1, plan.cells * DPF_CODES_COUNTED(classes)), np.int32)
    cdef int64_t[:, ::1] total = out
    with nogil:
        dpf_codes_count(&columns.codes, &plan.plan, planed, label, wide, classes, chosen, &joint[0], &total[0, 0])
    return out


def _counts_by_label(Columns columns, labels, classes, mask, out):
    """Do what `counts` does if there are too many codes and labels for a table of both."""
    chosen = np.ones(columns.n, bool)
    if mask is not None:
        chosen = np.unpackbits(np.asarray(mask).view(np.uint8), bitorder="little", count=columns.n).astype(bool)
    for c in np.unique(labels[chosen]):
        out[:, c] = sums(columns, ((labels == c) & chosen).astype(np.int32))
    return out


cdef _check_mask(const uint64_t[::1] mask, Py_ssize_t n):
    if len(mask):
        aligned(&mask[0], sizeof(uint64_t))
    if len(mask) != -(-n // 64) or n % 64 and mask[len(mask) - 1] >> (n % 64):
        raise ValueError(f"mask must have {-(-n // 64)} words for n={n}, zero past them, got {len(mask)}")


def sums(Columns columns, weights):
    """Return the exact sums of weights by code, in one read of the codes.

    Parameters
    ----------
    columns : Columns, n rows
    weights : ndarray of int32, shape (n,) or (n, k), C-contiguous
        Rows of weight 0 cost little.

    Returns
    -------
    ndarray of int64, shape (offsets[-1],) or (offsets[-1], k)
        Entry offsets[j] + v is the sum of the weights of the rows of code v in column j. It is for the caller to see
        that it cannot overflow, which takes more than 2**32 rows.
    """
    _check_int32("weights", weights, columns.n)
    cdef Py_ssize_t k = weights.shape[1] if weights.ndim == 2 else 1
    out = np.zeros((columns.offsets[-1], k), np.int64)
    cdef const int32_t[:, ::1] weight = weights.reshape(columns.n, k)
    cdef int64_t[:, ::1] total = out
    cdef Py_ssize_t lanes = DPF_CODES_LANES(k)
    cdef _Plan plan
    cdef int32_t[::1] joint
    if columns.n and k:
        plan = columns._plan(4 * lanes)
        joint = _scratch(plan.cells * lanes, np.int32)
        with nogil:
            dpf_codes_sum(&columns.codes, &plan.plan, &weight[0, 0], k, &joint[0], &total[0, 0])
    return out.reshape(-1, *weights.shape[1:])


cdef _check_int32(what, array, length):
    if not isinstance(array, np.ndarray) or array.dtype != np.int32 or array.ndim not in (1, 2):
        seen = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else type(array).__name__
        raise ValueError(f"{what} must be an ndarray of int32 of one or two dimensions, got {seen}")
    if len(array) != length or not array.flags.c_contiguous:
        raise ValueError(f"{what} must have {length} contiguous rows, got shape {array.shape}, strides {array.strides}")
    address(array)  # refuses unaligned memory


cdef _check_table(Columns columns, table, Py_ssize_t k):
    _check_int32("table", table, columns.offsets[-1])
    if k and dpf_codes_reach(&columns.codes, <const int32_t *>address(table), k) >= 1 << 31:
        raise ValueError("table must have entries whose sums fit into 32 bits")


def margins(Columns columns, table):
    """Return for each row the sum of the table's entries for its codes, in one read of the codes.

    Parameters
    ----------
    columns : Columns, n rows
    table : ndarray of int32, shape (offsets[-1],) or (offsets[-1], k), C-contiguous
        The largest sizes of the columns' entries add up to less than 2**31.

    Returns
    -------
    ndarray of int32, shape (n,) or (n, k)
    """
    cdef Py_ssize_t k = table.shape[1] if given("table", table).ndim == 2 else 1
    _check_table(columns, table, k)
    out = np.empty((columns.n, k), np.int32)
    cdef int32_t[:, ::1] margin = out
    cdef Py_ssize_t lanes
    cdef _Plan plan
    cdef int32_t[::1] joint
    cdef uint8_t[::1] planes
    cdef const int32_t[:, ::1] entry
    if columns.n and k:
        entry = table.reshape(-1, k)
        lanes = DPF_CODES_LANES(k)
        plan = columns._plan(4 * lanes)
        joint = _scratch(plan.cells * lanes, np.int32)
        planes = _scratch(columns.p * k * DPF_CODES_PLANES, np.uint8)
        with nogil:
            dpf_codes_margins(&columns.codes, &plan.plan, &entry[0, 0], k, &joint[0], &planes[0], &margin[0, 0])
    return out.reshape(-1, *table.shape[1:])


@of_64_bits
def match(Columns columns, Py_ssize_t j, Py_ssize_t low, Py_ssize_t high):
    """Return which rows have a code from `low` to `high` in column j.

    Parameters
    ----------
    columns : Columns, n rows
    j, low, high : int
        0 <= low <= high < sizes[j]. "code <= t" is (0, t), "code == v" is (v, v).

    Returns
    -------
    ndarray of uint64, shape (words(n),)
        Packed; bits past n are zero.
    """
    return matches(columns, [[j, low, high]])[0]


@of_64_bits
def matches(Columns columns, literals):
    """Return which rows each of several literals holds for, like `match`.

    Parameters
    ----------
    columns : Columns, n rows
    literals : array_like of int, shape (k, 3)
        The arguments j, low and high of `match`.

    Returns
    -------
    ndarray of uint64, shape (k, words(n))
        Packed; bits past n are zero.
    """
    literals = np.array(literals, np.int64)
    if literals.ndim != 2 or literals.shape[1] != 3:
        raise ValueError(f"literals must have shape (k, 3), got {literals.shape}")
    column, least, most = literals.T
    known = (0 <= column) & (column < columns.p) & (0 <= least) & (least <= most)
    known[known] = most[known] < columns.sizes[column[known]]
    if not known.all():
        j, low, high = literals[np.argmin(known)].tolist()
        raise ValueError(f"a literal needs 0 <= low <= high < size of one of {columns.p} columns, "
                         f"got column {j}, {low} to {high}")
    out = np.zeros((len(literals), -(-columns.n // 64)), np.uint64)
    if not out.size:
        return out
    cdef const int64_t[:, ::1] asked = literals
    cdef size_t[::1] at = columns.address
    cdef uint8_t[::1] wide = columns.wide
    cdef uint64_t[:, ::1] rows = out
    cdef Py_ssize_t k
    with nogil:
        for k in range(asked.shape[0]):
            dpf_codes_match(<const void *>at[asked[k, 0]], wide[asked[k, 0]], columns.n,
                            <uint32_t>asked[k, 1], <uint32_t>asked[k, 2], &rows[k, 0])
    return out

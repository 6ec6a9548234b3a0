"""Complete binary trees over columns of bytes: their leaves, and thresholds at quantiles. See csrc/trees.h."""
import numpy as np

from libc.stdint cimport uint8_t, uint32_t, uint64_t
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "trees.h" nogil:
    enum: DPF_TREES_DEPTH
    enum: DPF_TREES_WORDS
    void dpf_trees_leaves(const uint8_t *const *column, const uint32_t *asked, const uint8_t *threshold,
                          size_t questions, const uint32_t *node, size_t trees, size_t depth, size_t n, size_t stride,
                          uint64_t *answer, uint8_t *leaf)
    void dpf_trees_thresholds(const uint8_t *const *column, const uint32_t *asked, const double *quantile, size_t trees,
                              size_t depth, size_t n, uint32_t *count, uint8_t *place, uint8_t *threshold,
                              uint32_t *held)

dpf_cpu_share(shared_level())

DEEPEST = DPF_TREES_DEPTH


def leaves(columns, const uint32_t[:, ::1] asked, const uint8_t[:, ::1] threshold):
    """Return the leaf of each row in each tree.

    A tree of depth D has 2**D - 1 nodes in breadth-first order: the children of node q are 2 q + 1 and 2 q + 2. A row
    goes to the second child if its byte in the column of the node is above the threshold of the node. The highest bit of
    a leaf is the answer of the root.

    Parameters
    ----------
    columns : sequence of ndarray of uint8, each of shape (n,), C-contiguous
    asked : ndarray of uint32, shape (trees, 2**D - 1)
        The column that each node reads.
    threshold : ndarray of uint8, shape (trees, 2**D - 1)

    Returns
    -------
    ndarray of uint8, shape (trees, n)
        Leaves, below 2**D.

    Raises
    ------
    ValueError
        For other types and shapes, a depth below 1 or above `DEEPEST`, and columns that do not exist.

    Notes
    -----
    Nodes that compare the same column with the same threshold are evaluated once for each row, also those of different
    trees, and their answers are bits. A tree chooses among the answers of its nodes, 64 rows in a word.
    """
    cdef Py_ssize_t trees = asked.shape[0], nodes = asked.shape[1], n
    cdef size_t depth = depth_of(nodes)
    cdef const uint8_t *place[1 << 16]
    if (threshold.shape[0], threshold.shape[1]) != (trees, nodes):
        raise ValueError(f"threshold must have shape {(trees, nodes)}, got {(threshold.shape[0], threshold.shape[1])}")
    views = held_columns(columns, place)
    n = len(views[0])
    cdef uint32_t[:, ::1] own = asked_of(asked, len(views))
    out = np.empty((trees, n), np.uint8)
    cdef uint8_t[:, ::1] leaf = out
    if not n or not trees:
        return out
    cdef uint32_t[::1] read = np.empty(trees * nodes, np.uint32)
    cdef uint8_t[::1] above = np.empty(trees * nodes, np.uint8)
    cdef size_t questions = number_questions(own, threshold, len(views), read, above)
    cdef uint64_t[::1] answer = np.empty(questions * DPF_TREES_WORDS, np.uint64)
    with nogil:
        dpf_trees_leaves(place, &read[0], &above[0], questions, &own[0, 0], trees, depth, n, n, &answer[0],
                         &leaf[0, 0])
    return out


def thresholds(columns, const uint32_t[:, ::1] asked, const double[:, ::1] quantile):
    """Return thresholds at quantiles of the bytes of the rows that reach each node, and the number of rows in each leaf.

    Nodes are ordered as for `leaves`. The threshold of a node is the byte of rank int(m * quantile) among those of the m
    rows that reach it, or of all rows if none does. If no row is above it, and not all bytes are equal, it is one less.

    Parameters
    ----------
    columns : sequence of ndarray of uint8, each of shape (n,), C-contiguous
        n is at least 1 and below 2**32.
    asked : ndarray of uint32, shape (trees, 2**D - 1)
        The column that each node reads.
    quantile : ndarray of float64, shape (trees, 2**D - 1)
        At least 0 and below 1.

    Returns
    -------
    (ndarray of uint8, shape (trees, 2**D - 1), ndarray of uint32, shape (trees, 2**D))

    Raises
    ------
    ValueError
        For other types, shapes and quantiles, a depth below 1 or above `DEEPEST`, no rows, and columns that do not exist.
    """
    cdef Py_ssize_t trees = asked.shape[0], nodes = asked.shape[1], n, t, q
    cdef size_t depth = depth_of(nodes)
    cdef const uint8_t *place[1 << 16]
    if (quantile.shape[0], quantile.shape[1]) != (trees, nodes):
        raise ValueError(f"quantile must have shape {(trees, nodes)}, got {(quantile.shape[0], quantile.shape[1])}")
    views = held_columns(columns, place)
    n = len(views[0])
    if not 1 <= n < 1 << 32:
        raise ValueError(f"columns must have 1 to {(1 << 32) - 1} entries, got {n}")
    cdef uint32_t[:, ::1] own = asked_of(asked, len(views))
    cdef double[:, ::1] at = np.array(quantile, np.float64, order="C")
    for t in range(trees):
        for q in range(nodes):
            if not 0 <= at[t, q] < 1:
                raise ValueError(f"quantile must be at least 0 and below 1, got {at[t, q]}")
    found, held = np.empty((trees, nodes), np.uint8), np.empty((trees, 1 << depth), np.uint32)
    cdef uint8_t[:, ::1] threshold = found
    cdef uint32_t[:, ::1] of_leaf = held
    cdef uint32_t[::1] count = np.empty(256 << (depth - 1), np.uint32)
    cdef uint8_t[::1] reached = np.empty(n, np.uint8)
    if trees:
        with nogil:
            dpf_trees_thresholds(place, &own[0, 0], &at[0, 0], trees, depth, n, &count[0], &reached[0],
                                 &threshold[0, 0], &of_leaf[0, 0])
    return found, held


cdef size_t depth_of(Py_ssize_t nodes) except 0:
    """Return the depth of a tree of so many nodes."""
    cdef size_t depth = 0
    while (1 << depth) - 1 < nodes:
        depth += 1
    if not 1 <= depth <= DPF_TREES_DEPTH or (1 << depth) - 1 != nodes:
        raise ValueError(f"trees must have 2**D - 1 nodes for a depth D of 1 to {DPF_TREES_DEPTH}, got {nodes}")
    return depth


cdef list held_columns(columns, const uint8_t **place):
    """Return views that keep the columns alive, and write where they begin."""
    cdef const uint8_t[::1] column
    cdef Py_ssize_t n, j, p
    columns = tuple(columns)
    p = len(columns)
    if not 1 <= p <= 1 << 16:
        raise ValueError(f"columns must be 1 to {1 << 16}, got {p}")
    views, n = [], len(columns[0])
    for j in range(p):
        column = columns[j]
        if column.shape[0] != n:
            raise ValueError(f"column {j} must have {n} entries as the first has, got {column.shape[0]}")
        views.append(column)
        place[j] = &column[0] if n else NULL
    return views


cdef size_t number_questions(uint32_t[:, ::1] asked, const uint8_t[:, ::1] threshold, Py_ssize_t p, uint32_t[::1] read,
                             uint8_t[::1] above):
    """Number the distinct pairs of a column and a threshold, write them, and return how many there are.

    `asked` has the column of each node, and afterwards the number of its pair.
    """
    cdef uint32_t[::1] place = np.zeros(p, np.uint32)  # of each column that is asked, from 1 on
    cdef uint32_t columns = 0, question = 0
    cdef Py_ssize_t t, q
    cdef size_t at
    cdef uint8_t limit
    for t in range(asked.shape[0]):
        for q in range(asked.shape[1]):
            if place[asked[t, q]] == 0:
                columns += 1
                place[asked[t, q]] = columns
    cdef uint32_t[::1] known = np.zeros(<size_t>columns << 8, np.uint32)  # questions, from 1 on
    for t in range(asked.shape[0]):
        for q in range(asked.shape[1]):
            limit = threshold[t, q]  # read once: another thread may write to it
            at = <size_t>(place[asked[t, q]] - 1) << 8 | limit
            if known[at] == 0:
                read[question] = asked[t, q]
                above[question] = limit
                question += 1
                known[at] = question
            asked[t, q] = known[at] - 1
    return question


cdef uint32_t[:, ::1] asked_of(const uint32_t[:, ::1] asked, Py_ssize_t p):
    """Return a copy, to which no other thread writes, of the columns that nodes read, all below p."""
    cdef uint32_t[:, ::1] own = np.array(asked, np.uint32, order="C")
    cdef Py_ssize_t t, q
    for t in range(own.shape[0]):
        for q in range(own.shape[1]):
            if own[t, q] >= <size_t>p:
                raise ValueError(f"asked must be below the number of columns, {p}, got {own[t, q]}")
    return own

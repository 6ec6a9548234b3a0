"""Leaves of complete binary trees over columns of bytes. See csrc/trees.h."""
import numpy as np

from libc.stdint cimport uint8_t, uint32_t
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "trees.h" nogil:
    enum: DPF_TREES_DEPTH
    enum: DPF_TREES_BLOCK
    void dpf_trees_leaves(const uint8_t *const *column, const uint32_t *asked, const uint8_t *threshold, size_t trees,
                          size_t depth, size_t n, size_t stride, uint8_t *scratch, uint8_t *leaf)

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
    Every node of every tree is evaluated, for a vector of rows at a time: 2**D - 1 comparisons for each row and tree.
    """
    cdef Py_ssize_t trees = asked.shape[0], nodes = asked.shape[1], j, t, q, n, p
    cdef size_t depth = 0
    cdef const uint8_t[::1] column
    cdef const uint8_t *place[1 << 16]
    if (threshold.shape[0], threshold.shape[1]) != (trees, nodes):
        raise ValueError(f"threshold must have shape {(trees, nodes)}, got {(threshold.shape[0], threshold.shape[1])}")
    while (1 << depth) - 1 < nodes:
        depth += 1
    if not 1 <= depth <= DPF_TREES_DEPTH or (1 << depth) - 1 != nodes:
        raise ValueError(f"trees must have 2**D - 1 nodes for a depth D of 1 to {DPF_TREES_DEPTH}, got {nodes}")
    columns = tuple(columns)
    p = len(columns)
    if not 1 <= p <= 1 << 16:
        raise ValueError(f"columns must be 1 to {1 << 16}, got {p}")
    views = []
    n = len(columns[0])
    for j in range(p):
        column = columns[j]
        if column.shape[0] != n:
            raise ValueError(f"column {j} must have {n} entries as the first has, got {column.shape[0]}")
        views.append(column)  # keeps it alive
        place[j] = &column[0] if n else NULL
    cdef uint32_t[:, ::1] own = np.array(asked, np.uint32, order="C")  # another thread may write to what was given
    cdef const uint8_t[:, ::1] above = np.array(threshold, np.uint8, order="C")
    for t in range(trees):
        for q in range(nodes):
            if own[t, q] >= <size_t>p:
                raise ValueError(f"asked must be below the number of columns, {p}, got {own[t, q]}")
    out = np.empty((trees, n), np.uint8)
    cdef uint8_t[:, ::1] leaf = out
    cdef uint8_t[::1] scratch = np.empty(nodes * DPF_TREES_BLOCK, np.uint8)
    if n and trees:
        with nogil:
            dpf_trees_leaves(place, &own[0, 0], &above[0, 0], trees, depth, n, n, &scratch[0], &leaf[0, 0])
    return out

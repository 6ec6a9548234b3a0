"""Sparse matrices of integers: products with doubles, and with integers from the left. See csrc/integer_matrix.h."""
import numpy as np

from dpfast.kernels.own import own, own_indices

from libc.stdint cimport int32_t, int64_t
from dpfast.kernels.arrays cimport aligned, csr
from dpfast.kernels.cpu cimport dpf_cpu_share, shared_level


cdef extern from "integer_matrix.h" nogil:
    ctypedef struct dpf_integer_matrix:
        const int64_t *start
        const int32_t *column
        const int64_t *value
        const double *real
        size_t rows
    void dpf_integer_matrix_products(const dpf_integer_matrix *matrix, const double *w, size_t k, double *out)
    void dpf_integer_matrix_add(const dpf_integer_matrix *matrix, const int64_t *weight, size_t k, int64_t *out)

dpf_cpu_share(shared_level())


cdef class IntegerMatrix:
    """A sparse matrix, which is checked once and copied unless its arrays are read-only.

    Parameters
    ----------
    indptr, indices : ndarray of int
        As in scipy's CSR arrays.
    values : ndarray of int or float
        Integers below 2**53 in size.
    columns : int

    Attributes
    ----------
    shape : tuple of int
    """

    cdef readonly tuple shape
    cdef const int64_t[::1] start, value
    cdef const int32_t[::1] column
    cdef const double[::1] real
    cdef dpf_integer_matrix matrix

    def __init__(self, indptr, indices, values, columns):
        indptr, indices = own_indices("indptr", indptr), own_indices("indices", indices)
        csr(indptr, indices)
        if len(values) != len(indices) or indptr[0] != 0 or indptr[-1] != len(indices):
            raise ValueError(f"indptr must have rows for all of {len(indices)} indices and as many values, "
                             f"got {len(values)}, and rows from {indptr[0]} to {indptr[-1]}")
        if not 0 <= columns < 2**31 or len(indices) and not 0 <= indices.min() <= indices.max() < columns:
            raise ValueError(f"indices must lie in [0, {columns}), below 2**31")
        real = own(values, np.float64)
        whole = own(real, np.int64) if (np.abs(real) < 2**53).all() else None
        if whole is None or not np.array_equal(whole, real):
            raise ValueError("values must be integers below 2**53 in size")
        self.start, self.column = own(indptr, np.int64), own(indices, np.int32)
        self.value, self.real = whole, real
        self.shape = len(indptr) - 1, int(columns)
        self.matrix = dpf_integer_matrix(&self.start[0], NULL, NULL, NULL, len(indptr) - 1)
        if len(indices):
            self.matrix.column, self.matrix.value, self.matrix.real = &self.column[0], &self.value[0], &self.real[0]

    def products(self, const double[:, ::1] w):
        """Return the matrix times w, of which entries are added in the order in which they are stored.

        Parameters
        ----------
        w : ndarray of float64, shape (columns, k), C-contiguous

        Returns
        -------
        ndarray of float64, shape (rows, k)
            The same bits on every machine.
        """
        if <size_t>w.shape[0] != <size_t>self.shape[1]:
            raise ValueError(f"w must have {self.shape[1]} rows, got {w.shape[0]}")
        out = np.zeros((self.shape[0], w.shape[1]))
        cdef double[:, ::1] product = out
        if out.size and w.shape[0]:
            aligned(&w[0, 0], sizeof(double))
            with nogil:
                dpf_integer_matrix_products(&self.matrix, &w[0, 0], w.shape[1], &product[0, 0])
        return out

    def sums(self, const int64_t[:, ::1] weights):
        """Return the transposed matrix times weights, modulo 2**64.

        Parameters
        ----------
        weights : ndarray of int64, shape (rows, k), C-contiguous

        Returns
        -------
        ndarray of int64, shape (columns, k)
        """
        if <size_t>weights.shape[0] != <size_t>self.shape[0]:
            raise ValueError(f"weights must have {self.shape[0]} rows, got {weights.shape[0]}")
        out = np.zeros((self.shape[1], weights.shape[1]), np.int64)
        cdef int64_t[:, ::1] total = out
        if out.size and weights.shape[0]:
            aligned(&weights[0, 0], sizeof(int64_t))
            with nogil:
                dpf_integer_matrix_add(&self.matrix, &weights[0, 0], weights.shape[1], &total[0, 0])
        return out

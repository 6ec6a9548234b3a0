"""Products of sparse matrices of integers, from both sides."""

import numpy as np
import pytest
import scipy.sparse as sp

from dpfast.kernels.integer_matrix import IntegerMatrix


@pytest.mark.parametrize("k", [0, 1, 3])
@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (1, 1), (60, 40)])
def test_products_from_both_sides_are_those_of_the_matrix(shape, k, rng):
    X = sp.random_array(shape, density=0.2, format="csr", rng=rng)
    X.data = rng.integers(-(2**20), 2**20, X.nnz).astype(float)
    matrix = IntegerMatrix(X.indptr, X.indices, X.data, shape[1])
    assert matrix.shape == shape
    w, weights = rng.normal(size=(shape[1], k)), rng.integers(-(2**40), 2**40, (shape[0], k))
    wanted = np.zeros((shape[0], k))
    for i in range(shape[0]):
        for p in range(X.indptr[i], X.indptr[i + 1]):  # in the order in which entries are stored
            wanted[i] += X.data[p] * w[X.indices[p]]
    np.testing.assert_array_equal(matrix.products(w), wanted)
    np.testing.assert_array_equal(matrix.sums(weights), X.T.astype(np.int64) @ weights)


def test_sums_of_any_size_are_modulo_2_to_the_64():
    matrix = IntegerMatrix(np.array([0, 1, 2]), np.array([0, 0]), np.array([2**20, -(2**20)]), 1)
    weights = np.array([[2**62 + 5], [7]])
    assert matrix.sums(weights).tolist() == [[-2 * 2**20]]


def test_a_matrix_of_anything_else_is_refused():
    ends, one = np.array([0, 1]), np.array([0])
    for values in (np.array([0.5]), np.array([2**53 + 1]), np.array([np.nan]), np.array([np.inf])):
        with pytest.raises(ValueError, match="values must be integers below 2"):
            IntegerMatrix(ends, one, values, 1)
    for arguments in ((ends, one, np.ones(2), 1), (np.array([0, 0]), one, np.ones(1), 1)):
        with pytest.raises(ValueError, match="indptr must have rows for all of 1 indices"):
            IntegerMatrix(*arguments)
    for at in (1, -1):
        with pytest.raises(ValueError, match="indices must lie in"):
            IntegerMatrix(ends, np.array([at]), np.ones(1), 1)
    matrix = IntegerMatrix(ends, one, np.ones(1), 1)
    with pytest.raises(ValueError, match="w must have 1 rows, got 2"):
        matrix.products(np.zeros((2, 1)))
    with pytest.raises(ValueError, match="weights must have 1 rows, got 2"):
        matrix.sums(np.zeros((2, 1), np.int64))

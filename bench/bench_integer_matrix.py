"""Products of a small sparse matrix of integers, against scipy's with the matrix and its transpose."""

import numpy as np
import pytest
import scipy.sparse as sp

from dpfast.kernels.integer_matrix import IntegerMatrix

ROWS, COLUMNS, EACH = 1_500, 1_800, 7


@pytest.fixture
def drawn():
    rng = np.random.default_rng(0)
    at = np.sort(rng.integers(0, COLUMNS - EACH, (ROWS, 1)) + np.arange(EACH), axis=1).ravel()
    values = rng.integers(-1000, 1000, len(at)).astype(float)
    X = sp.csr_array((values, at, EACH * np.arange(ROWS + 1)), (ROWS, COLUMNS))
    return X, rng.normal(size=(COLUMNS, 1)), rng.integers(-(2**30), 2**30, (ROWS, 1))


def note(benchmark, what):
    benchmark.group = f"{what}, {ROWS:,} rows of {EACH} entries"
    benchmark.extra_info["bytes"] = ROWS * EACH * 12


def test_dpfast_products(benchmark, drawn):
    X, w, _ = drawn
    note(benchmark, "products with doubles")
    matrix = IntegerMatrix(X.indptr, X.indices, X.data, COLUMNS)
    np.testing.assert_allclose(matrix.products(w), X @ w, rtol=1e-12, atol=1e-9)
    benchmark(matrix.products, w)


def test_scipy_products(benchmark, drawn):
    X, w, _ = drawn
    note(benchmark, "products with doubles")
    benchmark(lambda: X @ w)


def test_dpfast_sums(benchmark, drawn):
    X, _, weights = drawn
    note(benchmark, "sums of rows by integers")
    matrix = IntegerMatrix(X.indptr, X.indices, X.data, COLUMNS)
    np.testing.assert_array_equal(matrix.sums(weights), X.T.astype(np.int64) @ weights)
    benchmark(matrix.sums, weights)


def test_scipy_sums(benchmark, drawn):
    X, _, weights = drawn
    note(benchmark, "sums of rows by integers")
    transposed = X.T.tocsr().astype(np.int64)
    benchmark(lambda: transposed @ weights)

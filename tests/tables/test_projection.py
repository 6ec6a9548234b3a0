import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dpfast import BitMatrix
from dpfast.kernels import bits, signs
from dpfast.tables.projection import project

D, M, KEY = 90, 130, 2**100 + 7


@pytest.fixture
def matrix():
    return (2.0 * bits.unpack(signs.matrix(D, M, KEY), M).T - 1) / np.sqrt(M)


@pytest.fixture
def table(rng):
    return np.where(rng.random((40, D)) < 0.3, rng.normal(size=(40, D)), 0)


@pytest.mark.parametrize(
    "form", [np.asarray, sp.csr_array, sp.csc_array, sp.coo_matrix, pd.DataFrame, np.ndarray.tolist]
)
def test_real_tables_of_every_form_are_projected_alike(form, table, matrix):
    projected = project(form(table), M, KEY)
    assert projected.dtype == np.float32
    np.testing.assert_allclose(projected, table @ matrix.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(projected, project(table, M, KEY))


@pytest.mark.parametrize(
    "form", [np.asarray, BitMatrix, sp.csr_array, pd.DataFrame, lambda X: X.astype(np.uint8), lambda X: X.astype(float)]
)
def test_boolean_tables_of_every_form_are_projected_as_0_and_1(form, table, matrix):
    X = table > 0
    projected = project(form(X), M, KEY)
    assert projected.dtype == np.float32
    np.testing.assert_allclose(projected, X @ matrix.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(projected, project(X, M, KEY))


def test_a_stored_false_is_zero(matrix):
    X = sp.csr_array((np.array([True, False]), np.array([3, 4]), np.array([0, 2])), (1, D))
    np.testing.assert_allclose(project(X, M, KEY)[0], matrix[:, 3], rtol=1e-6)


def test_few_stored_entries_need_no_stored_signs(table, matrix):
    X = sp.csr_array(table[:2])
    assert X.nnz < D
    np.testing.assert_allclose(project(X, M, KEY), X @ matrix.T, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 3])
def test_blocks_and_threads_change_nothing(threads, table, monkeypatch):
    monkeypatch.setenv("DPFAST_THREADS", str(threads))
    whole = [project(form, M, KEY) for form in (table, sp.csr_array(table), BitMatrix(table > 0))]
    monkeypatch.setattr("dpfast.tables.projection.BLOCK_BYTES", 4000)
    parts = [project(form, M, KEY) for form in (table, sp.csr_array(table), BitMatrix(table > 0))]
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("value", "message"), [(np.nan, "NaN"), (np.inf, "infinity"), (-1e29, "at most 1e.28 in size")]
)
def test_entries_that_will_not_do_are_refused(value, message, table):
    table[3, 4] = value
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match=message):
            project(form(table), M, KEY)

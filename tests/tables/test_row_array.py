"""Products of rows that a question is given depend on each row alone; others are refused."""

import pickle

import numpy as np
import pytest

from dpfast.kernels import reals
from dpfast.tables import BitMatrix
from dpfast.tables.row_array import RowArray, by_row

A = np.random.default_rng(0).normal(size=(24, 13)).astype(np.float32)
w, W = np.random.default_rng(1).normal(size=13), np.random.default_rng(2).normal(size=(13, 3))
ROWS = by_row(A)


@pytest.mark.parametrize("product", [lambda X, w: X @ w, np.matmul, np.dot, lambda X, w: X.dot(w)])
def test_products_with_vectors_and_matrices_are_those_of_each_row(product):
    assert np.array_equal(product(ROWS, w), reals.products(A, w))
    whole = product(ROWS, W)
    assert np.array_equal(whole, np.stack([reals.products(A, column) for column in W.T], axis=1))
    for k in range(len(A)):
        assert np.array_equal(product(ROWS[k : k + 1], W)[0], whole[k])


def test_a_second_layer_is_of_each_row_too():
    assert isinstance(ROWS @ W, RowArray)
    assert isinstance(np.maximum(ROWS @ W, 0), RowArray)


@pytest.mark.parametrize(
    "product",
    [
        lambda: ROWS.T @ np.ones(24),
        lambda: np.ones(24) @ ROWS,
        lambda: w @ ROWS.T,
        lambda: ROWS @ ROWS.T,
        lambda: ROWS[:, 0] @ np.ones(24),
        lambda: np.einsum("ij,j->i", ROWS, w),
        lambda: np.inner(ROWS, w),
        lambda: np.tensordot(ROWS, w, 1),
        lambda: ROWS.transpose() @ np.ones(24),
    ],
)
def test_products_that_are_sums_over_rows_or_of_unknown_order_are_refused(product):
    with pytest.raises(TypeError, match="rows @ w is the only product"):
        product()


def test_integers_have_their_exact_products():
    whole = by_row(np.arange(6).reshape(3, 2))
    assert (whole.T @ np.ones(3, int)).tolist() == [6, 9]
    assert (np.ones(3, int) @ whole).tolist() == [6, 9]


def test_what_is_computed_from_rows_are_rows():
    changed = np.asfortranarray(A).view(RowArray) * 2
    changed += 1
    assert isinstance(changed, RowArray)
    assert isinstance(pickle.loads(pickle.dumps(ROWS)), RowArray)
    assert np.array_equal(changed.sum(axis=1)[3:4], changed[3:4].sum(axis=1))
    assert float(ROWS.sum()) == pytest.approx(float(A.sum()), rel=1e-5)
    assert [each.tolist() for each in np.divmod(by_row(np.array([7])), 2)] == [[3], [1]]


def test_bits_have_the_same_products():
    table = BitMatrix(A > 0)
    assert np.array_equal(table @ w, reals.products((A > 0).astype(float), w))
    assert (table @ W).shape == (24, 3)

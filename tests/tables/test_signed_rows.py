import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from dpfast import BitMatrix
from dpfast.tables.signed_rows import signed_rows

NUMBERS = {
    "array": np.asarray,
    "columns first": np.asfortranarray,
    "every other column": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "frame": pd.DataFrame,
    "frame of columns": lambda X: pd.DataFrame({j: X[:, j] for j in range(X.shape[1])}),
    "list": lambda X: X.tolist(),
    "csr": sp.csr_array,
    "csc": sp.csc_array,
}


@pytest.mark.parametrize("form", NUMBERS)
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, np.float64])
def test_every_form_of_one_table_adds_and_votes_the_same(form, dtype, rng):
    X, y = rng.integers(-1, 2, (40, 9)).astype(dtype), rng.choice([-1, 1], 40).astype(np.int8)
    rows, total, chosen = signed_rows(NUMBERS[form](X)), np.zeros(9, np.int64), np.arange(3, 30)
    rows.add(total, y, chosen)
    X = X.astype(np.int64)
    np.testing.assert_array_equal(total, rows.unit * (y[chosen] @ X[chosen]))
    votes = rows.votes(np.array([1, 5]), np.array([2, -7]))
    np.testing.assert_array_equal(votes, rows.unit * (2 * X[:, 1] - 7 * X[:, 5]))


def test_booleans_are_signs_and_all_else_is_numbers(rng):
    X = rng.random((7, 5)) < 0.5
    assert {signed_rows(form(X)).reads for form in (np.asarray, BitMatrix, pd.DataFrame)} == {"signs"}
    numbers = (
        lambda X: X.astype(int),
        lambda X: X.astype(float),
        sp.csr_array,
        lambda X: sp.csr_array(X.astype(int)),
        np.ndarray.tolist,
    )
    assert {signed_rows(form(X)).reads for form in numbers} == {"numbers"}


def test_a_table_of_the_other_kind_is_refused_by_what_to_do(rng):
    X = rng.random((7, 5)) < 0.5
    with pytest.raises(ValueError, match=r"learned from booleans, which are signs, and X holds numbers.*BitMatrix too"):
        signed_rows(X.astype(int), reads="signs")
    with pytest.raises(ValueError, match=r"learned from numbers, and X holds booleans.*X\.astype\(int\)"):
        signed_rows(X, reads="numbers")
    for reads in ("signs", "numbers"):  # on one scale
        for form in (np.asarray, BitMatrix, lambda X: X.astype(int), lambda X: sp.csr_array(X.astype(float))):
            votes = signed_rows(form(X), feature_range=(0, 1), reads=reads).dot(np.arange(5.0))
            np.testing.assert_array_equal(votes, np.where(X, 1, -1) @ np.arange(5.0))


@pytest.mark.parametrize(("low", "high"), [(1, 5), (10, 11), (-3, -0.5)])
@pytest.mark.parametrize("out_of_range", ["error", "clip"])
def test_a_sparse_table_is_refused_where_zero_is_out_of_range(low, high, out_of_range):
    with pytest.raises(ValueError, match="must hold 0 for a sparse matrix"):
        signed_rows(sp.csr_array(np.full((2, 2), low)), feature_range=(low, high), out_of_range=out_of_range)


def test_clipped_integers_stay_integers(rng):
    X = rng.integers(-5, 6, (9, 4))
    for form in (np.asarray, sp.csr_array, lambda X: np.abs(X).astype(np.uint8)):
        rows = signed_rows(form(X), out_of_range="clip")
        assert rows.unit == 1

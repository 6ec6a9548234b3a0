import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import train_test_split

from dpfast import BitMatrix


@pytest.fixture
def X(rng):
    return rng.random((130, 70)) < 0.3


FORMS = {
    "booleans": lambda X: X,
    "bytes": lambda X: X.astype(np.uint8),
    "signed integers": lambda X: X.astype(np.int64),
    "float32": lambda X: X.astype(np.float32),
    "column order": lambda X: np.asfortranarray(X.astype(float)),
    "a strided view": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "lists": lambda X: X.astype(int).tolist(),
    "CSR": lambda X: sp.csr_array(X.astype(np.uint8)),
    "CSC": lambda X: sp.csc_array(X.astype(np.float64)),
    "COO": lambda X: sp.coo_array(X.astype(np.int8)),
    "a CSR matrix": lambda X: sp.csr_matrix(X.astype(np.uint8)),
    "a frame": lambda X: pd.DataFrame(X),
    "a frame of mixed types": lambda X: pd.DataFrame(X).astype({0: int, 1: float, 2: "Int8", 3: "boolean"}),
    "a BitMatrix": lambda X: BitMatrix(X),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_input_gives_the_same_bits(form, X):
    table = BitMatrix(FORMS[form](X))
    np.testing.assert_array_equal(table.toarray(), X)
    reference = BitMatrix(X)
    np.testing.assert_array_equal(table.rows, reference.rows)
    np.testing.assert_array_equal(table.columns, reference.columns)
    np.testing.assert_array_equal(table.column(66), reference.columns[66])


@pytest.mark.parametrize("form", ["booleans", "float32", "CSR", "CSC", "a frame"])
@pytest.mark.parametrize("by_column", [False, True])
def test_a_threshold_turns_numbers_into_bits(form, by_column, rng):
    X = np.round(rng.normal(size=(90, 40)), 1) * (rng.random((90, 40)) < 0.5)
    threshold = np.linspace(-1, 1, 40) if by_column else -0.3
    if form == "booleans":
        X = X > 0
    make = sp.csr_array if form == "CSR" else FORMS[form]
    table = BitMatrix(make(X), threshold=threshold)
    X = X.astype(np.float32) if form == "float32" else X
    np.testing.assert_array_equal(table.toarray(), threshold < X)


def test_stored_zeros_and_duplicates_of_a_sparse_matrix_count_as_what_they_are():
    data, rows, columns = [1, 0, 0.5, 0.5], [0, 0, 1, 1], [0, 1, 1, 1]
    X = sp.csr_array(sp.coo_array((data, (rows, columns)), shape=(2, 2)))
    np.testing.assert_array_equal(BitMatrix(X).toarray(), [[True, False], [False, True]])


def test_sparse_input_is_left_as_it_was():
    X = sp.csr_array((np.array([1.0, 1.0]), np.array([1, 0]), np.array([0, 2])), shape=(1, 2))
    indices = X.indices.copy()
    BitMatrix(X)
    np.testing.assert_array_equal(X.indices, indices)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([[0.0, np.nan]], "NaN"),
        ([[0.0, np.inf]], "infinity"),
        ([[0, 2]], "entries must be 0 or 1, got 2"),
        (np.array([[0, 7]], np.uint8), "entries must be 0 or 1, got 7"),
        (sp.csr_array(np.array([[0, 3]])), "entries must be 0 or 1, got 3"),
        (sp.csc_array(np.array([[0, np.nan]])), "NaN"),
        (pd.DataFrame({"a": [0, 1], "b": [0, 5]}), "got 5 in column 'b'"),
        (pd.DataFrame({"a": [0, 1], "odor": ["none", "foul"]}), "column 'odor': X holds text where numbers are wanted"),
        (pd.DataFrame({"a": [0.0, np.nan]}), "column 'a': Input contains NaN"),
        ([0, 1], "Expected 2D array, got 1D array"),
        (np.empty((3, 0)), "minimum of 1 is required"),
        (pd.DataFrame(index=[0, 1]), "minimum of 1 is required|at least one"),
    ],
)
def test_input_that_is_not_a_table_of_bits_is_refused_with_what_was_seen(X, message):
    with pytest.raises(ValueError, match=message):
        BitMatrix(X)


@pytest.mark.parametrize("threshold", [[0.0, 1.0], np.nan, [[0.0] * 3]])
def test_thresholds_that_do_not_fit_are_refused(threshold):
    with pytest.raises(ValueError, match="one finite number or one for each of 3 columns"):
        BitMatrix([[0, 1, 1]], threshold=threshold)
    with pytest.raises(ValueError, match="holds bits already"):
        BitMatrix(BitMatrix([[0, 1, 1]]), threshold=0.5)


def test_names_come_from_the_frame_or_the_caller():
    assert BitMatrix(pd.DataFrame({"a": [0], "b": [1]})).feature_names == ["a", "b"]
    assert BitMatrix([[0, 1]], feature_names=["p", "q"]).feature_names == ["p", "q"]
    with pytest.raises(ValueError, match="must number 2, got 1"):
        BitMatrix([[0, 1]], feature_names=["p"])


def test_rows_can_be_picked_and_split_as_scikit_learn_does(X):
    table = BitMatrix(X, feature_names=map(str, range(70)))
    np.testing.assert_array_equal(table[5:17].toarray(), X[5:17])
    mask = np.arange(130) % 3 == 0
    np.testing.assert_array_equal(table[mask].toarray(), X[mask])
    train, test = train_test_split(table, random_state=0)
    assert (len(train), len(test), train.feature_names[3]) == (97, 33, "3")
    for index in (3, (slice(None), 2)):
        with pytest.raises(IndexError):
            table[index]


@pytest.mark.parametrize("threads", ["1", "2", "3"])
def test_the_number_of_threads_changes_nothing(threads, monkeypatch, rng):
    X = rng.random((3000, 3000)) < 0.5
    monkeypatch.setenv("DPFAST_THREADS", threads)
    np.testing.assert_array_equal(BitMatrix(X).toarray(), X)


@pytest.mark.parametrize("form", ["booleans", "float32", "CSR", "a frame"])
def test_packing_needs_little_memory_beyond_the_packed_table(form, rng):
    X = FORMS[form](rng.random((20_000, 1000)) < 0.05)
    packed = 20_000 * 1000 / 8
    tracemalloc.start()
    table = BitMatrix(X)
    assert table.rows.nbytes + table.columns.nbytes < 2.1 * packed
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    blocks = 4 * (1 << 22)  # pieces of work in flight
    assert peak < 2.5 * packed + (blocks if form != "CSR" else 12 * X.nnz)


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        ([[1]], TypeError, "got list"),
        (np.zeros((3, 2), np.int64), TypeError, "got int64"),
        (np.zeros(3, np.uint64), TypeError, r"got uint64 \(3,\)"),
        (np.zeros((3, 1), np.uint64), ValueError, "2 words for each d=70"),
        (np.zeros((2, 3), np.uint64).T, ValueError, "C-contiguous"),
        (np.full((3, 2), 64, np.uint64), ValueError, "zero past d=70"),
    ],
)
def test_rows_that_are_not_packed_so_are_refused(rows, error, message):
    with pytest.raises(error, match=message):
        BitMatrix.from_rows(rows, 70)


def test_packed_columns_are_checked_likewise():
    with pytest.raises(ValueError, match="zero past n=3"):
        BitMatrix.from_columns(np.full((5, 1), 8, np.uint64), 3)

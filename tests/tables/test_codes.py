import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import cross_val_score, train_test_split

from dpfast import CodeTable

SIZES = [3, 256, 257, 1]


@pytest.fixture
def X(rng):
    return rng.integers(0, SIZES, (130, 4))


FORMS = {
    "integers": CodeTable,
    "lists": lambda X, sizes: CodeTable(X.tolist(), sizes),
    "a frame": lambda X, sizes: CodeTable(pd.DataFrame(X), sizes),
    "column order": lambda X, sizes: CodeTable(np.asfortranarray(X.astype(np.uint16)), sizes),
    "arrays": lambda X, sizes: CodeTable.from_arrays(list(X.T), sizes),
    "series": lambda X, sizes: CodeTable.from_arrays([pd.Series(x, dtype="int32") for x in X.T], sizes),
    "strided arrays": lambda X, sizes: CodeTable.from_arrays(list(np.repeat(X, 2, 0).T[:, ::2]), sizes),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_input_gives_the_same_table(form, X):
    table = FORMS[form](X, SIZES)
    assert (table.shape, table.ndim, len(table)) == ((130, 4), 2, 130)
    np.testing.assert_array_equal(table.toarray(), X)
    np.testing.assert_array_equal(table.column(2), X[:, 2])
    assert [table.column(j).dtype for j in range(4)] == [np.uint8, np.uint8, np.uint16, np.uint8]
    assert table.nbytes == 130 * 5
    assert table.offsets.tolist() == [0, 3, 259, 516, 517]
    assert table == CodeTable(X, SIZES)


def test_arrays_that_fit_are_not_copied_if_nobody_can_write_them(X):
    columns = [
        np.ascontiguousarray(x, np.uint16 if size > 256 else np.uint8) for x, size in zip(X.T, SIZES, strict=True)
    ]
    table = CodeTable.from_arrays(columns, SIZES)
    assert not any(np.shares_memory(table.column(j), columns[j]) for j in range(4))
    for column in columns:
        column.setflags(write=False)
    table = CodeTable.from_arrays(columns, SIZES)
    assert all(np.shares_memory(table.column(j), columns[j]) for j in range(4))
    assert np.shares_memory(table[20:90].column(1), columns[1])


def test_tables_are_equal_that_say_the_same(X):
    table = CodeTable(X, SIZES, names="abcd", columns=[1, 2, 3, 4])
    assert table == CodeTable(X, SIZES, names=list("abcd"), columns=(1, 2, 3, 4))
    others = [
        CodeTable(X, SIZES, names="abcd"),
        CodeTable(X, SIZES, columns=[1, 2, 3, 4]),
        CodeTable(X[:-1], SIZES, names="abcd", columns=[1, 2, 3, 4]),
        CodeTable(X, [4, *SIZES[1:]], names="abcd", columns=[1, 2, 3, 4]),
        CodeTable(X[::-1], SIZES, names="abcd", columns=[1, 2, 3, 4]),
        X,
    ]
    assert all(table != other for other in others)


def test_a_pickle_is_the_same_table(X):
    table = CodeTable(X, SIZES, names="abcd", columns=[{"low": 0}, None, 2, "x"])
    assert pickle.loads(pickle.dumps(table)) == table
    assert repr(table) == "CodeTable of shape (130, 4), 517 codes"


def test_rows_can_be_picked_as_scikit_learn_does(X, rng):
    table = CodeTable(X, SIZES, names="abcd", columns=range(4))
    mask = rng.random(130) < 0.3
    assert table[[]].shape == (0, 4)
    for index in (slice(5, 17), slice(None, None, -3), mask, np.flatnonzero(mask), mask.tolist(), [3, -1, 3]):
        picked = table[index]
        np.testing.assert_array_equal(picked.toarray(), X[index])
        assert picked.names == list("abcd")
        assert picked.columns == (0, 1, 2, 3)
        np.testing.assert_array_equal(picked.sizes, SIZES)
    for index in (3, (slice(None), 2), np.arange(130)[:, None]):
        with pytest.raises(IndexError):
            table[index]


class Majority(ClassifierMixin, BaseEstimator):
    """The commoner class of each code of the first column."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = [y[X.column(0) == v].mean() > 0.5 for v in range(X.sizes[0])]
        return self

    def predict(self, X):
        return np.array(self.means_, int)[X.column(0)]


def test_tables_go_through_splits_and_cross_validation(X):
    table, y = CodeTable(X, SIZES, names="abcd"), (X[:, 0] > 1).astype(int)
    train, test, y_train, y_test = train_test_split(table, y, random_state=0)
    assert (len(train), len(test), train.names) == (97, 33, list("abcd"))
    assert Majority().fit(train, y_train).score(test, y_test) == 1
    np.testing.assert_array_equal(cross_val_score(Majority(), table, y, cv=3), [1, 1, 1])


@pytest.mark.parametrize(
    ("codes", "sizes", "error", "message"),
    [
        ([[0, 3]], [2, 3], ValueError, r"codes of column 1 must lie in \[0, 3\), got 3 to 3"),
        ([[0, -1]], [2, 3], ValueError, r"codes of column 1 must lie in \[0, 3\), got -1 to -1"),
        (np.array([[255]], np.uint8), [255], ValueError, "column 0 must lie in"),
        ([[2**40]], [300], ValueError, "got 1099511627776"),
        ([[0.0]], [2], TypeError, "codes must be integers, got float64 in column 0"),
        ([["a"]], [2], TypeError, "codes must be integers, got <U1"),
        ([0, 1], [2, 2], ValueError, r"two dimensions, got shape \(2,\)"),
        ([[0, 1]], [2], ValueError, "got 1 sizes for 2 columns"),
        (np.empty((3, 0), int), [], ValueError, "got 0 sizes for 0 columns"),
        ([[0]], [0], ValueError, "sizes must lie within 1 and 65536, got 0 to 0"),
        ([[0]], [65537], ValueError, "sizes must lie within 1 and 65536, got 65537"),
        ([[0]], [2.5], TypeError, "float"),
    ],
)
def test_what_is_not_a_table_of_codes_is_refused(codes, sizes, error, message):
    with pytest.raises(error, match=message):
        CodeTable(codes, sizes)


def test_names_and_descriptions_must_number_the_columns():
    with pytest.raises(ValueError, match="names must number 2, got 1"):
        CodeTable([[0, 1]], [2, 2], names=["a"])
    with pytest.raises(ValueError, match="columns must number 2, got 3"):
        CodeTable([[0, 1]], [2, 2], columns=[1, 2, 3])
    with pytest.raises(ValueError, match=r"column 'age' must lie in \[0, 2\), got 1 to 2"):
        CodeTable([[0, 1], [0, 2]], [2, 2], names=["sex", "age"])
    with pytest.raises(ValueError, match="one length, got 2 to 3"):
        CodeTable.from_arrays([np.zeros(2, int), np.zeros(3, int)], [1, 1])
    with pytest.raises(ValueError, match=r"one dimension, got shape \(2, 2\) in column 0"):
        CodeTable.from_arrays([np.zeros((2, 2), int)], [1])


def test_a_table_may_have_no_rows():
    table = CodeTable(np.empty((0, 2), int), [2, 300])
    assert table.shape == (0, 2)
    assert pickle.loads(pickle.dumps(table)) == table

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.kernels import bits, scores

ENCODINGS = {"pm1": lambda X: 2 * X.astype(np.int64) - 1, "01": lambda X: X.astype(np.int64)}
D = 10**9


def pack(X):
    return bits.pack(np.ascontiguousarray(X).view(np.uint8))


def table(n, d, seed=0, density=0.5):
    """Bits and labels."""
    rng = np.random.default_rng((n, d, seed))
    return rng.random((n, d)) < density, rng.choice([-1, 1], n).astype(np.int8)


def sparse(n, d, seed=0, density=0.1):
    """A CSR array of small integers, and labels."""
    X, y = table(n, d, seed, density)
    S = sp.csr_array(X * np.random.default_rng(seed).integers(-9, 10, (n, d)))
    return sp.csr_array((S.data.astype(np.int32), S.indices, S.indptr), S.shape), y


def histogram(d, k, seed=0):
    rng = np.random.default_rng(seed)
    return np.sort(rng.choice(d, min(d, k), replace=False)), rng.integers(-5, 6, min(d, k))


# ---- packed rows -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(1, 1), (15, 64), (16, 65), (100, 4097), (2100, 130), (40, 70_001)])
def test_packed_rows_add_their_labelled_sum(isa, n, d):
    X, y = table(n, d)
    state, signs = np.arange(d), ENCODINGS["pm1"](X)
    scores.add_packed(state, pack(X), d, y)
    np.testing.assert_array_equal(state, np.arange(d) + y @ signs)
    index = np.random.default_rng(n).integers(0, n, n + 7)
    scores.add_packed(state, pack(X), d, y, index)
    np.testing.assert_array_equal(state, np.arange(d) + y @ signs + y[index] @ signs[index])


@given(st.integers(0, 70), st.integers(1, 200), st.lists(st.integers(0, 10**6), max_size=60))
@settings(max_examples=60, deadline=None)
def test_packed_rows_are_taken_by_index_in_any_order_and_number(n, d, index):
    X, y = table(n, d)
    index = np.array([i % n for i in index if n], np.int64)
    state = np.zeros(d, np.int64)
    scores.add_packed(state, pack(X), d, y, index)
    np.testing.assert_array_equal(state, y[index] @ ENCODINGS["pm1"](X)[index])


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(("n", "d", "k"), [(1, 1, 1), (9, 64, 64), (50, 1000, 37), (3, 100_000, 256), (5, 70, 0)])
def test_votes_of_packed_rows_are_the_integer_products(isa, n, d, k, encoding):
    X, _ = table(n, d)
    index, count = histogram(d, k)
    votes = scores.votes_packed(pack(X), d, index, count, encoding)
    np.testing.assert_array_equal(votes, ENCODINGS[encoding](X)[:, index] @ count)


# ---- CSR rows ----------------------------------------------------------------------------------------------------


@given(st.integers(0, 60), st.integers(1, 90), st.booleans(), st.booleans(), st.integers(0, 10**6))
@settings(max_examples=60, deadline=None)
def test_dense_and_sparse_tables_of_scores_agree_with_numpy_on_csr_rows(n, d, ones, wide, seed):
    S, y = sparse(n, d, seed)
    data = None if ones else S.data
    X = (S.toarray() != 0).astype(np.int64) if ones else S.toarray().astype(np.int64)
    index = np.random.default_rng(seed).integers(0, n, 2 * n) if n else None
    args = S.indptr.astype(np.int64 if wide else np.int32), S.indices.astype(np.int64), data, y, index
    expected = (y if index is None else y[index]) @ (X if index is None else X[index])
    state = np.zeros(d, np.int64)
    scores.add_csr(state, *args)
    np.testing.assert_array_equal(state, expected)
    thin = scores.SparseScores(d)
    thin.add_csr(*args)
    keys, values = thin.export()
    assert len(thin) == len(keys) == len(set(keys.tolist()))
    assert set(np.flatnonzero(expected).tolist()) <= set(keys.tolist())
    np.testing.assert_array_equal(values, expected[keys])
    index, count = histogram(d, 20, seed)
    votes = scores.votes_csr(*args[:3], index, count)
    np.testing.assert_array_equal(votes, X[:, index] @ count)


def test_a_sparse_table_grows_over_a_billion_hashed_coordinates(rng):
    indices = np.sort(rng.integers(0, D, (500, 100)), axis=1)
    indices[:, 0], indices[:, 1] = 0, D - 1  # every row has these
    indices.sort(axis=1)
    y, indptr = rng.choice([-1, 1], 500).astype(np.int8), np.arange(501) * 100
    thin = scores.SparseScores(D)
    for start in range(0, 500, 70):
        part = slice(start, start + 70)
        thin.add_csr(indptr[start : start + 71], indices.ravel(), None, y[part])
    keys, values = thin.export()
    expected_keys, place = np.unique(indices, return_inverse=True)
    expected = np.zeros(len(expected_keys), np.int64)
    np.add.at(expected, place.ravel(), np.repeat(y, 100))
    order = np.argsort(keys)
    np.testing.assert_array_equal(keys[order], expected_keys)
    np.testing.assert_array_equal(values[order], expected)
    assert values[order][-1] == y.sum()


def test_a_sparse_table_goes_on_from_what_it_exported():
    S, y = sparse(300, 5000)
    args = S.indptr, S.indices, S.data, y
    thin = scores.SparseScores(5000)
    thin.add_csr(*args)
    again = scores.SparseScores(5000, *thin.export())
    again.add_csr(*args)
    keys, values = again.export()
    np.testing.assert_array_equal(values, 2 * (y @ S.toarray())[keys])
    assert len(again) == len(thin)


def test_a_sparse_table_is_neither_pickled_nor_copied():
    for attempt in (pickle.dumps, copy.copy):
        with pytest.raises(TypeError, match="private"):
            attempt(scores.SparseScores(5))


def test_votes_find_the_few_coordinates_of_a_histogram_among_a_billion(rng):
    index, count = np.unique(rng.integers(0, D, 300)), rng.integers(-3, 4, 300)
    rows = [np.unique(np.r_[rng.choice(index, 20), rng.integers(0, D, 80)]) for _ in range(50)]
    indptr = np.cumsum([0, *map(len, rows)])
    votes = scores.votes_csr(indptr, np.concatenate(rows), None, index, count)
    weights = dict(zip(index.tolist(), count.tolist(), strict=True))
    assert votes.tolist() == [sum(weights.get(j, 0) for j in row.tolist()) for row in rows]


# ---- the grid ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(1, 1), (40, 333), (7, 5000)])
def test_grid_rows_add_and_vote_exactly(isa, rng, n, d):
    q = rng.integers(-(2**31), 2**31, (n, d)).astype(np.int32)
    _, y = table(n, d)
    index = rng.integers(0, n, n)
    state = np.full(d, 5, np.int64)
    scores.add_grid(state, q, y, index)
    np.testing.assert_array_equal(state, 5 + y[index].astype(np.int64) @ q[index].astype(np.int64))
    at, count = histogram(d, 100)
    np.testing.assert_array_equal(scores.votes_grid(q, at, count), q[:, at].astype(np.int64) @ count)


# ---- refusals ----------------------------------------------------------------------------------------------------


def test_an_update_that_might_overflow_is_refused_and_changes_nothing():
    X, y = table(20, 70)
    top = np.iinfo(np.int64).max
    state = np.zeros(70, np.int64)
    state[3] = -top + 19
    before = state.copy()
    with pytest.raises(ValueError, match=f"scores of size {top - 19} may overflow by rows that add up to 20"):
        scores.add_packed(state, pack(X), 70, y)
    np.testing.assert_array_equal(state, before)
    scores.add_packed(state, pack(X), 70, y, np.arange(19))
    S, y = sparse(20, 70)
    with pytest.raises(ValueError, match="may overflow by rows that add up to 180"):
        scores.add_csr(np.full(70, top - 179), S.indptr, S.indices, S.data, y)
    with pytest.raises(ValueError, match="may overflow"):
        scores.add_grid(np.full(70, 2**63 - 2**31, np.int64), np.zeros((1, 70), np.int32), y[:1])
    full = scores.SparseScores(70, np.array([69], np.uint32), np.array([2**63 - 20]))
    with pytest.raises(ValueError, match="may overflow"):
        full.add_csr(S.indptr, S.indices, None, y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"d": 200}, r"d=200 needs 4 words a row, got shape \(5, 2\)"),
        ({"y": np.ones(4, np.int8)}, "one label for each of 5 rows, got 4"),
        ({"y": np.array([1, -1, 0, 3, 1], np.int8)}, r"must be -1 or 1, got \[-1  0  1  3\]"),
        ({"index": np.array([0, 5])}, r"index must lie in \[0, 5\), got 0 to 5"),
        ({"scores": np.zeros(99, np.int64)}, r"scores must have shape \(100,\), got \(99,\)"),
        ({"scores": np.zeros(100)}, "expected 'int64_t' but got 'double'"),
        ({"scores": np.zeros(200, np.int64)[::2]}, "not C-contiguous"),
        ({"scores": np.frombuffer(bytes(800), np.int64)}, "read-only"),
    ],
)
def test_packed_updates_name_what_does_not_fit(change, message):
    X, y = table(5, 100)
    args = {"scores": np.zeros(100, np.int64), "rows": pack(X), "d": 100, "y": y} | change
    with pytest.raises(ValueError, match=message):
        scores.add_packed(**args)
    assert not args["scores"].any()


@pytest.mark.parametrize(
    ("indptr", "indices", "data", "message"),
    [
        ([0, 2, 4], [1, 3, 0, 10], None, r"rise strictly within \[0, 10\), row 1 has \[ 0 10\]"),
        ([0, 2, 4], [3, 1, 0, 9], None, r"row 0 has \[3 1\]"),
        ([0, 2, 4], [3, 3, 0, 9], None, r"row 0 has \[3 3\]"),
        ([0, 2, 4], [-1, 3, 0, 9], None, r"row 0 has \[-1  3\]"),
        ([0, 3, 2], [1, 2, 3], None, "rise from at least 0 to at most the 3 indices"),
        ([0, 2, 4], [1, 2, 3], None, "at most the 3 indices"),
        ([0, 2, 3], [1, 2, 3], [1.0, 2.0, 3.0], r"None or int32 of shape \(3,\), got float64 \(3,\)"),
        ([0, 2, 3], [1, 2, 2**31], None, r"lie in \[0, 2\*\*31\), got 1 to 2147483648"),
        ([], [], None, r"must be one-dimensional, got \(0,\)"),
    ],
)
def test_csr_rows_that_are_not_well_formed_are_refused(indptr, indices, data, message):
    indices = np.array(indices, np.int64)
    args = np.array(indptr, np.int64), indices.astype(np.int32) if indices.max(initial=0) < 2**31 else indices, data
    args = *args[:2], None if data is None else np.array(data)
    y, state, thin = np.ones(2, np.int8), np.zeros(10, np.int64), scores.SparseScores(10)
    for add in (lambda: scores.add_csr(state, *args, y), lambda: thin.add_csr(*args, y)):
        with pytest.raises(ValueError, match=message):
            add()
    assert not state.any()
    assert len(thin) == 0


@pytest.mark.parametrize(
    ("index", "count", "message"),
    [
        ([3, 1], [1, 1], r"index must rise strictly within \[0, 100\), got \[3 1\]"),
        ([3, 100], [1, 1], r"got \[  3 100\]"),
        ([3, 4], [1], "must have one length, got 2 and 1"),
        ([3, 4], [2**30, -(2**30)], "add up to less than 2\\*\\*31 in size, got 2.147e"),
    ],
)
def test_histograms_that_are_not_well_formed_are_refused(index, count, message):
    X, _ = table(5, 100)
    index, count = np.array(index), np.array(count)
    with pytest.raises(ValueError, match=message):
        scores.votes_packed(pack(X), 100, index, count)
    with pytest.raises(ValueError, match=message):
        scores.votes_grid(np.zeros((5, 100), np.int32), index, count)


def test_votes_know_two_encodings():
    with pytest.raises(ValueError, match="encoding must be 'pm1' or '01', got 'bits'"):
        scores.votes_packed(pack(table(5, 100)[0]), 100, np.array([3]), np.array([1]), "bits")


def test_sparse_tables_and_grids_name_what_does_not_fit():
    with pytest.raises(ValueError, match=r"d must lie in \[1, 2\*\*31\], got 0"):
        scores.SparseScores(0)
    with pytest.raises(ValueError, match="distinct and below d=5"):
        scores.SparseScores(5, np.array([5], np.uint32), np.array([1]))
    with pytest.raises(ValueError, match="one length, got 1 and 2"):
        scores.SparseScores(5, np.array([1], np.uint32), np.array([1, 2]))

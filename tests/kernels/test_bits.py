import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.kernels import bits

WIDTHS = [1, 63, 64, 65, 511, 512, 513, 4000]


def table(n, d, seed=0, density=0.5):
    return np.random.default_rng((n, d, seed)).random((n, d)) < density


def pack(X):
    return bits.pack(np.ascontiguousarray(X).view(np.uint8))


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_packing_and_unpacking_are_inverse_and_the_tail_is_zero(n, d, seed):
    X = table(n, d, seed)
    rows = pack(X)
    np.testing.assert_array_equal(bits.unpack(rows, d), X)
    assert rows.shape == (n, -(-d // 64))
    assert bits.popcount(rows) == X.sum()  # so no bit past d is set


def test_packing_agrees_with_numpy_at_every_width(isa):
    for d in [*range(1, 130), *WIDTHS, 519, 576, 1000]:
        X = table(3, d)
        expected = np.zeros((3, 8 * bits.words(d)), np.uint8)
        expected[:, : -(-d // 8)] = np.packbits(X, axis=1, bitorder="little")
        packed = np.full((3, bits.words(d)), 2**64 - 1, np.uint64)
        assert bits.pack(X.view(np.uint8), packed) is not None
        np.testing.assert_array_equal(packed.astype("<u8").view(np.uint8), expected)


@pytest.mark.parametrize("d", [1, 7, 8, 9, 63, 64, 71, 129, 512, 519])
def test_a_byte_that_is_not_0_or_1_is_refused_and_named_wherever_it_is(isa, d):
    for j in range(d):
        for bad in (2, 128):
            x = np.zeros((3, d), np.uint8)
            x[j % 3, j] = bad
            with pytest.raises(ValueError, match=f"must be 0 or 1, got {bad}"):
                bits.pack(x)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_sparse_packing_agrees_with_dense_packing(index, format):
    X = table(130, 200, density=0.1)
    S = getattr(sp, f"{format}_array")(X)
    packed = bits.pack_sparse(S.indptr.astype(index), S.indices.astype(index), X.shape[format == "csr"])
    np.testing.assert_array_equal(packed, pack(X if format == "csr" else X.T))


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [([0, 1], [5], r"lie in \[0, 5\)"), ([0, 2], [1], "rise from 0"), ([0, 2, 1], [1, 2], "rise from 0")],
)
def test_sparse_indices_out_of_range_are_refused(indptr, indices, message):
    with pytest.raises(ValueError, match=message):
        bits.pack_sparse(np.array(indptr, np.int32), np.array(indices, np.int32), 5)


def test_row_ends_whose_differences_wrap_around_are_refused():
    for indptr in ([0, 2**62, -(2**63)], [0, 2**63 - 1, -(2**63)]):
        with pytest.raises(ValueError, match="rise from 0"):
            bits.pack_sparse(np.array(indptr), np.array([1, 2]), 5)


@pytest.mark.parametrize("n", [1, 64, 100, 200, 512, 600, 1025])
def test_transpose_is_the_transpose(isa, n):
    for d in (*WIDTHS, 70, 129, 200, 300, 1024):
        X = table(n, d)
        np.testing.assert_array_equal(bits.transpose(pack(X), d), pack(X.T))


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 255, 256, 1000])
def test_positional_popcount_counts_each_column(isa, n):
    for d in WIDTHS:
        X = table(n, d)
        np.testing.assert_array_equal(bits.positional_popcount(pack(X), d), X.sum(0))


def test_positional_popcount_spans_column_blocks_of_wide_rows(isa):
    X = table(70, 20_000)
    np.testing.assert_array_equal(bits.positional_popcount(pack(X), 20_000), X.sum(0))


@pytest.mark.parametrize(("n", "d"), [(0, 3), (1, 1), (64, 65), (1000, 70), (3000, 6)])
def test_a_column_is_that_of_the_transpose(n, d):
    rows = pack(table(n, d))
    np.testing.assert_array_equal([bits.column(rows, d, j) for j in range(d)], bits.transpose(rows, d))


@pytest.mark.parametrize("j", [-1, 70])
def test_a_column_that_is_not_there_is_refused(j):
    with pytest.raises(ValueError, match=r"j must lie in \[0, 70\)"):
        bits.column(pack(table(5, 70)), 70, j)


@pytest.mark.parametrize(("n", "d"), [(70_000, 1), (66_000, 520), (3_000, 12_000)])
def test_positional_popcount_counts_far_and_long_tables(isa, rng, n, d):
    X = rng.integers(0, 2, (n, d), np.uint8).view(bool)
    np.testing.assert_array_equal(bits.positional_popcount(pack(X), d), X.sum(0))


@pytest.mark.parametrize(("n", "d"), [(0, 3), (1, 1), (17, 65), (10_000, 1_100)])
def test_positional_popcount_counts_agreement_with_signs(isa, rng, n, d):
    X, signs = rng.random((n, d), np.float32) < 0.3, rng.choice(np.array([-1, 1], np.int8), n)
    np.testing.assert_array_equal(bits.positional_popcount(pack(X), d, signs=signs), ((signs > 0)[:, None] == X).sum(0))
    with pytest.raises(ValueError, match=f"one for each of {n} rows"):
        bits.positional_popcount(pack(X), d, signs=np.ones(n + 1, np.int8))


@pytest.mark.parametrize("size", [0, 1, 7, 8, 9, 1000])
def test_word_operations_agree_with_numpy_and_count_ones(isa, rng, size):
    a, b = rng.integers(0, 2**64, (2, size), dtype=np.uint64)
    out = np.empty(size, np.uint64)
    assert bits.bitwise_and(a, b, out) == np.bitwise_count(a & b).sum()
    np.testing.assert_array_equal(out, a & b)
    expected = a & ~b
    assert bits.bitwise_andnot(a, b, a) == np.bitwise_count(expected).sum()  # in place
    np.testing.assert_array_equal(a, expected)
    assert bits.popcount(b) == np.bitwise_count(b).sum()


def test_word_operations_of_different_lengths_are_refused():
    a, b = np.zeros(3, np.uint64), np.zeros(4, np.uint64)
    with pytest.raises(ValueError, match="got 3, 4 and 3"):
        bits.bitwise_and(a, b, a)


def test_nonzero_lists_the_positions_of_ones():
    X = table(1, 1000, density=0.1)
    np.testing.assert_array_equal(bits.nonzero(pack(X)[0]), np.flatnonzero(X))


@given(st.integers(1, 150), st.lists(st.lists(st.integers(-1, 9), min_size=3, max_size=3), max_size=8))
@settings(max_examples=50, deadline=None)
def test_conjunctions_hold_where_all_their_literals_do(n, codes):
    X = table(n, 5)
    codes = np.array(codes, np.int64).reshape(-1, 3)
    literals = np.hstack([X, ~X])[:, [0, 5, 1, 6, 2, 7, 3, 8, 4, 9]]  # 2 j, 2 j + 1
    expected = np.array([[all(literals[i, c] for c in code if c >= 0) for i in range(n)] for code in codes], bool)
    packed = bits.conjunctions(pack(X.T), n, codes)
    np.testing.assert_array_equal(bits.unpack(packed, n), expected.reshape(-1, n))


def test_a_literal_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match=r"codes must lie in \[-1, 10\)"):
        bits.conjunctions(pack(table(4, 5).T), 4, np.array([[10]]))


def test_widths_that_do_not_fit_are_refused_with_the_shape_wanted():
    rows = pack(table(4, 100))
    with pytest.raises(ValueError, match=r"d=200 needs 4 words a row, got shape \(4, 2\)"):
        bits.positional_popcount(rows, 200)
    with pytest.raises(ValueError, match="d=10 needs 1 words"):
        bits.unpack(rows, 10)

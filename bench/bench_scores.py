"""Batch updates of Winnow's scores, and votes of released histograms, against the lines they replace."""

import numpy as np
import peers
import pytest
from workloads import booleans

from dpfast.kernels import bits, grid, levels, scores

N, D, K = 1024, 10**5, 256  # rows of a batch, columns, draws of a release
HASHED, ENTRIES, ROWS = 10**9, 100, 10**4


def batch(n, d):
    """Packed rows and labels; random words, for a table of bytes would not fit."""
    rng = np.random.default_rng((n, d))
    rows = rng.integers(0, 2**64, (n, bits.words(d)), dtype=np.uint64)
    rows[:, -1] &= np.uint64(2 ** (d % 64 or 64) - 1)
    return rows, rng.choice([-1, 1], n).astype(np.int8)


def histogram(d, k):
    rng = np.random.default_rng(d)
    return np.unique(np.r_[rng.integers(0, d, k), rng.choice(d, 1)])[:k], rng.integers(1, 9, k)


def hashed():
    rng = np.random.default_rng(0)
    indices = np.sort(rng.integers(0, HASHED, (ROWS, ENTRIES)), axis=1) // ENTRIES * ENTRIES + np.arange(ENTRIES)
    return np.arange(ROWS + 1) * ENTRIES, indices.astype(np.int32).ravel(), rng.choice([-1, 1], ROWS).astype(np.int8)


# ---- updates -----------------------------------------------------------------------------------------------------


@pytest.mark.benchmark(group="scores += y X, 1024 x 1e5 bits")
def test_dpfast_add_packed(benchmark, isa):
    X, _ = booleans(N, D)
    y = np.random.default_rng(1).choice([-1, 1], N).astype(np.int8)
    rows, state = bits.pack(X), np.zeros(D, np.int64)
    benchmark.extra_info["bytes"] = rows.nbytes
    benchmark.extra_info["items"] = N * D, "coordinate-rows"
    scores.add_packed(state, rows, D, y)
    np.testing.assert_array_equal(state, y.astype(np.float32) @ (2 * X.astype(np.float32) - 1))
    benchmark(scores.add_packed, state, rows, D, y)


@pytest.mark.benchmark(group="scores += y X, 1024 x 1e5 bits")
def test_numpy_float_product(benchmark):
    X = 2 * booleans(N, D)[0].astype(np.float32) - 1
    y = np.random.default_rng(1).choice([-1, 1], N).astype(np.float32)
    benchmark(np.matmul, y, X)


@pytest.mark.parametrize("n", [1, 16, 128, 1024])
@pytest.mark.benchmark(group="scores += y X, n x 1e7 bits")
def test_dpfast_add_packed_grows_with_the_batch(benchmark, n):
    rows, y = batch(n, 10**7)
    state = np.zeros(10**7, np.int64)
    benchmark.extra_info["bytes"] = rows.nbytes + 4 * state.nbytes  # two reads look for room
    benchmark.extra_info["items"] = n * 10**7, "coordinate-rows"
    benchmark.extra_info["work"] = n
    benchmark.pedantic(scores.add_packed, (state, rows, 10**7, y), rounds=3)


@pytest.mark.benchmark(group="scores += y X, n x 1e7 bits")
def test_numba_float_update_of_one_row(benchmark):
    benchmark(peers.multiplicative_update(10**7))


@pytest.mark.benchmark(group="scores += y X, n x 1e7 bits")
def test_numpy_exp_update_of_one_row(benchmark):
    benchmark(peers.exp_update(10**7))


@pytest.mark.benchmark(group="scores += y X, n x 1e7 bits")
def test_numpy_where_update_of_one_row(benchmark):
    benchmark(peers.where_update(10**7))


def test_the_float_updates_agree():
    updates = peers.multiplicative_update(1000), peers.exp_update(1000), peers.where_update(1000)
    total = 1000 + 0.001 * (2 * (np.random.default_rng(0).random(1000) < 0.5) - 1).sum()
    np.testing.assert_allclose([update() for update in updates], total, rtol=1e-6)


@pytest.mark.benchmark(group="1e4 sparse rows of 100 entries among 1e9 coordinates, added")
def test_dpfast_add_to_a_sparse_table(benchmark):
    indptr, indices, y = hashed()
    table = scores.SparseScores(HASHED)
    benchmark.extra_info["bytes"] = indices.nbytes
    benchmark(table.add_csr, indptr, indices, None, y)
    assert len(table) == len(np.unique(indices))


@pytest.mark.benchmark(group="1e4 sparse rows of 100 entries among 1e9 coordinates, added")
def test_python_dictionary_with_a_hundredth_of_them(benchmark):
    _, indices, y = hashed()
    part, signs, table = indices[: 100 * ENTRIES].tolist(), np.repeat(y, ENTRIES).tolist(), {}

    def add():
        for j, sign in zip(part, signs, strict=False):
            table[j] = table.get(j, 0) + sign

    benchmark.extra_info["work"] = 1 / 100
    benchmark(add)


# ---- votes -------------------------------------------------------------------------------------------------------


@pytest.mark.benchmark(group="votes of 256 draws on 20000 x 1e5 bits")
def test_dpfast_votes_packed(benchmark, isa):
    rows, _ = batch(20_000, D)
    index, count = histogram(D, K)
    benchmark.extra_info["bytes"] = rows.nbytes
    votes = benchmark(scores.votes_packed, rows, D, index, count)
    np.testing.assert_array_equal(votes[:50], (2 * bits.unpack(rows[:50], D).astype(int) - 1)[:, index] @ count)


@pytest.mark.benchmark(group="votes of 256 draws on 20000 x 1e5 bits")
def test_numpy_gather_of_words(benchmark):
    rows, _ = batch(20_000, D)
    index, count = histogram(D, K)
    shift = (index % 64).astype(np.uint64)
    benchmark(lambda: (2 * (rows[:, index // 64] >> shift & np.uint64(1)).astype(np.int64) - 1) @ count)


@pytest.mark.benchmark(group="votes of 256 draws on 1e4 sparse rows of 100 entries among 1e9 coordinates")
def test_dpfast_votes_csr(benchmark):
    indptr, indices, _ = hashed()
    index, count = histogram(HASHED, K)
    benchmark.extra_info["bytes"] = indices.nbytes
    benchmark(scores.votes_csr, indptr, indices, None, index, count)


@pytest.mark.benchmark(group="votes of 256 draws on 1e4 sparse rows of 100 entries among 1e9 coordinates")
def test_numpy_searchsorted(benchmark):
    indptr, indices, _ = hashed()
    index, count = histogram(HASHED, K)

    def vote():
        place = np.minimum(np.searchsorted(index, indices), len(index) - 1)
        return np.add.reduceat(np.where(index[place] == indices, count[place], 0), indptr[:-1])

    np.testing.assert_array_equal(vote(), scores.votes_csr(indptr, indices, None, index, count))
    benchmark(vote)


# ---- a release ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mirrored", [False, True], ids=["plain", "mirrored"])
@pytest.mark.benchmark(group="a release: 4096 draws from 1e7 int32 scores")
def test_dpfast_release(benchmark, mirrored, rng):
    state = rng.integers(-500, 500, 10**7).astype(np.int32)
    benchmark.extra_info["bytes"] = state.nbytes
    assert len(benchmark(levels.sample, state, 0.01, 4096, rng, mirrored=mirrored)) == 4096


# ---- real rows ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.benchmark(group="1000 x 1e4 reals to a grid, and their extremes")
def test_dpfast_to_grid(benchmark, dtype, rng):
    x = rng.uniform(-1, 1, (1000, 10**4)).astype(dtype)
    benchmark.extra_info["bytes"] = x.nbytes
    q, low, high = benchmark(grid.to_grid, x, 16)
    np.testing.assert_array_equal(q, np.rint(x.astype(float) * 2**16))
    assert (low, high) == (x.min(), x.max())


@pytest.mark.benchmark(group="1000 x 1e4 reals to a grid, and their extremes")
def test_numpy_rint_and_extremes(benchmark, rng):
    x = rng.uniform(-1, 1, (1000, 10**4))
    benchmark(lambda: (np.rint(x * 2**16).astype(np.int32), x.min(), x.max()))


@pytest.mark.benchmark(group="scores += y q, 1000 x 1e4 grid integers")
def test_dpfast_add_grid(benchmark, isa, rng):
    q, y = rng.integers(-(2**16), 2**16, (1000, 10**4)).astype(np.int32), rng.choice([-1, 1], 1000).astype(np.int8)
    state = np.zeros(10**4, np.int64)
    benchmark.extra_info["bytes"] = q.nbytes
    benchmark(scores.add_grid, state, q, y)


@pytest.mark.benchmark(group="scores += y q, 1000 x 1e4 grid integers")
def test_numpy_integer_product(benchmark, rng):
    q, y = rng.integers(-(2**16), 2**16, (1000, 10**4)).astype(np.int32), rng.choice([-1, 1], 1000)
    benchmark(np.matmul, y, q)

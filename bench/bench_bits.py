"""Positional popcount and transposition of packed tables."""

import numpy as np
import pytest
from workloads import booleans

from dpfast.kernels import bits


@pytest.mark.parametrize("n", [10**3, 10**4, 10**5])
@pytest.mark.benchmark(group="positional popcount, n x 2000")
def test_dpfast_positional_popcount(benchmark, isa, n):
    X, _ = booleans(n, 2000)
    rows = bits.pack(X)
    benchmark.extra_info["bytes"] = rows.nbytes
    benchmark.extra_info["items"] = X.size, "coordinate-rows"
    benchmark.extra_info["work"] = n
    counts = benchmark(bits.positional_popcount, rows, 2000)
    np.testing.assert_array_equal(counts, X.sum(axis=0))


@pytest.mark.benchmark(group="positional popcount, n x 2000")
def test_numpy_sum_of_bytes(benchmark):
    X, _ = booleans(10**5, 2000)
    benchmark.extra_info["work"] = len(X)
    benchmark(X.sum, axis=0, dtype=np.int64)


@pytest.mark.parametrize(("n", "d"), [(100_000, 2000), (2000, 100_000), (1_000_000, 120), (16_000, 16_000)])
@pytest.mark.benchmark(group="transpose of n x d bits")
def test_dpfast_transpose(benchmark, isa, n, d):
    rows = np.random.default_rng(0).integers(0, 2**64, (n, bits.words(d)), dtype=np.uint64)
    rows[:, -1] &= np.uint64(2 ** (1 + (d - 1) % 64) - 1)
    benchmark.extra_info["bytes"] = 2 * rows.nbytes
    columns = benchmark(bits.transpose, rows, d)
    np.testing.assert_array_equal(bits.transpose(columns, n), rows)


@pytest.mark.benchmark(group="packing 1e5 x 2000 bytes")
def test_dpfast_pack(benchmark, isa):
    X, _ = booleans(10**5, 2000)
    benchmark.extra_info["bytes"] = X.nbytes
    packed = benchmark(bits.pack, X)
    expected = np.packbits(X, axis=1, bitorder="little")
    np.testing.assert_array_equal(packed.view(np.uint8)[:, : expected.shape[1]], expected)


@pytest.mark.benchmark(group="packing 1e5 x 2000 bytes")
def test_numpy_packbits(benchmark):
    X, _ = booleans(10**5, 2000)
    benchmark(np.packbits, X, axis=1, bitorder="little")


@pytest.mark.benchmark(group="packing 1e5 x 2000 bytes")
def test_numpy_packbits_and_the_check(benchmark):
    X, _ = booleans(10**5, 2000)

    def pack():
        assert X.max() <= 1
        return np.packbits(X, axis=1, bitorder="little")

    benchmark(pack)

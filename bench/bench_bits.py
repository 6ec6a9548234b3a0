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


@pytest.mark.benchmark(group="transpose of 1e5 x 2000 bits")
def test_dpfast_transpose(benchmark, isa):
    X, _ = booleans(10**5, 2000)
    rows = bits.pack(X)
    benchmark.extra_info["bytes"] = 2 * rows.nbytes
    columns = benchmark(bits.transpose, rows, 2000)
    np.testing.assert_array_equal(bits.transpose(columns, 10**5), rows)


@pytest.mark.benchmark(group="packing 1e5 x 2000 bytes")
def test_dpfast_pack(benchmark):
    X, _ = booleans(10**5, 2000)
    benchmark.extra_info["bytes"] = X.nbytes
    benchmark(bits.pack, X)


@pytest.mark.benchmark(group="packing 1e5 x 2000 bytes")
def test_numpy_packbits(benchmark):
    X, _ = booleans(10**5, 2000)
    benchmark(np.packbits, X, axis=1, bitorder="little")

"""Greedy cover: the counting pass, and a whole run against it."""

from fractions import Fraction

import numpy as np
import peers
import pytest
from workloads import booleans, packed_labels

from dpfast.kernels import bits, cover
from dpfast.learners.lists.covering import greedy_cover

N, M = 10**5, 2000


def packed(n, m, density=0.5):
    X, y = booleans(n, m, density)
    rows = bits.pack(X)
    return rows, bits.transpose(rows, m), packed_labels(y)


@pytest.mark.benchmark(group="positives and negatives of 1e5 x 2000")
def test_dpfast_count(benchmark, isa):
    X, y = booleans(N, M)
    _, columns, labels = packed(N, M)
    benchmark.extra_info["bytes"] = columns.nbytes
    counts = benchmark(cover.count, columns, N, labels)
    np.testing.assert_array_equal(counts, peers.count_columns(X, y)())


@pytest.mark.benchmark(group="positives and negatives of 1e5 x 2000")
def test_numpy_bitwise_count(benchmark):
    benchmark(peers.count_columns(*booleans(N, M)))


@pytest.mark.benchmark(group="positives and negatives of 1e5 x 2000")
def test_numpy_sum_of_bytes(benchmark):
    X, y = booleans(N, M)
    counts = benchmark(peers.sum_rows(X, y))
    np.testing.assert_array_equal(counts, peers.count_columns(X, y)())


def whole_run(rows, columns, labels, n, m, negations):
    """Counting and all rounds until every feature is used: the fit without packing."""
    first = cover.count(columns, n, labels)
    state = cover.Counts(rows, columns, labels, first, Fraction(1, 40), [(1, 2)], negations, 0)
    return list(greedy_cover(state, m + 1, np.random.default_rng(0)))


@pytest.mark.parametrize(("n", "m"), [(10**4, 2000), (10**5, 2000), (10**5, 8000)], ids=lambda size: f"{size:.0e}")
@pytest.mark.parametrize("density", [0.5, 0.02])
@pytest.mark.parametrize("negations", [False, True], ids=["plain", "negations"])
@pytest.mark.benchmark(group="whole run over all features, n x m")
def test_dpfast_whole_run(benchmark, n, m, density, negations):
    rows, columns, labels = packed(n, m, density)
    benchmark.extra_info["bytes"] = 2 * columns.nbytes
    rules = benchmark(whole_run, rows, columns, labels, n, m, negations)
    assert len({feature for feature, _, _ in rules}) == m + 1


@pytest.mark.parametrize(("n", "m"), [(10**4, 2000), (10**5, 2000), (10**5, 8000)], ids=lambda size: f"{size:.0e}")
@pytest.mark.benchmark(group="counting pass, n x m")
def test_dpfast_count_grows(benchmark, n, m):
    _, columns, labels = packed(n, m)
    benchmark.extra_info["bytes"] = columns.nbytes
    benchmark(cover.count, columns, n, labels)

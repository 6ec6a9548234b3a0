"""Bins of a million numbers beside numpy's search, for few edges and for many."""

import numpy as np
import pytest

from dpfast.kernels.bins import count_below

N = 1_000_000


def drawn(edges):
    rng = np.random.default_rng(0)
    return rng.normal(size=N), np.sort(rng.normal(size=edges))


@pytest.mark.parametrize("edges", [40, 250])
def test_both_sides_find_the_same_bins(edges):
    x, between = drawn(edges)
    np.testing.assert_array_equal(count_below(x, between, 255, np.uint8), np.searchsorted(between, x))


@pytest.mark.benchmark(group="bins of 1e6 numbers")
@pytest.mark.parametrize("edges", [40, 250])
def test_dpfast(benchmark, edges, isa):
    benchmark(count_below, *drawn(edges), 255, np.uint8)
    benchmark.extra_info["bytes"] = 9 * N


@pytest.mark.benchmark(group="bins of 1e6 numbers")
@pytest.mark.parametrize("edges", [40, 250])
def test_numpy_searchsorted(benchmark, edges):
    x, between = drawn(edges)
    benchmark(lambda: np.searchsorted(between, x).astype(np.uint8))

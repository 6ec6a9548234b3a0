"""Draws from weights given as doubles against numpy's multinomial and sorted uniforms."""

import numpy as np
import pytest

from dpfast.kernels import resampling

N, M = 10_000_000, 4096
GROUP = "4096 draws from 1e7 weights"


@pytest.fixture(scope="module")
def weights():
    return np.random.default_rng(0).exponential(size=N)


def by_sorting(weights, m, rng):
    """Sorted uniforms in one pass over the cumulative weights."""
    upto = np.cumsum(weights)
    return np.searchsorted(upto, np.sort(rng.random(m)) * upto[-1], side="right")


def test_all_sides_draw_from_one_law(rng):
    weights = rng.exponential(size=50)
    law = weights / weights.sum()
    sides = [
        resampling.resample(weights, 200_000, rng),
        np.bincount(by_sorting(weights, 200_000, rng), minlength=50),
        rng.multinomial(200_000, law),
    ]
    for counts in sides:
        assert np.abs(counts / 200_000 - law).max() < 6 * np.sqrt(law.max() / 200_000)


@pytest.mark.benchmark(group=GROUP)
def test_dpfast(benchmark, weights, isa, rng):
    benchmark.extra_info["bytes"] = weights.nbytes
    benchmark(resampling.draw, weights, M, rng)


@pytest.mark.benchmark(group=GROUP)
def test_numpy_sorted_uniforms(benchmark, weights, rng):
    benchmark(by_sorting, weights, M, rng)


@pytest.mark.benchmark(group=GROUP)
def test_numpy_multinomial(benchmark, weights, rng):
    benchmark.pedantic(lambda: rng.multinomial(M, weights / weights.sum()), rounds=3)

"""Capped scaling of a million weights against sorting and a root finder."""

import numpy as np
import peers
import pytest
from scipy.optimize import brentq

from dpfast.kernels import capped_scaling

N, DENSITY = 1_000_000, 0.05
GROUP = "capped scaling, 1e6 lognormal weights, density 0.05"


@pytest.fixture(scope="module")
def logs():
    return np.random.default_rng(0).normal(size=N) - 20  # the mass is above the sum, so that weights are scaled up


def by_roots(weights):
    return brentq(lambda c: np.minimum(1, c * weights).sum() - DENSITY * N, 0, 1e12 / weights.mean())


@pytest.mark.benchmark(group=GROUP)
def test_dpfast(benchmark, logs, isa):
    weights = np.exp(logs)
    benchmark.extra_info["bytes"] = weights.nbytes
    found = benchmark(capped_scaling.project, weights, DENSITY * N)
    np.testing.assert_allclose(found, peers.capped_scaling_sort(logs, DENSITY)(), rtol=1e-9)


@pytest.mark.benchmark(group=GROUP)
def test_numpy_sort(benchmark, logs):
    benchmark(peers.capped_scaling_sort(logs, DENSITY))


@pytest.mark.benchmark(group=GROUP)
def test_scipy_brentq(benchmark, logs):
    weights = np.exp(logs)
    c = benchmark.pedantic(by_roots, (weights,), rounds=3)
    np.testing.assert_allclose(c, capped_scaling.factor(weights, DENSITY * N), rtol=1e-6)

"""Capped scaling against a sort and against a root finder."""

import numpy as np
import peers
import pytest
from workloads import log_weights

from dpfast.kernels.project import capped_scaling

N = 1_000_000
CASES = [
    pytest.param(kind, density, marks=pytest.mark.benchmark(group=f"capped scaling, 1e6, {kind}, density {density}"))
    for kind in ("sigma 1", "sigma 3", "all equal", "one huge")
    for density in (0.05, 0.4)
]
each = pytest.mark.parametrize(("kind", "density"), CASES)


@each
def test_all_sides_agree(kind, density):
    entries = log_weights(kind, N)
    ours = capped_scaling(entries, density)
    np.testing.assert_allclose(peers.capped_scaling_sort(entries, density)(), ours, rtol=0, atol=1e-9)
    np.testing.assert_allclose(peers.capped_scaling_brentq(entries, density)(), ours, rtol=0, atol=1e-9)


@each
def test_dpfast_project(benchmark, isa, kind, density):
    entries = log_weights(kind, N)
    benchmark.extra_info["items"] = N, "entries"
    assert benchmark(capped_scaling, entries, density).sum() == pytest.approx(density * N)


@each
def test_dpfast_project_into_out(benchmark, kind, density):
    benchmark(capped_scaling, log_weights(kind, N), density, np.zeros(N))


@each
def test_numpy_sort(benchmark, kind, density):
    benchmark(peers.capped_scaling_sort(log_weights(kind, N), density))


@each
def test_scipy_brentq(benchmark, kind, density):
    benchmark(peers.capped_scaling_brentq(log_weights(kind, N), density))


@pytest.mark.parametrize("n", [10**4, 10**5, 10**6, 10**7])
@pytest.mark.benchmark(group="growth of capped scaling with n, sigma 1, density 0.4")
def test_dpfast_project_grows_with_n(benchmark, n):
    entries = log_weights("sigma 1", n)
    benchmark.extra_info["items"] = n, "entries"
    benchmark(capped_scaling, entries, 0.4, np.zeros(n))

"""Projection of integer scores onto a dense measure of exact mass, against numpy's sort."""

import numpy as np
import peers
import pytest

from dpfast.kernels import capped_scaling, measure
from dpfast.learners.halfspaces.measure import CAP, DenseMeasure

N, DENSITY, RATE = 1_000_000, 0.4, 4.0
SPREADS, SPARSE = (1_000, 100_000), 0.05
GROUP = "measure of density 0.4 on 1e6 rows"


@pytest.fixture(scope="module")
def margins():
    return np.clip(np.random.default_rng(0).normal(0.1, 0.3, N), -1, 1).astype(np.float32)


def by_sorting(margins):
    return peers.capped_scaling_sort(-RATE * margins.astype(float) - 100, DENSITY)  # far below the mass, so scaled up


@pytest.mark.benchmark(group=GROUP)
def test_dpfast_weights(benchmark, margins, isa):
    measure = DenseMeasure(np.ones(N, np.int8), int(DENSITY * N * CAP), RATE)
    measure.add(margins)
    weights = benchmark(measure.weights)
    np.testing.assert_allclose(weights / CAP, by_sorting(margins)(), atol=2e-3)


@pytest.mark.benchmark(group=GROUP)
def test_numpy_sort(benchmark, margins):
    benchmark(by_sorting(margins))


def scores_of(spread):
    return np.rint(np.random.default_rng(0).normal(0, spread, N)).astype(np.int32)


@pytest.mark.benchmark(group="weights of density 0.05 from 1e6 integer scores")
@pytest.mark.parametrize("spread", SPREADS)
def test_dpfast_projection(benchmark, spread):
    scores, table = scores_of(spread), measure.table(1 / spread, CAP)
    benchmark.extra_info["bytes"] = 3 * scores.nbytes
    weights = benchmark(measure.project, scores, np.ones(N, np.int8), table, int(SPARSE * N * CAP))
    assert weights.sum(dtype=np.int64) == int(SPARSE * N * CAP)
    floats = capped_scaling.project(np.exp(-scores / spread), SPARSE * N)
    np.testing.assert_allclose(weights / CAP, floats, atol=4e-3)


@pytest.mark.benchmark(group="weights of density 0.05 from 1e6 integer scores")
@pytest.mark.parametrize("spread", SPREADS)
def test_projection_of_floats(benchmark, spread):
    benchmark(capped_scaling.project, np.exp(-scores_of(spread) / spread), SPARSE * N)

"""Projection of integer scores onto a dense measure of exact mass, against numpy's sort."""

import numpy as np
import peers
import pytest

from dpfast.learners.halfspaces.measure import CAP, DenseMeasure

N, DENSITY, RATE = 1_000_000, 0.4, 4.0
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

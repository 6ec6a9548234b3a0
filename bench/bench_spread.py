"""What discovery computes from the counts of a column, against the same as operations of numpy on whole arrays."""

import numpy as np
import pytest
from reference import spread as twin

from dpfast.kernels import spread
from dpfast.kernels.spread import Grid

RANKS = np.arange(1, 32) / 32
LIMITS = 75.0, 4.0, 900.0, 900.0
GRID = False, -(2.0**44), 2.0**44, 2.0**-20


@pytest.fixture
def column():
    rng = np.random.default_rng(0)
    noisy, ends = (
        rng.normal(0, 30.0, 129),
        np.concatenate([-(2.0 ** np.arange(44, -21, -1.0)), 2.0 ** np.arange(-20, 45)]),
    )
    noisy[70:80] += 2_000.0
    return noisy, ends


def by_kernel(noisy, ends):
    grid = Grid(*GRID)
    rows, _ = spread.clear(noisy, 75.0, 120.0)
    total = float(np.add.reduce(rows))
    parts = grid.distinct(spread.divide(rows, ends, total, 128, 42.0))
    again = np.resize(noisy[70:80] / 10, len(parts) - 1)
    _, within = grid.refine(rows, ends, again, parts, *LIMITS)
    total = float(np.add.reduce(within))
    edges = grid.distinct(spread.quantiles(within, parts, total, RANKS, False))
    return spread.parting(within, parts, total, total / 200, edges)


def by_arrays(noisy, ends):
    def snap(numbers):
        return twin.snapped(numbers, *GRID)

    rows = twin.clear(noisy, 75.0, 120.0)
    total = float(rows.sum())
    parts = np.unique(snap(twin.divided(rows, ends, total, 128, 42.0)))
    again = np.resize(noisy[70:80] / 10, len(parts) - 1)
    _, within = twin.refined(rows, ends, again, parts, snap, *LIMITS)
    total = float(within.sum())
    edges = np.unique(snap(twin.quantiles(within, parts, total, RANKS, False)))
    return twin.parting(within, parts, total, total / 200, edges)


@pytest.mark.benchmark(group="edges of a column from its counts")
def test_dpfast_spread(benchmark, column):
    found = by_kernel(*column)
    assert len(found) > 16
    np.testing.assert_array_equal(found, by_arrays(*column))
    benchmark(by_kernel, *column)


@pytest.mark.benchmark(group="edges of a column from its counts")
def test_arrays(benchmark, column):
    benchmark(by_arrays, *column)

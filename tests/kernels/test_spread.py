"""Cells along a line beside the same operations on whole arrays: the same bits."""

import numpy as np
import pytest
from reference import spread as twin

from dpfast.kernels import spread
from dpfast.kernels.spread import Grid

GRIDS = [
    *((False, -np.inf, np.inf, 0.0), (False, -1e3, 1e3, 0.25), (True, -1e3, 1e3, 0.0), (True, -3.0, 5.0, 0.0)),
    (False, -(2.0**44), 2.0**44, 2.0**-20),
]
SIZES = [1, 2, 7, 8, 9, 100, 300]


def cells(rng, n):
    """Rows of cells, many of which hold none, and their ends."""
    rows = rng.exponential(100.0, n) * (rng.random(n) < rng.choice([0.1, 0.5, 1.0]))
    rows[rng.integers(n)] += 1.0
    return rows, np.cumsum(rng.exponential(size=n + 1)) - n / 2


@pytest.mark.parametrize("grid", GRIDS)
def test_numbers_of_a_grid_are_those_of_numpy(grid, rng):
    snap = Grid(*grid)
    for n in (0, 1, 5, 200):
        numbers = np.concatenate([rng.normal(0, 10.0 ** rng.integers(-7, 5), n), rng.integers(-4, 4, n) / 4])
        wanted = twin.snapped(numbers, *grid)
        np.testing.assert_array_equal(snap.snap(numbers), wanted)
        np.testing.assert_array_equal(snap.distinct(numbers), np.unique(wanted))
        np.testing.assert_array_equal(spread.distinct(numbers), np.unique(numbers))
    for parts in (1, 8, 512):
        low, high = np.sort(rng.normal(0, 10, 2)).tolist()
        np.testing.assert_array_equal(snap.steps(low, high, parts), np.unique(snap.snap(twin.steps(low, high, parts))))


@pytest.mark.parametrize("n", SIZES)
def test_cells_and_edges_are_those_of_whole_arrays(n, rng):
    for _ in range(30):
        noisy = rng.normal(0, 30.0, n) + 200.0 * (rng.random(n) < 0.2)
        found, held = spread.clear(noisy, 75.0, 120.0)
        np.testing.assert_array_equal(found, twin.clear(noisy, 75.0, 120.0))
        assert held == np.count_nonzero(found)
        rows, ends = cells(rng, n)
        total = float(rows.sum())
        for parts, least in ((128, 1.0), (10, 50.0), (0, 1.0)):
            wanted = twin.divided(rows, ends, total, parts, least)
            np.testing.assert_array_equal(spread.divide(rows, ends, total, parts, least), wanted)
        ranks = np.sort(np.concatenate([rng.random(20), [0.0, 0.5, 1.0]]))
        edges = np.unique(np.concatenate([rng.choice(ends, 5), rng.uniform(ends[0] - 1, ends[-1] + 1, 20)]))
        for whole in (False, True):
            wanted = twin.quantiles(rows, ends, total, ranks, whole)
            np.testing.assert_array_equal(spread.quantiles(rows, ends, total, ranks, whole), wanted)
        for some in (0.0, total / 200, total / 3):
            wanted = twin.parting(rows, ends, total, some, edges)
            np.testing.assert_array_equal(spread.parting(rows, ends, total, some, edges), wanted)


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("grid", GRIDS)
def test_a_look_confirms_cells_as_on_whole_arrays(grid, n, rng):
    snap = Grid(*grid)
    for parts in (0, 8, 300, 1_000):
        rows, ends = cells(rng, n)
        part_ends = snap.distinct(np.concatenate([spread.divide(rows, ends, float(rows.sum()), parts, 0.01), ends[:1]]))
        noisy = rng.normal(0, 10.0, len(part_ends) - 1) + rng.choice([0.0, 30.0], len(part_ends) - 1)
        for before in (400.0, np.inf):
            limits = 25.0, 4.0, 100.0, before
            found = snap.refine(rows, ends, noisy, part_ends, *limits)
            for one, other in zip(found, twin.refined(rows, ends, noisy, part_ends, snap.snap, *limits), strict=True):
                np.testing.assert_array_equal(one, other)


def test_cells_that_are_none_are_refused():
    rows, ends, grid = np.ones(3), np.arange(4.0), Grid(False, -1.0, 1.0)
    ranks, noisy = np.array([0.5]), np.zeros(2)
    for wrong in (rows[:2], np.zeros(0), np.ones(5)):
        with pytest.raises(ValueError, match="one more end"):
            spread.quantiles(wrong, ends, 3.0, ranks, False)
    for verb in (
        *(lambda e: spread.divide(rows, e, 3.0, 8, 1.0), lambda e: spread.quantiles(rows, e, 3.0, ranks, False)),
        *(lambda e: spread.parting(rows, e, 3.0, 0.1, ranks), lambda e: grid.refine(rows, e, noisy, ranks, 1, 1, 1, 1)),
    ):
        for wrong in (ends[::-1].copy(), np.zeros(4), np.array([0, 1, np.nan, 3])):
            with pytest.raises(ValueError, match="rise"):
                verb(wrong)
    with pytest.raises(ValueError, match="one more end"):
        grid.refine(rows, ends, noisy, np.arange(2.0), 1, 1, 1, 1)
    with pytest.raises(ValueError, match="rise"):
        grid.refine(rows, ends, noisy, np.zeros(3), 1, 1, 1, 1)
    for wrong in ((3.0, 8, 0.0), (3.0, 1 << 30, 1.0)):
        with pytest.raises(ValueError, match="least must be above 0"):
            spread.divide(rows, ends, *wrong)
    for wrong in ((1.0, 0.0, 0.0), (0.0, 1.0, -1.0), (np.nan, 1.0, 0.0)):
        with pytest.raises(ValueError, match="must be below high"):
            Grid(True, *wrong)
    for wrong in ((0.0, 1.0, 0), (0.0, np.inf, 4), (0.0, 1.0, 1 << 30)):
        with pytest.raises(ValueError, match="parts must number"):
            grid.steps(*wrong)


@pytest.mark.parametrize("total", [3.0, 1e-9, 0.0, -1.0, np.nan, np.inf])
def test_parts_of_rows_that_do_not_add_up_are_at_most_twice_as_many(total):
    for rows in (np.ones(3), np.full(3, -1.0), np.full(3, np.nan), np.full(3, np.inf)):
        assert len(spread.divide(rows, np.arange(4.0), total, 8, 1e-9)) <= 2 * 8 + 2 * 3

"""Leaves of a hundred trees beside the look-ups of plain columns, and beside numpy."""

import numpy as np
import pytest

from dpfast.kernels import codes, trees

N, COLUMNS, TREES, DEPTH = 200_000, 39, 100, 5
GROUP = "leaves of 100 trees of depth 5, 2e5 rows of 39 columns"


def drawn():
    rng = np.random.default_rng(0)
    shape = TREES, (1 << DEPTH) - 1
    columns = list(rng.integers(0, 256, (COLUMNS, N), dtype=np.uint8))
    return columns, rng.integers(0, COLUMNS, shape, dtype=np.uint32), rng.integers(0, 256, shape, dtype=np.uint8)


def by_levels(columns, asked, threshold):
    """What numpy does: all rows go down a tree together, level by level."""
    table, rows = np.stack(columns), np.arange(len(columns[0]))
    found = np.empty((len(asked), len(rows)), np.uint8)
    for t in range(len(asked)):
        node = np.zeros(len(rows), np.int64)
        for _ in range(DEPTH):
            node = 2 * node + 1 + (table[asked[t][node], rows] > threshold[t][node])
        found[t] = node - asked.shape[1]
    return found


def test_both_sides_find_the_same_leaves():
    columns, asked, threshold = drawn()
    some = [column[:2000] for column in columns]
    np.testing.assert_array_equal(trees.leaves(some, asked, threshold), by_levels(some, asked, threshold))


@pytest.mark.benchmark(group=GROUP)
def test_dpfast(benchmark, isa):
    columns, asked, threshold = drawn()
    benchmark(trees.leaves, columns, asked, threshold)
    benchmark.extra_info["rows * trees / s"] = N * TREES / benchmark.stats["median"] if benchmark.stats else None


@pytest.mark.benchmark(group=GROUP)
def test_numpy_by_levels(benchmark):
    benchmark.pedantic(by_levels, drawn(), rounds=1)


@pytest.mark.benchmark(group=GROUP)
def test_looking_up_the_plain_columns_once(benchmark):
    columns, _, _ = drawn()
    table = codes.Columns(columns, [256] * COLUMNS)
    entries = np.random.default_rng(1).integers(-1000, 1000, (256 * COLUMNS, 1), dtype=np.int32)
    benchmark(codes.margins, table, entries)

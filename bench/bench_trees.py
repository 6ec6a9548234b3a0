"""Leaves of a hundred trees beside the look-ups of plain columns, and thresholds of their nodes; both beside numpy."""

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


# ---- thresholds at random quantiles of 4,096 rows ------------------------------------------------------------------

THRESHOLDS = "thresholds of 100 trees of depth 6, 4,096 rows of 39 columns"


def nodes():
    rng = np.random.default_rng(0)
    shape = TREES, (1 << 6) - 1
    columns = list(rng.integers(0, 256, (COLUMNS, 4096), dtype=np.uint8))
    return columns, rng.integers(0, COLUMNS, shape, dtype=np.uint32), rng.random(shape)


def by_sorting(columns, asked, quantile):
    """The bytes of each node are sorted."""
    threshold = np.zeros(asked.shape, np.uint8)
    for t in range(len(asked)):
        node = np.zeros(len(columns[0]), np.int64)
        for q in range(asked.shape[1]):
            here, column = node == q, columns[asked[t, q]]
            inside = np.sort(column[here] if here.any() else column)
            byte = int(inside[int(len(inside) * quantile[t, q])])
            threshold[t, q] = byte - (byte == inside[-1] and byte > inside[0])
            node[here] = 2 * q + 1 + (column[here] > threshold[t, q])
    return threshold


def test_both_sides_find_the_same_thresholds():
    columns, asked, quantile = nodes()
    found, _ = trees.thresholds(columns, asked[:9], quantile[:9])
    np.testing.assert_array_equal(found, by_sorting(columns, asked[:9], quantile[:9]))


@pytest.mark.benchmark(group=THRESHOLDS)
def test_dpfast_thresholds(benchmark):
    benchmark(trees.thresholds, *nodes())


@pytest.mark.benchmark(group=THRESHOLDS)
def test_numpy_by_sorting(benchmark):
    benchmark.pedantic(by_sorting, nodes(), rounds=1)

import numpy as np
import pytest

from dpfast.kernels import trees


def walked(columns, asked, threshold):
    """The leaves, one row after another."""
    nodes = asked.shape[1]
    found = np.zeros((len(asked), len(columns[0])), np.uint8)
    for t, i in np.ndindex(*found.shape):
        q = 0
        while q < nodes:
            q = 2 * q + 1 + int(columns[asked[t, q]][i] > threshold[t, q])
        found[t, i] = q - nodes
    return found


def drawn(rng, n, depth, p=5, count=3):
    shape = count, (1 << depth) - 1
    columns = list(rng.integers(0, 256, (p, n), dtype=np.uint8))
    return columns, rng.integers(0, p, shape, dtype=np.uint32), rng.integers(0, 256, shape, dtype=np.uint8)


@pytest.mark.parametrize("depth", range(1, trees.DEEPEST + 1))
def test_leaves_are_those_of_a_walk_from_the_root(depth, rng, each_isa):
    for n in (1, 63, 600):
        given = drawn(rng, n, depth)
        for found in each_isa(lambda given=given: trees.leaves(*given)):
            np.testing.assert_array_equal(found, walked(*given))


def test_extreme_bytes_and_thresholds(each_isa):
    column, nodes = np.array([0, 1, 127, 128, 254, 255], np.uint8), np.zeros((4, 1), np.uint32)
    threshold = np.array([[0], [127], [128], [255]], np.uint8)
    for found in each_isa(lambda: trees.leaves([column], nodes, threshold)):
        np.testing.assert_array_equal(found, column > threshold)


def test_no_rows_and_no_trees(rng):
    assert trees.leaves(*drawn(rng, 0, 2)).shape == (3, 0)
    assert trees.leaves(*drawn(rng, 4, 2, count=0)).shape == (0, 4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, a, t: (c, a, t[:1]), r"threshold must have shape \(3, 3\)"),
        (lambda c, a, t: (c, a[:, :2].copy(), t[:, :2].copy()), r"trees must have 2\*\*D - 1 nodes"),
        (lambda c, a, t: (c, a[:, :0].copy(), t[:, :0].copy()), r"trees must have 2\*\*D - 1 nodes"),
        (lambda c, a, t: ([], a, t), "columns must be 1 to 65536, got 0"),
        (lambda c, a, t: ([c[0], c[1][:3]], a, t), "column 1 must have 9 entries as the first has, got 3"),
        (lambda c, a, t: (c[:2], a + np.uint32(2), t), "asked must be below the number of columns, 2, got"),
        (lambda c, a, t: ([c[0].astype(np.int8)], a * np.uint32(0), t), "Buffer dtype mismatch|mismatch"),
        (lambda c, a, t: ([np.repeat(c[0], 2)[::2]], a * np.uint32(0), t), "contiguous"),
    ],
)
def test_what_does_not_fit_is_refused(change, message, rng):
    with pytest.raises(ValueError, match=message):
        trees.leaves(*change(*drawn(rng, 9, 2)))


# ---- thresholds ------------------------------------------------------------------------------------------------------


def at_quantiles(columns, asked, quantile):
    """Thresholds and leaf counts, one node after another, by sorting."""
    table, nodes = np.stack(columns), asked.shape[1]
    threshold, held = np.zeros(asked.shape, np.uint8), np.zeros((len(asked), nodes + 1), np.uint32)
    for t in range(len(asked)):
        node = np.zeros(table.shape[1], np.int64)
        for q in range(nodes):
            here, column = node == q, table[asked[t, q]]
            inside = np.sort(column[here] if here.any() else column)
            byte = int(inside[int(len(inside) * quantile[t, q])])
            threshold[t, q] = byte - (byte == inside[-1] and byte > inside[0])
            node[here] = 2 * q + 1 + (column[here] > threshold[t, q])
        held[t] = np.bincount(node - nodes, minlength=nodes + 1)
    return threshold, held


def nodes_of(rng, n, depth, p=5, count=3, most=256):
    columns, asked, _ = drawn(rng, n, depth, p, count)
    return [column % np.uint8(most) if most < 256 else column for column in columns], asked, rng.random(asked.shape)


@pytest.mark.parametrize("depth", range(1, trees.DEEPEST + 1))
@pytest.mark.parametrize("most", [1, 2, 7, 256])
def test_thresholds_are_bytes_at_quantiles_of_the_rows_of_a_node(depth, most, rng):
    for n in (1, 5, 300):
        given = nodes_of(rng, n, depth, most=most)
        for found, wanted in zip(trees.thresholds(*given), at_quantiles(*given), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_rows_of_leaves_are_those_that_the_thresholds_lead_there(rng, each_isa):
    columns, asked, quantile = nodes_of(rng, 900, 4)
    threshold, held = trees.thresholds(columns, asked, quantile)
    for leaf in each_isa(lambda: trees.leaves(columns, asked, threshold)):
        np.testing.assert_array_equal(held, [np.bincount(each, minlength=16) for each in leaf])


def test_extreme_quantiles(rng):
    column, asked = [np.array([3, 3, 9, 9, 20], np.uint8)], np.zeros((4, 1), np.uint32)
    found, held = trees.thresholds(column, asked, np.array([[0.0], [0.39], [0.4], [np.nextafter(1, 0)]]))
    assert found.tolist() == [[3], [3], [9], [19]]
    assert held.tolist() == [[2, 3], [2, 3], [4, 1], [4, 1]]
    assert [each.shape for each in trees.thresholds(column, asked[:0], np.zeros((0, 1)))] == [(0, 1), (0, 2)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, a, q: (c, a, q[:1]), r"quantile must have shape \(3, 3\)"),
        (lambda c, a, q: (c, a[:, :2].copy(), q[:, :2].copy()), r"trees must have 2\*\*D - 1 nodes"),
        (lambda c, a, q: ([], a, q), "columns must be 1 to 65536, got 0"),
        (lambda c, a, q: ([column[:0] for column in c], a, q), "columns must have 1 to 4294967295 entries, got 0"),
        (lambda c, a, q: (c[:2], a + np.uint32(2), q), "asked must be below the number of columns, 2, got"),
        (lambda c, a, q: (c, a, q + 1), "quantile must be at least 0 and below 1, got 1"),
        (lambda c, a, q: (c, a, q - 1), "quantile must be at least 0 and below 1, got -"),
        (lambda c, a, q: (c, a, q * np.nan), "quantile must be at least 0 and below 1, got nan"),
    ],
)
def test_thresholds_of_what_does_not_fit_are_refused(change, message, rng):
    with pytest.raises(ValueError, match=message):
        trees.thresholds(*change(*nodes_of(rng, 9, 2)))

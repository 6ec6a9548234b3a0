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

"""Mistakes of the members of a net, against a matrix product with as many of them written out."""

import numpy as np
import peers
import pytest

from dpfast.kernels.net import Mistakes, Net, grid

NET = Net(4, 0.01)  # 42,875,000 members
ROWS, LINES, THRESHOLD = 1759, 64, 655.5 / 2**16  # between two places of the grid: what is compared with, exactly
FIRST = NET.lines // 2


def rows(n):
    rng = np.random.default_rng(n)
    return grid(rng.normal((1, 0, 0, 0), size=(n, 4)), np.ones(n, np.int8), NET.grid_bits)


def members(lines):
    p = NET.vectors(np.arange(2 * NET.side * FIRST, 2 * NET.side * (FIRST + lines)))
    return p / np.linalg.norm(p, axis=1, keepdims=True)


def test_both_sides_count_alike():
    ours = Mistakes(NET, rows(ROWS), THRESHOLD).count(FIRST, FIRST + 4)
    theirs = peers.count_mistakes(rows(ROWS) / 2**NET.grid_bits, members(4), THRESHOLD)()
    assert np.abs(ours.astype(int) - theirs).sum() <= 4  # two members that floats of single precision misjudge


@pytest.mark.benchmark(group=f"{2 * NET.side * LINES:,} members of 4 coordinates on {ROWS} rows")
def test_dpfast_count(benchmark, isa):
    mistakes = Mistakes(NET, rows(ROWS), THRESHOLD)
    benchmark.extra_info["items"] = 2 * NET.side * LINES * ROWS, "members x rows"
    benchmark(mistakes.count, FIRST, FIRST + LINES)


@pytest.mark.benchmark(group=f"{2 * NET.side * LINES:,} members of 4 coordinates on {ROWS} rows")
def test_numpy_product(benchmark):
    benchmark(peers.count_mistakes(rows(ROWS) / 2**NET.grid_bits, members(LINES), THRESHOLD))


@pytest.mark.parametrize("n", [10, 100, 1000, 10**4, 10**5])
@pytest.mark.benchmark(group="growth with the rows, 8 lines")
def test_dpfast_count_grows_with_n(benchmark, n):
    benchmark.extra_info["items"] = 8 * n, "lines x rows"
    benchmark(Mistakes(NET, rows(n), THRESHOLD).count, FIRST, FIRST + 8)

"""Exact exponential draws against the lines they replace."""

import numpy as np
import peers
import pytest
from workloads import scores

from dpfast.kernels import levels

EXPONENT = 0.01
N_DRAW, N_RESAMPLE, M = 1_000_000, 10_000_000, 4096


def test_both_sides_draw_from_one_law(rng):
    small = scores(2000)
    ours = levels.sample(small, EXPONENT, 200_000, rng)
    theirs = [peers.softmax_draw(small, EXPONENT, rng)() for _ in range(2000)]
    spread = small[ours].std() / np.sqrt(len(theirs))
    assert abs(small[ours].mean() - small[theirs].mean()) < 6 * spread


@pytest.mark.benchmark(group="one draw, 1e6 int32 scores")
def test_dpfast_draw(benchmark, isa, rng):
    table = scores(N_DRAW)
    benchmark.extra_info["bytes"] = table.nbytes
    benchmark(levels.draw, table, EXPONENT, rng)


@pytest.mark.benchmark(group="one draw, 1e6 int32 scores")
def test_opendp_noisy_max(benchmark):
    benchmark(peers.noisy_max(scores(N_DRAW), EXPONENT))


@pytest.mark.benchmark(group="one draw, 1e6 int32 scores")
def test_numpy_softmax(benchmark, rng):
    benchmark(peers.softmax_draw(scores(N_DRAW), EXPONENT, rng))


@pytest.mark.benchmark(group="4096 draws, 1e7 int32 scores")
def test_dpfast_resample(benchmark, isa, rng):
    table = scores(N_RESAMPLE)
    benchmark.extra_info["bytes"] = table.nbytes
    _, counts = benchmark(levels.resample, table, EXPONENT, M, rng)
    assert counts.sum() == M


@pytest.mark.benchmark(group="4096 draws, 1e7 int32 scores")
def test_numpy_multinomial(benchmark, rng):
    assert benchmark(peers.multinomial(scores(N_RESAMPLE), EXPONENT, M, rng)).sum() == M


@pytest.mark.parametrize("n", [10**4, 10**5, 10**6, 10**7])
@pytest.mark.benchmark(group="growth of a draw with n")
def test_dpfast_draw_grows_with_n(benchmark, n, rng):
    table = scores(n)
    benchmark.extra_info["bytes"] = table.nbytes
    benchmark(levels.draw, table, EXPONENT, rng)

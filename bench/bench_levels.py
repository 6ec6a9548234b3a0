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
    sides = {
        "softmax": [peers.softmax_draw(small, EXPONENT, rng)() for _ in range(2000)],
        "sorted draws": peers.sorted_draws(small, EXPONENT, 2000, rng)(),
    }
    for name, theirs in sides.items():
        spread = small[ours].std() / np.sqrt(len(theirs))
        assert abs(small[ours].mean() - small[theirs].mean()) < 6 * spread, name


def test_diffprivlib_draws_from_the_same_law(rng):
    small = scores(2000)
    draw = peers.exponential(small, EXPONENT)
    ours, theirs = levels.sample(small, EXPONENT, 200_000, rng), [draw() for _ in range(500)]
    assert abs(small[ours].mean() - small[theirs].mean()) < 6 * small[ours].std() / np.sqrt(len(theirs))


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


@pytest.mark.benchmark(group="one draw, 1e6 int32 scores")
def test_diffprivlib_exponential(benchmark):
    draw = peers.exponential(scores(N_DRAW), EXPONENT)
    benchmark.pedantic(draw, rounds=5)


@pytest.mark.benchmark(group="4096 draws, 1e7 int32 scores")
def test_dpfast_sample(benchmark, isa, rng):
    table = scores(N_RESAMPLE)
    benchmark.extra_info["bytes"] = table.nbytes
    assert len(benchmark(levels.sample, table, EXPONENT, M, rng)) == M


@pytest.mark.benchmark(group="4096 draws, 1e7 int32 scores")
def test_numpy_multinomial(benchmark, rng):
    assert benchmark(peers.multinomial(scores(N_RESAMPLE), EXPONENT, M, rng)).sum() == M


@pytest.mark.benchmark(group="4096 draws, 1e7 int32 scores")
def test_numpy_cumsum_and_searchsorted(benchmark, rng):
    benchmark(peers.sorted_draws(scores(N_RESAMPLE), EXPONENT, M, rng))

"""A round of experts - an update of all weights and a draw - against the lines it replaces."""

import numpy as np
import peers
import pytest

from dpfast.kernels import multiplicative_weights as weights

D = 10_000_000
ETA = 0.01
TRAFFIC = 4 * D + 8 * D  # losses read, totals read and written


def losses(d, dtype=np.float32):
    return np.random.default_rng(d).random((1, d), dtype=dtype)


def one_round(state, rows, rng):
    def play():
        state.draw(rng)
        state.add(rows)

    return play


@pytest.mark.benchmark(group="a round of 1e7 experts: float32 losses, one draw")
def test_dpfast_round(benchmark, isa, rng):
    x = losses(D)
    state, rows = weights.Weights(D, ETA / 2**16), weights.dense(x)
    benchmark.extra_info["bytes"] = TRAFFIC
    benchmark(one_round(state, rows, rng))
    assert (state.totals() % np.rint(x[0] * 2**16).clip(1) == 0).all()  # that row, some number of times


@pytest.mark.benchmark(group="a round of 1e7 experts: float32 losses, one draw")
def test_dpfast_round_of_packed_losses(benchmark, rng):
    rows = weights.packed(rng.integers(0, 2**64, (1, D // 64), dtype=np.uint64), D, bits=16)
    benchmark.extra_info["bytes"] = 8 * D + D // 8
    benchmark(one_round(weights.Weights(D, ETA / 2**16), rows, rng))


@pytest.mark.benchmark(group="a round of 1e7 experts: float32 losses, one draw")
def test_numpy_round(benchmark, rng):
    benchmark(peers.experts_round(losses(D)[0], ETA, rng))


@pytest.mark.benchmark(group="a round of 1e7 experts: float32 losses, one draw")
def test_numba_float_update_without_a_draw(benchmark):
    benchmark(peers.multiplicative_update(D))


@pytest.mark.benchmark(group="a round of 1e7 experts: float32 losses, one draw")
def test_numpy_read_and_add_alone(benchmark):
    total, x = np.zeros(D, np.float32), losses(D)[0]
    benchmark(np.add, total, x, out=total)


@pytest.mark.benchmark(group="a round of 1e7 experts, 100 of them touched")
def test_dpfast_sparse_round(benchmark, rng):
    touched = np.arange(0, D, D // 100)
    rows = weights.csr(np.array([0, len(touched)]), touched, rng.random(len(touched)), D)
    benchmark(one_round(weights.Weights(D, ETA / 2**16), rows, rng))


@pytest.mark.parametrize("d", [10, 1000, 100_000])
@pytest.mark.benchmark(group="1000 rounds of d experts, played at once")
def test_dpfast_play(benchmark, d, rng):
    rows = weights.dense(np.random.default_rng(d).random((1000, d), dtype=np.float32))
    benchmark.extra_info["bytes"] = 4 * rows.shape[0] * d
    benchmark(lambda: weights.Weights(d, ETA / 2**16).play(rows, rng))


@pytest.mark.benchmark(group="1000 rounds of d experts, played at once")
def test_numpy_loop_over_10_experts(benchmark, rng):
    play = peers.experts_round(losses(10)[0], ETA, rng)
    benchmark(lambda: [play() for _ in range(1000)])

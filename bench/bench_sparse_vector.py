"""AboveThreshold over a long run of rounds, against fresh noise in every round."""

import numpy as np
import pytest
from scipy import stats

from dpfast.kernels import noise, sparse_vector
from dpfast.mechanisms.above_threshold import AboveThreshold

SCALE = 40
LONG, SHORT = (10**9, 10**4), (10**6, 10)  # rounds and mistakes


def mistakes(rounds, number):
    return np.sort(np.random.default_rng(1).integers(0, rounds, number))


def runs(rounds, number):
    """Counts and the number of rounds at each."""
    return np.arange(number + 1), np.diff(mistakes(rounds, number), prepend=0, append=rounds)


def round_by_round(counts, lengths, threshold, draw, block=1 << 16):
    """The round of the first noisy count that reaches the threshold, or None."""
    each = np.repeat(counts, lengths)
    for start in range(0, len(each), block):
        passed = each[start : start + block] + draw(min(block, len(each) - start)) >= threshold
        if passed.any():
            return start + int(passed.argmax())
    return None


def exact_noise(rng):
    return lambda size: noise.discrete_laplace(SCALE, size, rng)


def float_noise(rng):
    return lambda size: np.rint(rng.laplace(scale=SCALE, size=size))


def test_both_sides_stop_in_the_same_rounds(rng):
    counts, lengths = runs(2000, 10)
    ours = [sparse_vector.Tests(300, SCALE).run(counts, lengths, rng) for _ in range(2000)]
    theirs = [round_by_round(counts, lengths, 300, exact_noise(rng)) for _ in range(2000)]
    ours, theirs = ([2000 if stop is None else stop for stop in stops] for stops in (ours, theirs))
    assert stats.ks_2samp(ours, theirs).pvalue > 1e-6


@pytest.mark.benchmark(group="sparse vector, 1e9 rounds, 1e4 mistakes")
def test_dpfast_long_run(benchmark, rng):
    at = mistakes(*LONG)
    benchmark.extra_info["items"] = LONG[0], "rounds"

    def run():
        assert AboveThreshold(12_000, 1 / SCALE, monotone="running", rng=rng).run(LONG[0], at) is None

    benchmark(run)


@pytest.mark.benchmark(group="sparse vector, 1e6 rounds, 10 mistakes")
def test_dpfast_short_run(benchmark, rng):
    counts, lengths = runs(*SHORT)
    benchmark.extra_info["items"] = SHORT[0], "rounds"
    assert benchmark(lambda: sparse_vector.Tests(2000, SCALE).run(counts, lengths, rng)) is None


@pytest.mark.benchmark(group="sparse vector, 1e6 rounds, 10 mistakes")
def test_exact_noise_each_round(benchmark, rng):
    counts, lengths = runs(*SHORT)
    assert benchmark(round_by_round, counts, lengths, 2000, exact_noise(rng)) is None


@pytest.mark.benchmark(group="sparse vector, 1e6 rounds, 10 mistakes")
def test_float_noise_each_round(benchmark, rng):
    counts, lengths = runs(*SHORT)
    assert benchmark(round_by_round, counts, lengths, 2000, float_noise(rng)) is None


@pytest.mark.benchmark(group="sparse vector, 1e5 changes of the count")
def test_dpfast_waits(benchmark, rng):
    counts, lengths = np.tile([0, 1], 50_000), np.full(100_000, 10**4)
    benchmark.extra_info["items"] = len(counts), "waits"
    assert benchmark(lambda: sparse_vector.Tests(30 * SCALE, SCALE).run(counts, lengths, rng)) is None

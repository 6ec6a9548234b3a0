"""Learners of experts, of finite classes and of statistical queries against plain numpy."""

import numpy as np
import peers
import pytest
from workloads import booleans

from dpfast import BitMatrix, FiniteClassLearner, LinearLearner, RandomizedWeightedMajority, StatisticalQueryOracle

ROUNDS, EXPERTS = 2000, 1000


@pytest.mark.benchmark(group="2000 rounds of 1000 experts")
def test_dpfast_play(benchmark, rng):
    losses = rng.random((ROUNDS, EXPERTS), dtype=np.float32)
    benchmark.extra_info["bytes"] = losses.nbytes
    benchmark(lambda: RandomizedWeightedMajority(horizon=ROUNDS, random_state=0).play(losses))


@pytest.mark.benchmark(group="2000 rounds of 1000 experts")
def test_dpfast_act_and_observe(benchmark, rng):
    losses = rng.random((ROUNDS, EXPERTS), dtype=np.float32)

    def play():
        learner = RandomizedWeightedMajority(horizon=ROUNDS, n_experts=EXPERTS, random_state=0)
        for row in losses:
            learner.act()
            learner.observe(row)

    benchmark(play)


@pytest.mark.benchmark(group="2000 rounds of 1000 experts")
def test_numpy_rounds(benchmark, rng):
    play = peers.experts_round(rng.random(EXPERTS), 0.01, rng)
    benchmark(lambda: [play() for _ in range(ROUNDS)])


@pytest.mark.benchmark(group="a linear learner on 10000 x 1000 bits")
def test_dpfast_linear_learner(benchmark):
    X, y = booleans(10_000, 1000)
    table = BitMatrix(X)
    benchmark(lambda: LinearLearner(random_state=0).fit(table, y))


@pytest.mark.benchmark(group="one of 1e5 hypotheses on 1000 points, 1e4 examples")
def test_dpfast_finite_class(benchmark, rng):
    H, points = rng.random((100_000, 1000)) < 0.5, rng.integers(0, 1000, 10_000)
    table = BitMatrix(H)
    learner = benchmark(lambda: FiniteClassLearner(50.0, hypotheses=table, random_state=0).fit(points, H[77, points]))
    assert learner.hypothesis_ == 77


@pytest.mark.benchmark(group="one of 1e5 hypotheses on 1000 points, 1e4 examples")
def test_numpy_errors_and_choice(benchmark, rng):
    H, points = rng.random((100_000, 1000)) < 0.5, rng.integers(0, 1000, 10_000)
    y = H[77, points]

    def learn():
        weight = np.bincount(points, np.where(y, -1, 1), minlength=1000)
        errors = y.sum() + H @ weight
        weights = np.exp(-25 * (errors - errors.min()))
        return rng.choice(len(H), p=weights / weights.sum())

    assert benchmark(learn) == 77


@pytest.mark.benchmark(group="100 statistical queries on 1e6 rows")
def test_dpfast_statistical_queries(benchmark, rng):
    X = np.asfortranarray(rng.random((1_000_000, 4)))

    def ask():
        oracle = StatisticalQueryOracle(X, n_queries=100, random_state=0)
        return oracle.answer_all([lambda X, j=j: X[:, j % 4] for j in range(100)])

    answers = benchmark.pedantic(ask, rounds=3)
    np.testing.assert_allclose(answers[:4], X.mean(axis=0), atol=1e-3)


@pytest.mark.benchmark(group="100 statistical queries on 1e6 rows")
def test_numpy_means_without_noise(benchmark, rng):
    X = np.asfortranarray(rng.random((1_000_000, 4)))
    benchmark.pedantic(lambda: [X[:, j % 4].mean() for j in range(100)], rounds=3)

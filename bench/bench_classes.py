"""Littlestone dimension and restriction counts over bit sets against the lines they replace."""

import numpy as np
import peers
import pytest

from dpfast.kernels import bits, classes
from dpfast.littlestone import FiniteClass, LittlestoneLearner, PointFunctions, Thresholds

N, POINTS = 512, 64


def random_table(n=N, points=POINTS, density=0.5):
    return np.unique(np.random.default_rng((n, points)).random((n, points)) < density, axis=0)


def packed(table):
    members = bits.pack(np.ones((1, len(table)), np.uint8))[0]
    return bits.pack(np.ascontiguousarray(table.T).view(np.uint8)), members


def test_both_sides_find_one_dimension():
    for n, points, density in [(N, POINTS, 0.5), (N, POINTS, 0.1), (100, 9, 0.3)]:
        table = random_table(n, points, density)
        assert FiniteClass(table).littlestone_dimension() == peers.littlestone_dimension(table)()


@pytest.mark.benchmark(group="LDim of 512 random hypotheses on 64 points")
def test_dpfast_dimension(benchmark, isa):
    columns, members = packed(random_table())
    dimension, _ = benchmark(lambda: classes.dimension(columns, members, classes.memo(len(members))))
    assert dimension in (8, 9)


@pytest.mark.benchmark(group="LDim of 512 random hypotheses on 64 points")
def test_python_integers_dimension(benchmark):
    assert benchmark.pedantic(peers.littlestone_dimension(random_table()), rounds=3) in (8, 9)


@pytest.mark.benchmark(group="LDim of 512 hypotheses on 64 points, a tenth of them ones")
def test_dpfast_dimension_of_a_sparse_table(benchmark, isa):
    columns, members = packed(random_table(density=0.1))
    benchmark(lambda: classes.dimension(columns, members, classes.memo(len(members))))


@pytest.mark.benchmark(group="LDim of 512 hypotheses on 64 points, a tenth of them ones")
def test_python_integers_dimension_of_a_sparse_table(benchmark):
    benchmark.pedantic(peers.littlestone_dimension(random_table(density=0.1)), rounds=3)


@pytest.mark.parametrize("p", [2, 8, 54], ids=["p=2", "p=8", "p=2d^3"])
@pytest.mark.benchmark(group="decomposition dimension of 508 triples of 64 points, LDim 3")
def test_dpfast_decomposition_dimension(benchmark, p):
    rng = np.random.default_rng(0)
    table = np.array([np.isin(np.arange(POINTS), rng.choice(POINTS, 3, replace=False)) for _ in range(N)])
    assert FiniteClass(table).littlestone_dimension() == 3
    found = benchmark.pedantic(lambda: FiniteClass(table).decomposition_dimension(p), rounds=3)
    assert found == (0 if p == 54 else 3)


@pytest.mark.benchmark(group="counts at 10,000 points of 100,000 hypotheses")
def test_dpfast_counts(benchmark, isa):
    columns = np.random.default_rng(0).integers(1 << 63, size=(10_000, 100_000 // 64), dtype=np.uint64)
    benchmark.extra_info["bytes"] = columns.nbytes
    benchmark(classes.counts, columns, columns[17])


@pytest.mark.benchmark(group="counts at 10,000 points of 100,000 hypotheses")
def test_numpy_counts(benchmark):
    columns = np.random.default_rng(0).integers(1 << 63, size=(10_000, 100_000 // 64), dtype=np.uint64)
    ones = benchmark(lambda: np.bitwise_count(columns & columns[17]).sum(axis=1))
    np.testing.assert_array_equal(ones, classes.counts(columns, columns[17]))


@pytest.mark.parametrize("H", [PointFunctions(2**40), Thresholds(256)], ids=["point-functions", "thresholds"])
@pytest.mark.benchmark(group="LittlestoneLearner at the n it names")
def test_dpfast_fit(benchmark, H):
    learner = LittlestoneLearner(1.0, 1e-6, H, 0.1, random_state=0)
    X = np.random.default_rng(0).integers(256, size=learner.estimate().n_samples)
    y = X == 7 if isinstance(H, PointFunctions) else X >= 100
    benchmark.pedantic(learner.fit, (X, y), rounds=3)

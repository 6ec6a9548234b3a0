"""Whole runs of boosting: cost grows with rows, stored entries and rounds, each on its own."""

import numpy as np
import pytest
import scipy.sparse as sp

from dpfast import BoostedHalfspaceClassifier


@pytest.mark.benchmark(group="boosting, 10 rounds: growth in rows and columns")
@pytest.mark.parametrize(
    ("n", "d"), [(10_000, 100), (100_000, 100), (1_000_000, 100), (10_000, 1000), (10_000, 10_000)]
)
def test_dpfast_grows_with_the_table(benchmark, n, d):
    X = np.random.default_rng(0).normal(size=(n, d)).astype(np.float32)
    y = X[:, 0] > X[:, 1]
    benchmark.extra_info["bytes"] = 20 * X.nbytes
    benchmark.pedantic(BoostedHalfspaceClassifier(n_rounds=10, schema="vectors", random_state=0).fit, (X, y), rounds=3)


@pytest.mark.benchmark(group="boosting, 10 rounds: growth in stored entries")
@pytest.mark.parametrize("stored", [10, 100, 1000])
def test_dpfast_grows_with_stored_entries(benchmark, stored):
    rng = np.random.default_rng(0)
    X = sp.random_array((20_000, 50_000), density=stored / 50_000, format="csr", dtype=np.float32, rng=rng)
    y = rng.random(20_000) < 0.5
    benchmark.extra_info["items"] = (20 * X.nnz, "entries")
    benchmark.pedantic(BoostedHalfspaceClassifier(n_rounds=10, schema="vectors", random_state=0).fit, (X, y), rounds=3)


@pytest.mark.benchmark(group="boosting 1e5 x 100: growth in rounds")
@pytest.mark.parametrize("rounds", [10, 100, 1000])
def test_dpfast_grows_with_rounds(benchmark, rounds):
    X = np.random.default_rng(0).normal(size=(100_000, 100)).astype(np.float32)
    y = X[:, 0] > X[:, 1]
    benchmark.pedantic(
        BoostedHalfspaceClassifier(n_rounds=rounds, schema="vectors", random_state=0).fit, (X, y), rounds=1
    )

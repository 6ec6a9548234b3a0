"""A round of boosting, margins and a weighted sum of rows in the unit ball, against two products by BLAS or scipy."""

import numpy as np
import pytest
import scipy.sparse as sp

from dpfast import BitMatrix
from dpfast.tables.unit_rows import unit_rows

N, D = 100_000, 1000


@pytest.fixture(scope="module")
def dense():
    return np.random.default_rng(0).normal(size=(N, D)).astype(np.float32)


@pytest.fixture(scope="module")
def sparse():
    return sp.random_array(
        (N, 40_000), density=14 / 40_000, format="csr", dtype=np.float32, rng=np.random.default_rng(0)
    )


@pytest.fixture(scope="module")
def weights():
    rng = np.random.default_rng(1)
    return (rng.integers(1, 4097, N) * rng.choice([-1, 1], N)).astype(np.int32)


def a_round(rows, weights):
    """What a round of boosting reads: the margins with a hypothesis, and the sum by weights."""
    w = np.random.default_rng(2).normal(size=rows.shape[1]).astype(np.float32) / 30
    return lambda: (rows.margins(w), rows.weighted_sum(weights))


def two_products(X, weights):
    w, v = np.random.default_rng(2).normal(size=X.shape[1]).astype(np.float32) / 30, (weights / 4096).astype(np.float32)
    return lambda: (X @ w, X.T @ v)


def check(X, rows, weights):
    """Both compute the same, row norms apart."""
    norm = np.sqrt(np.asarray((X * X).sum(axis=1)).ravel())
    scale = np.maximum(1, norm)
    margins, total = a_round(rows, weights)()
    products, _ = two_products(X, weights)()
    np.testing.assert_allclose(margins, np.clip(products / scale, -1, 1), atol=1e-3)
    np.testing.assert_allclose(total / rows.reach, X.T @ (weights / scale), atol=20.0)


GROUP = "a round on 1e5 x 1000 float32, dense"


@pytest.mark.benchmark(group=GROUP)
def test_dpfast_dense(benchmark, dense, weights, isa):
    rows = unit_rows(dense)
    check(dense, rows, weights)
    benchmark.extra_info["bytes"] = 2 * dense.nbytes
    benchmark(a_round(rows, weights))


@pytest.mark.benchmark(group=GROUP)
def test_dpfast_packed(benchmark, dense, weights, isa):
    table = BitMatrix(dense > 1)
    benchmark.extra_info["items"] = (2 * N * D, "entries")
    benchmark(a_round(unit_rows(table), weights))


@pytest.mark.benchmark(group=GROUP)
def test_blas(benchmark, dense, weights):
    benchmark(two_products(dense, weights))


@pytest.mark.benchmark(group="a round on 1e5 x 40,000 CSR, 14 entries a row")
@pytest.mark.parametrize("entries", ["numbers", "ones"])
def test_dpfast_csr(benchmark, sparse, weights, entries):
    X = sparse.copy()
    if entries == "ones":
        X.data[:] = 1
    rows = unit_rows(X)
    check(X, rows, weights)
    benchmark(a_round(rows, weights))


@pytest.mark.benchmark(group="a round on 1e5 x 40,000 CSR, 14 entries a row")
def test_scipy(benchmark, sparse, weights):
    benchmark(two_products(sparse, weights))

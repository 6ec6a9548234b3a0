"""A round of boosting, margins and a weighted sum of rows in the unit ball, against two products by BLAS or scipy.

And sums of rows by the residuals of several classes in one read, against a read for each step and against BLAS.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from dpfast import BitMatrix
from dpfast.kernels import logistic
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


@pytest.fixture(scope="module", params=[3, 10], ids="{} classes".format)
def classes(request):
    """Rows, one hypothesis for each class, labels, limits and odds."""
    k, rng = request.param, np.random.default_rng(3)
    X, w = rng.normal(size=(N, 20)).astype(np.float32), rng.uniform(-0.2, 0.2, (20, k)).astype(np.float32)
    limits = rng.integers(0, 4097, N).astype(np.int32)
    return X, w, rng.integers(0, k, N).astype(np.uint16), limits, np.zeros(k, np.float32)


def step_after_step(rows, w, labels, limits, odds):
    """What `residual_sums` does in one read of the rows, by one of them for each class and step."""
    residuals = logistic.many(rows.margins(w), labels, limits, 1.0, odds)
    sums = [rows.weighted_sum(column) for column in np.ascontiguousarray(residuals.T)]
    return np.vstack([np.stack(sums, axis=1), residuals.sum(axis=0)])


def softmax_by_blas(X, w, labels, limits, odds):
    p = np.exp(X @ w + odds)
    p /= p.sum(axis=1, keepdims=True)
    own = np.arange(len(X)), labels
    size = np.minimum(2, 1 / np.maximum(1 - p[own], 1e-30))
    p[own] -= 1
    return X.T @ (-p * (size * limits)[:, np.newaxis])


def of_classes(benchmark, classes):
    benchmark.group = f"residual sums of {classes[1].shape[1]} classes, 1e5 x 20 float32"


def test_dpfast_residual_sums(benchmark, classes, isa):
    X, w, labels, limits, odds = classes
    of_classes(benchmark, classes)
    rows = unit_rows(X)
    total = rows.residual_sums(w, labels, limits, 1.0, odds)
    np.testing.assert_array_equal(total, step_after_step(rows, w, labels, limits, odds))
    unit = X / np.maximum(1, np.sqrt(np.square(X).sum(axis=1, keepdims=True)))
    by_blas = softmax_by_blas(unit, w, labels, limits, odds)
    np.testing.assert_allclose(total[:-1] / rows.reach, by_blas, atol=1e-3 * np.abs(by_blas).max())
    benchmark.extra_info["items"] = (2 * X.size * w.shape[1], "entries")
    benchmark(rows.residual_sums, w, labels, limits, 1.0, odds)


def test_step_after_step(benchmark, classes):
    of_classes(benchmark, classes)
    benchmark(step_after_step, unit_rows(classes[0]), *classes[1:])


def test_softmax_by_blas(benchmark, classes):
    of_classes(benchmark, classes)
    benchmark(softmax_by_blas, *classes)

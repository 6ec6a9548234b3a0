"""Random projection by signs, against scikit-learn's Gaussian one and BLAS with a matrix of floats."""

import numpy as np
import peers
import pytest
import scipy.sparse as sp
from workloads import booleans

from dpfast.kernels import bits, signs

N, D, M, KEY = 10**4, 40_000, 256, 7
WIDE = 2000  # coordinates of dense and packed rows


def rows(entries):
    rng = np.random.default_rng(entries)
    indices = np.sort(rng.integers(0, D // entries, (N, entries)) + np.arange(entries) * (D // entries), axis=1)
    data = rng.normal(size=indices.size).astype(np.float32)
    return sp.csr_matrix((data, indices.astype(np.int32).ravel(), np.arange(N + 1, dtype=np.int32) * entries), (N, D))


@pytest.mark.parametrize("entries", [13, 200])
@pytest.mark.parametrize("form", ["stored", "on_the_fly", "stored_ones"])
def test_dpfast_csr(benchmark, isa, entries, form):
    benchmark.group = f"1e4 CSR rows of {entries} out of 40,000 to 256 components"
    X = rows(entries)
    if form == "stored_ones":
        X.data[:] = 1
    benchmark.extra_info["items"] = X.nnz * M, "signed additions"
    matrix = None if form == "on_the_fly" else signs.matrix(D, M, KEY)
    data = None if form == "stored_ones" else X.data
    projected = benchmark(signs.project_csr, X.indptr, X.indices, data, D, M, KEY, matrix=matrix)
    A = (2 * bits.unpack(signs.matrix(D, M, KEY), M).astype(np.float32) - 1) / np.sqrt(M)
    np.testing.assert_allclose(projected[:100], X[:100] @ A, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("entries", [13, 200])
def test_sklearn_gaussian_projection(benchmark, entries):
    benchmark.group = f"1e4 CSR rows of {entries} out of 40,000 to 256 components"
    benchmark(peers.gaussian_projection(rows(entries), M))


@pytest.mark.benchmark(group="1e4 dense rows of 2000 to 256 components")
def test_dpfast_dense(benchmark, isa):
    X = np.random.default_rng(0).normal(size=(N, WIDE)).astype(np.float32)
    benchmark.extra_info["items"] = N * WIDE * M, "signed additions"
    benchmark(signs.project_dense, X, M, KEY)


@pytest.mark.parametrize("density", [0.05, 0.5])
@pytest.mark.benchmark(group="1e4 dense rows of 2000 to 256 components")
def test_dpfast_packed(benchmark, isa, density):
    X, _ = booleans(N, WIDE, density)
    benchmark.extra_info["items"] = N * WIDE * M, "signed additions"
    projected = benchmark(signs.project_packed, bits.pack(X), WIDE, M, KEY)
    np.testing.assert_array_equal(projected[:50], signs.project_dense(X[:50].astype(np.float32), M, KEY))


@pytest.mark.benchmark(group="1e4 dense rows of 2000 to 256 components")
def test_sklearn_gaussian_projection_dense(benchmark):
    X = np.random.default_rng(0).normal(size=(N, WIDE)).astype(np.float32)
    benchmark(peers.gaussian_projection(X, M))


@pytest.mark.benchmark(group="lift of 256 components to 40,000 coordinates")
def test_dpfast_lift(benchmark, isa):
    v = np.random.default_rng(0).normal(size=M)
    benchmark(signs.lift, v, D, KEY)


@pytest.mark.benchmark(group="lift of 256 components to 40,000 coordinates")
def test_numpy_product(benchmark):
    rng = np.random.default_rng(0)
    A, v = rng.normal(size=(D, M)), rng.normal(size=M)
    benchmark(np.matmul, A, v)

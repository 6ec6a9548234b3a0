"""Capped logistic residuals on an integer grid, beside the softmax of numpy in single precision."""

import numpy as np
import pytest

from dpfast.kernels import logistic

N, LIMIT = 1 << 18, 1 << 16


@pytest.fixture(scope="module", params=[2, 7, 26, 100], ids="{} classes".format)
def scored(request):
    """Scores, labels and limits of N rows; of two classes one score."""
    k, rng = request.param, np.random.default_rng(request.param)
    rows, columns = N if k < 26 else N // 16, 1 if k == 2 else k
    scores = (3 * rng.standard_normal((rows, columns))).astype(np.float32)
    labels = rng.integers(0, k, rows).astype(np.uint8 if k == 2 else np.uint16)
    return k, scores, labels, np.full(rows, LIMIT, np.int32)


def residuals(k, scores, labels, limits):
    if k == 2:
        return logistic.two(scores, labels, limits)
    return logistic.many(scores, labels, limits, 1.0, np.zeros(k, np.float32))


def by_numpy(k, scores, labels, limits):
    f = np.hstack([np.zeros_like(scores), scores]) if k == 2 else scores
    p = np.exp(f - f.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    rows = np.arange(len(p))
    size = np.minimum(2, 1 / np.maximum(1 - p[rows, labels], 1e-30))
    p[rows, labels] -= 1
    residual = -p * size[:, np.newaxis] * limits[:, np.newaxis]
    return residual[:, -scores.shape[1] :].astype(np.int32)


def note(benchmark, scored):
    k, scores, _, _ = scored
    benchmark.group = f"residuals of {k} classes"
    benchmark.extra_info["bytes"] = 2 * scores.nbytes


def test_dpfast_residuals(benchmark, scored, isa):
    note(benchmark, scored)
    np.testing.assert_allclose(residuals(*scored), by_numpy(*scored), atol=scored[0] + LIMIT * 2e-4)
    benchmark(residuals, *scored)


def test_numpy_softmax(benchmark, scored):
    note(benchmark, scored)
    benchmark(by_numpy, *scored)

"""Sums of residuals by code in one call, against the three kernels one after another with arrays between them."""

import numpy as np
import pytest

from dpfast.kernels import codes, logistic, residuals

P, SIZE = 20, 100


@pytest.fixture(params=[1_000, 100_000], ids="{:,} rows".format)
def asked(request):
    n, rng = request.param, np.random.default_rng(0)
    columns = codes.Columns([rng.integers(0, SIZE, n).astype(np.uint8) for _ in range(P)], [SIZE] * P)
    table = rng.integers(-(2**20), 2**20, (P * SIZE, 1)).astype(np.int32)
    labels, limits = rng.integers(0, 2, n).astype(np.uint8), np.full(n, 1 << 16, np.int32)
    return columns, table, labels, limits, 1e-6, np.zeros(1, np.float32)


def one_by_one(columns, table, labels, limits, step, constants):
    scores = codes.margins(columns, table)
    return codes.sums(columns, logistic.two(scores, labels, limits, step, float(constants[0])))


def note(benchmark, asked):
    benchmark.group = f"sums of residuals by code, {asked[0].n:,} x {P}"
    benchmark.extra_info["bytes"] = 2 * asked[0].n * P


def test_dpfast_residuals(benchmark, asked, isa):
    note(benchmark, asked)
    np.testing.assert_array_equal(residuals.sums(*asked), one_by_one(*asked))
    benchmark(residuals.sums, *asked)


def test_three_kernels(benchmark, asked):
    note(benchmark, asked)
    benchmark(one_by_one, *asked)

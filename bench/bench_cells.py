"""Counts and codes of cells about which nothing is declared, beside numpy's search in sorted starts."""

import numpy as np
import pytest

from dpfast.kernels import cells

N, RUNS = 1_000_000, 128
COUNTS, CODES = "counts of 1e6 numbers in 128 bins", "codes of 1e6 numbers by 128 bins"


def drawn():
    rng = np.random.default_rng(0)
    codes = cells.of_numbers(rng.lognormal(3, 1, N))
    starts = np.unique([0, *rng.choice(codes, RUNS), cells.MISSING])
    return codes, starts, np.arange(len(starts), dtype=np.uint16)


def by_numpy(codes, starts):
    return np.bincount(np.searchsorted(starts, codes, "right") - 1, minlength=len(starts))


@pytest.mark.benchmark(group=COUNTS)
def test_dpfast_counts(benchmark):
    codes, starts, values = drawn()
    benchmark.extra_info["bytes"] = codes.nbytes
    found = benchmark(cells.count, codes, starts, values, len(starts))
    np.testing.assert_array_equal(
        found, np.bincount(np.searchsorted(starts, codes, "right") - 1, minlength=len(starts))
    )


@pytest.mark.benchmark(group=COUNTS)
def test_numpy_counts(benchmark):
    codes, starts, _ = drawn()
    benchmark(by_numpy, codes, starts)


@pytest.mark.benchmark(group=CODES)
def test_dpfast_codes(benchmark):
    codes, starts, values = drawn()
    benchmark.extra_info["bytes"] = codes.nbytes
    found = benchmark(cells.take, codes, starts, values)
    np.testing.assert_array_equal(found, values[np.searchsorted(starts, codes, "right") - 1])


@pytest.mark.benchmark(group=CODES)
def test_numpy_codes(benchmark):
    codes, starts, values = drawn()
    benchmark(lambda: values[np.searchsorted(starts, codes, "right") - 1].astype(np.uint8))


@pytest.mark.benchmark(group="codes of 1e6 numbers as float64")
def test_dpfast_codes_of_numbers(benchmark, isa):
    x = np.random.default_rng(0).lognormal(3, 1, N)
    benchmark.extra_info["bytes"] = 2 * x.nbytes
    benchmark(cells.of_numbers, x)


@pytest.mark.benchmark(group="codes of 1e6 numbers as float64")
def test_numpy_codes_of_numbers(benchmark):
    x = np.random.default_rng(0).lognormal(3, 1, N)

    def codes():
        positive = x > 0
        base, side = (1023 + cells.LEAST_POWER) << cells.BITS, cells.ZERO - cells.DATES
        steps = np.clip(np.abs(x).view(np.int64) - positive - base, 0, side - 1)
        found = np.where(positive, cells.ZERO + 1 + steps, cells.ZERO - 1 - steps)
        found[(x <= 0) & (x >= -(2.0**cells.LEAST_POWER))] = cells.ZERO
        found[np.isnan(x)] = cells.MISSING
        return found

    np.testing.assert_array_equal(benchmark(codes), cells.of_numbers(x))

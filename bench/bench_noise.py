"""Exact discrete Laplace and Gaussian noise against OpenDP's."""

import peers
import pytest

from dpfast import random
from dpfast.kernels import noise

SIZE, SCALE = 100_000, 10
GAUSSIAN_SIZE = 10_000


@pytest.mark.benchmark(group="1e5 discrete Laplace draws")
def test_dpfast_laplace(benchmark, rng):
    benchmark(noise.discrete_laplace, SCALE, SIZE, rng)


@pytest.mark.benchmark(group="1e5 discrete Laplace draws")
def test_dpfast_laplace_cryptographic(benchmark):
    benchmark(noise.discrete_laplace, SCALE, SIZE, random.default_rng())


@pytest.mark.benchmark(group="1e5 discrete Laplace draws")
def test_opendp_laplace(benchmark):
    benchmark(peers.discrete_laplace(SIZE, SCALE))


@pytest.fixture(params=[3, 1000, 2**36])
def sigma(request, benchmark):
    benchmark.group = f"{GAUSSIAN_SIZE} discrete Gaussian draws, sigma {request.param}"
    return request.param


def test_dpfast_gaussian(benchmark, sigma, rng):
    benchmark(noise.discrete_gaussian, sigma, GAUSSIAN_SIZE, rng)


def test_dpfast_gaussian_cryptographic(benchmark, sigma):
    benchmark(noise.discrete_gaussian, sigma, GAUSSIAN_SIZE, random.default_rng())


def test_opendp_gaussian(benchmark, sigma):
    benchmark(peers.discrete_gaussian(GAUSSIAN_SIZE, sigma))


@pytest.mark.benchmark(group="one discrete Gaussian draw")
def test_dpfast_gaussian_alone(benchmark):
    benchmark(noise.discrete_gaussian, 1000, 1, random.default_rng())


@pytest.mark.benchmark(group="one discrete Gaussian draw")
def test_opendp_gaussian_alone(benchmark):
    benchmark(peers.discrete_gaussian(1, 1000))

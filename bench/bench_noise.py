"""Exact discrete Laplace noise against OpenDP's."""

import peers
import pytest

from dpfast import random
from dpfast.kernels import noise

SIZE, SCALE = 100_000, 10


@pytest.mark.benchmark(group="1e5 discrete Laplace draws")
def test_dpfast_laplace(benchmark, rng):
    benchmark(noise.discrete_laplace, SCALE, SIZE, rng)


@pytest.mark.benchmark(group="1e5 discrete Laplace draws")
def test_dpfast_laplace_cryptographic(benchmark):
    benchmark(noise.discrete_laplace, SCALE, SIZE, random.default_rng())


@pytest.mark.benchmark(group="1e5 discrete Laplace draws")
def test_opendp_laplace(benchmark):
    benchmark(peers.discrete_laplace(SIZE, SCALE))

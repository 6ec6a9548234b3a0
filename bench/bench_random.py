"""Cryptographic uniform doubles: both default generators, randomgen's AES, and numpy's own, which is not."""

import numpy as np
import peers
import pytest

from dpfast import random

SIZE = 10**6


@pytest.mark.benchmark(group="1e6 uniform doubles")
def test_dpfast_uniforms(benchmark):
    benchmark.extra_info["items"] = SIZE, "doubles"
    assert abs(benchmark(random.default_rng().random, SIZE).mean() - 0.5) < 0.005


@pytest.mark.benchmark(group="1e6 uniform doubles")
def test_chacha_where_there_is_no_aes(benchmark):
    assert abs(benchmark(np.random.Generator(random.SystemKeyedChaCha()).random, SIZE).mean() - 0.5) < 0.005


@pytest.mark.benchmark(group="1e6 uniform doubles")
def test_randomgen_aes_counter(benchmark):
    assert abs(benchmark(peers.aes_uniforms(SIZE)).mean() - 0.5) < 0.005


@pytest.mark.benchmark(group="1e6 uniform doubles")
def test_numpy_pcg_not_cryptographic(benchmark):
    benchmark(np.random.default_rng().random, SIZE)

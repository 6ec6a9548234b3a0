import copy
import math
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows

from dpfast.mechanisms import discrete_gaussian


def law(centre, sigma, support):
    weights = np.exp(-(((support - centre) / sigma) ** 2) / 2)
    return weights / weights.sum()


def test_noise_is_added_to_each_value(rng):
    noisy = discrete_gaussian(np.arange(6).reshape(2, 3) * 10**12, Fraction(5, 2), rng=rng)
    assert noisy.shape == (2, 3)
    assert noisy.dtype == np.int64
    assert (np.abs(noisy.ravel() - np.arange(6) * 10**12) < 50).all()


def test_a_released_value_follows_the_law_around_it(rng):
    released = discrete_gaussian(np.full(100_000, 7), 1.5, rng=rng)
    support = np.arange(-60, 75)
    assert_follows(np.bincount(released + 60, minlength=len(support)), law(7, 1.5, support))


def test_no_renyi_divergence_of_neighbours_exceeds_the_claim():
    support = np.arange(-400, 400)
    for sigma in (0.5, 2, 10):
        for s in (1, 2, 7):
            log_p, log_q = -((support / sigma) ** 2) / 2, -(((support - s) / sigma) ** 2) / 2
            normaliser = np.log(np.exp(log_p).sum())
            for a in (1.1, 2, 5):
                divergence = (np.logaddexp.reduce(a * log_p + (1 - a) * log_q) - normaliser) / (a - 1)
                assert divergence <= a * s**2 / (2 * sigma**2) * (1 + 1e-9)


def test_a_single_value_gives_an_int(rng):
    assert type(discrete_gaussian(3, 1, rng=rng)) is int
    assert type(discrete_gaussian(np.int16(3), 1)) is int


def test_a_refusal_draws_nothing(rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match="values must be integers, got float64"):
        discrete_gaussian(1.5, 1, rng=rng)
    with pytest.raises(ValueError, match="sigma must"):
        discrete_gaussian(1, math.inf, rng=rng)
    with pytest.raises(TypeError, match="random_state must be"):
        discrete_gaussian(1, 1, rng="seed")
    assert rng.bit_generator.state == before

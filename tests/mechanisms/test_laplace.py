import math

import numpy as np
import pytest
from laws import assert_follows

from dpfast.mechanisms import discrete_laplace


def law(centre, scale, support):
    weights = np.exp(-np.abs(support - centre) / scale)
    return weights / weights.sum()


def test_noise_is_added_to_each_count(rng):
    noisy = discrete_laplace(np.arange(6).reshape(2, 3) * 10**12, 2, rng=rng)
    assert noisy.shape == (2, 3)
    assert noisy.dtype == np.int64
    assert (np.abs(noisy.ravel() - np.arange(6) * 10**12) < 200).all()


def test_a_released_count_follows_the_law_around_it(rng):
    released = discrete_laplace(np.full(100_000, 7), 1.5, rng=rng)
    support = np.arange(-60, 75)
    assert_follows(np.bincount(released + 60, minlength=len(support)), law(7, 1.5, support))


def test_neighbouring_counts_are_within_the_claimed_ratio_everywhere():
    support, scale, sensitivity = np.arange(-400, 400), 2.5, 3
    ratio = law(0, scale, support) / law(sensitivity, scale, support)
    assert np.log(ratio).max() <= sensitivity / scale + 1e-9
    assert np.log(ratio).max() >= sensitivity / scale - 1e-9  # and the claim is tight


def test_a_single_count_gives_an_int(rng):
    assert type(discrete_laplace(3, 1, rng=rng)) is int


def test_real_counts_and_wrong_scales_are_refused(rng):
    with pytest.raises(ValueError, match="counts must be integers, got float64"):
        discrete_laplace(1.5, 1, rng=rng)
    with pytest.raises(ValueError, match="scale must"):
        discrete_laplace(1, math.inf, rng=rng)

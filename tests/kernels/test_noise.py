from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows

from dpfast.kernels import noise


@pytest.mark.parametrize("scale", [Fraction(1, 5), 0.7, 1, Fraction(22, 7), 30.25])
def test_discrete_laplace_follows_its_law(scale, rng):
    draws = noise.discrete_laplace(scale, 200_000, rng)
    reach = int(40 * max(1, scale))
    x = np.arange(-reach, reach + 1)
    law = np.exp(-np.abs(x) / float(scale))
    assert_follows(np.bincount(draws + reach, minlength=len(x)), law / law.sum())


def test_very_large_and_very_small_scales_are_drawn(rng):
    large = noise.discrete_laplace(2.0**52, 20_000, rng)
    median = np.log(2) * 2.0**52
    assert_follows([(np.abs(large) < median).sum(), (np.abs(large) >= median).sum()], [0.5, 0.5])
    assert not noise.discrete_laplace(1e-300, 1000, rng).any()


def test_a_scale_whose_terms_are_too_long_is_rounded_up_to_the_next_that_fits(rng):
    scale = Fraction(10**30 + 1, 3 * 10**30)
    state = rng.bit_generator.state
    drawn = noise.discrete_laplace(scale, 500, rng)
    rng.bit_generator.state = state
    np.testing.assert_array_equal(drawn, noise.discrete_laplace(Fraction(-(-(2**52) // 3), 2**52), 500, rng))


@pytest.mark.parametrize("scale", [0, -1, float("nan"), float("inf"), 2.0**53, "wide"])
def test_a_scale_that_will_not_do_is_refused_before_a_draw(scale, rng):
    state = rng.bit_generator.state
    with pytest.raises(ValueError, match="scale must"):
        noise.discrete_laplace(scale, 3, rng)
    assert rng.bit_generator.state == state

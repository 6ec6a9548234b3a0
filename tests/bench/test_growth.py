import growth
import numpy as np
import pytest


def test_the_exponent_of_a_power_is_found():
    sizes = growth.sizes(2, 5)
    assert growth.exponents(sizes, 3e-9 * sizes**1.5) == pytest.approx((1.5, 1.5))


def test_fixed_costs_count_less_in_the_upper_half():
    sizes = growth.sizes(2, 6)
    upper, overall = growth.exponents(sizes, 1e-4 + 1e-8 * sizes)
    assert overall < upper < 1


def test_sizes_are_two_a_decade():
    np.testing.assert_array_equal(growth.sizes(2, 3), [100, 316, 1000])

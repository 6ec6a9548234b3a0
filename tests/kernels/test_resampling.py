import math
from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows

from dpfast.kernels import resampling


def law(weights):
    exact = [Fraction(float(w)) for w in weights]
    total = sum(exact)
    return np.array([float(w / total) for w in exact])


@pytest.mark.parametrize(
    "weights",
    [
        [1.0],
        [0.1, 0.2, 0.3, 0.0, 0.4],
        [1e-300, 2e-300, 3e-300],
        [5e-324, 1e-323, 1.5e-323],
        [1e308, 1.7e308, 1e307],
        [1.0, 1e-9, 3.0, 1e-30],
        [3.0] * 600,
    ],
    ids=["one", "few", "small", "subnormal", "large", "uneven", "blocks"],
)
def test_draws_follow_the_weights(weights, rng):
    weights = np.array(weights)
    assert_follows(resampling.resample(weights, 100_000, rng), law(weights))


def test_the_last_unit_of_an_entry_is_a_fraction_of_one(rng):
    """Weights of a few units: most of the probability of some entries is in their last unit."""
    n = 1 << 20  # the scale leaves 41 bits to the largest weight, and below one unit to these
    weights = np.full(n, 0.0)
    weights[0], weights[1::2] = 1.0, 2.0**-43
    drawn = resampling.draw(weights, 2_000_000, rng)
    few = int((drawn > 0).sum())
    expected = 2_000_000 * (n // 2) * 2.0**-43 / (1 + (n // 2) * 2.0**-43)
    assert abs(few - expected) <= 6 * math.sqrt(expected) + 6
    assert not (drawn[drawn > 0] % 2 == 0).any()


def test_entries_of_weight_zero_are_never_drawn(rng):
    weights = rng.exponential(size=5000) * (rng.random(5000) < 0.01)
    weights[17] = 1.0
    assert (resampling.resample(weights, 50_000, rng)[weights == 0] == 0).all()


def test_a_seed_gives_the_same_draws_at_every_level(each_isa):
    weights = np.random.default_rng(1).exponential(size=3001)
    first, *others = each_isa(lambda: resampling.draw(weights, 500, np.random.default_rng(0)))
    assert all(np.array_equal(first, other) for other in others)


def test_counts_are_those_of_draws():
    weights = np.random.default_rng(1).exponential(size=300)
    drawn = resampling.draw(weights, 500, np.random.default_rng(0))
    counts = resampling.resample(weights, 500, np.random.default_rng(0))
    np.testing.assert_array_equal(counts, np.bincount(drawn, minlength=300))
    assert resampling.draw(weights, 0, np.random.default_rng(0)).shape == (0,)


@pytest.mark.parametrize(
    ("weights", "m", "message"),
    [
        ([0.0, 0.0], 1, "one of them above 0"),
        ([1.0, -1.0], 1, "finite and at least 0"),
        ([1.0, math.nan], 1, "finite and at least 0"),
        ([1.0] * 20 + [math.inf], 1, "finite and at least 0"),
        ([], 1, "weights must be float64 of shape"),
        ([[1.0]], 1, "weights must be float64 of shape"),
        (np.array([1, 2]), 1, "weights must be float64 of shape"),
        ([1.0], -1, "m must be at least 0, got -1"),
    ],
)
def test_what_cannot_be_drawn_from_is_refused(weights, m, message, rng):
    with pytest.raises(ValueError, match=message):
        resampling.draw(np.asarray(weights), m, rng)

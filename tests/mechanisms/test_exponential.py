import copy
import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from laws import assert_follows, exponential_law

from dpfast.mechanisms import exponential


def test_draws_follow_the_exponential_law(rng):
    score = np.array([0, 3, 3, 7, 1], np.int32)
    draws = exponential(score, Fraction(1, 2), size=200_000, rng=rng)
    assert_follows(np.bincount(draws, minlength=5), exponential_law(score, 0.5))


@pytest.mark.parametrize("changes", [(-1, 0, 1), (0, 1)])
def test_the_log_ratio_of_neighbours_lies_in_an_interval_of_length_exponent_times_range(changes):
    t, base = 0.7, np.array([2, 0, 5])
    before = exponential_law(base, t)
    for change in product(changes, repeat=3):
        ratio = np.log(exponential_law(base + change, t) / before)
        claimed = t * (max(change) - min(change))
        assert np.ptp(ratio) <= claimed + 1e-12  # bounded range
        assert np.abs(ratio).max() <= claimed + 1e-12  # so pure DP
        renyi = np.log((before * np.exp(2 * ratio)).sum())  # order 2, against rho * order
        assert renyi <= 2 * claimed**2 / 8 + 1e-12


def test_one_draw_is_an_int_and_several_are_an_array(rng):
    assert type(exponential([1, 2, 3], 1, rng=rng)) is int
    assert exponential([1, 2, 3], 1, size=4, rng=rng).shape == (4,)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.uint16, np.int16, np.uint32, np.int64, np.uint64, bool, int])
def test_any_integer_type_is_accepted(dtype, rng):
    assert exponential(np.array([0, 1], dtype), 60, rng=rng) == 1


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([0.5, 1.0], "scores must be integers"),
        ([], "scores is empty"),
        (np.array([2**63], np.uint64), "must be below"),
        ([[1, 2]], "of shape"),
    ],
)
def test_a_refusal_draws_nothing(scores, message, rng):
    before = copy.deepcopy(rng.bit_generator.state)
    with pytest.raises(ValueError, match=message if message != "of shape" else r"shape \(n,\)"):
        exponential(scores, 1, rng=rng)
    assert rng.bit_generator.state == before


def test_large_scores_neither_overflow_nor_underflow(rng):
    scores = np.array([10**18, 10**18 - 1, -(10**18)])
    draws = exponential(scores, 1, size=20_000, rng=rng)
    assert_follows(np.bincount(draws, minlength=3), [1 / (1 + math.exp(-1)), 1 / (1 + math.e), 0])

import numpy as np
import pytest
from laws import assert_follows

from dpfast.kernels import draw


def test_integers_below_a_bound_are_uniform(rng):
    for n in (1, 2, 3, 7, 100):
        assert_follows(np.bincount(draw.below(np.full(100_000, n), rng).astype(int), minlength=n), np.full(n, 1 / n))


def test_large_bounds_are_not_biased_towards_small_numbers(rng):
    n = 3 << 62  # a modulo would favour the lower third
    low = (draw.below(np.full(100_000, n, np.uint64), rng) < (1 << 62)).sum()
    assert_follows([low, 100_000 - low], [1 / 3, 2 / 3])


def test_each_draw_has_its_own_bound(rng):
    bounds = rng.integers(1, 1000, 5000)
    assert (draw.below(bounds, rng) < bounds).all()


@pytest.mark.parametrize("bad", [[0], [1.5], [-3], [[1]]])
def test_bounds_that_allow_nothing_are_refused(bad, rng):
    with pytest.raises(ValueError, match="n must be integers of at least 1"):
        draw.below(bad, rng)


def test_what_is_not_a_generator_is_refused():
    with pytest.raises(TypeError, match=r"must be a numpy.random.Generator, got int"):
        draw.below([3], 7)


def test_what_does_not_divide_the_words_evenly_is_rejected(rng):
    """Four words would stand for three numbers: one residue by 3 twice as often as each other one."""
    drawn = draw.below([3 << 62] * 20_000, rng)
    assert_follows(np.bincount((drawn % np.uint64(3)).astype(int), minlength=3), np.full(3, 1 / 3))


def test_half_of_all_words_are_rejected_where_the_bound_is_just_above_half_of_them(rng):
    n = (1 << 63) + 1
    drawn = draw.below(np.full(20_000, n, np.uint64), rng)
    assert_follows(np.bincount((drawn >> np.uint64(60)).astype(int), minlength=8)[:8], np.full(8, 1 / 8))

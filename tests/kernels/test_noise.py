import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from laws import assert_follows
from scipy import stats
from scripted import Scripted

from dpfast import random
from dpfast.kernels import noise

LAPLACE, GAUSSIAN = noise.discrete_laplace, noise.discrete_gaussian
DRAWS = [LAPLACE, GAUSSIAN]
SCALES = [Fraction(1, 10), Fraction(1, 2), Fraction(22, 7), 1000, 2**36, Fraction(10**30 + 1, 3 * 10**18), 2**52]


# ---- laws --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [Fraction(1, 5), 0.7, 1, Fraction(22, 7), 30.25])
def test_discrete_laplace_follows_its_law(scale, rng):
    draws = noise.discrete_laplace(scale, 1_000_000, rng)
    reach = int(40 * max(1, scale))
    x = np.arange(-reach, reach + 1)
    law = np.exp(-np.abs(x) / float(scale))
    assert_follows(np.bincount(draws + reach, minlength=len(x)), law / law.sum())


@pytest.mark.parametrize("scale", [Fraction(1, 5), 0.7, 1, Fraction(22, 7), 30.25])
def test_geometric_noise_follows_its_law(scale, rng):
    draws = noise.geometric(scale, 500_000, rng)
    law = np.exp(-np.arange(int(40 * max(1, scale))) / float(scale))
    assert_follows(np.bincount(draws, minlength=len(law)), law / law.sum())


@pytest.mark.parametrize("sigma", [0.1, Fraction(1, 3), 0.5, 1, Fraction(22, 7), 3, 30.25, 1000])
def test_discrete_gaussian_follows_its_law(sigma, rng):
    draws = noise.discrete_gaussian(sigma, 1_000_000, rng)
    reach = int(12 * max(1, sigma))
    x = np.arange(-reach, reach + 1)
    law = np.exp(-((x / float(sigma)) ** 2) / 2)
    assert_follows(np.bincount(draws + reach, minlength=len(x)), law / law.sum())


@pytest.mark.parametrize("scale", [2**20 + 1, 1e9 / 3, 2**36, 2.0**40, Fraction(2**52)])
@pytest.mark.parametrize(("draw", "law"), [(LAPLACE, stats.laplace), (GAUSSIAN, stats.norm)])
def test_very_large_scales_follow_the_continuous_law(draw, law, scale, rng):
    cuts = law.ppf(np.arange(1, 1000) / 1000)
    draws = draw(scale, 300_000, rng) / float(scale)
    assert_follows(np.bincount(np.searchsorted(cuts, draws), minlength=1000), np.full(1000, 1e-3))
    assert_follows(np.bincount(np.abs(draws) > law.isf(5e-5), minlength=2), [1 - 1e-4, 1e-4])


@pytest.mark.parametrize("draw", DRAWS)
def test_low_bits_of_large_noise_are_uniform(draw, rng):
    assert_follows(np.bincount(draw(2**36, 1_000_000, rng) & 255, minlength=256), np.full(256, 1 / 256))


@pytest.mark.parametrize("draw", DRAWS)
def test_very_small_scales_draw_zeros(draw, rng):
    assert not draw(1e-300, 1000, rng).any()
    assert not draw(Fraction(1, 100), 1000, rng).any()  # another outcome has probability e**-100 or less


@pytest.mark.parametrize("draw", DRAWS)
def test_noise_is_symmetric(draw, rng):
    draws = draw(3, 500_000, rng)
    assert_follows([(draws > 0).sum(), (draws < 0).sum()], [0.5, 0.5])
    for x in range(1, 9):
        assert_follows([(draws == x).sum(), (draws == -x).sum()], [0.5, 0.5])


@pytest.mark.parametrize("draw", DRAWS)
def test_a_cryptographic_generator_gives_the_same_law(draw):
    draws = draw(2, 200_000, random.default_rng())
    x = np.arange(-100, 101)
    law = np.exp(-np.abs(x) / 2) if draw is LAPLACE else np.exp(-(x**2) / 8)
    assert_follows(np.bincount(draws + 100, minlength=201), law / law.sum())


# ---- exactness ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("scale", SCALES)
def test_strips_tile_all_cells_and_their_bounds_hold(scale, squared):
    strips = noise._Strips(Fraction(scale), squared)
    end = 0
    with mpmath.workdps(60):

        def weight(z):
            x = (z + (1 << (strips.cells - 1))) >> strips.cells
            exponent = strips.exponent(x)
            return mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)

        for start, width, sure in strips.table:
            assert start == end
            end = start + width
            assert width * weight(start) <= 2**strips.area  # the height covers the law
            least = 2**64 * weight(end - 1) * width / mpmath.mpf(2) ** strips.area
            bits_to_come = 2 * len(strips.table) * width
            assert sure == 0 or sure + bits_to_come <= least
    assert end == 2**63 - (1 << (strips.cells - 1))


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_the_table_keeps_most_proposals_by_one_word(draw, scale, rng):
    table = noise._Strips(Fraction(scale), draw is GAUSSIAN).table
    assert np.mean([sure / 2**64 for *_, sure in table]) > 0.85
    words = iter(rng.integers(0, 2**64, 5000, np.uint64).tolist())
    draw(scale, 2000, Scripted(words))
    assert len(list(words)) > 2500


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("scale", SCALES)
def test_multiprecision_and_integers_decide_alike(draw, scale, monkeypatch):
    def draws(guard):
        monkeypatch.setattr(noise, "_guard_bits", guard)
        return draw(scale, 3000, np.random.default_rng(5))

    by_words = draws(16)
    np.testing.assert_array_equal(by_words, draws(63))
    np.testing.assert_array_equal(by_words, draws(60))


@pytest.mark.parametrize(  # each guard with half of the scales of each law
    ("draw", "scale", "guard"),
    [(draw, scale, (13, 16)[(i + j) % 2]) for i, draw in enumerate(DRAWS) for j, scale in enumerate(SCALES)],
)
def test_words_next_to_the_boundary_are_decided_rightly(draw, scale, guard, monkeypatch, rng):
    monkeypatch.setattr(noise, "_guard_bits", guard)
    strips = noise._Strips(Fraction(scale), draw is GAUSSIAN)
    table = strips.table
    for s in rng.choice(len(table), 10):
        start, width, _ = table[s]
        offset, negative = int(rng.integers(width)), int(rng.integers(2))
        x = (start + offset + (1 << (strips.cells - 1))) >> strips.cells
        exponent = strips.exponent(x)
        with mpmath.workdps(80):
            chance = mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator) * width / 2**strips.area
            chance = Fraction(int(chance * 2**200), 2**200)
        gaps = [Fraction(sign * gap, 2**64) for sign in (1, -1) for gap in (2**10, 2**13, 2**14, 2**16, 2**17, 2**30)]
        least = Fraction(2**10, 2**64)  # a boundary, too: that of the cells
        for height in [least, *(chance + gap for gap in gaps if least < chance + gap < 1 - least)]:
            u = (s + (negative + (offset + height) / width) / 2) / len(table)
            word = math.floor(u * 2**128)
            # words of 0 propose 0 and keep it
            drawn = draw(scale, 1, Scripted([word >> 64, word & (2**64 - 1), 0, 0, 0, 0]))
            assert drawn[0] == ((-x if negative else x) if height < chance else 0)


def test_bits_are_drawn_until_they_decide(monkeypatch):
    monkeypatch.setattr(noise, "_guard_bits", 13)
    strips = noise._Strips(Fraction(3), True)
    s, (start, width, _) = 200, strips.table[200]
    x = (start + (1 << (strips.cells - 1))) >> strips.cells
    with mpmath.workdps(200):
        chance = mpmath.exp(-mpmath.mpf(x * x) / 18) * width / 2**strips.area
        u = int(((s + chance / width / 2) / len(strips.table)) * 2**320)  # 320 bits of the boundary itself
    words = [(u >> shift) & (2**64 - 1) for shift in (256, 192, 128, 64, 0)]
    assert noise.discrete_gaussian(3, 1, Scripted([*words[:4], words[4] - 2**32]))[0] == x
    assert noise.discrete_gaussian(3, 1, Scripted([*words[:4], words[4] + 2**32, 0]))[0] == 0


def test_a_uniform_next_to_one_is_not_decided_by_its_first_words():
    ones = 2**64 - 1
    for draw in DRAWS:
        assert draw(3, 1, Scripted([ones] * 3 + [0] * 5))[0] == 0  # the last strip: far out, and rejected


# ---- arguments ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("draw", DRAWS)
def test_equal_scales_draw_alike_whatever_their_type(draw):
    draws = [draw(scale, 100, np.random.default_rng(1)) for scale in (3, 3.0, Fraction(3), np.float64(3))]
    for other in draws[1:]:
        np.testing.assert_array_equal(draws[0], other)
    assert draws[0].dtype == np.int64
    assert draw(3, 0, np.random.default_rng(1)).shape == (0,)


@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf"), 2.0**53, "wide", None])
@pytest.mark.parametrize(("draw", "name"), [(LAPLACE, "scale"), (GAUSSIAN, "sigma")])
def test_a_scale_that_will_not_do_is_refused_before_a_draw(draw, name, value, rng):
    state = rng.bit_generator.state
    with pytest.raises(ValueError, match=f"{name} must"):
        draw(value, 3, rng)
    with pytest.raises(ValueError, match="negative dimensions"):
        draw(1, -3, rng)
    with pytest.raises(TypeError, match=r"rng must be a numpy\.random\.Generator, got int"):
        draw(1, 3, 7)
    assert rng.bit_generator.state == state

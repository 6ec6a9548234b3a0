import math
from collections import Counter
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfast.kernels.inversion import attempt, compare_exp, invert


def no_more_words():
    raise AssertionError("these bits decide")


@pytest.mark.parametrize("t", [Fraction(1, 7), Fraction(3), Fraction(1, 10**6)])
def test_inversion_agrees_with_doubles_where_those_can_tell(t, rng):
    gaps, masses = rng.permutation(12).tolist(), rng.integers(0, 50, 12).tolist()
    weights = np.cumsum([m * math.exp(-float(t) * g) for g, m in zip(gaps, masses, strict=True)])
    for word in rng.integers(0, 2**64, 50, dtype=np.uint64).tolist():
        expected = np.searchsorted(weights, word / 2**64 * weights[-1], side="right")
        assert invert(gaps, masses, t, word, no_more_words) == expected


def test_a_boundary_that_is_a_dyadic_rational_is_met_exactly():
    half = 1 << 63
    assert invert([4, 4], [3, 3], Fraction(1, 3), half, no_more_words) == 1
    assert invert([4, 4], [3, 3], Fraction(1, 3), half - 1, no_more_words) == 0


def test_more_bits_are_drawn_when_a_boundary_lies_inside_the_word():
    # weights 1 and e**-100: the boundary is 1 - 3.7e-44, inside the last of the 64-bit words
    asked = []

    def ones():
        asked.append(1)
        return 2**64 - 1

    assert invert([0, 100], [1, 1], Fraction(1), 2**64 - 1, ones) == 1
    assert len(asked) == 2  # 144 bits tell, 128 do not
    assert invert([0, 100], [1, 1], Fraction(1), 2**64 - 1, lambda: 0) == 0


def test_an_outcome_of_no_mass_is_never_chosen():
    for word in (0, 1, 2**63, 2**64 - 1):
        assert invert([0, 1, 2], [0, 1, 0], Fraction(1), word, no_more_words) == 1


def test_gaps_of_astronomical_depth_do_no_harm():
    assert invert([0, 2**64], [1, 2**31], Fraction(10**6), 2**64 - 2, no_more_words) == 0


def test_an_exponential_is_compared_with_a_rational_to_any_depth():
    with mpmath.workdps(300):
        near = Fraction(int(mpmath.exp(mpmath.mpf(-22) / 7) * 10**250), 10**250)
    assert compare_exp(Fraction(22, 7), near) == 1
    assert compare_exp(Fraction(22, 7), near + Fraction(1, 10**250)) == -1
    assert [compare_exp(Fraction(0), Fraction(level, 2)) for level in (0, 1, 2, 3)] == [1, 1, 0, -1]
    assert compare_exp(Fraction(10**40), Fraction(0)) == 1
    assert compare_exp(Fraction(10**40), Fraction(1, 10**400)) == -1


# ---- attempts of the noise kernel ------------------------------------------------------------------------------------

AREA, CELLS = 4, 5  # strips of 16 units, 32 cells to a magnitude
STRIPS = [(0, 15), (15, 16), (31, 17), (48, 24), (72, 24), (96, 40), (136, 94), (230, 170)]


def exponent(x):
    return Fraction(x * x, 9)


def test_strips_of_the_example_lie_above_the_law():
    for start, width in STRIPS:
        assert width * math.exp(-exponent((start + 16) >> 5)) <= 16


def test_all_words_together_propose_and_keep_by_the_law():
    bits, kept, undecided = 14, Counter(), 0
    for word in range(1 << bits):
        try:
            kept[attempt(STRIPS, AREA, CELLS, exponent, word, bits, no_more_words)] += 1
        except AssertionError:
            undecided += 1
    assert undecided < 0.1 * 2**bits
    for x in range(-12, 13):
        # a cell is proposed, under height 16 / width, by a share 1 / (2 strips width) of all uniforms
        expected = 32 * math.exp(-exponent(x)) / (2 * len(STRIPS) * 16) * 2**bits
        assert kept[x] <= expected <= kept[x] + undecided


@pytest.mark.parametrize("word", [0, 1, 77, 2**13, 2**14 - 1])
def test_words_that_follow_do_not_change_what_was_decided(word):
    whole = attempt(STRIPS, AREA, CELLS, exponent, word << 64 | 5, 78, lambda: 0)
    assert attempt(STRIPS, AREA, CELLS, exponent, word, 14, iter([5, 0, 0]).__next__) == whole

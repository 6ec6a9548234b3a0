import math
from collections import Counter
from fractions import Fraction

import pytest

from dpfast.kernels.rejection import attempt

AREA, CELLS = 4, 5  # strips of 16 units, 32 cells to a magnitude
STRIPS = [(0, 15), (15, 16), (31, 17), (48, 24), (72, 24), (96, 40), (136, 94), (230, 170)]


def no_more_words():
    raise AssertionError("these bits decide")


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

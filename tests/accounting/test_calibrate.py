import math
import random
from fractions import Fraction

import pytest

from dpfast.accounting import cover_epsilon, cover_exponent


@pytest.mark.parametrize(
    ("options", "exponent"),
    [({}, 0.08476), ({"neighbors": "add-remove"}, 0.09160), ({"accounting": "paper"}, 0.01632)],
)
def test_the_exponents_at_one_and_a_millionth(options, exponent):
    assert cover_exponent(1, 1e-6, **options) == pytest.approx(exponent, abs=5e-6)


def test_the_exponent_fits_and_a_larger_one_does_not():
    draw = random.Random(0)
    for _ in range(1_000):
        epsilon = 10 ** draw.uniform(-9, 3)
        delta = draw.choice([10 ** draw.uniform(-300, -0.31), draw.uniform(1e-9, 0.5)])
        options = {
            "coverage_weight": draw.choice([0, 1, draw.random(), 10 ** draw.uniform(-20, 0)]),
            "neighbors": draw.choice(["replace", "add-remove"]),
        }
        exponent = cover_exponent(epsilon, delta, **options)
        assert cover_epsilon(exponent, delta, **options) <= epsilon
        assert cover_epsilon(exponent * (1 + 1e-9), delta, **options) > epsilon


@pytest.mark.parametrize(("neighbors", "factor"), [("replace", 4), ("add-remove", 2)])
def test_the_paper_s_exponent_is_its_formula_up_to_one(neighbors, factor):
    options = {"neighbors": neighbors, "accounting": "paper"}
    formula = 0.5 / (factor * (math.log(1e9) + 1.5))
    assert cover_exponent(0.5, 1e-9, **options) == pytest.approx(formula, rel=1e-9)
    assert cover_exponent(1e3, 1e-9, **options) == 1


def test_under_replace_the_weight_only_scales_the_exponent():
    without = cover_exponent(1, 1e-6)
    for g in (0.25, 0.5, 1.0):
        assert cover_exponent(1, 1e-6, coverage_weight=g) == pytest.approx(without / (1 + g), rel=1e-9)


def test_fractions_and_floats_agree():
    assert cover_exponent(Fraction(1, 2), Fraction(1, 8), coverage_weight=Fraction(1, 4)) == cover_exponent(
        0.5, 0.125, coverage_weight=0.25
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((0, 1e-6), {}, "epsilon must be a finite number > 0, got 0"),
        ((math.inf, 1e-6), {}, "epsilon must be"),
        ((math.nan, 1e-6), {}, "epsilon must be"),
        ((True, 1e-6), {}, "epsilon must be"),
        ((1.0, 0), {}, "delta must be at least 1e-300 and below 1, got 0"),
        ((1.0, 1.0), {}, "delta must be"),
        ((1.0, 1e-6), {"coverage_weight": -1}, "coverage_weight must be"),
        ((1.0, 1e-6), {"neighbors": None}, "neighbors must be"),
        ((1.0, 1e-6), {"accounting": "rdp"}, "accounting must be"),
        ((1.0, 1e-6), {"accounting": "paper", "coverage_weight": 0.5}, "coverage_weight=0.5"),
    ],
)
def test_cover_exponent_says_what_it_wants(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        cover_exponent(*arguments, **options)

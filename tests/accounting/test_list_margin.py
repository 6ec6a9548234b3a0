import itertools
from fractions import Fraction

import pytest

from dpfast.accounting import decision_list_margin


def first_label(labels, literals):
    return next(b for b, literal in zip(labels, (*literals, True), strict=True) if literal)


@pytest.mark.parametrize("feature_range", [(-1, 1), (0, 1)])
@pytest.mark.parametrize("length", [1, 2, 4, 7])
def test_the_halfspace_of_a_decision_list_agrees_everywhere_with_its_margin(length, feature_range):
    for labels in itertools.product((-1, 1), repeat=length):
        half = decision_list_margin(labels, feature_range=feature_range)
        values = []
        for literals in itertools.product((False, True), repeat=length - 1):
            features = [feature_range[literal] for literal in literals]
            value = half.intercept + sum(w * x for w, x in zip(half.weights, features, strict=True))
            values.append(value * first_label(labels, literals))
        assert half.norm == abs(half.intercept) + sum(abs(w) for w in half.weights)
        assert half.margin == Fraction(min(values), half.norm) > 0


def test_a_variable_used_twice_keeps_the_margin():
    for labels in itertools.product((-1, 1), repeat=4):
        half = decision_list_margin(labels)
        for x1, x2 in itertools.product((-1, 1), repeat=2):
            literals = (x1, x2, -x1)
            value = half.intercept + sum(w * u for w, u in zip(half.weights, literals, strict=True))
            sign = first_label(labels, [u > 0 for u in literals])
            assert Fraction(value * sign, half.norm) >= half.margin


@pytest.mark.parametrize("feature_range", [(-1, 1), (0, 1)])
def test_the_margin_is_of_the_order_of_one_over_length_to_the_alternations(feature_range):
    for D, size in itertools.product(range(5), (1, 2, 10, 100)):
        labels = [(-1) ** group for group in range(D) for _ in range(size)] + [(-1) ** D] * 3
        half = decision_list_margin(labels, feature_range=feature_range)
        assert half.alternations == D
        assert half.margin >= Fraction(1, 2 * (size + 1) ** D - 1)
        if feature_range == (0, 1):
            assert half.margin <= Fraction(1, 2 * size**D) or D == 0


def test_a_disjunction_has_the_textbook_margin():
    assert decision_list_margin([1] * 5 + [-1], feature_range=(0, 1)).margin == Fraction(1, 11)
    assert decision_list_margin([1] * 5 + [-1]) == ((2,) * 5, 8, 18, Fraction(1, 9), 1)
    assert decision_list_margin([-1]).margin == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: decision_list_margin([]), r"labels must be a sequence of -1 and 1.*got \[\]"),
        (lambda: decision_list_margin([0, 1]), r"labels must be .*got \[0, 1\]"),
        (lambda: decision_list_margin([1], feature_range=(0, 2)), r"must be \(-1, 1\) or \(0, 1\) here, got \(0, 2\)"),
    ],
)
def test_the_margin_of_a_list_says_what_it_wants(call, message):
    with pytest.raises(ValueError, match=message):
        call()

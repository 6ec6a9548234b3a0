import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from reference.greedy_cover import enumerate_lists, hockey_stick

from dpfast.accounting import cover_delta, cover_epsilon

NEIGHBORS = ("replace", "add-remove")
EXPONENTS = (0.1, 0.7, 2.0)
WEIGHTS = (0.0, 0.3, 1.0)

# Tables without the row that differs: (X, y, negations, prior, max_rules).
TABLES = (
    (np.zeros((0, 3), int), [], False, 0, 4),
    (np.zeros((0, 2), int), [], True, 2, 3),
    ([[1, 0, 1]], [1], False, 1, 3),
    ([[1, 1, 0], [1, 1, 1], [1, 0, 1]], [1, 1, 0], False, 0, 4),
    ([[1, 0], [0, 1], [1, 1]], [0, 1, 0], True, 1, 3),
    ([[1], [1], [0]], [1, 1, 0], True, 3, 2),
)


def potential(r, u, s):
    """Phi_{u,s}(r) of the proof in `dpfast.accounting.curves`."""
    v = r * math.exp(u)
    if v >= math.exp(s):
        return (v - 1) * math.exp(-u)
    if s == 0:
        return 0.0
    return math.expm1(s) * math.exp((math.log(v) - s) / -math.expm1(-s) - u)


@pytest.mark.parametrize("coverage_weight", WEIGHTS)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_no_pair_of_neighbours_exceeds_the_curve(exponent, coverage_weight):
    for X, y, negations, prior, max_rules in TABLES:
        X = np.asarray(X)
        options = {
            "coverage_weight": coverage_weight,
            "prior": prior,
            "max_rules": max_rules,
            "negations": negations,
        }
        smaller = enumerate_lists(X, y, 2, exponent, **options)
        larger = [
            enumerate_lists(np.vstack([X, row]), [*y, label], 2, exponent, **options)
            for row in itertools.product((0, 1), repeat=X.shape[1])
            for label in (0, 1)
        ]
        without = np.array(list(smaller.values()))
        with_one = np.array([[law[rules] for rules in smaller] for law in larger])
        for epsilon in (0.0, 0.05, 0.2, 0.7, 1.5, 3.0):
            factor = math.exp(epsilon)
            measured = {
                "add-remove": max(
                    np.maximum(with_one - factor * without, 0).sum(axis=1).max(),
                    np.maximum(without - factor * with_one, 0).sum(axis=1).max(),
                ),
                "replace": max(np.maximum(P - factor * with_one, 0).sum(axis=1).max() for P in with_one),
            }
            for neighbors in NEIGHBORS:
                claim = cover_delta(exponent, epsilon, coverage_weight=coverage_weight, neighbors=neighbors)
                assert measured[neighbors] <= claim * (1 + 1e-9)


def test_one_round_never_raises_the_potential():
    rng = np.random.default_rng(0)
    for _ in range(20_000):
        u, s = 10 ** rng.uniform(-3, 0.5, size=2)
        r = math.exp(rng.uniform(-4, 4))
        after = [(0.0, u, s)]  # a candidate that touches no row that differs
        for _ in range(rng.integers(1, 4)):
            d = rng.uniform(-s, u)
            shrink = rng.choice([0.0, 1.0, rng.random()])
            after.append((d, shrink * min(u, u - d), shrink * min(s, s + d)))
        mass = rng.random(len(after)) ** rng.choice([1, 8])
        mass /= mass.sum()
        y = r / sum(p * math.exp(d) for p, (d, _, _) in zip(mass, after, strict=True))
        mean = sum(
            p * potential(y * math.exp(d), u_new, s_new) for p, (d, u_new, s_new) in zip(mass, after, strict=True)
        )
        assert mean <= potential(r, u, s) * (1 + 1e-9)


def adversary(exponent, epsilon, *, wrong, blank, others, rounds):
    """Divergence for one added row, label 0, when `wrong` features cover every row and `blank` none.

    The `others` rows have label 1. Runs differ only through (round of the first cover, its label), so
    the sum over lists becomes a sum over rounds: a dynamic program.
    """
    divergence, P, Q = 0.0, 1.0, 1.0
    right = math.exp(-exponent * others)
    for j in range(rounds + 1):
        # The last round is the constant true with either label.
        idle, covering = (2 * (blank - j), wrong) if j < rounds else (0, 1)
        with_row, without = covering * math.exp(-exponent), covering
        total_with, total_without = idle + with_row + covering * right, idle + without + covering * right
        for a, b in ((with_row, without), (covering * right, covering * right)):
            divergence += max(0.0, P * a / total_with - math.exp(epsilon) * Q * b / total_without)
        P, Q = P * idle / total_with, Q * idle / total_without
    return divergence


def test_the_adversary_is_what_the_enumeration_sees():
    exponent, others = 0.7, 3
    X = [[1, 0, 0]] * others
    options = {"coverage_weight": 0, "prior": 0, "max_rules": 3, "negations": False}
    Q = enumerate_lists(X, [1] * others, 2, exponent, **options)
    P = enumerate_lists([*X, [1, 0, 0]], [1] * others + [0], 2, exponent, **options)
    for epsilon in (0.0, 0.1, 0.3):
        expected = adversary(exponent, epsilon, wrong=1, blank=2, others=others, rounds=2)
        assert hockey_stick(P, Q, epsilon) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("exponent", "epsilon"), [(0.1, 0.2), (0.7, 1.5), (2.0, 3.0)])
def test_add_remove_at_weight_zero_is_nearly_attained(exponent, epsilon):
    claim = cover_delta(exponent, epsilon, neighbors="add-remove")
    reached = max(
        adversary(exponent, epsilon, wrong=40, blank=4_000, others=1_000, rounds=rounds)
        for rounds in range(10, 2_000, 10)
    )
    assert 0.9 * claim <= reached <= claim


def test_a_list_of_one_rule_is_one_draw_between_the_labels():
    options = {"coverage_weight": 0.5, "prior": 7, "max_rules": 1, "negations": True}
    law = enumerate_lists([[1], [0], [0]], [0, 0, 1], 2, 1, **options)
    right, wrong = math.exp(0.5 * 2 - 1), math.exp(0.5 * 1 - 2)
    assert law == pytest.approx({((None, 0),): right / (right + wrong), ((None, 1),): wrong / (right + wrong)})


def test_the_enumerated_law_adds_up_to_one():
    options = {"coverage_weight": Fraction(1, 3), "prior": 5, "max_rules": 3, "negations": True}
    law = enumerate_lists([[1, 0], [0, 1]], [0, 2], 3, Fraction(1, 2), **options)
    assert math.fsum(law.values()) == pytest.approx(1, abs=1e-12)
    assert all(rules[-1][0] is None for rules in law)
    assert all(literal is not None for rules in law for literal, _ in rules[:-1])


@pytest.mark.parametrize("delta", [0.1, 1e-2, 1e-6, 1e-12, 1e-100])
def test_the_curve_is_never_above_the_simpler_bounds(delta):
    for t, g in itertools.product((1e-4, 0.01, 0.1, 0.5, 1.0, 3.0), (0.0, 0.01, 0.3, 0.5, 1.0)):
        a, a_g = math.expm1(t), math.expm1(g * t)
        two_halves = (a + a_g * math.exp(2 * t)) * math.log(2 / delta) + 2 * (1 + g) * t
        assert cover_epsilon(t, delta, coverage_weight=g) <= two_halves
        one_half = a * math.log(1 / delta) + (1 + g) * t
        assert cover_epsilon(t, delta, coverage_weight=g, neighbors="add-remove") <= one_half


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_the_paper_never_claims_less_than_the_curve(neighbors):
    for t, delta in itertools.product((1e-9, 0.01, 0.1, 0.5, 1.0), (0.5, 1e-3, 1e-12, 1e-300)):
        paper = cover_epsilon(t, delta, neighbors=neighbors, accounting="paper")
        assert cover_epsilon(t, delta, neighbors=neighbors) <= paper
        assert paper == pytest.approx({"replace": 4, "add-remove": 2}[neighbors] * t * (math.log(1 / delta) + 1.5))


def test_the_formulas_at_weight_zero():
    t, epsilon = 0.5, 2.0
    a = math.expm1(t)
    assert cover_delta(t, epsilon) == pytest.approx((1 - math.exp(-t)) * math.exp(-epsilon / a), rel=1e-9)
    add_remove = (1 - math.exp(-t)) * math.exp(-(epsilon + t) / a)
    assert cover_delta(t, epsilon, neighbors="add-remove") == pytest.approx(add_remove, rel=1e-9)
    # Below t the direction from the smaller table, which is pure t-DP, can be the larger one.
    assert cover_delta(2.0, 0.5, neighbors="add-remove") == pytest.approx(1 - math.exp(-1.5), rel=1e-9)


def test_delta_at_the_rounded_epsilon_is_never_above_delta():
    draw = random.Random(0)
    for _ in range(10_000):
        t = 10 ** draw.uniform(-12, 2.5)
        delta = draw.choice([10 ** draw.uniform(-300, -0.001), draw.uniform(1e-9, 1 - 1e-9)])
        options = {
            "coverage_weight": draw.choice([0, 1, draw.random(), 10 ** draw.uniform(-20, 0)]),
            "neighbors": draw.choice(NEIGHBORS),
        }
        if draw.random() < 0.2 and t <= 1:
            options |= {"accounting": "paper", "coverage_weight": 0}
        epsilon = cover_epsilon(t, delta, **options)
        assert cover_delta(t, epsilon, **options) <= delta if epsilon < math.inf else t > 30


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("coverage_weight", [0, 1e-3, Fraction(1, 2), 1.0])
def test_delta_falls_with_epsilon_and_grows_with_the_exponent(neighbors, coverage_weight):
    options = {"coverage_weight": coverage_weight, "neighbors": neighbors}
    for t in (1e-3, 0.1, 1.0, 5.0):
        deltas = [cover_delta(t, epsilon, **options) for epsilon in np.linspace(0, 10 * t, 200)]
        assert deltas == sorted(deltas, reverse=True)
    for epsilon in (1e-3, 0.1, 1.0):
        deltas = [cover_delta(t, epsilon, **options) for t in np.geomspace(1e-3, 10, 200)]
        assert deltas == sorted(deltas)


def test_a_tiny_exponent_keeps_its_precision():
    t = 1e-15
    assert cover_delta(t, t) == pytest.approx(t * math.exp(-1), rel=1e-9)
    assert cover_epsilon(t, 1e-20) == pytest.approx(t * math.log(1e5), rel=1e-9)


def test_an_exponent_of_zero_costs_nothing():
    assert cover_delta(0, 0) == 0
    assert cover_epsilon(0, 1e-6, coverage_weight=1) == 0


def test_a_positive_exponent_never_has_delta_zero():
    assert 0 < cover_delta(1e-3, 1e3) <= 1e-300


def test_fractions_and_floats_agree():
    assert cover_epsilon(Fraction(1, 4), Fraction(1, 8), coverage_weight=Fraction(1, 2)) == cover_epsilon(
        0.25, 0.125, coverage_weight=0.5
    )


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((-0.1, 1.0), {}, "exponent must be a finite number >= 0, got -0.1"),
        ((math.nan, 1.0), {}, "exponent must be"),
        ((math.inf, 1.0), {}, "exponent must be"),
        ((True, 1.0), {}, "exponent must be a finite number >= 0, got True"),
        (("1", 1.0), {}, "exponent must be"),
        ((0.1, -1.0), {}, "epsilon must be a finite number >= 0, got -1.0"),
        ((0.1, math.nan), {}, "epsilon must be"),
        ((0.1, 10**400), {}, "epsilon must be"),
        ((0.1, 1.0), {"coverage_weight": 1.5}, "coverage_weight must be a number from 0 to 1, got 1.5"),
        ((0.1, 1.0), {"coverage_weight": math.nan}, "coverage_weight must be"),
        ((0.1, 1.0), {"neighbors": "swap"}, 'neighbors must be "replace" or "add-remove", got \'swap\''),
        ((0.1, 1.0), {"accounting": "best"}, 'accounting must be "curve" or "paper", got \'best\''),
        (
            (0.1, 1.0),
            {"accounting": "paper", "coverage_weight": 0.5},
            'accounting="paper".*coverage_weight=0.5',
        ),
        ((1.5, 1.0), {"accounting": "paper"}, "exponent=1.5"),
    ],
)
def test_cover_delta_says_what_it_wants(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        cover_delta(*arguments, **options)


@pytest.mark.parametrize("delta", [0, 1, -1e-6, 2.0, math.nan, True, None, 1e-310])
def test_cover_epsilon_says_what_delta_it_wants(delta):
    with pytest.raises(ValueError, match="delta must be at least 1e-300 and below 1, got"):
        cover_epsilon(0.1, delta)

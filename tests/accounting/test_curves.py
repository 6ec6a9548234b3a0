import decimal
import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from reference.greedy_cover import enumerate_lists, hockey_stick

from dpfast.accounting import cover_delta, cover_epsilon, cover_exponent
from dpfast.accounting.curves import cover

NEIGHBORS = ("replace", "add-remove")
EPSILONS = (0.0, 0.5, 1.0, 1.3, 2.0, 2.7, 3.5)  # in exponents

# Tables without the row that differs: (X, y, negations, prior).
TABLES = (
    (np.zeros((0, 3), int), [], False, 0),
    (np.zeros((0, 2), int), [], True, 2),
    ([[1, 0, 1]], [1], False, 1),
    ([[1, 1, 0], [1, 1, 1], [1, 0, 1]], [1, 1, 0], False, 0),
    ([[1, 0], [0, 1], [1, 1]], [0, 1, 0], True, 1),
    ([[1], [1], [0]], [1, 1, 0], True, 3),
    ([[1, 0, 0]] * 3, [1, 1, 1], False, 0),
    ([[1, 1, 0]] * 2, [1, 1], False, 0),
    ([[1, 1, 1]] * 4, [1, 1, 1, 1], False, 0),
)


def divergences(X, y, exponent, coverage_weight, prior, rounds, negations):
    """The largest hockey-stick divergences between neighbours: {(relation, epsilon): delta}."""
    X = np.asarray(X)
    options = {"coverage_weight": coverage_weight, "prior": prior, "max_rules": rounds, "negations": negations}
    smaller = enumerate_lists(X, y, 2, exponent, **options)
    larger = [
        enumerate_lists(np.vstack([X, row]), [*y, label], 2, exponent, **options)
        for row in itertools.product((0, 1), repeat=X.shape[1])
        for label in (0, 1)
    ]
    without = np.array(list(smaller.values()))
    with_one = np.array([[law[rules] for rules in smaller] for law in larger])
    measured = {}
    for epsilon in (share * exponent for share in EPSILONS):
        factor = math.exp(epsilon)
        measured["add-remove", epsilon] = max(
            np.maximum(with_one - factor * without, 0).sum(axis=1).max(),
            np.maximum(without - factor * with_one, 0).sum(axis=1).max(),
        )
        measured["replace", epsilon] = max(np.maximum(P - factor * with_one, 0).sum(axis=1).max() for P in with_one)
    return measured


@pytest.mark.parametrize("coverage_weight", [0, Fraction(1, 2), 1])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_pair_of_neighbours_exceeds_the_curve_of_its_rounds(rounds, coverage_weight):
    closest = dict.fromkeys(NEIGHBORS, 0.0)
    for exponent, (X, y, negations, prior) in itertools.product((0.1, 0.7, 2.0), TABLES):
        measured = divergences(X, y, exponent, coverage_weight, prior, rounds, negations)
        draws = min(rounds, np.shape(X)[1] + 1)
        for (neighbors, epsilon), delta in measured.items():
            options = {"coverage_weight": coverage_weight, "neighbors": neighbors, "max_rounds": draws}
            claim = cover_delta(exponent, epsilon, **options)
            assert delta <= claim + 1e-15  # of the sums
            if claim > 1e-9 and epsilon >= exponent:
                closest[neighbors] = max(closest[neighbors], delta / claim)
    assert closest["replace"] > 0.75
    assert closest["add-remove"] > 0.5 or (rounds, coverage_weight) == (1, 0)  # which is pure from t on


@pytest.mark.parametrize(
    "weights",
    [[(0.1, 1), (0.5, 0.5), (0.5, 1)], [(0.5, 0.2), (0, 1), (0.5, 0.5)], [(0.5, 1), (0.5, 0), (0.1, 0.9)]],
    ids=str,
)
def test_weights_that_differ_from_draw_to_draw_cost_no_more_than_the_largest(weights):
    closest = dict.fromkeys(NEIGHBORS, 0.0)
    for exponent, (X, y, negations, prior) in itertools.product((0.1, 0.7, 2.0), TABLES):
        measured = divergences(X, y, exponent, weights, prior, 3, negations)
        for (neighbors, epsilon), delta in measured.items():
            options = {"neighbors": neighbors, "max_rounds": min(3, np.shape(X)[1] + 1)}
            claim = cover_delta(exponent, epsilon, coverage_weight=0.5, **options)
            assert delta <= claim + 1e-15
            if claim > 1e-9 and epsilon >= exponent:
                closest[neighbors] = max(closest[neighbors], delta / claim)
    assert closest["replace"] > 0.3


def potential(r, u, s, rounds):
    """Phi_{T,u,s}(r) of the proof in docs/proofs_privacy.md; T is None for rounds without a limit."""
    v = r * math.exp(u)
    if v >= math.exp(s):
        return (v - 1) * math.exp(-u)
    if s == 0:
        return 0.0
    if rounds is None:
        return math.expm1(s) * math.exp((math.log(v) - s) / -math.expm1(-s) - u)
    c = math.exp((math.log(v) - s) / (rounds + 1))
    return math.expm1(s) * (max(0.0, c * math.exp(s) - 1) / math.expm1(s)) ** (rounds + 1) * math.exp(-u)


def test_one_round_never_raises_the_potential():
    rng = np.random.default_rng(0)
    for _ in range(4_000):
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
        for before, left in ((None, None), (rounds := int(rng.integers(1, 9)), rounds - 1)):
            mean = sum(
                p * potential(y * math.exp(d), u_new, s_new, left)
                for p, (d, u_new, s_new) in zip(mass, after, strict=True)
            )
            assert mean <= potential(r, u, s, before) * (1 + 1e-9) + 1e-300


@pytest.mark.parametrize("rounds", [1, 2, 7, 40])
@pytest.mark.parametrize("s", [0.05, 0.5, 1.0])
def test_the_closed_form_is_the_maximum_over_one_probability_in_every_round(s, rounds):
    p, a = np.linspace(0, 1, 200_001), -math.expm1(-s)
    for epsilon in np.linspace(0, (rounds + 1.2) * s, 8):
        x = epsilon - s
        best = (((1 - p) / (1 - p * a)) ** rounds - math.exp(x) * (1 - p) ** rounds).max()
        assert cover_delta(s, epsilon, max_rounds=rounds) == pytest.approx(best, rel=1e-5, abs=1e-40)


def adversary(exponent, epsilon, *, wrong, blank, others, rounds, right=0):
    """Divergence for one added row, label 0, when `wrong` features cover every row of label 1 and `blank` none.

    Of the other rows `others` have label 1; `right` of label 0 are covered by no feature. Runs differ only through
    (round of the first cover, its label), so the sum over lists becomes a sum over rounds: a dynamic program.
    """
    divergence, P, Q = 0.0, 1.0, 1.0
    for j in range(rounds):
        # The last round is the constant true with either label: its weights of label 0 and of label 1.
        idle, covering = (2 * (blank - j), wrong) if j < rounds - 1 else (0, 1)
        errors = 0 if j < rounds - 1 else right
        label_0, label_1 = covering * math.exp(-exponent * others), covering * math.exp(-exponent * errors)
        with_row = label_1 * math.exp(-exponent)
        total_with, total_without = idle + with_row + label_0, idle + label_1 + label_0
        for a, b in ((with_row, label_1), (label_0, label_0)):
            divergence += max(0.0, P * a / total_with - math.exp(epsilon) * Q * b / total_without)
        P, Q = P * idle / total_with, Q * idle / total_without
    return divergence


def test_the_adversary_is_what_the_enumeration_sees():
    exponent, others = 0.7, 3
    X = [[1, 0, 0]] * others + [[0, 0, 0]]
    y = [1] * others + [0]
    options = {"coverage_weight": 0, "prior": 0, "max_rules": 3, "negations": False}
    Q = enumerate_lists(X, y, 2, exponent, **options)
    P = enumerate_lists([*X, [1, 0, 0]], [*y, 0], 2, exponent, **options)
    for epsilon in (0.0, 0.1, 0.3):
        expected = adversary(exponent, epsilon, wrong=1, blank=2, others=others, rounds=3, right=1)
        assert hockey_stick(P, Q, epsilon) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("exponent", "epsilon"), [(0.1, 0.2), (0.7, 1.5), (2.0, 3.0)])
def test_add_remove_at_weight_zero_is_nearly_attained(exponent, epsilon):
    claim = cover_delta(exponent, epsilon, neighbors="add-remove")
    reached = max(
        adversary(exponent, epsilon, wrong=40, blank=4_000, others=1_000, rounds=rounds)
        for rounds in range(10, 2_000, 50)
    )
    assert 0.9 * claim <= reached <= claim


@pytest.mark.parametrize("rounds", [3, 10, 50])
@pytest.mark.parametrize(("exponent", "epsilon"), [(0.1, 0.2), (0.7, 1.5), (2.0, 3.0)])
def test_add_remove_at_weight_zero_is_nearly_attained_with_few_rounds_too(exponent, epsilon, rounds):
    claim = cover_delta(exponent, epsilon, neighbors="add-remove", max_rounds=rounds)
    p = math.expm1(-(epsilon + exponent) / (rounds + 1)) / math.expm1(-exponent)  # the proof's: 1 - pa = c
    wrong, others = 100_000, round(40 / exponent)
    blank, right = round(wrong * (1 / p - 1) / 2), others - round(math.log(p / (1 - p)) / exponent)
    reached = adversary(exponent, epsilon, wrong=wrong, blank=blank, others=others, rounds=rounds, right=right)
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
    for _ in range(2_000):
        t = 10 ** draw.uniform(-12, 2.5)
        delta = draw.choice([10 ** draw.uniform(-300, -0.001), draw.uniform(1e-9, 1 - 1e-9)])
        options = {
            "coverage_weight": draw.choice([0, 1, draw.random(), 10 ** draw.uniform(-20, 0)]),
            "neighbors": draw.choice(NEIGHBORS),
            "max_rounds": draw.choice([None, 1, 2, 25, draw.randrange(1, 10**7)]),
        }
        if draw.random() < 0.2 and t <= 1:
            options |= {"accounting": "paper", "coverage_weight": 0}
        elif options["max_rounds"] and draw.random() < 0.2:
            delta = 0
        epsilon = cover_epsilon(t, delta, **options)
        assert cover_delta(t, epsilon, **options) <= delta if epsilon < math.inf else t > 30


@pytest.mark.parametrize("neighbors", NEIGHBORS)
@pytest.mark.parametrize("coverage_weight", [0, 1e-3, Fraction(1, 2), 1.0])
@pytest.mark.parametrize("max_rounds", [None, 1, 12])
def test_delta_falls_with_epsilon_and_grows_with_the_exponent(neighbors, coverage_weight, max_rounds):
    options = {"coverage_weight": coverage_weight, "neighbors": neighbors, "max_rounds": max_rounds}
    for t in (1e-3, 0.1, 1.0, 5.0):
        deltas = [cover_delta(t, epsilon, **options) for epsilon in np.linspace(0, 10 * t, 30)]
        assert deltas == sorted(deltas, reverse=True)
    for epsilon in (1e-3, 0.1, 1.0):
        deltas = [cover_delta(t, epsilon, **options) for t in np.geomspace(1e-3, 10, 30)]
        assert deltas == sorted(deltas)


def exact_delta(t, epsilon, up, down, rounds):
    """f_{s,T}(E - u) of the theorem, to 60 digits."""
    with decimal.localcontext(prec=60):
        t, epsilon, up, s = (decimal.Decimal(x.numerator) / x.denominator for x in (t, epsilon, up * t, down * t))
        x = epsilon - up
        if x <= -s:
            return 1 - x.exp()
        if x >= rounds * s:
            return decimal.Decimal(0)
        h = (x + s) / (rounds + 1)
        return (1 - (-s).exp()) * (1 - (h.exp() - 1) / (s.exp() - 1)) ** (rounds + 1)


@pytest.mark.parametrize("neighbors", NEIGHBORS)
def test_delta_is_never_below_the_theorem_and_hardly_above_it(neighbors):
    draw = random.Random(1)
    for _ in range(600):
        t, rounds = Fraction(10 ** draw.uniform(-6, 1.5)), draw.choice([1, 2, 25, draw.randrange(1, 10**6)])
        g = draw.choice([Fraction(0), Fraction(1), Fraction(draw.random())])
        pure = (rounds + 1) * (1 + g) * t if neighbors == "replace" else (rounds + g) * t
        epsilon = Fraction(draw.choice([float(pure * (1 - Fraction(10) ** -draw.randrange(1, 16))),
                                        float(t) * draw.uniform(0, 30), float(pure) * draw.random()]))  # fmt: skip
        ranges = ((1 + g, 1 + g),) if neighbors == "replace" else ((g, Fraction(1)), (Fraction(1), g))
        exact = max(exact_delta(t, epsilon, up, down, rounds) for up, down in ranges)
        delta = cover_delta(t, epsilon, coverage_weight=g, neighbors=neighbors, max_rounds=rounds)
        assert decimal.Decimal(delta) >= exact
        if exact > 1e-200 and epsilon < pure * (1 - Fraction(1, 10**6)):
            assert delta <= float(exact) * (1 + 1e-3)


def test_few_rounds_cost_no_more_and_many_cost_what_any_number_costs():
    for t, epsilon, g, neighbors in itertools.product((0.01, 0.3, 2.0), (0.0, 0.3, 2.0), (0, 0.5), NEIGHBORS):
        options = {"coverage_weight": g, "neighbors": neighbors}
        deltas = [cover_delta(t, epsilon, max_rounds=rounds, **options) for rounds in (1, 2, 3, 10, 100, 10**12)]
        assert deltas == sorted(deltas)
        assert deltas[-1] == pytest.approx(cover_delta(t, epsilon, **options), rel=1e-6)


def test_a_tiny_exponent_keeps_its_precision():
    t = 1e-15
    assert cover_delta(t, t) == pytest.approx(t * math.exp(-1), rel=1e-9)
    assert cover_epsilon(t, 1e-20) == pytest.approx(t * math.log(1e5), rel=1e-9)


def test_a_run_of_few_rounds_is_pure_from_some_epsilon_on():
    t, g = Fraction(1, 8), Fraction(1, 2)
    for rounds in (1, 3, 30):
        for neighbors, pure in (("replace", (rounds + 1) * (1 + g) * t), ("add-remove", (rounds + g) * t)):
            options = {"coverage_weight": g, "neighbors": neighbors, "max_rounds": rounds}
            assert cover_delta(t, pure, **options) == 0
            assert cover_delta(t, pure * (1 - Fraction(1, 10**9)), **options) > 0
            assert float(pure) <= cover_epsilon(t, 0, **options) <= float(pure) * (1 + 1e-9)
            exponent = cover_exponent(pure, 0, **options)
            assert float(t) * (1 - 1e-9) <= exponent <= t


@pytest.mark.parametrize("coverage_weight", [0, Fraction(1, 2), 1])
@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_no_probability_of_a_list_exceeds_the_pure_bound_and_some_nearly_reach_it(rounds, coverage_weight):
    exponent, closest = 1.5, dict.fromkeys(NEIGHBORS, 0.0)
    options = {"coverage_weight": coverage_weight, "prior": 0, "max_rules": rounds, "negations": False}
    # Label 1 is right for all rows and they are covered by all features: next to every draw errs on a row of label 0.
    for X, y in (([[1, 1, 0, 0]] * 9, [1] * 9), (np.zeros((0, 4), int), [])):
        laws = [enumerate_lists(X, y, 2, exponent, **options)]
        for row, label in itertools.product(itertools.product((0, 1), repeat=4), (0, 1)):
            laws.append(enumerate_lists([*np.asarray(X), row], [*y, label], 2, exponent, **options))
        logs = np.log([[law[rules] for rules in laws[0]] for law in laws])
        closest["add-remove"] = max(closest["add-remove"], np.abs(logs[1:] - logs[0]).max())
        closest["replace"] = max(closest["replace"], np.ptp(logs[1:], axis=0).max())
    for neighbors in NEIGHBORS:
        pure = cover_epsilon(exponent, 0, coverage_weight=coverage_weight, neighbors=neighbors, max_rounds=rounds)
        assert 0.5 * pure < closest[neighbors] <= pure


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
        ((0.1, 1.0), {"max_rounds": 0}, "max_rounds must be None or an integer >= 1, got 0"),
        ((0.1, 1.0), {"max_rounds": 2.5}, "max_rounds must be None or an integer >= 1, got 2.5"),
        ((0.1, 1.0), {"max_rounds": True}, "max_rounds must be"),
    ],
)
def test_cover_delta_says_what_it_wants(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        cover_delta(*arguments, **options)


@pytest.mark.parametrize("delta", [0, 1, -1e-6, 2.0, math.nan, True, None, 1e-310])
def test_cover_epsilon_says_what_delta_it_wants(delta):
    with pytest.raises(ValueError, match="delta must be at least 1e-300 and below 1, got"):
        cover_epsilon(0.1, delta)


@pytest.mark.parametrize(
    ("options", "exponent"),
    [({}, 0.08476), ({"neighbors": "add-remove"}, 0.09160), ({"accounting": "paper"}, 0.01632)],
)
def test_the_exponents_at_one_and_a_millionth(options, exponent):
    assert cover_exponent(1, 1e-6, **options) == pytest.approx(exponent, abs=5e-6)


@pytest.mark.parametrize(
    ("options", "exponents"),
    [
        ({}, (0.08476, 0.08944, 0.10408, 0.13541, 0.15874)),
        ({"coverage_weight": 0.5}, (0.05650, 0.05962, 0.06939, 0.09027, 0.10583)),
        ({"coverage_weight": 0.5, "neighbors": "add-remove"}, (0.08806, 0.09315, 0.10924, 0.14458, 0.17171)),
    ],
)
def test_the_exponents_of_few_rounds_at_one_and_a_millionth(options, exponents):
    for max_rounds, exponent in zip((None, 100, 25, 10, 7), exponents, strict=True):
        assert cover_exponent(1, 1e-6, max_rounds=max_rounds, **options) == pytest.approx(exponent, abs=5e-6)


def test_the_exponent_fits_and_a_larger_one_does_not():
    draw = random.Random(0)
    for _ in range(300):
        epsilon = 10 ** draw.uniform(-9, 3)
        delta = draw.choice([10 ** draw.uniform(-300, -0.31), draw.uniform(1e-9, 0.5)])
        options = {
            "coverage_weight": draw.choice([0, 1, draw.random(), 10 ** draw.uniform(-20, 0)]),
            "neighbors": draw.choice(NEIGHBORS),
            "max_rounds": draw.choice([None, 1, 2, 25, draw.randrange(1, 10**7)]),
        }
        if options["max_rounds"] and draw.random() < 0.2:
            delta = 0
        exponent = cover_exponent(epsilon, delta, **options)
        assert cover_epsilon(exponent, delta, **options) <= epsilon
        assert cover_epsilon(exponent * (1 + 1e-9), delta, **options) > epsilon


def test_an_exponent_that_a_search_finds_too_large_is_made_smaller(monkeypatch):
    few = {"coverage_weight": 0.45402901383964533, "neighbors": "add-remove", "max_rounds": 2}
    least = Fraction(1, 2 * 10**15)  # the search answers in floats, of which one is a little too large here
    assert 0 < cover_epsilon(cover_exponent(least, 0, **few), 0, **few) <= least
    found = cover.largest
    for epsilon, times in ((0.71, 1 + 1e-9), (0.72, 1.01), (0.73, 2.0)):
        monkeypatch.setattr(cover, "largest", lambda *given, times=times: times * found(*given))
        assert 0.25 * epsilon < cover_epsilon(cover_exponent(epsilon, 1e-7), 1e-7) <= epsilon


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


def test_exponents_of_fractions_and_of_floats_agree():
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
        ((1.0, 0), {"max_rounds": 9, "accounting": "paper"}, "delta must be .*, got 0"),
        ((1.0, 1.0), {}, "delta must be"),
        ((1.0, -1e-9), {"max_rounds": 9}, "delta must be"),
        ((1.0, 1e-6), {"max_rounds": "9"}, "max_rounds must be"),
        ((1.0, 1e-6), {"coverage_weight": -1}, "coverage_weight must be"),
        ((1.0, 1e-6), {"neighbors": None}, "neighbors must be"),
        ((1.0, 1e-6), {"accounting": "rdp"}, "accounting must be"),
        ((1.0, 1e-6), {"accounting": "paper", "coverage_weight": 0.5}, "coverage_weight=0.5"),
    ],
)
def test_cover_exponent_says_what_it_wants(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        cover_exponent(*arguments, **options)

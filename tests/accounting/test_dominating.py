"""Curves of greedy covers as pairs of laws: against known answers, another construction, and enumerated lists."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from reference import balls
from reference.balls import ball
from reference.greedy_cover import enumerate_lists, hockey_stick
from reference.many_digits import gaussian_curve as exact_gaussian_curve
from scipy import special

from dpfast.accounting import (
    Composed,
    Cost,
    CoverDraws,
    Draws,
    NoisySums,
    PrivacySpend,
    bill_delta,
    bill_noise,
    compose,
    cover_delta,
    cover_exponent,
    gaussian_delta,
    gaussian_epsilon,
    gaussian_sigma,
)
from dpfast.accounting.claims.composition import gaussian_curve
from dpfast.accounting.curves.dominating import (
    CoverCurve,
    beside_gaussian,
    cover_gaussian,
    cover_renyi,
    grid,
    losses,
    points,
)
from dpfast.accounting.curves.searches import largest

RELATIONS = ("replace", "add-remove")


def changes(neighbors, weight=Fraction(1, 2)):
    return (1 + weight, 1 + weight) if neighbors == "replace" else (weight, 1)


def curve_of(exponent, neighbors, rounds, weight=Fraction(1, 2)):
    return CoverDraws(*changes(neighbors, weight), 1, rounds).curve(exponent)


def cost_of(epsilon, neighbors, rounds=10):
    exponent = cover_exponent(epsilon, 1e-6, coverage_weight=0.5, max_rounds=rounds, neighbors=neighbors)
    up, down, rounds = curve_of(exponent, neighbors, rounds)
    return Cost("cover", max(up, down), up=min(up, down), rounds=rounds)


class GaussianCurve:
    """A curve whose answers are known, in the place of a cover's."""

    def __init__(self, mu):
        self.mu, self.pure = mu, math.inf

    def reach(self, tail):
        return gaussian_epsilon(1, max(tail, 1e-100), sensitivity=self.mu)

    def delta(self, epsilon):
        return gaussian_curve(epsilon, self.mu)


@pytest.mark.parametrize(("one", "two"), [(0.1, 0.2), (0.2, 0.05), (1.0, 2.0)])
def test_the_law_of_a_gaussian_beside_another_is_that_of_both(one, two):
    curve = GaussianCurve(two)
    for epsilon in (0.0, 0.5, 1.0):
        exact = gaussian_delta(1, epsilon, sensitivity=math.hypot(one, two))
        found = beside_gaussian(curve, Fraction(one) ** 2, Fraction(0), epsilon)
        assert exact * (1 - 1e-9) <= found <= exact * 1.001
    step = grid(curve.reach(1e-30), 2000)
    law = points(curve, step, 1e-30).law()
    four = law.times(4)
    at = step * (len(four.mass) // 2) / 20
    loss = losses(four, step)
    exact = gaussian_delta(1, at, sensitivity=2 * two)
    assert exact <= four.mass @ -np.expm1(np.minimum(at - loss, 0)) + four.rest <= exact * 1.01


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("rounds", [1, 10, 500])
def test_the_law_is_that_of_another_implementation_of_the_construction(neighbors, rounds):
    from dp_accounting.pld import pld_pmf

    exponent = cover_exponent(1, 1e-6, coverage_weight=0.5, max_rounds=rounds, neighbors=neighbors)
    curve = curve_of(exponent, neighbors, rounds)
    found = points(curve, grid(curve.reach(1e-12), 300), 1e-12)
    law, last = found.law(), len(found.epsilon) - 1
    assert law.mass.min() >= 0
    assert law.mass.sum() + law.rest == pytest.approx(1, abs=1e-12)
    assert np.allclose(law.mass[:last], law.mass[:last:-1] * np.exp(-found.epsilon[:0:-1]), rtol=1e-12, atol=0)
    hull = found.hull()
    below = -np.expm1(-found.epsilon[:0:-1]) + np.exp(-found.epsilon[:0:-1]) * hull[:0:-1]
    other = pld_pmf.create_pmf_pessimistic_connect_dots(
        found.step, list(range(-last, last + 1)), np.concatenate([below, hull])
    )
    assert other.size <= 2 * last + 1
    for epsilon in np.linspace(0, curve.reach(1e-12), 7):
        ours = law.mass @ -np.expm1(np.minimum(epsilon - losses(law, found.step), 0)) + law.rest
        assert ours == pytest.approx(other.get_delta_for_epsilon(epsilon), rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_a_curve_is_that_of_one_list_and_never_below_it(neighbors):
    for rounds, exponent, weight in itertools.product(
        (1, 3, 10, 1000), (1e-3, 0.09, 2.0), (Fraction(0), Fraction(1, 2))
    ):
        curve = curve_of(exponent, neighbors, rounds, weight)
        epsilons = np.linspace(0, 1.05 * curve.pure, 40)
        how = {"coverage_weight": weight, "max_rounds": rounds, "neighbors": neighbors}
        for epsilon, found in zip(epsilons, curve.delta(epsilons), strict=True):
            other = cover_delta(exponent, epsilon, **how)
            assert found >= other * (1 - 4e-12) or other <= 1e-290
            assert found <= max(other, 1e-290) * (1 + 1e-9)


@balls.decided
def _is_just_above_the_polygon(curve, found, mu, epsilon, answer):
    """Whether an answer is at least the claim of the module's theorem for its points, by balls, and nearly that."""
    step, n = ball(found.step), len(found.epsilon) - 1
    starts = {(curve.up, curve.down), (curve.down, curve.up)}

    def divergence(x, s):
        if s == 0:
            return balls.largest([0, -balls.expm1(x)])
        if x <= -ball(s):
            return -balls.expm1(x)
        if x >= curve.rounds * ball(s):
            return ball(0)
        h = (x + ball(s)) / (curve.rounds + 1)
        return -balls.expm1(-ball(s)) * (1 - balls.expm1(h) / balls.expm1(ball(s))) ** (curve.rounds + 1)

    d = [balls.largest([divergence(j * step - ball(up), down) for up, down in starts]) for j in range(n + 1)]
    rise = [(d[j + 1] - d[j]) / balls.expm1(step) for j in range(n)] + [ball(0)]
    across = -(1 - d[found.first]) / (1 + balls.exp(-found.first * step))
    mass = {found.first: (rise[found.first] - across) * (1 if found.first else 2)}
    mass |= {j: rise[j] - balls.exp(step) * rise[j - 1] for j in range(found.first + 1, n + 1)}
    beside = ball(mu)
    whole = balls.total(p * exact_gaussian_curve(beside, ball(epsilon) - j * step) for j, p in mass.items())
    below = balls.total(
        p * balls.exp(-j * step) * exact_gaussian_curve(beside, ball(epsilon) + j * step) for j, p in mass.items() if j
    )
    return ball(answer * (1 - 1e-6)) < whole + below + d[n] <= ball(answer)


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("rounds", [1, 10, 200])
def test_floats_are_above_balls_of_many_digits(neighbors, rounds):
    for epsilon, share in ((0.1, 0.1), (3.0, 0.06)):
        exponent = cover_exponent(epsilon, 1e-6, coverage_weight=0.5, max_rounds=rounds, neighbors=neighbors)
        curve = curve_of(exponent, neighbors, rounds)
        mu = math.sqrt(share) / gaussian_sigma(epsilon, 1e-6)
        found = points(curve, grid(curve.reach(1e-20), 15), 1e-20)
        law = found.law()
        x = epsilon - losses(law, found.step)
        answer = (
            float(law.mass @ gaussian_curve(x - 1e-14 * (epsilon + curve.reach(1e-20)), mu)) * (1 + 1e-9) + law.rest
        )
        assert _is_just_above_the_polygon(curve, found, mu, epsilon, answer)


# ---- enumerated lists ------------------------------------------------------------------------------------------------


def neighbours(neighbors):
    """Pairs of laws of lists on small neighbouring tables, both orders, with what each pair's curve is."""
    for exponent, rounds in ((Fraction(1, 2), 2), (Fraction(1), 3)):
        options = {"coverage_weight": Fraction(1, 2), "prior": 1, "max_rules": rounds, "negations": True}
        for X, y in (([[1, 0]], [0]), ([[1, 0], [0, 1]], [0, 1]), ([[1, 1], [1, 0], [0, 1]], [1, 1, 0])):
            base = enumerate_lists(X, y, 2, exponent, **options)
            for row, label in itertools.product(((0, 0), (1, 0), (1, 1)), (0, 1)):
                if neighbors == "replace":
                    other = enumerate_lists([*X[:-1], row], [*y[:-1], label], 2, exponent, **options)
                else:
                    other = enumerate_lists([*X, row], [*y, label], 2, exponent, **options)
                yield base, other, curve_of(exponent, neighbors, rounds)
                yield other, base, curve_of(exponent, neighbors, rounds)


def beside(P, Q, mu, epsilon):
    """The divergence of two laws of lists beside a Gaussian release."""
    p = np.array([P.get(rules, 0.0) for rules in {*P, *Q}])
    q = np.array([Q.get(rules, 0.0) for rules in {*P, *Q}])
    return float(p[q > 0] @ gaussian_curve(epsilon - np.log(p[q > 0] / q[q > 0]), mu)) + p[q == 0].sum()


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_enumerated_lists_beside_gaussian_releases_are_within_their_law(neighbors):
    closest = 0.0
    for P, Q, curve in neighbours(neighbors):
        for mu, epsilon in itertools.product((0.05, 0.5, 1.5), (0.0, 0.5, 1.0, 2.0)):
            claimed = beside_gaussian(curve, Fraction(mu) ** 2, Fraction(0), epsilon)
            found = beside(P, Q, mu, epsilon)
            assert found <= claimed
            closest = max(closest, found / claimed)
    assert closest > 0.8


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_lists_chosen_by_what_was_released_before_are_within_their_law(neighbors):
    """A Gaussian release in four bins; by its outcome the worst of the tables, then a second Gaussian release."""
    by_curve = {}
    for P, Q, curve in neighbours(neighbors):
        by_curve.setdefault(curve, []).append((P, Q))
    first, second = 0.6, 0.4
    edges = np.array([-math.inf, -0.5, 0.3, 1.0, math.inf])
    q, p = np.diff(special.ndtr(edges)), np.diff(special.ndtr(edges - first))
    for curve, pairs in by_curve.items():
        for epsilon in (0.0, 1.0, 2.0):
            worst = sum(
                p[k] * max(beside(P, Q, second, epsilon - math.log(p[k] / q[k])) for P, Q in pairs)
                for k in range(len(p))
            )
            square = Fraction(first) ** 2 + Fraction(second) ** 2
            assert worst <= beside_gaussian(curve, square, Fraction(0), epsilon)


@pytest.mark.parametrize("neighbors", RELATIONS)
def test_enumerated_lists_are_within_the_mu_and_the_divergences_of_their_curve(neighbors):
    for P, Q, curve in neighbours(neighbors):
        mu = cover_gaussian(curve)
        for epsilon in (0.0, 0.3, 1.0, 2.0, 3.0):
            assert hockey_stick(P, Q, epsilon) <= gaussian_delta(1, epsilon, sensitivity=mu)
        for b in (0.01, 1.0, 5.0, 50.0):
            logs = [math.log(P[rules]) + b * math.log(P[rules] / Q[rules]) for rules in P]
            assert np.logaddexp.reduce(logs) / b <= cover_renyi(curve, b)


@pytest.mark.parametrize("b", [1e-3, 0.1, 0.3, 3.0, 100.0])
def test_divergences_are_those_of_the_law(b):
    curve = curve_of(0.09, "replace", 10)
    found = points(curve, grid(curve.pure, 4096), 1e-300)
    law, at = found.law(), losses(found.law(), found.step)
    with np.errstate(divide="ignore"):
        exact = np.logaddexp.reduce(np.log(law.mass) + b * at) / b
    assert cover_renyi(curve, b) == pytest.approx(exact, rel=1e-6)
    assert cover_renyi(curve, b) >= exact * (1 - 1e-12) or b < 0.01  # where the logarithm of nearly 1 is rounded


def test_two_lists_are_within_the_convolution_of_their_laws():
    pairs = [(P, Q, curve) for P, Q, curve in neighbours("replace")][::7]
    for (P, Q, one), (R, S, two) in itertools.combinations(pairs[:6], 2):
        both = Composed([Cost("cover", max(c.up, c.down), up=min(c.up, c.down), rounds=c.rounds) for c in (one, two)])
        for epsilon in (0.0, 1.0, 2.5):
            together = sum(max(0.0, P[a] * R[b] - math.exp(epsilon) * Q[a] * S[b]) for a, b in itertools.product(P, R))
            assert together <= both.delta(epsilon)


# ---- what it is for --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("neighbors", "most"), [("replace", 3.6), ("add-remove", 3.25)])
def test_ten_lists_cost_less_than_ten(neighbors, most):
    ten = [PrivacySpend(1.0, 1e-6, neighbors, cost=[cost_of(1, neighbors)])] * 10
    together = compose(ten)
    assert together.delta == 1e-6
    assert 3 < together.epsilon <= most


def test_ten_small_lists_cost_less_than_three():
    together = compose([PrivacySpend(0.3, 1e-6, "replace", cost=[cost_of(0.3, "replace")])] * 10)
    assert 1 < together.epsilon <= 1.06


@pytest.mark.parametrize("neighbors", RELATIONS)
@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 3.0])
def test_a_list_beside_a_survey_keeps_most_of_its_exponent(neighbors, epsilon):
    alone = cover_exponent(epsilon, 1e-6, coverage_weight=0.5, max_rounds=10, neighbors=neighbors)
    parts = [NoisySums(2**30, 0.06, size=1000), CoverDraws(*changes(neighbors), 0.94, 10)]
    plan = bill_noise(parts, epsilon, 1e-6)
    assert 0.96 * alone <= plan.noise[1] <= math.sqrt(0.94) * alone * 1.01
    assert plan.noise[0] / 2**30 == pytest.approx(gaussian_sigma(epsilon, 1e-6) / math.sqrt(0.06), rel=1e-9)
    assert bill_delta(parts, plan.noise, epsilon) <= 1e-6
    assert bill_delta(parts, [plan.noise[0], plan.noise[1] * (1 + 1e-6)], epsilon) > 1e-6
    assert Composed(plan.cost).epsilon(1e-6) == pytest.approx(epsilon, rel=1e-5)
    (lone,) = bill_noise([CoverDraws(*changes(neighbors), 1, 10)], epsilon, 1e-6).noise
    assert lone == pytest.approx(alone, rel=1e-8)


def test_words_and_draws_stand_beside_a_list():
    parts = [NoisySums(2**30, 1, size=10), Draws(2, 1), CoverDraws(1, 1, 8, 7)]
    plan = bill_noise(parts, 1, 1e-6, words=1e-7)
    assert bill_delta(parts, plan.noise, 1, words=1e-7) <= 1e-6 * (1 + 1e-12)
    assert [cost.kind for cost in plan.cost] == ["gaussian", "range", "cover", "pair"]
    assert Composed(plan.cost).delta(1.0) <= 1.001e-6


def test_a_list_alone_costs_its_claim_and_adds_up_with_what_stands_beside_it():
    one = cost_of(1, "replace")
    assert Composed([one]).epsilon(1e-6) == pytest.approx(1, abs=1e-9)
    assert one.pure <= Composed([one]).epsilon(0) == pytest.approx(11 * one.size)
    beside_it = {
        "pure": Cost("pure", 0.05),
        "range": Cost("range", 0.05, 3),
        "zcdp": Cost("zcdp", 0.001),
        "gaussian": Cost("gaussian", 0.05, delta=1e-15),
        "pair": Cost("pair", 0.05, delta=1e-7),
    }
    for cost in beside_it.values():
        both = Composed([one, cost])
        assert 1 < both.epsilon(1.2e-6) < 1.12
        assert both.delta(1.0) >= Composed([one]).delta(1.0)
    assert 1 < Composed([one, *beside_it.values()]).epsilon(1.2e-6) < 1.3
    many = [Cost("pure", 0.001 * k) for k in range(1, 30)]
    assert 1 < Composed([one, *many]).epsilon(1e-6) < 1.3


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_list_alone_has_no_more_delta_than_beside_a_little_noise(relation):
    one, little = cost_of(1, relation), Cost("gaussian", 1e-9)
    for epsilon in (0.0, 1e-3, 0.02, 0.1, 0.5):
        assert Composed([one]).delta(epsilon) <= Composed([one, little]).delta(epsilon) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [300, 1000, 10_000])
def test_a_list_beside_pure_costs_has_no_more_than_its_own_delta_with_these_on_top(epsilon):
    one, pure = cost_of(epsilon, "replace"), Cost("pure", 0.05 * epsilon)
    assert Composed([one, pure]).delta(1.05 * epsilon) <= 1e-6 * (1 + 1e-6)


def test_a_composed_figure_is_no_filter():
    """Chosen by the list's outcome, what comes next adds up to more than either choice does."""
    one, epsilon = cost_of(1, "replace"), 2.0
    curve = one.curve
    found = points(curve, grid(curve.pure, 4000), 1e-300)
    law = found.law()
    loss = losses(law, found.step)
    mu = largest(lambda m: beside_gaussian(curve, Fraction(m) ** 2, Fraction(0), epsilon), 1e-6)

    def single(s):
        return CoverCurve(s, s, 1)

    def profile(c, x):
        law, step = (lambda f: (f.law(), f.step))(points(c, grid(c.pure, 2000), 1e-300))
        at = losses(law, step)
        return np.array([law.mass @ -np.expm1(np.minimum(e - at, 0)) for e in x])

    s = largest(lambda s: float(law.mass @ profile(single(s), epsilon - loss)) if s else 0.0, 1e-6, 0.1)
    chosen = law.mass @ np.maximum(gaussian_curve(epsilon - loss, mu), profile(single(s), epsilon - loss))
    assert 1.7e-6 < chosen < 2e-6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"up": 2.0}, "up must be from 0 to size"),
        ({"up": -1.0}, "up must be from 0 to size"),
        ({"rounds": 0}, "rounds must be an integer >= 1"),
        ({"delta": 0.1}, "delta must be 0"),
    ],
)
def test_a_cover_refuses_what_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        Cost("cover", 1.0, **arguments)
    with pytest.raises(ValueError, match="up and rounds are of a cover"):
        Cost("pure", 1.0, rounds=2)
    with pytest.raises(ValueError, match="one greedy cover at most"):
        bill_noise([CoverDraws(1, 1, 1)] * 2, 1, 1e-6)


def test_what_the_other_table_never_shows_and_what_is_away_from_gaussian_count():
    exponent = cover_exponent(1, 1e-6, coverage_weight=0.5, max_rounds=10**6)
    curve = curve_of(exponent, "replace", 10**6)
    step = grid(curve.reach(1e-3), 100)
    law = points(curve, step, 1e-3).law()
    assert law.times(3).rest == pytest.approx(3 * law.rest)
    assert 0 < law.rest < 1e-3
    far = CoverCurve(0.5, 0.5, 10**9)
    assert beside_gaussian(far, Fraction(1, 10**6), Fraction(0), 300) > 0
    cost = Cost("cover", 0.5, 3, up=0.5, rounds=10**9)
    assert 1e-40 < Composed([cost]).delta(400.0) <= 1
    square, away = Fraction(1, 100), Fraction(1, 10**3)
    more = beside_gaussian(curve, square, away, 1.0) - beside_gaussian(curve, square, Fraction(0), 1.0)
    assert more == pytest.approx((1 + math.e) * 1e-3, rel=1e-9)

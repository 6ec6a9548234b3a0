"""One solution for the noise of several releases: against balls of many digits, and against enumerated laws."""

import itertools
import math
import random
from fractions import Fraction

import numpy as np
import pytest
from reference import balls
from reference.balls import ball
from reference.many_digits import gaussian_curve, zcdp_curve

from dpfast.accounting import (
    Cost,
    Draws,
    NoisySums,
    bill_delta,
    bill_noise,
    compose,
    discrete_gaussian_sigma,
    gaussian_delta,
)
from dpfast.accounting.claims.bill import CoverDraws
from dpfast.accounting.claims.composition import Composed
from dpfast.accounting.claims.spend import PrivacySpend
from dpfast.accounting.curves.opening import survey_noise


def claimed(parts, noise, epsilon, words):
    """The claim of the module's documentation, as a ball."""
    sums = [(p, ball(Fraction(s))) for p, s in zip(parts, noise, strict=True) if isinstance(p, NoisySums)]
    draws = [p.times * (int(p.width) * ball(Fraction(s))) ** 2 for p, s in zip(parts, noise, strict=True) if p not in
             [q for q, _ in sums]]  # fmt: skip
    square = balls.total(p.times * (int(p.sensitivity) / s) ** 2 for p, s in sums)
    apart = balls.total(p.times * p.size / (24 * s**2) for p, s in sums)
    mu = balls.sqrt(square + balls.total(draws) * balls.pi() / 8)
    way = gaussian_curve(mu, epsilon) + (1 + balls.exp(epsilon)) * apart
    other = zcdp_curve(square / 2 + balls.total(draws) / 8, epsilon)
    told = ball(Fraction(words))
    return told + (1 - told) * min(way, other)


@balls.decided
def within(parts, noise, epsilon, words, most):
    return claimed(parts, noise, epsilon, words) <= most


def bills(seed, number):
    random_ = random.Random(seed)
    for _ in range(number):
        parts = [
            NoisySums(random_.choice([1, 2, 2**10, 2**20, 2**40]), random_.uniform(1e-3, 1), random_.randint(1, 10**6),
                      random_.randint(1, 100))
            if random_.random() < 0.7
            else Draws(random_.choice([1, 2, 2**20]), random_.uniform(1e-3, 1), random_.randint(1, 100))
            for _ in range(random_.randint(1, 6))
        ]  # fmt: skip
        delta = Fraction(f"1e-{random_.randint(1, 30)}")
        yield parts, 10 ** random_.uniform(-3, 2), delta, delta * random_.choice([0, Fraction(1, 10), Fraction(9, 10)])


def test_no_bill_claims_less_than_many_digits_say(many):
    for parts, epsilon, delta, words in bills(0, many(10, 10_000)):
        plan = bill_noise(parts, epsilon, delta, words=words)
        told = bill_delta(parts, plan.noise, epsilon, words=words)
        assert within(parts, plan.noise, epsilon, words, min(float(delta), told))
        assert told <= float(delta) * (1 + 1e-15)
        smaller = [s * (1 + 1e-6) if isinstance(p, Draws) else s / (1 + 1e-6) for p, s in zip(parts, plan.noise,
                   strict=True)]  # fmt: skip
        assert bill_delta(parts, smaller, epsilon, words=words) > float(
            delta
        )  # and none more than a millionth too much


def test_noise_is_divided_by_the_shares():
    parts = [NoisySums(1000, 1, times=4), NoisySums(500, 2), Draws(3, 1, times=2)]
    sigma, other, exponent = bill_noise(parts, 1, 1e-6).noise
    squares = [4 * (1000 / sigma) ** 2, (500 / other) ** 2, 2 * (3 * exponent) ** 2 * math.pi / 8]
    assert np.allclose(np.array(squares) / squares[0], [1, 2, 1])


def test_one_part_is_what_one_kind_of_noise_needs():
    for case in ({"sensitivity": 2**20, "size": 50}, {"sensitivity": 1, "size": 10}):
        (sigma,) = bill_noise([NoisySums(case["sensitivity"], 1, case["size"], times=7)], 0.7, 1e-7).noise
        assert sigma == pytest.approx(discrete_gaussian_sigma(0.7, 1e-7, releases=7, **case), rel=1e-11)


def test_fits_compose_as_gaussian_ones_and_one_costs_its_claim():
    parts = [NoisySums(2**20, 1, 100), NoisySums(2**16, 4, 20, times=50)]
    plan = bill_noise(parts, 1, 1e-6, words=1e-7)
    assert 1 - 1e-9 <= Composed(plan.cost).epsilon(1e-6) < 1 + 1e-9
    five = compose([PrivacySpend(1.0, 1e-6, "replace", cost=plan.cost)] * 5, delta=2e-6)
    assert 2.2 < five.epsilon < 2.4


def law_of_sums(centre, sigma, reach):
    x = np.arange(-reach, reach + 1)
    weights = np.exp(-(((x - centre) / sigma) ** 2) / 2)
    return weights / weights.sum()


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("words", [0, Fraction(1, 100)])
def test_enumerated_releases_are_within_the_claim(epsilon, words):
    """A count, then a draw by a score that the noisy count turns, then a second count; words tell with their chance."""
    parts = [NoisySums(1, 2), Draws(1, 1), NoisySums(2, 3)]
    delta = Fraction(1, 20)
    first, exponent, second = bill_noise(parts, epsilon, delta, words=words).noise
    reach = math.ceil(8 * max(first, second))

    def law(table):
        count = law_of_sums(table, first, reach)
        signs = np.where(np.arange(-reach, reach + 1) > 0, 1, -1)
        draws = []
        for sign in signs:
            weights = np.exp(exponent * np.array([0.0, sign * table]))
            draws.append(weights / weights.sum())
        last = [law_of_sums(2 * table * way, second, reach) for way in (1, -1)]
        return np.array([[count[i] * draws[i][j] * last[j] for j in (0, 1)] for i in range(len(signs))])

    def hockey(p, q, told):
        seen, unseen = (float(told[0]), 1 - float(told[0])), 1 - float(told[1])
        return seen[0] + np.maximum(seen[1] * p - math.exp(epsilon) * unseen * q, 0).sum()

    laws = [law(table) for table in (0, 1)]
    for chances in itertools.product((0, words), repeat=2):
        for (p, q), told in (((0, 1), chances), ((1, 0), chances[::-1])):
            assert hockey(laws[p], laws[q], told) <= float(delta)
    assert max(hockey(laws[0], laws[1], (words, words)), hockey(laws[1], laws[0], (words, words))) >= float(delta) / 4


@pytest.mark.parametrize(
    ("parts", "options", "said"),
    [
        ([], {}, "nothing to release"),
        ([(1, 1)], {}, "NoisySums, Draws or CoverDraws"),
        ([NoisySums(0, 1)], {}, "sensitivity must be a finite number > 0"),
        ([NoisySums(1, 0)], {}, "share must be a finite number > 0"),
        ([NoisySums(1, 1, 0)], {}, "size must be an integer >= 1"),
        ([Draws(1, 1, 0)], {}, "times must be an integer >= 1"),
        ([NoisySums(1, 1)], {"words": 1e-6}, "words must be below delta"),
        ([NoisySums(1e300, 1)], {"epsilon": 1e-12, "delta": 1e-290}, "no float is enough noise"),
    ],
)
def test_what_no_bill_can_be_made_of_is_refused(parts, options, said):
    with pytest.raises(ValueError, match=said):
        bill_noise(parts, **{"epsilon": 1.0, "delta": 1e-6} | options)


def test_a_survey_beside_draws_is_not_that_beside_sums_of_the_same_numbers():
    draws, sums = CoverDraws(3, 1, 5, 1), NoisySums(3, 1, 5, 1)
    assert draws == sums
    given = {"moves": 8, "unit": 1 << 20, "kind": "parts"}
    first, second, again = (survey_noise(1, 1e-6, 0.06, rest=(each,), **given) for each in (draws, sums, draws))
    assert first == again != second


def test_a_cover_has_not_the_noise_of_sums_of_the_same_numbers():
    sums, cover = (NoisySums(1, 1, 1, 5),), (CoverDraws(1, 1, 1, 5),)
    assert sums == cover
    noise, exponent = (bill_noise(parts, 1, 1e-6).noise[0] for parts in (sums, cover))
    assert exponent < 1 < noise
    assert bill_noise(cover, 1, 1e-6).cost[0].kind == "cover"


def test_a_bill_composes_to_no_more_than_it_claims(many):
    """Also where the discreteness of the noise takes nearly all of delta, and next to nothing is left beside words."""
    for parts, epsilon, delta, words in bills(5, many(60, 2000)):
        for share in (words / delta, Fraction(999, 1000)):
            loud, most = max(epsilon, 0.1) % 20, delta if delta > Fraction(1, 10**9) else Fraction(1, 1000)
            plan = bill_noise(parts, loud, most, words=most * share)
            assert Composed(plan.cost).epsilon(float(most)) <= loud * (1 + 1e-9)


@pytest.mark.parametrize(("d", "e"), [(0.3, 0.0), (0.05, 0.0), (0.2, 0.4)])
@pytest.mark.parametrize("sigma", [0.6, 1.0, 2.0])
def test_no_enumerated_law_beside_a_pair_loses_more_than_it_composes_to(d, e, sigma):
    """The noise is discrete, and the outcome of the pair chooses how far the second release moves."""
    at = np.arange(-60, 62)

    def noise(shift):
        law = np.exp(-((at - shift) ** 2) / (2 * sigma**2))
        return law / law.sum()

    told = [d, 0.0, (1 - d) / (1 + math.exp(-e)), (1 - d) / (1 + math.exp(e))]  # of randomised response with leaks
    other = [0.0, d, told[3], told[2]]
    for turned in ([1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 1, -1]):  # how far the second release moves after each outcome
        one = np.concatenate([p * noise(0) for p in told])
        two = np.concatenate([p * noise(move) for p, move in zip(other, turned, strict=True)])
        costs = [Cost("pair", e, 1, d), Cost("gaussian", 1 / sigma, 1, 1 / (24 * sigma**2))]
        whole = Composed(costs)
        for epsilon in np.linspace(0, 6, 25):
            lost = max(np.maximum(p - np.exp(epsilon) * q, 0).sum() for p, q in ((one, two), (two, one)))
            assert lost <= whole.delta(float(epsilon)) + 1e-12
            within = gaussian_delta(sigma, float(epsilon)) + (1 + math.exp(epsilon)) / (24 * sigma**2)
            assert e > 0 or whole.delta(float(epsilon)) <= d + (1 - d) * within + 1e-9

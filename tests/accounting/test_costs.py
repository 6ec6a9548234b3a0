import itertools
import math

import numpy as np
import pytest
from scipy import special

from dpfast.accounting import Composed, Cost, PrivacySpend, compose, discrete_gaussian_sigma, gaussian_epsilon
from dpfast.accounting.claims.composition import gaussian_curve
from dpfast.accounting.claims.costs import discrete_gaussian_cost
from dpfast.accounting.curves.zcdp import gaussian_delta


def _divergence(p, q, epsilon):
    return np.maximum(0, p - math.exp(epsilon) * q).sum()


def _bounded_range(rng, r):
    """Two laws whose log-ratio lies in an interval of length r, near the worst of them."""
    q = rng.dirichlet(np.full(rng.integers(2, 6), 0.5))
    bent = rng.choice([0.0, r], size=len(q)) + rng.uniform(0, 1e-9, len(q))
    p = q * np.exp(bent)
    return p / p.sum(), q


@pytest.mark.parametrize("r", [0.05, 0.7, 3.0])
def test_bounded_ranges_are_gaussian_and_concentrated_as_claimed(r):
    rng = np.random.default_rng(1)
    cost = Cost("range", r)
    mu = math.sqrt(cost.gaussian)
    assert cost.gaussian <= Cost("range", r, times=2).gaussian / 2 * (1 + 1e-12)
    for _ in range(400):
        p, q = _bounded_range(rng, r)
        for epsilon in (-1.0, 0.0, 0.01, 0.3, 1.0):
            assert _divergence(p, q, epsilon) <= gaussian_curve(np.array([epsilon]), mu)[0] + 1e-12
        for b in (0.01, 1.0, 20.0):
            assert np.log((p ** (1 + b) * q**-b).sum()) / b <= cost.renyi(b) + 1e-9


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 40.0])
def test_the_gaussian_curve_of_a_pure_cost_touches_its_corner(epsilon):
    mu = math.sqrt(Cost("pure", epsilon).gaussian)
    corner = 1 / (1 + math.exp(epsilon))
    assert special.ndtr(-mu / 2) <= corner * (1 + 1e-9)
    assert special.ndtr(-mu / 2) == pytest.approx(corner, rel=1e-6)
    both = np.array([special.expit(epsilon), special.expit(-epsilon)])
    for at in np.linspace(0, epsilon, 7):
        assert _divergence(both, both[::-1], at) <= gaussian_curve(np.array([at]), mu)[0] * (1 + 1e-9)


def test_the_curve_on_the_whole_line_is_that_of_the_scalar():
    for mu in (1e-4, 0.2, 3.0, 30.0):
        x = np.linspace(0, 4 + mu * mu, 40)
        assert gaussian_curve(x, mu) == pytest.approx(
            [gaussian_delta(1.0, e, sensitivity=mu) for e in x], rel=1e-8, abs=1e-290
        )
        below = 1 - np.exp(-x) + np.exp(-x) * gaussian_curve(x, mu)
        assert gaussian_curve(-x, mu) == pytest.approx(below, rel=1e-12)


def test_sums_of_a_cost_are_its_multiples():
    for cost in (Cost("pure", 0.3), Cost("range", 0.2, times=2), Cost("gaussian", 0.5), Cost("pair", 0.1, delta=1e-7)):
        many = Cost(cost.kind, cost.size, 5 * cost.times, cost.delta)
        assert many.gaussian == pytest.approx(5 * cost.gaussian) or cost.times == 1
        assert Composed([many]).epsilon(1e-5) == Composed([cost] * 5).epsilon(1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("laplace", 1.0), "must be one of pure, range, zcdp, gaussian, cover, pair"),
        (("pure", -1.0), "size must be"),
        (("pure", math.inf), "size must be"),
        (("pure", 1.0, 0), "times must be"),
        (("zcdp", 1.0, 1, 0.1), "delta must be 0 for a cost of the kind 'zcdp'"),
        (("pair", 1.0, 1, 1.0), "delta must be"),
    ],
)
def test_a_cost_refuses_what_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        Cost(*arguments)


# ---- composition -----------------------------------------------------------------------------------------------------


def test_five_gaussian_fits_at_one_cost_2_40():
    noise = {"sensitivity": 2**36, "releases": 100, "size": 1000}
    cost = discrete_gaussian_cost(discrete_gaussian_sigma(1, 1e-6, **noise), **noise)
    five = compose([PrivacySpend(1.0, 1e-6, "replace", cost=cost)] * 5)
    assert five.delta == 1e-6
    assert five.epsilon == pytest.approx(2.3997, abs=1e-4)


MIXES = (
    [Cost("pure", 0.1, 10)],
    [Cost("pure", 0.1, 7), Cost("pure", 0.25, 3), Cost("pure", 0.5)],
    [Cost("pair", 0.3, 4, 1e-7), Cost("pure", 0.5, 2)],
    [Cost("pair", 0.2, 30, 1e-9)],
)


@pytest.mark.parametrize("costs", MIXES, ids=str)
def test_composition_is_the_numerical_one_and_never_below_it(costs):
    for delta in (1e-3, 1e-5):
        exact = Composed(costs).epsilon(delta)
        numerical = _numerical(costs, delta)
        assert -1e-9 <= exact - numerical <= 1e-6


def _numerical(costs, delta):
    from dp_accounting.pld import common, privacy_loss_distribution

    whole = None
    for cost in costs:  # the accountant ignores the number of its events: each is a distribution of its own here
        pair = common.DifferentialPrivacyParameters(cost.size, cost.delta)
        for _ in range(cost.times):
            one = privacy_loss_distribution.from_privacy_parameters(pair, value_discretization_interval=1e-3)
            whole = one if whole is None else whole.compose(one)
    return whole.get_epsilon_for_delta(delta)


@pytest.mark.parametrize("mu", [0.1, 0.5, 2.0])
def test_gaussian_costs_compose_exactly(mu):
    for times, delta in itertools.product((1, 5, 1000), (1e-3, 1e-9)):
        exact = gaussian_epsilon(1.0, delta, sensitivity=mu * math.sqrt(times))
        assert 0 <= Composed([Cost("gaussian", mu)] * times).epsilon(delta) - exact <= 1e-6 * max(1, exact)


def test_gaussian_and_pure_costs_lie_between_two_numerical_ones():
    from dp_accounting.pld import privacy_loss_distribution

    costs = [Cost("gaussian", 0.5, 3), Cost("pure", 0.3, 4)]
    found = []
    for pessimistic in (False, True):
        step = {"value_discretization_interval": 1e-4, "use_connect_dots": False}
        gaussian = privacy_loss_distribution.from_gaussian_mechanism(2.0, pessimistic_estimate=pessimistic, **step)
        pure = privacy_loss_distribution.from_randomized_response(
            2 / (1 + math.exp(0.3)), 2, pessimistic_estimate=pessimistic, value_discretization_interval=1e-4
        )
        found.append(gaussian.self_compose(3).compose(pure.self_compose(4)).get_epsilon_for_delta(1e-5))
    assert found[0] <= Composed(costs).epsilon(1e-5) <= found[1] + 1e-6


def test_a_mix_costs_no_more_than_its_parts_alone():
    parts = {
        "pure": Cost("pure", 0.2, 3),
        "range": Cost("range", 0.1, 20),
        "zcdp": Cost("zcdp", 0.01),
        "gaussian": Cost("gaussian", 0.2, delta=1e-15),
        "pair": Cost("pair", 0.3, delta=1e-7),
    }
    alone = {name: Composed([cost]).epsilon(2e-6) for name, cost in parts.items()}
    for few in itertools.chain.from_iterable(itertools.combinations(parts, k) for k in (2, 3, 5)):
        whole = Composed([parts[name] for name in few])
        assert whole.delta(sum(alone[name] for name in few)) <= 1e-5
        for epsilon in (0.0, 0.5, 2.0):
            assert whole.delta(epsilon) >= whole.delta(epsilon + 0.1)
            for name in few:
                assert whole.delta(epsilon) >= Composed([parts[name]]).delta(epsilon) * (1 - 1e-9)


def test_a_pure_cost_on_top_does_not_weigh_the_variation_of_noise():
    sums, pure = Cost("gaussian", 2.3275798, delta=3.13e-13), Cost("pure", 0.6886)
    alone, both = Composed([sums]), Composed([sums, pure])
    for epsilon in (8.0, 11.0, 13.0, 14.0):
        assert both.delta(epsilon + 0.6886) <= alone.delta(epsilon) * (1 + 1e-9)


def test_a_composition_of_claims_is_a_claim():
    pure = PrivacySpend(0.1, 0, "replace", [("rules", 1, 2)])
    assert compose([pure] * 30).epsilon == 3.0
    assert compose([pure] * 30, delta=1e-6).epsilon == pytest.approx(2.3459, abs=1e-4)
    assert len(compose([pure] * 3).events) == 3
    pairs = compose([PrivacySpend(1.0, 1e-6, "replace")] * 3)
    assert (pairs.epsilon, pairs.delta) == (pytest.approx(3, abs=1e-9), 3e-6)
    assert pairs.epsilon <= 3
    assert compose([pairs]).epsilon <= 3
    with pytest.raises(ValueError, match="no epsilon holds at delta=1e-06"):
        compose([PrivacySpend(1.0, 1e-6, "replace")] * 3, delta=1e-6)
    with pytest.raises(ValueError, match="nothing to compose"):
        compose([])
    with pytest.raises(ValueError, match="one relation and one unit"):
        compose([pure, PrivacySpend(0.1, 0, "add-remove")])
    with pytest.raises(ValueError, match="must be PrivacySpend"):
        compose([0.1])

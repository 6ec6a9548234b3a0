import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfast.accounting import discrete_gaussian_sigma, zcdp_delta
from dpfast.accounting.curves.selection import gaussian_mu, selection_base, selection_cost, selection_epsilon


def divergence(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


def best(law, scores, runs):
    """The exact law of the best outcome of a geometric number of runs, ties to any of the equals alike."""
    g, found = 1 / runs, np.zeros(len(law))

    def below(probability):  # that no run does better than what has this probability
        return g * probability / (1 - (1 - g) * probability)

    for level in np.unique(scores):
        here = scores == level
        low, high = law[scores < level].sum(), law[scores <= level].sum()
        if high > low:
            found[here] = law[here] / (high - low) * (below(high) - below(low))
    return found


@pytest.mark.parametrize("scores", [[0, 1, 2], [1, 0, 1], [0, 0, 0]])
def test_the_law_of_the_best_is_that_of_all_sequences_of_runs_the_first_among_equals(scores):
    law, scores, runs, most = np.array([0.5, 0.3, 0.2]), np.array(scores), 2, 7
    found = np.zeros(3)
    for k in range(1, most + 1):
        for sequence in itertools.product(range(3), repeat=k):
            chosen = max(range(k), key=lambda i: (scores[sequence[i]], -i))
            found[sequence[chosen]] += law[list(sequence)].prod() / runs * (1 - 1 / runs) ** (k - 1)
    np.testing.assert_allclose(found, best(law, scores, runs), atol=0.5**most)


@settings(max_examples=50, deadline=None, derandomize=True, database=None)
@given(seed=st.integers(0, 2**32), runs=st.sampled_from([1, 2, 3, 10, 100]), size=st.integers(2, 7))
def test_neighbours_are_no_further_apart_than_claimed_at_any_of_the_claims(seed, runs, size):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(size, 0.5))
    q = p * np.exp(rng.uniform(-1, 1, size) * rng.choice([0.1, 1.0])) + rng.choice([0.0, 1e-3]) * rng.random(size)
    q /= q.sum()
    scores = rng.integers(0, size, size)
    claims = [(e, min(1 - 1e-9, max(divergence(p, q, e), divergence(q, p, e)))) for e in np.linspace(0, 3, 25)]
    best_p, best_q = best(p, scores, runs), best(q, scores, runs)
    for used in (claims, claims[8:9], claims[::6]):
        added = selection_cost(used, runs=runs)
        for e, d in used:
            apart = max(divergence(best_p, best_q, e + added), divergence(best_q, best_p, e + added))
            assert apart <= runs * d + 1e-12


def test_what_is_claimed_is_not_far_above_what_can_happen():
    """The rare outcome of randomised response is the better one."""
    for runs, e in ((3, 0.5), (10, 0.5), (10, 1.5), (100, 0.2)):
        added, most = selection_cost([(e, 0.0)], runs=runs), 0.0
        p = np.array([math.exp(e), 1.0]) / (1 + math.exp(e))
        for scores in ([0, 1], [1, 0]):
            a, b = best(p, np.array(scores), runs), best(p[::-1], np.array(scores), runs)
            most = max(most, np.abs(np.log(a / b)).max())
        assert 0.6 * (e + added) < most <= e + added


def test_one_pure_claim_has_a_closed_form_below_three_times_epsilon():
    for runs, e in ((1, 1.0), (2, 0.1), (30, 0.5), (1000, 3.0)):
        cost = 2 * math.log((runs * math.exp(e) + 1) / (runs + math.exp(e)))
        assert selection_cost([(e, 0.0)], runs=runs) == pytest.approx(cost, abs=1e-9)
        assert cost <= 2 * e


def test_more_claims_never_cost_more():
    rho, runs = 0.01, 20
    claims = [(e, zcdp_delta(rho, e)) for e in np.linspace(0.01, 2, 40)]
    costs = [selection_cost(claims[::step], runs=runs) for step in (40, 8, 2, 1)]
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] < costs[0] / 2


@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize(("epsilon", "runs"), [(0.3, 5), (1.0, 30), (3.0, 300)])
def test_the_base_fits_and_beats_a_shared_budget(epsilon, runs, gaussian):
    base, each = selection_base(epsilon, 1e-6, runs=runs, gaussian=gaussian)
    claims = [(base, each)]
    if gaussian:
        rho = gaussian_mu(base, each) ** 2 / 2
        claims += [(e, zcdp_delta(rho, e)) for e in np.linspace(0.005, 1, 60) * epsilon]
    assert selection_epsilon(claims, 1e-6, runs=runs) <= epsilon * (1 + 1e-2 * gaussian)
    if gaussian or runs > 10:
        assert gaussian_mu(base, each) > gaussian_mu(epsilon, 1e-6) / math.sqrt(runs)


def test_deltas_count_for_all_runs():
    assert selection_epsilon([(0.5, 1e-7)], 1e-6, runs=30) == math.inf
    assert selection_epsilon([(0.5, 1e-7), (0.9, 1e-9)], 1e-6, runs=30) > 0.9
    assert selection_base(1.0, 1e-6, runs=30)[1] * 30 == pytest.approx(1e-6)


@pytest.mark.parametrize("grid", [1, 40, 2**20])
@pytest.mark.parametrize(("releases", "size"), [(1, 1), (100, 50), (30, 100_000)])
def test_noise_made_for_a_claim_is_no_further_apart_than_the_gaussian_of_that_claim(grid, releases, size):
    for epsilon, delta in ((0.1, 1e-8), (1.0, 1e-6), (5.0, 1e-3)):
        sigma = discrete_gaussian_sigma(epsilon, delta, sensitivity=grid, releases=releases, size=size)
        assert math.sqrt(releases) * grid / sigma <= gaussian_mu(epsilon, delta)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: selection_cost([(0.5, 0.0)], runs=0), "runs must"),
        (lambda: selection_cost([(-1, 0.0)], runs=2), "epsilon must"),
        (lambda: selection_cost([(1, 1.0)], runs=2), "delta must"),
        (lambda: selection_epsilon([(1, 0.0)], 0, runs=2), "delta"),
        (lambda: selection_base(0, 1e-6, runs=2), "epsilon must"),
    ],
)
def test_what_will_not_do_is_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()

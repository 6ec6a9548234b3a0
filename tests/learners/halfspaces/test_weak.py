from fractions import Fraction

import numpy as np
import pytest
from laws import assert_follows, exponential_law
from scipy import stats

from dpfast import BitMatrix
from dpfast.accounting import discrete_gaussian_delta, zcdp_epsilon
from dpfast.learners.halfspaces.measure import CAP
from dpfast.learners.halfspaces.weak import NoisyCentering, NoisyStump


@pytest.fixture
def table(rng):
    return rng.normal(size=(40, 3)), rng.integers(-CAP, CAP + 1, 40).astype(np.int32)


def test_centering_is_the_weighted_mean_plus_noise_of_the_size_it_claims(table, rng):
    X, weights = table
    weak = NoisyCentering()
    rows = weak.rows(X, False)
    units = int(np.abs(weights).sum())
    sigma = weak.noise(rows, 1.0, 1e-6, 5)
    mean = weights @ (X / np.maximum(1, np.linalg.norm(X, axis=1, keepdims=True))) / units
    noise = np.array([weak.learn(rows, weights, units, sigma, rng) - mean for _ in range(4000)])
    spread = sigma / (units * rows.reach)
    assert stats.kstest(noise.ravel() / spread, "norm").pvalue > 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("rounds", [1, 60])
def test_noise_of_centering_is_the_analytic_gaussians(epsilon, rounds, table):
    weak = NoisyCentering()
    rows = weak.rows(table[0], True)
    sigma = weak.noise(rows, epsilon, 1e-6, rounds)
    mu = np.sqrt(rounds) * 2 * CAP * 2**17 / sigma
    exact = stats.norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * stats.norm.cdf(-mu / 2 - epsilon / mu)
    assert exact == pytest.approx(1e-6, rel=1e-7)
    claim = discrete_gaussian_delta(sigma, epsilon, sensitivity=2 * CAP * 2**17, releases=rounds, size=4)
    assert claim <= 1e-6
    assert claim == pytest.approx(exact, rel=1e-7)


def test_centering_refuses_a_budget_whose_noise_no_integer_holds(table):
    weak = NoisyCentering()
    with pytest.raises(ValueError, match="epsilon must ask for noise that 64-bit integers hold, got 1e-07"):
        weak.noise(weak.rows(table[0], False), 1e-7, 1e-12, 60)


def test_a_stump_is_drawn_from_the_exponential_law_of_its_agreements(rng):
    X = rng.random((30, 4)) < 0.5
    weights = rng.integers(-CAP, CAP + 1, 30).astype(np.int32)
    weak = NoisyStump()
    rows = weak.rows(X, True)
    agreements = (weights @ np.where(X, 1, -1)) // weak.GRID
    exponent = Fraction(1, 300)
    law = exponential_law(np.concatenate([agreements, -agreements]), exponent)
    drawn = [weak.learn(rows, weights, 1, exponent, rng) for _ in range(5_000)]
    place = [j if sign > 0 else 4 + j for j, sign in drawn]
    assert_follows(np.bincount(place, minlength=8), law)


def test_draws_of_stumps_compose_to_what_is_claimed():
    weak = NoisyStump()
    rows = weak.rows(np.eye(3), True)
    exponent = weak.noise(rows, 0.7, 1e-6, 40)
    span = 2 * weak.sensitivity(rows)  # an agreement may rise by the sensitivity, another fall by it
    assert span == 4 * CAP // weak.GRID
    assert zcdp_epsilon(40 * (exponent * span) ** 2 / 8, 1e-6) == pytest.approx(0.7, rel=1e-9)
    assert zcdp_epsilon(40 * (exponent * span) ** 2 / 8, 1e-6) <= 0.7


def test_a_stump_and_its_linear_form_agree(rng):
    X = rng.random((50, 6)) < 0.5
    weak = NoisyStump()
    for hypothesis in ((2, 1), (5, -1)):
        coef, intercept = weak.linear(hypothesis, 6)
        np.testing.assert_array_equal(weak.margins(weak.rows(X, True), hypothesis), X @ coef + intercept)


def test_numbers_become_bits_by_the_threshold(rng):
    X = rng.normal(size=(50, 6))
    with pytest.raises(ValueError, match="give threshold="):
        NoisyStump().rows(X, True)
    rows = NoisyStump(threshold=0.5).rows(X, True)
    np.testing.assert_array_equal(rows.votes(np.array([1]), np.array([1])), np.where(X[:, 1] > 0.5, 1, -1))
    assert NoisyStump(threshold=0.5).rows(BitMatrix(X > 0), True).shape == (50, 6)

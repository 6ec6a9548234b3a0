import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy import stats

from dpfast.accounting import (
    discrete_gaussian_delta,
    discrete_gaussian_sigma,
    gaussian_delta,
    gaussian_sigma,
    zcdp_delta,
)


def discrete(sigma, support):
    """The discrete Gaussian's probabilities on support, an array of integers that reaches far enough."""
    weights = np.exp(-((support / sigma) ** 2) / 2)
    return weights / np.exp(-((np.arange(-50 * math.ceil(sigma), 50 * math.ceil(sigma) + 1) / sigma) ** 2) / 2).sum()


# ---- the lemma ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sigma", [0.1, 0.3, 0.5, 1, 2, 5, 20, 100])
def test_the_rounded_gaussian_is_as_near_to_the_discrete_as_the_lemma_says(sigma):
    x = np.arange(-40 * math.ceil(sigma), 40 * math.ceil(sigma) + 1)
    p = discrete(sigma, x)
    far, near = (np.abs(x) + 0.5) / sigma, (np.abs(x) - 0.5) / sigma
    q = stats.norm.sf(near) - stats.norm.sf(far)
    assert (p - q <= p / (24 * sigma**2) + 1e-15).all()
    distance = np.maximum(p - q, 0).sum()
    assert distance <= 1 / (24 * sigma**2)
    if sigma >= 2:
        assert distance >= 0.4 / (24 * sigma**2)  # and it is no great waste


@pytest.mark.parametrize("sigma", [2, 5, 20])
def test_the_lemma_holds_in_many_digits_far_out(sigma):
    with mpmath.workdps(60):
        normaliser = mpmath.nsum(
            lambda x: mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * sigma**2)), [-mpmath.inf, mpmath.inf]
        )
        assert normaliser >= sigma * mpmath.sqrt(2 * mpmath.pi)
        for x in range(0, 15 * sigma, sigma):
            p = mpmath.exp(-(mpmath.mpf(x) ** 2) / (2 * sigma**2)) / normaliser
            q = mpmath.ncdf(-mpmath.mpf(x - 0.5) / sigma) - mpmath.ncdf(-mpmath.mpf(x + 0.5) / sigma)
            assert p - q <= p / (24 * sigma**2)


# ---- the claim ---------------------------------------------------------------------------------------------------

EPSILONS = [0, 0.05, 0.3, 1, 2.5, 6]


def divergence(p, q, epsilon):
    return np.maximum(p - math.exp(epsilon) * q, 0).sum()


@pytest.mark.parametrize("sigma", [0.5, 1, 3, 12, 60, 1000])
@pytest.mark.parametrize("relative", [0.02, 0.3, 1, 2])
def test_no_neighbours_in_one_dimension_exceed_the_claim(sigma, relative):
    shift = max(1, round(relative * sigma))
    x = np.arange(-40 * math.ceil(sigma), 40 * math.ceil(sigma) + shift + 1)
    p, q = discrete(sigma, x), discrete(sigma, x - shift)
    for epsilon in EPSILONS:
        claim = discrete_gaussian_delta(sigma, epsilon, sensitivity=shift)
        for truth in (divergence(p, q, epsilon), divergence(q, p, epsilon)):
            assert truth <= claim + 1e-13


@pytest.mark.parametrize("sigma", [0.7, 2, 9])
@pytest.mark.parametrize("shift", [(1, 0), (1, 1), (2, 1), (3, -2), (5, 5)])
def test_no_neighbours_in_two_dimensions_exceed_the_claim(sigma, shift):
    x = np.arange(-12 * math.ceil(sigma) - 5, 12 * math.ceil(sigma) + 6)
    p = np.outer(discrete(sigma, x), discrete(sigma, x))
    q = np.outer(discrete(sigma, x - shift[0]), discrete(sigma, x - shift[1]))
    norm = math.hypot(*shift) * (1 + 1e-15)
    for epsilon in EPSILONS:
        together = discrete_gaussian_delta(sigma, epsilon, sensitivity=norm, size=2)
        assert divergence(p, q, epsilon) <= together + 1e-13
        each = max(map(abs, shift))  # two releases of one coordinate each
        assert (
            divergence(p, q, epsilon) <= discrete_gaussian_delta(sigma, epsilon, sensitivity=each, releases=2) + 1e-13
        )


def test_on_a_fine_grid_the_claim_is_that_of_continuous_noise():
    draw = random.Random(0)
    for _ in range(300):
        step, mu = 2**36, 10 ** draw.uniform(-2, 0)
        releases, size = draw.choice([1, 60, 1000]), draw.choice([1, 1000])
        sigma = math.sqrt(releases) / mu
        epsilon = mu * (draw.uniform(0, 5) + mu / 2)
        exact = gaussian_delta(sigma, epsilon, sensitivity=math.sqrt(releases))
        claim = discrete_gaussian_delta(sigma * step, epsilon, sensitivity=step, releases=releases, size=size)
        assert exact * (1 - 1e-9) <= claim <= exact * (1 + 1e-9)
        delta = draw.choice([1e-5, 1e-7])
        least = discrete_gaussian_sigma(1, delta, sensitivity=step, releases=releases, size=size)
        assert least / step == pytest.approx(gaussian_sigma(1, delta, sensitivity=math.sqrt(releases)), rel=1e-9)


def test_the_difference_from_continuous_noise_is_charged_for_each_coordinate():
    sigma, step, epsilon = 2.0**24, 2**22, 1.0
    for size, releases in ((1, 1), (1000, 1), (7, 100)):
        mu = math.sqrt(releases) * step / sigma
        slack = (1 + math.exp(epsilon)) * size * releases / (24 * sigma**2)
        claim = discrete_gaussian_delta(sigma, epsilon, sensitivity=step, releases=releases, size=size)
        assert claim == pytest.approx(gaussian_delta(1, epsilon, sensitivity=mu) + slack, rel=1e-11, abs=0)


def test_with_little_noise_the_concentrated_claim_is_the_better():
    for epsilon in (2, 4, 1e3):
        claim = discrete_gaussian_delta(4, epsilon, sensitivity=1, releases=3)
        assert claim == pytest.approx(zcdp_delta(3 / 32, epsilon), rel=1e-9)


def test_sigma_undoes_delta():
    draw = random.Random(1)
    for _ in range(60):
        epsilon, delta = 10 ** draw.uniform(-2, 1), 10 ** draw.uniform(-12, -1)
        options = {"sensitivity": draw.choice([1, 37, 2**40]), "releases": draw.choice([1, 9]), "size": 100}
        sigma = discrete_gaussian_sigma(epsilon, delta, **options)
        assert discrete_gaussian_delta(sigma, epsilon, **options) <= delta
        assert discrete_gaussian_delta(sigma * (1 - 1e-8), epsilon, **options) > delta * (1 - 1e-8)


def test_rationals_enter_exactly_and_beyond_what_floats_hold():
    step = 2**60 + 1
    claim = discrete_gaussian_delta(5 * step, 1, sensitivity=step)
    assert claim == discrete_gaussian_delta(5 * 2**60, 1, sensitivity=2**60)
    third = Fraction(2**60, 3)
    assert discrete_gaussian_delta(4 * third, Fraction(1, 2), sensitivity=third) == pytest.approx(
        gaussian_delta(4, 0.5), rel=1e-12
    )
    assert discrete_gaussian_delta(Fraction(2**60 - 1), 1, sensitivity=2**60) >= gaussian_delta(1, 1)


def test_extremes_stay_in_range():
    assert discrete_gaussian_delta(1e-300, 1) == 1
    assert discrete_gaussian_delta(1, 1, sensitivity=1e300) == 1
    assert 0 < discrete_gaussian_delta(1e300, 5000) <= 1e-299
    assert 0 < discrete_gaussian_delta(1, 5000) <= 1e-299
    assert discrete_gaussian_delta(1e300, 1, sensitivity=1e-300) < 1e-290


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: discrete_gaussian_delta(0, 1), "sigma must be a finite number > 0, got 0"),
        (lambda: discrete_gaussian_delta(1, -1), "epsilon must be a finite number >= 0, got -1"),
        (lambda: discrete_gaussian_delta(1, 1, sensitivity=0), "sensitivity must be a finite number > 0, got 0"),
        (lambda: discrete_gaussian_delta(1, 1, releases=0), "releases must be an integer >= 1, got 0"),
        (lambda: discrete_gaussian_delta(1, 1, size=2.5), r"size must be an integer >= 1, got 2\.5"),
        (lambda: discrete_gaussian_sigma(0, 0.1), "epsilon must be a finite number > 0, got 0"),
        (lambda: discrete_gaussian_sigma(1, 0), "delta must be at least 1e-300 and below 1, got 0"),
        (lambda: discrete_gaussian_sigma(1, 0.1, size=True), "size must be an integer >= 1, got True"),
    ],
)
def test_the_discrete_gaussian_says_what_it_wants(call, message):
    with pytest.raises(ValueError, match=message):
        call()

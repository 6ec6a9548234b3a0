import math
import random
from fractions import Fraction

import mpmath
import pytest

from dpfast.accounting import gaussian_delta, gaussian_epsilon, gaussian_sigma


def exact(sigma, epsilon, sensitivity=1.0):
    with mpmath.workdps(60):
        m, epsilon = mpmath.mpf(sensitivity) / mpmath.mpf(sigma), mpmath.mpf(epsilon)
        return mpmath.ncdf(m / 2 - epsilon / m) - mpmath.exp(epsilon) * mpmath.ncdf(-m / 2 - epsilon / m)


def test_delta_is_the_exact_one_rounded_up():
    draw = random.Random(0)
    for _ in range(1_000):
        sigma = 10 ** draw.uniform(-3, 12)
        m = 1 / sigma
        epsilon = draw.choice([max(0, m * (draw.uniform(-6, 36) + m / 2)), 10 ** draw.uniform(-12, 4)])
        truth = exact(sigma, epsilon)
        if truth > 1e-290:
            assert truth <= gaussian_delta(sigma, epsilon) <= truth * (1 + 1e-9)


def test_epsilon_and_sigma_undo_delta():
    draw = random.Random(0)
    for _ in range(400):
        epsilon, sensitivity = 10 ** draw.uniform(-6, 3), 10 ** draw.uniform(-3, 3)
        delta = draw.choice([10 ** draw.uniform(-290, -0.31), draw.uniform(1e-9, 0.9)])
        sigma = gaussian_sigma(epsilon, delta, sensitivity=sensitivity)
        assert gaussian_delta(sigma, epsilon, sensitivity=sensitivity) <= delta
        assert gaussian_delta(sigma * (1 - 1e-9), epsilon, sensitivity=sensitivity) > delta * (1 - 1e-9)
        back = gaussian_epsilon(sigma, delta, sensitivity=sensitivity)
        assert gaussian_delta(sigma, back, sensitivity=sensitivity) <= delta
        assert back == pytest.approx(epsilon, rel=1e-6, abs=1e-9)


def test_the_values_of_the_analytic_mechanism():
    # Balle and Wang's calibration beats the classical sqrt(2 ln(1.25/delta))/epsilon.
    assert gaussian_sigma(1.0, 1e-5) == pytest.approx(3.730632, abs=1e-5)
    assert gaussian_sigma(1.0, 1e-6) < math.sqrt(2 * math.log(1.25e6))


def test_many_releases_are_one_of_a_larger_sensitivity():
    from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
    from dp_accounting.pld import PLDAccountant

    theirs = PLDAccountant().compose(SelfComposedDpEvent(GaussianDpEvent(20.0), 30))
    assert gaussian_epsilon(20.0, 1e-6, sensitivity=math.sqrt(30)) == pytest.approx(theirs.get_epsilon(1e-6), rel=1e-3)


def test_noise_that_delta_alone_pays_for_needs_no_epsilon():
    assert gaussian_epsilon(1e7, 1e-6) == 0
    assert gaussian_delta(1e7, 0) == pytest.approx(1e-7 / math.sqrt(2 * math.pi), rel=1e-9)


def test_extremes_stay_in_range():
    assert gaussian_delta(1e-300, 0) == 1
    assert 0 < gaussian_delta(1.0, 1e6) <= 1e-300
    assert gaussian_delta(1e308, 1, sensitivity=1e-308) > 0
    assert gaussian_epsilon(1e-300, 1e-6) == math.inf
    assert gaussian_delta(1e-3, 1.0) == 1


def test_fractions_and_floats_agree():
    assert gaussian_sigma(Fraction(1, 2), Fraction(1, 8), sensitivity=Fraction(1, 4)) == gaussian_sigma(
        0.5, 0.125, sensitivity=0.25
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gaussian_delta(0, 1), "sigma must be a finite number > 0, got 0"),
        (lambda: gaussian_delta(1, -1), "epsilon must be a finite number >= 0, got -1"),
        (lambda: gaussian_epsilon(math.inf, 0.1), "sigma must be"),
        (lambda: gaussian_epsilon(1, 0), "delta must be at least 1e-300 and below 1, got 0"),
        (lambda: gaussian_sigma(1, 0.1, sensitivity=0), "sensitivity must be a finite number > 0, got 0"),
        (lambda: gaussian_sigma(0, 0.1), "epsilon must be a finite number > 0, got 0"),
    ],
)
def test_the_gaussian_says_what_it_wants(call, message):
    with pytest.raises(ValueError, match=message):
        call()

import itertools
import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpfast.accounting import epsilon_for, gaussian_delta, winnow_epsilon, zcdp_delta, zcdp_epsilon, zcdp_rho
from dpfast.accounting.curves.zcdp import composed_epsilon

RHOS = (1e-8, 1e-3, 0.02, 0.3, 2.0, 50.0)
DELTAS = (0.3, 1e-2, 1e-6, 1e-12, 1e-100)


def converted(rho, epsilon, order):
    """Delta of Canonne, Kamath and Steinke's Proposition 12 at one order."""
    a = mpmath.mpf(order)
    return mpmath.exp((a - 1) * (a * rho - epsilon)) / (a - 1) * (1 - 1 / a) ** a


def test_the_conversion_agrees_with_dp_accounting():
    from dp_accounting import ZCDpEvent
    from dp_accounting.rdp import RdpAccountant

    orders = 1 + np.geomspace(0.011, 1e6, 3_000)
    for rho in RHOS:
        theirs = RdpAccountant(orders).compose(ZCDpEvent(rho))
        for delta in DELTAS:
            ours = zcdp_epsilon(rho, delta)
            assert ours <= theirs.get_epsilon(delta) * (1 + 1e-12)
            assert theirs.get_epsilon(delta) <= ours * (1 + 1e-5) or delta**2 > rho / 2
        for epsilon in (0.1, 1.0, 10.0):
            ours = zcdp_delta(rho, epsilon)
            assert ours <= theirs.get_delta(epsilon) * (1 + 1e-9) or ours == 1e-300
            assert theirs.get_delta(epsilon) <= ours * (1 + 1e-3) or ours**2 > 0.4 * rho


def test_no_order_does_better_and_the_best_is_reached():
    with mpmath.workdps(40):
        for rho, epsilon in itertools.product((1e-3, 0.02, 0.5, 4.0), (0.3, 1.0, 6.0)):
            orders = [1 + mpmath.mpf(10) ** (mpmath.mpf(k) / 100) for k in range(-300, 500, 2)]
            best = max(min(converted(rho, epsilon, order) for order in orders), 1e-300)
            trivial = math.sqrt(min(rho / 2, -math.expm1(-rho)))
            assert zcdp_delta(rho, epsilon) <= min(best, trivial) * (1 + 1e-9)
            assert zcdp_delta(rho, epsilon) >= min(best * 0.9, trivial)


def test_the_curve_has_one_parameter():
    for rho, b in itertools.product((1e-4, 0.02, 1.0), (1.0, 5.0, 20.0)):
        epsilon = (1 + 2 * b) * rho - math.log1p(1 / b)
        delta = math.exp(-b * b * rho) / (1 + b)
        if epsilon > 0 and delta < math.sqrt(rho / 2):
            assert zcdp_delta(rho, epsilon) == pytest.approx(delta, rel=1e-9)
            assert zcdp_epsilon(rho, delta) == pytest.approx(epsilon, rel=1e-9)


def test_the_claim_is_never_below_the_exact_gaussian():
    draw = random.Random(0)
    for _ in range(2_000):
        rho, epsilon = 10 ** draw.uniform(-10, 3), 10 ** draw.uniform(-6, 3)
        assert zcdp_delta(rho, epsilon) * (1 + 1e-9) >= gaussian_delta(1 / math.sqrt(2 * rho), epsilon)


def test_the_claim_is_below_the_usual_formula():
    for rho, delta in itertools.product(RHOS, DELTAS):
        assert zcdp_epsilon(rho, delta) < rho + 2 * math.sqrt(rho * math.log(1 / delta))


def test_delta_at_the_rounded_epsilon_is_never_above_delta():
    draw = random.Random(0)
    for _ in range(1_000):
        rho = 10 ** draw.uniform(-12, 4)
        delta = draw.choice([10 ** draw.uniform(-300, -0.001), draw.uniform(1e-9, 1 - 1e-9)])
        epsilon = zcdp_epsilon(rho, delta)
        assert zcdp_delta(rho, epsilon) <= delta
        assert epsilon == 0 or zcdp_delta(rho, epsilon * (1 - 1e-9)) > delta or delta > 0.99


def test_the_largest_rho_fits_and_a_larger_one_does_not():
    draw = random.Random(0)
    for _ in range(100):
        epsilon = 10 ** draw.uniform(-6, 3)
        delta = draw.choice([10 ** draw.uniform(-300, -0.31), draw.uniform(1e-9, 0.5)])
        rho = zcdp_rho(epsilon, delta)
        assert zcdp_epsilon(rho, delta) <= epsilon
        assert zcdp_epsilon(rho * (1 + 1e-9), delta) > epsilon


def randomised_response_and_gaussian(e, m, epsilon):
    """Exact delta of one randomised response of log-ratio e and one Gaussian of sensitivity / sigma = m."""

    def gaussian(level):  # E max(0, ratio - exp(level)) for any real level
        tail = mpmath.ncdf(m / 2 - level / m)
        return tail - mpmath.exp(level) * mpmath.ncdf(-m / 2 - level / m)

    p = mpmath.exp(e) / (1 + mpmath.exp(e))
    return p * gaussian(epsilon - e) + (1 - p) * gaussian(epsilon + e)


def test_pure_parts_add_what_randomised_response_adds():
    for e, m in itertools.product((0.05, 0.5, 2.0, 40.0), (0.05, 0.5, 3.0)):
        # (eta R)^2 / 8 = m^2 / 2 for R = 4 and eta = m / 2.
        for delta in (1e-2, 1e-6, 1e-12):
            claim = winnow_epsilon(m / 2, delta, n_updates=1, n_draws=1, threshold_epsilon=e)
            assert randomised_response_and_gaussian(e, m, claim) <= delta
            assert claim <= (zcdp_epsilon(m * m / 2, delta) + e) * (1 + 1e-12)
            assert claim <= zcdp_epsilon(m * m / 2 + e * e / 2, delta) * (1 + 1e-12)


def test_rho_zero_costs_nothing_and_nothing_else_does():
    assert zcdp_delta(0, 0) == 0
    assert zcdp_epsilon(0, 1e-6) == 0
    assert 0 < zcdp_delta(1e-6, 1e3) <= 1e-300


def test_an_epsilon_for_a_risk_is_the_largest_that_keeps_it():
    """Randomized response with probability delta of telling the row has the largest gain that the claim allows."""
    for risk, delta in itertools.product((1e-3, 0.05, 0.3, 0.499), (1e-6, 5e-4)):
        p = 1 / (1 + math.exp(-epsilon_for(risk=risk, delta=delta)))
        gain = delta / 2 + (1 - delta) * (p - 1 / 2)
        assert risk * (1 - 1e-9) < gain <= risk * (1 + 1e-13)


def test_releases_that_let_a_guess_gain_more_claim_more(rng):
    """The best guess gains TV / 2 on 1/2, and a smaller epsilon than that of this risk is not true of the two laws."""
    for delta in (1e-6, 1e-3):
        for concentration in (0.1, 1, 10):
            p, q = rng.dirichlet(np.full(4, concentration), 2)
            risk = np.abs(p - q).sum() / 4
            if risk > 2 * delta:
                less = math.exp(epsilon_for(risk=risk, delta=delta) * (1 - 1e-9))
                assert max(np.maximum(p - less * q, 0).sum(), np.maximum(q - less * p, 0).sum()) > delta


@pytest.mark.parametrize("wanted", [{}, {"noise": 1, "risk": 0.1}, {"risk": 1e-6}, {"risk": 0.5}, {"noise": 0}])
def test_an_epsilon_for_nothing_is_refused(wanted):
    with pytest.raises(ValueError, match=r"either noise or risk|risk must be above|noise must be a finite"):
        epsilon_for(**wanted)


def test_extremes_stay_in_range():
    assert zcdp_delta(1e308, 0) == 1
    assert zcdp_epsilon(1e300, 0.5) >= 1e300
    assert zcdp_epsilon(1e-300, 1e-300) < 1e-140
    assert 0 <= zcdp_epsilon(1.0, 1 - 2**-53) < 1e-6


def test_fractions_and_floats_agree():
    assert zcdp_epsilon(Fraction(1, 4), Fraction(1, 8)) == zcdp_epsilon(0.25, 0.125)
    assert zcdp_delta(Fraction(1, 4), Fraction(1, 2)) == zcdp_delta(0.25, 0.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: zcdp_delta(-1.0, 1), "rho must be a finite number >= 0, got -1.0"),
        (lambda: zcdp_delta(math.nan, 1), "rho must be"),
        (lambda: zcdp_delta(0.1, -1), "epsilon must be a finite number >= 0, got -1"),
        (lambda: zcdp_epsilon("1", 0.1), "rho must be a finite number >= 0, got '1'"),
        (lambda: zcdp_epsilon(1, 0), "delta must be at least 1e-300 and below 1, got 0"),
        (lambda: zcdp_rho(0, 1e-6), "epsilon must be a finite number > 0, got 0"),
        (lambda: zcdp_rho(1, True), "delta must be"),
    ],
)
def test_a_conversion_says_what_it_wants(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(("pure", "runs"), [(0.05, 200), (0.3, 12), (1.0, 3)])
def test_pure_parts_together_cost_at_least_what_randomised_responses_do(pure, runs):
    """Exactly, by the binomial law; and not much more."""
    delta, p = 1e-6, 1 / (1 + math.exp(-pure))
    epsilon = composed_epsilon(0.0, delta, pure, runs)
    agree = np.arange(runs + 1)
    log_ratio = (2 * agree - runs) * pure
    law = np.array([math.comb(runs, k) * p**k * (1 - p) ** (runs - k) for k in agree.tolist()])
    exact = (law * np.maximum(0, -np.expm1(epsilon - log_ratio))).sum()
    assert exact <= delta
    assert epsilon <= runs * pure * 1.0001 + 1
    assert (law * np.maximum(0, -np.expm1(0.7 * epsilon - log_ratio))).sum() > delta

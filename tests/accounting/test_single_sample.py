import math

import numpy as np
import pytest
from scipy import stats

from dpfast.accounting import single_sample_epsilon, single_sample_sigma, zcdp_epsilon
from dpfast.accounting.curves.zcdp import gaussian_delta


def step_moment(mu, n, order, others):
    """E_Q (P/Q)^a of a step on the line, by quadrature: the row that differs is at -mu/2 or mu/2."""
    z = np.linspace(-25, 25, 20_001)
    rest = sum(stats.norm.pdf(z, at) for at in others) / n
    p, q = (rest + stats.norm.pdf(z, at) / n for at in (-mu / 2, mu / 2))
    return float(np.trapezoid(q * (p / q) ** order, z))


@pytest.mark.parametrize("mu", [0.1, 0.7, 2.0])
@pytest.mark.parametrize("n", [2, 5, 30])
def test_no_step_on_a_line_has_more_divergence_than_is_claimed(mu, n):
    """For other rows at either end, in the middle, or at both ends."""
    ends = [-mu / 2, mu / 2]
    for others in ([ends[0]] * (n - 1), [ends[1]] * (n - 1), [0] * (n - 1), np.resize(ends, n - 1)):
        for order in (2, 6):
            assert math.log(step_moment(mu, n, order, others)) / (order - 1) <= claimed(mu, n, order)


def claimed(mu, n, order):
    """The theorem's bound, by another quadrature."""
    e = np.linspace(0, mu * (35 + mu), 20_001)
    u = np.expm1(e)
    delta = stats.norm.sf(e / mu - mu / 2) - np.exp(e) * stats.norm.sf(e / mu + mu / 2)
    weight = (1 + u / n) ** (order - 2) + (1 + u / n) ** (-order - 1)
    integral = np.trapezoid(weight * np.maximum(delta, 0) * np.exp(e), e)
    return math.log1p(order * (order - 1) / n**2 * integral) / (order - 1)


@pytest.mark.parametrize(("mu", "n", "steps"), [(0.05, 100, 10**4), (0.3, 1000, 10**6), (1.0, 50, 10)])
def test_epsilon_is_that_of_the_best_order_and_not_below(mu, n, steps):
    delta = 1e-6
    orders = [order for order in range(2, 400) if (order - 1) * mu <= 10]
    exact = min(
        steps * claimed(mu, n, a) - (math.log(delta) + math.log(a)) / (a - 1) - math.log1p(1 / (a - 1)) for a in orders
    )
    ours = single_sample_epsilon(mu, delta, rows=n, steps=steps)
    assert exact <= ours <= 1.05 * exact + 0.01


def test_n_squared_steps_cost_what_one_step_without_sampling_does():
    for n in (100, 10_000):
        assert single_sample_epsilon(0.05, 1e-6, rows=n, steps=n**2) == pytest.approx(
            zcdp_epsilon(0.05**2 / 2, 1e-6), rel=0.05
        )


def test_with_one_row_there_is_nothing_to_gain_and_little_to_lose():
    epsilon = single_sample_epsilon(0.2, 1e-6, rows=1, steps=1)
    assert gaussian_delta(1.0, epsilon, sensitivity=0.2) <= 1e-6
    assert epsilon < 1.2 * zcdp_epsilon(0.02, 1e-6)


def test_dp_accounting_agrees_within_what_its_conversion_adds():
    dp = pytest.importorskip("dp_accounting")
    from dp_accounting import rdp

    n, steps, mu = 1000, 10**6, 0.2
    event = dp.SelfComposedDpEvent(dp.SampledWithoutReplacementDpEvent(n, 1, dp.GaussianDpEvent(1 / mu)), steps)
    accountant = rdp.RdpAccountant(list(range(2, 60)), dp.NeighboringRelation.REPLACE_ONE)
    accountant.compose(event)
    theirs = accountant.get_epsilon(1e-6)
    assert 0.3 * theirs < single_sample_epsilon(mu, 1e-6, rows=n, steps=steps) < theirs


def test_sigma_is_the_inverse_and_pays_for_the_grid():
    n, steps, size = 100, 60_000, 50
    for sensitivity in (1.0, 2.0**21):
        sigma = single_sample_sigma(0.5, 1e-6, sensitivity=sensitivity, rows=n, steps=steps, size=size)
        left = 1e-6 - (1 + math.exp(0.5)) * steps * size / (24 * sigma**2)
        epsilon = single_sample_epsilon(sensitivity / sigma, left, rows=n, steps=steps)
        assert epsilon <= 0.5
        less = single_sample_epsilon(sensitivity / sigma * 1.001, left, rows=n, steps=steps)
        assert less > 0.5 or sensitivity == 1.0  # there the grid decides
    assert single_sample_sigma(0.5, 1e-6, rows=n, steps=steps, size=size) > 1e5


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"mu": 0}, "mu must be"),
        ({"delta": 0}, "delta must be"),
        ({"rows": 0}, "rows must be"),
        ({"steps": 2.5}, "steps must be"),
    ],
)
def test_arguments_out_of_range_are_refused(parameters, message):
    arguments = {"mu": 0.1, "delta": 1e-6, "rows": 10, "steps": 10, **parameters}
    with pytest.raises((ValueError, TypeError), match=message):
        single_sample_epsilon(**arguments)

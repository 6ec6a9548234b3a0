"""[Lyu]: what is printed and is not quite so, each by the smallest case that shows it."""

import math

import numpy as np


def test_proposition_1_needs_the_factor_2_that_proposition_2_has():
    """X is one coin of chance 1/2: it is always further than 0.9 of its mean from it."""
    mu, delta = 0.5, 0.9
    assert abs(0 - mu) > delta * mu < abs(1 - mu)
    assert math.exp(-(delta**2) * mu / 3) < 1 <= 2 * math.exp(-(delta**2) * mu / 3)


def test_claim_6_2_leaves_out_members_that_err_seldom():
    """One that errs on a single example of E errs on one of the parts, and not on the others."""
    errors = np.zeros(40)
    errors[7] = 1
    shares = errors.reshape(4, 10).mean(axis=1)
    d = 3
    assert shares.max() > (1 + 1 / (5 * d)) * shares.min() == 0
    rates = 0.1 * (1 - 1 / d) ** np.arange(1, d + 2)
    large = errors.reshape(1, 40).repeat(5, axis=0).reshape(4, 50).mean(axis=1)  # in larger parts, by the rates alone
    assert all(large.max() <= rate for rate in rates[:2])


def test_algorithm_4_with_b_of_k_over_10_is_private_for_a_large_delta_only():
    """e B = d^2 / 10 whatever delta is; section 6.1 wants delta^2 / d^10 of each call, by Lemma 3.1."""
    for d in (2, 5, 10):
        for log_t, delta, epsilon in ((10.0, 1e-6, 1.0), (30.0, 1e-9, 0.1)):
            log = math.log(1 / delta)
            k = d**3.5 * log_t * log / epsilon
            e = epsilon / (math.sqrt(d**3) * log_t * log)
            assert math.isclose(e * k / 10, d * d / 10)
            wanted = 10 * (d * d * math.log(2) + math.log(d**10 / delta**2))  # L >= 2^(d^2)
            assert e * k / 10 < wanted / 10
    # and not by the lemma alone: 4k/5 lists agree, as the test demands, and one holds a hypothesis of its own
    d, log_t, delta = 2, 10.0, 1e-6
    k, e = d**3.5 * log_t * math.log(1 / delta), 1 / (math.sqrt(d**3) * log_t * math.log(1 / delta))
    own = math.exp(e) / (math.exp(e) + math.exp(e * 4 * k / 5) + math.exp(e * k / 10))
    assert own > 0.03  # the chance of a draw that cannot come from the neighbour without it

import argparse

import audits
import numpy as np
import pytest
from scipy.stats import norm


def test_the_two_tables_are_asked_the_same_questions_and_told_apart():
    p = argparse.Namespace(epsilon=400.0, delta=0.1, rounds=1)
    assert audits.outcome(0, 1, p) > 1
    assert audits.outcome(0, 0, p) < -1


def test_the_bound_is_below_the_mu_that_gave_the_frequencies():
    runs, mu = 100_000, 1.5
    hits, others = np.rint(runs * norm.cdf([mu / 2, -mu / 2])).astype(int).tolist()
    assert 0.95 * mu < audits.least_mu(hits, others, runs, 1e-6) < mu
    assert audits.least_mu(5, 5, 10, 1e-6) == pytest.approx(0)

import itertools
import math

import numpy as np
import pytest

from dpfast.accounting import experts_lower_bound, new_row_error
from dpfast.accounting.papers.new_rows import query_deviation


def test_no_threshold_errs_more_often_on_new_rows_than_its_errors_tell(rng):
    """Uniform rows in [0, 1], labels 1 from 0.3 on, and all thresholds at once, of VC dimension 1."""
    n, exceeded = 60, 0
    for _ in range(300):
        rows = np.sort(rng.random(n))
        places = np.concatenate([rows - 1e-12, rows + 1e-12, [0.0, 1.0]])
        shares = np.abs(np.searchsorted(rows, places) - np.searchsorted(rows, 0.3)) / n
        bounds = [new_row_error(share, n, dimension=1, failure=0.1) for share in shares]
        exceeded += (np.abs(places - 0.3) > bounds).any()
    assert exceeded <= 30


def test_an_error_on_new_rows_is_near_that_on_many_rows_and_no_claim_on_few():
    assert new_row_error(0.1, 10**9, dimension=20) == pytest.approx(0.1, abs=1e-3)
    assert new_row_error(0.1, 10, dimension=20) == 1
    assert new_row_error(0.0, 9, dimension=20) == 1
    assert new_row_error(0.0, 1000, dimension=0) == pytest.approx(4 * math.log(80) / 1000)
    assert new_row_error(0.1, 1000, dimension=2) < new_row_error(0.1, 1000, dimension=3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"share": 1.5}, "share must be from 0 to 1, got 1.5"),
        ({"n": 0}, "n must be an integer >= 1"),
        ({"dimension": -1}, "dimension must be an integer >= 0"),
        ({"failure": 1.0}, "failure must be from 1e-09"),
    ],
)
def test_an_error_of_what_there_is_not_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        new_row_error(**{"share": 0.1, "n": 10, "dimension": 1, "failure": 0.1} | arguments)


def test_means_of_queries_lie_within_their_deviation(rng):
    n, K = 400, 10
    far = query_deviation(n, K, 0.1)
    means = rng.binomial(n, 0.5, (2000, K)) / n
    assert (np.abs(means - 0.5) > far).any(axis=1).mean() < 0.1


@pytest.mark.parametrize(("k", "T"), [(2, 3), (3, 2), (2, 5)])
def test_every_learner_from_experts_has_the_regret_that_fair_coins_give(k, T):
    best = [np.reshape(coins, (T, k)).sum(axis=0).min() for coins in itertools.product((0, 1), repeat=k * T)]
    assert experts_lower_bound(k, T) == pytest.approx(T / 2 - np.mean(best), abs=1e-6)
    assert experts_lower_bound(k, T) <= T / 2 - np.mean(best)


def test_the_regret_of_every_learner_is_of_the_order_of_the_square_root():
    assert experts_lower_bound(1, 100) == 0
    longest = experts_lower_bound(1000, 10**6)
    assert longest == pytest.approx(math.sqrt(10**6 * math.log(1000) / 2), rel=0.2)
    assert experts_lower_bound(1000, 10**12) == longest

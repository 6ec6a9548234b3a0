import math

import numpy as np
import pytest
from scipy import stats

from dpfast.accounting import discrete_gaussian_sigma
from dpfast.audit import certify
from dpfast.audit.certificates import _bound
from dpfast.cli.audit import AUDITED
from dpfast.cli.worst_cases import CASES
from dpfast.mechanisms import discrete_gaussian, discrete_laplace


def laplace(count, rng):
    return discrete_laplace(count, 1, rng=rng)


def test_a_tight_claim_is_nearly_reached_and_not_exceeded(rng):
    found = certify(laplace, 10, 11, epsilon=1.0, runs=8000, random_state=rng)
    assert 0.7 < found.certified <= 1
    assert found.holds
    on_a_line = certify(lambda n, rng: float(laplace(n, rng)), 10, 11, epsilon=1.0, runs=8000, random_state=rng)
    assert 0.7 < on_a_line.certified <= 1
    assert str(on_a_line).startswith("claimed epsilon 1 at delta 0, at least 0.")


def test_a_claim_that_is_false_is_refuted(rng):
    found = certify(laplace, 10, 11, epsilon=0.5, runs=8000, random_state=rng)
    assert found.certified > 0.5
    assert not found.holds
    sigma = discrete_gaussian_sigma(4.0, 0.02, sensitivity=1000)
    halved = certify(
        lambda n, rng: float(discrete_gaussian(n, sigma / 2, rng=rng)),
        0, 1000, epsilon=4.0, delta=0.02, runs=8000, random_state=rng,
    )  # fmt: skip
    assert not halved.holds


def test_delta_is_taken_off_the_probability():
    def leaky(table, rng):
        return table if rng.random() < 0.1 else -1

    assert certify(leaky, 0, 1, epsilon=0.1, delta=0.12, runs=4000, random_state=0).certified == 0
    assert certify(leaky, 0, 1, epsilon=0.1, delta=0.01, runs=4000, random_state=0).certified > 1


def test_the_bound_fails_no_more_often_than_it_says():
    """Over all outcomes of n runs on either table, by enumeration: the mass where the bound exceeds the truth."""
    n, failure = 60, 0.05
    hits, others = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    bounds = _bound(hits, others, n, 0.02, failure)
    for p, q in ((0.5, 0.2), (0.9, 0.5), (0.1, 0.05), (0.3, 0.3)):
        law = np.outer(stats.binom.pmf(np.arange(n + 1), n, p), stats.binom.pmf(np.arange(n + 1), n, q))
        assert law[bounds > max(0, math.log((p - 0.02) / q)) + 1e-12].sum() <= failure


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": -1}, "epsilon must"),
        ({"delta": 1}, "delta must"),
        ({"runs": 1}, "runs must be an integer of at least 2"),
        ({"failure": 0}, "failure must lie in"),
    ],
)
def test_what_will_not_do_is_refused_before_a_run(arguments, message):
    with pytest.raises(ValueError, match=message):
        certify(lambda *_: 1 / 0, 0, 1, **{"epsilon": 1.0} | arguments)


def test_every_model_has_a_worst_case():
    assert tuple(CASES) == AUDITED


@pytest.mark.parametrize("name", AUDITED)
def test_all_worst_cases_with_power_show_some_of_the_claim_in_few_runs(name, rng):
    """At a large claim; docs/privacy_checks.md has what `dpfast audit --epsilon 1` certifies by many runs."""
    # At 20 both tables of the online learner give the same outcomes.
    epsilon, runs = (3.0, 80) if name == "online-littlestone" else (20.0, 40)
    case, given = CASES[name](epsilon, 0.02), {"runs": runs, "failure": 0.05, "random_state": rng}
    more, less = certify(case.run, case.table, case.neighbor, epsilon=epsilon, delta=case.delta, **given).frequencies
    assert case.weak or more - case.delta > math.e * less  # which more runs would certify


def half_nan(table, rng):
    return math.nan if table and rng.random() < 0.5 else float(rng.random())


@pytest.mark.parametrize(
    ("mechanism", "event"),
    [
        (half_nan, "the outcome nan, on the other table"),
        (lambda table, rng: (half_nan(table, rng) > 0 or math.nan,), "the outcome (nan,), on the other table"),
        (lambda table, rng: 0.5 if table and rng.random() < 0.3 else float(rng.random()), "the outcome 0.5, on the"),
        (
            lambda table, rng: math.inf if table and rng.random() < 0.5 else float(rng.random()),
            "an outcome of at least",
        ),
    ],
)
def test_a_single_outcome_that_only_one_table_has_is_seen(mechanism, event):
    found = certify(mechanism, 0, 1, epsilon=1.0, random_state=0)
    assert found.certified > 4
    assert not found.holds
    assert found.event.startswith(event) or event in str(found)

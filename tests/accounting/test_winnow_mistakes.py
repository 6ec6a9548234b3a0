import math

import numpy as np
import pytest

from dpfast.accounting import batched_plan, batched_update_bound, winnow_epsilon, winnow_paper, winnow_update_bound


def most_updates(d, confidence, eta, batch, rng):
    """Updates of ConfidentWinnow on a majority of three among d features, examples chosen to be used."""
    scores, updates = np.zeros(d), 0
    while True:
        w = np.exp(eta * (scores - scores.max()))
        w /= w.sum()
        x = rng.choice([-1, 1], size=(4_000, d))
        y = np.where(x[:, :3].sum(axis=1) > 0, 1, -1)
        used = np.flatnonzero(y * (x @ w) <= confidence / 3)[:batch]
        if len(used) < batch:
            return updates
        scores += y[used] @ x[used]
        updates += 1


@pytest.mark.parametrize(("confidence", "batch"), [(0.0, 1), (0.5, 1), (0.5, 20)])
def test_winnow_keeps_the_update_bound(confidence, batch, rng):
    step = (1 - confidence) / 3
    bound = batched_update_bound(30, 1 / 3, confidence, step / batch, batch)
    assert bound == winnow_update_bound(30, 1 / 3, confidence, step) == math.floor(2 * math.log(30) / step**2)
    assert 0 < most_updates(30, confidence, step / batch, batch, rng) <= bound


def test_the_paper_s_system_is_solved():
    horizon, d, rho, c, beta = 10**6, 1_000, 0.25, 0.5, 0.1
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-3), (8.0, 1e-9)):
        plan = winnow_paper(epsilon, delta, horizon=horizon, dimension=d, margin=rho, confidence=c, failure=beta)
        K, m, eta = plan.n_updates, plan.n_draws, plan.learning_rate
        assert eta == pytest.approx(epsilon / (8 * math.sqrt(2 * m * K * math.log(2 / delta))), rel=1e-9)
        assert winnow_update_bound(d, rho, c, eta) <= K <= winnow_update_bound(d, rho, c, eta) * (1 + 1e-3) + 1
        assert 2 * K * horizon * math.exp(-m * (c * rho) ** 2 / 2) <= beta * (1 + 1e-9)
        spent = {"n_updates": K, "n_draws": m, "threshold_epsilon": plan.threshold_epsilon, "threshold_runs": K}
        assert winnow_epsilon(eta, delta, **spent) < epsilon


def test_a_vacuous_promise_says_so_and_how_long_a_stream_it_needs():
    problem = {"dimension": 1_000, "margin": 1 / 3}
    paper = winnow_paper(1, 1e-6, horizon=10**6, **problem)
    batched = batched_plan(1, 1e-6, horizon=10**6, **problem)
    assert paper.vacuous
    assert paper.mistakes > 1e12
    assert batched.mistakes < 1e-10 * paper.mistakes
    for planner, plan in ((winnow_paper, paper), (batched_plan, batched)):
        enough = planner(1, 1e-6, horizon=plan.horizon_needed, **problem)
        assert not enough.vacuous
        assert enough.mistakes < plan.horizon_needed
        assert planner(1, 1e-6, horizon=plan.horizon_needed - 1, **problem).vacuous


@pytest.mark.parametrize("share", [0, 0.5])
def test_the_batched_plan_is_private_and_keeps_its_bounds(share):
    problem = {"horizon": 10**6, "dimension": 40_000, "margin": 1 / 3}
    for epsilon, delta in ((1.0, 1e-6), (0.1, 1e-9)):
        plan = batched_plan(epsilon, delta, threshold_share=share, **problem)
        run = {"n_updates": plan.n_updates, "n_draws": plan.n_draws, "threshold_epsilon": plan.threshold_epsilon}
        assert winnow_epsilon(plan.learning_rate, delta, **run) <= epsilon
        assert winnow_epsilon(plan.learning_rate * 1.01, delta, **run) > epsilon
        assert batched_update_bound(40_000, 1 / 3, 1 / 3, plan.learning_rate, plan.batch) == plan.n_updates
        assert plan.mistakes == plan.n_updates * (2 * plan.threshold - plan.batch)
        assert (plan.threshold == plan.batch) == (share == 0)


def test_the_defaults_of_the_batched_plan_are_the_least_mistakes_without_thresholds():
    problem = {"horizon": 10**6, "dimension": 10**6, "margin": 0.1, "threshold_share": 0}
    least = batched_plan(1, 1e-6, **problem).mistakes
    for change in ({"step": 0.4}, {"step": 0.6}, {"confidence": 0.25}, {"confidence": 0.45}):
        assert least < batched_plan(1, 1e-6, **problem, **change).mistakes


def test_the_batched_promise_grows_as_the_theory_says():
    problem = {"horizon": 10**9, "dimension": 10**5, "threshold_share": 0}
    base = batched_plan(1, 1e-6, margin=0.1, **problem).mistakes
    assert batched_plan(0.1, 1e-6, margin=0.1, **problem).mistakes / base == pytest.approx(10, rel=0.2)
    assert batched_plan(1, 1e-6, margin=0.05, **problem).mistakes / base == pytest.approx(8, rel=0.2)


PLAN = {"horizon": 100, "dimension": 10, "margin": 0.5}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: winnow_update_bound(10, 0, 0.5, 0.1), "margin must be from 1e-09 to 1, got 0"),
        (lambda: winnow_update_bound(10, 0.5, 1, 0.1), "confidence must be at least 0 and below 1, got 1"),
        (lambda: winnow_update_bound(10, 0.5, 0.5, 0.5), r"below 2 \* .* = 0.5, got 0.5"),
        (
            lambda: batched_update_bound(10, 0.5, 0.5, 0.1, 3),
            "learning_rate \\* batch must be at most .* = 0.25, got 0.3",
        ),
        (lambda: winnow_paper(30, 1e-6, **PLAN), r"epsilon must be below 1.6 \* ln\(2 / delta\) = 23.2"),
        (lambda: winnow_paper(1, 1e-6, **PLAN, confidence=0), "confidence must be from 1e-09 to 1 - 1e-09, got 0"),
        (lambda: winnow_paper(1, 1e-6, **{**PLAN, "dimension": 1}), "dimension must be an integer >= 2, got 1"),
        (lambda: batched_plan(0, 1e-6, **PLAN), "epsilon must be a finite number, at least 1e-09, got 0"),
        (lambda: batched_plan(1, 1e-6, **PLAN, step=1.5), "step must be from 1e-09 to 1, got 1.5"),
        (lambda: batched_plan(1, 1e-6, **PLAN, failure=1), "failure must be from 1e-09 to 1 - 1e-09, got 1"),
    ],
)
def test_the_planner_says_what_it_wants(call, message):
    with pytest.raises(ValueError, match=message):
        call()

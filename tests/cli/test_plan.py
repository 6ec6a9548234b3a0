import json
import math
from fractions import Fraction

import numpy as np
import pytest

import dpfast
from dpfast.accounting import (
    batched_plan,
    boost_plan,
    cover_exponent,
    gaussian_sigma,
    halfspace_lower_bound,
    net_plan,
    projected_plan,
    winnow_paper,
)
from dpfast.cli.plan.decision_list import _error_at, _lead, _rows_for_privacy, _rows_to_generalise
from dpfast.mechanisms import exponential


def test_a_plan_shows_both_exponents_and_whether_n_suffices(run):
    result = run("plan", "decision-list", "--n", 2_000_000, "--features", 252, "--epsilon", 1)
    assert result.exit_code == 0
    assert "0.01632" in result.stdout
    assert f"{cover_exponent(1, 1e-6, max_rounds=253):.5f}" in result.stdout
    assert "2.3 times too few" in result.stdout
    assert "enough" in result.stdout
    assert f"{cover_exponent(1, 1e-6, coverage_weight=0.5, max_rounds=10):.5f}" in result.stdout


def test_a_plan_for_a_list_takes_the_conditions_off_a_schema(run, refused, tmp_path):
    command, path = ["plan", "decision-list", "--n", 30_000, "--epsilon", 1], tmp_path / "t.json"
    numbers = {"name": "a", "kind": "numeric", "low": 0, "high": 1, "edges": 16, "nullable": True}
    jobs = {"name": "b", "kind": "category", "values": ["x", "y"], "other": True}
    path.write_text(json.dumps({"columns": [numbers, jobs, {"name": "c", "kind": "boolean"}]}))
    bits = (15 + 1) + 3 + 1  # thresholds and missing; values and other; true
    assert run(*command, "--schema", path).stdout == run(*command, "--features", 2 * bits).stdout
    assert "--schema FILE, or --features M" in refused(*command)
    assert "--schema FILE, or --features M" in refused(*command, "--schema", path, "--features", 3)


def test_a_rule_so_far_ahead_is_drawn_nine_times_in_ten(rng):
    lead = math.ceil(_lead(20, 0.3))
    scores = np.zeros(2 * 25, np.int32)
    scores[5] = lead
    drawn = exponential(scores, Fraction(3, 10), size=20_000, rng=rng)
    assert np.mean(drawn == 5) > 0.9 - 5 * math.sqrt(0.09 / 20_000)
    scores[5] = lead // 2
    assert np.mean(exponential(scores, Fraction(3, 10), size=20_000, rng=rng) == 5) < 0.9


def test_a_plan_for_a_halfspace_shows_the_noise_of_one_code(run, refused, tmp_path):
    command = ["plan", "halfspace", "--n", 10_000, "--epsilon", 1]
    shown = run(*command, "--columns", 3).stdout
    assert f"{2 * gaussian_sigma(1, 1e-6) * math.sqrt(7):.0f}" in shown
    path = tmp_path / "t.json"
    path.write_text(
        '{"columns": [{"name": "a", "kind": "numeric", "low": 0, "high": 1}, {"name": "b", "kind": "boolean"}]}'
    )
    assert f"{2 * gaussian_sigma(1, 1e-6) * math.sqrt(4):.0f} " in run(*command, "--schema", path).stdout
    assert "--schema FILE, or --columns K" in refused(*command)


def test_the_plan_is_the_papers_theorem_with_the_papers_constants():
    m, alpha, beta, epsilon, delta = 40, 0.05, 0.01, 0.7, 1e-5
    eps_hat = epsilon / (2 * (math.log(1 / delta) + 1.5))
    theorem = 8 * m * math.log(2 * m / math.sqrt(beta)) / (eps_hat * alpha)
    exponent = cover_exponent(epsilon, delta, accounting="paper")
    assert _rows_for_privacy(m, alpha, beta, exponent) == pytest.approx(theorem, rel=1e-9)
    statistics = 64 / alpha * ((m + 1) * math.log(64 / alpha) + math.log(16 / beta))
    assert _rows_to_generalise(m, alpha, beta) == pytest.approx(statistics, rel=1e-12)


def test_the_error_of_a_plan_is_the_one_its_rows_are_asked_for():
    for alpha in (0.1, 0.02):
        rows = max(_rows_to_generalise(30, alpha, 0.1), _rows_for_privacy(30, alpha, 0.1, 0.05))
        assert float(_error_at(math.ceil(rows), 30, 0.1, 0.05)) == pytest.approx(alpha, rel=0.01)
    assert _error_at(100, 30, 0.1, 0.05) == "none"


def test_a_plan_refuses_what_no_theorem_covers(refused):
    command = ["plan", "decision-list", "--n", 100, "--features", 10, "--epsilon", 1]
    assert "--alpha must lie in (0, 1), got 1.5" in refused(*command, "--alpha", 1.5)
    assert "--beta must lie in (0, 1), got 0.0" in refused(*command, "--beta", 0)
    assert "delta must be" in refused(*command, "--delta", 0)


def test_a_plan_for_winnow_shows_both_bounds_and_what_practice_needs(run):
    command = ["plan", "winnow", "--d", 1000, "--margin", 1 / 3, "--epsilon", 1, "--horizon"]
    result = run(*command, 10**6)
    assert result.exit_code == 0
    paper, batched = (
        plan(1.0, 1e-6, horizon=10**6, dimension=2002, margin=1 / 3) for plan in (winnow_paper, batched_plan)
    )
    assert "vacuous: it allows more mistakes than the 1,000,000 rounds planned" in result.stdout
    assert f"It says something from {paper.horizon_needed:.3g} rounds on" in result.stdout
    assert f"The batched update is guaranteed at most {batched.mistakes:,} mistakes" in result.stdout
    assert f"{batched.n_updates:,}" in result.stdout
    eta = dpfast.DPWinnowClassifier().partial_fit([[0], [1]], [0, 1]).learning_rate_
    assert f"eta = {eta:.4g}" in result.stdout
    assert f"about {math.ceil(2 * (math.log(2 * 1000 + 2) + 2) / eta):,} rows" in result.stdout
    assert "too few for one update" not in result.stdout
    result = run(*command, 1000)
    assert result.stdout.count("vacuous") == 2
    assert "1,000 rounds are too few for one update." in result.stdout


def test_a_plan_for_winnow_refuses_what_no_theorem_covers(refused):
    command = ["plan", "winnow", "--d", 1000, "--horizon", 1000, "--epsilon", 1, "--margin"]
    assert "margin must be" in refused(*command, 2)
    assert "delta must be" in refused(*command, 0.3, "--delta", 0)
    assert "confidence must be" in refused(*command, 0.3, "--confidence", 1)


@pytest.mark.parametrize(
    ("model", "options", "plan"),
    [
        ("boost", ["--noise", 0.001], boost_plan(2.0, 1e-6, margin=0.25, alpha=0.05, noise=0.001)),
        ("projected", [], projected_plan(2.0, 1e-6, margin=0.25, alpha=0.05)),
        ("projected", ["--d", 12], projected_plan(2.0, 1e-6, margin=0.25, alpha=0.05, dimension=12)),
        ("net", ["--d", 3], net_plan(2.0, margin=0.25, alpha=0.05, dimension=3)),
    ],
)
def test_a_plan_for_halfspaces_shows_rows_parameters_and_the_lower_bound(run, model, options, plan):
    command = ["plan", model, "--margin", 0.25, "--epsilon", 2, "--alpha", 0.05, *options, "--n"]
    result = run(*command, plan.n)
    assert result.exit_code == 0
    table = [[cell.strip() for cell in line.split("│")[1:3]] for line in result.stdout.splitlines() if "│" in line]
    assert ["rows asked", f"{plan.n:,}"] in table
    assert [f"n = {plan.n:,}", "enough"] in table
    assert ["rows every private learner needs", f"{plan.lower_bound:,}"] in table
    if model == "net":
        assert ["places along an edge", str(plan.side)] in table
        assert ["members of the net", f"{2 * 3 * plan.side**2:,}"] in table
    else:
        assert ["rounds", f"{plan.n_rounds:,}"] in table
        assert ["noise sigma of a round", f"{plan.sigma:.3g}"] in table
    assert ("rows as they are" in result.stdout) == ("--d" in options)
    assert ("flipped with probability 0.001" in result.stdout) == (model == "boost")
    assert "bounds derived in" in result.stdout
    assert "not the constants of" in result.stdout
    assert "No learner" not in result.stdout
    assert "2.0 times too few" in run(*command, plan.n // 2).stdout


def test_a_net_that_cannot_be_searched_is_called_so_and_its_relation_is_used(run):
    result = run("plan", "net", "--margin", 0.25, "--epsilon", 2, "--neighbors", "add-remove")
    plan = net_plan(2.0, margin=0.25, neighbors="add-remove")
    assert f"10^{plan.log10_size:,.0f}" in result.stdout
    assert "No learner searches a net so large" in result.stdout
    assert "2.0-DP, add-remove" in result.stdout
    assert f"{halfspace_lower_bound(2.0, 0, margin=0.25, neighbors='add-remove'):,} " in result.stdout


def test_a_plan_for_halfspaces_refuses_what_no_proof_covers(refused):
    for model in ("boost", "projected", "net"):
        command = ["plan", model, "--epsilon", 1, "--margin"]
        assert "margin must be from 1e-09 to 1, got 2.0" in refused(*command, 2)
        assert "alpha must be" in refused(*command, 0.2, "--alpha", 0)
    assert "noise must be below" in refused("plan", "boost", "--epsilon", 1, "--margin", 0.2, "--noise", 0.1)

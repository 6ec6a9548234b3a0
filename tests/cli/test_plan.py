import math

import pytest

import dpfast
from dpfast.accounting import batched_plan, cover_exponent, winnow_paper
from dpfast.cli.plan import _error_at, _rows_for_privacy, _rows_to_generalise


def test_a_plan_shows_both_exponents_and_whether_n_suffices(run):
    result = run("plan", "decision-list", "--n", 2_000_000, "--features", 252, "--epsilon", 1)
    assert result.exit_code == 0
    assert "0.01632" in result.stdout
    assert "0.08476" in result.stdout
    assert "2.3 times too few" in result.stdout
    assert "enough" in result.stdout
    assert f"{cover_exponent(1, 1e-6, coverage_weight=0.5):.5f}" in result.stdout


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
    assert "coverage_weight must" in refused(*command, "--coverage-weight", -1)


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
    eta = dpfast.DPWinnowClassifier()._tight_rates(True)[0]
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

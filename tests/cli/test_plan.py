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
    decision_list_paper,
    decision_list_plan,
    epsilon_for,
    experts_learning_rate,
    experts_lower_bound,
    experts_paper,
    experts_regret,
    finite_class_plan,
    gaussian_sigma,
    halfspace_lower_bound,
    net_plan,
    new_row_error,
    projected_plan,
    winnow_paper,
)
from dpfast.cli.plan.decision_list import _lead
from dpfast.cli.report import number
from dpfast.littlestone import LittlestoneLearner, StagedLittlestoneLearner, Thresholds
from dpfast.mechanisms import exponential


def test_a_plan_for_a_list_shows_its_own_rows_the_papers_and_whether_n_suffices(run):
    plan, paper = decision_list_plan(1.0, 1e-6, 252), decision_list_paper(1.0, 1e-6, 252)
    command = ["plan", "decision-list", "--features", 252, "--epsilon", 1]
    result = run(*command, "--n", 2_000_000)
    assert result.exit_code == 0
    for shown in (
        f"{plan.n:,}",
        f"{paper.n:,}",
        f"{plan.exponent:.5f}",
        f"{paper.exponent:.5f}",
        f"{plan.lower_bound:,}",
    ):
        assert shown in result.stdout
    assert "2.3 times too few" in result.stdout
    assert "enough" in result.stdout
    assert f"{plan.error(2_000_000):.2g}" in result.stdout
    assert f"{cover_exponent(1, 1e-6, coverage_weight=0.5, max_rounds=15):.5f}" in result.stdout
    assert f"{plan.n:,}" in run(*command).stdout  # rows at hand are not needed
    noisy = run(*command, "--noise", 1e-4).stdout
    assert f"{decision_list_plan(1.0, 1e-6, 252, noise=1e-4).n:,}" in noisy
    assert "each with a probability of at most 0.0001" in noisy.replace("\n", " ")


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


def test_a_plan_for_a_halfspace_says_how_many_rows_a_word_needs_where_nothing_is_declared(run):
    def least(n, epsilon):
        return json.loads(run("plan", "halfspace", "--n", n, "--epsilon", epsilon, "--columns", 19, "--json").stdout)

    few, more = least(4_000, 0.1), least(4_000, 1)
    assert more["published from rows"] < 4_000 < few["published from rows"]
    assert 5 < few["published from rows"] / few["discovery noise in rows"] < 6
    assert few["label published from rows"] < few["published from rows"] / 2
    shown = run("plan", "halfspace", "--n", 4_000, "--epsilon", 0.1, "--columns", 19).stdout
    assert "if nothing is declared: a word is published from" in shown
    assert "too few rows to discover words" in " ".join(shown.split())
    for columns, way in ((19, "surveyed like a frame"), (400, "read as vectors")):
        shown = run("plan", "halfspace", "--n", 4_000, "--epsilon", 1, "--columns", columns).stdout
        assert f"By default, a dense array of numbers of this shape is {way}" in " ".join(shown.split())


def test_a_plan_refuses_what_no_theorem_covers(refused):
    command = ["plan", "decision-list", "--n", 100, "--features", 10, "--epsilon", 1]
    assert "alpha must be from 1e-09 to 1 - 1e-09, got 1.5" in refused(*command, "--alpha", 1.5)
    assert "beta must be from 1e-09 to 1 - 1e-09, got 0.0" in refused(*command, "--beta", 0)
    assert "delta must be" in refused(*command, "--delta", 0)


def test_a_plan_for_winnow_shows_both_bounds_and_what_practice_needs(run):
    command = ["plan", "winnow", "--d", 1000, "--margin", 1 / 3, "--epsilon", 1, "--horizon"]
    result = run(*command, 10**6)
    assert result.exit_code == 0
    paper, batched = (
        plan(1.0, 1e-6, horizon=10**6, dimension=2002, margin=1 / 3) for plan in (winnow_paper, batched_plan)
    )
    assert "vacuous: it allows more mistakes than the 1,000,000 planned rounds" in result.stdout
    assert f"It is useful from {paper.horizon_needed:.3g} rounds on" in result.stdout
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
        (
            "boost",
            ["--noise", 0.001, "--corrupted", 0.002],
            boost_plan(2.0, 1e-6, margin=0.25, alpha=0.05, noise=0.001, corrupted=0.002),
        ),
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
    assert ["rows needed", f"{plan.n:,}"] in table
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
    assert ("at most 0.002 of the rows replaced" in result.stdout.replace("\n", " ")) == ("--corrupted" in options)
    assert "bounds derived here" in result.stdout
    assert "not the constants of" in result.stdout
    assert "No learner" not in result.stdout
    assert "2.0 times too few" in run(*command, plan.n // 2).stdout


def test_a_net_that_cannot_be_searched_is_called_so_and_its_relation_is_used(run):
    result = run("plan", "net", "--margin", 0.25, "--epsilon", 2, "--neighbors", "add-remove")
    plan = net_plan(2.0, margin=0.25, neighbors="add-remove")
    assert f"10^{plan.log10_size:,.0f}" in result.stdout
    assert "No learner can search so large a net" in result.stdout
    assert "2.0-DP, add-remove" in result.stdout
    assert f"{halfspace_lower_bound(2.0, 0, margin=0.25, neighbors='add-remove'):,} " in result.stdout


def test_a_plan_for_halfspaces_refuses_what_no_proof_covers(refused):
    for model in ("boost", "projected", "net"):
        command = ["plan", model, "--epsilon", 1, "--margin"]
        assert "margin must be from 1e-09 to 1, got 2.0" in refused(*command, 2)
        assert "alpha must be" in refused(*command, 0.2, "--alpha", 0)
    assert "noise must be below" in refused("plan", "boost", "--epsilon", 1, "--margin", 0.2, "--noise", 0.1)


def test_an_epsilon_is_found_from_the_noise_that_is_allowed(run, refused):
    answer = json.loads(run("plan", "--noise", 50, "--columns", 4, "--json").stdout)
    told = json.loads(
        run("plan", "halfspace", "--n", 1000, "--columns", 4, "--epsilon", answer["epsilon"], "--json").stdout
    )
    assert 49.5 < told["noise in rows"] <= 50
    assert f"epsilon = {answer['epsilon']:g}" in run("plan", "--noise", 50, "--columns", 4).stdout
    assert "--noise" in refused("plan")
    assert "allow more rows" in refused("plan", "--noise", 0.001)
    assert "needs no epsilon above 0: allow fewer rows" in refused("plan", "--noise", 1e6, "--delta", 1e-3)


@pytest.mark.parametrize("risk", [0.01, 0.05, 0.25, 0.4])
def test_an_epsilon_keeps_the_gain_of_a_guess_below_the_risk(run, risk):
    answer = json.loads(run("plan", "--risk", risk, "--json").stdout)
    grown = math.exp(answer["epsilon"])
    assert 0 <= epsilon_for(risk=risk) - answer["epsilon"] < 1e-3
    assert risk - 0.001 < (grown - 1 + 2 * answer["delta"]) / (grown + 1) / 2 <= risk
    assert 0 < answer["risk of a halfspace"] < risk
    assert answer["neighbors"] == "replace"
    for neighbors, guess in (("replace", "which of two"), ("add-remove", "in the table or not")):
        said = run("plan", "--risk", risk, "--neighbors", neighbors).stdout
        assert f"{0.5 + risk:.1%}" in said
        assert guess in said


@pytest.mark.parametrize(
    "command",
    [
        ("boost", "--margin", 0.1),
        ("net", "--margin", 0.3),
        ("projected", "--margin", 0.1),
        ("finite-class", "--hypotheses", 10),
        ("decision-list", "--n", 1000, "--features", 20),
        ("winnow", "--d", 100, "--margin", 0.3, "--horizon", 2000),
    ],
    ids=lambda command: command[0],
)
def test_every_plan_is_json_if_asked(run, command):
    assert json.loads(run("plan", *command, "--epsilon", 1, "--json").stdout)


def test_a_plan_for_thresholds_shows_the_theorem_the_teachers_and_one_draw(run, refused):
    command = ["plan", "littlestone", "--class", "thresholds", "--points", 15, "--epsilon", 1]
    shown = run(*command, "--n", 40_000, "--horizon", 100_000).stdout
    H = Thresholds(15)
    teachers, theorem = (learner(1.0, 1e-6, H).estimate() for learner in (LittlestoneLearner, StagedLittlestoneLearner))
    for rows in (teachers.n_samples, finite_class_plan(1.0, 16, realizable=True).n, teachers.n_teachers):
        assert f"{rows:,}" in shown
    assert f"{new_row_error(0.1, theorem.n_samples, dimension=4):.4g}" in shown
    assert "enough" in shown
    assert "planned for 10,680" in shown
    assert "Theorem 1 does not apply here" in shown.replace("\n", " ")
    assert "points must be" in refused(*command[:-3], 2**70, "--epsilon", 1)


def test_a_plan_for_point_functions_is_not_refused_for_work_that_nobody_does(run):
    shown = run("plan", "littlestone", "--class", "point-functions", "--points", 2**40, "--epsilon", 1).stdout
    assert "397,969" in shown


def test_a_plan_for_experts_shows_both_regrets_and_what_every_learner_has(run):
    shown = run("plan", "experts", "--experts", 100, "--horizon", 10_000, "--epsilon", 1).stdout
    rate = experts_learning_rate(1.0, 1e-6, horizon=10_000)
    paper = experts_paper(1.0, 1e-6, n_experts=100, horizon=10_000)
    for regret in (experts_regret(rate, 100, 10_000), paper.expected_regret, experts_lower_bound(100, 10_000)):
        assert number(regret) in shown

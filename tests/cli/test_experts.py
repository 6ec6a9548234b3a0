import math

import numpy as np
import pytest

from dpfast import RandomizedWeightedMajority
from dpfast.accounting import experts_regret, finite_class_plan


@pytest.fixture
def losses(rng):
    return np.round(np.column_stack([rng.random((300, 2)) * 0.5 + 0.5, rng.random(300) * 0.3]), 3)


@pytest.fixture
def path(losses, tmp_path):
    path = tmp_path / "losses.csv"
    path.write_text("\n".join(["ann,bob,cid", *[",".join(map(str, row)) for row in losses]]) + "\n")
    return path


def test_algorithm_15_on_a_table_writes_the_experts_that_the_learner_follows(run, path, losses, tmp_path):
    result = run("experts", path, "--epsilon", 20, "--seed", 3)
    assert result.exit_code == 0
    learner = RandomizedWeightedMajority(20.0, 1e-6, horizon=300, random_state=3)
    assert result.stdout.split() == [["ann", "bob", "cid"][e] for e in learner.play(losses.astype(np.float32))]
    assert result.stdout.count("cid") > 150
    assert str(learner.privacy_) in result.stderr
    for failure, theorem in ((None, "11.1"), (0.05, "11.4")):
        bound = experts_regret(learner.learning_rate_, 3, 300, failure=failure)
        assert any(f"{bound:,.0f}" in line and theorem in line for line in result.stderr.splitlines())
    assert "lost" not in result.stderr
    out = tmp_path / "followed.txt"
    assert run("experts", path, "--epsilon", 20, "--seed", 3, "--out", out).stdout == ""
    assert out.read_text() == result.stdout


def test_losses_are_shown_when_asked_for_and_other_files_are_read_too(run, path, losses, tmp_path):
    result = run("experts", path, "--epsilon", 5, "--seed", 3, "--show-private", "--calibration", "paper")
    assert f"{losses[:, 2].sum():,.1f} by cid" in result.stderr
    assert f"{5 / math.sqrt(32 * 300 * math.log(1e6)):.4g}" in result.stderr
    np.savez(tmp_path / "t.npz", X=losses)
    other = run(
        "experts", tmp_path / "t.npz", "--epsilon", 20, "--seed", 3, "--horizon", 400, "--neighbors", "add-remove"
    )
    assert set(other.stdout.split()) <= {"0", "1", "2"}
    assert "300 of 400 releases used" in other.stderr


def test_what_will_not_do_is_refused_before_anything_is_drawn(refused, path, tmp_path):
    assert "has 300 rounds, --horizon pays for 7" in refused("experts", path, "--epsilon", 1, "--horizon", 7)
    assert "failure must be above 0" in refused("experts", path, "--epsilon", 1, "--beta", 0)
    large = tmp_path / "large.csv"
    large.write_text("a,b\n0.5,1.5\n")
    said = refused("experts", large, "--epsilon", 1)
    assert "line 2, column 'b' holds another value" in said
    assert "1.5" not in said


def test_a_plan_for_a_finite_class_shows_both_cases(run, refused):
    result = run("plan", "finite-class", "--hypotheses", 1000, "--epsilon", 1, "--n", 1000)
    assert result.exit_code == 0
    for realizable in (True, False):
        plan = finite_class_plan(1.0, 1000, realizable=realizable)
        assert f"{plan.n:,}" in result.stdout
    assert f"{plan.paper_order:,}" in result.stdout
    assert "1.7 times too few" in result.stdout
    assert "alpha must be" in refused("plan", "finite-class", "--hypotheses", 10, "--epsilon", 1, "--alpha", 0)

import beyond
import numpy as np
import pytest

from dpfast.littlestone import OnlineLittlestoneLearner, Thresholds


def test_boosting_withstands_half_of_the_rows_that_undo_it_and_not_three_times_as_many():
    found = beyond.corruption(0.4, 1, rows=3000, rounds=60, shares=(0.5, 3))
    assert max(few for few, _ in found.values()) < 0.05
    assert found["replaced, the worst of three ways"][1] > 0.2
    assert found["flipped, one rate"][1] < 0.05  # flips at random do little


def test_rates_of_rows_have_the_share_that_is_asked_for_and_one_rate_each(rng):
    X, y = beyond.margins(0.4).draw(20_000, rng)
    for kind, ways in beyond.KINDS.items():
        for corrupt in ways:
            other, labels = corrupt(X, y, 0.1, rng)
            changed = (other != X).any(axis=1) | (labels != y)
            assert changed.mean() == pytest.approx(0.1, abs=0.012), kind
            if "flipped" in kind:
                assert (other == X).all()


def test_an_adversary_asks_where_the_hypothesis_errs_and_keeps_a_member_that_is_right(rng):
    table = np.arange(7) >= np.arange(8)[:, None]
    for greedy in (True, False):
        adversary, rounds = beyond.Adversary(table, greedy, rng), []
        while asked := adversary.round(lambda X: rng.integers(0, 2, len(X))):
            rounds.append(asked)
            assert len(adversary.left)
            if len(rounds) > 20:
                break
        assert all((adversary.left[:, x] == y).all() for x, y in rounds)


def test_soa_errs_as_often_as_its_dimension_and_private_learners_err_more_where_the_adversary_adapts():
    found = beyond.adaptive("thresholds", 7, 1, rounds=4_000)
    assert found.pop("SOA, not private") == {"adaptive, most members left": 3, "planned": 3}
    for lines in found.values():
        assert max(lines.values()) == lines["planned"]
        assert lines["adaptive, most members left"] >= lines["fixed, near the target"] > 0


def test_a_learner_of_few_releases_errs_for_ever_on_one_who_has_seen_the_last():
    """`estimate().mistakes` of `OnlineLittlestoneLearner` is no bound where rounds answer hypotheses."""
    learner = OnlineLittlestoneLearner(8.0, 1e-6, Thresholds(63), 20_000, n_releases=2, random_state=0)
    made = beyond.played(learner, beyond.CLASSES["thresholds"][1](63), True, 20_000, 0)
    assert learner.frozen_
    assert made > 19_900 > 5 * learner.estimate().mistakes


def test_decoys_mislead_greedy_cover_of_weight_0_where_labels_are_flipped_and_no_other():
    problem, most = beyond.decoys(8, 0.1)
    X, y = problem.draw(50_000, np.random.default_rng(0))
    assert (y == 1 - X[:, 0]).all()  # one rule
    for i in range(1, 9):
        assert 0.5 < y[X[:, i] == 1].mean() < 0.7
        assert 8 * (X[:, i] & X[:, 0]).mean() == pytest.approx(most, rel=0.15)
    found = beyond.misled(8, 0.1, 1, rows=20_000)
    assert found["weight 0"] > 0.15
    assert max(found["weight .3"], found["default"]) < 0.02
    assert beyond.misled(8, 1e-4, 1, rows=20_000)["weight 0"] < 0.02


def test_lists_of_flipped_labels_take_fewer_rows_than_the_plan():
    found = beyond.list_rows(4, 0.25, 1)
    assert max(found["greedy cover"], found["default"]) < found["our plan"]
    assert beyond.list_rows(4, 2, 1)["our plan"] is None

"""Probabilities that a share of epsilon buys: what is released, what it costs, what is said of rows."""

import itertools
import json
import warnings

import numpy as np
import pandas as pd
import pytest
from laws import assert_follows
from learners.test_costs import MODELS, X, Y
from sklearn.utils.estimator_checks import check_estimator

import dpfast
from dpfast.accounting import Composed
from dpfast.accounting.numbers import exact
from dpfast.base import Task, run
from dpfast.learners.calibration import ENDS, LEVELS
from dpfast.learners.halfspaces.linear import LinearModel, count_by_score, stack_columns
from dpfast.learners.probabilities import confusion
from dpfast.littlestone import LittlestoneLearner, StagedLittlestoneLearner, Thresholds
from dpfast.parts import Piece

ASKED = [name for name in MODELS if name not in ("halfspace", "list")]  # the others count in a way of their own
POINTS = np.random.default_rng(0).integers(15, size=3000)


def littlestone(kind, **more):
    return kind(2.0, 1e-6, Thresholds(15), scale=1e-4, random_state=0, **more)


def made(name, epsilon=1.0, **more):
    kind, parameters = MODELS[name]
    return kind(epsilon, **parameters, random_state=0, **more)


def takes(name, neighbors):
    return neighbors == "replace" or name not in ("linear", "winnow with a test")


@pytest.mark.parametrize("name", ASKED)
def test_a_model_that_was_not_asked_for_probabilities_has_none_and_says_how_to_ask(name):
    model = made(name)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model.fit(X, Y), "predict_proba")
    with pytest.raises(AttributeError, match="predict_proba") as refusal:
        model.predict_proba(X)
    assert "fit with probability_share above 0" in str(refusal.value.__cause__)
    assert hasattr(made(name, probability_share=0.1), "predict_proba")
    with pytest.raises(ValueError, match=r"probability_share must lie in \[0, 1\), got 1"):
        made(name, probability_share=1).fit(X, Y)


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("name", ASKED)
def test_probabilities_sum_to_one_side_with_the_label_and_are_saved(name, neighbors, tmp_path):
    if not takes(name, neighbors):
        pytest.skip('needs "replace"')
    model = made(name, 5.0, neighbors=neighbors, probability_share=0.1).fit(X, Y)
    shares = model.predict_proba(X)
    assert shares.shape == (len(X), 2)
    assert (shares > 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
    if hasattr(model, "decision_function"):
        np.testing.assert_allclose(np.log(shares[:, 1] / shares[:, 0]), model.decision_function(X), atol=1e-9)
    model.save(tmp_path / "model.json")
    loaded = dpfast.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict_proba(X), shares)
    assert loaded.privacy_ == model.privacy_


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("name", ASKED)
def test_model_and_counts_together_are_what_is_claimed(name, neighbors, monkeypatch):
    """A model of what is left of epsilon, and counts of every row once with the noise of the share."""
    if not takes(name, neighbors):
        pytest.skip('needs "replace"')
    seen = []
    monkeypatch.setattr(run, "discrete_laplace", lambda counts, scale, rng: seen.append((counts, scale)) or counts)
    model = made(name, 2.0, neighbors=neighbors, probability_share=0.25).fit(X, Y)
    (counts, scale), claim = seen[-1], model.privacy_
    assert counts.sum() == len(X)
    assert counts.sum(axis=0).tolist() == np.bincount(Y).tolist()
    assert model.class_counts_scale_ == scale == {"replace": 4, "add-remove": 2}[neighbors]
    assert (claim.epsilon, claim.delta) == (2.0, model.delta)
    assert ("class counts (0.25 of epsilon)", 1, 1) in claim.events
    assert claim.cost[-1].pure == pytest.approx(0.5)
    assert Composed(claim.cost).delta(2.0 * (1 + 1e-9)) <= claim.delta * (1 + 1e-9)
    alone = made(name, 1.5, neighbors=neighbors).fit(X, Y)
    assert str(alone._saver.released()) == str(model._saver.released())
    assert alone.privacy_.cost == claim.cost[:-1]
    assert model.set_params(probability_share=0.0, epsilon=1.5).fit(X, Y).privacy_.events == alone.privacy_.events


@pytest.mark.parametrize("epsilon", [0.1, 0.3, 1.0, 1 / 3, 7.77])
@pytest.mark.parametrize("share", [0.05, 0.1, 1 / 3, 0.999])
def test_what_is_left_and_what_is_taken_are_no_more_than_epsilon(epsilon, share):
    model, task = made("features", epsilon, probability_share=share), Task(epsilon, n_columns=3)
    noise = model.plan(task).solve(task).noise
    taken, left = 2 / noise[model.counts_name], 2 * noise["hypotheses"]
    assert left + taken <= exact("epsilon", epsilon)
    assert float(taken) == pytest.approx(epsilon * share)


def test_a_share_too_small_for_noise_is_refused():
    with pytest.raises(ValueError, match="probability_share must be 0 or a share of at least"):
        made("features", 1e-9, probability_share=1e-9).fit(X, Y)


@pytest.mark.parametrize(("neighbors", "scale"), [("replace", 8), ("add-remove", 4)])
def test_the_noise_on_the_counts_follows_the_law_of_its_share(neighbors, scale):
    rng, noise, halves = np.random.default_rng(3), [], np.arange(200) % 2
    table = np.zeros((1, 1), bool)
    model = dpfast.FiniteClassLearner(hypotheses=table, neighbors=neighbors, probability_share=0.25, random_state=rng)
    for _ in range(200):
        model.fit(np.zeros(200, int), halves, classes=[0, 1])
        noise += (model.class_counts_ - [[100, 100], [0, 0]]).ravel().tolist()
    span = np.arange(-60, 61)
    law = np.exp(-np.abs(span) / scale) * np.tanh(1 / (2 * scale))
    law[[0, -1]] += (1 - law.sum()) / 2
    assert_follows([np.count_nonzero(np.clip(noise, -60, 60) == value) for value in span], law)


def test_neighbours_move_counts_of_levels_by_no_more_than_the_noise_is_made_for(rng):
    rows = [(list(row), label) for row in itertools.product((-1.0, 0.0, 5.0), repeat=3) for label in (0, 1)]
    x, y = rng.normal(size=(6, 3)), rng.integers(0, 2, 6)
    model, most = (
        LinearModel(*stack_columns(rng.normal(size=3), 0.3, 0.1), True, True),
        {"replace": 0, "add-remove": 0},
    )

    def counts(more):
        table = np.vstack([x, *([row] for row, _ in more)])
        return count_by_score(Piece(table, np.array([*y, *(label for _, label in more)])), model)

    with_row = [counts([row]) for row in rows]
    for a in with_row:
        most["add-remove"] = max(most["add-remove"], np.abs(a - counts([])).sum())
        most["replace"] = max(most["replace"], *(np.abs(a - b).sum() for b in with_row))
    assert most == {"replace": 2, "add-remove": 1}
    assert confusion(np.array([0, 2, 2]), np.array([1, 2, 2]), 3).tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 2]]


@pytest.mark.parametrize("name", ["boosted", "linear", "winnow"])
@pytest.mark.parametrize("k", [1, 3])
def test_counts_of_persons_have_the_noise_of_all_their_rows(name, k):
    learner, units = made(name, probability_share=0.25), np.arange(len(X)) // 3
    if (name, k) == ("linear", 3):  # whose rounds are its rows, of which persons may have any number
        with pytest.raises(ValueError, match="the number of rows, which is private"):
            learner.fit(X, Y, units=units, rows_per_unit=k)
        return
    model = learner.fit(X, Y, units=units, rows_per_unit=k)
    assert model.class_counts_scale_ == 8 * k
    assert "one person" in str(model.privacy_)


def test_a_fit_that_is_interrupted_has_its_model_and_no_probabilities(monkeypatch):
    def stops(*arguments, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "discrete_laplace", stops)
    model = made("features", probability_share=0.1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.predict(X).shape == Y.shape
    assert not hasattr(model, "predict_proba")
    assert ("class counts (0.1 of epsilon)", 0, 1) in model.privacy_.events


def test_a_fit_without_counts_forgets_those_of_the_one_before():
    model = made("winnow", probability_share=0.1).fit(X, Y)
    model.set_params(probability_share=0.0).fit(X, Y)
    assert not hasattr(model, "class_counts_")
    assert not hasattr(model, "predict_proba")


@pytest.mark.parametrize("name", ["features", "boosted"])
def test_counts_of_a_file_that_could_not_be_are_refused(name, tmp_path):
    path = tmp_path / "model.json"
    made(name, probability_share=0.1).fit(X, Y).save(path)
    whole = json.loads(path.read_text())
    whole.pop("digest")
    assert len(whole["class_counts"]["counts"]) == (2 if name == "features" else LEVELS)
    for broken in (
        {"counts": [[1, 2]], "scale": "20"},
        {"counts": [[1.5, 2]] * len(whole["class_counts"]["counts"]), "scale": "20"},
        {"counts": whole["class_counts"]["counts"], "scale": "0"},
        {"counts": whole["class_counts"]["counts"]},
    ):
        path.write_text(json.dumps({**whole, "version": 1, "class_counts": broken}))
        with pytest.raises(ValueError, match="is damaged"):
            dpfast.load(path)


def test_hypotheses_of_all_kinds_have_the_shares_of_what_they_predict(rng):
    points = rng.integers(0, 6, 2000)
    y = np.where(rng.random(2000) < 0.9, points >= 3, points < 3).astype(int)
    table = np.arange(6) >= np.arange(7)[:, np.newaxis]
    functions = [lambda X, k=k: (X[:, 0] >= k).astype(int) for k in range(7)]
    for hypotheses in (table, functions):
        model = dpfast.FiniteClassLearner(5.0, hypotheses=hypotheses, probability_share=0.1, random_state=0)
        shares = model.fit(points[:, np.newaxis], y).predict_proba(points[:, np.newaxis])
        assert model.hypothesis_ == 3
        np.testing.assert_allclose(shares[points >= 3, 1], 0.9, atol=0.02)
        np.testing.assert_allclose(shares[points < 3, 0], 0.9, atol=0.02)
    three = dpfast.FiniteClassLearner(
        5.0, hypotheses=[lambda X: X[:, 0] // 2], probability_share=0.2, random_state=0
    ).fit(points[:, np.newaxis], points // 2)
    assert three.predict_proba(points[:, np.newaxis]).shape == (2000, 3)


@pytest.mark.parametrize("kind", [LittlestoneLearner, StagedLittlestoneLearner])
def test_learners_of_littlestone_classes_have_them_too(kind, tmp_path):
    given = {"scale": 1e-4} if kind is StagedLittlestoneLearner else {"rows_per_teacher": 20, "n_teachers": 150}
    model = kind(5.0, 1e-6, Thresholds(15), 0.2, **given, probability_share=0.1, random_state=0)
    left = kind(model._foreseen().epsilon, 1e-6, Thresholds(15), 0.2, **given)
    assert model.estimate() == left.estimate()
    assert not hasattr(left, "predict_proba")
    shares = model.fit(POINTS, POINTS >= 6).predict_proba(POINTS)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(POINTS))
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(dpfast.load(tmp_path / "model.json").predict_proba(POINTS), shares)


@pytest.mark.parametrize("name", ["linear", "features"])  # one of each way to count classes
def test_scikit_learns_checks_pass_with_probabilities_too(name):
    kind, parameters = MODELS[name]
    model = kind(**parameters, probability_share=0.2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(model, on_skip=None)


@pytest.mark.parametrize("name", ["boosted", "net"])
def test_a_table_of_another_width_is_refused(name):
    model = made(name, probability_share=0.1).fit(X, Y)
    for ask in (model.predict, model.predict_proba, model.decision_function):
        with pytest.raises(ValueError, match="X has 5 features, but"):
            ask(X[:, :5])


def test_a_stream_takes_no_share():
    with pytest.raises(ValueError, match="a stream gives no probabilities"):
        made("winnow", probability_share=0.1).partial_fit(X, Y)


def test_a_table_with_a_schema_of_which_facts_are_found_pays_for_all_three():
    from dpfast.tables import Category, Label, Numeric, Schema

    frame = pd.DataFrame({"age": np.arange(600) % 50, "job": ["clerk", "smith"] * 300, "y": ["a", "b", "b"] * 200})
    schema = Schema([Numeric("age", 0, 50, edges=4), Category("job")], label=Label("y", ["a", "b"]))
    model = dpfast.BoostedHalfspaceClassifier(
        10.0, 1e-3, schema=schema, encoder_share=0.2, probability_share=0.5, random_state=0
    ).fit(frame)
    assert model.encoder_.privacy_.epsilon == 10.0  # the claim of the whole fit
    assert float(2 / model.class_counts_scale_) == pytest.approx(5 * 0.8**0.5)  # half of what the survey leaves
    assert (model.privacy_.epsilon, model.privacy_.delta) == (10.0, 1e-3)
    assert model.predict_proba(frame).shape == (600, 2)


@pytest.mark.parametrize("name", ["boosted", "projected", "winnow", "linear"])
def test_what_is_said_comes_true_about_as_often(name):
    rng = np.random.default_rng(1)
    x = rng.integers(0, 2, (20_000, 12)).astype(bool)
    truth = 1 / (1 + np.exp(-(2 * x[:, :6] - 1).sum(axis=1) * 0.7))
    y = rng.random(len(x)) < truth
    parameters = {"n_rounds": 20} if name in ("boosted", "projected") else {}
    kind = MODELS[name][0]
    model = kind(2.0, **parameters, probability_share=0.1, random_state=0).fit(x, y)
    said = model.predict_proba(x)[:, 1]
    level = np.minimum((10 * said).astype(int), 9)
    rows = np.bincount(level, minlength=10)
    apart = np.abs(np.bincount(level, said - truth, 10)).sum() / rows.sum()
    assert apart < (0.08 if name == "winnow" else 0.05)  # its votes of few coordinates are coarse
    assert len(ENDS) + 1 == LEVELS

import json
import os
import pickle
from fractions import Fraction

import numpy as np
import pytest

import dpfast
from dpfast import random
from dpfast.accounting import Budget


@pytest.fixture
def table(rng):
    X = rng.integers(0, 2, (300, 6))
    return X, np.where(X[:, 2] | X[:, 4], "yes", "no")


@pytest.fixture
def model(table):
    return dpfast.DecisionListClassifier(epsilon=2.0, delta=1e-5, max_rules=4, random_state=7).fit(*table)


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.json")
    return tmp_path / "model.json"


def test_a_saved_model_loads_as_it_was(model, path, table):
    loaded = dpfast.load(path)
    assert type(loaded) is type(model)
    assert loaded.rules_ == model.rules_
    assert loaded.to_text() == model.to_text()
    assert loaded.privacy_ == model.privacy_
    assert str(loaded.privacy_).endswith("reproducible, not private")
    assert (loaded.predict(table[0]) == model.predict(table[0])).all()
    assert loaded.predict(table[0]).dtype == model.predict(table[0]).dtype
    assert loaded.get_params() == {**model.get_params(), "random_state": None}


def test_a_saved_winnow_model_predicts_as_it_did(tmp_path, rng):
    X = rng.integers(0, 2, (4000, 6)).astype(bool)
    y = np.where(X[:, 2] | X[:, 4], "yes", "no")
    model = dpfast.DPWinnowClassifier(epsilon=3.0, n_updates=5, negations=False, random_state=7).fit(X, y)
    model.save(tmp_path / "m.json")
    loaded = dpfast.load(tmp_path / "m.json")
    assert (loaded.decision_function(X) == model.decision_function(X)).all()
    assert loaded.predict(X).tolist() == model.predict(X).tolist()
    assert loaded.coef_.tolist() == model.coef_.tolist()
    assert loaded.intercept_ == model.intercept_
    assert loaded.updates_ == 5
    assert loaded.privacy_ == model.privacy_
    parameters = {**loaded.get_params(), "feature_range": tuple(loaded.feature_range)}
    assert parameters == {**model.get_params(), "random_state": None}


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "ü"], [True, False]])
def test_labels_and_feature_names_come_back_with_their_types(tmp_path, rng, labels):
    X, y = dpfast.BitMatrix(rng.integers(0, 2, (90, 3)), feature_names=["x", "y", "ž"]), rng.choice(labels, 90)
    model = dpfast.DecisionListClassifier(random_state=1).fit(X, y)
    model.save(tmp_path / "m.json")
    loaded = dpfast.load(tmp_path / "m.json")
    assert loaded.classes_.tolist() == sorted(labels)
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.feature_names_in_.tolist() == ["x", "y", "ž"]
    assert str(loaded) == str(model)


def test_thresholds_and_conjunctions_come_back(tmp_path, rng):
    X = rng.normal(size=(200, 4))
    y = (X[:, 0] > 0.5) & (X[:, 1] > -0.25)
    level = np.array([0.5, -0.25, 0.0, 1.0])
    model = dpfast.DecisionListClassifier(epsilon=20, conjunctions=2, threshold=level, random_state=1).fit(X, y)
    model.save(tmp_path / "m.json")
    assert (dpfast.load(tmp_path / "m.json").predict(X) == model.predict(X)).all()


def test_a_file_holds_no_data_no_budget_and_no_random_state(table, tmp_path):
    budget, seed = Budget(5.0, 1e-3), np.random.default_rng(123456789)
    model = dpfast.DecisionListClassifier(budget=budget, random_state=seed).fit(*table)
    model.save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert set(document) == {
        "format",
        "version",
        "model",
        "parameters",
        "classes",
        "n_features",
        "feature_names",
        "privacy",
        "released",
    }
    assert set(document["parameters"]) == set(model.get_params()) - {"budget", "random_state"}
    assert document["n_features"] == 6
    assert len(document["released"]) == len(model.rules_)
    loaded = dpfast.load(tmp_path / "m.json")
    assert loaded.budget is None
    assert loaded.random_state is None


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        dpfast.DecisionListClassifier().save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())


def test_saving_replaces_a_file_at_once_or_not_at_all(model, path, monkeypatch):
    before = path.read_bytes()

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(KeyboardInterrupt):
        model.save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in path.parent.iterdir()] == ["model.json"]


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99])
def test_a_file_that_is_cut_short_is_refused(path, share):
    whole = path.read_bytes().rstrip()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=r"model\.json is not a whole JSON file \(cut short\?\)"):
        dpfast.load(path)


def test_a_file_of_a_newer_version_says_so(path):
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "version": 99}))
    with pytest.raises(ValueError, match=r"model\.json has format version 99, .* install a newer one"):
        dpfast.load(path)


@pytest.mark.parametrize("text", ["[]", "3", "{}", '{"format": "something else"}'])
def test_json_that_is_no_model_is_refused(path, text):
    path.write_text(text)
    with pytest.raises(ValueError, match=r"model\.json is not a dpfast model"):
        dpfast.load(path)


def test_a_model_of_an_unknown_kind_is_refused(path):
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "model": "oracle"}))
    with pytest.raises(ValueError, match=r"model\.json holds a model of unknown kind 'oracle'"):
        dpfast.load(path)


@pytest.mark.parametrize(
    "damage",
    [
        {"parameters": {"no_such_parameter": 1}},
        {"parameters": 3},
        {"classes": None},
        {"released": None},
        {"released": [[[[0, False]], 5]]},
        {"released": [[0, 0]]},
        {"released": [[[[0]], 0]]},
        {"privacy": {}},
        {"privacy": None},
        {"privacy": {"epsilon": -1, "delta": 0, "neighbors": "replace", "events": [], "reproducible": False}},
        {"feature_names": 3},
    ],
)
def test_a_damaged_file_is_refused_when_it_is_loaded(path, damage):
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, **damage}))
    with pytest.raises(ValueError, match=r"model\.json is damaged"):
        dpfast.load(path)


def test_a_lost_entry_is_named(path):
    document = json.loads(path.read_text())
    del document["released"]
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"model\.json is damaged: KeyError: 'released'"):
        dpfast.load(path)


def test_a_missing_file_is_reported_as_one(tmp_path):
    with pytest.raises(FileNotFoundError):
        dpfast.load(tmp_path / "absent.json")


def test_a_pickled_model_predicts_the_same(model, table):
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.rules_ == model.rules_
    assert loaded.privacy_ == model.privacy_
    assert (loaded.predict(table[0]) == model.predict(table[0])).all()


def test_a_pickled_models_budget_is_a_closed_ledger(table):
    budget = Budget(3.0, 1e-5)
    model = dpfast.DecisionListClassifier(budget=budget).fit(*table)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.budget.spent == budget.spent == (1.0, 1e-6)
    with pytest.raises(RuntimeError, match="only in the process that made it"):
        loaded.fit(*table)
    assert budget.left == (2.0, 9e-6)
    model.fit(*table)
    assert budget.spent == (2.0, 2e-6)


def test_a_pickle_holds_no_cryptographic_stream(table):
    rng = random.default_rng()
    model = dpfast.DecisionListClassifier(random_state=rng).fit(*table)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.random_state.integers(2**63) != rng.integers(2**63)


def test_exact_parameters_are_saved(table, tmp_path):
    model = dpfast.DecisionListClassifier(coverage_weight=Fraction(1, 4), epsilon=np.float64(2)).fit(*table)
    model.save(tmp_path / "m.json")
    assert dpfast.load(tmp_path / "m.json").coverage_weight == 0.25

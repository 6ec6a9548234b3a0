import json

import numpy as np
import pytest

import dpfast
from dpfast.accounting import Budget
from dpfast.littlestone import FiniteClass, LittlestoneLearner, OnlineLittlestoneLearner, PointFunctions, Thresholds

CLASSES = [
    PointFunctions(2**40),
    PointFunctions(9).restrict(3, 0),
    PointFunctions(9).restrict(3, 1),
    Thresholds(300),
    Thresholds(9).restrict(3, 0).restrict(7, 1),
    FiniteClass(np.arange(20) >= np.arange(21)[:, None], max_nodes=1000),
    FiniteClass(np.eye(11)).restrict(3, 0),
]


def saved(model, tmp_path):
    model.save(tmp_path / "m.json")
    return dpfast.load(tmp_path / "m.json")


@pytest.mark.parametrize("H", CLASSES, ids=repr)
def test_a_saved_learner_loads_as_it_was(H, tmp_path, rng):
    X = rng.integers(min(H.n_points, 9), size=3000)
    for model in (
        LittlestoneLearner(2.0, 1e-5, H, 0.2, random_state=0),
        OnlineLittlestoneLearner(2.0, 1e-5, H, 5000, n_teachers=20, random_state=0),
    ):
        model.fit(X, X == 4)
        loaded = saved(model, tmp_path)
        assert type(loaded) is type(model)
        assert loaded.hypothesis_ == model.hypothesis_
        assert loaded.hypothesis_class == H
        assert loaded.privacy_ == model.privacy_
        assert loaded.get_params() == {**model.get_params(), "random_state": None}
        assert loaded.classes_.tolist() == [0, 1]
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        for name in ("selected_", "level_", "releases_", "frozen_"):
            assert getattr(loaded, name, None) == getattr(model, name, None)


def test_a_function_that_is_no_member_is_saved_by_its_labels(tmp_path):
    H = FiniteClass(np.eye(13))
    model = LittlestoneLearner(1.0, 1e-6, H, n_teachers=3, random_state=0).fit([0, 1], [0, 1])
    assert not model.selected_
    assert "no member" in repr(model.hypothesis_)
    assert json.loads(json.dumps(model._saver.released()))["hypothesis"] == "0000"
    assert saved(model, tmp_path).hypothesis_ == model.hypothesis_


def test_a_saved_stream_predicts_but_does_not_go_on_unless_it_is_frozen(tmp_path, rng):
    X, y = rng.integers(50, size=5000), rng.integers(2, size=5000)
    model = OnlineLittlestoneLearner(5.0, 1e-3, PointFunctions(50), 5000, n_releases=2, n_teachers=5, random_state=0)
    model.stream(X[:10], y[:10])
    with pytest.raises(ValueError, match="it was loaded, unpickled or interrupted; clone it"):
        saved(model, tmp_path).stream(X, y)
    model.stream(X, y)
    assert model.frozen_
    with pytest.warns(UserWarning, match="the hypothesis is frozen"):
        predicted = saved(model, tmp_path).stream(X, y)
    np.testing.assert_array_equal(predicted, model.predict(X))


def test_a_file_holds_what_was_released_and_the_class(tmp_path, rng):
    X = rng.integers(9, size=100)
    model = LittlestoneLearner(1.0, 1e-6, Thresholds(9), budget=Budget(1.0, 1e-6)).fit(X, X > 4)
    model.save(tmp_path / "m.json")
    document = json.loads((tmp_path / "m.json").read_text())
    assert set(document["parameters"]) == set(model.get_params()) - {"budget", "random_state", "hypothesis_class"}
    assert set(document["released"]) == {"class", "hypothesis", "level", "selected"}
    assert document["released"]["class"] == {"kind": "Thresholds", "n_points": 9, "low": [0], "high": [9]}


@pytest.mark.parametrize(
    ("H", "wrong"),
    [
        (PointFunctions(9), {"hypothesis": 9}),
        (PointFunctions(9), {"hypothesis": "ff"}),
        (PointFunctions(9), {"class": {"kind": "Functions"}}),
        (PointFunctions(9), {"class": {"kind": "PointFunctions", "n_points": 9, "points": [9], "complement": False}}),
        (Thresholds(9), {"hypothesis": 10}),
        (Thresholds(9), {"class": {"kind": "Thresholds", "n_points": 9, "low": [4, 2], "high": [5, 3]}}),
        (FiniteClass(np.eye(9)), {"hypothesis": 9}),
        (FiniteClass(np.eye(9)), {"hypothesis": "00"}),
        (FiniteClass(np.eye(9)), {"class": {"kind": "FiniteClass", "table": [], "n_points": 9, "max_nodes": 9}}),
        (
            FiniteClass(np.eye(9)),
            {"class": {"kind": "FiniteClass", "table": ["00"], "n_points": 9, "members": None, "max_nodes": 9}},
        ),
    ],
)
def test_a_damaged_file_is_refused(H, wrong, tmp_path):
    path = tmp_path / "m.json"
    LittlestoneLearner(1.0, 1e-6, H, random_state=0).fit([0, 1], [0, 1]).save(path)
    document = json.loads(path.read_text())
    document["released"] |= wrong
    path.write_text(json.dumps(document))
    with pytest.raises(ValueError, match=r"m\.json is damaged"):
        dpfast.load(path)

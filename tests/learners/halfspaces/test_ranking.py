"""Scores of rows are those of the rows as they were in training, and so is their order."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.metrics import roc_auc_score

import dpfast
from dpfast.kernels import signs
from dpfast.tables.projection import project

LEARNERS = {
    "boosted": lambda **more: dpfast.BoostedHalfspaceClassifier(20.0, random_state=0, schema="vectors", **more),
    "projected": lambda **more: dpfast.ProjectedHalfspaceClassifier(20.0, random_state=0, schema="vectors", **more),
    "net": lambda **more: dpfast.NetHalfspaceClassifier(20.0, n_components=3, net_radius=0.2, random_state=0, **more),
}


@pytest.fixture
def stretched(rng):
    """Rows of very different lengths, whose class follows from their direction."""
    angle = rng.uniform(0, np.pi, 3000)
    length = 10 ** rng.uniform(0, 3, 3000)
    X = np.stack([np.cos(angle), np.sin(angle)], axis=1) * length[:, np.newaxis]
    return X, rng.random(3000) < 1 / (1 + np.exp(-4 * np.cos(angle)))


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_rows_are_ranked_by_their_direction_whatever_their_length(name, fit_intercept, share, stretched):
    X, y = stretched
    clf = LEARNERS[name](fit_intercept=fit_intercept, probability_share=share).fit(X, y, classes=[False, True])
    best = roc_auc_score(y, X[:, 0] / np.linalg.norm(X, axis=1))
    assert roc_auc_score(y, clf.decision_function(X)) > best - 0.02


@pytest.mark.parametrize("name", ["boosted", "projected"])
@pytest.mark.parametrize("fit_intercept", [False, True])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, sp.csc_array, pd.DataFrame])
def test_a_score_is_that_of_the_row_divided_by_its_length(name, fit_intercept, form, rng):
    X = rng.normal(size=(300, 4)) * 10 ** rng.uniform(-2, 2, (300, 1))
    clf = LEARNERS[name](fit_intercept=fit_intercept).fit(X, X[:, 0] > X[:, 1], classes=[False, True])
    lengths = np.sqrt(np.square(X).sum(axis=1) + fit_intercept)
    lengths = np.maximum(1, lengths) if name == "boosted" else lengths
    scores = (X @ clf.coef_[0] + clf.intercept_) / lengths + clf.shift_
    np.testing.assert_allclose(clf.decision_function(form(X)), scores, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("fit_intercept", [False, True])
def test_the_score_of_a_net_is_the_cosine_of_the_projected_row(fit_intercept, rng):
    X = rng.normal(size=(300, 30)) + 1
    clf = LEARNERS["net"](fit_intercept=fit_intercept, n_projections=4).fit(X, X[:, 0] > 1, classes=[False, True])
    rows = project(X, 12, clf.projection_key_)
    if fit_intercept:
        rows += signs.project_csr(np.array([0, 1]), np.array([30]), None, 31, 12, clf.projection_key_)
    own = clf.direction_ != 0
    cosines = rows[:, own] @ clf.direction_[own] / np.linalg.norm(rows[:, own], axis=1)
    np.testing.assert_allclose(clf.decision_function(X), cosines, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", ["boosted", "projected"])
def test_a_saved_model_keeps_its_shift_and_one_without_has_none(name, stretched, tmp_path):
    X, y = stretched
    clf = LEARNERS[name]().fit(X, y, classes=[False, True])
    clf.save(tmp_path / "m.json")
    assert dpfast.load(tmp_path / "m.json").decision_function(X).tolist() == clf.decision_function(X).tolist()
    document = json.loads((tmp_path / "m.json").read_text())
    del document["released"]["shift"], document["digest"]
    (tmp_path / "old.json").write_text(json.dumps(document | {"version": 1}))
    assert dpfast.load(tmp_path / "old.json").shift_ == 0


@pytest.mark.parametrize("name", LEARNERS)
def test_a_graph_of_a_linear_classifier_predicts_the_same_for_rows_of_all_lengths(name, stretched):
    pytest.importorskip("onnx", reason="onnx is not installed: pip install 'dpfast[onnx]'")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'dpfast[onnx]'")
    X, y = stretched
    clf = LEARNERS[name]().fit(X, y, classes=[False, True])
    if name != "net":
        clf.shift_ = 0.1  # so that the lengths of rows decide
        clf.model_ = replace(clf.model_, shift=np.array([0.1]))
    graph = dpfast.interop.to_onnx(clf).SerializeToString()
    session = runtime.InferenceSession(graph, providers=["CPUExecutionProvider"])
    assert session.run(None, {"X": X})[0].tolist() == clf.predict(X).tolist()

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast
from dpfast.report.additive import constants

N = 3000


@pytest.fixture
def table(rng):
    frame = pd.DataFrame(
        {"a": rng.normal(size=N), "b": rng.choice(list("xyz"), N), "c": rng.integers(0, 9, N).astype(float)}
    )
    y = np.where(frame.a + (frame.b == "x") * (frame.c > 4) + rng.normal(size=N) > 0, "yes", "no")
    return frame, y, np.where(frame.c > 6, "maybe", y)


@pytest.mark.parametrize("more", [{}, {"trees": 5}, {"interactions": 2}], ids=["columns", "trees", "pairs"])
@pytest.mark.parametrize("several", [False, True])
def test_contributions_and_the_constant_add_up_to_the_score(table, more, several):
    frame, two, three = table
    y = three if several else two
    model = dpfast.HalfspaceClassifier(4.0, random_state=0, **more).fit(frame, y, classes=sorted({*y}))
    found = model.explain(frame)
    total = found.contributions.sum(axis=-1) + found.constants
    assert total == pytest.approx(found.scores, abs=1e-12)
    scores = model.model_.row_scores(model._read_rows(frame))
    assert found.scores == pytest.approx(scores if several else scores[:, 0])
    assert np.ptp(found.constants, axis=0) == pytest.approx(0, abs=1e-5)
    assert found.constants[0] == pytest.approx(constants(model)[0] if not several else constants(model), abs=1e-5)
    assert found.names[:3] == ("a", "b", "c")
    assert set(found.joint) == {*found.names[3:]}
    if "trees" in more:
        assert found.names[3:] == ("trees",)
        assert set(found.joint["trees"]) <= {"a", "b", "c"}
    codes = np.asarray(model.encoder_.transform(frame)).astype(int)
    for term in model.terms():
        if term.column.name in found.names[:3]:
            at = found.names.index(term.column.name)
            values, _ = found.of_class(term.label if several else None)
            assert values[:, at] == pytest.approx(term.weights[codes[:, at]], abs=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        dpfast.BoostedHalfspaceClassifier(4.0, n_rounds=5, random_state=0),
        dpfast.BoostedHalfspaceClassifier(4.0, n_rounds=5, probability_share=0.2, random_state=0),
        dpfast.ProjectedHalfspaceClassifier(4.0, n_rounds=5, random_state=0),
        dpfast.HalfspaceClassifier(4.0, random_state=0, schema="vectors"),
    ],
    ids=["boosted", "counted", "projected", "plain"],
)
def test_linear_models_of_vectors_and_of_tables_are_explained(rng, table, model):
    frame, y, _ = table
    X = rng.normal(size=(500, 4)).astype(np.float32)
    model.set_params(schema="vectors").fit(X, (X[:, 0] > 0).astype(int))
    found = model.explain(X)
    assert found.contributions.sum(axis=1) + found.constants == pytest.approx(found.scores)
    moved = X.copy()
    moved[:, 2] *= -1  # which keeps the length of a row
    again = model.explain(moved)
    difference = again.contributions - found.contributions
    assert again.scores - found.scores == pytest.approx(difference[:, 2], abs=1e-3)
    assert difference[:, [0, 1, 3]] == pytest.approx(0)
    model.set_params(schema=None, random_state=0).fit(frame, y, classes=["no", "yes"])
    found = model.explain(frame)
    assert found.contributions.shape[1] == 3
    if type(model) is not dpfast.HalfspaceClassifier:
        assert found.scores == pytest.approx(model.decision_function(frame))


def test_models_whose_scores_are_no_sums_are_not_explained(rng, table):
    frame, y, _ = table
    for model in (dpfast.DecisionListClassifier(4.0, random_state=0), dpfast.DPWinnowClassifier(4.0, random_state=0)):
        assert not hasattr(model.fit(frame, y, classes=["no", "yes"]), "explain")


def test_too_many_contributions_and_streams_are_refused(table, monkeypatch):
    from dpfast.base import explained

    frame, y, _ = table
    model = dpfast.HalfspaceClassifier(4.0, random_state=0).fit(frame, y, classes=["no", "yes"])
    with pytest.raises(ValueError, match="in memory"):
        model.explain(pa.table(frame).to_reader())
    monkeypatch.setattr(explained, "MOST_ENTRIES", 100)
    with pytest.raises(ValueError, match="fewer rows at a time"):
        model.explain(frame)


def test_the_linear_explainer_of_shap_gives_the_same_contributions(table):
    shap = pytest.importorskip("shap")
    frame, y, _ = table
    model = dpfast.HalfspaceClassifier(4.0, random_state=0, trees=0).fit(frame, y, classes=["no", "yes"])
    found, codes = model.explain(frame), np.asarray(model.encoder_.transform(frame)).astype(int)
    terms = {term.column.name: term.weights for term in model.terms()}
    weights = [terms.get(name, np.zeros(1 + codes[:, j].max())) for j, name in enumerate(found.names)]
    bits = np.hstack([np.eye(len(each))[codes[:, j]] for j, each in enumerate(weights)])
    explainer = shap.LinearExplainer((np.concatenate(weights), 0.0), shap.maskers.Independent(bits, len(bits)))
    ends = np.cumsum([0, *map(len, weights)])[:-1]
    theirs = np.add.reduceat(explainer.shap_values(bits), ends, axis=1)
    assert found.contributions - found.contributions.mean(axis=0) == pytest.approx(theirs, abs=1e-6)

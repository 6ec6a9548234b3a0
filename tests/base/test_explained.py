import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import dpfast
from dpfast.report.additive import constants
from dpfast.tables import Category, Numeric, Schema

N = 3000
DECLARED = Schema([Numeric("a", -3, 3, edges=8), Category("b", ["x", "y", "z"]), Numeric("c", 0, 9, edges=4)])


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


@pytest.mark.parametrize("share", [0.0, 0.2])
@pytest.mark.parametrize("declared", [False, True])
@pytest.mark.parametrize("make", [dpfast.DPWinnowClassifier, dpfast.LinearLearner, dpfast.NetHalfspaceClassifier])
def test_votes_and_nets_are_explained_by_columns(table, make, declared, share):
    frame, y, _ = table
    model = make(4.0, probability_share=share, random_state=0)
    if make is dpfast.NetHalfspaceClassifier:
        model.set_params(margin=0.5, n_components=2)
    if declared:
        model.set_params(schema=DECLARED)
    model.fit(frame, y, classes=["no", "yes"])
    found = model.explain(frame)
    assert found.names == ("a", "b", "c")
    assert found.scores == pytest.approx(model.decision_function(frame))
    assert found.contributions.sum(axis=1) + found.constants == pytest.approx(found.scores, abs=1e-12)
    if make is dpfast.NetHalfspaceClassifier:
        return  # whose rows have lengths of their own
    assert np.ptp(found.constants) < 1e-12
    moved = frame.assign(b=np.roll(frame.b, 1))
    again = model.explain(moved)
    assert again.contributions[:, [0, 2]] == pytest.approx(found.contributions[:, [0, 2]])
    assert again.scores - found.scores == pytest.approx((again.contributions - found.contributions)[:, 1], abs=1e-12)
    known = {value: found.contributions[frame.b == value, 1] for value in "xyz"}
    assert all(np.ptp(each) == 0 for each in known.values())


@pytest.mark.parametrize("make", [dpfast.DPWinnowClassifier, dpfast.LinearLearner])
@pytest.mark.parametrize("kind", ["signs", "bits", "numbers", "integers", "sparse", "frame", "list"])
def test_votes_on_vectors_are_their_entries_times_weights(rng, make, kind):
    bits = rng.random((400, 5)) < 0.5
    X = {
        "signs": bits,
        "bits": dpfast.BitMatrix(bits),
        "numbers": rng.uniform(-1, 1, (400, 5)).round(2),
        "integers": bits.astype(int),
        "sparse": sp.csr_array(bits.astype(float)),
        "frame": pd.DataFrame(bits.astype(float), columns=list("abcde")),
        "list": bits.astype(int).tolist(),
    }[kind]
    entries = 2.0 * bits - 1 if kind in ("signs", "bits") else X if kind == "numbers" else bits
    model = make(8.0, schema="vectors", random_state=0).fit(X, bits[:, 0])
    found = model.explain(X)
    assert found.names == (tuple("abcde") if kind == "frame" else ("x0", "x1", "x2", "x3", "x4"))
    assert found.contributions == pytest.approx(entries * model.coef_, abs=1e-3)
    assert found.constants == pytest.approx(model.intercept_[0])
    assert found.scores == pytest.approx(model.decision_function(X))


@pytest.mark.parametrize("more", [{}, {"conjunctions": 2}, {"rule_counts": 0.0}], ids=["rules", "pairs", "uncounted"])
@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("kind", ["discovered", "declared", "vectors"])
def test_a_list_says_which_rule_decides_a_row_and_why_those_before_do_not(table, more, several, kind):
    frame, two, four = table
    y = np.where(frame.b == "z", "other", four) if several else two
    if kind == "vectors":
        frame = pd.DataFrame({"a": frame.a > 0, "b": frame.b == "x", "c": frame.c > 4})
        more = more | {"schema": "vectors"}
    if kind == "declared":
        more = more | {"schema": DECLARED}
    model = dpfast.DecisionListClassifier(4.0, random_state=0, **more).fit(frame, y, classes=sorted({*y}))
    found = model.explain(frame)
    assert found.names == ("rules",)
    assert found.contributions[..., 0] + found.constants == pytest.approx(found.scores, abs=1e-12)
    if hasattr(model, "decision_function"):
        assert found.scores == pytest.approx(model.decision_function(frame))
        rows = model.rule_counts_.sum(axis=1).clip(min=0)
        of_rules = [found.scores[found.fired == k][:1].sum(axis=0) for k in range(len(rows))]
        if (rows[[not (found.fired == k).any() for k in range(len(rows))]] == 0).all():
            assert found.constants[0] == pytest.approx(rows @ np.array(of_rules) / rows.sum())
    else:
        assert {*np.unique(found.scores)} <= {-1.0, 0.0, 1.0}
    assert (found.labels[found.fired] == model.predict(frame)).all()
    texts = model.to_text().splitlines()
    assert not found.conditions[-1]
    for row in range(60):
        fired = found.fired[row]
        assert found.holds[fired][row].all()
        passed = found.passed_over(row)
        assert len(passed) == fired
        assert all(passed)
        assert all({*lost} <= {*own} for lost, own in zip(passed, found.conditions, strict=False))
    records = frame.to_dict("records")
    for own, holds in zip(found.conditions, found.holds, strict=True):
        for condition, held in zip(own, holds.T, strict=True):
            assert any(condition in text for text in texts)
            assert (held == [_holds(condition, row) for row in records]).all()
    told = " ".join(condition for own in found.conditions for condition in own)
    assert set(found.joint["rules"]) == {name for name in "abc" if re.search(rf"\b{name}\b( |$)", told)}


def _holds(condition, row):
    """Whether a row without missing entries meets the text of a condition."""
    words = condition.removesuffix(" or missing").removeprefix("not ").split()
    value = row[words[0]]
    if len(words) == 1:
        held = bool(value)
    elif words[1] == "=":
        held = str(value) == words[2]
    else:
        held = value > float(words[2]) if words[1] == ">" else value <= float(words[2])
    return held != condition.startswith("not ")


def test_models_that_are_neither_sums_nor_rules_are_not_explained(rng):
    X, y = rng.integers(0, 2, (300, 3)).astype(bool), rng.integers(0, 2, 300)
    model = dpfast.FiniteClassLearner(4.0, hypotheses="features", random_state=0)
    assert not hasattr(model.fit(X, y), "explain")


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

"""Models beside other programs: ONNX graphs, skops, and what scikit-learn does with estimators."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import dpfast
from dpfast import interop
from dpfast.tables import Category, Numeric, Schema

SCHEMA = Schema([Numeric("age", 0, 100, edges=10, nullable=True), Category("town", ["Graz", "Wien"])])


@pytest.fixture
def people(rng):
    n = 500
    age = rng.integers(18, 90, n).astype(float)
    df = pd.DataFrame({"age": age, "town": rng.choice(["Graz", "Wien", "Linz"], n), "x": rng.random(n)})
    df.loc[::20, "age"] = np.nan
    return df, np.where(age + 10 * (df.town == "Graz") > 55, "yes", "no")


def outputs(model, X):
    """What onnxruntime makes of a model's graph, for rows as the model takes them: labels, and probabilities if any."""
    pytest.importorskip("onnx", reason="onnx is not installed: pip install 'dpfast[onnx]'")
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'dpfast[onnx]'")
    session = runtime.InferenceSession(interop.to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"])
    (taken,) = session.get_inputs()
    if taken.name == "codes":
        return session.run(None, {"codes": model.encoder_.transform(X).toarray().astype(np.int64)})
    return session.run(None, {"X": np.asarray(X, np.float64)})


def assert_same(model, X):
    """Within 1e-6; scores of plain rows are of single precision, which steep coefficients make visible."""
    label, *probabilities = outputs(model, X)
    assert label.tolist() == model.predict(X).tolist()
    steep = 1.0 if hasattr(model, "encoder_") or not hasattr(model, "coef_") else np.linalg.norm(model.coef_) / 4
    if probabilities:
        np.testing.assert_allclose(probabilities[0], model.predict_proba(X), rtol=0, atol=1e-6 * max(1.0, steep))
    return bool(probabilities)


@pytest.mark.parametrize(
    "model",
    [
        dpfast.HalfspaceClassifier(8, n_rounds=5, random_state=0),
        dpfast.HalfspaceClassifier(8, n_rounds=5, schema=SCHEMA, class_weight={"yes": 3}, random_state=0),
        dpfast.HalfspaceClassifier(8, n_rounds=10, interactions=1, schema=SCHEMA, random_state=0),
        dpfast.HalfspaceClassifier(8, n_rounds=10, trees=7, schema=SCHEMA, random_state=0),
        dpfast.DecisionListClassifier(8, random_state=0),
        dpfast.DecisionListClassifier(8, schema=SCHEMA, conjunctions=2, random_state=0),
    ],
    ids=["halfspace, discovered", "halfspace, declared", "pairs", "trees", "list, discovered", "list, declared"],
)
def test_onnx_predicts_the_same_from_codes(model, people):
    df, y = people
    assert assert_same(model.fit(df, y, classes=["no", "yes"]), df)


@pytest.mark.parametrize(
    "model",
    [
        dpfast.HalfspaceClassifier(8, n_rounds=5, random_state=0, schema="vectors"),
        dpfast.HalfspaceClassifier(8, n_rounds=5, fit_intercept=False, random_state=0, schema="vectors"),
        dpfast.BoostedHalfspaceClassifier(8, n_rounds=5, random_state=0, schema="vectors"),
        dpfast.DecisionListClassifier(8, threshold=[0.2, 0.5, 0.8], random_state=0, schema="vectors"),
        dpfast.DecisionListClassifier(8, threshold=0.5, rule_counts=0, max_rules=1, random_state=0, schema="vectors"),
    ],
    ids=["halfspace", "without intercept", "boosted", "list", "list of one rule"],
)
def test_onnx_predicts_the_same_from_plain_rows(model, rng):
    X = rng.uniform(0, 1, (500, 3))
    assert_same(model.fit(X, X[:, 0] + X[:, 1] > 1, classes=[False, True]), X)


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "model",
    [
        dpfast.HalfspaceClassifier(n_rounds=5),
        dpfast.DecisionListClassifier(),
        dpfast.BoostedHalfspaceClassifier(n_rounds=5),
        dpfast.BoostedHalfspaceClassifier(n_rounds=5, fit_intercept=False),
        dpfast.ProjectedHalfspaceClassifier(),
        dpfast.ProjectedHalfspaceClassifier(fit_intercept=False),
        dpfast.DPWinnowClassifier(),
        dpfast.NetHalfspaceClassifier(margin=0.3, n_components=4),
    ],
    ids=lambda model: f"{type(model).__name__} {getattr(model, 'fit_intercept', True)}",
)
def test_onnx_predicts_the_same_of_tables_that_are_declared_or_surveyed(model, classes, declared, rng):
    X = rng.normal(size=(2_000, 5)) * [1, 10, 100, 1, 1]
    y = np.minimum(2 * (X @ [1, -0.1, 0.01, 0, 2] > 0) + (X[:, 3] > 0), classes - 1)
    if classes > 2 and not model.__sklearn_tags__().classifier_tags.multi_class:
        pytest.skip(f"{type(model).__name__} has two classes")
    if isinstance(model, dpfast.NetHalfspaceClassifier) and not declared:
        pytest.skip("it reads arrays as vectors")
    schema = Schema([Numeric(f"x{j}", -200, 200, edges=8) for j in range(5)]) if declared else None
    table = {f"x{j}": X[:, j] for j in range(5)} if declared else X
    model = clone(model).set_params(epsilon=8, schema=schema, random_state=0).fit(table, y, classes=range(classes))
    assert hasattr(model, "encoder_")
    assert_same(model, table)


@pytest.mark.parametrize("scale", [0.0, 1e-320, 1e-290, 1e-160, 1e-37, 1e-30, 1e20, 1e150, 1e155, 1e307])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("learner", "classes"),
    [
        (dpfast.HalfspaceClassifier, 2),
        (dpfast.HalfspaceClassifier, 3),
        (dpfast.BoostedHalfspaceClassifier, 2),
        (dpfast.ProjectedHalfspaceClassifier, 2),
    ],
)
def test_onnx_predicts_the_same_of_rows_of_any_length(learner, classes, intercept, scale, rng):
    X = rng.normal(size=(400, 5))
    y = np.minimum(2 * (X @ [1, -1, 0.5, 0, 2] > 0) + (X[:, 3] > 0), classes - 1)
    model = learner(8, n_rounds=5, random_state=0, fit_intercept=intercept, schema="vectors")
    model.fit(X, y, classes=range(classes))
    assert_same(model, X * scale)


@pytest.mark.parametrize("learner", [dpfast.HalfspaceClassifier, dpfast.DecisionListClassifier])
def test_onnx_refuses_what_is_not_finite_as_predict_does(learner, rng):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    onnxruntime.set_default_logger_severity(4)
    X = rng.integers(0, 2, (50, 3)).astype(float)
    model = learner(8, random_state=0).fit(X, X[:, 0], classes=[0, 1])
    for bad in (np.nan, np.inf, -np.inf):
        X[7, 2] = bad
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            model.predict(X)
        with pytest.raises(Exception, match="out of data bounds"):  # onnxruntime's classes are not public
            outputs(model, X)


def test_onnx_predicts_every_label_of_hostile_rows_of_codes(many):
    """Of all learners that have a graph of codes; many of their models have few scores, so that many rows are ties."""
    pytest.importorskip("onnx", reason="onnx is not installed: pip install 'dpfast[onnx]'")
    pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'dpfast[onnx]'")
    from hostile_rows import LEARNERS, MANY, compared

    wrong, ties = compared(many(2, 30) * (len(LEARNERS) + len(MANY)), seed=0, n=1000)
    assert not wrong, "\n".join(wrong)
    assert ties > 500


def test_onnx_predicts_the_same_of_three_classes(people, rng):
    df, y = people
    y = np.where(df.x > 0.7, "perhaps", y)
    assert assert_same(dpfast.HalfspaceClassifier(8, n_rounds=5, random_state=0).fit(df, y, classes=[*{*y}]), df)
    X = rng.uniform(-1, 1, (400, 4))
    weighted = dpfast.HalfspaceClassifier(8, n_rounds=5, class_weight={2: 4}, random_state=0)
    assert assert_same(weighted.fit(X, X[:, :3].argmax(axis=1), classes=[0, 1, 2]), X)


def test_models_without_a_graph_are_refused(rng):
    X, y = rng.integers(0, 2, (200, 3)), rng.integers(0, 2, 200)
    pytest.importorskip("onnx", reason="onnx is not installed: pip install 'dpfast[onnx]'")
    for model in (dpfast.DPWinnowClassifier(), dpfast.BoostedHalfspaceClassifier(n_rounds=2, probability_share=0.1)):
        with pytest.raises(ValueError, match="an ONNX graph is of a"):
            interop.to_onnx(model.set_params(random_state=0).fit(X, y, classes=[0, 1]))


def test_skops_keeps_models_whose_types_are_trusted(people):
    """The types are those that the page on saved models lists."""
    skops = pytest.importorskip("skops.io", reason="skops is not installed: pip install skops")
    df, y = people
    for learner in (dpfast.HalfspaceClassifier(8, random_state=0), dpfast.DecisionListClassifier(8, random_state=0)):
        model = learner.fit(df, y, classes=["no", "yes"])
        content = skops.dumps(model)
        types = skops.get_untrusted_types(data=content)
        assert all(each.startswith("dpfast.") or each == "fractions.Fraction" for each in types)
        loaded = skops.loads(content, trusted=types)
        assert loaded.predict(df).tolist() == model.predict(df).tolist()
        assert loaded.privacy_ == model.privacy_


def test_an_encoder_stands_before_any_estimator_in_a_pipeline_and_beside_other_columns(people):
    df, y = people
    encoder = dpfast.TableEncoder(SCHEMA)
    assert make_pipeline(encoder, LogisticRegression()).fit(df, y).score(df, y) > 0.8
    columns = ColumnTransformer([("codes", encoder, ["age", "town"]), ("rest", "passthrough", ["x"])])
    assert columns.fit_transform(df).shape == (len(df), 3)
    assert make_pipeline(columns, LogisticRegression()).fit(df, y).score(df, y) > 0.8
    codes = encoder.fit_transform(df)
    assert np.asarray(codes, np.float64).tolist() == codes.toarray().tolist()
    with pytest.raises(ValueError, match="an array of them is a copy"):
        np.array(codes, copy=False)


def test_scikit_learn_inspects_a_model_of_a_table(people):
    df, y = people
    model = dpfast.HalfspaceClassifier(8, n_rounds=20, random_state=0).fit(df, y, classes=["no", "yes"])
    shown = partial_dependence(model, df.dropna(), ["age"], grid_resolution=4)["average"][0]
    assert shown[0] < 0.3 < 0.7 < shown[-1]
    towns = partial_dependence(model, df, ["town"], categorical_features=["town"])
    assert [*towns["grid_values"][0]] == ["Graz", "Linz", "Wien"]
    importances = permutation_importance(model, df, y, n_repeats=2, random_state=0)["importances_mean"]
    assert importances.argmax() == 0

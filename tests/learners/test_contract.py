"""What scikit-learn, and people who bring frames of any kind, expect of every estimator alike."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import dpfast
from dpfast.accounting import Budget
from dpfast.base.parameters import estimator

ESTIMATORS = {
    "boosted": lambda: dpfast.BoostedHalfspaceClassifier(n_rounds=9, random_state=0),
    "finite class": lambda: dpfast.FiniteClassLearner(hypotheses="features", random_state=0),
    "halfspace": lambda: dpfast.HalfspaceClassifier(n_rounds=9, random_state=0),
    "linear learner": lambda: dpfast.LinearLearner(random_state=0),
    "list": lambda: dpfast.DecisionListClassifier(random_state=0),
    "net": lambda: dpfast.NetHalfspaceClassifier(n_components=2, n_projections=2, random_state=0),
    "projected": lambda: dpfast.ProjectedHalfspaceClassifier(n_rounds=9, random_state=0),
    "winnow": lambda: dpfast.DPWinnowClassifier(random_state=0),
    "winnow, not private": lambda: dpfast.WinnowClassifier(),
}
every = pytest.mark.parametrize("name", ESTIMATORS)


@pytest.fixture
def table(rng):
    X = rng.integers(0, 2, (300, 3))
    return X, X[:, 1]


@every
def test_no_weights_are_the_same_as_none_given_and_weights_are_refused(name, table):
    X, y = table
    plain, none = (ESTIMATORS[name]().fit(X, y, **more) for more in ({}, {"sample_weight": None}))
    assert plain.predict(X).tolist() == none.predict(X).tolist()
    with pytest.raises(ValueError, match="sample_weight is refused"):
        ESTIMATORS[name]().fit(X, y, sample_weight=np.ones(300))
    with pytest.raises(TypeError, match="unexpected keyword argument 'weights'"):
        ESTIMATORS[name]().fit(X, y, weights=None)


@pytest.mark.parametrize("estimator", [dpfast.DPWinnowClassifier(random_state=0), dpfast.WinnowClassifier()], ids=str)
def test_a_stream_takes_no_weights(estimator, table):
    X, y = table
    estimator.partial_fit(X, y, classes=[0, 1], sample_weight=None)
    with pytest.raises(ValueError, match="sample_weight is refused"):
        estimator.partial_fit(X, y, sample_weight=np.ones(300))


@every
def test_frames_of_any_kind_are_one_table(name, table):
    X, y = table
    frame = pd.DataFrame(X, columns=["wet", "cold", "windy"])
    columns, classes = {column: frame[column] for column in frame}, [0, 1]
    predicted = ESTIMATORS[name]().fit(frame, y, classes=classes).predict(frame).tolist()
    for other in (pl.DataFrame(columns), pa.table(columns)):
        assert ESTIMATORS[name]().fit(other, y, classes=classes).predict(other).tolist() == predicted
    with pytest.raises((TypeError, ValueError), match=r"y must not be given beside files, a stream|X is a LazyFrame"):
        ESTIMATORS[name]().fit(pl.DataFrame(columns).lazy(), y)
    with pytest.raises(TypeError, match=r"X is a LazyFrame, a plan that has no rows yet: give X.collect\(\)"):
        dpfast.Schema.draft(pl.DataFrame(columns).lazy())


@every
def test_classes_find_their_way_by_metadata_routing(name, table):
    X, y = table
    classes = [0, 1, 2] if name in ("halfspace", "list") else [0, 1]
    with config_context(enable_metadata_routing=True):
        model = make_pipeline(MaxAbsScaler(), ESTIMATORS[name]().set_fit_request(classes=True))
        done = cross_validate(model, X, y, params={"classes": classes}, cv=2, return_estimator=True)
    for fitted in done["estimator"]:
        assert fitted.classes_.tolist() == classes


UNSAVED = {
    "dates": np.array(["2020-01-01", "2021-01-01"], "M8[D]"),
    "stamps": pd.to_datetime(["2020-01-01", "2021-01-01"]),
    "spans": np.array([1, 2], "m8[s]"),
    "bytes": np.array([b"a", b"b"]),
    "wide floats": np.array([1, 2], np.longdouble),
    "structures": np.array([(1,), (2,)], [("a", int)]),
}


@every
@pytest.mark.parametrize("kind", [*UNSAVED, "NaN"])
def test_labels_that_no_file_can_hold_are_refused_before_anything_is_charged(name, kind, table):
    X, y = table
    model, budget = ESTIMATORS[name](), Budget(10, 1e-5)
    if hasattr(model, "budget"):
        model.set_params(budget=budget)
    if hasattr(model, "schema"):
        model.set_params(schema="vectors")
    labels, declared = (y.astype(float), {"classes": [0.0, np.nan]}) if kind == "NaN" else (UNSAVED[kind][y], {})
    with pytest.raises(ValueError, match=r"labels|[Ll]abel type|dtype"):
        model.fit(X, labels, **declared)
    assert budget.spent == (0.0, 0.0)
    assert not hasattr(model, "classes_")


@every
def test_a_masked_array_is_refused_for_its_hidden_entries_would_be_learned(name, table):
    X, y = table
    with pytest.raises(ValueError, match="X is a masked array"):
        ESTIMATORS[name]().fit(np.ma.masked_array(X.astype(float), mask=X == 1), y)
    with pytest.raises(ValueError, match="y is a masked array"):
        ESTIMATORS[name]().fit(X, np.ma.masked_array(y, mask=y == 1))
    model = ESTIMATORS[name]().fit(X, y)
    with pytest.raises(ValueError, match="X is a masked array"):
        model.predict(np.ma.masked_array(X.astype(float), mask=X == 1))


def test_a_subclass_may_declare_a_parameter_like_a_field_of_any_dataclass(table):
    @estimator
    class Named(dpfast.HalfspaceClassifier):
        """A learner with a name."""

        name: str = "unknown"

    model = Named(9.0, name="first", n_rounds=5).fit(*table)
    assert model.get_params()["name"] == clone(model).name == "first"
    assert Named().name == "unknown"

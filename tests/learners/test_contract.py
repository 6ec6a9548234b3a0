"""What scikit-learn, and people who bring frames of any kind, expect of every estimator alike."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn import config_context
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

import dpfast

ESTIMATORS = {
    "boosted": lambda: dpfast.BoostedHalfspaceClassifier(random_state=0),
    "finite class": lambda: dpfast.FiniteClassLearner(hypotheses="features", random_state=0),
    "halfspace": lambda: dpfast.HalfspaceClassifier(random_state=0),
    "linear learner": lambda: dpfast.LinearLearner(random_state=0),
    "list": lambda: dpfast.DecisionListClassifier(random_state=0),
    "net": lambda: dpfast.NetHalfspaceClassifier(random_state=0),
    "projected": lambda: dpfast.ProjectedHalfspaceClassifier(random_state=0),
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
    columns = {column: frame[column] for column in frame}
    predicted = ESTIMATORS[name]().fit(frame, y).predict(frame).tolist()
    for other in (pl.DataFrame(columns), pa.table(columns)):
        assert ESTIMATORS[name]().fit(other, y).predict(other).tolist() == predicted
    with pytest.raises(TypeError, match=r"X is a LazyFrame, a plan that has no rows yet: give X.collect\(\)"):
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

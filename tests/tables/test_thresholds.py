"""Labels that are numbers, as classes by public thresholds."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from people import few

import dpfast
from dpfast.files.encodings import FileParts
from dpfast.tables import Label, Numeric, Schema
from dpfast.tables.thresholds import classes_above, threshold_classes

COLUMNS = [Numeric("age", 0, 90), Numeric("rooms", 0, 9)]
LEARNERS = [
    dpfast.DecisionListClassifier,
    dpfast.DPWinnowClassifier,
    dpfast.HalfspaceClassifier,
    dpfast.BoostedHalfspaceClassifier,
]


@pytest.fixture
def frame(rng):
    age = rng.integers(0, 90, 2000)
    price = np.round(age * 1000.0 + rng.normal(0, 4000, 2000), 2)
    return pd.DataFrame({"age": age, "rooms": rng.integers(1, 9, 2000), "price": price})


def test_a_number_is_at_most_or_above_its_thresholds():
    above = (10.0, 20.5)
    assert threshold_classes(above) == ("at most 10", "above 10 to 20.5", "above 20.5")
    assert classes_above(["\0n10", "10.01", "$20.5", "(1,000)", "1e9", "inf", "-inf"], above) == [
        *("at most 10", "above 10 to 20.5", "above 10 to 20.5", "at most 10", "above 20.5", "above 20.5", "at most 10"),
    ]
    assert classes_above(["above 20.5", "x", "1_0", "nan", ""], above) == ["above 20.5", None, None, None, None]


@pytest.mark.parametrize("above", [[], "5", [2, 1], [1, 1], [float("nan")], [True], None])
def test_thresholds_are_increasing_numbers(above):
    if above is None:
        assert Label("y").above is None
        return
    with pytest.raises(ValueError, match="above must be a number, or increasing numbers"):
        Label("y", above=above)


def test_a_schema_keeps_thresholds_and_refuses_other_classes():
    label = Label("price", above=[10, 20])
    for schema in (Schema(COLUMNS, label=label), Schema(COLUMNS, label=label).confirm()):
        assert Schema.from_dict(json.loads(json.dumps(schema.to_dict()))).label == label
        assert "above = [10.0, 20.0]" in schema.to_toml()
    with pytest.raises(ValueError, match="above makes the classes of the label"):
        Label("price", ("a", "b"), above=10)


@pytest.mark.parametrize("Learner", LEARNERS)
def test_every_learner_learns_above_as_it_learns_the_classes(Learner, frame):
    schema, X = Schema(COLUMNS, label=Label("price", above=40000)), frame[["age", "rooms"]]
    classes = np.where(frame["price"] > 40000, "above 40000", "at most 40000")
    plain = few(Learner, epsilon=2, schema=Schema(COLUMNS, label=Label("price", ("at most 40000", "above 40000"))))
    expected = plain.fit(X, classes).predict(X).tolist()
    for given in ((frame,), (pl.from_pandas(frame),), (X, frame["price"]), (X, frame["price"].tolist())):
        model = few(Learner, epsilon=2, schema=schema).fit(*given)
        assert model.predict(X).tolist() == expected
        assert model.score(X, frame["price"]) == model.score(X, classes) == np.mean(np.array(expected) == classes)


@pytest.mark.parametrize(("mark", "separator"), [(".", ","), (",", ";")])
def test_a_file_has_the_model_of_its_frame(frame, tmp_path, mark, separator):
    frame.loc[7, "price"] = np.nan
    path, schema = tmp_path / "t.csv", Schema(COLUMNS, label=Label("price", above=40000))
    frame.to_csv(path, index=False, sep=separator, decimal=mark)
    one = dpfast.HalfspaceClassifier(epsilon=2, random_state=0, schema=schema).fit(frame)
    other = dpfast.HalfspaceClassifier(epsilon=2, random_state=0, schema=schema).fit(
        FileParts(path, separator=separator, decimal=mark)
    )
    assert (one.coef_ == other.coef_).all()


def test_a_label_that_is_no_number_is_refused_with_its_row(frame):
    schema = Schema(COLUMNS, label=Label("price", above=40000))
    prices = [*frame["price"].astype(str)[:-1], "dear"]
    with pytest.raises(ValueError, match=r"row 2000, column 'price' has a label that is no number"):
        dpfast.HalfspaceClassifier(schema=schema).fit(frame[["age", "rooms"]], prices)
    with pytest.raises(ValueError, match="classes= declares classes, and above= of the label makes others"):
        dpfast.HalfspaceClassifier(schema=schema).fit(frame, classes=["a", "b"])

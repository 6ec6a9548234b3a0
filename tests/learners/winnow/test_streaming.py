"""A stream of tables as people have them: coded by a schema that declares all."""

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast.accounting import Budget
from dpfast.tables import Category, Label, Numeric, Schema
from dpfast.tables.code_bits import pack_codes

COLUMNS = [Numeric("age", 0, 100, edges=8), Category("job", ["clerk", "smith"], nullable=True)]
SCHEMA = Schema(COLUMNS, label=Label("buys", ["no", "yes"]))


@pytest.fixture
def frame(rng):
    age = rng.integers(18, 90, 3000)
    frame = pd.DataFrame({"job": rng.choice(["clerk", "smith", None], 3000), "age": age})
    return frame.assign(buys=np.where((age > 50) ^ (rng.random(3000) < 0.1), "yes", "no"))


def steps(frame):
    return [frame[i : i + 700] for i in range(0, len(frame), 700)]


def test_a_stream_with_a_schema_is_the_stream_of_its_codes(frame):
    declared = dpfast.DPWinnowClassifier(schema=SCHEMA, random_state=1)
    plain = dpfast.DPWinnowClassifier(random_state=1)
    encoder = dpfast.TableEncoder(SCHEMA).fit(frame)
    for step in steps(frame):
        bits = pack_codes(encoder.transform(step))
        wanted = plain.stream(bits, step["buys"], classes=["no", "yes"])
        assert declared.stream(step).tolist() == wanted.tolist()
    assert declared.updates_ == plain.updates_ > 0
    assert declared.predict(frame).tolist() == plain.predict(pack_codes(encoder.transform(frame))).tolist()
    assert str(declared.privacy_) == str(plain.privacy_)


def test_labels_may_come_apart_and_rows_as_codes(frame):
    whole, apart, coded = (dpfast.DPWinnowClassifier(schema=SCHEMA, random_state=1) for _ in range(3))
    encoder = dpfast.TableEncoder(SCHEMA).fit(frame)
    for step in steps(frame):
        wanted = whole.stream(step).tolist()
        assert apart.stream(step.drop(columns="buys"), step["buys"]).tolist() == wanted
        assert coded.partial_fit(encoder.transform(step), step["buys"]).rounds_ == whole.rounds_
    assert apart._saver.released() == coded._saver.released() == whole._saver.released()


def test_a_checkpoint_keeps_the_schema(frame, tmp_path):
    learner = dpfast.DPWinnowClassifier(50.0, schema=SCHEMA, checkpoint=tmp_path / "kept")
    learner.stream(frame[:1000])
    learner.close()
    resumed = dpfast.DPWinnowClassifier.resume(tmp_path / "kept")
    assert resumed.schema == SCHEMA
    resumed.stream(frame[1000:])
    assert resumed.rounds_ == 3000
    resumed.save(tmp_path / "model.json")
    assert dpfast.load(tmp_path / "model.json").predict(frame).tolist() == resumed.predict(frame).tolist()
    resumed.close()


def test_a_schema_that_leaves_something_to_be_found_is_refused_before_the_charge(frame, rng):
    budget, before = Budget(1, 1e-6), rng.bit_generator.state
    found = Schema([Numeric("age"), Category("job", nullable=True)], label=Label("buys", ["no", "yes"]))
    learner = dpfast.DPWinnowClassifier(0.5, 1e-7, schema=found, budget=budget, random_state=rng)
    with pytest.raises(ValueError, match="declare the low and high and edges of 'age', the values of 'job'"):
        learner.stream(frame)
    assert budget.charges == ()
    assert rng.bit_generator.state == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(columns="age"), "lacks columns that the schema declares: 'age'"),
        (lambda rows: rows.drop(columns="buys"), "lacks columns that the schema declares: 'buys'"),
        (lambda rows: rows.assign(buys="maybe"), "the label of row 1 is not among classes"),
        (lambda rows: rows.assign(age="old"), "column 'age'"),
        (lambda rows: rows.to_numpy(), "a table with a schema must be a DataFrame"),
    ],
)
def test_rows_that_do_not_fit_are_refused_and_the_stream_goes_on(change, message, frame):
    learner = dpfast.DPWinnowClassifier(schema=SCHEMA, random_state=1)
    with pytest.raises((ValueError, TypeError), match=message):
        learner.stream(change(frame[:10]))
    learner.stream(frame[:10])
    with pytest.raises((ValueError, TypeError), match=message):
        learner.stream(change(frame[10:20]))
    assert learner.rounds_ == 10
    learner.stream(frame[10:20])
    assert learner.rounds_ == 20


def test_a_stream_without_a_label_column_needs_labels(frame):
    learner = dpfast.DPWinnowClassifier(schema=Schema(COLUMNS), random_state=1)
    with pytest.raises(ValueError, match="y must be given: the schema declares no label"):
        learner.stream(frame)
    learner.stream(frame, frame["buys"])
    with pytest.raises(ValueError, match="y must be given: the schema declares no label"):
        learner.stream(frame)


def test_the_claim_of_a_stream_is_what_was_charged_whatever_becomes_of_its_parameters(frame):
    X, y = frame[["age"]].to_numpy() / 100, frame["buys"].to_numpy()
    learner = dpfast.DPWinnowClassifier(epsilon=2.0, horizon=20_000, schedule="fixed").partial_fit(X, y)
    with pytest.raises(ValueError, match="rows of y"):  # a fit for persons that is refused
        learner.fit(X, y[:-1], units=np.arange(len(X)) // 2, rows_per_unit=2)
    learner.partial_fit(X, y)
    assert str(learner.privacy_).startswith("(2.0, 1e-06)-DP, replace one row;")
    learner.set_params(epsilon=0.5, delta=1e-9, neighbors="add-remove").partial_fit(X, y)
    assert (learner.privacy_.epsilon, learner.privacy_.neighbors) == (2.0, "replace")


def test_labels_of_a_stream_are_numbers_above_a_threshold_or_missing():
    schema = Schema([Numeric("a", 0, 10, edges=4)], label=Label("y", above=[5]))
    learner = dpfast.DPWinnowClassifier(50.0, schema=schema, random_state=0)
    for labels in (np.arange(10.0), [*range(9), None], np.arange(10).astype(str)):
        assert len(learner.stream({"a": list(range(10)), "y": labels})) == 10
    assert learner.classes_.tolist() == ["above 5", "at most 5"]
    with pytest.raises(ValueError, match="the label of row 2 is not among classes"):
        learner.stream({"a": [1, 2], "y": [1, "many"]})

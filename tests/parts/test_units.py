"""Persons whose rows are in several parts: as many rows of each count as in memory, and the same ones."""

from functools import cache, partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from parts.test_engine import Pickled
from people import LEARNERS, OPEN, SCHEMA, TWO_SIDED, few, people, pieces, released

from dpfast import FiniteClassLearner, HalfspaceClassifier, LinearLearner
from dpfast.accounting import Budget
from dpfast.learners.units import bounded_rows
from dpfast.parts import EngineLost, MemoryParts
from dpfast.tables.parted import bounded_parts

PEOPLE = people(900)
WHOSE = {
    "integers": np.random.default_rng(3).integers(0, 300, 900),
    "texts": np.random.default_rng(3).integers(0, 300, 900).astype(str).astype(object),
    "categories": pd.Categorical(np.random.default_rng(3).integers(0, 300, 900).astype(str)),
    "days": pd.to_datetime(np.random.default_rng(3).integers(0, 300, 900), unit="D"),
}
PERSONS = {"units": "patient", "rows_per_unit": 2}


@cache
def whole(learner, **given):
    """The model of the whole table in memory."""
    fit = {"units": WHOSE["integers"], "rows_per_unit": 2, "classes": ["no", "yes"]}
    return released(few(learner, **given).fit(PEOPLE.drop(columns="buys"), PEOPLE["buys"], **fit))


@pytest.mark.parametrize(
    ("learner", "schema"),
    [*((each, SCHEMA) for each in [*LEARNERS, *TWO_SIDED, FiniteClassLearner]), *((each, OPEN) for each in LEARNERS)],
)
def test_rows_of_persons_in_parts_give_the_model_of_the_whole(learner, schema):
    table = Pickled(pieces(PEOPLE.assign(patient=WHOSE["integers"]), parts=5))
    model = few(learner, schema=schema, epsilon=20.0).fit(table, classes=["no", "yes"], **PERSONS)
    assert released(model) == whole(learner, schema=schema, epsilon=20.0)
    assert (model.privacy_.unit, model.privacy_.rows_per_unit) == ("person", 2)


@pytest.mark.parametrize(("kind", "parts"), [("integers", 1), *((kind, 6) for kind in WHOSE)])
def test_persons_are_a_column_of_any_type_or_an_array(kind, parts):
    frame, expected = PEOPLE.assign(patient=WHOSE[kind]), whole(HalfspaceClassifier, schema=SCHEMA)
    for table in (frame, pa.Table.from_pandas(frame)):
        held = MemoryParts(pieces(table, parts=parts))
        model = few(HalfspaceClassifier, schema=SCHEMA).fit(held, "buys", **PERSONS)
        assert released(model) == expected
    model = few(HalfspaceClassifier, schema=SCHEMA).fit(held, "buys", units=frame["patient"], rows_per_unit=2)
    assert released(model) == expected


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame])
def test_persons_of_vectors_in_parts_are_an_array(form, rng):
    X, whose = form(rng.integers(0, 2, (300, 5)).astype(float)), rng.integers(0, 100, 300)
    y, given = rng.integers(0, 2, 300), {"units": whose, "rows_per_unit": 2}
    expected = released(few(HalfspaceClassifier).fit(X.to_numpy() if form is pd.DataFrame else X, y, **given))
    parts = [(X[a:b], y[a:b]) for a, b in ((0, 100), (100, 100), (100, 220), (220, 300))]
    assert released(few(HalfspaceClassifier).fit(Pickled(parts), **given))[:3] == expected[:3]


def test_of_each_person_so_many_rows_are_kept_in_all_parts_together(rng):
    whose = rng.permutation(np.repeat(np.arange(60), rng.integers(1, 9, 60)))
    table = pd.DataFrame({"patient": whose, "row": np.arange(len(whose))})
    for units in ("patient", whose):
        for k in (1, 3, 8):
            choose = partial(bounded_rows, rows_per_unit=k, rng=np.random.default_rng(5))
            parts = bounded_parts(MemoryParts(pieces(table, parts=7)), units, choose)
            rows = np.concatenate([pair[0]["row"] for pair in parts.each(_self)])
            kept = bounded_rows(whose, k, np.random.default_rng(5))
            assert rows.tolist() == (np.arange(len(whose)) if kept is None else np.flatnonzero(kept)).tolist()
            assert np.array_equal(np.bincount(whose[rows]), np.minimum(np.bincount(whose), k))


def _self(pair):
    return pair


class Reread(Pickled):
    """Reads its table again for the first new state, and then finds the rows of the second part in another order."""

    def make(self, f, *public, own=None):
        if not self.open:
            (one, (table, y)) = self._states
            self._states = [one, (table.iloc[::-1], y)]
        return super().make(f, *public, own=own)


@pytest.mark.parametrize("kept", [2, 100])
def test_a_part_that_is_read_again_with_rows_of_other_persons_is_an_error(kept):
    budget, table = Budget(1.0, 1e-6), pieces(PEOPLE.assign(patient=WHOSE["integers"]), parts=2)
    model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget)
    with pytest.raises(EngineLost, match="has other rows than before"):
        model.fit(Reread(table), units="patient", rows_per_unit=kept)
    assert budget.charges == ()


def test_what_does_not_say_whose_each_row_is_is_refused_before_a_charge():
    frame = PEOPLE[:90].assign(patient=WHOSE["texts"][:90])
    mixed = [(frame[:40], None), (frame[40:].assign(patient=1), None)]
    nobody = [(frame[:40], None), (frame[40:].assign(patient=" "), None)]
    for parts, given, what in (
        (pieces(frame), {"units": "doctor"}, "names the column 'doctor', which the table lacks"),
        (pieces(frame), {"units": "age"}, "units='age' is a column of the schema"),
        (mixed, {"units": "patient"}, "units='patient' must have one type in all parts, got dictionary.* and int64"),
        (nobody, {"units": "patient"}, "row 41, column 'patient' is empty"),
        (pieces(frame), {"units": np.arange(80)}, "an entry for each row: 80 entries, and 90 rows of X"),
        (pieces(frame), {"units": [None] * 90}, "row 0 has none"),
    ):
        budget = Budget(1.0, 1e-6)
        for make in (MemoryParts, Pickled):
            with pytest.raises(ValueError, match=what):
                few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(make(parts), rows_per_unit=1, **given)
        assert budget.charges == ()
    with pytest.raises(ValueError, match="the columns of a MemoryParts are not known before it is read: give a schema"):
        few(HalfspaceClassifier, schema="discover").fit(MemoryParts(pieces(frame)), "buys", **PERSONS)
    with pytest.raises(ValueError, match="X holds vectors: give an array"):
        few(HalfspaceClassifier).fit(MemoryParts(pieces(frame)), units="patient", rows_per_unit=1)
    with pytest.raises(ValueError, match="learns from one row after another, and takes no table in parts"):
        LinearLearner(schema=SCHEMA).fit(MemoryParts(pieces(frame)), units="patient", rows_per_unit=1)

"""Persons whose rows are in several parts: as many rows of each count as in memory, and the same ones."""

import math
from functools import cache, partial

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp
from parts.test_engine import Pickled, Reread
from people import LEARNERS, OPEN, SCHEMA, TWO_SIDED, few, people, pieces, released

from dpfast import FiniteClassLearner, HalfspaceClassifier, LinearLearner
from dpfast.accounting import Budget
from dpfast.base.units import bounded_rows, number_units
from dpfast.parts import EngineLost, MemoryParts
from dpfast.tables import Label, Numeric, Schema
from dpfast.tables.labels import Labels
from dpfast.tables.parted import Parted

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
    n = len(whose)
    table = pd.DataFrame({"patient": whose, "row": np.arange(n), "buys": "no"})
    edges = (np.arange(n - 1) + 0.5).tolist()  # the code of a row is its number
    schema = Schema([Numeric("row", 0, n, edges=edges)], label=SCHEMA.label)
    for units in ("patient", whose):
        for k in (1, 3, 8):
            choose = partial(_choose, k)
            source = Parted(MemoryParts(pieces(table, parts=7))).limit_units(units, schema, schema.label, choose)
            known = Labels(np.array([0]), np.array(["no", "yes"]), True)
            table_of_codes = source.encode(schema, schema.label).to_codes(schema, known)
            rows = np.concatenate(table_of_codes.parts.each(_codes))
            kept = _choose(k, whose)
            assert rows.tolist() == (np.arange(n) if kept is None else np.flatnonzero(kept)).tolist()
            assert np.array_equal(np.bincount(whose[rows]), np.minimum(np.bincount(whose), k))


def _choose(most, units):
    return bounded_rows(number_units(units), most, np.random.default_rng(5))


def _codes(piece):
    return piece.X.column(0)


@pytest.mark.parametrize(
    ("form", "kept"),
    [
        *(("array", 1), ("array", 100), ("frame", 1), ("sparse", 1), ("positions", 1), ("positions", 100)),
        *(("named", 1), ("named", 100), ("rows of one person", 1), ("rows of one person", 100)),
    ],
)
def test_a_part_that_is_read_again_in_another_order_is_an_error_at_any_time(form, kept):
    """Its persons are known by the positions of their rows, or by a column: no row may become another person's."""
    whose, X = np.repeat([0, *range(1, 41)], [40, *[1] * 40]), np.arange(160.0).reshape(80, 2)
    table = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "patient": whose, "buys": np.resize([0, 1], 80)})
    turned = np.arange(80)[::-1] if form != "rows of one person" else np.append(np.arange(40)[::-1], np.arange(40, 80))
    plain = {"array": np.asarray, "frame": pd.DataFrame, "sparse": sp.csr_array}.get(form)
    given = {"units": whose, "rows_per_unit": kept}
    if plain is None:
        schema = Schema([Numeric("a", 0, 160, edges=99), Numeric("b", 0, 160, edges=99)], label=Label("buys", [0, 1]))
        pairs = [[(table.iloc[order][a : a + 40], None) for a in (0, 40)] for order in (np.arange(80), turned)]
        given |= {} if form == "positions" else {"units": "patient"}
    else:
        schema, given["classes"] = None, [0, 1]
        pairs = [
            [(plain(X[order][a : a + 40]), table["buys"].to_numpy()[order][a : a + 40]) for a in (0, 40)]
            for order in (np.arange(80), turned)
        ]

    def fitted(after):
        budget, engine = Budget(1.0, 1e-6, unit="person"), Reread(*pairs, after)
        return few(HalfspaceClassifier, schema=schema, budget=budget).fit(engine, **given), engine.calls[0]

    whole, questions = fitted(math.inf)
    memory = few(HalfspaceClassifier, schema=schema).fit(MemoryParts(pairs[0]), **given)
    assert released(whole)[:1] == released(memory)[:1]
    for after in range(1, questions):
        with pytest.raises(EngineLost, match="has other rows than before"):
            fitted(after)


@pytest.mark.parametrize("other", ["units", "labels"])
def test_a_part_that_is_read_again_with_other_units_or_labels_alone_is_an_error(other):
    table = pd.DataFrame({"a": 1.0, "patient": np.arange(40) // 4, "buys": np.arange(40) % 2})
    changed = table.assign(**({"patient": np.arange(40) % 10} if other == "units" else {"buys": 1 - table["buys"]}))
    schema = Schema([Numeric("a", 0, 2, edges=4)], label=Label("buys", [0, 1]))
    for after in (1, 2, 3, 5):
        engine = Reread([(table, None)], [(changed, None)], after)
        with pytest.raises(EngineLost, match="has other rows than before"):
            few(HalfspaceClassifier, schema=schema).fit(engine, units="patient", rows_per_unit=4)


def test_a_part_that_is_read_again_with_other_labels_beside_the_same_rows_is_an_error():
    rows, labels = pd.DataFrame({"a": np.ones(40)}), np.arange(40) % 2
    schema = Schema([Numeric("a", 0, 2, edges=4)], label=Label("buys", [0, 1]))
    for after in (1, 2, 3, 5):
        engine = Reread([(rows, labels)], [(rows, 1 - labels)], after)
        with pytest.raises(EngineLost, match="has other rows than before"):
            few(HalfspaceClassifier, schema=schema).fit(engine)


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

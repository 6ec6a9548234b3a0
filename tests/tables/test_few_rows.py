"""A few rows have the codes, or the error, that they have among many."""

import datetime
import pickle
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast.tables import Boolean, Category, Date, Numeric, Schema
from dpfast.tables.arrays import is_lazy
from dpfast.tables.codes import CodeTable
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import encode
from dpfast.tables.few_rows import MOST, FewRows

FOUND = {"numbers": (-1.0, 0.0, 0.5, 3.0), "ends": (-2.0, 9.0), "cells": True}
WORDS = {"values": ("oak", "5x", "2 kg", "?"), "groups": (3, 7), "cells": True}
COLUMNS = {
    "number": Discovered("a", reads="number", **FOUND),
    "integer": Discovered("a", reads="integer", **FOUND),
    "edges at the ends": Discovered(
        "a", reads="number", numbers=(-(2.0**44), 0.0, 2.0**-20, 2.0**44), ends=(0, 1), cells=True
    ),
    "no edges": Discovered("a", reads="number", numbers=(), ends=(0, 1), cells=True),
    "words": Discovered("a", **WORDS),
    "texts of numbers": Discovered("a", **FOUND),
    "all": Discovered("a", **FOUND, values=("oak",), groups=(), dates=(10.0, 18000.0), days=(0, 19000)),
    "number and other": Discovered("a", reads="number", **FOUND, values=(), groups=(1, 2)),
    "date": Discovered("a", reads="date", dates=(10.0, 18000.0), days=(0, 19000), cells=True),
    "numeric": Numeric("a", 0, 10, edges=4, nullable=True),
    "fine": Numeric("a", 0, 10),
    "whole": Numeric("a", 0, 10, integer=True, nullable=True),
    "category": Category("a", ["oak", "5", "true", "1.5"], nullable=True),
    "closed": Category("a", ["oak", "5"], other=False),
    "boolean": Boolean("a", nullable=True),
    "yes": Boolean("a", ["no", "yes"]),
    "day": Date("a", "2020-01-01", "2021-01-01", nullable=True),
}
CELLS = [
    *(None, float("nan"), np.float64("nan"), 0.0, -0.0, 0.5, np.nextafter(0.5, 1), -1.0, 3, 9, 2**53, 2**53 + 1),
    *(1e308, -1e308, float("inf"), float("-inf"), 5e-324, -5e-324, 2.0**-20, 2.0**44, -(2.0**44), np.float32(0.1)),
    *(2**63, 10**400, np.int8(3), np.uint64(2**64 - 1), np.float16(0.5), np.float64(3.0), True, False, np.bool_(True)),
    *("oak", " oak ", "Oak", "elm", "", " ", "?", "NA", "nan", "none", "5", "5x", "2 kg", "0.5", "0.50", "-0", "+0.5"),
    *("007", ".5", "5.", "1e2", "1,234", "inf", "-inf", "-999", "-999.0", "true", "False", "1", "0", "yes", "1.5"),
    *(
        "value 3",
        "May 2020",
        "may 5",
        "P2D",
        "USD 5",
        "kr 5",
        "Rs 5",
        "NULL",
        "infinity",
        "room-12",
        "12 monkeys",
        "w" * 256,
    ),
    *(
        "Q3 2020",
        "Monday 5.1.2020",
        "a\0b",
        "a\n",
        "a b ",
        "nan5",
        "inf5",
        "h1 2020",
        "Oak5",
        "\u00e95",
        "(a)",
        "-",
        "e5",
    ),
    *("2020-05-01", "05/06/2020", "2020-05-01 10:00", "\u0663", "0.5\n", "x" * 300, np.str_("oak"), "9" * 16),
    *("0.12345678901234567", datetime.date(2020, 5, 1), datetime.datetime(2020, 5, 1, 3), Decimal("0.5"), b"oak", [1]),
    *(pd.Timestamp("2020-05-01"), pd.NaT, pd.NA),
]
SIMPLE = "int8", "int64", "uint64", "float32", "float64", "bool", "Int64", "Float32"
DTYPES = {
    **{
        name: ([0, 1, 3, 9], name)
        for name in ("int8", "int64", "uint64", "float32", "float64", "bool", "Int64", "Float32")
    },
    "float16": ([0.5, np.nan], "float16"),
    "large": ([2**53, 2**53 + 1, 2**62], "int64"),
    "big end": ([0.5, 3.0], ">f8"),
    "str": (["oak", None, "5x"], "str"),
    "string": (["oak", None, "0.5"], "string"),
    "category": (["oak", None, "elm"], "category"),
    "category of numbers": ([0.5, None, 9.0], "category"),
    "category of objects": (["oak", 5, None], "category"),
    "datetime": (["2020-05-01", None], "datetime64[ns]"),
    "sparse": ([0.0, 3.0], "Sparse[float64]"),
}


def answer(read):
    """The codes, or the error."""
    try:
        table = read()
    except Exception as error:
        return type(error), str(error)
    assert isinstance(table, CodeTable)
    return (
        table.toarray().tolist(),
        table.names,
        table.columns,
        table.sizes.tolist(),
        [c.dtype for c in table.codes.columns],
    )


@pytest.mark.parametrize("marks", [(), ("-999", "elm", "0.5")])
@pytest.mark.parametrize("kind", COLUMNS)
def test_each_cell_has_the_code_or_the_error_that_it_has_in_a_column(kind, marks):
    schema = Schema([COLUMNS[kind]], missing_values=marks)
    few = FewRows(schema)
    for cell in CELLS:
        given = {"a": [cell]}
        assert answer(lambda given=given: few.read(given)) == answer(lambda given=given: encode(given, schema)), cell
        column = np.empty(1, object)
        column[0] = cell
        frame = pd.DataFrame({"a": pd.Series(column, dtype=object)})
        assert answer(lambda frame=frame: few.read(frame)) == answer(lambda frame=frame: encode(frame, schema)), cell


@pytest.mark.parametrize("kind", ["words", "texts of numbers", "all"])
def test_words_that_were_not_discovered_are_looked_up_as_well(kind, monkeypatch):
    few = FewRows(Schema([COLUMNS[kind]]))
    monkeypatch.setattr("dpfast.tables.few_rows.Frame", None)
    assert few.read({"a": ["elm", "value 3", "room-12"]}) is not None


@pytest.mark.parametrize("kind", COLUMNS)
def test_cells_that_stand_together_are_read_as_in_a_column(kind, rng):
    schema = Schema([COLUMNS[kind]])
    few = FewRows(schema)
    for _ in range(20):
        picked = [CELLS[k] for k in rng.integers(0, len(CELLS), int(rng.integers(1, 4)))]
        given = {"a": picked, "unread": [0] * len(picked)}
        assert answer(lambda given=given: few.read(given)) == answer(lambda given=given: encode(given, schema)), picked


@pytest.mark.parametrize("kind", COLUMNS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_columns_of_a_type_have_the_codes_or_the_error_that_they_have_among_many(kind, dtype):
    schema = Schema([COLUMNS[kind]])
    values, of = DTYPES[dtype]
    frame = pd.DataFrame({"a": pd.Series(values).astype(of)})
    assert answer(lambda: FewRows(schema).read(frame)) == answer(lambda: encode(frame, schema))
    if isinstance(frame["a"].dtype, np.dtype):
        given = {"a": frame["a"].to_numpy()}
        assert answer(lambda: FewRows(schema).read(given)) == answer(lambda: encode(given, schema))


@pytest.mark.parametrize("kind", ["number", "integer", "words", "category", "boolean"])
@pytest.mark.parametrize("beside", ["float64", "large", "str"])
def test_a_single_row_with_a_column_of_another_type_beside_has_the_same_codes_or_error(kind, beside):
    schema = Schema([COLUMNS[kind], Discovered("b", **FOUND, values=("oak",), groups=())])
    few, (other, of_other) = FewRows(schema), DTYPES.get(beside, ([0.5], beside))
    for values, of in DTYPES.values():
        for value in values:
            frame = pd.DataFrame({"a": pd.Series([value]).astype(of), "b": pd.Series(other[:1]).astype(of_other)})
            assert answer(lambda frame=frame: few.read(frame)) == answer(lambda frame=frame: encode(frame, schema)), (
                value
            )


def test_columns_may_have_the_names_of_methods_of_other_tables():
    frame = pd.DataFrame({"collect": [1.0, 2.0], "lazy": [0.5, 3.0], "schema": [3.0, 4.0]})
    assert not is_lazy(frame)
    schema = Schema([Numeric(name, 0, 10) for name in frame])
    assert encode(frame, schema).shape == FewRows(schema).read(frame).shape == (2, 3)


@pytest.mark.parametrize(
    "table",
    [
        {"a": []},
        {"a": [1.0] * (MOST + 1)},
        {"b": [1.0]},
        {"a": [1.0], 3: [1.0]},
        {"a": [1.0], "b": [1.0, 2.0]},
        {"a": (1.0,)},
        {"a": np.ones((1, 1))},
        pd.DataFrame({"b": [1.0]}),
        pd.DataFrame({"a": [1.0], "b": [1.0]}),
        pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]),
        np.ones((1, 1)),
        np.ones((1, 2)),
        None,
        "a",
    ],
)
def test_other_tables_are_left_to_the_readers_of_many_rows(table):
    assert FewRows(Schema([COLUMNS["numeric"]])).read(table) is None


@pytest.mark.parametrize(
    "learner", [dpfast.HalfspaceClassifier, dpfast.DecisionListClassifier, dpfast.DPWinnowClassifier]
)
def test_one_row_is_predicted_as_among_many(learner, rng):
    n = 4000
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n),
            "k": rng.integers(0, 90, n),
            "w": pd.Categorical.from_codes(rng.integers(0, 4, n), list("abcd")),
            "t": np.array(["elm", "oak", "7", None], object)[rng.integers(0, 4, n)],
        }
    )
    y = (X.x + (X.w == "b") > 0.3).astype(int)
    options = {"trees": 8, "interactions": 2} if learner is dpfast.HalfspaceClassifier else {}
    model = learner(epsilon=8, random_state=0, **options).fit(X, y)
    many, written = model.predict(X), len(pickle.dumps(model))
    rows = range(0, 200, 3)
    assert [model.predict(X[i : i + 1])[0] for i in rows] == [many[i] for i in rows]
    as_dicts = [{name: [X[name].iloc[i]] for name in X} for i in rows]
    assert [model.predict(row)[0] for row in as_dicts] == [many[i] for i in rows]
    if learner is dpfast.HalfspaceClassifier:
        chances = model.predict_proba(X)
        for i in rows:
            np.testing.assert_array_equal(model.predict_proba(X[i : i + 1 + i % MOST]), chances[i : i + 1 + i % MOST])
        assert len(pickle.dumps(model)) == written  # what is made for a few rows is not a part of the model


def test_a_row_of_an_array_is_predicted_as_among_many(rng):
    X = rng.normal(size=(3000, 5))
    X[:, 3] = np.round(X[:, 3])
    model = dpfast.HalfspaceClassifier(epsilon=4, random_state=0, trees=4).fit(X, X[:, 0] + X[:, 3] > 0)
    chances = model.predict_proba(X)
    for i in range(50):
        np.testing.assert_array_equal(model.predict_proba(X[i : i + 1]), chances[[i]])
        np.testing.assert_array_equal(model.predict_proba(X[i : i + 1].tolist()), chances[[i]])
    with pytest.raises(ValueError, match="4 features"):
        model.predict(X[:1, :4])

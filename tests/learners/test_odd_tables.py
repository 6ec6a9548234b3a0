"""Tables that nobody expects: a refusal before the charge, or a model."""

from datetime import date, time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast
from dpfast.accounting import Budget

N = 60
Y = np.arange(N) % 2


def _arrow(values, kind=None):
    return pa.table({"a": pa.array(values, kind)})


REFUSED = {
    "no columns": (lambda: pd.DataFrame(index=range(N)), "no columns"),
    "no rows": (lambda: pd.DataFrame({"a": []}), "at least one row|must have as many rows"),
    "a name twice": (lambda: pd.DataFrame(np.zeros((N, 2)), columns=["a", "a"]), "two columns have the name 'a'"),
    "a name twice in Arrow": (
        lambda: pa.table([pa.array(Y), pa.array(Y)], names=["a", "a"]),
        "two columns have the name 'a'",
    ),
    "lists": (lambda: _arrow([[1, 2]] * N), "column 'a' holds list<item: int64>, .* leave it out"),
    "structs": (lambda: _arrow([{"k": 1}] * N), "column 'a' holds struct"),
    "binary cells": (lambda: _arrow([b"x"] * N, pa.binary()), "column 'a' holds binary"),
    "lists of Python": (lambda: pd.DataFrame({"a": [[1]] * N}), "column 'a' holds values that a table does not, list"),
    "complex numbers": (lambda: pd.DataFrame({"a": np.zeros(N, complex)}), "complex128"),
    "kinds that are mixed": (
        lambda: pd.DataFrame({"a": ["x", time(1)] * (N // 2)}),
        "row 2, column 'a' mixes kinds of values",
    ),
    "a name that is empty": (lambda: pd.DataFrame({"": Y}), "must have a name"),
    "more columns than can be discovered": (
        lambda: pa.table([pa.array(Y)] * 16_385, names=[f"c{k}" for k in range(16_385)]),
        "at most 16,384 columns can be discovered, got 16,385",
    ),
}
TAKEN = {
    "one row": lambda: (pd.DataFrame({"a": [1.0], "b": ["x"]}), Y[:1]),
    "one class": lambda: (pd.DataFrame({"a": Y}), np.zeros(N, int)),
    "nothing but missing cells": lambda: (pd.DataFrame({"a": [None] * N, "b": [np.nan] * N}), Y),
    "infinities": lambda: (pd.DataFrame({"a": np.where(Y, np.inf, -np.inf)}), Y),
    "integers past 2^63": lambda: (pd.DataFrame({"a": np.where(Y, np.uint64(2**64 - 1), np.uint64(0))}), Y),
    "a long word": lambda: (pd.DataFrame({"a": ["x" * 1_000_000, *"ab" * (N // 2 - 1), "c"]}), Y),
    "a different word in each row": lambda: (pd.DataFrame({"a": [f"w{k}" for k in range(N)]}), Y),
    "numbers, dates, words and nothing in one column": lambda: (
        pd.DataFrame({"a": ["1", "2020-02-30", "2020-02-28", "x", "", "1e400", "-inf", None, "NA", "0x1"] * (N // 10)}),
        Y,
    ),
    "integers beyond 64 bits": lambda: (pd.DataFrame({"a": [2**70] * N}), Y),
    "texts and numbers in one column": lambda: (pd.DataFrame({"a": ["x", 1, 0.5, True] * (N // 4)}), Y),
    "texts and dates in one column": lambda: (pd.DataFrame({"a": ["x", date(2020, 1, 1)] * (N // 2)}), Y),
    "labels that are texts and numbers": lambda: (pd.DataFrame({"a": Y}), ["no", 1, "no", 1.0] * (N // 4)),
    "dates with a time zone": lambda: (pd.DataFrame({"a": pd.date_range("2020", periods=N, tz="UTC")}), Y),
    "two spellings of a label": lambda: (pd.DataFrame({"a": Y}), np.where(Y, " yes", "yes ")),
    "letters beyond ASCII": lambda: (pd.DataFrame({"ä\u0301": ["ß", "\U0001f600"] * (N // 2)}), Y),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_table_that_will_not_do_is_refused_before_the_charge(what, rng):
    table, wrong = REFUSED[what]
    budget, before = Budget(1.0, 1e-6), rng.bit_generator.state
    with pytest.raises(ValueError, match=wrong):
        dpfast.HalfspaceClassifier(budget=budget, random_state=rng).fit(table(), Y)
    assert budget.spent == (0, 0)
    assert rng.bit_generator.state == before


@pytest.mark.parametrize("epsilon", [0.01, 50.0])
@pytest.mark.parametrize("what", TAKEN)
def test_an_odd_table_makes_a_model_that_predicts_and_is_saved(what, epsilon, tmp_path):
    X, y = TAKEN[what]()
    texts = {str(each).strip() for each in y}
    classes = [*texts] if len(texts) > 1 else [*texts, "other"]
    model = dpfast.HalfspaceClassifier(epsilon=epsilon, n_rounds=3, random_state=0).fit(X, y, classes=classes)
    assert np.isfinite(model.predict_proba(X)).all()
    model.save(tmp_path / "model.json")
    np.testing.assert_array_equal(dpfast.load(tmp_path / "model.json").predict(X), model.predict(X))


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("rest", [1, 0.5, Fraction(1, 3), "text"])
def test_a_fraction_beyond_all_floats_is_read_as_any_other_number_beyond_them(sign, rest):
    schema = dpfast.Schema([dpfast.tables.Numeric("a", 0, 10, edges=4)])

    def models(number):
        column = pd.Series([number, *[rest] * (N - 1)], dtype=object)
        learner = dpfast.HalfspaceClassifier(1.0, n_rounds=2, random_state=0)
        yield learner.fit(pd.DataFrame({"a": column}), Y, classes=[0, 1]).model_
        if not isinstance(rest, str):
            declared = dpfast.HalfspaceClassifier(1.0, n_rounds=2, random_state=0, schema=schema)
            yield declared.fit(pd.DataFrame({"a": column}), Y, classes=[0, 1]).model_

    assert [*models(sign * Fraction(10**400, 3))] == [*models(sign * Decimal("1E400"))]

"""Lists learned from codes are those learned from the same literals as packed bits."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast import DecisionListClassifier, Schema
from dpfast.tables import Boolean, Category, CodeTable, Label, Numeric
from dpfast.tables.code_bits import CodeBits, pack_codes
from dpfast.tables.encoding import encode

SCHEMA = Schema(
    [
        Numeric("age", 0, 120, edges=60),
        Numeric("pay", 0, 100, edges=10, nullable=True),
        Category("job", ["clerk", "smith"], nullable=True),
        Boolean("smokes"),
    ],
    label=Label("buys", ["no", "yes"]),
)


@pytest.fixture(scope="module")
def frame():
    rng, n = np.random.default_rng(7), 3000
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n),
            "pay": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(0, 100, n)),
            "job": rng.choice(["clerk", "smith", "baker", None], n),
            "smokes": rng.random(n) < 0.3,
        }
    )
    frame["buys"] = np.where((frame["age"] > 50) & (frame["job"] != "smith"), "yes", "no")
    return frame


@pytest.mark.parametrize(
    "parameters",
    [{}, {"max_rules": None}, {"conjunctions": 2}, {"negations": False}, {"coverage_weight": 0.3, "rule_counts": 0.3}],
    ids=str,
)
def test_codes_and_packed_bits_give_one_list(parameters, frame):
    table, y = encode(frame, SCHEMA), frame["buys"]
    if "conjunctions" in parameters:
        table = CodeTable([[a, b] for a, b in zip(table.column(2), table.column(3), strict=True)], [4, 2])
    packed = pack_codes(table)
    for seed, epsilon in ((0, 0.2), (1, 1.0), (2, 5.0)):
        lists = [
            DecisionListClassifier(epsilon, random_state=seed, **parameters).fit(X, y, classes=["no", "yes"])
            for X in (table, packed)
        ]
        assert lists[0].rules_ == lists[1].rules_
        assert str(lists[0]) == str(lists[1])
        np.testing.assert_array_equal(lists[0].rule_counts_, lists[1].rule_counts_)
        np.testing.assert_array_equal(lists[0].predict_proba(table), lists[1].predict_proba(packed))
        np.testing.assert_array_equal(lists[0].predict(packed), lists[1].predict(table))


def test_lists_of_three_classes_are_learned_from_codes(rng):
    codes = rng.integers(0, 50, (4000, 3))
    y = np.where(codes[:, 0] == 7, "a", np.where(codes[:, 1] < 25, "b", "c"))
    clf = DecisionListClassifier(4.0, random_state=0).fit(CodeTable(codes, [50] * 3), y, classes=["a", "b", "c"])
    packed = pack_codes(CodeTable(codes, [50] * 3))
    assert clf.rules_ == DecisionListClassifier(4.0, random_state=0).fit(packed, y, classes=["a", "b", "c"]).rules_


def test_thresholds_are_shown_in_the_units_of_their_columns(frame):
    clf = DecisionListClassifier(8.0, schema=SCHEMA, rule_counts=0, random_state=0).fit(frame)
    assert "age <= 50" in clf.to_text() or "age > 50" in clf.to_text()
    names = CodeBits(encode(frame, SCHEMA)).feature_names
    first, *rest = clf.model_.rules
    for name, text in (("pay > 40", "pay <= 40 or missing"), ("job = smith", "not job = smith")):
        other = first._replace(literals=(dpfast.learners.lists.Literal(names.index(name), True),))
        clf.model_ = replace(clf.model_, rules=(other, *rest))
        assert clf.to_text().startswith(f"if      {text}")


def test_rules_write_dates_as_dates():
    n = 400
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(n) % 40 * 10, "D")
    frame = pd.DataFrame({"seen": days, "age": np.arange(n) % 7})
    y = np.where(np.arange(n) % 40 < 20, "no", "yes")
    clf = DecisionListClassifier(30.0, 1e-3, random_state=0).fit(frame, y, classes=["no", "yes"])
    assert re.search(r"seen (<=|>) 2020-\d\d-\d\d", clf.to_text())
    assert clf.score(frame, y) > 0.9

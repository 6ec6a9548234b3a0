from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpfast
from dpfast import Schema
from dpfast.tables import Category, Numeric
from dpfast.tables.arrow import Fault, Frame, days, header_of, numbers, texts
from dpfast.tables.arrow import cells as discovered_cells
from dpfast.tables.cells import FIXED
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import Encoding, encode

EVENING = datetime(2020, 1, 31, 23, tzinfo=UTC)


@pytest.mark.parametrize("held", [list, lambda values: np.array(values, object), lambda v: pd.Series(v, dtype=object)])
@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([EVENING, EVENING.astimezone(timezone(timedelta(hours=10)))], "times with zones"),
        ([EVENING, EVENING.replace(tzinfo=None)], "times with zones"),
    ],
)
def test_objects_whose_common_type_one_row_could_change_are_refused(held, values, words):
    with pytest.raises(Fault, match=words):
        Frame({"c": held(values)}).column("c")


def test_objects_of_plain_types_are_read():
    frame = Frame({"a": ["x", None], "b": [datetime(2020, 1, 1), None], "c": np.array([1.5, None], object)})
    assert [len(frame.column(name)) for name in "abc"] == [2, 2, 2]


VALUES = [
    *(1, 0.5, True, None, float("nan"), "a", "1", -1, 2**60 + 1, 2**63, 2**70, b"q", 1j, [1]),
    *(date(2020, 1, 2), datetime(2020, 1, 2, 3), time(1), timedelta(2), datetime(1, 1, 1), datetime(9999, 1, 1)),
    *(np.int8(3), np.float32(0.1), np.bool_(True), np.uint64(2**63 + 1), np.str_("x"), "\ud800"),
    *(np.datetime64("2020-01-02"), np.datetime64("2020-01-02T01:00:00.000000001"), np.datetime64("NaT")),
    *(np.timedelta64(5, "s"), pd.Timestamp("2020-01-02 00:00:00.000000001"), pd.NaT, pd.NA, pd.Timedelta(3)),
]


def _texts(array):
    index, values = texts("c", array)
    return [values[k] if k >= 0 else None for k in index]


@pytest.mark.parametrize("read", [_texts, lambda a: numbers("c", a), lambda a: days("c", a, None)])
@pytest.mark.filterwarnings("ignore")  # of years that numpy cannot hold
def test_a_value_in_a_list_reads_as_it_does_alone_or_the_list_is_refused(read):
    def image(values, place):
        try:
            return repr(read(Frame({"c": values}).column("c"))[place])
        except ValueError:
            return None

    kept = 0
    for i, value in enumerate(VALUES):
        alone = {image([value, value], 0)}
        for k, other in enumerate(VALUES):
            for third in (None, VALUES[0]) if (i + k) % 2 else (value, VALUES[-6]):
                seen = {
                    image([value, other, third], 0),
                    image([other, value, third], 1),
                    image([third, other, value], 2),
                }
                assert seen - {None} <= alone, (value, other)
                kept += None not in seen
    assert kept > 100


@pytest.mark.parametrize("odd", [time(3), timedelta(1), np.datetime64("2020-01-01")])
def test_one_row_of_another_kind_is_refused_at_its_row(odd):
    plain = [1, 2] * 10
    schema = Schema([Category("job", ["1", "2", "true"])])
    encode({"job": plain}, schema)
    for held in (list, lambda v: pd.Series(v, dtype=object), lambda v: pd.Series(v, dtype=object).astype("category")):
        with pytest.raises(ValueError, match=r"column 'job' (mixes kinds of values|holds)"):
            encode({"job": held([*plain[:7], odd, *plain[8:]])}, schema)


def test_dates_among_other_values_of_one_column_are_read_cell_by_cell():
    mixed = [
        date(2020, 1, 2),
        "x",
        datetime(2020, 1, 2, 3),
        pd.Timestamp("2020-01-02 00:00:00.000000001"),
        7,
        True,
        None,
    ]
    schema = Schema([Category("c", ["2020-01-02", "2020-01-02 03:00:00", "x", "7"], nullable=True)])
    for held in (list, lambda v: pd.Series(v, dtype=object)):
        alone = [encode({"c": held([value])}, schema).toarray().tolist()[0] for value in mixed]
        assert encode({"c": held(mixed)}, schema).toarray().tolist() == alone
        assert [code for (code,) in alone] == [0, 2, 1, 4, 3, 4, 5]
        codes, words = discovered_cells("c", Frame({"c": held(mixed)}).column("c"))
        assert codes[0] == codes[2] == codes[3] == discovered_cells("c", pa.array([date(2020, 1, 2)]))[0][0]
        assert words == ["x", "true"]
    with pytest.raises(Fault, match="times with zones"):
        Frame({"c": ["x", EVENING]}).column("c")


MIXED = [1, "1", 1.0, True, "true", 0.5, "x", 2**60 + 1, 2**70, Decimal("0.5"), None, float("inf"), "2020-01-02", " 1 "]


@pytest.mark.parametrize("held", [list, lambda v: np.array(v, object), lambda v: pd.Series(v, dtype=object)])
def test_texts_numbers_and_truth_values_of_one_column_are_read_cell_by_cell(held):
    schema = Schema([Category("c", ["1", "true", "0.5", "x", str(2**60 + 1)], nullable=True)])
    alone = [encode({"c": held([value])}, schema).toarray().tolist()[0] for value in MIXED]
    assert encode({"c": held(MIXED)}, schema).toarray().tolist() == alone
    assert [code for (code,) in alone] == [0, 0, 0, 1, 1, 2, 3, 4, 5, 2, 6, 5, 5, 0]
    cells = [discovered_cells("c", Frame({"c": held([value])}).column("c")) for value in MIXED]
    codes, words = discovered_cells("c", Frame({"c": held(MIXED)}).column("c"))
    for (code,), (fixed, word) in zip(codes[:, np.newaxis], cells, strict=True):
        assert (words[code - FIXED] == word[0]) if word else code == fixed[0]


def test_chunks_whose_dictionaries_together_have_more_values_than_their_indices_can_name_are_one_column():
    chunks = [
        pa.DictionaryArray.from_arrays(
            pa.array(range(100), pa.int8()), pa.array([f"v{100 * k + i}" for i in range(100)])
        )
        for k in range(3)
    ]
    codes = encode(pa.table({"c": pa.chunked_array(chunks)}), Schema([Category("c", ["v1", "v101", "v299"])])).toarray()
    assert codes[[0, 1, 101, 299]].ravel().tolist() == [3, 0, 1, 2]


@pytest.mark.parametrize(
    "cells",
    [
        *(["yes", "no", "", "yes"], ["n/a", "b ", " b", "None"], [], ["é", "😀", "é"], ["a\0", "a"], ["\0n1", "1"]),
        *(["a" * 70, "a" * 69, "a" * 70], [""]),
    ],
)
def test_texts_of_numpy_have_the_identities_that_they_have_as_objects(cells):
    array = np.array(cells, "U70")
    for some in (array, array[::-1], array.astype(">U70")):
        index, names = Frame({"y": some}).identities("y", ("None",))
        of_each = [None if k < 0 else names[k] for k in index.tolist()]
        index, names = Frame({"y": some.astype(object)}).identities("y", ("None",))
        assert of_each == [None if k < 0 else names[k] for k in index.tolist()]


def test_texts_of_numpy_do_not_end_at_a_zero_character():
    texts = np.array(["a\0b", "a", "", "a\0\0c"])
    for some in (texts, texts[::-1], texts.astype(">U9")):
        assert Frame({"x": some}).column("x").to_pylist() == some.tolist()
        assert header_of({"x": some, "n": np.arange(4)})["x"] == pa.string()


def test_a_lone_surrogate_among_texts_of_numpy_is_refused():
    with pytest.raises(Fault, match="values that a table does not"):
        Frame({"y": np.array(["a", "\ud800"])}).identities("y")


def test_texts_of_numpy_that_hold_no_character_are_refused():
    texts = np.array([0x110000, 65], np.uint32).view("U1")
    with pytest.raises(Fault, match="column 'y'"):
        Frame({"y": texts}).identities("y")


def test_half_of_a_surrogate_pair_is_refused_at_its_row_before_the_charge_and_the_text_is_not_shown():
    words = np.array(["u", "v"] * 100, object)
    words[5] = "secret\ud800"
    frame = pd.DataFrame({"w": pd.Series(words, dtype=object), "x": np.arange(200.0)})
    y, budget = ["a", "b"] * 100, dpfast.accounting.Budget(1, 1e-6)
    declared = dpfast.Schema([Category("w", ["u", "v"]), Numeric("x", 0, 200)])
    for given in ({}, {"schema": declared}, {"units": "w"}):
        units = {"units": given.pop("units"), "rows_per_unit": 1} if "units" in given else {}
        model = dpfast.HalfspaceClassifier(0.5, budget=budget, **given)
        with pytest.raises(Fault, match="row 6, column 'w' holds half of a surrogate pair") as refused:
            model.fit(frame, y, **units)
        assert "secret" not in str(refused.value)
    assert budget.spent == (0, 0)
    model = dpfast.HalfspaceClassifier(random_state=0).fit(frame.drop(index=5), y[:5] + y[6:])
    for rows in (frame, frame[5:6], {"w": words[5:6].tolist(), "x": [1.0]}):
        with pytest.raises(Fault, match="holds half of a surrogate pair"):
            model.predict(rows)


@pytest.mark.parametrize("dtype", ["<f8", "<f4", ">f8", "<f2"])
def test_numbers_that_may_stay_nan_are_those_of_a_column_with_nulls(dtype):
    values = np.array([1.5, np.nan, -np.inf, 0.0], dtype)
    for table in ({"x": values}, pd.DataFrame({"x": values}), {"x": np.repeat(values, 2)[::2]}):
        frame = Frame(table)
        assert frame.column("x").null_count == 1
        np.testing.assert_array_equal(numbers("x", frame.column("x", nan_is_null=False)), values.astype(np.float64))


def test_a_word_of_a_dictionary_that_no_row_has_is_not_kept():
    frame = pd.DataFrame({"c": pd.Categorical.from_codes([0, 2, -1, 0], ["a", "b", "c"])})
    encoding = Encoding(Schema([Discovered("c")]))
    for _ in range(2):
        encoding.add(frame)
    assert encoding.counts().words == [{"a": 4, "c": 2}]
    assert encoding.counts().fixed[0].tolist()[-1] == 2

"""Dates, times and types as the tables of docs/cells.md say that they are read."""

import datetime
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpfast import TableEncoder
from dpfast.tables import Date, Schema
from dpfast.tables.arrow import Frame, cells, days, header_of
from dpfast.tables.arrow_types import reads_of
from dpfast.tables.cells import DATES, FIXED, MISSING, date_codes, number_codes, text_cells
from dpfast.tables.dates import (
    LANGUAGES,
    MONTHS,
    ORDERS,
    PIVOT,
    day_of,
    days_of,
    iso_dates,
    may_be_date,
    with_iso_dates,
)

TEXT = pa.large_string()
PAGE = (Path(__file__).parents[2] / "docs" / "cells.md").read_text(encoding="utf-8")
FORMS, TYPES = (
    [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines() if line.startswith("|")][2:]
    for table in (PAGE[PAGE.index(f"| {head} |") :].split("\n\n")[0] for head in ("cell", "type"))
)


def code_of(said):
    """Return the code of what a row of the page says: a date, a number or a word."""
    if found := re.match("date `([^`]*)`", said):
        return date_codes(np.array([found[1]], "M8[D]").astype(np.float64))[0]
    if found := re.match("number `([^`]*)`", said):
        return number_codes(np.array([float(found[1])]))[0]
    assert said.startswith("word")
    return FIXED


@pytest.mark.parametrize(("name", "example", "said"), FORMS, ids=[row[1] for row in FORMS])
def test_every_form_of_the_page_is_read_as_it_says(name, example, said):
    text = pa.array([example.strip("`")], TEXT)
    plain, *declared = said.split("; ")
    assert text_cells(text)[0][0] == code_of(plain)
    for each in declared:
        option, meant = re.fullmatch('(?:`--dates |a schema with `format = ")([^`"]*)"?` (date .*)', each).groups()
        if option in ORDERS:
            assert text_cells(with_iso_dates(text, option))[0][0] == code_of(meant)
            continue
        for values in (text, text.cast(pa.int64())):
            assert date_codes(days("x", values, option))[0] == code_of(meant)
        schema = Schema([Date("x", "2018-12-26", "2018-12-28", edges=2, format=option)])
        assert TableEncoder(schema).fit_transform({"x": [int(example.strip("`"))]}).column(1).tolist() == [
            2
        ]  # Wednesday


NOW = datetime.datetime(2018, 12, 26, 10, 30)
DAY = np.array(["2018-12-26"], "M8[D]").astype(np.float64)
TRUTH, AS_DATE = ["true"], date_codes(DAY)[0]
PYTHON = {"a": 1}
EXAMPLES = {  # for each type of the page: columns, and the number, day or words that each is
    "pandas int64, Int64, uint8": [(pd.Series([7], dtype=each), 7) for each in ("int64", "Int64", "uint8", ">i4")],
    "pandas float64, Float32, float16": [
        (pd.Series([7.0], dtype=each), 7) for each in ("float64", "Float32", "float16", ">f8")
    ],
    "pandas bool, boolean": [(pd.Series([True], dtype=each), TRUTH) for each in ("bool", "boolean")],
    "pandas object, str, string": [
        *((pd.Series(["26-Dec-18"], dtype=each), AS_DATE) for each in (object, "str", "string")),
        (pd.Series([datetime.timedelta(days=1)], dtype=object), 86400),
        (pd.Series([datetime.time(13, 30)], dtype=object), 13.5),
    ],
    "pandas category": [
        (pd.Series(pd.Categorical(["a"])), ["a"]),
        (pd.Series(pd.cut([3.0], [0, 2, 4])), 2),
    ],
    "pandas datetime64": [(pd.Series([NOW]), AS_DATE), (pd.Series(np.array([NOW], ">M8[us]")), AS_DATE)],
    "pandas datetime64 with a zone": [(pd.Series([NOW]).dt.tz_localize("UTC"), AS_DATE)],
    "pandas timedelta64": [(pd.Series(pd.to_timedelta([2], "h")), 7200)],
    "pandas Period": [
        (pd.Series(pd.PeriodIndex(["2018-12-26"], freq=freq)), date_codes(np.array([day], "M8[D]").astype(float))[0])
        for freq, day in (
            ("D", "2018-12-26"),
            ("h", "2018-12-26"),
            ("M", "2018-12-01"),
            ("Q", "2018-10-01"),
            ("W", "2018-12-24"),
            ("Y", "2018-01-01"),
        )
    ],
    "pandas Interval": [
        (pd.Series(pd.arrays.IntervalArray.from_tuples([(2, 4)])), 2),
        (pd.Series(pd.arrays.IntervalArray.from_tuples([(pd.Timestamp(NOW), pd.Timestamp(2019, 1, 1))])), AS_DATE),
    ],
    "pandas Sparse": [(pd.Series(pd.arrays.SparseArray([7])), 7)],
    "pandas ArrowDtype": [(pd.Series([7], dtype="int64[pyarrow]"), 7)],
    "pandas complex128": [(pd.Series([1j]), None)],
    "polars Int8 to Int64, UInt8 to UInt64": [
        (pl.Series([7], dtype=each), 7) for each in (pl.Int8, pl.Int64, pl.UInt64)
    ],
    "polars Float32, Float64, Decimal": [(pl.Series([7]).cast(each), 7) for each in (pl.Float32, pl.Decimal(30, 2))],
    "polars Int128": [(pl.Series([7]).cast(pl.Int128), None)],
    "polars Boolean": [(pl.Series([True]), TRUTH)],
    "polars String": [(pl.Series(["26.12.18"]), AS_DATE)],
    "polars Categorical, Enum": [(pl.Series(["a"], dtype=each), ["a"]) for each in (pl.Categorical, pl.Enum(["a"]))],
    "polars Date, Datetime": [(pl.Series([NOW]), AS_DATE), (pl.Series([NOW.date()]), AS_DATE)],
    "polars Duration": [(pl.Series([datetime.timedelta(hours=2)]), 7200)],
    "polars Time": [(pl.Series([datetime.time(13, 30)]), 13.5)],
    "polars Null": [(pl.Series([None]), "missing")],
    "polars Binary, Object": [(pl.Series([b"a"]), None), (pl.Series([object()], dtype=pl.Object), None)],
    "polars List, Array, Struct": [
        (pl.Series([[1]]), None),
        (pl.Series([[1]], dtype=pl.Array(pl.Int64, 1)), None),
        (pl.Series([PYTHON]), None),
    ],
    "Arrow integer, floating": [(pa.array([7]), 7), (pa.array([7.0]), 7), (pa.array([7], pa.uint8()), 7)],
    "Arrow decimal": [(pa.array([7]).cast(pa.decimal128(30, 2)), 7)],
    "Arrow bool, bool8": [
        (pa.array([True]), TRUTH),
        (pa.ExtensionArray.from_storage(pa.bool8(), pa.array([2], pa.int8())), TRUTH),
    ],
    "Arrow string, large_string, string_view": [
        (pa.array(["(1,234)"], each), -1234) for each in (pa.string(), TEXT, pa.string_view())
    ],
    "Arrow dictionary, run_end_encoded": [
        (pa.array(["a"]).dictionary_encode(), ["a"]),
        (pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([7])), 7),
    ],
    "Arrow date32, date64, timestamp": [
        *((pa.array([NOW.date()], each), AS_DATE) for each in (pa.date32(), pa.date64())),
        (pa.array([NOW], pa.timestamp("ns")), AS_DATE),
    ],
    "Arrow time32, time64": [
        (pa.array([datetime.time(13, 30)], each), 13.5) for each in (pa.time32("s"), pa.time32("ms"), pa.time64("ns"))
    ],
    "Arrow duration": [
        (pa.array([2], pa.int64()).cast(pa.duration(each)), 2 / k) for each, k in (("s", 1), ("ms", 1000))
    ],
    "Arrow month_day_nano_interval": [(pa.array([pa.MonthDayNano([1, 1, 10**9])]), 31 * 86400 + 1)],
    "Arrow null": [(pa.nulls(1), "missing")],
    "Arrow binary, fixed_size_binary, uuid": [
        (pa.array([b"a" * 16], each), None) for each in (pa.binary(), pa.binary(16), pa.binary_view())
    ]
    + [(pa.array([b"a" * 16], pa.uuid()), None)],
    "Arrow list, struct, map, union": [
        (pa.array([[1]]), None),
        (pa.array([PYTHON]), None),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), None),
        (pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])]), None),
    ],
}


def as_table(values):
    if isinstance(values, pd.Series):
        return pd.DataFrame({"x": values})
    return pl.DataFrame({"x": values}) if isinstance(values, pl.Series) else pa.table({"x": values})


@pytest.mark.parametrize(("name", "said"), TYPES, ids=[row[0] for row in TYPES])
def test_every_type_of_the_page_is_read_as_it_says(name, said):
    for values, meant in EXAMPLES[name]:
        table = as_table(values)
        if meant is None:
            with pytest.raises(ValueError, match=re.escape(said.removeprefix("refused: "))):
                reads_of("x", Frame(table).column("x").type)
            continue
        frame = Frame(table)
        array = frame.column("x")
        assert frame.is_untyped("x") or reads_of("x", header_of(table)["x"]) == reads_of("x", array.type)
        codes, words = cells("x", array)
        if meant == "missing":
            assert codes[0] == MISSING
        elif isinstance(meant, list):
            assert (codes[0], words) == (FIXED, meant)
        else:
            assert codes[0] == (meant if isinstance(meant, np.integer) else number_codes(np.array([float(meant)]))[0])
            assert ("date" in said) <= (codes[0] < DATES) or "number" in said


def test_every_row_has_its_examples_and_missing_cells_of_every_type_of_arrow_are_missing():
    assert [row[0] for row in TYPES] == [*EXAMPLES]
    for values, meant in (each for examples in EXAMPLES.values() for each in examples):
        if isinstance(values, pa.Array) and not isinstance(values, pa.RunEndEncodedArray) and meant is not None:
            array = pa.concat_arrays([values, pa.nulls(1, values.type)])
            assert cells("x", Frame(pa.table({"x": array})).column("x"))[0][-1] == MISSING


def test_no_name_stands_for_two_months():
    for language, months in LANGUAGES.items():
        names = [names.split() for names in months.split("|")]
        assert len(names) == 12, language
        assert all(MONTHS[name] == k + 1 for k, each in enumerate(names) for name in each), language


def test_every_day_of_a_year_has_one_date_in_every_form():
    forms = ("%d.%m.%Y", "%d.%m.%y", "%d-%b-%y", "%d%b%Y", "%a, %d %b %Y", "%A, %B %d, %Y", "%G-W%V-%u", "%b %d, %Y")
    days = [datetime.date(2019, 12, 1) + datetime.timedelta(k) for k in range(400)]
    expected = np.array(days, "M8[D]").astype(np.float64)
    for form in forms:
        texts = pa.array([each.strftime(form) for each in days], TEXT)
        assert all(map(may_be_date, texts.to_pylist())), form
        assert (days_of(texts) == expected).all(), form
        timed = pa.array([f"{each.strftime(form)} 10:30:0{k % 10}" for k, each in enumerate(days)], TEXT)
        assert (days_of(timed) == expected).all(), form


def test_names_of_months_are_letters_and_digits_are_those_of_ascii():
    texts = ["3 §§§§ 2020", "3 May٢ 2020", "2020may1\uff1f", "§§, 3 May 2020", "3 août 2020", "mié, 3 May 2020"]
    codes, words = text_cells(pa.array(texts, TEXT))
    assert words == texts[:4]
    assert (codes[4:] < FIXED).all()


def test_dates_with_time_and_year_behind_them_are_read_with_one_digit_of_the_day_too():
    texts = pa.array(["Mon Jan  5 10:20:30 2020", "Jan  5 10:20 2020", "Mon Jan 15 10:20:30 UTC 2020"], TEXT)
    assert text_cells(texts)[0].tolist() == date_codes(np.array([18266.0, 18266, 18276])).tolist()


def test_years_of_two_digits_are_those_around_the_pivot():
    years = [int(np.datetime64(int(day_of(f"1 Jan {k:02}")), "D").astype(str)[:4]) for k in range(100)]
    assert years == [2000 + k if k < PIVOT else 1900 + k for k in range(100)]


@pytest.mark.parametrize("order", ["dmy", "mdy", "ymd"])
def test_the_declared_order_reads_every_day(order):
    letters = {"d": "%d", "m": "%m", "y": "%y"}
    days = [datetime.date(2000, 1, 1) + datetime.timedelta(37 * k) for k in range(300)]
    for mark in "/-":
        texts = pa.array([each.strftime(mark.join(letters[part] for part in order)) for each in days], TEXT)
        assert with_iso_dates(texts, order).to_pylist() == [each.isoformat() for each in days]
    assert iso_dates(order)("99/99/2020") == "99/99/2020"


def test_periods_and_intervals_of_a_file_are_those_of_the_frame(tmp_path):
    table = pd.DataFrame(
        {
            "x": pd.PeriodIndex(["2018-12", None, "2017-01"], freq="M"),
            "y": pd.arrays.IntervalArray.from_tuples([(1, 2), None, (2, 4)]),
        }
    )
    table.to_parquet(tmp_path / "t.parquet")
    script = (
        "import sys, dpfast; from dpfast.files.encodings import read_encoding; from dpfast.tables.discovered import "
        "Discovered; from dpfast.files.parquet import ParquetFiles; from dpfast.tables.arrow import cells, Frame\n"
        "import pyarrow as pa\n"
        "assert 'pandas' not in sys.modules\n"
        "files = ParquetFiles(sys.argv[1])\n"
        "print([cells(n, Frame(pa.table({n: next(iter(files.column(n)))})).column(n))[0].tolist() for n in 'xy'])"
    )
    told = subprocess.run([sys.executable, "-c", script, tmp_path / "t.parquet"], capture_output=True, text=True)
    assert told.stdout.strip() == str([cells(n, Frame(table).column(n))[0].tolist() for n in "xy"]), told.stderr
    assert Frame(table).column("x").null_count == Frame(table).column("y").null_count == 1

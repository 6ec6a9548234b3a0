"""Workbooks, and files of text as Excel writes them."""

import builtins
import datetime

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast.files import csv, excel
from dpfast.files.encodings import FileParts, read_code_steps, read_frame
from dpfast.tables import Label, Numeric, Schema


@pytest.fixture
def frame(rng):
    n = 400
    days = rng.integers(0, 2000, n)
    return pd.DataFrame(
        {
            "seen": pd.Timestamp("2012-01-01") + pd.to_timedelta(days, "D"),
            "age": rng.integers(0, 90, n),
            "price": np.round(rng.random(n) * 100, 2),
            "job": rng.choice(["clerk", "a,b", 'say "x"'], n),
            "at": [datetime.time(k // 100, k % 60) for k in days],
            "kind": np.where(days > 1000, "late", "early"),
        }
    )


@pytest.fixture
def book(frame, tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        pd.DataFrame({"a": [1]}).to_excel(writer, sheet_name="notes", index=False)
        frame.to_excel(writer, sheet_name="Data 2", index=False)
    return path


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_sheet_gives_the_model_of_the_same_table_as_csv(book, frame, tmp_path, decimal):
    frame.to_csv(tmp_path / "t.csv", index=False, decimal=decimal, sep=";")
    sources = (
        FileParts(book, label="kind", sheet="Data 2", decimal=decimal),
        FileParts(tmp_path / "t.csv", label="kind", separator=";", decimal=decimal),
    )
    one, other = (
        dpfast.HalfspaceClassifier(epsilon=2, random_state=0, schema="discover").fit(each) for each in sources
    )
    assert one.schema_ == other.schema_ if hasattr(one, "schema_") else one.encoder_.schema_ == other.encoder_.schema_
    assert (one.coef_ == other.coef_).all()


def test_a_stream_reads_a_sheet_step_by_step(book, frame, tmp_path):
    schema = Schema([Numeric("age", 0, 90), Numeric("price", 0, 100)], label=Label("kind", ["early", "late"]))
    frame.to_csv(tmp_path / "t.csv", index=False)
    sheet = [*read_code_steps(book, 150, schema, skip=20, sheet="Data 2")]
    text = [*read_code_steps(tmp_path / "t.csv", 150, schema, skip=20)]
    assert [len(y) for _, y in sheet] == [150, 150, 80]
    for (X, y), (same_X, same_y) in zip(sheet, text, strict=True):
        assert np.array_equal(X.columns, same_X.columns)
        assert np.array_equal(y, same_y)


@pytest.mark.parametrize("before", [[["Report"]], [[], ["Report"], []], [[], []], [["a", "b"], [], ["", 2]]])
def test_rows_before_the_header_of_a_sheet_are_counted_as_excel_numbers_them(tmp_path, before):
    import openpyxl

    book = openpyxl.Workbook()
    for row in [*before, ["age", "buys"], [30, "yes"], [], [40, "no"]]:
        book.active.append(row)
    book.save(tmp_path / "t.xlsx")
    table = read_frame(tmp_path / "t.xlsx", skip_lines=len(before))
    assert table.to_pydict() == {"age": ["30", "40"], "buys": ["yes", "no"]}


def test_a_sheet_is_named_if_there_are_several(book):
    with pytest.raises(ValueError, match="the workbook has 2 sheets; say which by --sheet: notes, Data 2"):
        FileParts(book).header()
    with pytest.raises(ValueError, match="there is no sheet 'x'; there is notes, Data 2"):
        FileParts(book, sheet="x").header()
    with pytest.raises(ValueError, match="a sheet is one of a workbook, and this file is none"):
        csv.CsvFile(b"a,b\n", sheet="x")


def test_a_changed_workbook_is_read_anew(book, frame):
    assert read_frame(book, sheet="notes").num_rows == 1
    pd.DataFrame({"a": [1, 2], "b": [datetime.timedelta(hours=30), None]}).to_excel(
        book, sheet_name="notes", index=False
    )
    assert read_frame(book, sheet="notes").num_rows == 2


def test_cells_are_written_as_in_a_file():
    cells = {
        "x": "x",
        1.0: "1",
        1.5: "1,5",
        datetime.datetime(2018, 12, 26): "2018-12-26",
        datetime.datetime(2018, 12, 26, 10, 30): "2018-12-26 10:30:00",
        datetime.date(2018, 12, 26): "2018-12-26",
        datetime.timedelta(days=1, hours=2): "1 days 02:00:00",
        "#N/A": "",
    }
    assert [excel._text(cell, ",") for cell in cells] == [*cells.values()]
    assert excel._text(True, ".") == "true"


def test_without_the_library_the_error_names_the_lines_of_pandas(book, monkeypatch):
    def refuse(name, *arguments, imported=builtins.__import__):
        if name == "python_calamine":
            raise ImportError
        return imported(name, *arguments)

    excel._sheet_as_text.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(ImportError, match=r"dpfast\[excel\].*read_excel\(\"book.xlsx\", sheet_name='Data 2'\)"):
        FileParts(book, sheet="Data 2").header()


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_first_line_says_the_separator(tmp_path, first):
    path = tmp_path / "t.csv"
    path.write_text(f"{first}\na;b;y\n1;2,5;x\n3;4,5;z\n")
    assert read_frame(path).column_names == ["a", "b", "y"]
    assert read_frame(path, decimal=",").column("b").to_pylist() == ["2.5", "4.5"]
    path.write_text(f"{first}\na;b\n1;2\n3\n")
    with pytest.raises(ValueError, match="line 4 has 1 cell, "):
        read_frame(path)


@pytest.mark.parametrize("kind", [">f8", ">i4", ">f4"])
def test_the_byte_order_of_an_array_changes_nothing(tmp_path, rng, kind):
    X = rng.integers(0, 90, (600, 3))
    y = (X[:, 0] > 40).astype(int)
    plain, other = (
        dpfast.HalfspaceClassifier(epsilon=2, random_state=0).fit(X.astype(each), y.astype(order))
        for each, order in ((kind[1:], "<i4"), (kind, ">i4"))
    )
    assert (plain.coef_ == other.coef_).all()
    assert (plain.predict(X.astype(kind)) == other.predict(X.astype(kind[1:]))).all()
    np.save(tmp_path / "x.npy", X.astype(kind))
    filed = dpfast.HalfspaceClassifier(epsilon=2, random_state=0).fit(FileParts(tmp_path / "x.npy"), y)
    assert (filed.coef_ == plain.coef_).all()

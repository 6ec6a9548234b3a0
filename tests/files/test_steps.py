"""A CSV table read a few rows at a time has the rows of the whole table, whatever is in its cells."""

import pyarrow as pa
import pytest

from dpfast.files import csv
from dpfast.files.encodings import read_code_steps, read_codes
from dpfast.files.readers import csv_steps, read_steps
from dpfast.tables import Category, Numeric
from dpfast.tables.schema import Label, Schema

SCHEMA = Schema([Category("t", ["a", "b"]), Numeric("x", 0, 10)], label=Label("y", ["n", "p"]))
ODD = ['"b"', '"b\nc"', '"b\n\nc"', '"b\r\n"', '"\r"', '"a""\n"', 'b"', 'a"b\\"']


def _rows_of(file):
    names = [*file.names]
    batches = [*file.batches(dict.fromkeys(names, pa.string()))]
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


@pytest.mark.parametrize("separator", [",", "\t"])
def test_records_are_rows_as_the_parser_divides_them(tmp_path, rng, many, separator):
    path, parsed = tmp_path / ("t.tsv" if separator == "\t" else "t.csv"), 0
    for _ in range(many(300, 20_000)):
        parts = [["a", '"a', '"', '""', "\n", "\r\n", " ", separator][k] for k in rng.integers(0, 8, 12)]
        odd = "".join(f'"{part}"' if k else part for part, k in zip(parts, rng.integers(0, 2, 12), strict=True))
        cells = [odd[:8], "x", "y"] if rng.integers(0, 2) else ["x", odd.replace('"', '""').join('""'), odd[8:]]
        lines = [separator.join(each) for each in ("uvw", "123", cells)]
        lines += [separator.join("456")] * rng.integers(0, 3)
        path.write_text("\n".join(lines) + "\n", newline="")
        try:
            whole = _rows_of(csv.CsvFile(path, separator=separator))
        except ValueError:
            continue
        parsed += 1
        for size in (1, 2):
            steps = [_rows_of(file) for file, _ in csv_steps(path, size, 0, "w")]
            assert [row for step in steps for row in step] == whole, path.read_bytes()
            assert {len(step) for step in steps[:-1]} <= {size}
        assert [row for file, _ in csv_steps(path, 5, 1, "w") for row in _rows_of(file)] == whole[1:]
    assert parsed > 50


@pytest.mark.parametrize("cell", ODD)
def test_steps_end_between_rows_and_not_in_a_cell(tmp_path, cell):
    rows = [f"{'ab'[k % 2]},{k % 10},{'np'[k % 2]}" for k in range(12)]
    rows[3] = f"{cell},{3 if cell == ODD[0] else 'z'},p"
    path = tmp_path / "t.csv"
    path.write_text("t,x,y\n" + "\n".join(rows) + "\n", newline="")
    for size in (4, 5):
        if cell == ODD[0]:
            sizes = [len(labels) for _, labels in read_code_steps(path, size, SCHEMA)]
            assert (sum(sizes), {*sizes[:-1]}) == (12, {size})
            continue
        with pytest.raises(ValueError, match=r"row 4, column 'x' ") as in_steps:
            list(read_code_steps(path, size, SCHEMA))
        with pytest.raises(ValueError, match=r"line \d+, column 'x' ") as whole:
            read_codes(path, SCHEMA, SCHEMA.label)
        assert str(in_steps.value).split("column")[1] == str(whole.value).split("column")[1]


@pytest.mark.parametrize("label", ["1", '"1\n\n\n1"', '"1\n"', '"1\r"'])
def test_rows_are_left_out_by_rows_whatever_the_lines_of_a_label(tmp_path, label):
    rows = [f"{k % 2},{(k // 2) % 2},{k % 2}" for k in range(20)]
    rows[3] = f"1,0,{label}"
    path = tmp_path / "t.csv"
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n", newline="")
    classes = ["0", "1", label.strip('"').strip()]
    left = [step.y for step in read_steps(path, 6, [*dict.fromkeys(classes)], label="y", skip=10)]
    assert [len(y) for y in left] == [6, 4]
    with pytest.raises(ValueError, match="21 rows should be skipped, but there are only 20"):
        list(read_steps(path, 6, [*dict.fromkeys(classes)], label="y", skip=21))
    rows[15] = "1,2,1"
    path.write_text("a,b,y\n" + "\n".join(rows) + "\n", newline="")
    with pytest.raises(ValueError, match="row 16, column 'b' holds another value"):
        list(read_steps(path, 6, [*dict.fromkeys(classes)], label="y"))


def test_a_quote_that_is_never_closed_does_not_read_the_whole_file(tmp_path, monkeypatch):
    monkeypatch.setattr(csv, "LINE", 1000)
    path = tmp_path / "t.csv"
    path.write_text('a,b,y\n1,0,1\n1,"0,1\n' + "1,0,1\n" * 100_000)
    with pytest.raises(ValueError, match=r"a row has more than 1,000 characters; a quote in it may not be closed"):
        list(read_steps(path, 1, ["0", "1"], label="y"))

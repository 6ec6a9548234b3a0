import gzip
import io
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from dpfast import Schema
from dpfast.files import csv
from dpfast.files.encodings import FileParts, read_codes, read_encoding, read_frame
from dpfast.tables import Boolean, Category, Date, Label, Numeric
from dpfast.tables.cells import DATES, MISSING, date_codes, number_codes, text_cells
from dpfast.tables.discovered import Discovered
from dpfast.tables.encoding import encode
from dpfast.tables.remarks import remarks
from dpfast.tables.sources import schema_to_discover

SCHEMA = Schema(
    [
        Numeric("age", 0, 120, edges=[18, 37.5, 65], nullable=True),
        Category("job", ["clerk", "smith"], nullable=True),
        Boolean("smokes", nullable=True),
        Date("seen", "2020-01-01", "2020-12-31", parts="month", nullable=True),
    ],
    label=Label("buys", ["no", "yes"]),
    missing_values=["", "?"],
)
TEXT = """\
buys,job,age,id,seen,smokes
yes,clerk, 17 ,1,2020-12-31,true
no, smith,18,2,"2020-01-01 12:00:00",FALSE

no,"baker, old",18.5,3,?,1
 yes ,?,?,4,2020-02-29,
no,clerk,-3e2,5,2019-07-04,?
"""
CODES = [[0, 0, 1, 11], [0, 1, 0, 0], [1, 2, 1, 12], [4, 3, 2, 1], [0, 0, 2, 6]]
LABELS = ["yes", "no", "no", "yes", "no"]


@pytest.fixture
def write(tmp_path):
    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


def test_a_csv_file_becomes_codes(write):
    for path, options in (
        (write(TEXT), {}),
        (write("\ufeff" + TEXT.replace("\n", "\r\n"), "marked.csv"), {}),
        (write(gzip.compress(TEXT.encode()), "t.csv.gz"), {}),
        (
            write(TEXT.replace(".", ";;").replace(",", ";").replace(";;", ","), "s.csv"),
            {"separator": ";", "decimal": ","},
        ),
        (write(TEXT.encode("utf-16"), "wide.csv"), {"encoding": "utf-16"}),
    ):
        table, labels = read_codes(path, SCHEMA, SCHEMA.label, **options)
        assert table.toarray().tolist() == CODES
        assert table.columns == SCHEMA.code_columns
        assert labels.tolist() == LABELS
    table, labels = read_codes(write(TEXT), Schema(SCHEMA.columns, missing_values=["", "?"]))
    assert table.toarray().tolist() == CODES
    assert labels is None


def test_parquet_files_become_the_codes_of_their_texts(write, tmp_path):
    columns = {
        "age": [17.0, 18.0, 18.5, None, -300.0],
        "job": pa.array(["clerk", "smith", "baker, old", None, "clerk"]).dictionary_encode(),
        "smokes": [True, False, True, None, None],
        "seen": pa.array(["2020-12-31", "2020-01-01", None, "2020-02-29", "2019-07-04"]).cast(pa.date32()),
        "buys": LABELS,
    }
    table = pa.table(columns)
    for k in range(2):
        pyarrow.parquet.write_table(table.slice(3 * k, 3), tmp_path / f"part-{k}.parquet")
    codes, labels = read_codes(tmp_path / "part-*.parquet", SCHEMA, SCHEMA.label)
    assert codes.toarray().tolist() == CODES
    assert labels.tolist() == LABELS
    pyarrow.parquet.write_table(table.drop_columns("age"), tmp_path / "part-1.parquet")
    with pytest.raises(ValueError, match=r"part-1\.parquet"):
        read_codes(tmp_path / "part-*.parquet", SCHEMA)
    table = table.set_column(0, "age", pa.array(["17", "old", "1", "2", "3"]))
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(ValueError, match=r"t\.parquet: row 2, column 'age' holds text where a number is declared"):
        read_codes(tmp_path / "t.parquet", SCHEMA)


def test_a_bundled_table_becomes_codes():
    from dpfast import load_dataset

    adult = load_dataset("adult")
    table, labels = read_codes("adult", adult.schema, adult.schema.label)
    assert table == encode(adult.data, adult.schema)
    assert (np.asarray(labels) == adult.target).all()


def test_a_file_of_many_blocks_is_read_whole(write, monkeypatch):
    from dpfast.files import csv

    monkeypatch.setattr(csv, "LINE", 300)
    lines = TEXT.splitlines()
    text = "\n".join([lines[0], *(lines[1:] * 60)])
    table, labels = read_codes(write(text), SCHEMA, SCHEMA.label)
    assert table.toarray().tolist() == CODES * 60
    assert labels.tolist() == LABELS * 60


def test_a_line_longer_than_a_block_is_read_and_each_row_once(write, monkeypatch):
    from dpfast.files import csv

    monkeypatch.setattr(csv, "BLOCK", 300)
    words = [*map(str, range(200)), "a" * 3000, *map(str, range(200, 400)), "b\n" * 500]
    file = csv.CsvFile(write("\n".join(["word", *(f'"{word}"' for word in words)])))
    read = [word for batch in file.batches({"word": pa.large_string()}) for word in batch["word"].to_pylist()]
    assert read == words
    monkeypatch.setattr(csv, "LINE", 1000)
    with pytest.raises(ValueError, match="a line has more than 1,000 bytes"):
        [*file.batches({"word": pa.large_string()})]


def test_the_first_row_may_hold_a_long_cell(write):
    file = csv.CsvFile(write("word,n\n" + "a" * 200_000 + ",1\nb,2\n"))
    (batch,) = file.batches({"word": pa.large_string()})
    assert [len(word) for word in batch["word"].to_pylist()] == [200_000, 1]


def test_a_quote_that_is_not_closed_is_suspected(write):
    with pytest.raises(ValueError, match="line 5 has 2 cells, the header row 3; a quote before it may not be closed"):
        read_codes(write('age,job,n\n1,"clerk,1\n2,smith,2\n3,baker,3\n4,clerk,4\n'), Schema([Numeric("age", 0, 9)]))


def test_too_many_columns_to_discover_are_refused_by_the_header(write):
    header = ",".join(f"c{j}" for j in range(16_385))
    with pytest.raises(ValueError, match="at most 16,384 columns can be discovered, got 16,385"):
        schema_to_discover(FileParts(write(f"{header},y\n"), label="y"))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_are_an_upper_bound_on_the_rows(write, monkeypatch, end, encoding):
    from dpfast.files import csv

    monkeypatch.setattr(csv, "LINE", 64)
    path = write(end.join(["word,y", *(f'"{k}{end}",1' for k in range(50))]).encode(encoding))
    assert 51 <= csv.CsvFile(path, encoding=encoding).count() <= 51 + 50 + 50 * (end == "\r\n")


def test_blanks_may_stand_around_what_is_no_number(write):
    text = TEXT.replace("?,4,", " nan ,4,")
    table, _ = read_codes(write(text), SCHEMA)
    assert table.toarray().tolist() == CODES


def test_one_cell_does_not_choose_how_all_are_read(write):
    """A blank that pyarrow's numbers do not know once had the file read as text, and -999.0 was no mark there."""
    schema = Schema([Numeric("age", -2000, 2000, edges=[0], nullable=True)], missing_values=["", "-999"])
    rows = ["-999.0", " -999", "-999", "-998.5", "12"]
    table, _ = read_codes(write("\n".join(["age", *rows])), schema)
    assert table.toarray().tolist() == [[2], [2], [2], [0], [1]] == encode({"age": rows}, schema).toarray().tolist()
    with pytest.raises(ValueError, match="line 6, column 'age' holds text where a number is declared"):
        read_codes(write("\n".join(["age", *rows[:4], "\u00a012"])), schema)


def test_a_number_of_an_undeclared_column_has_the_decimal_mark_of_its_file(write):
    """Such cells were words once, so that nothing was learned from them."""
    column = Discovered(
        "x", cells=True, numbers=(0.0, 2.0), ends=(-8.0, 2048.0), values=("a,b", "31.12.2020"), dates=(), days=(0, 9)
    )
    points = ["1.5", " -2.25 ", "7", "1.5e3", ".5", "?", "a,b", "31.12.2020", "2020-01-01"]
    commas = ["1,5", " -2,25 ", "7", "1,5e3", ",5", "?", "a,b", "31.12.2020", "2020-01-01"]
    codes = [
        read_codes(write("\n".join(["x;z", *(f"{cell};" for cell in cells)])), Schema([column]), **options)[0].toarray()
        for cells, options in ((points, {"separator": ";"}), (commas, {"separator": ";", "decimal": ","}))
    ]
    assert np.array_equal(*codes)
    assert len(np.unique(codes[0], axis=0)) >= 6
    frame = read_frame(write("x;z\n1,5;a.b\n1.5;k.A.\n"), separator=";", decimal=",")
    assert frame.to_pydict() == {"x": ["1.5", "1\u20245"], "z": ["a.b", "k.A."]}


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_a_draft_says_that_numbers_with_a_point_are_words_beside_a_decimal_comma(share, write):
    """They are not taken for numbers of persons, which the draft did once."""
    cells = [f"{120 + k / 10:.1f}".replace(".", "." if k < 900 * share else ",") for k in range(900)]
    frame = read_frame(
        write("\n".join(["x;y", *(f"{x};{k % 2}" for k, x in enumerate(cells * 3))])), separator=";", decimal=","
    )
    (remark,) = remarks(Schema.draft(frame, "y"), frame, decimal=",")
    assert remark.startswith("column 'x' holds numbers with a point, such as '120.0', and the decimal mark is ','")
    assert remark.endswith(f"{share:.0%} of the values are read as words. Write them with ',' first")


def test_a_decimal_comma_holds_beside_units_and_in_declared_columns(write):
    cells = {
        "1.234 m²": 1234,
        "1.234,5 m²": 1234.5,
        "1,125 €": 1.125,
        "€ 1.005": 1005,
        "(1.234)": -1234,
        "12,50-": -12.5,
        "1.234,5k": 1234500,
        "€ 1,125M": 1125000,
        "~ 1.234": 1234,
        "\u20130,125": -0.125,
    }
    text = "x;z\n" + "".join(f"{cell};1.234,5\n" for cell in [*cells] * 2)
    read = read_frame(write(text), separator=";", decimal=",").column("x").to_pylist()[: len(cells)]
    assert [number_codes(np.array([each]))[0] for each in cells.values()] == text_cells(
        pa.array(read, pa.large_string())
    )[0].tolist()
    schema = Schema([Numeric("z", 0, 5000, edges=[1000, 1234, 1235])])
    codes, _ = read_codes(write(text), schema, separator=";", decimal=",")
    assert codes.toarray().tolist() == [[2]] * 20


def test_a_fault_among_numbers_of_another_decimal_mark_is_found(write):
    path = write("age;job\n1,5;a\n3;b\n2.5;c\n")
    with pytest.raises(ValueError, match="line 4, column 'age' holds text where a number is declared"):
        read_codes(path, Schema([Numeric("age", 0, 9)]), separator=";", decimal=",")


FAULTS = {
    "text among numbers": ("-3e2", "old", "line 7, column 'age' holds text where a number is declared"),
    "no date": ("2019-07-04", "soon", "line 7, column 'seen' holds no date"),
    "neither true nor false": (",FALSE", ",often", "line 3, column 'smokes' holds a value that is not declared"),
    "a label that is not declared": ("no,clerk", "maybe,clerk", "line 7, column 'buys' has a label that is not"),
    "a cell more": ("no,clerk", "no,no,clerk", "line 7 has 7 cells, the header row 6"),
    "a cell less": ("no,clerk,", "no,", "line 7 has 5 cells, the header row 6"),
    "a column that is not there": ("age,id", "old,id", "lacks columns that the schema declares: 'age'"),
    "another separator": (",", ";", "the header row has only one column"),
    "a NUL in a name": ("id", "i\0d", "has a NUL in it"),
    "an empty file": (TEXT, "", "the file is empty"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_file_that_is_not_as_declared_is_refused_by_its_line(what, write):
    old, new, message = FAULTS[what]
    assert old in TEXT
    with pytest.raises(ValueError, match=r"t\.csv.*" + message):
        read_codes(write(TEXT.replace(old, new)), SCHEMA, SCHEMA.label)


def test_bytes_of_another_encoding_are_refused(write):
    with pytest.raises(ValueError, match="not UTF-8 text"):
        read_codes(write(TEXT.encode().replace(b"baker", b"b\xe4cker")), SCHEMA)
    with pytest.raises(ValueError, match="not UTF-8 text"):
        read_codes(write(TEXT.encode().replace(b"job", b"j\xe4b")), SCHEMA)


def test_other_kinds_of_files_have_no_names(write):
    with pytest.raises(ValueError, match=r"t\.svm: columns are declared or discovered in CSV and Parquet files only"):
        read_codes(write("1 1:1\n", "t.svm"), SCHEMA)
    with pytest.raises(FileNotFoundError):
        read_codes("absent.csv", SCHEMA)
    with pytest.raises(
        ValueError, match="no such file, and no bundled table with a schema of this name; there is adult"
    ):
        read_codes("mushroom", SCHEMA)


def test_rows_of_an_encoding_are_picked_by_a_mask(write):
    schema = Schema([Numeric("age", nullable=True), Category("job", nullable=True), *SCHEMA.columns[2:]], label="buys")
    schema = Schema(schema.columns, label=Label("buys", ["no", "yes"]), missing_values=["", "?"])
    encoded = read_encoding(write(TEXT), schema, schema.label)
    mask = np.array([True, False, False, True, True])
    found = {"age": {"low": 0.0, "high": 120.0, "edges": (18.0, 37.5, 65.0)}, "job": {"values": ("clerk", "smith")}}
    for rows in (mask, slice(1, 4)):
        part = encoded[rows]
        assert len(part) == 3
        assert part.table(schema.with_facts(found)).toarray().tolist() == np.array(CODES)[rows].tolist()
        assert part.labels().tolist() == np.array(LABELS)[rows].tolist()


SLOW_FILE = """
import io, sys, time
from pathlib import Path
from dpfast.files import csv
from dpfast.files.readers import read_table

class Slow(io.BytesIO):
    '''A file whose reads take long, so that one is under way whatever the reader does.'''

    def read(self, size=-1):
        if self.tell():
            time.sleep(0.05)
        return super().read(min(size, 1000))

content = Path(sys.argv[1]).read_bytes()
csv.CsvFile._binary = lambda self: Slow(content)
csv.LINE = 1000
try:
    read_table(sys.argv[1], label="y", values="numbers")
except ValueError as refused:
    sys.exit(str(refused))
"""


def test_a_refusal_leaves_no_thread_that_would_abort_the_process(write):
    """A thread of pyarrow that needs the interpreter while it ends stops the process with SIGABRT."""
    path = write("a,y\n1,x\nwrong,x\n" + "1,x\n" * 4000)
    done = subprocess.run([sys.executable, "-c", SLOW_FILE, path], capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stderr
    assert "line 3, column 'a'" in done.stderr


def test_a_refusal_leaves_no_block_of_a_file_with_a_thread(write, monkeypatch):
    """A thread of pyarrow that still holds a block when the interpreter ends stops the process with SIGABRT."""
    path, blocks = write("a,y\n1,x\nwrong,x\n" + "1.25,x\n" * 500_000), []
    content = Path(path).read_bytes()

    class Watched(io.BytesIO):
        def read(self, size=-1):
            block = memoryview(super().read(size))
            blocks.append(weakref.ref(block))
            return block

    monkeypatch.setattr(csv, "BLOCK", 1 << 18)
    for _ in range(40):
        file = csv.CsvFile(content)
        monkeypatch.setattr(file, "_binary", lambda: Watched(content))
        with pytest.raises(csv.Unparsed):
            list(file.batches({"a": pa.float64()}))
        assert blocks
        assert not any(block() for block in blocks)


def test_single_columns_of_a_file_are_read(write, tmp_path):
    frame = read_frame(write("a,b,c\n1,x,\n2,y,z\n"), columns=["b"])
    assert frame.to_pydict() == {"b": ["x", "y"]}
    pyarrow.parquet.write_table(pa.table({"a": [1, 2], "b": ["x", "y"]}), tmp_path / "t.parquet")
    assert read_frame(tmp_path / "t.parquet", columns=["b"]).to_pydict() == {"b": ["x", "y"]}


@pytest.mark.parametrize(
    ("dates", "days"), [("dmy", ["2020-05-01", "2020-12-31"]), ("mdy", ["2020-01-05"]), (None, [])]
)
def test_the_order_of_days_and_months_is_declared_for_a_file_and_read_cell_by_cell(write, dates, days):
    path = write("d,x\n01/05/2020,1\n31/12/2020,2\n31-02-2020,3\n2020-07-01,4\nx,5\n", "d.csv")
    source = FileParts(path, label="x", dates=dates)
    encoded = source.encode(schema_to_discover(source), None)
    _, codes, words = next(iter(encoded._stores[0][0].pick_cells(slice(None))))
    found = [date_codes(np.array([day], "M8[D]").astype(float))[0] for day in [*days, "2020-07-01"]]
    assert [code for code in codes.tolist() if code < DATES] == found
    assert len(words) == 4 - len(days)
    with pytest.raises(ValueError, match='dates must be "dmy", "mdy" or "ymd"'):
        FileParts(path, label="x", dates="ydm").header()


def test_points_are_separators_of_thousands_if_the_comma_is_declared(write):
    text = "a;x\n24.357;1\n-1.234.567;2\n1.234,5;3\n0,5;4\n1.5;5\n12;6\n"
    source = FileParts(write(text, "t.csv"), label="x", separator=";", decimal=",")
    encoded = source.encode(schema_to_discover(source), None)
    _, codes, words = next(iter(encoded._stores[0][0].pick_cells(slice(None))))
    expected = number_codes(np.array([24357, -1234567, 1234.5, 0.5, 12]))
    assert [code for code in codes.tolist() if code < MISSING] == expected.tolist()
    assert words == ["1\u20245"]


def test_blanks_around_a_name_are_no_part_of_it_in_the_file_or_in_its_schema(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("age\t, job ,buys\n1,clerk,no\n2,smith,yes\n")
    columns = [Numeric("age\t", 0, 3), Category(" job", ["clerk", "smith"])]
    for name in ("buys", "buys\t"):
        label = Label(name, ["no", "yes"])
        codes, labels = read_codes(path, Schema(columns, label=label), label)
        assert codes.shape[0] == 2
        assert np.asarray(labels).tolist() == ["no", "yes"]
    with pytest.raises(ValueError, match=r"lacks columns that the schema declares: 'age\\t'"):
        read_codes(path, Schema([*columns, Numeric("age", 0, 3)]))


BEFORE = '"Sales 2023",,\r\n\r\n# by "me,\r\n'


@pytest.mark.parametrize("ending", ["csv", "csv.gz"])
@pytest.mark.parametrize("mark", ["", "sep=,\r\n"])
def test_lines_before_the_header_are_skipped(tmp_path, ending, mark):
    text = "age,job\r\n" + "".join(f"{age},clerk\r\n" for age in range(20, 60))
    schema = Schema([Numeric("age", 0, 100, edges=10), Category("job", ["clerk"])])
    plain, path = tmp_path / "plain.csv", tmp_path / f"t.{ending}"
    plain.write_text(text, newline="")
    content = (BEFORE + mark + text).encode()
    path.write_bytes(gzip.compress(content) if ending.endswith("gz") else content)
    table, _ = read_codes(path, schema, skip_lines=3)
    expected, _ = read_codes(plain, schema)
    assert (table.column(0) == expected.column(0)).all()
    assert len(table) == 40
    numbers = FileParts(path, label="job", skip_lines=3)
    assert [*numbers.header()] == ["age", "job"]


def test_faults_count_the_lines_before_the_header(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text(BEFORE + "age,job\r\n30,clerk\r\nold,clerk\r\n", newline="")
    schema = Schema([Numeric("age", 0, 100), Category("job", ["clerk"])])
    with pytest.raises(ValueError, match="line 6, column 'age' holds text where a number is declared"):
        read_codes(path, schema, skip_lines=3)
    with pytest.raises(ValueError, match="the file is empty"):
        read_codes(path, schema, skip_lines=30)
    path.write_text("title\r\nage,job\r\n30,clerk\r\nThe end\r\n", newline="")
    with pytest.raises(
        ValueError, match=r"line 4 has 1 cell, the header row 2\. If it is no row of the table, remove it"
    ):
        read_codes(path, schema, skip_lines=1)
    for wrong in (-1, 1.0, True, "3", 10**9):
        with pytest.raises(ValueError, match="skip_lines must be a number of lines"):
            read_codes(path, schema, skip_lines=wrong)

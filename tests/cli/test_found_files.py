"""Files as they are found: made-up twins of tables that people have, each fitted as a newcomer would.

Each is read as it is, or refused with the option or the change that makes it readable.
"""

import csv
import datetime as dt
import io
import json
import warnings

import numpy as np
import pandas as pd
import pytest

import dpfast

N = 3000
FIT = ("--label", "kauft", "--epsilon", 3, "--seed", 1, "--rounds", 5, "--test-share", 0)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(1)
    age = rng.integers(18, 91, N)
    days = [dt.date(2019, 1, 1) + dt.timedelta(int(k)) for k in rng.integers(0, 1500, N)]
    return pd.DataFrame(
        {
            "alter": age,
            "lohn": np.round(rng.uniform(800, 9000, N), 2),
            "ort": rng.choice(["Köln", "Zürich", "Genève"], N),
            "seit": [day.strftime("%d.%m.%Y") for day in days],
            "kauft": np.where((age > 50) ^ (rng.random(N) < 0.1), "ja", "nein"),
        }
    )


def _written(**options):
    return lambda table, path: table.to_csv(path, **({"index": False} | options))


def _with_comment(table, path):
    path.write_text("# exported by a machine\n" + table.to_csv(index=False))


READ = {
    "semicolons, Latin-1 and decimal commas": (
        "t.csv",
        _written(sep=";", decimal=",", encoding="latin-1"),
        ("--separator", ";", "--encoding", "latin-1", "--decimal", ","),
    ),
    "tabs, in a .tsv": ("t.tsv", _written(sep="\t"), ()),
    "tabs, by name": ("t.txt", _written(sep="\t"), ("--separator", "tab")),
    "tabs, as shells leave them": ("t.txt", _written(sep="\t"), ("--separator", "\\t")),
    "blanks": ("t.data", _written(sep=" "), ("--separator", "space")),
    "bars": ("t.csv", _written(sep="|"), ("--separator", "|")),
    "a mark of its encoding": ("t.csv", _written(encoding="utf-8-sig"), ()),
    "two bytes a character": ("t.csv", _written(encoding="utf-16"), ("--encoding", "utf-16")),
    "lines of Windows": ("t.csv", _written(lineterminator="\r\n"), ()),
    "capitals in its ending": ("T.CSV", _written(), ()),
    "compressed": ("t.csv.gz", _written(), ()),
}
REFUSED = {
    "Latin-1": (_written(encoding="latin-1"), "give its encoding, such as cp1252"),
    "two bytes a character": (_written(encoding="utf-16"), "give its encoding, such as utf-16"),
    "tabs": (_written(sep="\t"), "another separator= (--separator) is given: 'tab' may be right"),
    "blanks": (_written(sep=" "), "If blanks separate the columns, give --separator space"),
    "no header": (_written(header=False), "A file must have a line of names"),
    "a comment first": (
        _with_comment,
        "A file must have a line of names. If the header is a later line, give the number of",
    ),
}


@pytest.mark.parametrize("what", READ)
def test_a_file_is_read_with_the_options_that_say_how_it_is_written(run, tmp_path, table, what):
    name, write, options = READ[what]
    write(table, tmp_path / name)
    result = run("fit", tmp_path / name, *FIT, *options, "--out", tmp_path / "m.json")
    assert result.exit_code == 0, result.stderr
    assert "Read as numbers: alter, lohn." in result.stderr
    assert "Read as dates: seit." in result.stderr
    assert "Read as words: ort." in result.stderr
    assert dpfast.load(tmp_path / "m.json").classes_.tolist() == ["ja", "nein"]
    predicted = run("predict", tmp_path / "m.json", tmp_path / name)
    assert predicted.exit_code == 0, predicted.stderr
    assert np.mean(np.array(predicted.stdout.split()) == table["kauft"]) > 0.8


@pytest.mark.parametrize("what", REFUSED)
def test_a_file_that_cannot_be_read_as_it_is_names_what_to_do(refused, tmp_path, table, what):
    write, said = REFUSED[what]
    write(table, tmp_path / "t.csv")
    assert said in refused("fit", tmp_path / "t.csv", *FIT)


def test_a_row_that_is_taken_for_the_header_is_not_repeated(refused, tmp_path):
    """Its cells stood in the message, as the names of columns: if too many lines are skipped, say."""
    path = tmp_path / "t.csv"
    path.write_text("age;job;buys\n31;a secret;no\n42;smith;yes\n")
    for options in (("--separator", ";", "--skip-lines", 1), ("--skip-lines", 1)):
        for command in (("fit", path, *FIT), ("schema", "draft", path, "--label", "buys")):
            said = refused(*command, *options)
            assert "secret" not in said
            assert "--skip-lines" in said


@pytest.mark.parametrize("name", ["t.csv.zip", "t.json", "t.docx", "t"])
def test_a_file_of_another_kind_is_to_be_saved_as_one_of_those_that_are_read(refused, tmp_path, name):
    (tmp_path / name).write_bytes(b"PK")
    said = refused("fit", tmp_path / name, *FIT)
    assert "must end in one of .csv" in said
    assert "save other tables as CSV or Parquet" in said


def test_numbers_with_a_decimal_comma_are_lost_with_a_hint(run, tmp_path, table):
    table.to_csv(tmp_path / "t.csv", index=False, sep=";", decimal=",")
    result = run("fit", tmp_path / "t.csv", *FIT, "--separator", ";")
    assert result.exit_code == 0
    assert "Nothing was discovered of 1 of 4 columns (lohn)" in result.stderr
    assert "numbers such as 1,5 need decimal= (--decimal)" in result.stderr


def _with_missing_labels(n=1500):
    """Bits, their labels of which some are missing in each way of files, and which rows have one."""
    x = np.random.default_rng(0).random((n, 4)) < 0.5
    y = np.where(x[:, 0], "ja", "nein").astype(object)
    for k, cell in enumerate(("", "NA", " ? ", "NULL")):
        y[np.arange(n) % 20 == k] = cell
    return x, y, np.arange(n) % 20 >= 4


def _write_vectors(path, x, y):
    table = pd.DataFrame(x.astype(int), columns=list("abcd")).assign(y=y)
    if path.suffix == ".npz":
        np.savez(path, X=x, y=y.astype(float if y.dtype == float else str))
    elif path.suffix == ".parquet":
        table.to_parquet(path)
    else:
        table.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_labels_of_vectors_are_missing_by_the_rule_of_frames(run, tmp_path, ending):
    x, y, _ = _with_missing_labels()
    path, out = _write_vectors(tmp_path / f"t.{ending}", x, y), tmp_path / "m.json"
    given = "--label", "y", "--epsilon", 5, "--bits"
    shown = run("fit", path, *given, "--model", "decision-list", "--seed", 1, "--out", out)
    assert shown.exit_code == 0, shown.stderr
    assert "labels ja, nein" in shown.stdout
    assert "1,500 rows" in shown.stdout
    assert "Rows without a label (an empty cell, NA, NULL or ?), if any, were left out." in shown.stderr
    assert dpfast.load(out).classes_.tolist() == ["ja", "nein"]
    told = json.loads(run("score", out, path, "--label", "y", "--epsilon", 50, "--json").stdout)
    assert told["figures"]["accuracy"]["value"] > 0.99
    assert told["figures"]["rows"]["value"] == pytest.approx(1200, abs=30)
    own = run("fit", path, *given, "--classes", "ja,nein,NA", "--model", "halfspace")
    assert "labels NA, ja, nein" in own.stdout


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet"])
def test_labels_that_are_numbers_stay_numbers_where_some_are_missing(run, tmp_path, ending):
    x, _, kept = _with_missing_labels()
    y = np.where(kept, x[:, 0].astype(float), np.nan)
    if ending == "csv":
        y = np.where(kept, x[:, 0].astype(int).astype(str), "NA").astype(object)
    path, out = _write_vectors(tmp_path / f"t.{ending}", x, y), tmp_path / "m.json"
    shown = run("fit", path, "--label", "y", "--epsilon", 5, "--model", "decision-list", "--bits", "--out", out)
    assert shown.exit_code == 0, shown.stderr
    assert dpfast.load(out).classes_.tolist() == [0, 1]


@pytest.mark.parametrize("ending", ["npz", "csv"])
def test_a_row_of_a_stream_of_vectors_without_a_label_is_predicted(run, tmp_path, ending):
    x, y, _ = _with_missing_labels()
    path = _write_vectors(tmp_path / f"t.{ending}", x, y)
    given = "--label", "y", "--classes", "ja,nein", "--epsilon", 20, "--step", 400
    shown = run("stream", path, *given)
    assert shown.exit_code == 0, shown.stderr
    assert len(shown.stdout.splitlines()) == 1500


def test_files_of_vectors_leave_rows_without_a_label_out_in_python(tmp_path):
    x, y, kept = _with_missing_labels()
    other = dpfast.DecisionListClassifier(5.0, schema="vectors", neighbors="add-remove", random_state=1)
    other.fit(x[kept], y[kept].astype(str))
    forms = [_write_vectors(tmp_path / f"t.{each}", x, y) for each in ("npz", "csv", "parquet")]
    rows = [dpfast.FileParts(each, label="y") for each in forms]
    texts = y.astype(str)
    for X, labels in [*((each, None) for each in rows), (x, texts), (x, texts[:, np.newaxis])]:
        model = dpfast.DecisionListClassifier(5.0, schema="vectors", neighbors="add-remove", random_state=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of a column of labels
            model.fit(X, labels)
        assert model.classes_.tolist() == ["ja", "nein"]
        assert str(model.rules_) == str(other.rules_)


def test_a_column_without_a_name_is_said_to_number_the_rows_perhaps(run, tmp_path, table):
    table.to_csv(tmp_path / "t.csv")
    result = run("fit", tmp_path / "t.csv", *FIT)
    assert result.exit_code == 0
    said = "A column that only numbers the rows, as an index does, is of no use: leave it out by --ignore 'column 1'"
    assert f"column 1 had no name. {said}" in result.stderr
    left = run("fit", tmp_path / "t.csv", *FIT, "--ignore", "column 1")
    assert left.exit_code == 0
    assert "had no name" not in left.stderr


def test_a_header_that_ends_in_a_tab_is_trimmed_in_the_table_and_in_the_schema(run, tmp_path, table):
    rows = table.rename(columns={"alter": "alter\t", "ort": " ort "})
    rows.to_csv(tmp_path / "t.csv", index=False)
    result = run("fit", tmp_path / "t.csv", *FIT, "--out", tmp_path / "m.json")
    assert result.exit_code == 0, result.stderr
    assert dpfast.load(tmp_path / "m.json").encoder_.schema_.names == ["alter", "lohn", "ort", "seit"]
    schema = dpfast.Schema([dpfast.tables.Numeric("alter\t", 0, 120)], label="kauft")
    schema.to_file(tmp_path / "s.json")
    given = "--schema", tmp_path / "s.json", "--classes", "ja,nein", "--epsilon", 3, "--seed", 1
    assert run("fit", tmp_path / "t.csv", *given, "--out", tmp_path / "n.json").exit_code == 0
    for model in ("m.json", "n.json"):
        assert len(run("predict", tmp_path / model, tmp_path / "t.csv").stdout.splitlines()) == N


def test_labels_with_line_breaks_and_commas_are_quoted_so_that_a_prediction_is_one_record(run, tmp_path, table):
    labels = np.where(table.kauft == "ja", "ja,\nklar", 'n"ein')
    table.assign(kauft=labels).to_csv(tmp_path / "t.csv", index=False)
    result = run("fit", tmp_path / "t.csv", *FIT, "--out", tmp_path / "m.json")
    assert result.exit_code == 0, result.stderr
    predicted = run("predict", tmp_path / "m.json", tmp_path / "t.csv")
    records = list(csv.reader(io.StringIO(predicted.stdout)))
    assert len(records) == N
    assert {each for (each,) in records} == {*labels}
    assert f"{N:,} rows read, {N:,} labels written" in predicted.stderr

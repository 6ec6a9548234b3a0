import csv
import io
import json
import tomllib

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast import Schema
from dpfast.tables import Boolean, Category, Label, Numeric

SCHEMA = Schema(
    [
        Numeric("age", 0, 120, edges=16, integer=True),
        Category("job", ["clerk", "smith"], nullable=True),
        Boolean("ill"),
    ],
    label=Label("buys", ["no", "yes"]),
    missing_values=["?"],
)


@pytest.fixture
def table(tmp_path, rng):
    """A CSV file in which the label is "yes" above 50."""
    n = 3000
    age = rng.integers(18, 91, n)
    rows = zip(
        rng.choice(["clerk", "smith", "baker", "?"], n),
        np.where(age > 50, "yes", "no"),
        age,
        rng.choice(["true", "false"], n),
        strict=True,
    )
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["job,buys,age,ill", *(",".join(map(str, row)) for row in rows)]) + "\n")
    return path


@pytest.fixture
def schema(tmp_path):
    SCHEMA.to_file(tmp_path / "people.toml")
    return tmp_path / "people.toml"


def test_a_table_with_a_schema_is_fitted_by_default_by_a_halfspace(run, table, schema, tmp_path):
    out = tmp_path / "model.json"
    result = run("fit", table, "--schema", schema, "--epsilon", 4, "--seed", 1, "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "people.csv: 3,000 rows, 3 columns, labels no, yes" in result.stdout
    assert "most for yes" in result.stdout
    assert "moves the score by" in result.stdout
    assert "test accuracy  0.9" in result.stdout
    assert "test AUC       " in result.stdout
    assert result.stdout.count("95% interval") == 3
    assert "found" not in result.stdout
    model = dpfast.load(out)
    assert isinstance(model, dpfast.HalfspaceClassifier)
    assert model.encoder_.schema_ == SCHEMA


@pytest.mark.parametrize("name", ["decision-list", "projected", "linear-learner"])
def test_other_models_read_it_too(run, table, schema, name):
    result = run("fit", table, "--schema", schema, "--epsilon", 4, "--seed", 1, "--model", name)
    assert result.exit_code == 0, result.stderr
    assert "age > " in result.stdout
    assert "test accuracy  0." in result.stdout


def test_what_the_schema_leaves_open_is_found(run, table, tmp_path):
    path = tmp_path / "open.json"
    Schema([Numeric("age", integer=True), Category("job")], label="buys", missing_values=["?"]).to_file(path)
    result = run("fit", table, "--schema", path, "--epsilon", 4, "--encoder-share", 0.25, "--seed", 1)
    assert result.exit_code == 2
    assert "is missing, and not declared nullable" in result.stderr
    assert "people.csv: line" in result.stderr
    columns = [Numeric("age", integer=True), Category("job", nullable=True)]
    Schema(columns, label="buys", missing_values=["?"]).to_file(path)
    result = run("fit", table, "--schema", path, "--epsilon", 4, "--encoder-share", 0.25, "--seed", 1)
    assert result.exit_code == 0, result.stderr
    assert "this covers the discovery of age, job" in result.stdout
    assert "(4.0, 1e-06)-DP" in result.stdout


def test_a_draft_beside_a_decimal_comma_writes_words_and_labels_as_the_file_does(run, tmp_path, rng):
    """Its classes were "1?0", which no row had, so that fit refused it; its values were words that no row had."""
    path, schema, out = tmp_path / "t.csv", tmp_path / "t.toml", tmp_path / "m.json"
    rows = ["x;version;dose;flag;day;y"]
    for k in range(600):
        cells = [
            f"{k / 7:.2f}".replace(".", ","),
            f"2.{k % 3}",
            f"{k % 4},5 Tropfen",
            f"{k % 2},0",
            f"0{k % 3 + 1}/02/2020",
        ]
        rows.append(";".join([*cells, f"{k % 5 // 2}.0"]))
    path.write_text("\n".join(rows))
    options = ("--separator", ";", "--decimal", ",", "--dates", "dmy")
    draft = run("schema", "draft", path, "--label", "y", *options)
    schema.write_text(draft.stdout.replace(".unconfirmed", ""))
    declared = Schema.from_file(schema)
    assert declared.label.classes == ("0.0", "1.0", "2.0")
    columns = {column.name: column for column in declared.columns}
    assert columns["version"].values == ("2.0", "2.1", "2.2")
    assert columns["dose"].values == ("0,5 Tropfen", "1,5 Tropfen", "2,5 Tropfen", "3,5 Tropfen")
    assert {name: columns[name].kind for name in ("x", "flag", "day")} == {
        "x": "numeric",
        "flag": "boolean",
        "day": "date",
    }
    assert run("schema", "check", path, schema, *options).exit_code == 0
    fit = run("fit", path, "--schema", schema, "--epsilon", 12, "--seed", 1, *options, "--out", out)
    assert fit.exit_code == 0, fit.stderr
    assert run("score", out, path, "--epsilon", 9, "--by", "version=2.1,2.2").exit_code == 0
    fit = run("fit", path, "--label", "y", "--epsilon", 12, "--seed", 1, *options, "--out", out)
    assert "version" in fit.stdout
    assert "?" not in "".join(dpfast.load(out).encoder_.schema_.columns[1].values)


def test_predictions_know_columns_by_their_names_and_may_have_probabilities(run, refused, table, schema, tmp_path):
    out = tmp_path / "model.json"
    run("fit", table, "--schema", schema, "--epsilon", 4, "--seed", 1, "--out", out)
    plain = run("predict", out, table).stdout.splitlines()
    other = tmp_path / "other.csv"
    rows = list(csv.DictReader(table.read_text().splitlines()))
    with other.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["ill", "more", "age", "job"], delimiter=";", restval="0", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    assert run("predict", out, other, "--separator", ";").stdout.splitlines() == plain
    result = list(csv.reader(io.StringIO(run("predict", out, table, "--probabilities").stdout)))
    assert result[0] == ["label", "no", "yes"]
    assert [row[0] for row in result[1:]] == plain
    shares = np.array([row[1:] for row in result[1:]], float)
    np.testing.assert_allclose(shares.sum(axis=1), 1, atol=1e-5)
    assert ((shares[:, 1] > 0.5) == (np.array(plain) == "yes")).all()
    other.write_text("ill,job\ntrue,clerk\n")
    assert "other.csv: the table lacks columns that the schema declares: 'age'" in refused("predict", out, other)
    assert "are for models without a schema" in refused("predict", out, table, "--threshold", 1)


def test_a_model_without_a_schema_takes_columns_in_any_order(run, trees, model, tmp_path):
    expected = run("predict", model, trees, "--label", "tree").stdout
    lines = [line.split(",") for line in trees.read_text().splitlines()]
    (tmp_path / "turned.csv").write_text("\n".join(",".join(line[2::-1]) for line in lines) + "\n")
    assert run("predict", model, tmp_path / "turned.csv").stdout == expected
    assert expected


def test_a_draft_is_refused_until_it_is_confirmed(run, refused, table, tmp_path):
    make_draft = run("schema", "draft", table, "--label", "buys")
    assert make_draft.exit_code == 0
    assert make_draft.stdout.startswith("# A draft from people.csv. It is private until every fact")
    assert Schema.from_dict(tomllib.loads(make_draft.stdout)).unconfirmed == [
        *("job.values", "job.kind", "age.low", "age.high", "age.integer", "age.kind", "ill.kind"),
        *("buys.classes", "missing_values", "ignore"),
    ]
    path = tmp_path / "draft.toml"
    path.write_text(make_draft.stdout)
    assert "unconfirmed draft: job.values, job.kind, age.low" in refused("fit", table, "--schema", path, "--epsilon", 1)
    result = run("schema", "check", table, path)
    assert result.exit_code == 1
    assert result.stdout.startswith(
        "job.values is not confirmed\njob.kind is not confirmed\nage.low is not confirmed\n"
    )
    assert result.stdout.endswith(
        "buys.classes is not confirmed\nmissing_values is not confirmed\nignore is not confirmed\n"
    )
    path.write_text(make_draft.stdout.replace(".unconfirmed", ""))
    result = run("schema", "check", table, path)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "The table is as declared.\n")
    assert run("fit", table, "--schema", path, "--epsilon", 4, "--seed", 1).exit_code == 0


def test_a_check_names_what_differs(run, schema, table):
    table.write_text("job,buys,age,more\nclerk,maybe,130,1\n")
    result = run("schema", "check", table, schema)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "column 'more' is in the table, and not in the schema",
        "column 'age' has 1 numbers above 120",
        "column 'ill' is in the schema, and not in the table",
        "column 'buys' has 1 values that are not declared: 'maybe'",
    ]
    assert result.stderr == "These lines are private.\n"


REFUSED = {
    "a column that is not there": ("age,ill", "old,ill", "the table lacks columns that the schema declares: 'age'"),
    "text among numbers": ("\n", "\nclerk,no,old,true\n", "line 2, column 'age' holds text where a number is declared"),
    "a label that is not declared": ("\n", "\nclerk,maybe,3,true\n", "line 2, column 'buys' has a label that is not"),
    "a missing value": ("\n", "\nclerk,no,?,true\n", "line 2, column 'age' is missing, and not declared nullable"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_table_that_is_not_as_declared_is_refused_before_anything_is_released(refused, table, schema, what):
    old, new, said = REFUSED[what]
    table.write_text(table.read_text().replace(old, new, 1))
    message = refused("fit", table, "--schema", schema, "--epsilon", 1)
    assert "people.csv" in message
    assert said in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threshold", 1], "are for tables without a schema"),
        (["--numbers"], "are for tables without a schema"),
        (["--label", "ill"], "--label ill is not the label of the schema, 'buys'"),
        (["--encoder-share", 1], "or lie in (0, 1), got 1.0"),
        (["--separator", ";;"], "the separator must be one character"),
    ],
)
def test_options_that_a_schema_rules_out_are_refused(refused, table, schema, options, said):
    assert said in refused("fit", table, "--schema", schema, "--epsilon", 1, *options)


def test_without_a_schema_all_is_discovered(run, refused, table, tmp_path):
    result = run("fit", table, "--epsilon", 4, "--label", "buys", "--seed", 1, "--out", tmp_path / "model.json")
    assert result.exit_code == 0, result.stderr
    assert "have other labels, which were learned as " in result.stderr
    assert run("predict", tmp_path / "model.json", table).exit_code == 0
    assert "say which column holds the labels (--label)" in refused("fit", table, "--epsilon", 1)
    said = refused("fit", table, "--epsilon", 1, "--label", "buys", "--model", "decision-list")
    assert "--schema discover reads text, dates and missing cells, too" in said
    Schema(SCHEMA.columns, missing_values=["?"]).to_file(tmp_path / "s.toml")
    said = refused("fit", table, "--schema", tmp_path / "s.toml", "--epsilon", 1)
    assert "say which column holds the labels (--label), or declare it" in said


def test_a_label_that_was_not_discovered_counts_as_a_wrong_prediction(run, tmp_path):
    path = tmp_path / "rare.csv"
    labels = ["common", "second", "common", "rare"]
    path.write_text("x,y\n" + "".join(f"{i % 3},{labels[i % 4]}{i if i % 4 == 3 else ''}\n" for i in range(4000)))
    result = run("fit", path, "--epsilon", 4, "--label", "y", "--seed", 1, "--json", "--show-private")
    assert result.exit_code == 0, result.stderr
    shown = json.loads(result.stdout)
    assert "common" in shown["labels"]
    assert shown["figures"]["accuracy"]["value"] < 0.7
    result = run("fit", path, "--epsilon", 4, "--label", "y", "--seed", 1, "--show-private")
    assert result.exit_code == 0, result.stderr
    assert "exactly (not private)" in result.stdout


def test_the_bundled_table_has_its_schema(run):
    result = run("fit", "adult", "--epsilon", 1, "--seed", 1)
    assert result.exit_code == 0, result.stderr
    assert "adult: 48,842 rows, 14 columns, labels <=50K, >50K" in result.stdout
    assert "test accuracy  0.862" in result.stdout


def test_a_folder_larger_than_memory_gives_the_same_model(run, table, schema, tmp_path):
    from pyarrow import csv, parquet

    rows = csv.read_csv(table)
    (tmp_path / "folder").mkdir()
    for k in range(3):
        parquet.write_table(rows.slice(1000 * k, 1000), tmp_path / "folder" / f"{k}.parquet", row_group_size=400)
    common = "--schema", schema, "--epsilon", 4, "--seed", 1, "--rounds", 5
    shown = [
        run("fit", tmp_path / "folder" / "*.parquet", *common, "--memory", memory).stdout
        for memory in ("1", "0", "1e-6")
    ]
    assert "*.parquet: 3,000 rows" in shown[0]
    assert shown[0] == shown[1] == shown[2]


def test_a_cluster_that_runs_already_learns_the_same_model(run, refused, table, schema, tmp_path, monkeypatch):
    distributed = pytest.importorskip("distributed")
    from pyarrow import csv, parquet

    whose = csv.read_csv(table).append_column("id", [np.arange(3000) % 1100])
    parquet.write_table(whose, tmp_path / "people.parquet", row_group_size=700)
    common = "fit", tmp_path / "people.parquet", "--schema", schema, "--epsilon", 4, "--seed", 1, "--rounds", 3
    for more, what in (
        (["--test-share", "0.2"], "must be 0"),
        (["--label", "age"], "is not the label of the schema"),
    ):
        assert what in refused(*common, "--scheduler", "tcp://nowhere:1", *more)
    assert "reads Parquet" in refused(
        "fit", table, "--schema", schema, "--epsilon", 4, "--scheduler", "tcp://nowhere:1"
    )
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(protocol="tcp", **options) as cluster:
        common += "--scheduler", cluster.scheduler_address
        there = run(*common, "--out", tmp_path / "there.json")
        persons = run(*common, "--unit", "id", "--rows-per-unit", 2, "--out", tmp_path / "persons.json")
    assert (there.exit_code, persons.exit_code) == (0, 0), (there.stderr, persons.stderr)
    assert "people.parquet: 3,000 rows, 3 columns" in there.stdout
    assert "replace one person with at most 2 rows" in persons.stdout
    for name, fit in (("there", {}), ("persons", {"units": "id", "rows_per_unit": 2})):
        here = dpfast.HalfspaceClassifier(4.0, n_rounds=3, schema=SCHEMA, random_state=1)
        here.fit(tmp_path / "people.parquet", **fit)
        assert dpfast.load(tmp_path / f"{name}.json")._saver.released() == here._saver.released()


def test_a_draft_reads_numbers_with_a_decimal_comma_and_leaves_text_with_commas(run, tmp_path):
    data, schema = tmp_path / "sales.csv", tmp_path / "sales.toml"
    lines = [f"{k},5;n/a;a,b;ja" if k % 3 else f"n/a;{k};c;nein" for k in range(200)]
    data.write_text("amount;whole;note;buys\n" + "\n".join(lines) + "\n")
    draft = run("schema", "draft", data, "--label", "buys", "--separator", ";", "--decimal", ",").stdout
    assert "low.unconfirmed = 1.5" in draft
    assert 'missing_values.unconfirmed = ["n/a"]' in draft
    assert '["a,b", "c"]' in draft
    schema.write_text(draft.replace(".unconfirmed", ""))
    options = ["--separator", ";", "--decimal", ","]
    assert run("schema", "check", data, schema, *options).exit_code == 0
    assert run("fit", data, "--schema", schema, "--epsilon", 5, *options).exit_code == 0


def test_a_draft_asks_whose_rows_they_are_and_a_fit_leaves_columns_out(run, refused, tmp_path, rng):
    n = 200
    table = pd.DataFrame({"patient": [f"P{k}" for k in range(n)], "number": rng.permutation(n) * 7 + 3})
    table["income"], table["name"] = np.exp(rng.normal(0, 4, n)), rng.choice(["a", "b"], n)
    table["ill"] = rng.choice(["no", "yes"], n)
    path = tmp_path / "people.csv"
    table.to_csv(path, index=False)
    said = run("schema", "draft", path, "--label", "ill").stderr
    for name in ("patient", "number"):
        assert f"column '{name}' is different in nearly every row" in said
    assert "--unit 'patient' --rows-per-unit 1" in said
    assert "the first of 32 equal bins: 'income'." in said
    out = tmp_path / "model.json"
    options = "--label", "ill", "--epsilon", 1, "--seed", 1, "--rounds", 2, "--ignore", "patient", "--ignore", "number"
    options = *options, "--classes", "no,yes"
    run("fit", path, *options, "--out", out)
    model = dpfast.load(out)
    assert model.encoder_.schema_.names == ["income", "name"]
    assert model.encoder_.schema_.ignore == ("patient", "number")
    schema = tmp_path / "s.toml"
    schema.write_text('[[columns]]\nname = "income"\nkind = "numeric"\nlow = 0\nhigh = 9\n')
    assert 'kind = "ignored" in the schema' in refused("fit", path, *options, "--schema", schema)

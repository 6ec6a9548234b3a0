import json
import re
from contextlib import suppress
from encodings.aliases import aliases

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast.base import saving
from dpfast.cli.files import read, settings_to_keep
from dpfast.persistence import check_facts
from dpfast.tables import Label, Numeric, Schema

FIT = ["--model", "decision-list", "--epsilon", "1"]


def test_predictions_are_one_a_line(run, trees, model, tmp_path):
    out = tmp_path / "predicted.csv"
    result = run("predict", model, trees, "--label", "tree")
    assert result.exit_code == 0
    assert run("predict", model, trees, "--label", "tree", "--out", out).stdout == ""
    assert out.read_text() == result.stdout
    loaded, table = dpfast.load(model), read(trees, label="tree", threshold=None)
    assert result.stdout.split() == loaded.predict(table.X).tolist()


def test_a_file_with_other_columns_is_refused_by_naming_them(refused, trees, model, tmp_path):
    other = tmp_path / "other.csv"

    def said(text):
        other.write_text(text)
        return refused("predict", model, other)

    assert "other.csv lacks features that" in said("wet,windy\n1,0\n")
    assert ": cold [C]" in said("wet,windy\n1,0\n")
    assert "does not know: green; --label leaves one out" in said("wet,cold [C],windy,green\n1,0,1,1\n")
    assert "column 'tree' holds another value; " in refused("predict", model, trees)
    assert "unless it is the label" in refused("predict", model, trees)


def test_a_file_without_names_must_have_the_models_width(run, refused, model, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n1 2:1\n")
    assert len(run("predict", model, path).stdout.split()) == 2
    np.savez(tmp_path / "rows.npz", X=np.eye(4))
    assert "rows.npz has 4 features, " in refused("predict", model, tmp_path / "rows.npz")


def test_a_model_with_a_threshold_applies_it_to_what_it_predicts(run, trees, tmp_path):
    model = tmp_path / "model.json"
    run("fit", trees, *FIT, "--label", "tree", "--threshold", 0.5, "--test-share", 0, "--out", model)
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("wet,cold [C],windy\n0.9,-3,0\n0.2,7,0\n")
    assert run("predict", model, numbers).stdout == "oak\nelm\n"


def test_a_model_file_that_will_not_do_is_refused(refused, model, trees, tmp_path):
    assert "no.json" in refused("predict", tmp_path / "no.json", trees)
    whole = model.read_text()
    model.write_text(whole[:100])
    assert "cut short" in refused("predict", model, trees)
    model.write_text(json.dumps({**json.loads(whole), "version": 99}))
    assert "newer" in refused("predict", model, trees)


def test_an_svmlight_file_is_fitted_and_predicted(run, tmp_path, rng):
    path, model = tmp_path / "t.svm", tmp_path / "m.json"
    path.write_text("".join(f"{'1 1:1' if bit else '-1'} 2:1\n" for bit in rng.integers(0, 2, 400)))
    assert "labels -1, 1" in run("fit", path, *FIT, "--test-share", 0, "--out", model).stdout
    assert run("predict", model, path).stdout.split() == [line.split()[0] for line in path.read_text().splitlines()]


def test_an_empty_cell_of_a_table_of_one_column_is_a_row(run, tmp_path, rng):
    x = np.arange(600) % 50
    (tmp_path / "t.csv").write_text("x,buys\n" + "".join(f"{v},{'yes' if v > 25 else 'no'}\n" for v in x))
    told = run("fit", tmp_path / "t.csv", "--label", "buys", "--epsilon", 4, "--seed", 1, "--out", tmp_path / "m.json")
    assert told.exit_code == 0, told.stderr
    (tmp_path / "new.csv").write_text("x\n1\n\n49\n\n\n3\n")
    predicted = run("predict", tmp_path / "m.json", tmp_path / "new.csv")
    assert predicted.exit_code == 0, predicted.stderr
    lines = predicted.stdout.splitlines()
    assert len(lines) == 6
    assert [lines[0], lines[2], lines[5]] == ["no", "yes", "no"]


def test_the_numbers_of_rows_and_of_labels_are_said(run, trees, model, tmp_path):
    n = len(trees.read_text().splitlines()) - 1
    out = tmp_path / "predicted.csv"
    assert run("predict", model, trees, "--label", "tree").stderr == f"{trees}: {n:,} rows read, {n:,} labels written\n"
    told = run("predict", model, trees, "--label", "tree", "--out", out).stderr
    assert told == f"{trees}: {n:,} rows read, {n:,} labels written to {out}\n"


def test_an_empty_cell_of_a_file_of_one_column_has_a_prediction(run, tmp_path):
    table, schema, model = (tmp_path / name for name in ("one.csv", "one.toml", "one.json"))
    table.write_text("age,y\n" + "1,a\n2,b\n" * 400)
    Schema([Numeric("age", 0, 3, nullable=True)], label=Label("y", ["a", "b"])).to_file(schema)
    assert run("fit", table, "--schema", schema, "--epsilon", 1, "--out", model).exit_code == 0
    table.write_text("age\n1\n\n2\n\n")
    result = run("predict", model, table)
    assert len(result.stdout.splitlines()) == 4
    assert "4 rows read, 4 labels written" in result.stderr


def test_a_table_in_the_place_of_a_model_is_named_as_one(refused, trees):
    for command in ("report", "show"):
        assert f"{trees.name} is not a dpfast model but a table, by its name" in refused(command, trees)


def test_the_file_of_a_budget_and_a_schema_are_no_models_and_what_shows_them_is_said(run, refused, tmp_path):
    assert run("budget", tmp_path / "b.budget", "--epsilon", 1, "--delta", 1e-5).exit_code == 0
    (tmp_path / "s.toml").write_text('[[columns]]\nname = "a"\nkind = "boolean"\n')
    for command in ("show", "report"):
        said = "b.budget is not a dpfast model but a budget: dpfast budget b.budget shows what is left of it"
        assert said in refused(command, tmp_path / "b.budget")
        assert "s.toml is not a dpfast model but a schema, by its name" in refused(command, tmp_path / "s.toml")


def test_numbers_that_another_decimal_mark_makes_words_are_warned_of(run, tmp_path, rng):
    table, model = tmp_path / "table.csv", tmp_path / "model.json"
    x = rng.uniform(0, 100, 2000)
    lines = [f"{value:.2f};{'yes' if value > 50 else 'no'}".replace(".", ",") for value in x]
    table.write_text("\n".join(["dose;y", *lines]) + "\n")
    text = ["--separator", ";", "--decimal", ","]
    fit = ["fit", table, *text, "--label", "y", "--classes", "no,yes", "--epsilon", 1, "--seed", 0, "--out", model]
    assert run(*fit).exit_code == 0
    said = "warning: no cell of dose is a number or a date as the model reads them"
    assert said not in run("predict", model, table).stderr
    assert said in run("predict", model, table, "--decimal", ".").stderr
    table.write_text("dose\n\n")  # few rows may all be missing
    assert said not in run("predict", model, table).stderr


TEXT = ["--separator", ";", "--decimal", ",", "--dates", "dmy", "--encoding", "latin-1"]


@pytest.fixture
def abroad(tmp_path, rng):
    """A file in Latin-1, with semicolons, decimal commas and days before months, and the same rows in another format.

    The label follows from dose, seen and town; without the settings of the fit, each of them is read as another value.
    """
    dose, month, town = rng.integers(0, 9999, 3000), rng.integers(1, 13, 3000), rng.choice(["Köln", "Graz"], 3000)
    rows = list(zip(dose.tolist(), month.tolist(), town.tolist(), strict=True))
    labels = ["yes" if d / 5000 + m / 6 + (t == "Köln") > 2.5 else "no" for d, m, t in rows]
    there, here = tmp_path / "abroad.csv", tmp_path / "here.csv"
    lines = [f"{d // 100},{d % 100:02};{m % 9 + 1:02}/{m:02}/2020;{t}" for d, m, t in rows]
    whole = [f"{line};{label}" for line, label in zip(lines, labels, strict=True)]
    there.write_text("\n".join(["dose;seen;town;y", *whole]) + "\n", encoding="latin-1")
    lines = [f"{d // 100}.{d % 100:02},2020-{m:02}-{m % 9 + 1:02},{t}" for d, m, t in rows]
    here.write_text("\n".join(["dose,seen,town", *lines]) + "\n", encoding="utf-8")
    return there, here


@pytest.fixture
def fit_abroad(run, abroad, tmp_path):
    path = tmp_path / "abroad.json"
    result = run("fit", abroad[0], *TEXT, "--label", "y", "--epsilon", 8, "--seed", 1, "--out", path)
    assert result.exit_code == 0, result.stderr
    return path


def test_text_is_read_as_the_fit_read_it(run, abroad, fit_abroad):
    there, _ = abroad
    expected = run("predict", fit_abroad, there, *TEXT)
    assert {*expected.stdout.split()} == {"no", "yes"}
    assert "note" not in expected.stderr  # nothing was taken from the model
    told = run("predict", fit_abroad, there)
    assert told.exit_code == 0, told.stderr
    assert told.stdout == expected.stdout
    said = f"note: {there} is read with --separator ';' --decimal , --dates dmy --encoding iso8859-1, as for the fit"
    assert said in told.stderr
    assert "read with --encoding iso8859-1, as" in run("predict", fit_abroad, there, *TEXT[:-2]).stderr
    score = ["--epsilon", 2, "--seed", 1]
    scored = run("score", fit_abroad, there, *score)
    assert scored.stdout == run("score", fit_abroad, there, *score, *TEXT).stdout
    assert float(re.search(r"accuracy +(\S+)", scored.stdout)[1]) > 0.8
    assert said in scored.stderr


def test_an_option_replaces_what_the_fit_declared(run, abroad, fit_abroad, tmp_path):
    there, here = abroad
    usual = ["--separator", ",", "--decimal", ".", "--encoding", "utf-8"]
    told = run("predict", fit_abroad, here, *usual)
    assert told.stdout == run("predict", fit_abroad, there).stdout
    assert "read with --dates dmy, as for the fit" in told.stderr
    pd.read_csv(here).to_parquet(tmp_path / "here.parquet")  # has no text to read
    told = run("predict", fit_abroad, tmp_path / "here.parquet")
    assert told.exit_code == 0, told.stderr
    assert "note" not in told.stderr


def test_a_model_keeps_only_declared_settings_of_text(run, abroad, fit_abroad, trees, model, tmp_path):
    settings = {"separator": ";", "decimal": ",", "dates": "dmy", "encoding": "iso8859-1"}
    assert dpfast.load(fit_abroad)._facts["text"] == settings
    assert "--separator ';' --decimal , --dates dmy --encoding iso8859-1" in run("show", fit_abroad).stdout
    dpfast.load(fit_abroad).save(tmp_path / "again.json")
    assert dpfast.load(tmp_path / "again.json")._facts["text"] == settings
    assert "text" not in dpfast.load(model)._facts
    said = [
        "--label",
        "tree",
        "--separator",
        ",",
        "--encoding",
        "UTF8",
        "--test-share",
        0,
        "--out",
        tmp_path / "m.json",
    ]
    assert run("fit", trees, *FIT, *said).exit_code == 0  # the defaults, given
    assert "text" not in dpfast.load(tmp_path / "m.json")._facts
    pd.read_csv(trees).to_parquet(tmp_path / "trees.parquet")
    command = ["fit", tmp_path / "trees.parquet", *FIT, "--label", "tree", "--test-share", 0, "--decimal", ","]
    assert run(*command, "--out", tmp_path / "m.json").exit_code == 0
    assert "text" not in dpfast.load(tmp_path / "m.json")._facts


@pytest.mark.parametrize("options", [["decision-list"], ["net", "--numbers"], ["boost", "--numbers"]])
def test_a_model_of_plain_rows_is_read_as_the_fit_was(run, trees, tmp_path, options):
    table, out = tmp_path / "semicolons.csv", tmp_path / "m.json"
    table.write_text(trees.read_text().replace(",", ";").replace("cold [C]", "kälte"), encoding="latin-1")
    text = ["--separator", ";", "--encoding", "latin1"]
    fit = ["fit", table, "--label", "tree", "--epsilon", 1, "--seed", 1, "--model", *options, *text, "--out", out]
    assert run(*fit).exit_code == 0
    told = run("predict", out, table, "--label", "tree")
    assert told.exit_code == 0, told.stderr
    assert told.stdout == run("predict", out, table, "--label", "tree", *text).stdout


def test_a_model_without_settings_of_text_is_read_by_default(run, refused, abroad, fit_abroad, tmp_path):
    document = json.loads(fit_abroad.read_text())
    del document["card"]["public"]["text"]  # a file of an earlier version
    del document["digest"]
    fit_abroad.write_text(json.dumps(document | {"digest": saving._digest(document)}))
    assert run("predict", fit_abroad, abroad[1]).exit_code == 0
    assert "give its encoding" in refused("predict", fit_abroad, abroad[0])
    assert run("predict", fit_abroad, abroad[0], *TEXT).exit_code == 0


def test_a_saved_encoding_that_is_none_is_an_error(run, abroad, fit_abroad):
    document = json.loads(fit_abroad.read_text())
    del document["digest"]
    for encoding in ("rot13", "zlib", "no-such-one"):
        document["card"]["public"]["text"]["encoding"] = encoding
        fit_abroad.write_text(json.dumps(document | {"digest": saving._digest(document)}))
        told = run("predict", fit_abroad, abroad[0])
        assert (told.exit_code, told.stdout) == (2, "")
        assert f"error: {abroad[0]}: " in told.stderr
        assert run("predict", fit_abroad, abroad[0], "--encoding", "latin-1").exit_code == 0


def test_the_name_of_every_encoding_can_be_kept(trees):
    for alias in {*aliases, *aliases.values(), "utf-8-sig", "ISO_8859-1:1987"}:
        with suppress(LookupError):  # of another platform
            kept = settings_to_keep(trees, encoding=alias)
            assert check_facts({"text": kept}) == {"text": kept}

import json

import numpy as np

import dpfast
from dpfast.cli.files import read
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
    assert "column 'tree' holds 'oak'; " in refused("predict", model, trees).replace("'elm'", "'oak'")
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


def test_numbers_that_another_decimal_mark_makes_words_are_warned_of(run, tmp_path, rng):
    table, model = tmp_path / "table.csv", tmp_path / "model.json"
    x = rng.uniform(0, 100, 2000)
    lines = [f"{value:.2f};{'yes' if value > 50 else 'no'}".replace(".", ",") for value in x]
    table.write_text("\n".join(["dose;y", *lines]) + "\n")
    text = ["--separator", ";", "--decimal", ","]
    fit = ["fit", table, *text, "--label", "y", "--classes", "no,yes", "--epsilon", 1, "--seed", 0, "--out", model]
    assert run(*fit).exit_code == 0
    said = "warning: no cell of dose is a number or a date as the model reads them"
    assert said not in run("predict", model, table, *text).stderr
    assert said in run("predict", model, table, "--separator", ";").stderr
    table.write_text("dose\n\n")  # few rows may all be missing
    assert said not in run("predict", model, table).stderr

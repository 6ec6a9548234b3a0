import json

import pytest

import dpfast
from dpfast.accounting import Budget
from dpfast.cli.fit import persons_of


@pytest.fixture
def file(tmp_path):
    return tmp_path / "patients.budget"


@pytest.fixture
def boost(trees):
    own = ["--model", "boost", "--bits", "--rounds", 3]
    return ["fit", trees, *own, "--epsilon", 1, "--classes", "elm,oak", "--label", "tree"]


def test_a_budget_is_made_charged_shown_and_kept(run, boost, file, tmp_path):
    assert "(3, 1e-06), replace, one row" in run("budget", file, "--epsilon", 3, "--delta", 1e-6).output
    for _ in range(2):
        saved = run(*boost, "--budget", file, "--test-share", 0, "--out", tmp_path / "model.json")
        assert saved.exit_code == 0
    told = run("budget", file).output
    assert told.count("BoostedHalfspaceClassifier") == 2
    assert "added up: gaussian" in told
    assert 1.4 < Budget.open(file).spent[0] < 1.5
    assert dpfast.load(tmp_path / "model.json").privacy_.epsilon == 1.0


def test_a_model_and_its_figures_are_charged_as_one_pair(run, refused, boost, file):
    run("budget", file, "--epsilon", 1.5, "--delta", 1e-5)
    assert run(*boost, "--budget", file).exit_code == 0
    assert Budget.open(file).charges == ((1.0, 1e-6),)
    assert Budget.open(file).composition == "basic"
    line = refused(*boost, "--budget", file)
    assert "does not fit" in line
    assert "nothing was charged" in line


def test_a_budget_that_will_not_do_is_refused_before_the_table_is_read(refused, file):
    fit = ["fit", "nowhere.csv", "--model", "net", "--epsilon", 1, "--budget", file]
    assert f"{file}: there is no such file; dpfast budget {file} --epsilon" in refused(*fit)
    Budget.open(file, epsilon=1)
    assert "stated for neighbors='replace'" in refused(*fit, "--neighbors", "add-remove")


def test_a_stream_charges_once(run, trees, file):
    run("budget", file, "--epsilon", 1, "--delta", 1e-5)
    run("stream", trees, "--epsilon", 1, "--classes", "elm,oak", "--label", "tree", "--budget", file)
    assert [note["model"] for note in Budget.open(file).notes()] == ["DPWinnowClassifier"]


@pytest.fixture
def visits(tmp_path, rng):
    """A CSV file of visits of patients, with its schema."""
    patient = rng.integers(0, 150, 900)
    dose = rng.integers(0, 10, 900)
    lines = [f"p{i},{d},{'ill' if d > 5 else 'well'}" for i, d in zip(patient, dose, strict=True)]
    table, schema = tmp_path / "visits.csv", tmp_path / "visits.toml"
    table.write_text("\n".join(["patient_id,dose,state", *lines]) + "\n")
    schema.write_text(
        '[label]\nname = "state"\nclasses = ["ill", "well"]\n\n'
        '[[columns]]\nname = "dose"\nkind = "numeric"\nlow = 0\nhigh = 10\nedges = 8\n'
    )
    return ["fit", table, "--schema", schema, "--epsilon", 2, "--rounds", 10]


def test_persons_are_protected_and_charged(run, refused, visits, file):
    run("budget", file, "--epsilon", 3, "--delta", 1e-5, "--unit", "person")
    persons = ["--unit", "patient_id", "--rows-per-unit", 3]
    told = run(*visits, *persons, "--budget", file)
    assert told.exit_code == 0, told.stderr
    assert "replace one person with at most 3 rows" in told.output
    assert "test accuracy" in told.output
    assert Budget.open(file).charges == ((2.0, 1e-6),)
    assert "protects one person and the charge one row" in refused(*visits, "--budget", file)
    assert "go together" in refused(*visits, "--unit", "patient_id")
    assert "is a column of the schema" in refused(*visits, "--unit", "dose", "--rows-per-unit", 3)
    assert "no column 'doctor'" in refused(*visits, "--unit", "doctor", "--rows-per-unit", 3)
    assert "needs the column of labels" in refused("fit", "mushroom", "--model", "net", "--epsilon", 1, *persons)


@pytest.mark.parametrize("model", ["decision-list", "net"])
def test_persons_are_protected_whatever_is_learned_where_no_column_is_declared(run, visits, model, tmp_path):
    persons = ["--unit", "patient_id", "--rows-per-unit", 3, "--seed", 1, "--out", tmp_path / "m.json"]
    told = run(
        "fit", visits[1], "--label", "state", "--classes", "well,ill", "--epsilon", 4, "--model", model, *persons
    )
    assert told.exit_code == 0, told.stderr
    assert "replace one person with at most 3 rows" in told.output
    assert "this covers the discovery of dose" in " ".join(told.output.split())


@pytest.mark.parametrize("entry", ["", "  "])
def test_a_row_of_nobody_is_refused_in_a_text_file(refused, visits, entry):
    with visits[1].open("a") as table:
        table.write(f"{entry},3,well\n")
    assert "column 'patient_id' is empty, and units= says whose each row is" in refused(
        *visits, "--unit", "patient_id", "--rows-per-unit", 3
    )


def test_persons_whose_names_differ_in_a_nul_are_two(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"who,a\np,1\np,2\np\0,3\nq,5\n")
    assert persons_of(str(tmp_path / "t.csv"), "who", 4).tolist() == [0, 0, 1, 2]


def test_a_row_of_nobody_is_refused_in_a_parquet_file(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pytest.importorskip("pyarrow").table({"patient_id": [1.0, float("nan"), float("nan")]})
    parquet.write_table(table, tmp_path / "visits.parquet")
    with pytest.raises(ValueError, match="row 2, column 'patient_id' is empty"):
        persons_of(str(tmp_path / "visits.parquet"), "patient_id", 3)


def test_a_card_says_what_was_claimed_paid_and_public(run, boost, tmp_path):
    path = tmp_path / "model.json"
    assert run(*boost, "--out", path, "--seed", 1).exit_code == 0
    told = run("show", path).output
    claim = "(1.0, 1e-06)-DP, replace one row"
    for text in ("BoostedHalfspaceClassifier", claim, "gaussian, mu = 0.2367", "3 of 3 rounds"):
        assert text in told
    assert "rows; labels declared" in told
    assert "digest " in told
    again = tmp_path / "again.json"
    dpfast.load(path).save(again)
    assert run("show", again).output == told


def test_a_halfspace_of_features_is_shown_to_its_end(run, trees):
    own = ["--model", "halfspace", "--bits", "--rounds", 5]
    told = run("fit", trees, *own, "--epsilon", 1, "--classes", "elm,oak", "--label", "tree")
    assert told.exit_code == 0
    assert "oak is the more probable class where the score is at least 0." in told.output


def test_charges_are_shown_in_full_at_80_columns(run, monkeypatch, file):
    monkeypatch.setenv("COLUMNS", "80")
    Budget.open(file, epsilon=3, delta=1e-5).charge(0.125, 1.5e-7)
    shown = run("budget", file).stdout
    assert "0.125" in shown
    assert "1.5e-07" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_a_budget_asks_for_a_delta_and_is_json_if_asked(run, refused, model, trees, tmp_path):
    file = tmp_path / "quarter.budget"
    assert "--delta" in refused("budget", file, "--epsilon", 3)
    assert not file.exists()
    assert run("budget", file, "--epsilon", 3, "--delta", 1e-6).exit_code == 0
    command = ["score", model, trees, "--label", "tree", "--epsilon", 1, "--budget", file]
    assert run(*command).exit_code == 0
    answer = json.loads(run("budget", file, "--json").stdout)
    assert answer["spent"] == {"epsilon": 1, "delta": 0}
    assert [(each["model"], each["epsilon"]) for each in answer["charges"]] == [("score", 1)]
    assert " score " in run("budget", file).stdout


def test_charges_are_readable_at_80_columns(run, boost, file, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    run("budget", file, "--epsilon", 3, "--delta", 1e-5)
    run(*boost, "--budget", file, "--test-share", 0)
    lines = run("budget", file).output.splitlines()
    assert {"epsilon", "delta", "what"} <= {*lines[0].split()}
    assert "part" not in lines[0]
    assert {"BoostedHalfspaceClassifier", "1e-06"} <= {*lines[1].split()}
    assert all(len(line) <= 80 and "…" not in line for line in lines)


def test_a_composed_budget_prints_what_a_reader_can_check(run, boost, file):
    run("budget", file, "--epsilon", 3, "--delta", 1e-5)
    assert run(*boost, "--budget", file, "--test-share", 0).exit_code == 0
    told = " ".join(run("budget", file).output.split())
    assert "spent epsilon 0." in told
    assert "of 3, by all charges at delta 1e-05" in told
    assert "left another fit of epsilon up to " in told
    assert "Costs compose to less than their sum" in told

"""What a fit decides for its user is said: in `notes_`, on standard error, on the page, in --json and in the file."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import dpfast
from dpfast.accounting import Budget
from dpfast.base.notes import MOST_NOTES, WITHOUT_LABEL, notes_of
from dpfast.cli import app
from dpfast.tables import Category, Numeric, Schema
from dpfast.tables.naming import suggests_person

LEARNERS = [
    dpfast.HalfspaceClassifier(random_state=0),
    dpfast.DecisionListClassifier(random_state=0),
    dpfast.DPWinnowClassifier(random_state=0),
    dpfast.BoostedHalfspaceClassifier(random_state=0),
]


@pytest.fixture(scope="module")
def table():
    g = np.random.default_rng(0)
    n = 3000
    age = g.integers(18, 90, n)
    columns = {"age": age, "job": g.choice(["clerk", "smith"], n), "free": g.integers(0, 10**9, n).astype(str)}
    return pd.DataFrame(columns | {"y": np.where(age + g.normal(0, 9, n) > 50, "yes", "no")})


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_each_undeclared_column_is_read_as_something_or_named_as_not_discovered(learner, table):
    model = learner.fit(table.drop(columns="y"), table.y)
    told = "\n".join(model.notes_)
    assert all(name in told for name in ("age", "job", "free"))
    assert "Read as words: job." in told
    lost = [name for name, share in model.encoder_.other_.items() if share == 1]
    if lost:
        assert f"Nothing was discovered of {len(lost)} of 3 columns ({', '.join(lost)})" in told
    assert re.search("discovered: no, yes. (About|At most) .* have other labels, which were learned as", told)
    assert len(model.notes_) <= MOST_NOTES


def test_vectors_and_labels_read_off_the_rows_are_noted(table):
    model = dpfast.HalfspaceClassifier(random_state=0, schema=None).fit(table[["age"]].to_numpy() / 90.0, table.y)
    if not hasattr(model, "encoder_"):
        assert any("read as vectors of numbers" in note for note in model.notes_)
        assert any("labels was read off the rows" in note for note in model.notes_)
    declared = dpfast.Schema([dpfast.tables.Numeric("age", 0, 100)], label="y")
    assert dpfast.HalfspaceClassifier(schema=declared, random_state=0).fit(table, classes=["no", "yes"]).notes_ == [
        WITHOUT_LABEL
    ]


def test_a_column_that_suggests_persons_is_said_once_unless_persons_are_protected(table):
    rows = table.drop(columns="y").assign(patient_id=np.arange(len(table)) // 2)
    model = dpfast.HalfspaceClassifier(random_state=0).fit(rows, table.y)
    (note,) = [note for note in model.notes_ if "protects rows, not persons" in note]
    assert "patient_id" in note
    assert "units=" in note
    model.fit(rows, table.y, units="patient_id", rows_per_unit=1)
    assert [note for note in model.notes_ if "person" in note] == [
        "At most 1 row of each person was used, chosen at random."
    ]


def test_names_of_columns_that_suggest_persons():
    yes = "patient_id patientId PassengerId customerID client user userid email account_number customer_name SSN"
    yes += " Patienten_Nr KundenNummer id_cliente persona e-mail E_Mail_Adresse Mobile_No phone_number full_name IMEI"
    yes += " licensePlate Kennzeichen Sozialversicherungsnummer"
    no = "age income job members students_total account_balance member_since name id place covid x1 bank_account"
    no += " phone phone_brand plate"
    assert [name for name in yes.split() if not suggests_person(name)] == []
    assert [name for name in [*no.split(), "", "1"] if suggests_person(name)] == []


@pytest.mark.parametrize(
    ("size", "said"),
    [
        (1e13, "may have numbers of more than 17,592,186,044,416 in size, which share one code"),
        (1e-9, "may have numbers nearer to 0 than 1e-06, which share one code"),
        (1e11, None),
        (1e-3, None),
        (0, None),
    ],
)
def test_numbers_that_are_too_large_or_too_small_for_codes_of_their_own_are_said(rng, size, said):
    frame = pd.DataFrame({"stamp": size * rng.uniform(2, 3, 3000), "age": rng.integers(20, 60, 3000)})
    model = dpfast.HalfspaceClassifier(3, random_state=0, n_rounds=2).fit(frame, np.arange(3000) % 2)
    notes = [note for note in model.notes_ if "share one code" in note]
    assert [said in note and note.startswith("stamp may") for note in notes] == [True] * (said is not None)


def test_a_second_column_of_the_labels_name_is_said(table):
    rows = table.assign(**{"y.1": table.y})
    model = dpfast.HalfspaceClassifier(random_state=0).fit(rows, "y")
    (note,) = [note for note in model.notes_ if "name of the label" in note]
    assert note.startswith("y.1 has the name of the label, 'y'. If it holds the same, the model only copies it")


def test_a_column_of_which_little_was_discovered_is_noted(table):
    model = dpfast.HalfspaceClassifier(random_state=0).fit(table.drop(columns="y"), table.y)
    assert not any(note.startswith("Most cells of") for note in notes_of(model))
    model.encoder_.other_["age"] = 0.75
    (note,) = [note for note in notes_of(model) if note.startswith("Most cells of")]
    assert note.startswith("Most cells of age (about 75% of the rows) hold nothing that was discovered")


def test_a_column_of_words_in_which_many_cells_hold_rare_words_or_numbers_is_noted(rng):
    n = 4000
    numbers = np.round(rng.random(n) * 9000, 2).astype(str)
    rows = {
        "x": np.where(rng.random(n) < 0.25, numbers, rng.choice(["low", "high"], n)),
        "words": rng.choice(["low", "high"], n),
    }
    y = np.where(rng.random(n) < 0.5, "no", "yes")
    model = dpfast.HalfspaceClassifier(epsilon=0.4, n_rounds=2, random_state=0).fit(rows, y)
    assert model.encoder_.schema_.columns[0].numbers is None
    (note,) = [note for note in model.notes_ if note.startswith("Many cells of")]
    assert note.startswith("Many cells of x (about ")
    assert "among words." in note


def test_dates_that_need_an_order_are_mentioned_only_where_words_were_not_discovered(table):
    rows = table.drop(columns="y").assign(free="w" + table.free)
    said = "without separators, and dates such as 01/05/2020 need dates= (--dates)"
    assert any(said in note for note in dpfast.HalfspaceClassifier(random_state=0).fit(rows, table.y).notes_)
    few = dpfast.HalfspaceClassifier(epsilon=0.1, random_state=0).fit(rows[:60], table.y[:60], classes=["no", "yes"])
    assert any("Nothing was discovered of 3 of 3" in note for note in few.notes_)
    assert not any(said in note for note in few.notes_)


def test_a_declared_column_of_which_nothing_was_discovered_is_noted():
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"job": [f"w{k}" for k in range(2000)], "age": rng.integers(0, 99, 2000), "pay": rng.random(2000)}
    )
    schema = Schema([Category("job"), Numeric("age"), Numeric("pay", 0, 1)])
    model = dpfast.HalfspaceClassifier(schema=schema, random_state=0).fit(rows, rows.age > 50, classes=[False, True])
    assert any("Nothing was discovered of 1 of 3 columns (job)" in note for note in model.notes_)


def test_notes_are_in_the_file_and_on_the_page(table, tmp_path):
    model = dpfast.HalfspaceClassifier(random_state=0).fit(table.drop(columns="y"), table.y)
    assert model.notes_
    model.save(tmp_path / "m.json")
    again = dpfast.load(tmp_path / "m.json")
    assert again.notes_ == model.notes_
    again.report(tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    assert "What the fit decided" in page
    assert all(f"<li>{note}</li>" in page for note in model.notes_)


def test_every_fit_of_the_command_line_prints_its_notes_in_at_most_ten_lines(table, tmp_path):
    from typer.testing import CliRunner

    from dpfast.cli import app

    table.rename(columns={"age": "patient_id"}).to_csv(tmp_path / "t.csv", index=False)
    for model in ("halfspace", "winnow", "decision-list"):
        asked = ["fit", tmp_path / "t.csv", "--label", "y", "--schema", "discover", "--model", model, "--epsilon", 1]
        result = CliRunner().invoke(app, [*map(str, asked), "--json"])
        assert result.exit_code == 0, result.stderr
        notes = json.loads(result.stdout)["notes"]
        assert [line.removeprefix("note: ") for line in result.stderr.splitlines() if "note: " in line] == notes
        assert any("protects rows, not persons" in note for note in notes)


def test_more_notes_than_ten_lines_are_counted(capsys):
    from types import SimpleNamespace

    from dpfast.cli.report import tell

    tell(SimpleNamespace(notes_=[f"a{k}\nb" for k in range(14)]))
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == MOST_NOTES
    assert lines[0] == "note: a0 b"
    assert lines[-1] == "note: and 5 more, on the page of the model"


def test_a_fit_that_found_little_of_its_columns_warns_and_says_it_once_on_the_command_line(table, tmp_path):
    rng = np.random.default_rng(1)
    rows = pd.DataFrame({f"x{j}": [f"u{k}-{j}" for k in range(300)] for j in range(3)} | {"a": rng.integers(0, 9, 300)})
    model = dpfast.HalfspaceClassifier(epsilon=0.3, random_state=0)
    with pytest.warns(dpfast.DiscoveryWarning, match=r"nothing was discovered of \d of 4 columns \(x0, x1, x2"):
        model.fit(rows, table.y[:300], classes=["no", "yes"])
    assert model.privacy_.epsilon == 0.3  # it follows from what was released
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dpfast.HalfspaceClassifier(random_state=0).fit(table.drop(columns="y"), table.y)
    rows.assign(y=table.y[:300]).to_csv(tmp_path / "t.csv", index=False)
    asked = ["fit", str(tmp_path / "t.csv"), "--label", "y", "--classes", "no,yes", "--epsilon", "0.3"]
    said = CliRunner().invoke(app, asked).stderr
    assert said.count("othing was discovered") == 1
    assert "note: Nothing was discovered of" in said


def test_a_column_without_words_has_no_text_behind_its_name():
    rng = np.random.default_rng(0)
    cells = [f"{x:.1f}" if rng.random() < 0.25 else f"u{k}" for k, x in enumerate(rng.uniform(0, 50, 2000))]
    model = dpfast.HalfspaceClassifier(epsilon=3.0, random_state=0).fit({"dose": cells}, rng.integers(0, 2, 2000))
    assert [column.name for column in model.encoder_.schema_.code_columns] == ["dose", "dose (other)"]
    words = [*cells[:1500], *["low", "high"] * 250]
    model.fit({"dose": words}, rng.integers(0, 2, 2000))
    assert [column.name for column in model.encoder_.schema_.code_columns] == ["dose", "dose (text)"]


def test_too_few_rows_for_two_labels_are_warned_of_by_fit_and_plan_before_anything_is_spent(table):
    budget = Budget(1.0, 1e-6)
    with pytest.raises(
        UserWarning, match=r"too few rows to discover labels \(100\): .* may spend its budget on no model"
    ):
        dpfast.HalfspaceClassifier(budget=budget).fit(table[:100].drop(columns="y"), table.y[:100])
    assert budget.spent == (0, 0)
    for rows, told in ((100, True), (3000, False)):
        asked = ["plan", "halfspace", "--columns", "3", "--epsilon", "1", "--n", str(rows)]
        said = " ".join(CliRunner().invoke(app, asked).stdout.split())
        assert (
            "too few rows to discover labels, of which a model needs two. Declare them by --classes" in said
        ) == told


def test_rules_whose_counts_may_be_noise_say_so(table):
    rows = pd.DataFrame({f"x{j}": [f"u{k}-{j}" for k in range(300)] for j in range(3)})
    model = dpfast.DecisionListClassifier(random_state=0).fit(rows, table.y[:300], classes=["no", "yes"])
    lines = str(model).splitlines()[: len(model.rules_)]
    for line, worth in zip(lines, model.rule_worth(), strict=True):
        margin = worth.support_interval[1] - worth.support
        assert line.endswith("within noise") == (worth.support <= 2 * margin)
        assert line.endswith("right") == (worth.support > 2 * margin)
    assert any(line.endswith("within noise") for line in lines)
    clear = dpfast.DecisionListClassifier(epsilon=5.0, random_state=0).fit(table.drop(columns="y"), table.y)
    assert " right" in str(clear)


def test_labels_that_may_mean_the_same_are_noted(table):
    spelled = np.where(table.y == "yes", np.where(np.arange(len(table)) % 2, "yes", "Yes"), "no")
    model = dpfast.HalfspaceClassifier(epsilon=3.0, random_state=0).fit(table.drop(columns="y"), spelled)
    (note,) = [each for each in model.notes_ if "are separate classes" in each]
    assert "Yes, yes" in note
    numbers = np.where(table.y == "yes", "1", np.where(np.arange(len(table)) % 2, "0", "0.0"))
    model.fit(table.drop(columns="y"), numbers)
    assert any("are separate classes: 0, 0.0" in each for each in model.notes_)
    assert not any("separate" in each for each in model.fit(table.drop(columns="y"), table.y).notes_)


def test_columns_that_are_said_to_be_used_without_a_clear_effect_do_move_scores(table, tmp_path):
    rng = np.random.default_rng(3)
    rows = table.drop(columns="y").assign(sex=rng.choice(["f", "m"], len(table)))
    model = dpfast.HalfspaceClassifier(random_state=0).fit(rows, table.y)
    line = next(each for each in str(model).splitlines() if each.startswith("used, with effects that are not clear"))
    assert "sex" in line
    flipped = rows.assign(sex=np.where(rows.sex == "f", "m", "f"))
    assert (model.decision_function(flipped) != model.decision_function(rows)).mean() > 0.9
    model.report(tmp_path / "m.html")
    page = (tmp_path / "m.html").read_text()
    assert "The model also uses these columns, whose effects are not clear of noise" in page
    assert "othing clear of noise" not in page + str(model)


def test_codes_with_leading_zeros_are_numbers_by_the_cell_alone_and_the_notes_say_so(tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(1000, 99_999, 4000)
    rows = pd.DataFrame({"zip": [f"{code:05d}" for code in codes], "age": rng.integers(18, 90, 4000)})
    y = np.where(codes > 40_000, "yes", "no")
    rows.assign(y=y).to_csv(tmp_path / "t.csv", index=False)
    said = "Codes such as 01234 are numbers there, too"
    for X, labels in ((rows, y), (dpfast.FileParts(tmp_path / "t.csv", label="y"), None)):
        model = dpfast.HalfspaceClassifier(2.0, random_state=0).fit(X, labels)
        (note,) = [note for note in model.notes_ if said in note]
        assert note.startswith("Read as numbers: zip, age.")
        assert note.endswith("Units do not count: 2 h and 45 min are 2 and 45.")
        padded = pd.DataFrame({"zip": ["01234", "1234", " 00001234"], "age": [30] * 3})
        assert len({*model.decision_function(padded).tolist()}) == 1
    assert model.score(rows, y) > 0.95
    numbers = dpfast.HalfspaceClassifier(2.0, random_state=0).fit(rows.assign(zip=codes), y)
    assert not any(said in note for note in numbers.notes_)


def test_codes_with_leading_zeros_are_names_where_a_schema_says_so():
    codes = np.resize(["0017", "17", "0018", "018"], 4000)
    y = np.isin(codes, ["17", "018"]).astype(int)
    schema = Schema([Category("code")])
    model = dpfast.HalfspaceClassifier(2.0, schema=schema, random_state=0).fit(pd.DataFrame({"code": codes}), y)
    assert model.score(pd.DataFrame({"code": codes}), y) > 0.99
    assert not any("Codes such as" in note for note in model.notes_)

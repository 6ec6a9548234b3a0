"""The card of a model, what people state about it, and what its table had spent."""

import json

import command_line
import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast import report
from dpfast.accounting import Budget
from dpfast.report import about
from dpfast.report.card import card

yaml = pytest.importorskip("yaml")


def run(*arguments):
    return command_line.run([str(each) for each in arguments])


@pytest.fixture
def patients(tmp_path, rng):
    """A CSV file of persons with rows, three outcomes and a rare one."""
    n = 5000
    age, ward = rng.integers(20, 90, n), rng.choice(["A", "B"], n, p=[0.95, 0.05])
    outcome = np.where(rng.random(n) < 0.02, "died", np.where(age > 60, "rehab", "home"))
    frame = pd.DataFrame({"age": age, "ward": ward, "person": rng.integers(0, 3000, n), "outcome": outcome})
    frame.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def test_a_draft_is_filled_in_and_what_is_left_empty_is_said_to_be_missing(tmp_path):
    path = tmp_path / "about.toml"
    path.write_text(about.template())
    assert about.read(path) == {}
    path.write_text(about.template().replace('purpose = ""', 'purpose = " who gets a bed "'))
    assert about.read(path) == {"purpose": "who gets a bed"}
    for text, words in (
        ("purpse = 'x'", "purpse"),
        ("purpose = 3", "a text"),
        (f"purpose = '{'x' * 5000}'", "4,000"),
        ("purpose =", "TOML"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            about.read(path)


def test_from_a_table_of_persons_to_a_page_with_groups_card_and_budget(patients, tmp_path):
    """In four commands."""
    ledger, out, stated = tmp_path / "b.budget", tmp_path / "m.json", tmp_path / "about.toml"
    assert run("budget", ledger, "--epsilon", 9, "--delta", 1e-5, "--unit", "person").exit_code == 0
    assert run("report", "--about-template", "--out", stated).exit_code == 0
    stated.write_text(stated.read_text().replace('owner = ""', 'owner = "ward | <b>A</b>"'))
    command = [
        "fit",
        patients,
        "--label",
        "outcome",
        "--classes",
        "died,home,rehab",
        "--epsilon",
        4,
        "--unit",
        "person",
        "--rows-per-unit",
        2,
    ]
    command += [
        "--by",
        "ward",
        "--sensitive",
        "ward,sex",
        "--about",
        stated,
        "--budget",
        ledger,
        "--out",
        out,
        "--json",
    ]
    result = run(*command)
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["about"] == {"owner": "ward | <b>A</b>"}
    assert answer["budget"]["count"] == 1
    assert run("report", out).exit_code == 0
    page = out.with_suffix(".html").read_text()
    for words in (
        "ward | &lt;b&gt;A&lt;/b&gt;",
        "<strong>Nobody has stated:</strong> purpose, users",
        "1 charge had been made when this model was paid for",
        "(4, 1e-06)-DP for one person, of at most (9, 1e-05)",
        "<h3>By ward</h3>",
        "<strong>sex</strong>: is no column of the model",
        "Protects persons",
    ):
        assert words in page
    assert run("report", out, "--card").exit_code == 0
    text = (tmp_path / "README.md").read_text()
    _, head, body = text.split("---\n", 2)
    known = yaml.safe_load(head)
    assert known["library_name"] == "dpfast"
    metric = known["model-index"][0]["results"][0]["metrics"][0]
    assert metric["value"] == pytest.approx(answer["figures"]["accuracy"]["value"], abs=1e-4)
    assert r"**Owner.** ward \| &lt;b&gt;A&lt;/b&gt;" in body
    assert "Nobody has stated: purpose" in body
    assert "| died |" in body
    assert "any other label" in body


def test_a_model_without_a_budget_is_told_alone_and_one_with_a_budget_in_all(rng):
    X, y = rng.integers(0, 2, (500, 3)), rng.integers(0, 2, 500)
    ledger = Budget(5.0, 1e-3)
    for epsilon in (1.0, 2.0):
        model = dpfast.DecisionListClassifier(epsilon, delta=0.0, budget=ledger, random_state=0).fit(X, y)
    found = model._facts["budget"]
    assert (found["spent epsilon"], found["count"], found["unit"]) == (*ledger.spent[:1], 2, "row")
    assert [each["epsilon"] for each in found["charges"]] == [1.0, 2.0]
    assert "2 charges had been made" in report.page(model)
    alone = dpfast.DecisionListClassifier(1.0, random_state=0).fit(X, y)
    assert "for this model alone" in report.page(alone)
    part = ledger.part("north")
    part.charge(0.5)
    assert part.statement()["count"] == 3
    assert ledger.as_pairs().statement()["count"] == 3
    assert ledger.part("south").statement()["count"] == 2


@pytest.mark.parametrize(
    "facts", [{"about": {"purpose": 3}}, {"about": {"x": "y"}}, {"budget": {"charges": 3}}, {"sensitive": [3]}]
)
def test_what_no_file_could_state_is_refused(rng, tmp_path, facts):
    X, y = rng.integers(0, 2, (200, 3)), rng.integers(0, 2, 200)
    model = dpfast.DecisionListClassifier(1.0, random_state=0).fit(X, y)
    model._facts |= facts
    model.save(tmp_path / "m.json")
    with pytest.raises(ValueError, match="damaged"):
        dpfast.load(tmp_path / "m.json")


def test_a_card_of_every_learner_has_metadata_that_is_read_and_no_figure_that_was_not_measured(rng):
    X, y = rng.integers(0, 2, (300, 3)), rng.choice(["a: b", "c\n- d"], 300)
    for make in (dpfast.DecisionListClassifier, dpfast.DPWinnowClassifier, dpfast.BoostedHalfspaceClassifier):
        text = card(make(1.0, random_state=0).fit(X, y, classes=["a: b", "c\n- d"]))
        known = yaml.safe_load(text.split("---\n", 2)[1])
        assert "model-index" not in known
        assert "was not measured" in text
        assert "for this model alone" in text

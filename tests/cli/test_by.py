"""`--by`: for whom a model works, by the values of columns, at the price of one more figure a column."""

import json

import numpy as np
import pytest

import dpfast
from dpfast.metrics.figure import Counter

HEAD = "age,ward,person,died"


@pytest.fixture
def patients(tmp_path, rng):
    """A CSV file of persons with rows, three outcomes, a rare one and one that nobody finds."""
    n = 6000
    age, ward = rng.integers(20, 90, n), rng.choice(["A", "B", "C"], n, p=[0.7, 0.28, 0.02])
    outcome = np.where(age > 60, "rehab", "home")
    outcome = np.where(rng.random(n) < 0.03, "died", outcome)
    outcome[:2] = "lost"
    person = rng.integers(0, 4000, n)
    rows = (",".join(map(str, row)) for row in zip(age, ward, person, outcome, strict=True))
    path = tmp_path / "patients.csv"
    path.write_text("\n".join([HEAD, *rows]) + "\n")
    return path


COMMAND = ("--label", "died", "--epsilon", 4, "--unit", "person", "--rows-per-unit", 2, "--seed", 1)


def test_groups_are_kept_with_the_model_and_printed(run, patients, tmp_path):
    out = tmp_path / "m.json"
    result = run("fit", patients, *COMMAND, "--by", "ward,age", "--out", out)
    assert result.exit_code == 0, result.stderr
    assert "by ward" in result.stdout
    records = dpfast.load(out).figures_["groups"]
    assert {each["column"] for each in records} == {"ward", "age"}
    accuracy = {
        each.get("group"): each for each in records if (each["column"], each["measure"]) == ("ward", "accuracy")
    }
    assert {"A", "B"} <= {*accuracy}
    assert None in accuracy
    assert accuracy["A"]["low"] <= 0.97 <= accuracy["A"]["high"] + 0.03
    result = run("score", out, patients, "--epsilon", 8, "--by", "ward", "--by", "person=1,2", "--seed", 2, "--json")
    assert result.exit_code == 0, result.stderr
    records = json.loads(result.stdout)["figures"]["groups"]
    assert {each["column"] for each in records} == {"ward", "person"}
    rows = {each.get("group"): each for each in records if (each["column"], each["measure"]) == ("ward", "rows")}
    assert rows["A"]["value"] == pytest.approx(0.7 * 6000, abs=150)


def test_a_column_costs_as_much_as_one_figure_and_all_together_what_was_asked(run, patients, tmp_path, monkeypatch):
    out, paid = tmp_path / "m.json", []
    assert run("fit", patients, *COMMAND, "--out", out).exit_code == 0

    def noted(counter, counts, of=Counter.release):
        paid.append(counter.privacy.epsilon)
        return of(counter, counts)

    monkeypatch.setattr(Counter, "release", noted)
    for by, number in (((), 3), (("--by", "ward"), 4), (("--by", "ward,age"), 5)):
        paid.clear()
        assert run("score", out, patients, "--epsilon", 6, *by).exit_code == 0
        assert paid == pytest.approx([6 / number / 2] * number)  # rows may lack a label: half, and rows come and go
    paid.clear()
    assert run("score", out, patients, "--epsilon", 6, "--neighbors", "add-remove", "--by", "ward").exit_code == 0
    assert paid == pytest.approx([1.5] * 4)


@pytest.mark.parametrize(
    ("by", "words"),
    [
        (("--by", "sex"), "the model has no such column"),
        (("--by", "sex=F,M"), "has no column 'sex'"),
        (("--by", "ward,ward"), "twice"),
        (("--by", "ward=A,A"), "each once"),
        (("--by", "ward", "--test-share", 0), "needs a --test-share"),
    ],
)
def test_groups_that_cannot_be_are_refused_before_anything_is_spent(run, refused, patients, tmp_path, by, words):
    ledger = tmp_path / "b"
    run("budget", ledger, "--epsilon", 9, "--delta", 1e-5, "--unit", "person")
    assert words in refused("fit", patients, *COMMAND, "--budget", ledger, *by)
    assert dpfast.accounting.Budget.open(ledger).spent[0] == 0


def test_a_table_by_class_has_all_rows_and_those_of_labels_that_were_not_found(run, patients, tmp_path):
    out = tmp_path / "m.json"
    assert run("fit", patients, *COMMAND, "--classes", "died,home,rehab,lost", "--out", out).exit_code == 0
    assert run("score", out, patients, "--epsilon", 1000, "--json").exit_code == 0
    for classes in ("home,rehab", None):
        path = tmp_path / "n.json"
        more = () if classes is None else ("--classes", "died,home,lost,rehab")
        assert run("fit", patients, *COMMAND, *more, "--out", path).exit_code == 0
        figures = json.loads(run("score", path, patients, "--epsilon", 1000, "--json").stdout)["figures"]
        rows = {each.get("label"): each["value"] for each in figures["classes"] if each["measure"] == "rows"}
        assert sum(rows.values()) == pytest.approx(6000, abs=2)
        assert figures["rows"]["value"] == pytest.approx(6000, abs=2)
        assert None in rows

import csv
import io

import numpy as np
import pandas as pd
import pytest

import dpfast


@pytest.fixture
def fitted(run, tmp_path, rng):
    n = 2000
    frame = pd.DataFrame({"age": rng.integers(20, 90, n), "job": rng.choice(["clerk", "smith"], n)})
    frame["buys"] = np.where((frame.age > 50) ^ (rng.random(n) < 0.1), "yes", "no")
    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "m.json"
    assert run("fit", tmp_path / "t.csv", "--label", "buys", "--epsilon", 4, "--seed", 1, "--out", out).exit_code == 0
    return out, tmp_path / "t.csv"


def test_a_table_of_rows_is_explained_in_lines_that_add_up(run, fitted, tmp_path):
    model, data = fitted
    result = run("explain", model, data)
    assert result.exit_code == 0, result.stderr
    head, *rows = csv.reader(io.StringIO(result.stdout))
    assert head == ["label", "score", "constant", "age", "job"]
    assert len(rows) == 2000
    for row in rows[:50]:
        score, *parts = map(float, row[1:])
        assert sum(parts) == pytest.approx(score, abs=1e-6)
        assert (row[0] == "yes") == (score >= 0)
    assert run("explain", model, data, "--out", tmp_path / "e.csv").exit_code == 0
    assert (tmp_path / "e.csv").read_text() == result.stdout


def test_one_row_is_a_picture(run, refused, fitted):
    model, data = fitted
    result = run("explain", model, data, "--row", 3)
    assert result.exit_code == 0, result.stderr
    assert "the score for yes is" in result.stdout
    found = dpfast.load(model).explain(pd.read_csv(data).iloc[[2]].drop(columns="buys"))
    assert f"{found.contributions[0, 0]:+.3f}" in result.stdout
    assert "2,000 rows" in refused("explain", model, data, "--row", 2001)


@pytest.mark.parametrize("more", [[], ["--conjunctions", 2]], ids=["rules", "pairs"])
def test_a_list_shows_the_rule_that_decides(run, fitted, tmp_path, more):
    _, data = fitted
    out = tmp_path / "list.json"
    command = ["fit", data, "--label", "buys", "--schema", "discover", "--epsilon", 4, "--seed", 1, "--out", out]
    assert run(*command, "--model", "decision-list", *more).exit_code == 0
    result = run("explain", out, data)
    assert result.exit_code == 0, result.stderr
    head, *rows = csv.reader(io.StringIO(result.stdout))
    assert head == ["label", "score", "rule", "condition"]
    model, frame = dpfast.load(out), pd.read_csv(data).drop(columns="buys")
    assert [row[0] for row in rows] == model.predict(frame).tolist()
    found = model.explain(frame)
    assert [int(row[2]) for row in rows] == (found.fired + 1).tolist()
    text = model.to_text().splitlines()
    for label, score, rule, condition in rows[:50]:
        line = text[int(rule) - 1]
        assert line.startswith("else  ") if condition == "everything else" else f" {condition} " in line
        assert f"then  {label}" in line or line.startswith(f"else  {label}")
        assert (float(score) >= 0) == (label == "yes")
    at = int(np.argmax(found.fired))
    shown = " ".join(run("explain", out, data, "--row", at + 1).stdout.split())
    assert f"predicted {rows[at][0]} by rule {rows[at][2]} of {len(found.conditions)}" in shown
    assert shown.count("does not hold") == found.fired[at]
    assert "holds, and decides" in shown
    assert (f"decides {model.rule_worth()[found.fired[at]].support:,} ±" in shown) != ("no more than noise" in shown)


def test_winnow_shows_contributions_and_a_finite_class_is_refused(run, refused, fitted, tmp_path):
    _, data = fitted
    out = tmp_path / "w.json"
    command = ["fit", data, "--label", "buys", "--schema", "discover", "--epsilon", 4, "--seed", 1, "--out", out]
    assert run(*command, "--model", "winnow").exit_code == 0
    head, *rows = csv.reader(io.StringIO(run("explain", out, data).stdout))
    assert head == ["label", "score", "constant", "age", "job"]
    for row in rows[:50]:
        score, *parts = map(float, row[1:])
        assert sum(parts) == pytest.approx(score, abs=1e-6)
    known = ["--seed", 1, "--out", out]
    frame = pd.read_csv(data).assign(age=lambda frame: (frame.age > 50).astype(int), job=0)
    frame.to_csv(tmp_path / "bits.csv", index=False)
    fit = ["fit", tmp_path / "bits.csv", "--label", "buys", "--classes", "no,yes", "--model", "finite-class"]
    result = run(*fit, "--epsilon", 4, *known)
    assert result.exit_code == 0, result.stderr
    assert "neither by a sum over columns nor by rules" in refused("explain", out, tmp_path / "bits.csv")

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


def test_a_list_is_refused(run, refused, fitted, tmp_path):
    _, data = fitted
    out = tmp_path / "list.json"
    command = ["fit", data, "--label", "buys", "--schema", "discover", "--epsilon", 4, "--out", out]
    assert run(*command, "--model", "decision-list").exit_code == 0
    assert "no sum over columns" in refused("explain", out, data)

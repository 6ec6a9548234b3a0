"""Labels that are numbers, asked for by --above."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame(rng):
    age = rng.integers(0, 90, 2000)
    price = np.round(age * 1000.0 + rng.normal(0, 4000, 2000), 2)
    return pd.DataFrame({"age": age, "rooms": rng.integers(1, 9, 2000), "price": price})


def test_the_command_learns_predicts_scores_and_drafts_above(frame, tmp_path, run):
    table, model = tmp_path / "t.csv", tmp_path / "m.json"
    frame.to_csv(table, index=False)
    fitted = run("fit", table, "--label", "price", "--above", "40000", "--epsilon", "2", "--out", model)
    assert "labels above 40000, at most 40000" in fitted.stdout
    lines = run("predict", model, table).stdout.split("\n")
    assert {*lines} == {"above 40000", "at most 40000", ""}
    scored = json.loads(run("score", model, table, "--epsilon", "2", "--json").stdout)
    assert scored["figures"]["accuracy"]["value"] > 0.9
    assert "above = [40000.0]" in run("schema", "draft", table, "--label", "price", "--above", "40000").stdout


def test_the_message_for_amounts_shows_the_option(frame, refused, tmp_path):
    frame.to_parquet(tmp_path / "t.parquet")
    assert "--above 50000" in refused("fit", tmp_path / "t.parquet", "--label", "price", "--epsilon", "1")
    assert "--above must be a number, or numbers as 10,20,30" in refused(
        "fit", tmp_path / "t.parquet", "--label", "price", "--epsilon", "1", "--above", "x"
    )

"""Scores of few rows: what they can show has all of epsilon, and no interval is without a width."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpfast
from dpfast import metrics
from dpfast.accounting import Budget
from dpfast.metrics.figure import Counter


@pytest.fixture
def model(tmp_path, rng):
    x = rng.random(6000)
    frame = pd.DataFrame({"x": x, "who": np.arange(6000) // 4, "y": np.where(x > 0.86, "ill", "well")})
    dpfast.HalfspaceClassifier(epsilon=2, random_state=0).fit(frame[["x"]], frame["y"]).save(tmp_path / "m.json")

    def write(n):
        frame[:n].to_csv(tmp_path / "t.csv", index=False)
        return tmp_path / "m.json", tmp_path / "t.csv", "--label", "y", "--epsilon", "1"

    return write


def figures_of(result):
    return json.loads(result.stdout)["figures"]


@pytest.mark.parametrize(
    ("n", "shown"),
    [(60, {"accuracy"}), (400, {"accuracy", "largest class"}), (5000, {"AUC", "accuracy", "largest class"})],
)
def test_few_rows_show_the_accuracy_and_many_the_area(run, model, n, shown):
    result = run("score", *model(n), "--json")
    assert {*figures_of(result)} & {"AUC", "accuracy", "largest class"} == shown
    assert ("left out" in run("score", *model(n)).stdout) == (n < 5000)


def test_only_accuracy_spends_all_of_epsilon_on_it(run, model):
    every, alone = (figures_of(run("score", *model(5000), "--json", *only)) for only in ((), ("--only", "accuracy")))
    assert {*alone} == {"test", "accuracy"}
    widths = [each["accuracy"]["high"] - each["accuracy"]["low"] for each in (every, alone)]
    assert widths[1] < widths[0]


def test_a_private_number_of_rows_decides_nothing(run, model):
    for n in (60, 5000):
        assert {"AUC", "accuracy", "largest class"} <= {
            *figures_of(run("score", *model(n), "--neighbors", "add-remove", "--json"))
        }


def test_a_score_protects_persons_as_a_fit_does(run, refused, model, tmp_path):
    result = run("score", *model(5000), "--unit", "who", "--rows-per-unit", "2", "--json")
    told = json.loads(result.stdout)
    assert told["claim"] == "(1, 0)-DP for these rows, replace one person of at most 2 rows that count"
    rows, plain = told["figures"], figures_of(run("score", *model(5000), "--json"))
    assert rows["rows"]["value"] < 3000 < plain["rows"]["value"]
    assert "--unit and --rows-per-unit go together" in refused("score", *model(50), "--unit", "who")
    Budget(2, neighbors="replace", unit="person")
    assert run("budget", tmp_path / "b.json", "--epsilon", "2", "--delta", "0", "--unit", "person").exit_code == 0
    paid = run("score", *model(5000), "--unit", "who", "--rows-per-unit", "2", "--budget", tmp_path / "b.json")
    assert paid.exit_code == 0
    assert "budget" in refused("score", *model(5000), "--budget", tmp_path / "b.json")


def test_an_interval_of_few_rows_has_a_width_and_holds_the_accuracy(monkeypatch):
    """By the exact law of the noisy count of 125 rows, from which an interval follows."""
    ends, far, rows = {}, 60, 125
    for count in range(-far, rows + far + 1):
        monkeypatch.setattr(Counter, "release", lambda counter, counts, count=count: count)
        found = metrics.accuracy(np.ones(rows), np.ones(rows), epsilon=0.5)
        assert found.low < found.high
        ends[count] = found.low, found.high
    noise = stats.dlaplace(0.5).pmf(np.arange(-far, far + 1))
    assert noise.sum() > 1 - 1e-12
    low, high = np.array([*ends.values()]).T
    for p in (0.5, 0.9, 0.99, 1.0):
        law = np.convolve(stats.binom.pmf(np.arange(rows + 1), rows, p), noise)
        assert law[(low <= p) & (p <= high)].sum() >= 0.95


@pytest.mark.parametrize("p", [0.5, 0.99, 1.0])
def test_an_interval_of_few_rows_whose_number_is_private_has_a_width_and_holds_the_accuracy(rng, p):
    held = 0
    for _ in range(400):
        good = rng.random(125) < p
        found = metrics.accuracy(np.ones(125), good.astype(float), epsilon=0.5, neighbors="add-remove")
        assert found.low < found.high
        held += found.low <= p <= found.high
    assert held >= 360  # fewer with a probability below 1e-4 if it is 95%


def test_rows_of_a_unit_are_bounded_and_their_noise_is_that_of_all(rng):
    y, units = rng.integers(0, 2, 4000), np.repeat(np.arange(400), 10)
    given = {"epsilon": 1, "units": units, "rows_per_unit": 3, "random_state": 0}
    figures = {
        "accuracy": metrics.accuracy(y, y, **given),
        "matrix": metrics.confusion_matrix(y, y, classes=[0, 1], **given),
        "area": metrics.roc(y, y * 0.5, **given).auc,
        "calibration": metrics.calibration(y, y * 0.5, **given),
        "classes": metrics.by_class(y, y, classes=[0, 1], **given),
        "groups": metrics.by_group(y, y, y, values=[0, 1], classes=[0, 1], probability=y * 0.5, **given),
    }
    for found in figures.values():
        assert (found.privacy.unit, found.privacy.rows_per_unit) == ("person", 3)
    assert abs(figures["matrix"].counts.sum() - 1200) < 200
    plain = metrics.confusion_matrix(y, y, classes=[0, 1], epsilon=1)
    assert figures["matrix"].deviation == pytest.approx(3 * plain.deviation, rel=0.02)
    with pytest.raises(ValueError, match="units= and rows_per_unit= go together"):
        metrics.accuracy(y, y, epsilon=1, units=units)
    with pytest.raises(ValueError, match="one entry a row, got lengths"):
        metrics.accuracy(y, y, epsilon=1, units=units[:-1], rows_per_unit=2)
    budget = Budget(3, neighbors="replace", unit="person")
    metrics.accuracy(y, y, budget=budget, **given)
    assert budget.spent[0] == 1


def test_the_text_of_a_figure_is_rounded_outwards(rng):
    figure = metrics.accuracy(np.ones(999), np.ones(999), epsilon=5, random_state=1)
    text = str(figure)
    low, high = (float(each) for each in (text.split("interval ")[1].split(" to ")[0], text.split(" to ")[1][:5]))
    assert low <= figure.low <= figure.high <= high

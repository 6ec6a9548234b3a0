import json
import re

import numpy as np
import pandas as pd
import pytest
from people import SCHEMA, people

import dpfast
from dpfast.accounting import Budget
from dpfast.cli.figures import figures
from dpfast.metrics.figure import Counter
from dpfast.tables.encoding import Encoding


@pytest.fixture
def uneven(tmp_path, rng):
    """A CSV file of which nothing is declared, in which a tenth of the labels is "yes"."""
    age = rng.integers(20, 60, 4000)
    rows = (f"{a},{'?' if i % 9 == 0 else 'Graz'},{'yes' if a < 24 else 'no'}" for i, a in enumerate(age))
    path = tmp_path / "people.csv"
    path.write_text("\n".join(["age,town,buys", *rows]) + "\n")
    return path


@pytest.fixture
def fitted(run, uneven, tmp_path):
    path = tmp_path / "uneven.json"
    result = run("fit", uneven, "--label", "buys", "--epsilon", 4, "--seed", 1, "--out", path)
    assert result.exit_code == 0, result.stderr
    return path


def test_a_model_of_a_raw_table_is_scored_beside_the_largest_class(run, uneven, fitted):
    result = run("score", fitted, uneven, "--epsilon", 2, "--seed", 1)
    assert result.exit_code == 0, result.stderr
    names = [line.split("  ")[0] for line in result.stdout.splitlines()]
    assert names == ["AUC", "accuracy", "largest class", "privacy"]  # AUC first: the classes are uneven
    accuracy = float(re.search(r"accuracy +(\S+)", result.stdout)[1])
    share = float(re.search(r"largest class +([.\d]+) \(95% interval [.\d]+ to [.\d]+\), no", result.stdout)[1])
    assert abs(share - 0.9) < 0.05
    assert accuracy > share - 0.05
    assert "(2, 0)-DP for these rows, replace one row; drawn with a seed: reproducible, not private" in result.stdout


def test_json_has_the_figures_as_numbers(run, uneven, fitted, tmp_path):
    result = run("score", fitted, uneven, "--epsilon", 2, "--seed", 1, "--json")
    assert result.exit_code == 0, result.stderr
    answer = json.loads(result.stdout)
    assert answer["figures"]["AUC"]["low"] <= answer["figures"]["AUC"]["value"] <= answer["figures"]["AUC"]["high"]
    assert answer["figures"]["largest class"]["label"] == "no"
    command = ["fit", uneven, "--label", "buys", "--epsilon", 4, "--seed", 1, "--json"]
    learned = json.loads(run(*command, "--out", tmp_path / "m.json").stdout)
    assert (learned["rows"], learned["labels"], learned["privacy"]["epsilon"]) == (4000, ["no", "yes"], 4)
    assert learned["figures"] == dpfast.load(tmp_path / "m.json").figures_
    assert "rows" not in json.loads(run(*command, "--neighbors", "add-remove").stdout)


def test_the_page_of_a_command_has_the_figures_and_the_name_of_the_label(run, trees, uneven, fitted, tmp_path):
    bits = tmp_path / "bits.json"
    assert (
        run("fit", trees, "--label", "tree", "--model", "decision-list", "--epsilon", 4, "--out", bits).exit_code == 0
    )
    for model, label in ((fitted, "buys"), (bits, "tree")):
        assert run("report", model).exit_code == 0
        page = model.with_suffix(".html").read_text()
        assert f"Predicts {label}: " in page
        assert "right predictions" in page
        assert "Whether its probabilities come true" in page


def test_a_model_of_bits_is_scored_with_the_accuracy_first_where_classes_are_even(run, trees, model):
    result = run("score", model, trees, "--label", "tree", "--epsilon", 4, "--seed", 1)
    assert result.exit_code == 0, result.stderr
    assert re.match(r"accuracy +(1.0|0.9)", result.stdout)
    assert "AUC" in result.stdout


def test_a_score_is_charged_once_and_refused_before_it_is_drawn(run, refused, trees, model, tmp_path):
    ledger = tmp_path / "budget"
    assert run("budget", ledger, "--epsilon", 1, "--delta", 0).exit_code == 0
    command = ["score", model, trees, "--label", "tree", "--epsilon", 0.7, "--budget", ledger]
    assert run(*command).exit_code == 0
    assert Budget.open(ledger).spent[0] == pytest.approx(0.7)
    assert "0.7" in refused(*command)
    assert Budget.open(ledger).spent[0] == pytest.approx(0.7)


def test_a_label_that_the_model_does_not_know_is_a_wrong_prediction(rng):
    X, y = np.eye(2, dtype=int).repeat(500, axis=0), np.repeat([0, 1], 500)
    fitted = dpfast.DecisionListClassifier(4, random_state=0).fit(X, y, classes=[0, 1])
    told = figures(fitted, X, np.where(np.arange(1000) % 2, y, 7), rng, epsilon=100)
    assert [each.name for each in told] == [
        *("accuracy", "largest class", "AUC", "reliability", "confusion", "rows", "classes")
    ]
    cells = {(each["of"], each["label"]): each["value"] for each in told[4].document}
    assert cells.keys() == {(of, label) for of in "01" for label in "01"}
    right = fitted.predict(X) == y
    for of in (0, 1):
        assert cells[str(of), str(of)] == pytest.approx((right & (y == of))[np.arange(1000) % 2 == 1].sum(), abs=3)
    assert told[5].document == {"value": 1000, "low": 1000.0, "high": 1000.0}
    assert told[0].document["value"] == pytest.approx(0.5, abs=0.01)
    assert told[1].document["value"] == pytest.approx(0.25, abs=0.01)
    for each in told[:3]:
        assert each.document["low"] <= each.document["value"] <= each.document["high"]


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_counts_by_prediction_are_paid_by_what_the_class_sizes_cost(rng, monkeypatch, relation):
    """They replace the sizes: three releases, each for a third of epsilon, and a row is in one cell of each."""
    X, y = np.eye(2, dtype=int).repeat(500, axis=0), np.repeat([0, 1], 500)
    model = dpfast.DecisionListClassifier(4, random_state=0).fit(X, y, classes=[0, 1])
    paid = []

    def noted(counter, counts, of=Counter.release):
        paid.append(counter.privacy.epsilon)
        return of(counter, counts)

    monkeypatch.setattr(Counter, "release", noted)
    told = figures(model, X, y, rng, epsilon=3, neighbors=relation)
    assert paid == pytest.approx([1.0, 1.0, 1.0])
    rows = told[-2].document
    assert (rows["low"] < rows["high"]) == (relation == "add-remove")
    assert rows["low"] <= rows["value"] <= rows["high"]


@pytest.mark.parametrize("relation", ["replace", "add-remove"])
def test_figures_of_rows_some_of_which_have_no_label_move_by_what_was_paid_for(monkeypatch, relation):
    table = people(60)
    model = dpfast.HalfspaceClassifier(4, random_state=0, schema=SCHEMA).fit(table)
    released = []

    def noted(counter, counts, of=Counter.release):
        released.append((np.asarray(counts, np.int64), float(counter._scale)))
        return of(counter, counts)

    def asked(labels, kept=None):
        released.clear()
        encoding = Encoding(SCHEMA, SCHEMA.label)
        encoding.add(table.assign(buys=labels) if kept is None else table.assign(buys=labels)[:kept])
        figures(model, encoding, None, np.random.default_rng(0), epsilon=3, neighbors=relation)
        return released.copy()

    monkeypatch.setattr(Counter, "release", noted)
    labels = table["buys"].to_numpy(object)
    gap = np.append(labels[:-1], [None])
    turned = np.append(labels[:-1], ["no" if labels[-1] == "yes" else "yes"])
    pairs = [(asked(labels), asked(labels, 59))]
    if relation == "replace":
        pairs = [(asked(one), asked(other)) for one, other in ((labels, gap), (gap, turned), (labels, turned))]
    for one, other in pairs:
        assert [scale for _, scale in one] == [scale for _, scale in other]
        cost = sum(np.abs(a - b).sum() / scale for (a, scale), (b, _) in zip(one, other, strict=True))
        assert cost <= 3 + 1e-9
    assert sum(np.abs(a - b).sum() / scale for (a, scale), (b, _) in zip(*pairs[-1], strict=True)) > 2.9


@pytest.mark.parametrize("kind", ["halfspace", "decision-list", "winnow", "boost", "projected", "finite-class"])
def test_a_file_in_which_labels_are_missing_is_fitted_and_scored_without_these_rows(run, tmp_path, kind):
    table = people(3000)
    gaps = np.resize(["", "NA", " ? ", "null"], 3000)
    table["buys"] = np.where(np.random.default_rng(1).random(3000) < 0.4, gaps, table["buys"])
    table.to_csv(tmp_path / "t.csv", index=False)
    command = ["fit", tmp_path / "t.csv", "--label", "buys", "--classes", "no,yes", "--epsilon", 4, "--seed", 2]
    result = run(*command, "--schema", "discover", "--model", kind, "--out", tmp_path / "m.json", "--json")
    assert result.exit_code == 0, result.stderr
    document = json.loads(result.stdout)
    assert document["rows"] == 3000
    assert document["labels"] == ["no", "yes"]
    assert any("without a label" in note for note in document["notes"])
    assert document["figures"]["accuracy"]["value"] > 0.65
    told = document["figures"]["rows"]
    assert told["low"] < told["high"]  # their number is private, and has noise
    assert told["value"] == pytest.approx(0.6 * 600, abs=100)
    scored = run("score", tmp_path / "m.json", tmp_path / "t.csv", "--epsilon", 4, "--seed", 2, "--json")
    assert scored.exit_code == 0, scored.stderr
    assert json.loads(scored.stdout)["figures"]["rows"]["value"] == pytest.approx(1800, abs=100)
    assert len(run("predict", tmp_path / "m.json", tmp_path / "t.csv").stdout.splitlines()) == 3000


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_class_that_marks_a_missing_label_elsewhere_is_scored(run, tmp_path, ending):
    x = np.random.default_rng(0).random(3000) < 0.5
    table = pd.DataFrame({"a": np.where(x, "u", "v"), "y": np.where(x, "NA", "EU")})
    table.loc[::10, "y"] = "?"
    path, model = tmp_path / f"t.{ending}", tmp_path / "m.json"
    table.to_csv(path, index=False) if ending == "csv" else table.to_parquet(path)
    fitted = run("fit", path, "--label", "y", "--classes", "NA,EU", "--epsilon", 5, "--out", model)
    assert fitted.exit_code == 0, fitted.stderr
    told = json.loads(run("score", model, path, "--label", "y", "--epsilon", 20, "--json").stdout)["figures"]
    assert told["rows"]["value"] == pytest.approx(2700, abs=30)
    assert told["largest class"]["value"] < 0.6
    assert told["AUC"]["value"] > 0.98

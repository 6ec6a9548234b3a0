import json
import warnings
from fractions import Fraction

import pytest

import dpfast
from dpfast import mechanisms, metrics
from dpfast.cli.figures import figures, figures_to_print
from dpfast.cli.models import MODELS

FIT = ["--model", "decision-list", "--epsilon", "1"]
WINNOW = ["--model", "winnow", "--epsilon", "1"]


def test_the_main_job_shows_rules_accuracy_and_privacy_and_no_time(run):
    result = run("fit", "mushroom", *FIT)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "mushroom: 8,124 rows, 126 features, labels edible, poisonous" in result.stdout
    assert "otherwise" in result.stdout
    assert "test accuracy  0." in result.stdout
    assert "95% interval" in result.stdout
    assert "noisy figures of the test part; they cost nothing more, as no row is" in result.stdout
    assert "(1.0, 1e-06)-DP, replace one row; " in result.stdout
    assert "s to learn" not in result.stdout
    assert "reproducible" not in result.stdout
    assert "not private" not in result.stdout


def test_a_seed_repeats_a_run_and_says_that_it_is_not_private(run, trees):
    def shown(*options):
        return run("fit", trees, *FIT, "--label", "tree", *options).stdout

    assert shown("--seed", 5) == shown("--seed", 5)
    assert "drawn with a seed: reproducible, not private" in shown("--seed", 5)


def test_private_figures_are_shown_only_when_asked_for(run, trees):
    command = ["fit", trees, *FIT, "--label", "tree", "--seed", 2]
    assert "not private" not in run(*command).stdout.replace("reproducible, not private", "")
    shown = run(*command, "--show-private").stdout
    assert "rows (not private)" in shown
    assert "right (not private)" in shown
    assert "exactly (not private)" in shown
    assert "s to read (not private)" in shown


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize(
    ("rule_counts", "shown"), [(0, ["accuracy", "confusion_matrix"]), (0.1, ["accuracy", "confusion_matrix", "roc"])]
)
def test_the_figures_of_the_test_part_cost_its_epsilon_together(rng, monkeypatch, neighbors, rule_counts, shown):
    X, y = rng.integers(0, 2, (4000, 2)), rng.integers(0, 2, 4000)
    paid = []

    def noted(name):
        figure = getattr(metrics, name)

        def spy(y_true, y_pred, **options):
            paid.append((name, options["epsilon"], options["neighbors"]))
            return figure(y_true, y_pred, **options)

        monkeypatch.setattr(metrics, name, spy)

    noted("accuracy")
    noted("confusion_matrix")
    noted("roc")
    fitted = dpfast.DecisionListClassifier(
        0.3, neighbors=neighbors, rule_counts=rule_counts, random_state=0, schema="vectors"
    ).fit(X, y)
    told = figures_to_print(figures(fitted, dpfast.BitMatrix(X), y, rng))
    assert [name for name, _, _ in paid] == shown
    assert sum(epsilon for _, epsilon, _ in paid) == Fraction("0.3")
    assert {relation for _, _, relation in paid} == {neighbors}
    assert all("95% interval" in each.text for each in told)
    assert [each.name for each in told] == ["accuracy", "largest class", "AUC"][: len(shown)]


def test_under_add_remove_the_number_of_rows_is_not_shown(run, trees):
    command = ["fit", trees, *FIT, "--label", "tree", "--neighbors", "add-remove"]
    result = run(*command)
    assert "trees.csv: 3 features" in result.stdout
    assert "600" not in result.stdout.replace(str(trees), "")
    assert "add or remove one row" in result.stdout
    assert "600 rows" in run(*command, "--show-private").stdout


def test_a_messy_file_is_refused_by_its_place(refused, trees, tmp_path):
    assert "say which column holds the labels (--label); the columns are wet, " in refused("fit", trees, *FIT)
    assert "no column 'three' to take labels from (is it 'tree'?); there is wet," in refused(
        "fit", trees, *FIT, "--label", "three"
    )
    messy = tmp_path / "messy.csv"
    messy.write_text("a,b,y\n1,0,u\n0,,v\n")
    assert "messy.csv: line 3, column 'b' is empty" in refused("fit", messy, *FIT, "--label", "y")


def test_a_table_with_one_label_is_refused_unless_others_are_declared(run, refused, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,y\n" + "1,5\n0,5\n" * 50)
    command = ["fit", path, *FIT, "--label", "y"]
    assert "all rows have the label 5" in refused(*command)
    assert run(*command, "--classes", "5,6").exit_code == 0
    assert "a row has a label that --classes 6,7 does not name" in refused(*command, "--classes", "6,7")


def test_the_type_of_declared_labels_does_not_depend_on_those_that_occur(run, tmp_path):
    path = tmp_path / "labels.csv"
    for labels in ("5,5", "5,six", "six,six"):
        path.write_text("a,y\n" + "".join(f"{k % 2},{labels.split(',')[k % 2]}\n" for k in range(100)))
        told = json.loads(run("fit", path, *FIT, "--label", "y", "--classes", "5,six", "--json").stdout)
        assert told["labels"] == ["5", "six"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--epsilon", "0"], "epsilon must be"),
        (["--epsilon", "nan"], "epsilon must be"),
        (["--delta", "1"], "delta must lie in [0, 1), got 1.0"),
        (["--coverage-weight", "2"], "coverage_weight must"),
        (["--max-rules", "many"], "--max-rules must be an integer of at least 1 or none or auto, got 'many'"),
        (["--max-rules", "0"], "max_rules must"),
        (["--conjunctions", "60"], "GB"),
        (["--test-share", "1"], "--test-share must be at least 0 and below 1"),
        (["--test-share", "1e-9"], "too few for a training and a test part"),
        (["--seed", "-1"], "a seed must be at least 0"),
        (["--accounting", "paper"], "coverage_weight=0"),
        (["--label", "class"], "leave out the label"),
        (["--out", "no/such/folder/m.json"], "cannot be written"),
    ],
)
def test_an_option_that_will_not_do_is_refused_before_anything_is_drawn(refused, monkeypatch, options, said):
    monkeypatch.setattr(mechanisms, "discrete_laplace", None)
    monkeypatch.setattr("dpfast.learners.lists.decision_list.greedy_cover", None)
    assert said in refused("fit", "mushroom", *FIT, *options)


def test_an_interrupted_run_says_what_state_things_are_in(run, trees, tmp_path, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    out = tmp_path / "model.json"
    command = ["fit", trees, *FIT, "--label", "tree", "--out", out]
    with monkeypatch.context() as patched:
        patched.setattr(dpfast.DecisionListClassifier, "fit", interrupt)
        result = run(*command)
    assert result.exit_code == 130
    assert result.stderr == "interrupted: learning had begun: count its budget as spent; no file was written\n"
    assert result.stdout == ""
    assert not out.exists()
    with monkeypatch.context() as patched:
        patched.setattr("dpfast.cli.fit.read", interrupt)
        result = run(*command)
    assert result.stderr == "interrupted: nothing was released and no file was written\n"
    monkeypatch.setitem(MODELS, "decision-list", MODELS["decision-list"]._replace(show=interrupt))
    result = run(*command)
    assert result.exit_code == 130
    assert "the model is released and its budget spent; the complete model is in" in result.stderr
    assert dpfast.load(out).rules_


@pytest.mark.parametrize("stop", [KeyboardInterrupt, ValueError("no label of this kind"), MemoryError("no room")])
def test_a_model_outlives_what_stops_its_figures(run, trees, tmp_path, monkeypatch, stop):
    def stopped(*_, **__):
        raise stop

    out = tmp_path / "model.json"
    monkeypatch.setattr("dpfast.cli.fit.figures", stopped)
    result = run("fit", trees, *FIT, "--label", "tree", "--out", out)
    assert result.exit_code == (130 if stop is KeyboardInterrupt else 2)
    assert f"the model is released and its budget spent; the complete model is in {out}" in result.stderr
    assert dpfast.load(out).rules_


def test_a_model_that_cannot_be_written_where_it_should_is_kept_elsewhere(run, trees, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = tmp_path / "models" / "model.json"
    out.parent.mkdir()
    real = dpfast.DecisionListClassifier.fit

    def fit(self, *args, **options):
        out.parent.rmdir()
        return real(self, *args, **options)

    monkeypatch.setattr(dpfast.DecisionListClassifier, "fit", fit)
    result = run("fit", trees, *FIT, "--label", "tree", "--out", out)
    assert result.exit_code == 0
    (kept,) = tmp_path.glob("dpfast-*/model.json")
    assert f"{out}: No such file or directory; what was paid for is in {kept}" in result.stderr
    assert "test accuracy" in result.stdout
    assert dpfast.load(kept).rules_


def test_winnow_shows_weights_accuracy_and_privacy(run):
    result = run("fit", "mushroom", *WINNOW)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "mushroom: 8,124 rows, 126 features, labels edible, poisonous" in result.stdout
    assert "poisonous if the sum is at least 0, else edible." in result.stdout
    assert "odor=" in result.stdout
    assert "test accuracy  0." in result.stdout
    assert "(1.0, 1e-06)-DP, replace one row; 21 of 21 releases used" in result.stdout
    assert "not private" not in result.stdout
    assert "exactly (not private)" in run("fit", "mushroom", *WINNOW, "--show-private").stdout


def test_a_warning_is_one_line_without_code(run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "".join(f"{k},{'no' if k % 2 else 'yes'}\n" for k in range(40)))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = run("fit", table, "--label", "y", "--epsilon", 1, "--seed", 1)
    assert result.exit_code == 2
    line, error = result.stderr.splitlines()
    assert error.startswith("error: no label of 'y' has enough rows to be discovered")
    assert line.startswith("warning: the table has too few rows to discover labels")


@pytest.mark.parametrize("options", [[], ["--model", "halfspace"], ["--model", "decision-list", "--threshold", "0.5"]])
def test_the_command_fits_whatever_the_number_of_rows_and_the_coins(options, tmp_path, run):
    path = tmp_path / "t.csv"
    for n in (0, 1, 2):
        path.write_text("a,b,y\n" + "".join(f"{k % 2},{k},{'np'[k % 2]}\n" for k in range(n)))
        for seed in range(4):
            fit = ["fit", path, "--label", "y", "--classes", "n,p", "--epsilon", 0.1, "--delta", "1e-6", "--json"]
            result = run(*fit, "--neighbors", "add-remove", "--seed", seed, *options, "--out", tmp_path / "m.json")
            assert result.exit_code == 0, result.stderr
            spent = json.loads(result.stdout)["privacy"]
            assert (spent["epsilon"], spent["delta"]) == (0.1, 1e-6)

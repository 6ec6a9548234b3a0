import inspect
import json
import math
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import dpfast
from dpfast import cli, mechanisms
from dpfast.accounting import batched_plan, cover_exponent, winnow_paper

FIT = ["--model", "decision-list", "--epsilon", "1"]
WINNOW = ["--model", "winnow", "--epsilon", "1"]


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments, stdin=None):
        return CliRunner().invoke(cli.app, [str(argument) for argument in arguments], input=stdin)

    return run


@pytest.fixture
def refused(run):
    """The line that a command says when it refuses."""

    def refused(*arguments, stdin=None):
        result = run(*arguments, stdin=stdin)
        assert result.exit_code == 2
        assert result.stdout == ""
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return refused


@pytest.fixture
def trees(tmp_path, rng):
    """A CSV file in which the label is "oak" where wet = 1."""
    X = rng.integers(0, 2, (600, 3))
    lines = [f"{a},{b},{c},{'oak' if a else 'elm'}" for a, b, c in X]
    path = tmp_path / "trees.csv"
    path.write_text("\n".join(["wet,cold [C],windy,tree", *lines]) + "\n")
    return path


@pytest.fixture
def model(run, trees, tmp_path):
    path = tmp_path / "model.json"
    assert run("fit", trees, *FIT, "--label", "tree", "--seed", 1, "--out", path).exit_code == 0
    return path


def test_the_main_job_shows_rules_accuracy_privacy_and_time(run):
    result = run("fit", "mushroom", *FIT)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "mushroom: 8,124 rows, 126 features, labels edible, poisonous" in result.stdout
    assert "otherwise" in result.stdout
    assert "test accuracy  0." in result.stdout
    assert "(noisy release, free by parallel composition)" in result.stdout
    assert "(1.0, 1e-06)-DP, replace one row; " in result.stdout
    assert "s to learn" in result.stdout
    assert "reproducible" not in result.stdout
    assert "not private" not in result.stdout


def test_the_installed_command_runs_in_a_narrow_pipe(tmp_path):
    command = Path(sys.executable).with_name("dpfast")
    command = str(command) if command.exists() else shutil.which("dpfast")
    result = subprocess.run(
        [command, "fit", "mushroom", *FIT, "--seed", "3", "--out", "m.json"],
        cwd=tmp_path,
        env={"COLUMNS": "40", "PATH": "", "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert result.stderr == ""
    assert max(map(len, result.stdout.splitlines())) <= 40
    assert "\x1b" not in result.stdout
    assert "…" not in result.stdout
    assert dpfast.load(tmp_path / "m.json").privacy_.reproducible


def test_a_rule_shows_names_as_they_are_written(run, trees):
    result = run("fit", trees, "--model", "decision-list", "--epsilon", 1e6, "--label", "tree", "--max-rules", "none")
    assert "wet" in result.stdout
    names = ["wet", "cold [C]", "windy"]
    X = dpfast.BitMatrix(np.eye(3), feature_names=names)
    fitted = dpfast.DecisionListClassifier(max_rules=None, coverage_weight=0, random_state=0).fit(X, [0, 1, 0])
    fitted.rules_.insert(0, dpfast.learners.decision_list.Rule((dpfast.learners.decision_list.Literal(1, True),), 1))
    with cli._output.capture() as shown:
        cli._print_rules(fitted, None)
    assert "not cold [C]" in shown.get()


def test_every_option_reaches_the_learner(run, trees, model, tmp_path):
    out = tmp_path / "other.json"
    options = "--delta 1e-5 --neighbors add-remove --coverage-weight 0 --max-rules 3 --conjunctions 2 --no-negations"
    options += " --threshold 0.5 --accounting paper --test-share 0 --classes ash,elm,oak"
    result = run("fit", trees, *FIT, "--label", "tree", *options.split(), "--out", out)
    assert result.exit_code == 0
    loaded = dpfast.load(out)
    expected = dpfast.DecisionListClassifier(
        delta=1e-5,
        neighbors="add-remove",
        coverage_weight=0,
        max_rules=3,
        conjunctions=2,
        negations=False,
        threshold=0.5,
        accounting="paper",
    )
    assert loaded.get_params() == expected.get_params()
    assert loaded.classes_.tolist() == ["ash", "elm", "oak"]
    assert "test accuracy" not in result.stdout
    assert dpfast.load(model).max_rules == 25


@pytest.mark.parametrize(
    ("command", "learner"),
    [
        (cli.fit, dpfast.DecisionListClassifier),
        (cli.fit, dpfast.DPWinnowClassifier),
        (cli.stream, dpfast.DPWinnowClassifier),
        (cli.plan_decision_list, dpfast.DecisionListClassifier),
    ],
)
def test_defaults_are_the_learners(command, learner):
    own = inspect.signature(learner).parameters
    for name, parameter in inspect.signature(command).parameters.items():
        name = {"updates": "n_updates", "draws": "n_draws"}.get(name, name)
        if name in own and parameter.default is not inspect.Parameter.empty:
            assert str(parameter.default) == str(own[name].default), name


def test_a_seed_repeats_a_run_and_says_that_it_is_not_private(run, trees):
    def shown(*options):
        return run("fit", trees, *FIT, "--label", "tree", *options).stdout.split("time")[0]

    assert shown("--seed", 5) == shown("--seed", 5)
    assert "drawn with a seed: reproducible, not private" in shown("--seed", 5)


def test_private_figures_are_shown_only_when_asked_for(run, trees):
    command = ["fit", trees, *FIT, "--label", "tree", "--seed", 2]
    assert "not private" not in run(*command).stdout.replace("reproducible, not private", "")
    shown = run(*command, "--show-private").stdout
    assert "rows (not private)" in shown
    assert "right (not private)" in shown
    assert "exactly (not private)" in shown


def test_counts_are_those_of_the_rows_that_a_rule_decides(rng):
    X, y = rng.integers(0, 2, (200, 5)), rng.integers(0, 3, 200)
    fitted = dpfast.DecisionListClassifier(conjunctions=2, random_state=4).fit(X, y)
    counts = cli._counts(fitted, dpfast.BitMatrix(X), y)
    assert sum(rows for rows, _ in counts) == 200
    assert sum(right for _, right in counts) == (fitted.predict(X) == y).sum()


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
def test_the_noisy_accuracy_releases_what_its_relation_allows(rng, monkeypatch, neighbors):
    X, y = rng.integers(0, 2, (400, 2)), rng.integers(0, 2, 400)
    fitted = dpfast.DecisionListClassifier(0.1, neighbors=neighbors, random_state=0).fit(X, y)
    right = int((fitted.predict(X) == y).sum())
    released = []

    def noisy(counts, scale, *, rng):
        released.append((np.asarray(counts).tolist(), scale))
        return counts - 20 if np.ndim(counts) == 0 else np.array([right - 20, 400 - right + 60])

    monkeypatch.setattr(mechanisms, "discrete_laplace", noisy)
    shown = cli._noisy_accuracy(fitted, dpfast.BitMatrix(X), y, rng)
    deviation = math.sqrt(2 * math.exp(-0.1)) / (1 - math.exp(-0.1))
    if neighbors == "replace":  # the size of the test part is public
        assert released == [(right, 10)]
        accuracy, total = (right - 20) / 400, 400
    else:  # it is not: what is divided by is a release too
        assert released == [([right, 400 - right], 10)]
        accuracy, total = (right - 20) / 440, 440
        deviation *= math.hypot(accuracy, 1 - accuracy)
    assert shown == f"{accuracy:.2f} ± {deviation / total:.2f}"


def test_the_noise_has_the_deviation_that_is_shown(rng):
    X, y = dpfast.BitMatrix(rng.integers(0, 2, (5000, 2))), rng.integers(0, 2, 5000)
    for neighbors in ("replace", "add-remove"):
        fitted = dpfast.DecisionListClassifier(0.01, neighbors=neighbors, random_state=0).fit(X, y)
        draws = [cli._noisy_accuracy(fitted, X, y, rng).split(" ± ") for _ in range(400)]
        accuracies, deviations = np.array(draws, float).T
        assert np.std(accuracies) == pytest.approx(np.median(deviations), rel=0.35)


def test_under_add_remove_the_number_of_rows_is_not_shown(run, trees):
    command = ["fit", trees, *FIT, "--label", "tree", "--neighbors", "add-remove"]
    result = run(*command)
    assert "trees.csv: 3 features" in result.stdout
    assert "600" not in result.stdout
    assert "add or remove one row" in result.stdout
    assert "600 rows" in run(*command, "--show-private").stdout


def test_an_accuracy_lost_in_noise_says_so(rng, monkeypatch):
    fitted = dpfast.DecisionListClassifier(neighbors="add-remove", random_state=0).fit(np.eye(2), [0, 1])
    monkeypatch.setattr(mechanisms, "discrete_laplace", lambda *_, **__: np.array([3, -5]))
    assert cli._noisy_accuracy(fitted, dpfast.BitMatrix(np.eye(2)), np.array([0, 1]), rng) == "lost in the noise"


def test_predictions_are_one_a_line(run, trees, model, tmp_path):
    out = tmp_path / "predicted.csv"
    result = run("predict", model, trees, "--label", "tree")
    assert result.exit_code == 0
    assert run("predict", model, trees, "--label", "tree", "--out", out).stdout == ""
    assert out.read_text() == result.stdout
    loaded, table = dpfast.load(model), cli._read(trees, label="tree", threshold=None)
    assert result.stdout.split() == loaded.predict(table.X).tolist()


def test_a_file_with_other_columns_is_refused_by_naming_them(refused, trees, model, tmp_path):
    other = tmp_path / "other.csv"

    def said(text):
        other.write_text(text)
        return refused("predict", model, other)

    assert "other.csv lacks features that" in said("wet,windy\n1,0\n")
    assert ": cold [C]" in said("wet,windy\n1,0\n")
    assert "does not know: green; --label leaves one out" in said("wet,cold [C],windy,green\n1,0,1,1\n")
    assert "in another order" in said("windy,wet,cold [C]\n1,0,1\n")
    assert "column 'tree' holds 'oak'; " in refused("predict", model, trees).replace("'elm'", "'oak'")
    assert "unless it is the label" in refused("predict", model, trees)


def test_a_file_without_names_must_have_the_models_width(run, refused, model, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:1\n1 2:1\n")
    assert len(run("predict", model, path).stdout.split()) == 2
    np.savez(tmp_path / "rows.npz", X=np.eye(4))
    assert "rows.npz has 4 features, " in refused("predict", model, tmp_path / "rows.npz")


def test_a_model_with_a_threshold_applies_it_to_what_it_predicts(run, trees, tmp_path):
    model = tmp_path / "model.json"
    run("fit", trees, *FIT, "--label", "tree", "--threshold", 0.5, "--test-share", 0, "--out", model)
    numbers = tmp_path / "numbers.csv"
    numbers.write_text("wet,cold [C],windy\n0.9,-3,0\n0.2,7,0\n")
    assert run("predict", model, numbers).stdout == "oak\nelm\n"


def test_a_model_file_that_will_not_do_is_refused(refused, model, trees, tmp_path):
    assert "no.json" in refused("predict", tmp_path / "no.json", trees)
    whole = model.read_text()
    model.write_text(whole[:100])
    assert "cut short" in refused("predict", model, trees)
    model.write_text(json.dumps({**json.loads(whole), "version": 99}))
    assert "newer" in refused("predict", model, trees)


def test_a_messy_file_is_refused_by_its_place(refused, trees, tmp_path):
    assert "say which column holds the labels (--label); there is wet, " in refused("fit", trees, *FIT)
    assert "no column 'three' to take labels from; there is wet," in refused("fit", trees, *FIT, "--label", "three")
    messy = tmp_path / "messy.csv"
    messy.write_text("a,b,y\n1,0,u\n0,,v\n")
    assert "messy.csv: line 3, column 'b' is empty" in refused("fit", messy, *FIT, "--label", "y")


def test_a_table_with_one_label_is_refused_unless_others_are_declared(run, refused, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("a,y\n" + "1,5\n0,5\n" * 50)
    command = ["fit", path, *FIT, "--label", "y"]
    assert "all rows have the label 5" in refused(*command)
    assert run(*command, "--classes", "5,6").exit_code == 0
    assert "label 5, which --classes 6,7 does not name" in refused(*command, "--classes", "6,7")
    assert "must be integers as the labels of" in refused(*command, "--classes", "5,six")


def test_an_svmlight_file_is_fitted_and_predicted(run, tmp_path, rng):
    path, model = tmp_path / "t.svm", tmp_path / "m.json"
    path.write_text("".join(f"{'1 1:1' if bit else '-1'} 2:1\n" for bit in rng.integers(0, 2, 400)))
    assert "labels -1, 1" in run("fit", path, *FIT, "--test-share", 0, "--out", model).stdout
    assert run("predict", model, path).stdout.split() == [line.split()[0] for line in path.read_text().splitlines()]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--epsilon", "0"], "epsilon must be"),
        (["--epsilon", "nan"], "epsilon must be"),
        (["--delta", "1"], "delta must be"),
        (["--coverage-weight", "2"], "coverage_weight must"),
        (["--max-rules", "many"], "--max-rules must be an integer of at least 1 or none, got 'many'"),
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
    monkeypatch.setattr("dpfast.learners.decision_list._greedy_cover", None)
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
    assert result.stderr == "interrupted: nothing was released and no file was written\n"
    assert result.stdout == ""
    assert not out.exists()
    monkeypatch.setattr(cli, "_print_rules", interrupt)
    result = run(*command)
    assert result.exit_code == 130
    assert "the model is released and its budget spent; it is whole in" in result.stderr
    assert dpfast.load(out).rules_


def test_a_plan_shows_both_exponents_and_whether_n_suffices(run):
    result = run("plan", "decision-list", "--n", 2_000_000, "--features", 252, "--epsilon", 1)
    assert result.exit_code == 0
    assert "0.01632" in result.stdout
    assert "0.08476" in result.stdout
    assert "2.3 times too few" in result.stdout
    assert "enough" in result.stdout
    assert f"{cover_exponent(1, 1e-6, coverage_weight=0.5):.5f}" in result.stdout


def test_the_plan_is_the_papers_theorem_with_the_papers_constants():
    m, alpha, beta, epsilon, delta = 40, 0.05, 0.01, 0.7, 1e-5
    eps_hat = epsilon / (2 * (math.log(1 / delta) + 1.5))
    theorem = 8 * m * math.log(2 * m / math.sqrt(beta)) / (eps_hat * alpha)
    exponent = cover_exponent(epsilon, delta, accounting="paper")
    assert cli._rows_for_privacy(m, alpha, beta, exponent) == pytest.approx(theorem, rel=1e-9)
    statistics = 64 / alpha * ((m + 1) * math.log(64 / alpha) + math.log(16 / beta))
    assert cli._rows_to_generalise(m, alpha, beta) == pytest.approx(statistics, rel=1e-12)


def test_the_error_of_a_plan_is_the_one_its_rows_are_asked_for():
    for alpha in (0.1, 0.02):
        rows = max(cli._rows_to_generalise(30, alpha, 0.1), cli._rows_for_privacy(30, alpha, 0.1, 0.05))
        assert float(cli._error_at(math.ceil(rows), 30, 0.1, 0.05)) == pytest.approx(alpha, rel=0.01)
    assert cli._error_at(100, 30, 0.1, 0.05) == "none"


def test_a_plan_refuses_what_no_theorem_covers(refused):
    command = ["plan", "decision-list", "--n", 100, "--features", 10, "--epsilon", 1]
    assert "--alpha must lie in (0, 1), got 1.5" in refused(*command, "--alpha", 1.5)
    assert "--beta must lie in (0, 1), got 0.0" in refused(*command, "--beta", 0)
    assert "delta must be" in refused(*command, "--delta", 0)
    assert "coverage_weight must" in refused(*command, "--coverage-weight", -1)


def test_winnow_shows_weights_accuracy_and_privacy(run):
    result = run("fit", "mushroom", *WINNOW)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "mushroom: 8,124 rows, 126 features, labels edible, poisonous" in result.stdout
    assert "poisonous if the sum is at least 0, else edible." in result.stdout
    assert "odor=" in result.stdout
    assert "test accuracy  0." in result.stdout
    assert "(1.0, 1e-06)-DP, replace one row; 20 of 20 releases used" in result.stdout
    assert "not private" not in result.stdout
    assert "exactly (not private)" in run("fit", "mushroom", *WINNOW, "--show-private").stdout


def test_a_weight_is_shown_with_its_feature_and_the_label_it_speaks_for():
    X = dpfast.BitMatrix(np.eye(3), feature_names=["wet", "cold [C]", "windy"])
    fitted = dpfast.DPWinnowClassifier(n_updates=2, random_state=0).fit(X, ["oak", "elm", "oak"])
    fitted.released_weights_ = [(np.array([0, 1, 3]), np.array([-9, 5, 2])), (np.array([0, 1]), np.array([-9, 5]))]
    with cli._output.capture() as shown:
        cli._print_weights(fitted, cli._output, most=2)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.get().splitlines() if "│" in line]
    assert rows == [["wet", "-0.900", "elm"], ["cold [C]", "+0.500", "oak"]]
    assert "1 more have weights of at most 0.100." in shown.get()


def test_winnow_options_reach_the_learner_and_a_saved_model_predicts(run, refused, tmp_path, rng):
    X = rng.normal(size=(3000, 4))
    data, model = tmp_path / "t.csv", tmp_path / "m.json"
    data.write_text("a,b,c,d,y\n" + "".join(f"{','.join(map(str, x))},{int(x[1] > 0.5)}\n" for x in X))
    options = "--delta 1e-5 --updates 5 --draws 7 --no-negations --threshold 0.5 --label y --test-share 0"
    result = run("fit", data, "--model", "winnow", "--epsilon", 3, *options.split(), "--out", model)
    assert result.exit_code == 0
    expected = dpfast.DPWinnowClassifier(3.0, 1e-5, n_updates=5, n_draws=7, negations=False, feature_range=[-1, 1])
    assert dpfast.load(model).get_params() == expected.get_params()
    predicted = run("predict", model, data, "--label", "y", "--threshold", 0.5).stdout.split()
    assert np.mean(np.array(predicted) == (X[:, 1] > 0.5).astype(int).astype(str)) > 0.9
    assert "finite numbers with a threshold" in refused("predict", model, data, "--label", "y")


def test_an_option_of_another_model_is_refused(refused, model, trees):
    assert "--max-rules is for --model decision-list, not for winnow" in refused(
        "fit", "mushroom", *WINNOW, "--max-rules", 25
    )
    assert "--accounting is for" in refused("fit", "mushroom", *WINNOW, "--accounting", "curve")
    assert "--draws is for --model winnow, not for decision-list" in refused("fit", "mushroom", *FIT, "--draws", 10)
    assert "--threshold is for models that do not know it" in refused("predict", model, trees, "--threshold", 1)


STREAM = ["--label", "tree", "--classes", "oak,elm", "--epsilon", "1", "--step", "500"]


@pytest.fixture
def forest(tmp_path, rng):
    """A CSV file of 6,000 rows in which the label is "oak" where two of three features are 1."""
    X = rng.integers(0, 2, (6000, 5))
    lines = [",".join(map(str, x)) + (",oak" if x[:3].sum() > 1 else ",elm") for x in X]
    path = tmp_path / "forest.csv"
    path.write_text("\n".join(["a,b,c,d,e,tree", *lines]) + "\n")
    return path


def part(path, start, stop):
    header, *lines = path.read_text().splitlines()
    return "\n".join([header, *lines[start:stop]]) + "\n"


def test_a_stream_writes_what_the_learner_predicted_before_each_label(run, forest, tmp_path):
    out = tmp_path / "model.json"
    result = run("stream", forest, *STREAM, "--seed", 3, "--out", out)
    assert result.exit_code == 0
    table = cli._read(forest, label="tree")
    learner, expected = dpfast.DPWinnowClassifier(random_state=3), []
    for i in range(0, 6000, 500):
        expected += learner.stream(table.X[i : i + 500], table.y[i : i + 500], classes=["oak", "elm"]).tolist()
    assert result.stdout.split() == expected
    assert learner.updates_ > 0
    assert str(learner.privacy_) in result.stderr
    assert "6,000" in result.stderr
    assert "oak if the sum is at least 0, else elm." in result.stderr
    assert "mistakes" not in result.stderr
    assert (dpfast.load(out).predict(table.X) == learner.predict(table.X)).all()
    assert dpfast.load(out).feature_names_in_.tolist() == list("abcde")


def test_standard_input_gives_the_same_stream_as_a_file(run, forest, tmp_path):
    by_file = run("stream", forest, *STREAM, "--seed", 3)
    piped = run("stream", "-", *STREAM, "--seed", 3, stdin="\ufeff" + forest.read_text().replace("\n", "\n\n", 3))
    assert piped.exit_code == 0
    assert piped.stdout == by_file.stdout
    assert piped.stderr == by_file.stderr
    table = cli._read(forest, label="tree")
    np.savez(tmp_path / "t.npz", X=table.X.toarray(), y=table.y)
    options = [*STREAM[2:], "--seed", 3]
    assert run("stream", tmp_path / "t.npz", *options).stdout == by_file.stdout


def test_mistakes_are_shown_only_when_asked_for_and_predictions_unless_quiet(run, forest):
    shown = run("stream", forest, *STREAM, "--seed", 3)
    result = run("stream", forest, *STREAM, "--seed", 3, "--show-private", "--quiet")
    assert result.stdout == ""
    labels = [line.split(",")[-1] for line in forest.read_text().splitlines()[1:]]
    mistakes = sum(map(str.__ne__, shown.stdout.split(), labels))
    assert f"{mistakes:,} in 6,000 rows (not private)" in result.stderr
    assert "not private)" not in shown.stderr


def test_a_stream_goes_on_where_its_checkpoint_ends(run, refused, forest, tmp_path):
    kept = ["--checkpoint", tmp_path / "c", *STREAM]
    first = run("stream", "-", *kept, stdin=part(forest, 0, 2000))
    assert "c: private, keep it from others" in first.stderr
    again = run("stream", forest, *kept)  # from the beginning: what was used is left out
    assert len(first.stdout.split()) == 2000
    assert len(again.stdout.split()) == 4000
    assert "6,000, of which 4,000 now" in again.stderr
    new = run("stream", "-", *kept, "--new-rows", stdin=part(forest, 0, 700))
    assert len(new.stdout.split()) == 700
    assert "6,700, of which 700 now" in new.stderr
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 6700
    few = run("stream", forest, *kept)
    assert few.exit_code == 2
    assert "6,700 rows were to be left out, there are 6,000; see --new-rows" in few.stderr
    assert "begun with epsilon=1.0, this command says 2.0" in refused("stream", forest, *kept, "--epsilon", 2)
    assert "begun with classes=" in refused("stream", forest, *kept, "--classes", "oak,ash")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:300])
    assert "cut short" in refused("stream", forest, *kept)


def test_a_row_that_will_not_do_stops_a_stream_after_the_step_before_it(run, refused, forest, tmp_path):
    kept = ["--checkpoint", tmp_path / "c", *STREAM]
    bad = part(forest, 0, 1100) + "1,0,1,0,x,oak\n"
    result = run("stream", "-", *kept, "--out", tmp_path / "m.json", stdin=bad)
    assert result.exit_code == 2
    assert len(result.stdout.split()) == 1000
    assert "error: standard input: row 1101, column 'e' holds 'x'" in result.stderr
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 1000
    assert dpfast.load(tmp_path / "m.json")
    bad = part(forest, 0, 1100) + "1,0,1,0,1,ash\n"
    assert "row 1101 has the label 'ash', the classes are oak, elm" in run("stream", "-", *kept, stdin=bad).stderr
    assert "row 3 has 2 cells" in refused("stream", "-", *STREAM, stdin=part(forest, 0, 2) + "1,0\n")
    assert "there are no rows" in refused("stream", "-", *STREAM, stdin=part(forest, 0, 0))
    assert "must be two labels" in refused("stream", forest, *STREAM, "--classes", "oak")
    assert "--new-rows needs a --checkpoint" in refused("stream", forest, *STREAM, "--new-rows")
    assert "epsilon must be" in refused("stream", forest, *STREAM, "--epsilon", 0)


def test_a_stream_that_used_all_updates_says_so_and_goes_on_to_predict(run, forest, tmp_path):
    kept = ["--checkpoint", tmp_path / "c", *STREAM, "--updates", 1]
    result = run("stream", forest, *kept)
    assert result.exit_code == 0
    assert len(result.stdout.split()) == 6000
    assert "all updates are made" in result.stderr
    assert len(run("stream", forest, *kept, "--new-rows").stdout.split()) == 6000
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 12_000


def test_ctrl_c_ends_a_stream_that_waits_and_says_what_is_kept(forest, tmp_path):
    command = [
        sys.executable,
        "-P",
        "-c",
        "from dpfast.cli import app; app()",
        "stream",
        "-",
        "--checkpoint",
        "c",
        *STREAM,
    ]
    with subprocess.Popen(
        command, cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdin.write(part(forest, 0, 1200))
        process.stdin.flush()
        shown = [process.stdout.readline() for _ in range(1000)]
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=5) == 130
        said = process.stderr.read()
    assert set(shown) <= {"oak\n", "elm\n"}
    assert "interrupted: 1,000 rounds and " in said
    assert "of 20 updates are in c, and the same command goes on after them" in said
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 1000


def test_an_interrupt_in_a_step_waits_until_it_is_kept_and_written(run, forest, tmp_path, monkeypatch):
    stream = dpfast.DPWinnowClassifier.stream

    def interrupted(*arguments, **options):
        signal.raise_signal(signal.SIGINT)
        return stream(*arguments, **options)

    monkeypatch.setattr(dpfast.DPWinnowClassifier, "stream", interrupted)
    result = run("stream", forest, *STREAM, "--checkpoint", tmp_path / "c", "--out", tmp_path / "m.json")
    assert result.exit_code == 130
    assert len(result.stdout.split()) == 500
    assert result.stderr.endswith("and the same command goes on after them\n")
    assert dpfast.DPWinnowClassifier.resume(tmp_path / "c").rounds_ == 500
    result = run("stream", forest, *STREAM)
    assert "interrupted: the stream ends after 500 rounds and 0 of 20 updates; to go on" in result.stderr


def test_a_plan_for_winnow_shows_both_bounds_and_what_practice_needs(run):
    command = ["plan", "winnow", "--d", 1000, "--margin", 1 / 3, "--epsilon", 1, "--horizon"]
    result = run(*command, 10**6)
    assert result.exit_code == 0
    paper, batched = (
        plan(1.0, 1e-6, horizon=10**6, dimension=2002, margin=1 / 3) for plan in (winnow_paper, batched_plan)
    )
    assert "vacuous: it allows more mistakes than the 1,000,000 rounds planned" in result.stdout
    assert f"It says something from {paper.horizon_needed:.3g} rounds on" in result.stdout
    assert f"The batched update is guaranteed at most {batched.mistakes:,} mistakes" in result.stdout
    assert f"{batched.n_updates:,}" in result.stdout
    eta = dpfast.DPWinnowClassifier()._tight_rates(True)[0]
    assert f"eta = {eta:.4g}" in result.stdout
    assert f"about {math.ceil(2 * (math.log(2 * 1000 + 2) + 2) / eta):,} rows" in result.stdout
    assert "too few for one update" not in result.stdout
    result = run(*command, 1000)
    assert result.stdout.count("vacuous") == 2
    assert "1,000 rounds are too few for one update." in result.stdout


def test_a_plan_for_winnow_refuses_what_no_theorem_covers(refused):
    command = ["plan", "winnow", "--d", 1000, "--horizon", 1000, "--epsilon", 1, "--margin"]
    assert "margin must be" in refused(*command, 2)
    assert "delta must be" in refused(*command, 0.3, "--delta", 0)
    assert "confidence must be" in refused(*command, 0.3, "--confidence", 1)


def test_the_version_is_shown(run):
    assert run("--version").stdout == f"dpfast {dpfast.__version__}\n"


def test_help_names_the_commands_and_an_unknown_model_is_refused(run):
    assert all(command in run("--help").stdout for command in ("fit", "predict", "stream", "plan"))
    result = run("fit", "mushroom", "--model", "oracle", "--epsilon", 1)
    assert result.exit_code == 2
    assert "decision-list" in result.stderr

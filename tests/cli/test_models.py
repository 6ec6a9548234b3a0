import inspect
from dataclasses import replace

import numpy as np
import pytest

import dpfast
from dpfast.cli import fit, stream
from dpfast.cli.models import MODELS
from dpfast.cli.plan.decision_list import decision_list
from dpfast.cli.printers import _counts, show_average, show_feature, show_halfspace, show_rules, show_weights
from dpfast.cli.report import output
from dpfast.learners.lists import Literal, Rule

FIT = ["--model", "decision-list", "--epsilon", "1"]
WINNOW = ["--model", "winnow", "--epsilon", "1"]


@pytest.mark.parametrize("model", ["boost", "winnow", "linear-learner", "finite-class"])
def test_probabilities_cost_a_share_and_are_written(run, refused, model, tmp_path):
    out = tmp_path / "model.json"
    command = ["fit", "mushroom", "--model", model, "--epsilon", 5, "--seed", 1, "--out", out]
    assert run(*command).exit_code == 0
    assert "fit it with a --probability-share" in refused("predict", out, "mushroom", "--probabilities")
    told = run(*command, "--probability-share", 0.1)
    assert told.exit_code == 0
    assert "test AUC" in told.stdout
    fitted = dpfast.load(out)
    if hasattr(fitted, "calibration_line"):
        assert ("at least 0," in told.stdout) == (abs(fitted.calibration_line().even) < 5e-4)
    rows = run("predict", out, "mushroom", "--probabilities").stdout.splitlines()
    assert rows[0] == "label,edible,poisonous"
    label, *shares = rows[1].split(",")
    assert label == rows[0].split(",")[1 + (float(shares[1]) > 0.5)]


def test_a_rule_shows_names_as_they_are_written(run, trees):
    result = run("fit", trees, "--model", "decision-list", "--epsilon", 1e6, "--label", "tree", "--max-rules", "none")
    assert "wet" in result.stdout
    names = ["wet", "cold [C]", "windy"]
    X = dpfast.BitMatrix(np.eye(3), feature_names=names)
    fitted = dpfast.DecisionListClassifier(max_rules=None, coverage_weight=0, rule_counts=0, random_state=0)
    fitted.fit(X, [0, 1, 0])
    fitted.model_ = replace(fitted.model_, rules=(Rule((Literal(1, True),), 1), *fitted.model_.rules))
    with output.capture() as shown:
        show_rules(fitted, output)
    assert "not cold [C]" in shown.get()


def test_what_each_rule_is_worth_is_shown_unless_it_was_not_asked_for(run, trees):
    command = ["fit", trees, *FIT, "--label", "tree", "--seed", 1]
    assert "right (95 %)" in run(*command).stdout
    assert "±" in run(*command, "--test-share", 0).stdout
    assert "right (95 %)" not in run(*command, "--rule-counts", 0).stdout


def test_every_option_reaches_the_learner(run, trees, model, tmp_path):
    out = tmp_path / "other.json"
    options = "--delta 1e-5 --neighbors add-remove --coverage-weight 0 --max-rules 3 --conjunctions 2 --no-negations"
    options += " --rule-counts 0.25 --threshold 0.5 --accounting paper --test-share 0 --classes ash,elm,oak"
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
        rule_counts=0.25,
        threshold=0.5,
        accounting="paper",
    )
    assert loaded.get_params() == expected.get_params()
    assert loaded.classes_.tolist() == ["ash", "elm", "oak"]
    assert "test accuracy" not in result.stdout
    assert dpfast.load(model).max_rules == "auto"


@pytest.mark.parametrize(
    ("command", "learner"),
    [
        (fit.fit, dpfast.DecisionListClassifier),
        (fit.fit, dpfast.DPWinnowClassifier),
        (fit.fit, dpfast.BoostedHalfspaceClassifier),
        (fit.fit, dpfast.LinearLearner),
        (fit.fit, dpfast.ProjectedHalfspaceClassifier),
        (fit.fit, dpfast.NetHalfspaceClassifier),
        (stream.stream, dpfast.DPWinnowClassifier),
        (decision_list, dpfast.DecisionListClassifier),
    ],
)
def test_defaults_are_the_learners(command, learner):
    own = inspect.signature(learner).parameters
    theirs = {name for model in MODELS.values() if model.estimator == learner.__name__ for name in model.options}
    others = {name for model in MODELS.values() for name in model.options} - theirs
    for name, parameter in inspect.signature(command).parameters.items():
        if name in others or name in ("feature_range", "threshold"):  # None is for bits
            continue
        if name == "margin" and learner is dpfast.NetHalfspaceClassifier:  # auto is each one's own
            continue
        name = "fit_intercept" if name == "intercept" else name
        name = f"n_{name}" if name in ("updates", "draws", "rounds") else name
        if name in own and parameter.default is not inspect.Parameter.empty:
            assert str(parameter.default) == str(own[name].default), name


def test_counts_are_those_of_the_rows_that_a_rule_decides(rng):
    X, y = rng.integers(0, 2, (200, 5)), rng.integers(0, 3, 200)
    fitted = dpfast.DecisionListClassifier(conjunctions=2, random_state=4).fit(X, y)
    counts = _counts(fitted, dpfast.BitMatrix(X), y)
    assert sum(rows for rows, _ in counts) == 200
    assert sum(right for _, right in counts) == (fitted.predict(X) == y).sum()


def test_a_weight_is_shown_with_its_feature_and_the_label_it_speaks_for(monkeypatch):
    monkeypatch.setattr("dpfast.cli.printers._MOST_WEIGHTS", 2)
    X = dpfast.BitMatrix(np.eye(3), feature_names=["wet", "cold [C]", "windy"])
    fitted = dpfast.DPWinnowClassifier(n_updates=2, n_draws=10, random_state=0).fit(X, ["oak", "elm", "oak"])
    released = (np.array([0, 1, 3]), np.array([-9, 5, 2])), (np.array([0, 1]), np.array([-9, 5]))
    fitted.model_ = replace(fitted.model_, released_weights=released)
    with output.capture() as shown:
        show_weights(fitted, output)
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
    read = {"feature_range": [-1, 1], "out_of_range": "error"}  # files are refused where a table would be clipped
    expected = dpfast.DPWinnowClassifier(3.0, 1e-5, n_updates=5, n_draws=7, negations=False, **read)
    assert dpfast.load(model).get_params() == expected.get_params()
    predicted = run("predict", model, data, "--label", "y").stdout.split()
    assert np.mean(np.array(predicted) == (X[:, 1] > 0.5).astype(int).astype(str)) > 0.9
    assert run("predict", model, data, "--label", "y", "--threshold", 0.5).stdout.split() == predicted
    assert "has 0.5" in refused("predict", model, data, "--label", "y", "--threshold", 1)


def test_boost_shows_a_halfspace_and_its_options_reach_the_learner(run, refused, tmp_path):
    boost = ["fit", "mushroom", "--model", "boost", "--epsilon", 1]
    result = run(*boost)
    assert result.exit_code == 0
    assert result.stderr == ""
    assert "poisonous if the sum and " in result.stdout
    assert "divided by the length of the row, are at least" in result.stdout.replace("\n", " ")
    assert "test accuracy  0.9" in result.stdout
    assert "(1.0, 1e-06)-DP, replace one row; 61 of 61 releases used" in result.stdout
    model = tmp_path / "m.json"
    options = "--density 0.5 --rounds 7 --learning-rate 3 --weak-learner stump --no-intercept"
    assert run(*boost, *options.split(), "--seed", 1, "--out", model).exit_code == 0
    asked = {"density": 0.5, "n_rounds": 7, "learning_rate": 3.0, "weak_learner": "stump", "fit_intercept": False}
    loaded = dpfast.load(model)
    assert loaded.get_params() == dpfast.BoostedHalfspaceClassifier(1.0, **asked).get_params()
    predicted = run("predict", model, "mushroom").stdout.split()
    mushroom = dpfast.load_dataset("mushroom")
    X = dpfast.BitMatrix(mushroom.data, feature_names=mushroom.feature_names)
    assert predicted == loaded.predict(X).tolist()
    assert "--density must be a number or auto, got 'all'" in refused(*boost, "--density", "all")
    assert "--rounds must be an integer or auto, got '2.5'" in refused(*boost, "--rounds", "2.5")
    assert "--negations is not for --model boost" in refused(*boost, "--negations")


def test_a_halfspace_shows_its_largest_weights_and_the_label_they_speak_for(monkeypatch):
    monkeypatch.setattr("dpfast.cli.printers._MOST_WEIGHTS", 2)
    X = dpfast.BitMatrix(np.eye(3), feature_names=["wet", "cold [C]", "windy"])
    fitted = dpfast.BoostedHalfspaceClassifier(random_state=0).fit(X, ["oak", "elm", "oak"])
    fitted.coef_, fitted.intercept_ = np.array([[-0.02, 1.23456, 1e-5]]), np.array([0.25])
    fitted.shift_ = 0.0
    with output.capture() as shown:
        show_halfspace(fitted, output)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.get().splitlines() if "│" in line]
    assert rows == [["cold [C]", "+1.23", "oak"], ["wet", "-0.02", "elm"]]
    assert "1 more have weights of at most 1e-05." in shown.get()
    assert "oak if the sum is at least -0.25, else elm." in shown.get()


def test_finite_class_shows_the_feature_it_chose_and_a_saved_one_predicts(run, refused, trees, tmp_path):
    model = tmp_path / "m.json"
    command = ["fit", trees, "--model", "finite-class", "--epsilon", 1, "--label", "tree", "--out", model]
    result = run(*command)
    assert result.exit_code == 0
    assert result.stderr == "note: Rows without a label (an empty cell, NA, NULL or ?), if any, were left out.\n"
    assert "oak if wet is 1, else elm." in result.stdout
    assert "Chosen from 8: each feature, its negation, one label always." in result.stdout
    assert "at most 10 errors more than the best" in result.stdout
    assert "(1.0, 0)-DP, replace one row; 1 of 1 releases used" in result.stdout
    assert dpfast.load(model).hypothesis_ == 0
    predicted = run("predict", model, trees, "--label", "tree").stdout.split()
    assert predicted == [line.split(",")[3] for line in trees.read_text().splitlines()[1:]]
    assert "--delta is not for --model finite-class" in refused(*command, "--delta", 1e-6)
    assert "--negations is not for --model finite-class" in refused(*command, "--no-negations")
    assert "--intercept is for --model halfspace or boost or " in refused(*command, "--intercept")
    shown = run(*command, "--neighbors", "add-remove").stdout
    assert "at most 5 errors more than the best" in shown


@pytest.mark.parametrize(
    ("hypothesis", "said"),
    [
        (1, "oak if cold [C] is 1, else elm."),
        (4, "oak if cold [C] is 0, else elm."),
        (6, "Every row is predicted as elm: a constant was chosen."),
        (7, "Every row is predicted as oak: a constant was chosen."),
    ],
)
def test_a_feature_is_shown_by_its_name(hypothesis, said):
    X = dpfast.BitMatrix(np.eye(3), feature_names=["wet", "cold [C]", "windy"])
    fitted = dpfast.FiniteClassLearner(hypotheses="features", random_state=0).fit(X, ["oak", "elm", "oak"])
    fitted.hypothesis_ = hypothesis
    with output.capture() as shown:
        show_feature(fitted, output)
    assert shown.get().startswith(said)


def test_linear_learner_shows_weights_and_its_options_reach_the_learner(run, refused, tmp_path):
    model = tmp_path / "m.json"
    command = ["fit", "mushroom", "--model", "linear-learner", "--epsilon", 10, "--seed", 1, "--out", model]
    result = run(*command)
    assert result.exit_code == 0
    assert "poisonous if the sum is at least 0, else edible." in result.stdout
    assert "odor=none" in result.stdout
    assert "(10.0, 1e-06)-DP, replace one row" in result.stdout
    assert run(*command, "--no-intercept", "--no-negations", "--delta", 1e-5).exit_code == 0
    asked = {"delta": 1e-5, "negations": False, "fit_intercept": False, "out_of_range": "error"}
    loaded = dpfast.load(model)
    assert loaded.get_params() == dpfast.LinearLearner(10.0, **asked).get_params()
    assert loaded.intercept_ == 0
    predicted = run("predict", model, "mushroom").stdout.split()
    mushroom = dpfast.load_dataset("mushroom")
    assert predicted == loaded.predict(dpfast.BitMatrix(mushroom.data, feature_names=mushroom.feature_names)).tolist()
    assert np.mean(np.array(predicted) == mushroom.target) > 0.7
    assert 'neighbors must be "replace"' in refused(*command, "--neighbors", "add-remove")


def test_linear_learner_reads_numbers_from_minus_one_to_one(run, refused, tmp_path, rng):
    X = rng.uniform(-1, 1, (3000, 2))
    data, model = tmp_path / "t.csv", tmp_path / "m.json"
    data.write_text("a,b,y\n" + "".join(f"{a},{b},{int(b > 0)}\n" for a, b in X))
    command = ["fit", data, "--model", "linear-learner", "--epsilon", 10, "--label", "y"]
    result = run(*command, "--seed", 1, "--out", model)
    assert result.exit_code == 0
    assert "2 features of numbers" in result.stdout
    assert "Each feature adds its weight times its value." in result.stdout
    predicted = run("predict", model, data, "--label", "y").stdout.split()
    assert np.mean(np.array(predicted) == (X[:, 1] > 0).astype(int).astype(str)) > 0.9
    data.write_text("a,b,y\n0.5,1,0\n2,0.5,1\n")
    assert "t.csv: line 3, column 'a'" in refused(*command)


def test_an_average_shows_small_weights():
    X = dpfast.BitMatrix(np.eye(2), feature_names=["wet", "windy"])
    fitted = dpfast.LinearLearner(random_state=0).fit(X, ["oak", "elm"])
    fitted.model_ = replace(fitted.model_, index=np.array([1, 2]), signed_counts=np.array([3, -2]), draws=10_000)
    with output.capture() as shown:
        show_average(fitted, output)
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in shown.get().splitlines() if "│" in line]
    assert rows == [["windy", "+0.0003", "oak"], ["(always)", "-0.0002", "elm"]]


def test_an_option_of_another_model_is_refused(refused, model, trees):
    assert "--max-rules is for --model decision-list, not for winnow" in refused(
        "fit", "mushroom", *WINNOW, "--max-rules", 25
    )
    assert "--accounting is for" in refused("fit", "mushroom", *WINNOW, "--accounting", "curve")
    assert "--draws is for --model winnow, not for decision-list" in refused("fit", "mushroom", *FIT, "--draws", 10)
    assert "--threshold is for models that do not know it" in refused("predict", model, trees, "--threshold", 1)


def test_each_option_of_a_model_is_shown_under_its_models_names():
    shown = inspect.signature(fit.fit).parameters
    own = {name for model in MODELS.values() for name in model.options}
    for name in own:
        owners = [key for key, model in MODELS.items() if name in model.options]
        declared = {MODELS[owner].options[name].replace(kind=inspect.Parameter.KEYWORD_ONLY) for owner in owners}
        assert declared == {shown[name]}, "models that share an option must share its annotation and default"
        (option,) = shown[name].annotation.__metadata__
        assert option.rich_help_panel == f"Options of {' and '.join(owners)}"


@pytest.mark.parametrize("model", MODELS)
def test_the_options_that_a_model_lacks_are_those_its_estimator_has_no_parameter_for(refused, model):
    entry = MODELS[model]
    known = inspect.signature(getattr(dpfast, entry.estimator)).parameters
    shared = {name: default for name, default in SHARED.items() if name not in known}
    assert {*entry.lacks} == {*shared}
    for name, default in shared.items():
        option = ["--negations"] if name == "negations" else [f"--{name.replace('_', '-')}", default]
        said = refused("fit", "mushroom", "--model", model, "--epsilon", 1, *option)
        assert f"{option[0]} is not for --model {model}" in said


SHARED = {"epsilon": 1, "delta": 1e-6, "neighbors": "replace", "negations": True, "encoder_share": 0.1, "schema": "s"}

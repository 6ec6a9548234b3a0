import pytest

import dpfast
from dpfast.accounting import Budget


@pytest.fixture
def file(tmp_path):
    return tmp_path / "patients.budget"


@pytest.fixture
def boost(trees):
    own = ["--model", "boost", "--bits", "--rounds", 3]
    return ["fit", trees, *own, "--epsilon", 1, "--classes", "elm,oak", "--label", "tree"]


def test_a_budget_is_made_charged_shown_and_kept(run, boost, file, tmp_path):
    assert "(3, 1e-06), replace, one row" in run("budget", file, "--epsilon", 3, "--delta", 1e-6).output
    for _ in range(2):
        saved = run(*boost, "--budget", file, "--test-share", 0, "--out", tmp_path / "model.json")
        assert saved.exit_code == 0
    told = run("budget", file).output
    assert told.count("BoostedHalfspaceClassifier") == 2
    assert "added up: gaussian" in told
    assert 1.4 < Budget.open(file).spent[0] < 1.5
    assert dpfast.load(tmp_path / "model.json").privacy_.epsilon == 1.0


def test_a_model_and_its_figures_are_charged_as_one_pair(run, refused, boost, file):
    run("budget", file, "--epsilon", 1.5, "--delta", 1e-5)
    assert run(*boost, "--budget", file).exit_code == 0
    assert Budget.open(file).charges == ((1.0, 1e-6),)
    assert Budget.open(file).composition == "basic"
    line = refused(*boost, "--budget", file)
    assert "does not fit" in line
    assert "nothing was charged" in line


def test_a_budget_that_will_not_do_is_refused_before_the_table_is_read(refused, file):
    fit = ["fit", "nowhere.csv", "--model", "net", "--epsilon", 1, "--budget", file]
    assert "there is no such file" in refused(*fit)
    Budget.open(file, epsilon=1)
    assert "stated for neighbors='replace'" in refused(*fit, "--neighbors", "add-remove")


def test_a_stream_charges_once(run, trees, file):
    run("budget", file, "--epsilon", 1, "--delta", 1e-5)
    run("stream", trees, "--epsilon", 1, "--classes", "elm,oak", "--label", "tree", "--budget", file)
    assert [note["model"] for note in Budget.open(file).notes()] == ["DPWinnowClassifier"]

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline

import dpfast
from dpfast import DecisionListClassifier, PrivacyWarning

X = np.random.default_rng(0).integers(0, 2, (60, 3))
Y = np.arange(60) % 2
LIST = DecisionListClassifier(1.0, 1e-6, max_rules=2, rule_counts=0, random_state=0)


def said(function):
    """What is warned of, sentence by sentence."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        function()
    return [str(each.message) for each in caught if each.category is PrivacyWarning]


def fit(model, X=X, classes=(0, 1)):
    return clone(model).fit(X, Y, classes=classes)


def test_a_sound_claim_warns_of_nothing():
    assert said(lambda: fit(LIST)) == []


@pytest.mark.parametrize(
    ("run", "message"),
    [
        (lambda: fit(LIST.set_params(epsilon=11.0)), "promises next to nothing"),
        (lambda: fit(LIST.set_params(delta=1 / 60)), "use a much smaller delta"),
        (lambda: fit(LIST, classes=None), "declare it by classes="),
        (lambda: fit(LIST, pd.DataFrame(X, index=[0, *range(59)])), "keep one row of each"),
    ],
)
def test_each_warning_says_what_to_do(run, message, monkeypatch):
    monkeypatch.setitem(globals(), "LIST", clone(LIST))
    (sentence,) = said(run)
    assert message in sentence


@pytest.mark.parametrize("learner", [DecisionListClassifier, dpfast.HalfspaceClassifier])
def test_a_warning_stands_at_the_line_of_the_user(learner):
    with pytest.warns(PrivacyWarning, match="declare it") as caught:
        learner().fit(X, Y)
    assert {each.filename for each in caught} == {__file__}


def test_rows_that_bagging_repeats_are_warned_of_and_rows_it_draws_once_are_not():
    model = DecisionListClassifier(1.0, 1e-6, max_rules=2, rule_counts=0)

    def bagged(bootstrap):
        bag = BaggingClassifier(model, 2, bootstrap=bootstrap, max_samples=0.5)
        return [each for each in said(lambda: bag.fit(X, Y)) if "several times into one fit" in each]

    assert len(bagged(True)) == 2
    assert bagged(False) == []


def test_searches_and_cross_validations_are_warned_of():
    model = DecisionListClassifier(1.0, 1e-6, max_rules=2, rule_counts=0, budget=dpfast.accounting.Budget(99, 0.1))
    for run in (
        lambda: cross_val_score(model, X, Y, cv=2),
        lambda: cross_val_predict(model, X, Y, cv=2),
        lambda: GridSearchCV(model, {"max_rules": [1, 2]}, cv=2, refit=False).fit(X, Y),
        lambda: GridSearchCV(make_pipeline(model), {"decisionlistclassifier__max_rules": [1]}, cv=2).fit(X, Y),
    ):
        found = [sentence for sentence in said(run) if "private_search states its total" in sentence]
        assert len(found) > 1
    assert not [sentence for sentence in said(lambda: make_pipeline(clone(model)).fit(X, Y)) if "times" in sentence]


def test_ensembles_are_warned_of_unless_a_budget_counts_their_fits():
    def fits(budget):
        model = DecisionListClassifier(1.0, 1e-6, max_rules=2, rule_counts=0, budget=budget)
        runs = [
            lambda: VotingClassifier([("a", model), ("b", model)]).fit(X, Y),
            lambda: BaggingClassifier(model, 2, bootstrap=False).fit(X, Y),
            lambda: OneVsRestClassifier(model).fit(X, Y),
        ]
        return [[each for each in said(run) if "give all fits one budget" in each] for run in runs]

    assert list(map(len, fits(None))) == [2, 2, 1]
    assert fits(dpfast.accounting.Budget(99, 0.1)) == [[], [], []]


def test_learners_of_points_see_who_calls():
    learner = dpfast.littlestone.LittlestoneLearner(1.0, 1e-6, dpfast.littlestone.PointFunctions(8), n_teachers=9)
    assert any(
        "fits many times and looks at rows" in each
        for each in said(lambda: cross_val_score(learner, X[:, :1], Y, cv=2))
    )


def test_a_claim_is_that_of_the_fit_whatever_becomes_of_the_parameters(tmp_path):
    model = fit(LIST)
    model.set_params(epsilon=0.1, neighbors="add-remove")
    assert said(lambda: model.privacy_) == said(lambda: model.save(tmp_path / "m.json")) == []
    assert (model.privacy_.epsilon, model.privacy_.neighbors) == (1.0, "replace")
    loaded = dpfast.load(tmp_path / "m.json")
    assert (loaded.epsilon, loaded.neighbors, loaded.privacy_.epsilon) == (1.0, "replace", 1.0)
    assert said(lambda: model.predict(X)) == []


def test_experts_and_oracles_warn_as_fits_do():
    (sentence,) = said(lambda: dpfast.RandomizedWeightedMajority(1.0, 0.1, horizon=10))
    assert "one over 10" in sentence
    (sentence,) = said(lambda: dpfast.StatisticalQueryOracle(X, 20.0, 1e-6, n_queries=1))
    assert "promises next to nothing" in sentence


def test_an_estimator_without_a_claim_has_none():
    with pytest.raises(AttributeError, match="no attribute 'privacy_'"):
        clone(LIST).privacy_  # noqa: B018

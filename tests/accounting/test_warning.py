import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import BaggingClassifier

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
        (lambda: fit(LIST.set_params(delta=1 / 60)), "take a delta well below"),
        (lambda: fit(LIST, classes=None), "declare it by classes="),
        (lambda: fit(LIST, pd.DataFrame(X, index=[0, *range(59)])), "leave one of each"),
    ],
)
def test_each_warning_says_what_to_do(run, message, monkeypatch):
    monkeypatch.setitem(globals(), "LIST", clone(LIST))
    (sentence,) = said(run)
    assert message in sentence


def test_rows_that_bagging_repeats_are_warned_of_and_rows_it_draws_once_are_not():
    model = DecisionListClassifier(1.0, 1e-6, max_rules=2, rule_counts=0)

    def bagged(bootstrap):
        bag = BaggingClassifier(model, 2, bootstrap=bootstrap, max_samples=0.5)
        return [each for each in said(lambda: bag.fit(X, Y)) if "drawn several times" in each]

    assert len(bagged(True)) == 2
    assert bagged(False) == []


def test_a_claim_is_that_of_the_fit_whatever_becomes_of_the_parameters(tmp_path):
    model = fit(LIST)
    model.set_params(epsilon=0.1, neighbors="add-remove")
    (sentence,) = said(lambda: model.privacy_)
    assert "the fit, whose claim stays (1.0, 1e-06) for 'replace': fit again" in sentence
    (sentence,) = said(lambda: model.save(tmp_path / "m.json"))
    assert "fit again" in sentence
    loaded = dpfast.load(tmp_path / "m.json")
    assert said(lambda: loaded.privacy_) == []
    assert (loaded.epsilon, loaded.neighbors, loaded.privacy_.epsilon) == (1.0, "replace", 1.0)
    assert said(lambda: model.predict(X)) == []
    model.set_params(epsilon=1.0, neighbors="replace")
    assert said(lambda: model.privacy_) == []


def test_experts_and_oracles_warn_as_fits_do():
    (sentence,) = said(lambda: dpfast.RandomizedWeightedMajority(1.0, 0.1, horizon=10))
    assert "one in 10" in sentence
    (sentence,) = said(lambda: dpfast.StatisticalQueryOracle(X, 20.0, 1e-6, n_queries=1))
    assert "promises next to nothing" in sentence


def test_an_estimator_without_a_claim_has_none():
    with pytest.raises(AttributeError, match="no attribute 'privacy_': it is not fitted"):
        clone(LIST).privacy_  # noqa: B018

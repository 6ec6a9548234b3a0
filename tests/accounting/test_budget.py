import copy
import json
import math
import os
import pickle
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import cross_val_score

from dpfast.accounting import Budget, BudgetExceeded, Cost, PrivacySpend, Release


class Charging(ClassifierMixin, BaseEstimator):
    """Charges in fit and predicts the first label."""

    def __init__(self, epsilon=0.2, budget=None):
        self.epsilon = epsilon
        self.budget = budget

    def fit(self, X, y):
        self.budget.charge(self.epsilon)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


X, Y = np.arange(20.0).reshape(10, 2), np.array([0, 1] * 5)


def test_ten_tenths_fit_into_one_and_an_eleventh_does_not():
    budget = Budget(1.0)
    for _ in range(10):
        budget.charge(0.1)
    assert budget.spent == (1.0, 0.0)
    assert budget.left == (0.0, 0.0)
    with pytest.raises(BudgetExceeded):
        budget.charge(1e-300)


def test_epsilon_and_delta_are_both_kept():
    budget = Budget(1.0, 1e-6)
    with pytest.raises(BudgetExceeded):
        budget.charge(0.1, 2e-6)
    budget.charge(0.1, 1e-6)
    with pytest.raises(BudgetExceeded):
        budget.charge(0.1, 1e-9)
    budget.charge(0.9)
    assert budget.charges == ((0.1, 1e-6), (0.9, 0.0))


def test_a_refusal_names_the_numbers_and_charges_nothing():
    budget = Budget(1.0, 1e-6)
    budget.charge(0.75)
    with pytest.raises(BudgetExceeded) as refusal:
        budget.charge(0.5, 1e-7)
    for numbers in ("charge (0.5, 1e-07)", "spent (0.75, 0.0)", "left (0.25, 1e-06)", "nothing was charged"):
        assert numbers in str(refusal.value)
    assert budget.spent == (0.75, 0.0)


def test_a_charge_under_the_other_relation_is_refused():
    budget = Budget(1.0, neighbors="add-remove")
    with pytest.raises(ValueError, match="neighbors='add-remove' and the charge for 'replace'"):
        budget.charge(0.1)
    budget.charge(0.1, neighbors="add-remove")
    assert budget.charges == ((0.1, 0.0),)


def test_what_is_left_always_fits():
    for taken in (Fraction(1, 3), 1e-20, 0.1 + 0.2, Fraction(1, 7)):
        budget = Budget(1.0, 1e-6)
        budget.charge(taken, 1e-25)
        budget.charge(*budget.left)
        assert budget.left[0] < 1e-15


def test_a_long_ledger_is_summed_exactly_and_charged_as_fast_as_a_short_one():
    budget, steps = Budget(10**6, 0.5), []
    for amount in (0.1, Fraction(1, 3), 1e-20, 0.7):
        for _ in range(1000):
            budget.charge(amount, 1e-9)
            steps.append((Fraction(str(amount)), Fraction("1e-9")))
    assert len(budget.charges) == 4_000
    left = Fraction(10**6) - sum(epsilon for epsilon, _ in steps)
    budget.charge(left, Fraction(1, 2) - sum(delta for _, delta in steps))
    assert budget.left == (0.0, 0.0)


def test_many_threads_never_overspend():
    budget = Budget(1.0)

    def attempt(_):
        try:
            budget.charge(0.01)
        except BudgetExceeded:
            return 0
        return 1

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(300))) == 100
    assert budget.left == (0.0, 0.0)


def test_copies_are_the_same_ledger():
    budget = Budget(1.0)
    assert copy.copy(budget) is budget
    assert copy.deepcopy({"budget": budget})["budget"] is budget
    assert clone(Charging(budget=budget)).budget is budget


def test_every_fold_of_a_cross_validation_charges():
    budget = Budget(1.0)
    model = Charging(budget=budget)
    cross_val_score(model, X, Y, cv=5, error_score="raise")
    assert budget.charges == ((0.2, 0.0),) * 5
    with pytest.raises(BudgetExceeded):
        clone(model).fit(X, Y)


def test_other_processes_are_refused_rather_than_forgotten(monkeypatch):
    budget = Budget(1.0)
    closed = pickle.loads(pickle.dumps(Charging(budget=budget))).budget
    assert closed.left == (1.0, 0.0)
    with pytest.raises(RuntimeError, match=r"n_jobs=1.*threading.*to_dict"):
        closed.charge(0.1)
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(RuntimeError, match=r"process that made it.*n_jobs=1"):
        budget.charge(0.1)
    monkeypatch.undo()
    assert budget.charges == ()


def test_a_ledger_survives_json_exactly():
    budget = Budget(1.0, 1e-6, neighbors="add-remove")
    budget.charge(Fraction(1, 3), 1e-7, neighbors="add-remove")
    state = json.loads(json.dumps(budget.to_dict()))
    resumed = Budget.from_dict(state)
    assert resumed.to_dict() == budget.to_dict()
    resumed.charge(Fraction(2, 3), neighbors="add-remove")
    with pytest.raises(ValueError, match="its filter is not that of its charges"):
        Budget.from_dict({**state, "epsilon": "1/4"})
    with pytest.raises(BudgetExceeded):
        Budget.from_dict({name: value for name, value in state.items() if name != "book"} | {"epsilon": "1/4"})


def test_a_budget_prints_what_is_spent_and_left():
    budget = Budget(1, 1e-6)
    budget.charge(0.5, 5e-7)
    assert repr(budget) == (
        "Budget(epsilon=1.0, delta=1e-06, neighbors='replace'; spent (0.5, 5e-07), left (0.5, 5e-07))"
    )


def test_what_is_spent_and_left_of_costs_that_compose_is_printed_so_that_nobody_adds_it_up():
    budget = Budget(2.5, 1e-5)
    for _ in range(2):
        budget.charge(1, 1e-6, cost=[Cost("gaussian", 0.2367)])
    spent, left = budget.spent[0], budget.left[0]
    assert spent + left != pytest.approx(2.5)
    assert repr(budget).endswith(
        f"spent epsilon {spent:.6g} by all charges at delta 1e-05, left for a further fit epsilon up to {left:.6g} at "
        "its own delta 1e-05)"
    )
    with pytest.raises(BudgetExceeded, match=r"left for a further fit .*so spent and left do not add up to the budget"):
        budget.charge(2.4, 1e-6, cost=[Cost("gaussian", 0.6)])


@pytest.mark.parametrize("epsilon", [0, -1.0, math.nan, math.inf, True, "1", None])
def test_a_budget_needs_a_positive_epsilon(epsilon):
    with pytest.raises(ValueError, match=r"epsilon.*must be .*got"):
        Budget(epsilon)


@pytest.mark.parametrize("delta", [-1e-9, 1, math.nan, False])
def test_a_budget_and_a_charge_need_a_delta_below_one(delta):
    with pytest.raises(ValueError, match="delta must be a number >= 0 and below 1, got"):
        Budget(1.0, delta)
    with pytest.raises(ValueError, match="delta must be a number >= 0 and below 1, got"):
        Budget(1.0).charge(0.1, delta)


def test_numpy_numbers_count_as_the_same_decimals():
    budget = Budget(np.float64(1.0), np.float64(1e-6))
    budget.charge(np.float64(0.1))
    budget.charge(np.int64(0))
    assert budget.left == (0.9, 1e-06)


def test_a_spend_is_one_honest_sentence():
    spend = PrivacySpend(1.0, 1e-6, "replace", [Release("rules", 25, 25)])
    assert str(spend) == "(1.0, 1e-06)-DP, replace one row; 25 of 25 releases used"
    spend = PrivacySpend(0.5, 0.0, "add-remove", [("tests", 3, 10), ("draws", 1, 5)], reproducible=True)
    assert str(spend) == (
        "(0.5, 0)-DP, add or remove one row; 4 of 15 releases used; drawn with a seed: reproducible, not private"
    )
    assert str(PrivacySpend(0.5, 0.0, "replace")) == "(0.5, 0)-DP, replace one row"


def test_a_spend_survives_json_and_pickle():
    spend = PrivacySpend(np.float64(1.0), 1e-6, "replace", [Release("rules", 4, 25)], reproducible=True)
    assert PrivacySpend.from_dict(json.loads(json.dumps(spend.to_dict()))) == spend
    assert pickle.loads(pickle.dumps(spend)) == spend
    assert type(spend.epsilon) is float


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1.0, 0.0, "replace"), "epsilon must be"),
        ((1.0, 1.0, "replace"), "delta must be"),
        ((1.0, 0.0, "swap"), "neighbors must be"),
        ((1.0, 0.0, "replace", [Release("rules", 3, 2)]), "0 <= used <= of"),
    ],
)
def test_a_spend_refuses_what_cannot_be(arguments, message):
    with pytest.raises(ValueError, match=message):
        PrivacySpend(*arguments)


def test_a_budget_as_pairs_tells_what_its_parts_spent():
    budget = Budget(2, 1e-6, composition="gaussian")
    budget.part("north").charge(0.5, 1e-7, cost=[Cost("gaussian", 0.1)])
    pairs = budget.as_pairs()
    assert pairs.charges == budget.charges == ((0.5, 1e-7),)
    assert pairs.spent == budget.spent
    assert pairs.spent[0] > 0.3


def test_a_budget_as_pairs_has_parts():
    whole = Budget(1, 1e-5)
    whole.as_pairs().part("north").charge(0.25, 1e-6, cost=[Cost("gaussian", 0.1)])
    assert whole.part("south").spent == (0, 0)
    epsilon, delta = whole.part("north").spent
    assert epsilon == 0.25
    assert delta == pytest.approx(1e-6)

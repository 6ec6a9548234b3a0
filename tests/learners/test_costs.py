"""What the learners state that they cost: never less than the claim says, and hardly more."""

import numpy as np
import pytest

import dpfast
from dpfast.accounting import Budget, Composed, compose

X = np.random.default_rng(3).integers(0, 2, (300, 6)).astype(bool)
Y = X[:, 0] | X[:, 1]
MODELS = {
    "halfspace": (dpfast.HalfspaceClassifier, {"n_rounds": 5}),
    "boosted": (dpfast.BoostedHalfspaceClassifier, {"n_rounds": 5}),
    "stumps": (dpfast.BoostedHalfspaceClassifier, {"n_rounds": 5, "weak_learner": "stump"}),
    "projected": (dpfast.ProjectedHalfspaceClassifier, {"margin": 0.3, "n_rounds": 5}),
    "net": (dpfast.NetHalfspaceClassifier, {"margin": 0.5, "n_components": 2}),
    "features": (dpfast.FiniteClassLearner, {"hypotheses": "features"}),
    "linear": (dpfast.LinearLearner, {}),
    "winnow": (dpfast.DPWinnowClassifier, {"n_updates": 5}),
    "winnow with a test": (dpfast.DPWinnowClassifier, {"schedule": "sparse-vector", "n_updates": 5}),
    "list": (dpfast.DecisionListClassifier, {"max_rules": 5}),
}


@pytest.mark.parametrize("neighbors", ["replace", "add-remove"])
@pytest.mark.parametrize("name", MODELS)
def test_a_claim_follows_from_what_was_spent(name, neighbors, tmp_path):
    kind, parameters = MODELS[name]
    if neighbors == "add-remove" and name in ("linear", "winnow with a test"):
        pytest.skip('needs "replace"')
    model = kind(**parameters, neighbors=neighbors, random_state=0).fit(X, Y)
    claim = model.privacy_
    whole = Composed(claim.cost)
    assert whole.delta(claim.epsilon * (1 + 1e-9)) <= claim.delta * (1 + 1e-9)
    assert whole.delta(claim.epsilon * 0.95) > claim.delta
    assert compose([claim]).epsilon <= claim.epsilon
    model.save(tmp_path / "model.json")
    assert dpfast.load(tmp_path / "model.json").privacy_ == claim


def test_five_fits_cost_2_40():
    budget = Budget(2.4, 1e-6)
    models = [dpfast.HalfspaceClassifier(n_rounds=10, random_state=seed, budget=budget).fit(X, Y) for seed in range(5)]
    assert budget.spent[0] == pytest.approx(2.3997, abs=1e-4)
    assert compose([model.privacy_ for model in models]).epsilon == pytest.approx(2.3997, abs=1e-4)


def test_fits_of_several_kinds_share_a_budget():
    budget = Budget(3, 1e-6, composition="renyi", pairs=(1, 1e-7))
    for name in ("halfspace", "winnow", "features", "boosted", "linear"):
        kind, parameters = MODELS[name]
        kind(0.5, **parameters, random_state=0, budget=budget).fit(X, Y)
    dpfast.DecisionListClassifier(0.9, 1e-7, random_state=0, budget=budget).fit(X, Y)
    assert len(budget.charges) == 6
    assert budget.spent[0] < 3 < sum(epsilon for epsilon, _ in budget.charges)

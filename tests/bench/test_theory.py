import numpy as np
import pytest
import theory


def test_the_least_rows_of_a_learner_that_needs_a_thousand_are_found():
    class Learner:
        def fit(self, X, y):
            self.n = len(X)
            return self

        def score(self, X, y):
            return float(self.n >= 1000)

    found = theory.least_rows(theory.lists(3), lambda seed: Learner(), 2)
    assert 1000 <= found <= 1100
    assert theory.least_rows(theory.lists(3), lambda seed: Learner(), 2, most=500) is None


@pytest.mark.parametrize("name", ["bf", "lyu", "bcs", "nuz"])
def test_what_is_measured_lies_between_the_lower_bound_and_the_plans(name):
    [found] = theory.report(name, 1, small=True).values()
    measured = [value for line, value in found.items() if not line.startswith(("our plan", "the paper's", "plan of"))]
    assert found["lower bound"] <= min(measured)
    assert {line: value for line, value in found.items() if line.startswith("the paper's")}
    plan = next(value for line, value in found.items() if line.startswith("our plan"))
    assert found.get("greedy cover", max(measured)) < plan  # baselines of lists may need more


def test_regret_and_mistakes_stay_below_the_plans():
    [found] = theory.report("dr11", 3, small=True).values()
    assert found["planted expert"] <= found["our plan"] <= found["the paper's"]
    assert found["lower bound"] < found["our plan"]
    [found] = theory.report("winnow", 1, small=True).values()
    assert found["lower bound"] <= found["Winnow"] <= found["our plan"] <= found["the paper's"]


def test_a_noisy_leader_follows_a_plane_where_noise_is_small(rng, monkeypatch):
    monkeypatch.setattr(theory, "EPSILON", 1e4)
    X = rng.normal(size=(4000, 4))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(X[:, 0] > 0, 1, -1)
    assert (theory.followed_leader(X, y, rng) != y)[-1000:].mean() < 0.1


def test_smooth_boosting_and_the_other_baselines_learn_from_many_rows(rng):
    X, y = theory.margins(0.4).draw(500, rng)
    assert theory.SmoothBoost(0.4).fit(X, y).score(X, y) == 1
    X, y = theory.thresholds(15).draw(1000, rng)
    assert theory.PlainThreshold(15, 0).fit(X, y).score(X, y) > 0.95
    X, y = theory.lists(4).draw(5000, rng)
    assert theory.NaiveCover(0).fit(X, y).score(X, y) > 0.95


def test_theorem_1_apart_is_the_product_of_its_parts():
    numbers = theory.apart(2)
    assert numbers["rows"] == numbers["teachers"] * numbers["rows each"]
    assert numbers["mistakes"] == pytest.approx(1.5 * numbers["K"] * numbers["U"], rel=0.01)
    found = theory.essential(1, tables=5)
    assert found["found"] <= found["binomials"] <= found["p^d 2^(d^2)"]

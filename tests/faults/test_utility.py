"""A few random tables: no private classifier is worse than no model by more than its noise explains."""

from functools import cache

import numpy as np
import pytest
from usefulness import CASES, EPSILONS, KINDS, LADDERS, Ladder, judged, ladder, rows_of, table, worse


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("name", [name for name in CASES if name != "halfspace of numbers"])  # whose scores pass bins
def test_a_model_is_no_worse_than_none_and_its_probabilities_are_right_on_average(name, declared, many):
    case, rng = CASES[name], np.random.default_rng(len(name))
    for _ in range(many(4, 1000)):
        data, epsilon = table(rng, many(3000, 100_000), many(8, 500)), float(rng.choice(EPSILONS[2:]))
        if data.train.size <= case.slow:
            found = judged(case, data, epsilon, int(rng.integers(1 << 30)), declared=declared)
            assert found is None or not worse(case, found, data), (data.told, epsilon, found)


def test_what_is_worse_than_none_is_seen(monkeypatch):
    """Predictions, ranks and probabilities, each made wrong."""
    case, data = CASES["halfspace"], table(np.random.default_rng(3), 6000, 4)
    rarer = int(data.truth.mean() < 0.5)
    monkeypatch.setattr(case.make, "predict", lambda self, X: np.full(len(X), rarer))
    monkeypatch.setattr(case.make, "decision_function", lambda self, X: -1.0 * data.truth)
    monkeypatch.setattr(case.make, "predict_proba", lambda self, X: np.eye(2)[np.full(len(X), rarer)])
    assert len(worse(case, judged(case, data, 1e6, 0), data)) == 3


@cache
def _rows_of(kind, n, share):
    return rows_of(np.random.default_rng(1), kind, n, share)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", LADDERS)
def test_no_learner_is_worse_with_more_budget_or_worse_than_none(name, kind, many):
    case, n, seeds = LADDERS[name], many(6000, 20_000), range(many(2, 5))
    epsilons = many((0.3, 1.0, 3.0, 10.0), EPSILONS)
    for share in many((0.05,), (0.5, 0.2, 0.05, 0.02)):
        found = ladder(case, _rows_of(kind, n, share), epsilons, seeds)
        assert not found.faults(case.noise), found.told()


def test_falls_and_ranks_below_a_half_are_seen():
    found = Ladder(EPSILONS, np.array([0.8, 0.85, 0.9, 0.9, 0.6]), np.array([0.6, 0.7, 0.3, 0.8, 0.6]), 0.8, 10**6, 0.2)
    assert found.faults(300) == [
        "AUC falls by 0.400 to epsilon 1",
        "AUC 0.300 at epsilon 1",
        "accuracy falls by 0.300 to epsilon 10",
        "AUC falls by 0.200 to epsilon 10",
        "accuracy 0.600 at epsilon 10",
    ]

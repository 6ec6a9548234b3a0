"""A few random tables: no private classifier is worse than no model by more than its noise explains."""

import numpy as np
import pytest
from usefulness import CASES, EPSILONS, judged, table, worse


@pytest.mark.parametrize("name", [name for name in CASES if name != "halfspace of numbers"])  # whose scores pass bins
def test_a_model_is_no_worse_than_none_and_its_probabilities_are_right_on_average(name, many):
    case, rng = CASES[name], np.random.default_rng(len(name))
    for _ in range(many(4, 1000)):
        data, epsilon = table(rng, many(3000, 100_000), many(8, 500)), float(rng.choice(EPSILONS[2:]))
        if data.train.size <= case.slow:
            found = judged(case, data, epsilon, int(rng.integers(1 << 30)))
            assert not worse(case, found, data), (data.told, epsilon, found)


def test_what_is_worse_than_none_is_seen(monkeypatch):
    """Predictions, ranks and probabilities, each made wrong."""
    case, data = CASES["halfspace"], table(np.random.default_rng(3), 6000, 4)
    rarer = int(data.truth.mean() < 0.5)
    monkeypatch.setattr(case.make, "predict", lambda self, X: np.full(len(X), rarer))
    monkeypatch.setattr(case.make, "decision_function", lambda self, X: -1.0 * data.truth)
    monkeypatch.setattr(case.make, "predict_proba", lambda self, X: np.eye(2)[np.full(len(X), rarer)])
    assert len(worse(case, judged(case, data, 1e6, 0), data)) == 3

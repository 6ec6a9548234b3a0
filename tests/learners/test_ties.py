"""Of classes with one score, the one with most released rows is predicted."""

import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast.learners.ties import predicted


def test_equal_scores_are_of_the_larger_class():
    scores = np.array([-1.0, 0.0, 2.0])
    assert predicted(scores).tolist() == [0, 1, 1]
    assert predicted(scores, np.array([3.0, 2.0])).tolist() == [0, 0, 1]
    assert predicted(scores, np.array([2.0, 3.0])).tolist() == [0, 1, 1]
    several = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 1.0], [0.0, 2.0, 1.0], [-1.0, 0.0, 0.0]])
    assert predicted(several).tolist() == [0, 0, 1, 1]
    assert predicted(several, np.array([5.0, -1.0, 9.0])).tolist() == [2, 2, 1, 2]


@pytest.mark.parametrize("learner", [dpfast.HalfspaceClassifier, dpfast.DPWinnowClassifier])
def test_released_sizes_are_saved_and_decide(learner, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.integers(0, 9, 4000), "b": rng.choice(["x", "y"], 4000)})
    y = np.where(rng.random(4000) < 0.8, "often", "seldom")
    model = learner(random_state=0).fit(frame, y)
    assert model.class_sizes_[0] > model.class_sizes_[1] > 0
    model.save(tmp_path / "m.json")
    again = dpfast.load(tmp_path / "m.json")
    assert again.class_sizes_.tolist() == model.class_sizes_.tolist()
    for each in (model, again):
        each.decision_function = lambda X: np.zeros(len(X))
        assert set(each.predict(frame)) == {"often"}

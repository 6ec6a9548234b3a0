"""The protocol of engines: whatever answers by it gives the model of memory, though all that travels is pickled."""

import copy
import pickle

import numpy as np
import pytest
from people import SCHEMA, few, people, pieces, released

from dpfast import BoostedHalfspaceClassifier, DecisionListClassifier, FiniteClassLearner, StatisticalQueryOracle
from dpfast.parts import answered, made


class Pickled:
    """Parts of this process, reached by pickles only; the second one answers twice, and they come in no order."""

    def __init__(self, pairs):
        self._states, self.open = list(pairs), []

    def size(self):
        return len(self._states)

    def make(self, f, *public, own=None):
        other = copy.copy(self)
        f, public, own = _sent((f, public, own))
        other._states = [made(state, f, public, k, own) for k, state in enumerate(self._states)]
        self.open.append(1)
        return other

    def ask(self, f, public, own):
        f, public, own = _sent((f, public, own))
        for k in [*range(self.size())[::-1], *range(1, min(2, self.size()))]:
            yield k, _sent(answered(self._states[k], k, f, public, own))

    def close(self):
        self.open.pop()


def _sent(told):
    return pickle.loads(pickle.dumps(told))


@pytest.mark.parametrize(
    "model",
    [
        few(DecisionListClassifier, threshold=0.5, conjunctions=2),
        few(BoostedHalfspaceClassifier, measure="local", learning_rate=1.0),
        few(BoostedHalfspaceClassifier, weak_learner="stump"),
        few(FiniteClassLearner, threshold=0.5),
    ],
    ids=["conjunctions", "local measure", "stumps", "features"],
)
def test_learners_of_vectors_ask_an_engine_as_they_ask_memory(model, rng):
    X = rng.random((300, 6)) < 0.4
    y = X[:, 1] & X[:, 3]
    whole = released(copy.deepcopy(model).fit(X, y))
    assert released(copy.deepcopy(model).fit(Pickled(pieces(X, y, 4)))) == whole


def test_points_are_learned_by_an_engine(rng):
    x = rng.integers(0, 50, 300)
    given = {"hypotheses": np.eye(50, dtype=bool), "random_state": 1}
    whole = FiniteClassLearner(**given).fit(x, x == 7)
    assert released(FiniteClassLearner(**given).fit(Pickled(pieces(x, x == 7, 4)))) == released(whole)


def test_functions_are_learned_by_an_engine(rng):
    X, y = rng.normal(size=(300, 3)), rng.random(300) < 0.5
    given = {"hypotheses": [_first, _second], "random_state": 1}
    whole = FiniteClassLearner(**given).fit(X, y)
    assert FiniteClassLearner(**given).fit(Pickled(pieces(X, y, 4))).hypothesis_ == whole.hypothesis_


def _first(X):
    return X[:, 0] > 0


def _second(X):
    return X[:, 1] > 0


def test_queries_are_answered_by_an_engine(rng):
    X, y = rng.random((300, 3)), rng.random(300) < 0.3
    answers = [
        StatisticalQueryOracle(data, n_queries=1, random_state=2).answer(_query)
        for data in ((X, y), Pickled(pieces(X, y, 3)))
    ]
    assert answers[0] == answers[1]


def _query(X, y):
    return y & (X[:, 1] > 0.5)


def test_states_are_closed_when_a_fit_is_over():
    engine = Pickled(pieces(people(200), parts=3))
    few(DecisionListClassifier, schema=SCHEMA).fit(engine)
    assert engine.open == []


def test_the_first_failure_in_the_order_of_parts_is_raised():
    frame = people(60).astype({"smokes": object})
    frame.loc[[5, 50], "smokes"] = None
    with pytest.raises(ValueError, match="row 6, column 'smokes' is missing") as raised:
        few(DecisionListClassifier, schema=SCHEMA).fit(Pickled([(frame[:30], None), (frame[30:], None)]))
    assert getattr(raised.value, "__notes__", ["in part 0, counted from 0"]) == ["in part 0, counted from 0"]

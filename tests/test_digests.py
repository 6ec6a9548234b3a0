"""What a seed gives does not change by accident: digests of fitted models, each noted before the code around it moved.

A change that is meant is listed in CHANGELOG.md and noted here by ``python tests/test_digests.py NAME ...``. With
``--moved`` it prints which digests differ from those noted, for tests/platforms/machines.py.
"""

import hashlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import dpfast
from dpfast import littlestone

NOTED = Path(__file__).with_name("digests.json")
SEED = 7


def _mushroom():
    table = dpfast.load_dataset("mushroom")
    return sp.csr_matrix(table.data)[:1500], table.target[:1500]


def _real():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (700, 9))
    return X, np.where(X[:, 0] - X[:, 3] + 0.2 * rng.normal(size=700) > 0, "yes", "no")


def _codes():
    drawn = np.random.default_rng(4).integers(0, 5, (900, 6))
    return dpfast.CodeTable(drawn, [5] * 6), drawn[:, 0] > drawn[:, 1]


def _fitted(name, data=_mushroom, **parameters):
    X, y = data()
    return getattr(dpfast, name)(random_state=SEED, **parameters).fit(X, y)._saver.released()


def _stream():
    X, y = _mushroom()
    clf = dpfast.DPWinnowClassifier(random_state=SEED, n_updates=5)
    predicted = clf.stream(X, y, classes=np.unique(y))
    return clf._saver.released(), predicted.tolist()


def _experts():
    losses = np.random.default_rng(2).random((40, 300))
    rwm = dpfast.RandomizedWeightedMajority(n_experts=300, horizon=40, random_state=SEED)
    return np.asarray(rwm.play(losses)).tolist()


def _queries():
    X, y = _real()
    oracle = dpfast.StatisticalQueryOracle((X, y), n_queries=3, random_state=SEED)
    return oracle.answer_all(lambda X, y, j=j: X[:, j] > 0 for j in range(3)).tolist()


def _points():
    rng = np.random.default_rng(3)
    return rng.choice([5, 9, 1000], size=4000).astype(np.int64)


def _littlestone():
    x = _points()
    learner = littlestone.LittlestoneLearner(
        hypothesis_class=littlestone.PointFunctions(2**20), epsilon=8.0, n_teachers=20, random_state=SEED
    )
    return learner.fit(x, (x == 9).astype(int))._saver.released()


def _online():
    x = _points()
    learner = littlestone.OnlineLittlestoneLearner(
        hypothesis_class=littlestone.PointFunctions(2**20), epsilon=4.0, horizon=len(x), random_state=SEED
    )
    return np.asarray(learner.stream(x, (x == 9).astype(int))).tolist(), learner._saver.released()


def _predictions():
    X, y = _real()
    one = dpfast.HalfspaceClassifier(random_state=SEED, schema="vectors").fit(X, y)
    three = dpfast.HalfspaceClassifier(random_state=SEED, schema="vectors").fit(X, np.arange(700) % 3)
    boosted = dpfast.BoostedHalfspaceClassifier(5, random_state=SEED, probability_share=0.1, schema="vectors").fit(X, y)
    winnow = dpfast.WinnowClassifier().fit(X, y)
    words = dpfast.ProjectedHalfspaceClassifier(random_state=SEED, margin=0.1).fit(*_mushroom())
    predicted = [model.predict_proba(X).tolist() for model in (one, three, boosted)]
    return [*predicted, winnow.decision_function(X).tolist(), words.decision_function(_mushroom()[0]).tolist()]


MODELS = {
    "predictions": _predictions,
    "list": lambda: _fitted("DecisionListClassifier"),
    "list of the paper": lambda: _fitted("DecisionListClassifier", coverage_weight=0, accounting="paper"),
    "list of conjunctions": lambda: _fitted(
        "DecisionListClassifier", lambda: (_mushroom()[0][:, :20], _mushroom()[1]), conjunctions=2
    ),
    "winnow": lambda: _fitted("DPWinnowClassifier"),
    "winnow of reals": lambda: _fitted("DPWinnowClassifier", _real, schema="vectors"),
    "winnow stream": _stream,
    "halfspace": lambda: _fitted("HalfspaceClassifier"),
    "halfspace of three classes": lambda: _fitted(
        "HalfspaceClassifier", lambda: (_real()[0], np.arange(700) % 3), schema="vectors"
    ),
    "halfspace of an array that is surveyed": lambda: _fitted("HalfspaceClassifier", _real),
    "halfspace of codes": lambda: _fitted("HalfspaceClassifier", _codes),
    "boosted": lambda: _fitted("BoostedHalfspaceClassifier"),
    "boosted, add-remove": lambda: _fitted("BoostedHalfspaceClassifier", _real, neighbors="add-remove"),
    "boosted stumps": lambda: _fitted("BoostedHalfspaceClassifier", weak_learner="stump", n_rounds=5),
    "projected": lambda: _fitted("ProjectedHalfspaceClassifier", margin=0.1),
    "projected reals": lambda: _fitted("ProjectedHalfspaceClassifier", _real, margin=0.1, n_components=5),
    "net": lambda: _fitted("NetHalfspaceClassifier", _real, margin=0.4, n_components=3),
    "finite class": lambda: _fitted("FiniteClassLearner", hypotheses="features"),
    "linear learner": lambda: _fitted("LinearLearner", lambda: (_real()[0], _real()[1])),
    "experts": _experts,
    "queries": _queries,
    "littlestone": _littlestone,
    "littlestone, online": _online,
}


def digest(name):
    text = json.dumps(MODELS[name](), default=lambda value: value.tolist() if hasattr(value, "tolist") else str(value))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", MODELS)
def test_a_seed_gives_what_it_gave(name):
    assert digest(name) == json.loads(NOTED.read_text())[name]


if __name__ == "__main__":
    noted = json.loads(NOTED.read_text()) if NOTED.exists() else {}
    if sys.argv[1:] == ["--moved"]:
        sys.exit(print(json.dumps([name for name in MODELS if digest(name) != noted.get(name)])))
    noted.update({name: digest(name) for name in sys.argv[1:] or MODELS})
    NOTED.write_text(json.dumps(noted, indent=1) + "\n")

"""A table as people have it, in any parts, for tests of where rows live."""

import itertools

import numpy as np
import pandas as pd

from dpfast import (
    BoostedHalfspaceClassifier,
    DecisionListClassifier,
    DPWinnowClassifier,
    FiniteClassLearner,
    HalfspaceClassifier,
    NetHalfspaceClassifier,
    ProjectedHalfspaceClassifier,
)
from dpfast.tables import Boolean, Category, Label, Numeric, Schema

COLUMNS = [
    Numeric("age", 0, 120, edges=20),
    Numeric("pay", 0, 100, edges=10, nullable=True),
    Category("job", ["clerk", "smith"], nullable=True),
    Boolean("smokes"),
]
SCHEMA = Schema(COLUMNS, label=Label("buys", ["no", "yes"]))
OPEN = Schema(
    [Numeric("age", 0, None, edges=8, spacing="quantiles"), Numeric("pay", nullable=True), Category("job"), COLUMNS[3]],
    label="buys",
)


def people(n=1500, seed=7):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 91, n),
            "pay": np.where(rng.random(n) < 0.2, np.nan, rng.uniform(0, 100, n)),
            "job": rng.choice(["clerk", "smith", "baker"], n),
            "smokes": rng.random(n) < 0.3,
        }
    )
    frame["buys"] = np.where((frame["age"] > 50) & (frame["job"] != "smith") ^ (rng.random(n) < 0.1), "yes", "no")
    return frame


def cut(n, parts, seed=0):
    """Ends of unequal parts of range(n), the second of them empty where there are three or more."""
    if parts < 3:
        return [0, n // 3, n] if parts == 2 else [0, n]
    inner = np.sort(np.random.default_rng(seed).integers(0, n, parts - 2))
    return [0, *inner[:1], *inner, n]


def pieces(X, y=None, parts=3):
    ends = cut(X.shape[0], parts)
    return [(X[a:b], None if y is None else y[a:b]) for a, b in itertools.pairwise(ends)]


def released(model):
    return model._saver.released(), str(model.privacy_), model.classes_.tolist(), model.n_features_in_


LEARNERS = [HalfspaceClassifier, DecisionListClassifier]
TWO_SIDED = [BoostedHalfspaceClassifier, ProjectedHalfspaceClassifier, DPWinnowClassifier, NetHalfspaceClassifier]
FEW = {
    HalfspaceClassifier: {"n_rounds": 3},
    DecisionListClassifier: {"max_rules": 4},
    BoostedHalfspaceClassifier: {"n_rounds": 3},
    ProjectedHalfspaceClassifier: {"n_rounds": 3},
    DPWinnowClassifier: {"n_updates": 3},
    NetHalfspaceClassifier: {"n_components": 2, "n_projections": 2, "net_radius": 0.2},
    FiniteClassLearner: {"hypotheses": "features"},
}


def few(learner, **given):
    """A learner that takes few rounds."""
    return learner(**{"random_state": 3} | FEW.get(learner, {}) | given)

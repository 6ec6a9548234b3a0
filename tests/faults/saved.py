"""Documents of sound models of every kind, as today's format has them, to be changed by tests."""

import json
import warnings
from pathlib import Path

import numpy as np

import dpfast
from dpfast import littlestone

MODELS = Path(__file__).parents[1] / "models_v1"
SCHEMA = {
    "label": {"name": "y", "classes": ["no", "yes"]},
    "columns": [
        {"name": "age", "kind": "numeric", "low": 0, "high": 100, "edges": 8},
        {"name": "job", "kind": "category", "values": ["a", "b"]},
        {"name": "member", "kind": "boolean"},
    ],
}
OF_A_SCHEMA = {
    "halfspace": lambda **p: dpfast.HalfspaceClassifier(**p),
    "list of a schema": lambda **p: dpfast.DecisionListClassifier(**p),
    "pairs": lambda **p: dpfast.HalfspaceClassifier(3.0, n_rounds=9, interactions=1, **p),
    "trees": lambda **p: dpfast.HalfspaceClassifier(3.0, n_rounds=9, trees=2, **p),
    "boosted of a schema": lambda **p: dpfast.BoostedHalfspaceClassifier(n_rounds=3, **p),
    "projected of a schema": lambda **p: dpfast.ProjectedHalfspaceClassifier(n_components=3, n_rounds=3, **p),
    "net of a schema": lambda **p: dpfast.NetHalfspaceClassifier(n_components=2, net_radius=0.4, margin=0.4, **p),
    "winnow of a schema": lambda **p: dpfast.DPWinnowClassifier(n_updates=3, **p),
}
OF_BITS = {
    "winnow with counts": lambda **p: dpfast.DPWinnowClassifier(probability_share=0.2, n_updates=3, **p),
    "winnow of the paper": lambda **p: dpfast.DPWinnowClassifier(
        1100.0, 1e-300, calibration="paper", batch=1, average=False, negations=False, margin=1.0, horizon=300, **p
    ),
    "linear with counts": lambda **p: dpfast.LinearLearner(probability_share=0.2, **p),
    "boosted with counts": lambda **p: dpfast.BoostedHalfspaceClassifier(n_rounds=3, probability_share=0.2, **p),
    "halfspace of bits": lambda **p: dpfast.HalfspaceClassifier(n_rounds=3, schema="vectors", **p),
    "surveyed": lambda **p: dpfast.HalfspaceClassifier(n_rounds=3, schema="discover", **p),
}
OF_POINTS = {
    "staged": lambda **p: littlestone.StagedLittlestoneLearner(2.0, 1e-6, littlestone.Thresholds(15), scale=1e-4, **p),
    "staged, online": lambda **p: littlestone.StagedOnlineLittlestoneLearner(
        8.0, 1e-6, littlestone.PointFunctions(1 << 40), 5000, scale=1e-6, **p
    ),
}
KINDS = [
    *sorted(path.stem for path in MODELS.glob("*.json") if path.stem != "noted"),
    *OF_A_SCHEMA,
    *OF_BITS,
    *OF_POINTS,
]


def document(kind, folder):
    """The file of a model of this kind, of the format of today."""
    rng = np.random.default_rng(3)
    path = folder / "whole.json"
    if kind in OF_A_SCHEMA:
        schema = dpfast.Schema.from_dict(SCHEMA)
        columns = {"age": rng.random(200) * 100, "job": rng.choice(["a", "b"], 200), "member": rng.random(200) < 0.5}
        model = OF_A_SCHEMA[kind](schema=schema, random_state=0).fit(columns, rng.choice(["no", "yes"], 200))
    elif kind in OF_BITS:
        X = rng.integers(0, 2, (300, 4))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the promise of the paper is void
            model = OF_BITS[kind](random_state=0).fit(X, X[:, 0], classes=[0, 1])
    elif kind in OF_POINTS:
        X = rng.integers(0, 15, 300)
        model = OF_POINTS[kind](random_state=0).fit(X, X >= 4)
    else:
        model = dpfast.load(MODELS / f"{kind}.json")
    model.save(path)
    return json.loads(path.read_text())

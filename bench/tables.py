"""Private models of raw mixed tables, beside the explainable boosting machine made for them: tables.md, tables.json.

    python bench/tables.py --data DIR [--splits 10] [--tables adult ...]

DIR holds NAME.csv.gz and NAME.schema.json. Every model gets the same declarations, equal-width bins, defaults, delta
1e-6 and the same splits 80/20. dpfast protects against a replaced row, DPEBM (interpret-core, where it is installed)
against an added or removed one, which is the weaker promise at the same numbers. Times are of fits in a warm process,
encoding included for dpfast, reading of the file for none.
"""

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import results
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import train_test_split

import dpfast

EPSILONS = (0.3, 1, 4)
DELTA = 1e-6


def read(path):
    """The features of a table as text, its labels and its schema."""
    schema = dpfast.Schema.from_file(path)
    frame = pd.read_csv(path.with_name(path.name.split(".")[0] + ".csv.gz"), dtype=str, keep_default_na=False)
    return frame.drop(columns=schema.label.name), frame[schema.label.name], schema


def halfspace(epsilon, schema):
    return dpfast.HalfspaceClassifier(epsilon, DELTA, schema=schema)


def decision_list(epsilon, schema):
    return dpfast.DecisionListClassifier(epsilon, DELTA, schema=schema)


def dpebm(epsilon, schema):
    """DPEBM with the same bounds; None where interpret is missing or there are more than two classes."""
    try:
        from interpret.privacy import DPExplainableBoostingClassifier
    except ImportError:
        return None
    if len(schema.label.classes) > 2:
        return None
    bounds = {c.name: (c.low, c.high) for c in schema.columns if c.kind == "numeric"}
    kinds = ["continuous" if c.kind == "numeric" else "nominal" for c in schema.columns]
    model = DPExplainableBoostingClassifier(
        epsilon=epsilon, delta=DELTA, feature_names=schema.names, feature_types=kinds, privacy_bounds=bounds, n_jobs=1
    )
    return _Framed(model, schema)


class _Framed:
    """A model that is given numbers as numbers, clipped to their bounds, and categories as text."""

    def __init__(self, model, schema):
        self._model, self._schema = model, schema

    def fit(self, X, y):
        self._model.fit(self._columns(X), y)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X):
        return self._model.predict_proba(self._columns(X))

    def _columns(self, X):
        frame = X[self._schema.names].copy()
        for column in self._schema.columns:
            if column.kind == "numeric":  # missing numbers, which DPEBM does not take, become the middle of the bounds
                numbers = pd.to_numeric(frame[column.name], errors="coerce").clip(column.low, column.high)
                frame[column.name] = numbers.fillna((column.low + column.high) / 2)
        return frame


MODELS = {"halfspace": halfspace, "decision list": decision_list, "DPEBM": dpebm}


def figures(make, epsilon, table, splits):
    """Medians over splits; None if there is no such model."""
    X, y, schema = table
    found = []
    for seed in range(splits):
        model = make(epsilon, schema)
        if model is None:
            return None
        train, test, own, other = train_test_split(X, y, test_size=0.2, random_state=seed)
        start = time.perf_counter()
        model.fit(train, own)
        seconds = time.perf_counter() - start
        chances = model.predict_proba(test)
        truth = np.searchsorted(model.classes_.astype(str), other.to_numpy(str))
        sides = {"average": "macro", "multi_class": "ovr"} if chances.shape[1] > 2 else {}
        ranked = roc_auc_score(truth, chances if sides else chances[:, 1], **sides)
        brier = np.nan if sides else brier_score_loss(truth, chances[:, 1])
        accuracy = (chances.argmax(axis=1) == truth).mean()
        found.append((accuracy, ranked, brier, calibration_error(chances, truth), seconds))
    names = ("accuracy", "auc", "brier", "calibration_error", "seconds")
    return dict(zip(names, np.median(found, axis=0).tolist(), strict=True))


def calibration_error(chances, truth, bins=15):
    """The mean distance between how sure a prediction is and how often it is right."""
    sure, right = chances.max(axis=1), chances.argmax(axis=1) == truth
    at = np.minimum((sure * bins).astype(int), bins - 1)
    return sum(abs(sure[at == k].sum() - right[at == k].sum()) for k in range(bins)) / len(truth)


def markdown(report):
    head = ["table", "model", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS), "calibration error", "fit, s"]
    rows = []
    for name, by_model in report.items():
        for model, by_epsilon in by_model.items():
            cells = [by_epsilon[f"{epsilon:g}"] for epsilon in EPSILONS]
            middle = cells[1]
            figures = [f"{cell['accuracy']:.3f} / {cell['auc']:.3f}" for cell in cells]
            rows.append([name, model, *figures, f"{middle['calibration_error']:.3f}", f"{middle['seconds']:.2f}"])
    return "Accuracy / AUC, medians; calibration and time at epsilon 1.\n\n" + results.table(head, rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path())
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    report = {}
    for path in sorted(arguments.data.glob("*.schema.json")):
        name = path.name.split(".")[0]
        if arguments.tables and name not in arguments.tables:
            continue
        table = read(path)
        for model in arguments.models:
            found = {f"{e:g}": figures(MODELS[model], e, table, arguments.splits) for e in EPSILONS}
            if None not in found.values():
                report.setdefault(name, {})[model] = found
                print(name, model, {e: [round(v, 4) for v in each.values()] for e, each in found.items()}, flush=True)
    (arguments.out / "tables.json").write_text(json.dumps(report, indent=1) + "\n")
    text = markdown(report)
    (arguments.out / "tables.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()

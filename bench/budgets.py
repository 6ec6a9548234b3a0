"""The default by budget, of whole tables or of their first rows, and how much more budget loses.

    python bench/budgets.py --data DIR [--tables adult ...] [--epsilons 0.1 1 ...] [--rows 2000] [--splits 8]

With `--undeclared` nothing is declared.

DIR holds tables as for `bench/tables.py`. A line has the medians of accuracy, AUC and log loss over splits, and their
standard errors of the AUC. The last line of a table is the largest fall of a median with more budget. At a budget of .1
single splits differ by .1 of AUC on tables with a rare class, so two splits say nothing there.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from tables import DELTA, read

import dpfast


def figures(epsilon, table, rows, split, declared):
    """Accuracy, AUC and log loss of one fit."""
    X, y, schema = table
    X, test, y, truth = train_test_split(X[schema.names], y, test_size=0.2, random_state=split)
    model = dpfast.HalfspaceClassifier(epsilon, DELTA, schema=schema if declared else None)
    labels = np.array(sorted(map(str, schema.label.classes)))
    found = model.fit(X[:rows], y[:rows]).predict_proba(test)
    chances = np.full((len(test), len(labels)), 1e-12)
    for j, label in enumerate(model.classes_.astype(str)):
        chances[:, labels == label] = found[:, j : j + 1]
    chances /= chances.sum(axis=1, keepdims=True)
    at = np.searchsorted(labels, truth.to_numpy(str))
    held = np.unique(at)
    areas = [roc_auc_score(at == c, chances[:, c]) for c in (held if len(labels) > 2 else [1])]
    return np.mean(chances.argmax(axis=1) == at), np.mean(areas), log_loss(at, chances, labels=range(len(labels)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tables", nargs="+", default=["adult", "bank_marketing", "telco_churn"])
    parser.add_argument("--epsilons", nargs="+", type=float, default=[0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0])
    parser.add_argument("--rows", type=int)
    parser.add_argument("--splits", type=int, default=8)
    parser.add_argument("--undeclared", action="store_true")
    given = parser.parse_args()
    for name in given.tables:
        table, medians = read(given.data / f"{name}.schema.json"), []
        for epsilon in sorted(given.epsilons):
            each = [figures(epsilon, table, given.rows, split, not given.undeclared) for split in range(given.splits)]
            medians.append(np.median(each, axis=0))
            error = np.std(each, axis=0)[1] / max(1, len(each) - 1) ** 0.5
            told = " ".join(f"{figure:.4f}" for figure in medians[-1])
            print(
                f"{name} epsilon {epsilon:g}: accuracy, AUC, log loss {told}, error of the AUC {error:.4f}", flush=True
            )
        accuracy, area, _ = np.max(np.maximum.accumulate(medians) - medians, axis=0)
        print(
            f"{name}: with more budget a median falls by at most {accuracy:.4f} (accuracy), {area:.4f} (AUC)",
            flush=True,
        )


if __name__ == "__main__":
    main()

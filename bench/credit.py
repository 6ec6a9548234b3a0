"""HalfspaceClassifier where Maddock and others measured private boosted trees: a credit table, their rows and budgets.

    python bench/credit.py --data DIR [--runs 3]

DIR holds give_me_credit.csv.gz and its schema. The protocol is that of the repository of their paper (arXiv 2210.02910,
replication_fig6): rows with a missing cell are left out, a stratified 30% of the rows is the test part, delta is one
over the number of training rows, and a row is added or removed. The script prints means of the area under the ROC curve
over the runs, for each epsilon, with a schema and with nothing declared. The order of the rows of their file is not
known, so the split is of the same kind, but not the same. They read the ranges of numbers off the rows, outside their
claim.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import tables
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import dpfast

EPSILONS = (0.1, 0.5, 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y, schema = tables.read(arguments.data / "give_me_credit.schema.json")
    whole = ~X.isin(list(schema.missing_values)).any(axis=1)
    X, y = X[whole], y[whole]
    train, test, own, other = train_test_split(X, y, test_size=0.3, stratify=y, random_state=1)
    print(f"{len(train):,} training rows, {len(test):,} test rows")
    for name, declared in (("schema", schema), ("nothing declared", None)):
        for epsilon in EPSILONS:
            areas = []
            for _ in range(arguments.runs):
                model = dpfast.HalfspaceClassifier(epsilon, 1 / len(train), schema=declared, neighbors="add-remove")
                model.fit(train, own)
                areas.append(roc_auc_score(other == model.classes_[1], model.predict_proba(test)[:, 1]))
            found = f"{np.mean(areas):.4f}, from {min(areas):.4f} to {max(areas):.4f}"
            print(f"{name}, epsilon {epsilon:g}: {found}", flush=True)


if __name__ == "__main__":
    main()

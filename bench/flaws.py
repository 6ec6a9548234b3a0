"""What wrong labels and rare classes do to HalfspaceClassifier: flaws.md, flaws.json.

    python bench/flaws.py --data DIR [--seeds 10] [--sets NAME ...] [--out DIR]

On data sets of DIR (see utility.py), 80/20 splits, medians over seeds, delta = 1e-6, replace: labels of 5, 10, 20 and
30% of the training rows are turned round, chosen at random; or rows of the class +1 are left out at random, of training
and test part alike, until they are 2, 5 and 10% of the rows, without and with a declared `class_weight` that makes both
classes weigh the same, and with "balanced". Test labels are never turned round. Shown are balanced accuracy and the
area under the ROC curve, beside logistic regression without privacy on the same rows, its classes weighted in the same
way.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
import results
import utility
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

import dpfast

NOISE, SHARES = (0.0, 0.05, 0.1, 0.2, 0.3), (0.1, 0.05, 0.02)
NOT_PRIVATE = "not private"


def flipped(split, share):
    rng = np.random.default_rng((split.seed, 1))
    wrong = rng.random(len(split.y)) < share
    return split._replace(y=np.where(wrong, -split.y, split.y))


def rarer(split, share):
    """The split with fewer rows of the class +1."""
    rng = np.random.default_rng((split.seed, 2))

    def kept(y):
        most = share / (1 - share) * (y == -1).sum()
        return (y == -1) | (rng.random(len(y)) < most / (y == 1).sum())

    train, test = kept(split.y), kept(split.y_test)
    return split._replace(X=split.X[train], y=split.y[train], X_test=split.X_test[test], y_test=split.y_test[test])


def cases():
    """Name, what it makes of a split, and the weights of classes."""
    for share in NOISE:
        yield f"{share:.0%} of labels wrong", (lambda split, share=share: flipped(split, share)), None
    for share in SHARES:
        weights = {1: (1 - share) / share, -1: 1.0}
        yield f"{share:.0%} of class +1", (lambda split, share=share: rarer(split, share)), None
        yield f"{share:.0%} of class +1, weighted", (lambda split, share=share: rarer(split, share)), weights
        yield f"{share:.0%} of class +1, balanced", (lambda split, share=share: rarer(split, share)), "balanced"


def fitted(split, epsilon, weights):
    if epsilon is None:
        return LogisticRegression(solver="liblinear", class_weight=weights).fit(split.X.astype(float), split.y)
    model = dpfast.HalfspaceClassifier(epsilon, utility.DELTA, class_weight=weights, random_state=split.seed)
    return model.fit(split.X, split.y)


def figures(splits, epsilon, weights):
    found = []
    for split in splits:
        model, X = fitted(split, epsilon, weights), split.X_test if epsilon else split.X_test.astype(float)
        right = balanced_accuracy_score(split.y_test, model.predict(X))
        found.append((right, roc_auc_score(split.y_test, model.decision_function(X))))
    return np.median(found, axis=0).tolist()


def markdown(report):
    names = [*(f"epsilon {epsilon:g}" for epsilon in utility.EPSILONS), NOT_PRIVATE]
    rows = []
    for table, by_case in report["tables"].items():
        for case, cells in by_case.items():
            rows.append([table, case, *(f"{right:.3f} / {area:.3f}" for right, area in cells.values())])
            table = ""
    text = f"Balanced accuracy / AUC, medians of {report['seeds']} splits 80/20; delta = 1e-6, replace one row.\n\n"
    return text + results.sentence(report["machine"]) + "\n\n" + results.table(["data", "rows", *names], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", nargs="+", default=["adult_a9a", "mushroom", "phishing"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    report = {"tables": {}, "seeds": arguments.seeds, "machine": results.machine()}
    for table in utility.tables(arguments.data):
        if table.name not in arguments.sets:
            continue
        for case, change, weights in cases():
            splits = [change(split) for split in utility.splits(table, arguments.seeds)]
            cells = {str(epsilon): figures(splits, epsilon, weights) for epsilon in (*utility.EPSILONS, None)}
            report["tables"].setdefault(table.name, {})[case] = cells
            print(table.name, case, [[round(v, 3) for v in cell] for cell in cells.values()], flush=True)
            results.write(arguments.out, "flaws", report)
    (arguments.out / "flaws.md").write_text(markdown(report))


if __name__ == "__main__":
    main()

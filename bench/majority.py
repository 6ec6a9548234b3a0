"""Whether private models of raw tables are ever worse than the larger class: majority.json.

    python bench/majority.py --data DIR [--seeds 20] [--tables NAME ...] [--models NAME ...] [--out DIR]

DIR as in tables.py. Every own model is fitted with its defaults at epsilon .1, .3, 1, 3 and 10, delta = 1e-6, on 80% of
the rows, a split and a seed each. Printed are, for each model and epsilon, the least of (accuracy - share of the
largest class among the test rows), the least area under the ROC curve, and how far the shift of the calibration line is
at most from the log odds of the class sizes. The script fails if an accuracy is lower than the share by more than .004
or a shift is farther than 2.
"""

import argparse
import math
import sys
import warnings
from pathlib import Path

import numpy as np
import results
import tables
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import dpfast

EPSILONS = (0.1, 0.3, 1, 3, 10)
LOST, FAR = 0.004, 2.0


def counted(kind):
    """A learner whose probabilities are those of a calibration line."""
    return lambda epsilon, schema: kind(epsilon, tables.DELTA, schema=schema, probability_share=0.05)


OWN = {name: tables.MODELS[name] for name in (tables.OWN, tables.UNDECLARED, "DecisionListClassifier")} | {
    "ProjectedHalfspaceClassifier, with probabilities": counted(dpfast.ProjectedHalfspaceClassifier),
    "BoostedHalfspaceClassifier, with probabilities": counted(dpfast.BoostedHalfspaceClassifier),
    "DPWinnowClassifier, with probabilities": counted(dpfast.DPWinnowClassifier),
}


def cell(make, epsilon, table, seeds):
    """For each seed: accuracy above the share of the largest class, the area under the ROC curve, how far the shift
    is."""
    X, y, schema = table
    found = []
    for seed in range(seeds):
        train, test, own, other = train_test_split(X, y, test_size=0.2, random_state=seed)
        model = make(epsilon, schema)
        learner = model._model if isinstance(model, tables._Undeclared) else model
        learner.set_params(random_state=seed)
        model.fit(train, own)
        truth = np.searchsorted(model.classes_.astype(str), other.to_numpy(str))
        chances = model.predict_proba(test)
        share = np.bincount(truth).max() / len(truth)
        area = roc_auc_score(truth, chances[:, 1]) if chances.shape[1] == 2 else math.nan
        found.append(((chances.argmax(axis=1) == truth).mean() - share, area, shift(learner, own)))
    return np.array(found, float)


def shift(model, labels):
    """The distance of the line's shift from the log odds of the true class sizes; NaN where there is no one line."""
    if len(model.classes_) != 2 or not hasattr(model, "calibration_line"):
        return math.nan
    second = (labels.to_numpy(str) == str(model.classes_[1])).mean()
    return abs(model.calibration_line().shift - math.log(second / (1 - second)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--tables", nargs="+", default=["noshow_appointments", "stroke_records"])
    parser.add_argument("--models", nargs="+", default=list(OWN), choices=OWN)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    report, failed = {}, False
    for model in arguments.models:
        for name in arguments.tables:
            table = tables.read(arguments.data / f"{name}.schema.json")
            for epsilon in EPSILONS:
                found = cell(OWN[model], epsilon, table, arguments.seeds)
                report.setdefault(name, {}).setdefault(model, {})[f"{epsilon:g}"] = found.tolist()
                lost, area, far = found[:, 0].min(), found[:, 1].min(), found[:, 2].max()
                wrong = lost < -LOST or far > FAR
                failed |= bool(wrong)
                print(
                    f"{name}, {model}, epsilon {epsilon:g}: {lost:+.4f}, AUC {area:.3f}, shift {far:.2f}",
                    "FAILED" if wrong else "",
                    flush=True,
                )
                results.write(arguments.out, "majority", report)
    sys.exit(failed)


if __name__ == "__main__":
    main()

"""How often what a model says comes true, on tables with a schema; writes reliability.svg beside this file.

    python docs/figures/reliability.py [--data DIR]

Models of four fifths of the rows at epsilon 1 and delta 1e-6 say how probable each other row's label is: the second of
two classes, or of more the one predicted. Rows of like probability are put together, and a dot shows for which share of
them it came true, with an interval of the sample. DIR holds NAME.csv.gz and NAME.schema.json; without it the bundled
adult table alone is drawn. Prints Brier scores, half the squared distance summed over classes, and expected calibration
errors; with --shares also of the models of two classes that probabilities cost a share of epsilon, for each share, and
their accuracy beside that of the same model without.
"""

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split
from style import BLUE, GREY, ORANGE, plt, save

import dpfast

HERE, BINS, SEED = Path(__file__).parent, 10, 0
SHARED = {
    "winnow": dpfast.DPWinnowClassifier,
    "boosted": dpfast.BoostedHalfspaceClassifier,
    "boosted stumps": partial(dpfast.BoostedHalfspaceClassifier, weak_learner="stump"),
    "projected": dpfast.ProjectedHalfspaceClassifier,
    "net": partial(dpfast.NetHalfspaceClassifier, net_radius=0.2, n_projections=30),
    "linear learner": dpfast.LinearLearner,
    "one feature": partial(dpfast.FiniteClassLearner, hypotheses="features"),
}
MODELS = {"halfspace": (dpfast.HalfspaceClassifier, BLUE), "decision list": (dpfast.DecisionListClassifier, ORANGE)}


def tables(folder):
    """Names, features, labels and schemas."""
    if folder is None:
        adult = dpfast.load_dataset("adult")
        yield "adult", pd.DataFrame(adult.data), np.asarray(adult.target), adult.schema
        return
    for path in sorted(folder.glob("*.schema.json")):
        schema, name = dpfast.Schema.from_file(path), path.name.split(".")[0]
        frame = pd.read_csv(folder / f"{name}.csv.gz", dtype=str, keep_default_na=False)
        yield name, frame.drop(columns=schema.label.name), frame[schema.label.name].to_numpy(), schema


def said(model, train, own, test, other):
    """The probability of the event of each row, whether it came true, and the Brier score."""
    chances = model.fit(train, own).predict_proba(test)
    truth = np.searchsorted(model.classes_.astype(str), other.astype(str))
    score = np.square(chances - np.eye(chances.shape[1])[truth]).sum(axis=1).mean() / 2
    if chances.shape[1] == 2:
        return chances[:, 1], truth == 1, score
    return chances.max(axis=1), chances.argmax(axis=1) == truth, score


def reliability(chance, came):
    """Middles of bins of equal width that have rows, shares that came true, how far these may be off, and the error."""
    at = np.minimum((chance * BINS).astype(int), BINS - 1)
    rows = np.bincount(at, minlength=BINS)
    seen = np.flatnonzero(rows)
    rows, sure = rows[seen], np.bincount(at, chance, BINS)[seen] / rows[seen]
    share = np.bincount(at, came, BINS)[seen] / rows
    return (
        sure,
        share,
        1.96 * np.sqrt(np.maximum(share * (1 - share), 0.25 / rows) / rows),
        np.average(abs(share - sure), weights=rows),
    )


def shares(name, schema, train, own, test, other, asked):
    """Print what probabilities are worth that cost a share of epsilon."""
    for label, make in SHARED.items() if asked else ():
        plain = make(epsilon=1, schema=schema, random_state=SEED).fit(train, own).score(test, other)
        for share in asked:
            model = make(epsilon=1, schema=schema, probability_share=share, random_state=SEED)
            chance, came, score = said(model, train, own, test, other)
            print(
                f"{name:16} {label:14} share {share:g} Brier {score:.3f}, calibration error "
                f"{reliability(chance, came)[-1]:.3f}, accuracy {model.score(test, other):.3f} ({plain:.3f} without)"
            )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--shares", type=float, nargs="*", default=[])
    asked = parser.parse_args()
    found = list(tables(asked.data))
    warnings.simplefilter("ignore")
    figure, panels = plt.subplots(1, len(found), figsize=(3.1 * len(found) + 0.6, 3.9), squeeze=False, sharey=True)
    for panel, (name, X, y, schema) in zip(panels[0], found, strict=True):
        train, test, own, other = train_test_split(X, y, test_size=0.2, random_state=SEED)
        panel.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle=":")
        for label, (make, colour) in MODELS.items():
            chance, came, score = said(make(epsilon=1, schema=schema, random_state=SEED), train, own, test, other)
            sure, share, reach, error = reliability(chance, came)
            panel.errorbar(sure, share, yerr=reach, fmt="o", markersize=4, linewidth=1, color=colour, label=label)
            print(f"{name:16} {label:14} Brier {score:.3f}, calibration error {error:.3f}")
        if len(schema.label.classes) == 2:
            shares(name, schema, train, own, test, other, asked.shares)
        panel.set(title=name, xlabel="predicted", xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")
    panels[0, 0].set_ylabel("came true")
    panels[0, 0].legend(frameon=False, loc="upper left")
    save(figure, HERE / "reliability.svg")


if __name__ == "__main__":
    main()

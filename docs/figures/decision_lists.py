"""Test accuracy of private decision lists against epsilon; writes decision_lists.svg beside this file.

    python docs/figures/decision_lists.py [--data DIR] [--seeds 51]

mushroom is bundled with dpfast. adult_a9a is drawn if DIR holds adult_a9a.npz: a scipy CSR matrix of 0 and 1 as
`scipy.sparse.save_npz` writes it, with one array more, `y` of -1 and +1.
"""

import argparse
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from style import BLUE, GREEN, GREY, ORANGE, label_ends, plain_ticks, plt, save

import dpfast

EPSILONS = np.array([0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0])
DELTA = 1e-6
LINES = (  # the paper sets no limit to a list's length
    ("default: a falling bar", GREEN, {}),
    ("curve, weight 0", BLUE, {"coverage_weight": 0, "max_rules": None, "rule_counts": 0}),
    (
        "paper's constants, weight 0",
        ORANGE,
        {"accounting": "paper", "coverage_weight": 0, "max_rules": None, "rule_counts": 0},
    ),
)


def tables(folder):
    mushroom = dpfast.load_dataset("mushroom")
    yield "mushroom", mushroom.data, mushroom.target
    path = folder / "adult_a9a.npz" if folder else None
    if path and path.exists():
        yield "adult_a9a", sp.csr_array(sp.load_npz(path)), np.load(path)["y"]


def splits(X, y, seeds):
    for seed in range(seeds):
        X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
        yield seed, (X_train, y_train), (X_test, y_test)


def measure(X, y, options, seeds):
    """Accuracies of shape (seeds, epsilons), and the median length of a list at epsilon = 1."""
    accuracy, lengths = np.empty((seeds, len(EPSILONS))), []
    for seed, train, test in splits(X, y, seeds):
        for e, epsilon in enumerate(EPSILONS):
            model = dpfast.DecisionListClassifier(epsilon, DELTA, random_state=seed, **options).fit(*train)
            accuracy[seed, e] = model.score(*test)
            if epsilon == 1:
                lengths.append(len(model.rules_))
    return accuracy, np.median(lengths)


def reference(X, y, seeds):
    return np.median(
        [
            LogisticRegression(solver="liblinear").fit(train[0].astype(float), train[1]).score(*test)
            for _, train, test in splits(X, y, seeds)
        ]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with adult_a9a.npz")
    parser.add_argument("--seeds", type=int, default=51)
    arguments = parser.parse_args()

    data = list(tables(arguments.data))
    figure, row = plt.subplots(1, len(data), figsize=(5.4 * len(data), 3.9), squeeze=False)
    for axes, (name, X, y) in zip(row[0], data, strict=True):
        ends = []
        print(f"{name}, median accuracy at epsilon = {', '.join(map(str, EPSILONS))}; rules at epsilon = 1")
        for text, colour, options in LINES:
            accuracy, length = measure(X, y, options, arguments.seeds)
            low, middle, high = np.quantile(accuracy, [0.25, 0.5, 0.75], axis=0)
            axes.plot(EPSILONS, middle, color=colour)
            axes.fill_between(EPSILONS, low, high, color=colour, alpha=0.15, linewidth=0)
            ends.append((middle[-1], text, colour))
            print(f"  {text:32}", *(f"{value:.3f}" for value in middle), f"  {length:g}")
        best = reference(X, y, arguments.seeds)
        axes.axhline(best, color=GREY, linestyle="--", linewidth=1.2)
        ends.append((best, "logistic regression, not private", GREY))
        print(f"  {'logistic regression, not private':32} {best:.3f}")
        axes.set(title=name, xscale="log", xlabel="epsilon", ylabel="test accuracy" if axes is row[0, 0] else None)
        axes.set_xlim(EPSILONS[0], EPSILONS[-1])
        plain_ticks(axes.xaxis, [0.1, 0.2, 0.5, 1, 2, 3])
    figure.tight_layout(w_pad=2.5)
    label_ends(axes, ends)  # beside the last panel; colours say the rest
    save(figure, Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    main()

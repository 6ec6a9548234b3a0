"""Area under the ROC curve against the number of rows at epsilon 1: rows.md, rows.svg, rows.json behind them.

    python bench/areas.py [--largest ROWS] [--out DIR]

A drawn table of twelve numbers and three categories whose labels follow five interactions, with its ranges and values
declared. Models learn from 1,000 rows and more, four times as many each time, and are scored on FRESH other rows:
`HalfspaceClassifier` with its defaults, and the boosted trees of scikit-learn with theirs, without privacy. Figures are
medians over tables of other seeds, five up to 100,000 rows and one above.
"""

import argparse

import numpy as np
import pandas as pd
import results
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import dpfast
from dpfast.tables import Category, Numeric

EPSILON, DELTA = 1.0, 1e-6
FRESH, LARGEST = 100_000, 1_024_000
NUMBERS, WORDS, CLASSES = 12, ("a", "b", "c", "d"), ("no", "yes")
PRIVATE, PLAIN = "HalfspaceClassifier, epsilon 1", "boosted trees, without privacy"


def drawn(n, seed):
    """A table of so many rows and its labels."""
    rng = np.random.default_rng(seed)
    x = rng.random((NUMBERS, n))
    words = rng.integers(len(WORDS), size=(3, n))
    score = 2 * np.sin(2 * np.pi * x[0] * x[1]) + 1.5 * (x[2] > x[3]) + 2 * (words[0] == 1) * (x[4] > 0.6)
    score += 1.5 * (words[1] == words[2]) - 3 * (x[5] - 0.5) * (x[6] - 0.5) * 4 + x[7] - x[8]
    table = {f"x{j}": column for j, column in enumerate(x)}
    table |= {f"w{j}": np.array(WORDS)[column] for j, column in enumerate(words)}
    return pd.DataFrame(table), np.where(score - 1.7 + rng.logistic(size=n) / 1.5 > 0, "yes", "no")


def declared():
    numbers = [Numeric(f"x{j}", 0.0, 1.0) for j in range(NUMBERS)]
    return dpfast.Schema([*numbers, *(Category(f"w{j}", WORDS) for j in range(3))], label="y")


def private(X, y, seed, fresh):
    model = dpfast.HalfspaceClassifier(EPSILON, DELTA, schema=declared(), random_state=seed)
    return model.fit(X, y, classes=CLASSES).decision_function(fresh)


def plain(X, y, seed, fresh):
    def coded(table):
        return table.assign(**{name: table[name].astype("category") for name in table if name.startswith("w")})

    model = HistGradientBoostingClassifier(categorical_features="from_dtype", random_state=seed).fit(coded(X), y)
    return model.decision_function(coded(fresh))


def sizes(largest):
    """1,000 and four times as many each time, up to `largest`."""
    return [1000 * 4**k for k in range(20) if 1000 * 4**k <= largest]


def picture(report, path):
    style = results.style()
    figure, axes = style.plt.subplots(figsize=(6.4, 3.8))
    ends = []
    for (name, areas), colour in zip(report["auc"].items(), (style.BLUE, style.GREY), strict=True):
        axes.plot(report["sizes"], areas, color=colour, marker="o", markersize=4)
        ends.append((areas[-1], name, colour))
    axes.set(xscale="log", xlabel="rows", ylabel="area under the ROC curve", title="A table with five interactions")
    style.label_ends(axes, ends)
    style.save(figure, path)


def markdown(report):
    """The table of the areas: a line for each number of rows."""
    lines = zip(report["sizes"], *report["auc"].values(), strict=True)
    rows = [[f"{n:,}", *(f"{area:.3f}".removeprefix("0") for area in areas)] for n, *areas in lines]
    return results.table(["rows", *report["auc"]], rows)


def measured(largest):
    """Sizes, and the areas of both models at each."""
    report = {"sizes": sizes(largest), "auc": {PRIVATE: [], PLAIN: []}}
    fresh, truth = drawn(FRESH, 1000)
    for n in report["sizes"]:
        tables = [drawn(n, seed) for seed in range(5 if n <= 100_000 else 1)]
        for name, scores in ((PRIVATE, private), (PLAIN, plain)):
            areas = [roc_auc_score(truth == "yes", scores(*table, k, fresh)) for k, table in enumerate(tables)]
            report["auc"][name].append(round(float(np.median(areas)), 4))
            print(f"{n:,} rows, {name}: {report['auc'][name][-1]:.4f}", flush=True)
    return report


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--largest", type=int, default=LARGEST, help="the largest number of rows")
    arguments = parser.parse_args()
    report = measured(arguments.largest)
    results.write(arguments.out, "rows", report)
    results.publish(arguments.out, "rows", markdown(report))
    picture(report, arguments.out / "rows.svg")


if __name__ == "__main__":
    main()

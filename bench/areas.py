"""Area under the ROC curve against the number of rows at epsilon 1: rows.md, rows.svg, rows.json behind them.

    python bench/areas.py --data DIR [--largest ROWS] [--out DIR]

DIR holds raw tables as for `bench/tables.py`: models learn from the first rows of their training parts, 1,000 and four
times as many each time, and are scored on the test parts. A drawn table of twelve numbers and three categories, whose
labels follow five interactions, has up to LARGEST rows, and FRESH other rows score models. Ranges and values are
declared. The models are `HalfspaceClassifier` with its defaults, and the boosted trees of scikit-learn with theirs,
without privacy. Figures are medians over five splits, or over drawn tables of other seeds, and of one above 100,000
rows.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import pandas as pd
import results
import tables
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

import dpfast
from dpfast.tables import Category, Numeric

EPSILON, DELTA = 1.0, 1e-6
FRESH, LARGEST, SMALL = 100_000, 4_096_000, 100_000
NUMBERS, WORDS, CLASSES = 12, ("a", "b", "c", "d"), ("no", "yes")
DRAWN, REAL = "drawn", ("covertype_sub", "hotel_bookings", "weather_aus")
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
    """1,000 and four times as many each time, and at last `largest`."""
    return [*(1000 * 4**k for k in range(20) if 1000 * 4**k < largest), largest]


def of_drawn(largest):
    """The areas of both models on the drawn table, a line for each size."""
    fresh, truth = drawn(FRESH, 1000)
    lines = []
    for n in sizes(largest):
        each = []
        for seed in range(5 if n <= SMALL else 1):
            table = drawn(n, seed)
            each.append([roc_auc_score(truth == "yes", scores(*table, seed, fresh)) for scores in (private, plain)])
        lines.append(line(DRAWN, n, each))
    return lines


def of_table(name, folder):
    """The areas of both models on a raw table, a line for each size."""
    X, y, schema = tables.read(folder / f"{name}.schema.json")
    parts = [train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed) for seed in range(5)]
    labels = np.array(sorted(schema.label.classes))
    lines = []
    for n in sizes(len(parts[0][0])):
        each = []
        for train, test, y_train, y_test in parts:
            areas = []
            for make in (tables.MODELS[tables.OWN], tables.MODELS[tables.CEILING]):
                model = make(EPSILON, schema).fit(train[:n], y_train[:n])
                chances = np.zeros((len(test), len(labels)))
                chances[:, np.searchsorted(labels, model.classes_.astype(str))] = model.predict_proba(test)
                areas.append(tables.told(chances, np.searchsorted(labels, y_test.astype(str)))[1])
            each.append(areas)
        lines.append(line(name, n, each))
    return lines


def line(name, n, areas):
    """The medians of areas of so many rows."""
    private, plain = (round(float(area), 4) for area in np.median(areas, axis=0))
    print(f"{name}, {n:,} rows: {private:.4f}, without privacy {plain:.4f}", flush=True)
    return {"rows": n, PRIVATE: private, PLAIN: plain}


def picture(report, path):
    style = results.style()
    figure, panels = style.plt.subplots(2, 2, figsize=(8, 4.4), sharex=True, constrained_layout=True)
    for axes, (name, lines) in zip(panels.flat, report["tables"].items(), strict=True):
        for model, colour in ((PRIVATE, style.BLUE), (PLAIN, style.GREY)):
            rows, areas = [line["rows"] for line in lines], [line[model] for line in lines]
            axes.plot(rows, areas, color=colour, marker="o", markersize=4, label=model)
        axes.set(xscale="log", title="five interactions, drawn" if name == DRAWN else name)
    for axes in panels[1]:
        axes.set(xlabel="rows")
    for axes in panels[:, 0]:
        axes.set(ylabel="area under the ROC curve")
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    style.save(figure, path)


def markdown(report):
    """The areas of both models with a line for each number of rows; raw tables end with all that they have."""
    found, lines = {name: {} for name in report["tables"]}, {}
    for name, of_table in report["tables"].items():
        for line in of_table:
            last = name != DRAWN and line is of_table[-1]
            shown = "all" if last else f"{line['rows']:,}"
            lines[shown] = math.inf if last else line["rows"]
            found[name][shown] = " / ".join(f"{line[model]:.3f}".removeprefix("0") for model in (PRIVATE, PLAIN))
    rows = [[shown, *(cells.get(shown, "") for cells in found.values())] for shown in sorted(lines, key=lines.get)]
    return results.table(["rows", *found], rows)


def measured(folder, largest):
    """The lines of each table."""
    return {"tables": {DRAWN: of_drawn(largest), **{name: of_table(name, folder) for name in REAL}}}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, required=True, help="folder of NAME.csv.gz and NAME.schema.json")
    parser.add_argument("--largest", type=int, default=LARGEST, help="the largest number of drawn rows")
    arguments = parser.parse_args()
    report = measured(arguments.data, arguments.largest)
    results.write(arguments.out, "rows", report)
    results.publish(arguments.out, "rows", markdown(report))
    picture(report, arguments.out / "rows.svg")


if __name__ == "__main__":
    main()

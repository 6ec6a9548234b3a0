"""Private models of raw mixed tables, beside those of others: tables.md, tables.json, tables.svg, tables_auc.svg.

    python bench/tables.py --data DIR [--splits 10] [--tables adult ...] [--models NAME ...] [--out DIR]

DIR holds NAME.csv.gz and NAME.schema.json. Every model has delta 1e-6 and the same splits 80/20, and gets the same
declarations; "nothing declared" gets none, not even the labels. dpfast and DPEBM (interpret-core, where it is
installed) have their defaults. A model called tuned has the most accurate of some settings on the test part, in its
favour. dpfast, noisy gradient and sufficient statistics protect against a replaced row. DPEBM, DP-XGBoost (delta = 0;
`python bench/peer_environment.py --trees`) and AIM (of dpmm, by `--synthetic`; its rows are learned from by
HistGradientBoosting, and a fit takes minutes) protect against an added or removed one, which is the weaker promise at
the same numbers. The linear peers get the indicators of 32 equal-width bins for numbers. HistGradientBoosting, of
scikit-learn with its defaults, is the ceiling: it is not private, and gets numbers as numbers and categories as
categories. Times, in the JSON only, are of fits in a warm process, encoding included, reading of the file for none.

Splits that --out holds for the same minor version of dpfast are not measured again. `--models` alone measures nothing
and writes the tables and pictures again. `python bench/earlier.py` makes a tables.json of the lines that the pages
print. A line says for which minor version of dpfast it was measured.
"""

import argparse
import os
import time
import warnings
from pathlib import Path

import noisy_gradient
import numpy as np
import pandas as pd
import peer_environment
import peers
import results
import sufficient_statistics
from scipy.special import expit
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.model_selection import train_test_split

import dpfast
from dpfast.base.fitting import NothingLearned

EPSILONS = (0.1, 0.3, 1, 3)
DELTA = 1e-6


def read(path):
    """The features of a table as text, its labels and its schema."""
    schema = dpfast.Schema.from_file(path)
    frame = pd.read_csv(path.with_name(path.name.split(".")[0] + ".csv.gz"), dtype=str, keep_default_na=False)
    return frame.drop(columns=schema.label.name), frame[schema.label.name], schema


def halfspace(epsilon, schema):
    return dpfast.HalfspaceClassifier(epsilon, DELTA, schema=schema)


def without_pairs(epsilon, schema):
    return dpfast.HalfspaceClassifier(epsilon, DELTA, schema=schema, interactions=0)


def without_trees(epsilon, schema):
    return dpfast.HalfspaceClassifier(epsilon, DELTA, schema=schema, trees=0)


def add_remove(epsilon, schema):
    return dpfast.HalfspaceClassifier(epsilon, DELTA, schema=schema, neighbors="add-remove")


class _Undeclared:
    """The same with nothing declared; a fit that finds fewer than two labels predicts the more frequent one."""

    def __init__(self, epsilon, schema):
        self._model, self._schema = dpfast.HalfspaceClassifier(epsilon, DELTA), schema

    def fit(self, X, y):
        try:
            self._model.fit(X[self._schema.names], y)
        except NothingLearned:
            self._model = DummyClassifier(strategy="most_frequent").fit(X, y)
        return self

    @property
    def classes_(self):
        return self._model.classes_

    def predict_proba(self, X):
        return self._model.predict_proba(X[self._schema.names])


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


class _OfColumns:
    """A model that is given columns made from a frame."""

    def fit(self, X, y):
        self._model.fit(self._columns(X), y)
        self.classes_ = self._model.classes_
        return self

    def predict_proba(self, X):
        return self._model.predict_proba(self._columns(X))


class _Framed(_OfColumns):
    """A model that is given numbers as numbers, clipped to their bounds, and categories as text."""

    def __init__(self, model, schema):
        self._model, self._schema = model, schema

    def _columns(self, X):
        frame = X[self._schema.names].copy()
        for column in self._schema.columns:
            if column.kind == "numeric":  # missing numbers, which DPEBM does not take, become the middle of the bounds
                numbers = pd.to_numeric(frame[column.name], errors="coerce").clip(column.low, column.high)
                frame[column.name] = numbers.fillna((column.low + column.high) / 2)
        return frame


class _HistGradientBoosting(_OfColumns):
    """Boosted trees without privacy; of a category its most frequent values, as many as the trees take."""

    def __init__(self, epsilon, schema):
        self._schema = schema

    def fit(self, X, y):
        named = [column.name for column in self._schema.columns if column.kind != "numeric"]
        self._values = {name: X[name].value_counts().index[:250] for name in named}
        self._model = HistGradientBoostingClassifier(categorical_features=named, random_state=0)
        return super().fit(X, y)

    def _columns(self, X):
        """Numbers, and the places of categories; NaN where a cell is missing, or a value is not known."""
        marks, columns = list(self._schema.missing_values), {}
        for column in self._schema.columns:
            cells = X[column.name].where(~X[column.name].isin(marks))
            if column.kind == "numeric":
                columns[column.name] = pd.to_numeric(cells, errors="coerce").to_numpy(float)
            else:
                places = self._values[column.name].get_indexer(cells).astype(float)
                columns[column.name] = np.where(places < 0, np.nan, places)
        return pd.DataFrame(columns)


class _Several:
    """Linear models of two classes over indicators of codes, one for each setting."""

    def __init__(self, schema, epsilon):
        self._schema, self._epsilon = schema, epsilon

    def fit(self, X, y):
        codes, sizes = self._coded(X)
        self.classes_ = np.unique(y)
        signs = np.where(y == self.classes_[1], 1, -1)
        self._sizes, self._weights = sizes, np.column_stack(list(self._fitted(codes, sizes, signs)))
        return self

    def every_proba(self, X):
        scores = sufficient_statistics.rows(self._coded(X)[0], self._sizes) @ self._weights
        return [np.column_stack([1 - side, side]) for side in expit(scores.T)]

    def _coded(self, X):
        table = dpfast.TableEncoder(self._schema).fit_transform(X[self._schema.names])
        return np.column_stack(table.codes.columns).astype(np.int64), np.asarray(table.sizes)


class _NotPrivate(_Several):
    def _fitted(self, codes, sizes, signs):
        rows = sufficient_statistics.rows(codes, sizes)
        return [LogisticRegression(solver="liblinear", fit_intercept=False).fit(rows, signs).coef_[0]]


class _NoisyGradient(_Several):
    def _fitted(self, codes, sizes, signs):
        rows = sufficient_statistics.rows(codes, sizes) / np.sqrt(codes.shape[1] + 1)
        options = {"rates": (2, 8, 32, 128), "rng": np.random.default_rng()}
        for steps in (5, 20, 80):
            weights = noisy_gradient.fit(rows, signs, self._epsilon, DELTA, steps=steps, **options)
            yield from weights.T / np.sqrt(codes.shape[1] + 1)


class _Sufficient(_Several):
    def _fitted(self, codes, sizes, signs):
        rng = np.random.default_rng()
        yield from sufficient_statistics.fit(codes, sizes, signs, self._epsilon, DELTA, rng=rng).T


class _Elsewhere(_Framed):
    """A model in its own environment: numbers, and the places of categories, within their declared ends.

    `seconds` is processor time: a fit of minutes is interrupted by whatever else runs.
    """

    def __init__(self, schema, epsilon):
        super().__init__(None, schema)
        self._epsilon = epsilon
        self._sizes = np.array([0 if c.kind == "numeric" else len(values(c)) + 1 for c in schema.columns])
        ends = [(c.low, c.high) if c.kind == "numeric" else (0, len(values(c))) for c in schema.columns]
        self._low, self._high = np.array(ends, float).T

    def _rows(self, X, y):
        """What is learned from, as arrays for `peer_worker`."""
        self.classes_ = np.unique(y)
        ends = {"low": self._low, "high": self._high}
        return {"X": self._numbers(X), "y": (y == self.classes_[1]).to_numpy(float)} | ends

    def _numbers(self, X):
        frame = self._columns(X)
        for column in self._schema.columns:
            if column.kind != "numeric":
                places = {value: place for place, value in enumerate(values(column))}
                frame[column.name] = frame[column.name].astype(str).map(places).fillna(len(places))
        return frame.to_numpy(float)


def processor_seconds():
    """Of this process and of those that it started and that have ended."""
    return sum(os.times()[:4])


def values(column):
    """The values of a category, or of a boolean, as text."""
    return [str(value) for value in getattr(column, "values", None) or ("False", "True")]


class _Synthetic(_Elsewhere):
    """HistGradientBoosting on as many rows as AIM, of dpmm, makes from private counts of columns."""

    def fit(self, X, y):
        start = processor_seconds()
        aim = peers.Worker("synthetic_rows", kind="synthetic", sizes=self._sizes, **self._rows(X, y))
        made = np.array(aim(epsilon=self._epsilon, delta=DELTA))
        aim.close()
        few = (self._sizes > 0) & (self._sizes <= 255)  # the trees take no more places as categories
        self._model = HistGradientBoostingClassifier(categorical_features=few, random_state=0)
        self._model.fit(made[:, :-1], made[:, -1])
        self.seconds = processor_seconds() - start
        return self

    def predict_proba(self, X):
        side = self._model.predict_proba(self._numbers(X))
        return side if side.shape[1] == 2 else np.tile([1.0, 0.0], (len(X), 1))


class _Trees(_Elsewhere):
    """DP-XGBoost, each of its settings."""

    settings = ((1, 3, 1.0), (5, 3, 1.0), (20, 6, 0.1))

    def fit(self, X, y):
        self._train = self._rows(X, y)
        return self

    def every_proba(self, X):
        start = processor_seconds()
        arrays = self._train | {"X_test": self._numbers(X)}
        chances = peers.Worker("boosted_trees", kind="trees", **arrays)
        for trees, depth, share in self.settings:
            side = np.array(chances(epsilon=self._epsilon, trees=trees, depth=depth, share=share))
            yield np.column_stack([1 - side, side])
        chances.close()
        self.seconds = processor_seconds() - start


def two_classes(kind, there=True):
    """A model for tables of two classes, if it is there."""
    return lambda epsilon, schema: kind(schema, epsilon) if there and len(schema.label.classes) == 2 else None


OWN, UNDECLARED = "HalfspaceClassifier", "HalfspaceClassifier, nothing declared"
CEILING = "HistGradientBoosting, not private"
NOT_PRIVATE = CEILING, "logistic regression, not private"
MODELS = {
    OWN: halfspace,
    UNDECLARED: _Undeclared,
    "HalfspaceClassifier, no pairs": without_pairs,
    "HalfspaceClassifier, no trees": without_trees,
    "HalfspaceClassifier, add-remove": add_remove,
    "DecisionListClassifier": decision_list,
    "logistic regression, not private": two_classes(_NotPrivate),
    CEILING: _HistGradientBoosting,
    "noisy gradient, tuned": two_classes(_NoisyGradient),
    "sufficient statistics, ours, tuned": two_classes(_Sufficient),
    "DPEBM": dpebm,
    "DP-XGBoost, tuned": two_classes(_Trees, peer_environment.python("trees") is not None),
    "AIM, then boosted trees": two_classes(_Synthetic, peer_environment.python("synthetic") is not None),
}


def figures(make, epsilon, table, splits, earlier=None):
    """Medians over splits, those of the most accurate setting; None if there is no such model.

    Splits that `earlier` holds, the figures of the same cell, are not measured again if the version is the same.
    """
    X, y, schema = table
    labels = np.array(sorted(map(str, schema.label.classes)))
    each = earlier.get("each", [[]]) if earlier and earlier["version"] == results.minor() else [[]]
    for seed in range(len(each[0]), splits):
        model = make(epsilon, schema)
        if model is None:
            return None
        train, test, own, other = train_test_split(X, y, test_size=0.2, random_state=seed)
        start = time.perf_counter()
        model.fit(train, own)
        seconds = time.perf_counter() - start
        truth, known = np.searchsorted(labels, other.to_numpy(str)), model.classes_.astype(str)
        hidden = np.setdiff1d(labels, known)  # labels that were not discovered; a class "other" stands for them
        known = np.searchsorted(labels, np.where(np.isin(known, labels), known, [*hidden, labels[0]][0]))
        every = [*model.every_proba(test)] if hasattr(model, "every_proba") else [model.predict_proba(test)]
        seconds = getattr(model, "seconds", seconds)
        each = each if seed else [[] for _ in every]
        for found, chances in zip(each, every, strict=True):
            of_all = np.zeros((len(truth), len(labels)))
            of_all[:, known] = chances
            found.append([*told(of_all, truth), seconds])
    names = ("accuracy", "auc", "brier", "calibration_error", "seconds")
    best = max(np.median(found, axis=0).tolist() for found in each)
    return dict(zip(names, best, strict=True)) | {"splits": len(each[0]), "version": results.minor(), "each": each}


def told(chances, truth):
    """Accuracy, area under the ROC curve, Brier score and calibration error."""
    sides = {"average": "macro", "multi_class": "ovr"} if chances.shape[1] > 2 else {}
    ranked = roc_auc_score(truth, chances if sides else chances[:, 1], **sides)
    brier = np.nan if sides else brier_score_loss(truth, chances[:, 1])
    accuracy = (chances.argmax(axis=1) == truth).mean()
    return float(accuracy), float(ranked), float(brier), calibration_error(chances, truth)


def calibration_error(chances, truth, bins=15):
    """The mean distance between how sure a prediction is and how often it is right."""
    sure, right = chances.max(axis=1), chances.argmax(axis=1) == truth
    at = np.minimum((sure * bins).astype(int), bins - 1)
    return float(sum(abs(sure[at == k].sum() - right[at == k].sum()) for k in range(bins)) / len(truth))


def markdown(report):
    head = [
        "table",
        "model",
        *(f"epsilon {epsilon:g}" for epsilon in EPSILONS),
        "calibration error",
        "dpfast",
        "splits",
    ]
    rows = []
    for name, by_model in report.items():
        for model, by_epsilon in by_model.items():
            cells = [by_epsilon[f"{epsilon:g}"] for epsilon in EPSILONS]
            middle = by_epsilon["1"]
            figures = [f"{cell['accuracy']:.3f} / {cell['auc']:.3f}" for cell in cells]
            told = f"{middle['calibration_error']:.3f}", middle["version"], middle["splits"]
            rows.append([name if model == next(iter(by_model)) else "", model, *figures, *told])
    text = "Accuracy / AUC, medians; calibration at epsilon 1.\n\n" + results.table(head, rows)
    text += "\nDistance from HistGradientBoosting without privacy, the largest in area first:\n\n" + distances(report)
    private = {
        name: {
            model: {epsilon: cell["accuracy"] for epsilon, cell in found.items()}
            for model, found in by_model.items()
            if model not in NOT_PRIVATE and not model.startswith(f"{OWN}, ")
        }
        for name, by_model in report.items()
    }
    private = {name: found for name, found in private.items() if OWN in found and len(found) > 1}
    if private:
        text += "\nWho is ahead in accuracy, of all that is private:\n\n" + results.winners(private, OWN)
    return text


def distances(report):
    """How far the default is from the ceiling in accuracy and area, in Markdown; the farthest in area at 1 first."""
    lines = []
    for name, by_model in report.items():
        for model in (OWN, UNDECLARED):
            if model not in by_model or CEILING not in by_model:
                continue
            above, cells = by_model[CEILING]["1"], by_model[model]
            behind = [
                (cells[f"{e:g}"]["accuracy"] - above["accuracy"], cells[f"{e:g}"]["auc"] - above["auc"])
                for e in EPSILONS
            ]
            told = [f"{accuracy:+.3f} / {area:+.3f}" for accuracy, area in behind]
            ceiling = f"{above['accuracy']:.3f} / {above['auc']:.3f}"
            lines.append((behind[EPSILONS.index(1)][1], [name, model.removeprefix(OWN + ", "), ceiling, *told]))
    rows = [row for _, row in sorted(lines)]
    return results.table(["table", "model", "not private", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS)], rows)


def draw(report, figure_of, path):
    """Accuracy or area against epsilon, a panel for each table, with the ceiling as a line."""
    style = results.style()
    plt = style.plt
    colours = {
        OWN: (style.RED, "-"),
        UNDECLARED: (style.RED, ":"),
        "DecisionListClassifier": (style.GREEN, "-"),
        "noisy gradient, tuned": (style.GREY, "--"),
        "sufficient statistics, ours, tuned": (style.PURPLE, "--"),
        "DPEBM": (style.BLUE, "--"),
        "DP-XGBoost, tuned": (style.AMBER, "--"),
    }
    width = 3
    height = -(-len(report) // width)
    figure, grid = plt.subplots(height, width, figsize=(3.6 * width, 2.7 * height), squeeze=False)
    labels = {}
    for axes, (name, by_model) in zip(grid.flat, report.items(), strict=False):
        if CEILING in by_model:
            line = axes.axhline(by_model[CEILING]["1"][figure_of], color=style.BLACK, linewidth=1.2, linestyle="-.")
            labels[CEILING] = line
        for model, (colour, dashes) in colours.items():
            if model in by_model:
                values = [by_model[model][f"{epsilon:g}"][figure_of] for epsilon in EPSILONS]
                (labels[model],) = axes.plot(EPSILONS, values, dashes, marker="o", markersize=3, color=colour)
        axes.set(title=name, xscale="log", xlabel="epsilon")
        style.plain_ticks(axes.xaxis, EPSILONS)
        low, high = axes.get_ylim()
        more = max(0, 0.02 - (high - low)) / 2  # differences in the third digit look small
        axes.set_ylim(low - more, high + more)
    for axes in grid.flat[len(report) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel({"accuracy": "test accuracy", "auc": "area under the ROC curve"}[figure_of])
    figure.tight_layout()
    options = {"loc": "upper center", "bbox_to_anchor": (0.5, 0), "ncols": 3, "frameon": False}
    figure.legend(labels.values(), labels.keys(), **options)
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--tables", nargs="*")
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    report = results.read(arguments.out, "tables") or {}
    order = list(MODELS)
    for path in sorted(arguments.data.glob("*.schema.json")):
        name = path.name.split(".")[0]
        if arguments.tables and name not in arguments.tables:
            continue
        table = read(path) if arguments.models else None
        for model in arguments.models:
            measured = EPSILONS[:1] if model in NOT_PRIVATE else EPSILONS
            kept = report.get(name, {}).get(model, {})
            found = {f"{e:g}": figures(MODELS[model], e, table, arguments.splits, kept.get(f"{e:g}")) for e in measured}
            found = {f"{e:g}": found.get(f"{e:g}", found[f"{measured[0]:g}"]) for e in EPSILONS}
            if None not in found.values():
                of_table = report.get(name, {}) | {model: found}
                report[name] = {each: of_table[each] for each in sorted(of_table, key=order.index)}
                told = "  ".join(f"{cell['accuracy']:.4f} / {cell['auc']:.4f}" for cell in found.values())
                print(f"{name:20} {model:40} {told}  {found['1']['seconds']:.2f} s", flush=True)
            results.write(arguments.out, "tables", report)
    results.publish(arguments.out, "tables", markdown(report))
    for figure_of, name in (("accuracy", "tables.svg"), ("auc", "tables_auc.svg")):
        draw(report, figure_of, arguments.out / name)


if __name__ == "__main__":
    main()

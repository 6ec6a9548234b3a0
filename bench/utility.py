"""Accuracy per epsilon: utility.md, utility.svg, and utility.json behind them.

    python bench/utility.py --data DIR [--seeds 10] [--methods NAME ...] [--sets NAME ...] [--out DIR]

Every private learner of dpfast with its defaults at epsilon 0.1, 0.3, 1 and 3, delta = 1e-6, replace unless its name
says add-remove, on every data set of DIR: 80/20 splits, medians over seeds. The split comes first, and no learner
sees the test part. Peers are tuned on it, without cost in privacy, in their favour: noisy gradient descent
(noisy_gradient.py), private Frank-Wolfe (frank_wolfe.py), sufficient statistics (sufficient_statistics.py), and in an
environment of their own (peer_environment.py) diffprivlib's logistic regression and DP-XGBoost, both with delta = 0.
Noisy gradient and diffprivlib get rows of norm 1 with a constant. DPEBM, of interpret-core, has its defaults. It, DP-
XGBoost and sufficient statistics are for columns of numbers or attributes, not for words: columns of 0 and 1 become
attributes again by their names, or by the numbers of values below. DPEBM and DP-XGBoost protect an added row, the
weaker promise.

DIR holds .npz files. Sparse ones are CSR as `scipy.sparse.save_npz` writes it, of 0 and 1, with one array more, `y` of
-1 and +1. Dense ones hold `X`, integer thousandths in [-1000, 1000], and `y`; where they hold `digit` too, 0 against 1
is one data set more. What was measured earlier is kept in --out; --methods and --sets say what to measure now, and
`--methods` alone measures nothing and draws again.
"""

import argparse
import importlib.util
import inspect
import time
import warnings
from pathlib import Path
from typing import NamedTuple

import frank_wolfe
import noisy_gradient
import numpy as np
import peers
import results
import scipy.sparse as sp
import sufficient_statistics
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

import dpfast

EPSILONS = (0.1, 0.3, 1.0, 3.0)
DELTA = 1e-6
ATTRIBUTES = {"adult_a9a": (5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41)}  # values of each, where no names tell

# Private learners: colour, and what they must be told beside a budget on tables of 0 and 1, and on real ones.
LEARNERS = {
    "DecisionListClassifier": ("GREEN", {}, {"threshold": 0.0}),
    "DPWinnowClassifier": ("BLUE", {}, {}),
    "HalfspaceClassifier": ("RED", {}, {}),
    "HalfspaceClassifier, add-remove": ("RED", {"neighbors": "add-remove"}, {"neighbors": "add-remove"}),
    "BoostedHalfspaceClassifier": ("BLACK", {}, {}),
    "ProjectedHalfspaceClassifier": ("SKY", {}, {}),
    "NetHalfspaceClassifier": ("PURPLE", {"margin": 0.1, "n_components": 4}, {"margin": 0.1, "n_components": 4}),
    "LinearLearner": ("AMBER", {}, {}),
}


class Table(NamedTuple):
    name: str
    X: np.ndarray | sp.csr_array
    y: np.ndarray
    starts: np.ndarray | None = None  # of attributes, among columns of 0 and 1


class Split(NamedTuple):
    X: np.ndarray | sp.csr_array
    y: np.ndarray
    X_test: np.ndarray | sp.csr_array
    y_test: np.ndarray
    seed: int
    starts: np.ndarray | None

    def attributes(self):
        """Rows, test rows, and each column's lowest and highest value: codes of attributes, or numbers as they are."""
        if not sp.issparse(self.X):
            return self.X, self.X_test, -np.ones(self.X.shape[1]), np.ones(self.X.shape[1])
        if self.starts is None:
            raise ValueError("columns are words, not attributes")
        codes, sizes = sufficient_statistics.codes(self.X, self.starts)
        return codes, sufficient_statistics.codes(self.X_test, self.starts)[0], np.zeros(len(sizes)), sizes - 1.0


def starts(stem, file):
    """Where attributes begin among columns of 0 and 1, None if these are no attributes."""
    if stem in ATTRIBUTES:
        return sufficient_statistics.attributes(sizes=ATTRIBUTES[stem])
    names = bytes(file["feature_names"]).decode().split("\n") if "feature_names" in file else [""]
    return sufficient_statistics.attributes(names) if all("=" in name for name in names) else None


def tables(folder):
    for path in sorted(folder.glob("*.npz")):
        file = np.load(path)
        if "X" not in file:
            yield Table(path.stem, sp.csr_array(sp.load_npz(path)), file["y"], starts(path.stem, file))
            continue
        X = file["X"] / 1000.0
        yield Table(path.stem, X, file["y"])
        if "digit" in file:
            chosen = file["digit"] < 2
            yield Table(f"{path.stem} 0/1", X[chosen], np.where(file["digit"][chosen] == 1, 1, -1))


# ---- methods: from splits to (seed, epsilon, setting, accuracy), one at a time -------------------------------------


def learner(name, X, epsilon, seed, **options):
    """A learner of dpfast for tables like X; what its constructor does not know is left out, as delta of a pure one."""
    constructor = getattr(dpfast, _class_of(name))
    known = inspect.signature(constructor).parameters
    wanted = {"epsilon": epsilon, "delta": DELTA, "neighbors": "replace", "random_state": seed}
    _, booleans, reals = LEARNERS[name]
    wanted |= (booleans if sp.issparse(X) else reals) | options
    return constructor(**{key: value for key, value in wanted.items() if key in known})


def _class_of(name):
    return name.split(",")[0]


def private_learner(name):
    def measure(splits):
        for split in splits:
            for epsilon in EPSILONS:
                model = learner(name, split.X, epsilon, split.seed).fit(split.X, split.y)
                yield split.seed, epsilon, "defaults", model.score(split.X_test, split.y_test)

    return measure


def not_private(splits):
    for split in splits:
        model = LogisticRegression(solver="liblinear") if sp.issparse(split.X) else LogisticRegression(max_iter=1000)
        model.fit(split.X.astype(float), split.y)
        yield split.seed, None, "defaults", model.score(split.X_test.astype(float), split.y_test)


def noisy_gradients(splits):
    for split in splits:
        X, X_test = noisy_gradient.unit_rows(split.X), noisy_gradient.unit_rows(split.X_test)
        for epsilon in EPSILONS:
            for steps in noisy_gradient.STEPS:
                rng = np.random.default_rng((split.seed, steps))
                options = {"steps": steps, "rates": noisy_gradient.RATES, "rng": rng}
                weights = noisy_gradient.fit(X, split.y, epsilon, DELTA, **options)
                right = (X_test @ weights >= 0) == (split.y_test == 1)[:, np.newaxis]
                for rate, accuracy in zip(noisy_gradient.RATES, right.mean(axis=0), strict=True):
                    yield split.seed, epsilon, f"T = {steps}, rate {rate}", accuracy


def frank_wolfe_tuned(splits):
    for split in splits:
        X, X_test = frank_wolfe.rows(split.X), frank_wolfe.rows(split.X_test)
        for epsilon in EPSILONS:
            for steps in frank_wolfe.STEPS:
                for radius in frank_wolfe.RADII:
                    options = {"steps": steps, "radius": radius, "rng": np.random.default_rng((split.seed, steps))}
                    weights = frank_wolfe.fit(X, split.y, epsilon, DELTA, **options)
                    right = ((X_test @ weights >= 0) == (split.y_test == 1)).mean()
                    yield split.seed, epsilon, f"T = {steps}, radius {radius}", right


def diffprivlib(splits):
    for split in splits:
        X, X_test = noisy_gradient.unit_rows(split.X), noisy_gradient.unit_rows(split.X_test)
        fit = peers.Worker("logistic_regression", X=X, y=split.y, X_test=X_test, y_test=split.y_test)
        for epsilon in EPSILONS:
            for C in (0.01, 0.1, 1.0, 10.0):
                yield split.seed, epsilon, f"C = {C}", fit(epsilon=epsilon, C=C, seed=split.seed)


def sufficient(splits):
    for split in splits:
        if not sp.issparse(split.X):
            raise ValueError("columns are numbers, not attributes of a few values")
        codes, test_codes, _, highest = split.attributes()
        sizes = highest.astype(int) + 1
        test = sufficient_statistics.rows(test_codes, sizes)
        for epsilon in EPSILONS:
            rng = np.random.default_rng(split.seed)
            weights = sufficient_statistics.fit(codes, sizes, split.y, epsilon, DELTA, rng=rng)
            right = (test @ weights >= 0) == (split.y_test == 1)[:, np.newaxis]
            for ridge, accuracy in zip(sufficient_statistics.RIDGES, right.mean(axis=0), strict=True):
                yield split.seed, epsilon, f"ridge {ridge:g}", accuracy


def dpebm(splits):
    from interpret.privacy import DPExplainableBoostingClassifier

    for split in splits:
        X, X_test, low, high = split.attributes()
        kind = "nominal" if sp.issparse(split.X) else "continuous"
        options = {"feature_types": [kind] * X.shape[1], "n_jobs": 1, "random_state": None}
        options["privacy_bounds"] = {f"feature_{j:04}": ends for j, ends in enumerate(zip(low, high, strict=True))}
        options["feature_names"] = list(options["privacy_bounds"])
        for epsilon in EPSILONS:
            model = DPExplainableBoostingClassifier(epsilon=epsilon, delta=DELTA, **options).fit(X, split.y)
            yield split.seed, epsilon, "defaults", (model.predict(X_test) == split.y_test).mean()


def dp_xgboost(splits):
    for split in splits:
        X, X_test, low, high = split.attributes()
        y, X, X_test = (split.y > 0).astype(float), X.astype(float), X_test.astype(float)
        chances = peers.Worker("boosted_trees", kind="trees", X=X, y=y, X_test=X_test, low=low, high=high)
        for epsilon in EPSILONS:
            for trees, depth, share in ((1, 3, 1.0), (5, 3, 1.0), (20, 3, 0.1), (20, 6, 0.1)):
                right = np.array(chances(epsilon=epsilon, trees=trees, depth=depth, share=share)) >= 0.5
                yield split.seed, epsilon, f"{trees} trees of {depth}", (right == (split.y_test > 0)).mean()


OWN = "HalfspaceClassifier"
NOT_PRIVATE = "logistic regression, not private"
PEERS = {
    NOT_PRIVATE: not_private,
    "noisy gradient, tuned": noisy_gradients,
    "Frank-Wolfe, tuned": frank_wolfe_tuned,
    "sufficient statistics, ours, tuned": sufficient,
    "diffprivlib, tuned": diffprivlib,
    "DPEBM": dpebm,
    "DP-XGBoost, tuned": dp_xgboost,
}


def methods():
    """All that can be measured here, by name."""
    found = {name: private_learner(name) for name in LEARNERS if _class_of(name) in dpfast.__all__}
    found |= PEERS
    there = " ".join(peers.versions_elsewhere())
    for name, package in (("diffprivlib, tuned", "diffprivlib"), ("DP-XGBoost, tuned", "dp-xgboost")):
        if package not in there:
            print(f"without {package}: python bench/peer_environment.py makes its environment")
            del found[name]
    if importlib.util.find_spec("interpret") is None:
        del found["DPEBM"]
    return found


# ---- measuring and telling -----------------------------------------------------------------------------------------


def splits(table, seeds):
    for seed in range(seeds):
        X, X_test, y, y_test = train_test_split(table.X, table.y, test_size=0.2, random_state=seed)
        yield Split(X, y, X_test, y_test, seed, table.starts)


def best_medians(records):
    """The highest median accuracy over the seeds, among the settings tried.

    Parameters
    ----------
    records : list of (seed, epsilon, setting, accuracy)

    Returns
    -------
    dict
        From epsilon to (accuracy, setting).
    """
    accuracies = {}
    for _, epsilon, setting, accuracy in records:
        accuracies.setdefault(epsilon, {}).setdefault(setting, []).append(accuracy)
    return {
        epsilon: max((float(np.median(values)), setting) for setting, values in by_setting.items())
        for epsilon, by_setting in accuracies.items()
    }


def measure(method, table, seeds):
    """What the method reaches on a table: medians by epsilon, and seconds in all; or why it refuses."""
    start, records = time.perf_counter(), []
    try:
        for record in method(splits(table, seeds)):
            records.append(record)
    except ValueError as refusal:
        return {"refused": str(refusal)}
    medians = [
        {"epsilon": epsilon, "accuracy": accuracy, "setting": setting}
        for epsilon, (accuracy, setting) in best_medians(records).items()
    ]
    seconds = time.perf_counter() - start
    return {"seeds": seeds, "version": results.minor(), "seconds": seconds, "medians": medians}


def markdown(report):
    header = ["data", "method", *(f"epsilon {epsilon:g}" for epsilon in EPSILONS), "dpfast", "splits"]
    rows, refusals, private = [], [], {}
    for name, by_method in report["tables"].items():
        for method, result in by_method.items():
            if "refused" in result:
                refusals.append(f"* {method} on {name}: {result['refused']}")
                continue
            found = {median["epsilon"]: median["accuracy"] for median in result["medians"]}
            cells = [found.get(epsilon, found.get(None, np.nan)) for epsilon in EPSILONS]
            measured = (f"{cell:.3f}" for cell in cells)
            above = name if name not in private else ""
            rows.append([above, method, *measured, result["version"], result["seeds"]])
            private.setdefault(name, {})
            if None not in found and "add-remove" not in method:
                private[name][method] = {f"{epsilon:g}": cell for epsilon, cell in zip(EPSILONS, cells, strict=True)}
    text = "Test accuracy, medians of splits 80/20; delta = 1e-6, replace one row.\n\n"
    text += results.sentence(report["machine"]) + "\n\n" + results.table(header, rows)
    private = {name: found for name, found in private.items() if OWN in found and len(found) > 1}
    if private:
        text += "\nWho is ahead, of all that is private:\n\n" + results.winners(private, OWN)
    return text + ("\nRefused:\n\n" + "\n".join(refusals) + "\n" if refusals else "")


def draw(report, path):
    style = results.style()
    plt, names = style.plt, list(report["tables"])
    width = min(4, len(names))
    height = -(-len(names) // width)
    figure, grid = plt.subplots(height, width, figsize=(3.3 * width, 3 * height), squeeze=False)
    colours = {name: getattr(style, colour) for name, (colour, *_) in LEARNERS.items()}
    colours |= {"noisy gradient, tuned": style.GREY, "diffprivlib, tuned": style.ORANGE}
    colours |= {"Frank-Wolfe, tuned": style.AMBER, "DPEBM": style.BLUE, "DP-XGBoost, tuned": style.GREEN}
    colours |= {"sufficient statistics, ours, tuned": style.PURPLE}
    for axes, name in zip(grid.flat, names, strict=False):
        for method, result in report["tables"][name].items():
            if "refused" in result or "add-remove" in method:
                continue
            if method == NOT_PRIVATE:
                best = result["medians"][0]["accuracy"]
                axes.axhline(best, color=style.GREY, linewidth=1.2, linestyle=":", label=method)
                continue
            x, y = zip(*((median["epsilon"], median["accuracy"]) for median in result["medians"]), strict=True)
            axes.plot(x, y, "--o" if method in PEERS else "-o", color=colours[method], markersize=4, label=method)
        axes.set(title=name, xscale="log", xlabel="epsilon")
        style.plain_ticks(axes.xaxis, EPSILONS)
    for axes in grid.flat[len(names) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("test accuracy")
    labels = {}
    for axes in grid.flat:
        handles, names = axes.get_legend_handles_labels()
        labels |= dict(zip(names, handles, strict=True))
    figure.tight_layout()
    figure.legend(labels.values(), labels.keys(), loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, frameon=False)
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, help="folder of the data sets")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--methods", nargs="*", help="what to measure; everything by default")
    parser.add_argument("--sets", nargs="+", help="on which data sets; all of them by default")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # a row without entries, a solver that would like more steps

    known = methods()
    wanted = list(known) if arguments.methods is None else arguments.methods
    if unknown := [name for name in wanted if name not in known]:
        parser.error(f"no method {unknown[0]!r}; there are {', '.join(known)}")
    if wanted and not arguments.data:
        parser.error("measuring needs --data DIR")

    report = results.read(arguments.out, "utility") or {"tables": {}}
    report["machine"] = results.machine()
    report["machine"]["versions"] |= peers.versions_elsewhere()
    for table in tables(arguments.data) if wanted else ():
        if arguments.sets and table.name not in arguments.sets:
            continue
        results_of = report["tables"].setdefault(table.name, {})
        for name in wanted:
            results_of[name] = result = measure(known[name], table, arguments.seeds)
            told = result.get("refused") or "  ".join(f"{median['accuracy']:.3f}" for median in result["medians"])
            print(f"{table.name:12} {name:32} {told}", flush=True)
            results.write(arguments.out, "utility", report)
    results.publish(arguments.out, "utility", markdown(report))
    draw(report, arguments.out / "utility.svg")


if __name__ == "__main__":
    main()

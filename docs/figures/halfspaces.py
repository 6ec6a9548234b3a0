"""Private halfspaces: accuracy, margins, density, label noise, nets; writes halfspaces_*.svg beside this file.

    python docs/figures/halfspaces.py --data DIR [--figures NAME ...] [--seeds 10] [--out DIR]

DIR holds the tables that `bench/utility.py` reads. Its measurements are used, where --out has them, and else made and
kept there; diffprivlib is left out where `bench/peer_environment.py` has not made its environment.
"""

import argparse
import sys
import warnings
from pathlib import Path

import numpy as np
from style import AMBER, BLUE, GREEN, GREY, ORANGE, SKY, label_ends, plain_ticks, plt, save

import dpfast
from dpfast.tables.unit_rows import unit_rows

HERE = Path(__file__).resolve()
sys.path.append(str(HERE.parents[2] / "bench"))
import results  # noqa: E402
import utility  # noqa: E402

BOOSTED, PROJECTED = "BoostedHalfspaceClassifier", "ProjectedHalfspaceClassifier"
LINES = {  # of the accuracy picture: label, colour and line of what bench/utility.py calls methods
    BOOSTED: ("boosted", BLUE, "-o"),
    PROJECTED: ("projected", GREEN, "-o"),
    "noisy gradient, tuned": ("noisy gradient, tuned on the test part", ORANGE, "--o"),
    "diffprivlib, tuned": ("diffprivlib, tuned on the test part", AMBER, "--o"),
    utility.NOT_PRIVATE: ("logistic regression, not private", GREY, ":"),
}
DENSITIES = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
ROUNDS = (1, 10, 60)
FLIPPED = (0.0, 0.05, 0.1, 0.2)
NOISE_LINES = {  # of the label noise picture: learner, its options, colour and line
    "boosted": (BOOSTED, {}, BLUE, "-o"),
    "boosted, density = 0.6": (BOOSTED, {"density": 0.6}, SKY, "-o"),
    "projected": (PROJECTED, {}, GREEN, "-o"),
    utility.NOT_PRIVATE: (None, {}, GREY, ":o"),
}
COMPONENTS = (2, 3, 4, 5)


def panels(names, **settings):
    """Axes for each name, rows of four, and a function that writes the legend into the space left."""
    height = -(-(len(names) + 1) // 4)
    figure, grid = plt.subplots(height, 4, figsize=(13, 3.1 * height), squeeze=False)
    for axes, name in zip(grid.flat, names, strict=False):
        axes.set(title=name, **settings)
    for axes in grid.flat[len(names) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("test accuracy")

    def finish(path):
        labels = {
            text: line for axes in grid.flat for line, text in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        grid.flat[len(names)].legend(labels.values(), labels.keys(), loc="center left", frameon=False)
        figure.tight_layout()
        save(figure, path)

    return dict(zip(names, grid.flat, strict=False)), finish


def pair(tables, names):
    """The tables of these names and axes for each, and a function that writes labels at the right edge."""
    tables = [table for table in tables if table.name in names]
    figure, row = plt.subplots(1, len(tables), figsize=(5.4 * len(tables), 3.9), squeeze=False)

    def finish(path, labels):
        figure.tight_layout(w_pad=2.5)
        label_ends(row[0, -1], labels)
        save(figure, path)

    return tables, row[0], finish


def fitted(name, split, epsilon, **options):
    return utility.learner(name, split.X, epsilon, split.seed, **options).fit(split.X, split.y)


def accuracy(tables, seeds, folder):
    """Test accuracy against epsilon, beside the bench's peers."""
    report, known = results.read(folder, "utility") or {"tables": {}}, utility.methods()
    by_name, finish = panels([table.name for table in tables], xscale="log", xlabel="epsilon")
    for table in tables:
        axes, found = by_name[table.name], report["tables"].setdefault(table.name, {})
        print(table.name)
        for method, (text, colour, line) in LINES.items():
            if method in known and found.get(method, {}).get("seeds") != seeds:
                found[method] = utility.measure(known[method], table, seeds)
                results.write(folder, "utility", report)
            if "medians" not in found.get(method, {}):
                continue
            medians = [median["accuracy"] for median in found[method]["medians"]]
            print(f"  {text:40}", *(f"{median:.3f}" for median in medians))
            if method == utility.NOT_PRIVATE:
                axes.axhline(medians[0], color=colour, linestyle=line, linewidth=1.5, label=text)
            else:
                axes.plot(utility.EPSILONS, medians, line, color=colour, markersize=4, label=text)
        plain_ticks(axes.xaxis, utility.EPSILONS)
    return finish


def margins(tables, seeds, _):
    """Cumulative distributions of y <w, x> / |w| over test rows, after few rounds and many."""
    tables, row, finish = pair(tables, ("adult_a9a", "usps"))
    shades = plt.get_cmap("Blues")(np.linspace(0.4, 0.95, len(ROUNDS)))
    for axes, table in zip(row, tables, strict=True):
        grid, ends = np.linspace(-0.25, 0.5, 301), []
        for rounds, shade in zip(ROUNDS, shades, strict=True):
            found = [margins_of(split, rounds) for split in utility.splits(table, seeds)]
            found = np.sort(np.concatenate(found).astype(float))
            below = np.searchsorted(found, grid) / len(found)
            axes.plot(grid, below, color=shade)
            ends.append((below[-1], f"{rounds} round{'s' * (rounds > 1)}", shade))
            print(f"{table.name}, {rounds} rounds: wrong {(found < 0).mean():.3f}, quantiles", end="")
            print(*(f" {q:.2f}: {np.quantile(found, q):.3f}" for q in (0.05, 0.1, 0.25, 0.5)))
        axes.axvline(0, color=GREY, linewidth=1)
        axes.set(title=table.name, xlabel="margin y <w, x> / |w|", xlim=grid[[0, -1]], ylim=(0, 1))
    row[0].set_ylabel("share of test rows below")
    return lambda path: finish(path, ends)


def margins_of(split, rounds):
    model = fitted(BOOSTED, split, 1.0, n_rounds=rounds)
    w = np.append(model.coef_, model.intercept_)
    return unit_rows(split.X_test, fit_intercept=True).margins(w / np.linalg.norm(w)) * split.y_test


def density(tables, seeds, _):
    """Test accuracy against the density, at two budgets; dots are what "auto" chooses."""
    tables, row, finish = pair(tables, ("adult_a9a", "clickbait"))
    for axes, table in zip(row, tables, strict=True):
        ends = []
        for epsilon, colour in ((0.1, ORANGE), (1.0, BLUE)):
            accuracies, chosen = np.empty((seeds, len(DENSITIES))), []
            for split in utility.splits(table, seeds):
                test = split.X_test, split.y_test
                for k, value in enumerate(DENSITIES):
                    accuracies[split.seed, k] = fitted(BOOSTED, split, epsilon, density=value).score(*test)
                model = fitted(BOOSTED, split, epsilon)
                chosen.append((model.density_, model.score(*test)))
            low, middle, high = np.quantile(accuracies, [0.25, 0.5, 0.75], axis=0)
            axes.plot(DENSITIES, middle, color=colour)
            axes.fill_between(DENSITIES, low, high, color=colour, alpha=0.15, linewidth=0)
            auto = np.median(chosen, axis=0)
            axes.plot(*auto, "o", color=colour, markersize=8)
            ends.append((middle[-1], f"epsilon = {epsilon:g}", colour))
            print(f"{table.name}, epsilon {epsilon:g}:", *(f"{a:.3f}" for a in middle), f"auto {auto.round(3)}")
        axes.set(title=table.name, xlabel="density kappa", xlim=(0, 1))
    row[0].set_ylabel("test accuracy")
    return lambda path: finish(path, ends)


def noise(tables, seeds, _):
    """Test accuracy, on labels as they are, against the share of training labels that were flipped."""
    by_name, finish = panels([table.name for table in tables], xlabel="labels flipped", ylim=(0.66, 1.01))
    for table in tables:
        axes = by_name[table.name]
        found = {text: np.empty((seeds, len(FLIPPED))) for text in NOISE_LINES}
        for split in utility.splits(table, seeds):
            for k, share in enumerate(FLIPPED):
                noisy = split._replace(y=flipped(split.y, share, split.seed))
                for text, (name, options, *_) in NOISE_LINES.items():
                    if name is None:
                        found[text][split.seed, k] = next(utility.not_private([noisy]))[-1]
                    else:
                        model = fitted(name, noisy, 1.0, **options)
                        found[text][split.seed, k] = model.score(split.X_test, split.y_test)
        for text, (_, _, colour, line) in NOISE_LINES.items():
            middle = np.median(found[text], axis=0)
            axes.plot(FLIPPED, middle, line, color=colour, markersize=4, label=text)
            print(f"{table.name:12} {text:34}", *(f"{value:.3f}" for value in middle))
        axes.set_xticks(FLIPPED, [f"{share:.0%}" for share in FLIPPED])
    return finish


def flipped(y, share, seed):
    """Labels with a share of them, drawn at random, on the other side."""
    rng = np.random.default_rng(seed)
    y = y.copy()
    y[rng.permutation(len(y))[: round(share * len(y))]] *= -1
    return y


def net(tables, seeds, _):
    """Digits 0 against 1: halfspaces drawn from nets, beside the best members of the same nets."""
    table = next(table for table in tables if table.name == "usps 0/1")
    table = table._replace(X=(table.X + 1) / 2)
    figure, row = plt.subplots(1, 2, figsize=(10.8, 3.9), sharey=True)
    styles = (("best of the net, not private", GREY), ("epsilon = 1", BLUE), ("epsilon = 0.1", ORANGE))
    for axes, projections in zip(row, (1, 10), strict=True):
        found = np.array([[nets(split, m, projections) for split in utility.splits(table, seeds)] for m in COMPONENTS])
        for k, (text, colour) in enumerate(styles):
            x, middle = np.array(COMPONENTS) + 0.22 * (k - 1), np.median(found[:, :, k], axis=1)
            axes.plot(np.repeat(x, seeds), found[:, :, k].ravel(), "o", color=colour, alpha=0.35, markersize=4)
            axes.hlines(middle, x - 0.09, x + 0.09, color=colour, label=text, linewidth=3)
            print(f"net, {projections} projections, {text:30}", *(f"{value:.3f}" for value in middle))
        axes.set(title=f"{projections} projection{'s' * (projections > 1)}", xlabel="components", xticks=COMPONENTS)
    row[0].set_ylabel("test accuracy")
    row[1].legend(loc="lower right", frameon=False)
    figure.tight_layout(w_pad=2.5)
    return lambda path: save(figure, path)


def nets(split, components, projections):
    """Test accuracies of the best member and of two draws, of the same nets."""
    options = {"n_components": components, "n_projections": projections, "random_state": split.seed}
    models = [
        dpfast.NetHalfspaceClassifier(epsilon, net_radius=0.1, max_seconds=600, **options).fit(split.X, split.y)
        for epsilon in (1.0, 0.1)
    ]
    report = models[0].owner_report(split.X, split.y)
    best = (split.X_test @ report.best_coef + report.best_intercept >= 0) == (split.y_test > 0)
    return best.mean(), *(model.score(split.X_test, split.y_test) for model in models)


FIGURES = {figure.__name__: figure for figure in (accuracy, margins, density, noise, net)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--data", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--figures", nargs="+", choices=FIGURES, default=list(FIGURES))
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # a row without entries, a solver that would like more steps

    tables = list(utility.tables(arguments.data))
    for name in arguments.figures:
        finish = FIGURES[name](tables, arguments.seeds, arguments.out)
        finish(HERE.with_name(f"halfspaces_{name}.svg"))


if __name__ == "__main__":
    main()

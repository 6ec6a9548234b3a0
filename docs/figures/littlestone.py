"""Mistake trees of small classes, and mistakes of private learners on point functions.

    python docs/figures/littlestone.py [--seeds 15]

Writes littlestone_trees.svg and littlestone.svg beside this file. In the first, four classes of eight hypotheses, each
with a complete tree of questions as deep as its Littlestone dimension. The second has the mistakes on streams of
"is it this point?", half of them the point itself: OnlineLittlestoneLearner on point functions, DPWinnowClassifier on
the same points as halfspaces of margin 1, both with their default parameters and with one release only, and SOA.
"""

import argparse
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from matplotlib.patches import Rectangle
from style import AMBER, BLACK, BLUE, GREEN, GREY, ORANGE, SKY, label_ends, plt, save

import dpfast
from dpfast.littlestone import FiniteClass, OnlineLittlestoneLearner, PointFunctions, SOALearner

PALE, STEP = "#DCE9F2", 2.6  # cells of 0; height of a level, in cells
ROUNDS = 100_000
WINNOW_POINTS, POINTS = 2 ** np.arange(10, 28), 2 ** np.arange(10, 61, 5)


def mistake_tree(H, depth):
    """(point, subtree for 0, subtree for 1), or the members as a table; H has at least dimension `depth`."""
    if depth == 0:
        return H.table
    for x in range(H.n_points):
        parts = [H.restrict(x, label) for label in (0, 1)]
        if all(part.littlestone_dimension() >= depth - 1 for part in parts):
            return x, *(mistake_tree(part, depth - 1) for part in parts)
    raise ValueError(f"{H!r} has no tree of depth {depth}")


def draw(axes, tree, left, height):
    """A subtree from column `left` on: x of its root, and where its columns end."""
    if height == 0:
        for column, hypothesis in enumerate(tree):
            for x, one in enumerate(hypothesis):
                corner = left + column, -1 - x
                axes.add_patch(Rectangle(corner, 1, 1, facecolor=BLUE if one else PALE, edgecolor="white"))
        return left + len(tree) / 2, left + len(tree)
    point, *parts = tree
    zero, left = draw(axes, parts[0], left, height - 1)
    one, left = draw(axes, parts[1], left + 0.5, height - 1)
    root, top, style = (zero + one) / 2, STEP * height, {"ha": "center", "va": "center", "fontsize": 8}
    for label, child in enumerate((zero, one)):
        bottom = top - STEP + 0.2 * (height == 1)
        axes.plot([root, child], [top, bottom], color=GREY, linewidth=1.2, zorder=0)
        blank = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        axes.text((root + child) / 2, (top + bottom) / 2, label, color=GREY, bbox=blank, **style)
    circle = {"boxstyle": "circle", "facecolor": "white", "edgecolor": GREY}
    axes.text(root, top, point, color=BLACK, bbox=circle, **style)
    return root, left


def trees():
    tables = {
        "point functions": np.eye(8),
        "pairs of points": np.hstack([np.repeat(np.eye(4), 2, axis=0), np.tile(np.eye(2), (4, 1))]),
        "thresholds": np.arange(7) >= np.arange(8)[:, np.newaxis],
        "all functions": np.array(list(np.ndindex(2, 2, 2))),
    }
    figure, row = plt.subplots(1, 4, figsize=(11, 4.4))
    for axes, (name, table) in zip(row, tables.items(), strict=True):
        H = FiniteClass(table)
        dimension = H.littlestone_dimension()
        print(f"{name}: {H.size} hypotheses on {H.n_points} points, dimension {dimension}")
        draw(axes, mistake_tree(H, dimension), 0, dimension)
        for x in range(H.n_points):
            axes.text(-0.4, -0.5 - x, x, color=GREY, fontsize=7, ha="right", va="center")
        axes.set(xlim=(-1, 11.6), ylim=(-8, 3 * STEP + 1), aspect="equal")
        axes.set_title(f"{name}: {dimension}", fontsize=10)
        axes.axis("off")
    figure.tight_layout(w_pad=1)
    save(figure, Path(__file__).with_name("littlestone_trees.svg"))


def stream(n_points, seed):
    """Points, half of them the one asked for, and labels."""
    rng = np.random.default_rng((seed, int(n_points)))
    target = int(rng.integers(n_points))
    points = np.where(rng.random(ROUNDS) < 0.5, target, rng.integers(0, n_points, ROUNDS))
    return points, (points == target).astype(int)


def littlestone(points, labels, n_points, seed, **parameters):
    H = PointFunctions(int(n_points))
    learner = OnlineLittlestoneLearner(1.0, 1e-6, H, ROUNDS, random_state=seed, **parameters)
    return learner.stream(points, labels) != labels


def winnow(points, labels, n_points, seed, **parameters):
    """The point as signs: +1 at its coordinate, -1 elsewhere; a stored entry a row."""
    rows = sp.csr_array((np.ones(ROUNDS), points, np.arange(ROUNDS + 1)), shape=(ROUNDS, n_points))
    learner = dpfast.DPWinnowClassifier(1.0, 1e-6, feature_range=(0, 1), random_state=seed, **parameters)
    return learner.stream(rows, labels, classes=[0, 1]) != labels


def soa(points, labels, n_points, seed):
    learner, wrong = SOALearner(PointFunctions(int(n_points))), np.zeros(ROUNDS, bool)
    for t, (x, y) in enumerate(zip(points.tolist(), labels.tolist(), strict=True)):
        wrong[t] = learner.update(x, y)
        if wrong[t]:  # there is no second one
            return wrong
    return wrong


LEARNERS = (
    ("DP-Winnow", ORANGE, winnow, WINNOW_POINTS),
    ("DP-Winnow, one draw", AMBER, partial(winnow, n_updates=1, n_draws=1), WINNOW_POINTS),
    ("private Littlestone learner", BLUE, littlestone, POINTS),
    ("the same, one release", SKY, partial(littlestone, n_releases=1), POINTS),
    ("SOA, not private", GREEN, soa, POINTS),
)


def mistakes(seeds):
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9))
    shown, ends = 6_000, []
    for name, colour, learner, numbers in LEARNERS:
        curve = np.cumsum(learner(*stream(2**20, 0), 2**20, 0))[:shown]
        left.plot(np.arange(1, shown + 1), curve, color=colour)
        totals = np.array([[learner(*stream(n, seed), n, seed).sum() for seed in range(seeds)] for n in numbers])
        middle, low, high = np.quantile(totals, [0.5, 0.25, 0.75], axis=1)
        right.plot(numbers, middle, color=colour)
        right.fill_between(numbers, low, high, color=colour, alpha=0.15, linewidth=0)
        ends.append((middle[-1], name, colour))
        print(f"{name}: " + ", ".join(f"2^{np.log2(n):.0f} {m:g}" for n, m in zip(numbers, middle, strict=True)))
    left.set(title="mistakes so far, 2^20 points", xlabel="rounds", xlim=(0, shown), ylim=(0, None))
    right.set(title="mistakes against the number of points", xlabel="points", xlim=(POINTS[0], POINTS[-1]))
    right.set_xscale("log", base=2)
    right.set_xticks(POINTS[::2])
    for axis in (left.xaxis, left.yaxis, right.yaxis):
        axis.set_major_formatter("{x:,.0f}")
    right.set_ylim(bottom=-60)
    figure.tight_layout(w_pad=3)
    label_ends(right, ends)
    save(figure, Path(__file__).with_suffix(".svg"))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=15)
    seeds = parser.parse_args().seeds
    warnings.simplefilter("ignore")  # that the updates are used up
    trees()
    mistakes(seeds)


if __name__ == "__main__":
    main()

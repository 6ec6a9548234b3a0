"""Mistakes of private Winnow on streams; writes winnow.svg beside this file.

    python docs/figures/winnow.py [--seeds 5]

Left: majority of three literals among d random signs, batched updates against the paper's, which take the first
mistake of an interval. Right: mistakes against the dimension, on that stream and on the lower-bound family, point
functions ("is it j?") as halfspaces of margin 1 over d points.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np
from style import BLUE, GREEN, GREY, ORANGE, label_ends, plt, save

import dpfast

DIMENSIONS = (1_000, 10_000, 100_000, 1_000_000)
ROUNDS = {1_000: 40_000, 10_000: 40_000, 100_000: 30_000, 1_000_000: 18_000}
BYTES = 1 << 28  # of rows at a time


def majority(d, rounds, rng):
    """Blocks of packed rows of d random signs, with the majority of three literals as labels."""
    words, literals = -(-d // 64), ((7, 0), (d // 2, 1), (d - 3, 0))
    step = max(64, BYTES // (8 * words))
    for start in range(0, rounds, step):
        rows = rng.integers(0, 2**64, (min(step, rounds - start), words), dtype=np.uint64)
        if d % 64:
            rows[:, -1] &= np.uint64(2 ** (d % 64) - 1)
        table = dpfast.BitMatrix.from_rows(rows, d)
        votes = sum((rows[:, j // 64] >> np.uint64(j % 64) & np.uint64(1)).astype(int) ^ flip for j, flip in literals)
        yield table, np.where(votes >= 2, 1, -1)


def points(d, rounds, rng):
    """Blocks of rows that are one of d points, half of them the one asked for, as signs of which point it is."""
    step = max(64, BYTES // d)
    for start in range(0, rounds, step):
        size = min(step, rounds - start)
        point = np.where(rng.random(size) < 0.5, d // 3, rng.integers(0, d, size))
        rows = np.zeros((size, -(-d // 64)), np.uint64)
        rows[np.arange(size), point // 64] |= np.uint64(1) << (point % 64).astype(np.uint64)
        yield dpfast.BitMatrix.from_rows(rows, d), np.where(point == d // 3, 1, -1)


def mistakes(blocks, seed, **options):
    """Where the mistakes of one stream are."""
    learner = dpfast.DPWinnowClassifier(random_state=seed, **options)
    wrong = [learner.stream(X, y, classes=[-1, 1]) != y for X, y in blocks]
    return np.concatenate(wrong)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    seeds = range(parser.parse_args().seeds)
    warnings.simplefilter("ignore")  # that the updates are used up

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.9))
    ends, totals = [], {"majority of 3 literals": [], "point functions": []}
    shades = plt.get_cmap("Blues")(np.linspace(0.4, 0.95, len(DIMENSIONS)))
    for d, shade in zip(DIMENSIONS, shades, strict=True):
        rounds = ROUNDS[d]
        runs = [mistakes(majority(d, rounds, np.random.default_rng((d, seed))), seed) for seed in seeds]
        order = np.argsort([run.sum() for run in runs])
        curve = np.cumsum(runs[order[len(order) // 2]])
        left.plot(np.arange(1, rounds + 1), curve, color=shade)
        ends.append((curve[-1], f"d = {d:,}", shade))
        totals["majority of 3 literals"].append([run.sum() for run in runs])
        totals["point functions"].append(
            [mistakes(points(d, rounds, np.random.default_rng((d, seed))), seed).sum() for seed in seeds]
        )
        print(f"d = {d:,}: " + ", ".join(f"{name} {np.median(rows[-1]):g}" for name, rows in totals.items()))
    d, rounds = DIMENSIONS[0], ROUNDS[DIMENSIONS[0]]
    paper = np.cumsum(mistakes(majority(d, rounds, np.random.default_rng(0)), 0, batch=1))
    left.plot(np.arange(1, rounds + 1), paper, color=ORANGE)
    ends.append((paper[-1], "d = 1,000, batch=1", ORANGE))
    print(f"batch=1, d = {d:,}: {paper[-1]} mistakes in {rounds:,} rounds")
    left.set(title="mistakes so far", xlabel="rounds", ylim=(0, 12_000), xlim=(0, 40_000))
    for axis in (left.xaxis, left.yaxis):
        axis.set_major_locator(plt.MultipleLocator(10_000 if axis is left.xaxis else 2_000))
        axis.set_major_formatter("{x:,.0f}")
    label_ends(left, [(min(y, 11_800), text, colour) for y, text, colour in ends])

    ends = []
    for (name, rows), colour in zip(totals.items(), (BLUE, GREEN), strict=True):
        middle = np.median(rows, axis=1)
        right.plot(DIMENSIONS, middle, color=colour, marker="o")
        ends.append((middle[-1], name, colour))
    base = np.median(totals["majority of 3 literals"][0])
    log_growth = base * np.log(2 * np.array(DIMENSIONS)) / np.log(2 * DIMENSIONS[0])
    right.plot(DIMENSIONS, log_growth, color=GREY, linestyle="--", linewidth=1.2)
    ends.append((log_growth[-1], "growth like log d", GREY))
    right.set(title="mistakes against the dimension", xscale="log", xlabel="d")
    right.set_ylim(bottom=0)
    figure.tight_layout(w_pad=9)
    label_ends(right, ends)
    save(figure, Path(__file__).with_suffix(".svg"))


if __name__ == "__main__":
    main()

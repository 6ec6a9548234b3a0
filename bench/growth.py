"""Cost against n, d, m and T: growth.md, growth.svg, and growth.json behind them.

    python bench/growth.py [--only WORD ...] [--largest SIZE] [--out DIR]

One line for each kernel or learner and each size that it depends on, over three decades or more; all others fixed. The
exponent is the slope of log seconds against log size: over the upper half of the sizes, where fixed costs count less,
and over all of them. Seconds are the processor's, all threads together, and the best of several: they hardly depend on
what else runs. What was measured earlier is kept in --out; --only says what to measure now.

A line is a function of the size that returns the work, a function without arguments, under `grows`.
"""

import argparse
import time
import warnings
from itertools import cycle
from typing import NamedTuple

import numpy as np
import results
import scipy.sparse as sp
import utility
from workloads import best_of, booleans, packed_labels, scores

import dpfast
from dpfast.kernels import bits, cover, draw, levels, measure, noise, sparse_vector, unit_rows
from dpfast.kernels import scores as score_kernels


class Line(NamedTuple):
    subject: str  # a kernel or a learner
    name: str
    symbol: str
    sizes: np.ndarray
    prepare: object


LINES = []


def sizes(low, high):
    """10^low to 10^high, two a decade."""
    return np.rint(np.logspace(low, high, 2 * (high - low) + 1)).astype(int)


def grows(subject, name, symbol, low, high):
    """Adds a line: work = prepare(size), for sizes from 10^low to 10^high."""
    return lambda prepare: LINES.append(Line(subject, name, symbol, sizes(low, high), prepare))


def rng():
    return np.random.default_rng(0)


def words(n, d):
    """n rows of d random bits."""
    rows = rng().integers(0, 2**64, (n, bits.words(d)), dtype=np.uint64)
    rows[:, -1] &= np.uint64(2 ** (d % 64 or 64) - 1)
    return rows


def signs(n):
    return rng().choice([-1, 1], n).astype(np.int8)


def sparse_rows(n, entries, d):
    """A CSR table of 0 and 1 with so many entries a row, one in each of equal ranges."""
    indices = rng().integers(0, d // entries, (n, entries)) + np.arange(entries) * (d // entries)
    data = np.ones(n * entries, np.uint8)
    return sp.csr_array((data, indices.astype(np.int32).ravel(), np.arange(n + 1) * entries), (n, d))


# ---- kernels -----------------------------------------------------------------------------------------------------


@grows("bits", "pack", "n", 2, 5)
def _(n):
    X = np.ones((n, 1024), np.uint8)
    return lambda: bits.pack(X)


@grows("bits", "transpose", "n", 3, 6)
def _(n):
    rows = words(n, 1024)
    return lambda: bits.transpose(rows, 1024)


@grows("bits", "positional_popcount", "n", 3, 6)
def _(n):
    rows = words(n, 1024)
    return lambda: bits.positional_popcount(rows, 1024)


@grows("bits", "positional_popcount", "d", 3, 6)
def _(d):
    rows = words(1024, d)
    return lambda: bits.positional_popcount(rows, d)


@grows("bits", "conjunctions", "m", 2, 5)
def _(m):
    columns, code = words(200, 4096), rng().integers(0, 400, (m, 2))
    return lambda: bits.conjunctions(columns, 4096, code)


@grows("levels", "draw", "n", 4, 8)
def _(n):
    table, stream = scores(n), rng()
    return lambda: levels.draw(table, 0.01, stream)


@grows("levels", "sample", "n", 4, 8)
def _(n):
    table, stream = scores(n), rng()
    return lambda: levels.sample(table, 0.01, 4096, stream)


@grows("levels", "sample", "m", 2, 6)
def _(m):
    table, stream = scores(10**5), rng()
    return lambda: levels.sample(table, 0.01, m, stream)


@grows("cover", "count", "n", 3, 6)
def _(n):
    columns, labels = words(1000, n), packed_labels((signs(n) + 1) // 2)
    return lambda: cover.count(columns, n, labels)


@grows("cover", "count", "m", 2, 5)
def _(m):
    columns, labels = words(m, 10**4), packed_labels((signs(10**4) + 1) // 2)
    return lambda: cover.count(columns, 10**4, labels)


@grows("scores", "add_packed", "n", 2, 5)
def _(n):
    rows, y, state = words(n, 10**4), signs(n), np.zeros(10**4, np.int32)
    return lambda: score_kernels.add_packed(state, rows, 10**4, y, bound=0)


@grows("scores", "add_packed", "d", 3, 6)
def _(d):
    rows, y, state = words(512, d), signs(512), np.zeros(d, np.int32)
    return lambda: score_kernels.add_packed(state, rows, d, y, bound=0)


@grows("scores", "add_csr of 100 n entries", "n", 2, 5)
def _(n):
    X, y, state = sparse_rows(n, 100, 10**5), signs(n), np.zeros(10**5, np.int32)
    indptr = X.indptr.astype(np.int64)
    return lambda: score_kernels.add_csr(state, indptr, X.indices, None, y, bound=0)


@grows("scores", "add_grid", "n", 2, 5)
def _(n):
    rows, y, state = np.ones((n, 500), np.int32), signs(n), np.zeros(500, np.int64)
    return lambda: score_kernels.add_grid(state, rows, y, bound=0)


@grows("scores", "votes_packed", "n", 3, 6)
def _(n):
    rows, index, count = words(n, 1000), np.arange(0, 1000, 10), np.ones(100, np.int64)
    return lambda: score_kernels.votes_packed(rows, 1000, index, count)


@grows("scores", "votes_csr of 100 n entries", "n", 2, 5)
def _(n):
    X, index, count = sparse_rows(n, 100, 10**5), np.arange(0, 10**5, 100), np.ones(1000, np.int64)
    indptr = X.indptr.astype(np.int64)
    return lambda: score_kernels.votes_csr(indptr, X.indices, None, index, count)


@grows("sparse_vector", "run, T rounds, 1000 mistakes", "T", 4, 9)
def _(rounds):
    counts, lengths, stream = np.arange(1000), np.full(1000, rounds // 1000), rng()
    return lambda: sparse_vector.Tests(3000, 40).run(counts, lengths, stream)


@grows("sparse_vector", "run, m changes of the count", "m", 2, 6)
def _(changes):
    counts, lengths, stream = np.arange(changes) % 2, np.full(changes, 1000), rng()
    return lambda: sparse_vector.Tests(2000, 40).run(counts, lengths, stream)


@grows("draw, noise", "below", "m", 3, 7)
def _(m):
    n, stream = np.full(m, 10**6, np.uint64), rng()
    return lambda: draw.below(n, stream)


@grows("draw, noise", "discrete_laplace", "m", 3, 6)
def _(m):
    stream = rng()
    return lambda: noise.discrete_laplace(10, m, stream)


@grows("draw, noise", "discrete_gaussian", "m", 3, 6)
def _(m):
    stream = rng()
    return lambda: noise.discrete_gaussian(10, m, stream)


@grows("draw, noise", "1000 discrete_gaussian, scale s", "s", 0, 9)
def _(scale):
    stream = rng()
    return lambda: noise.discrete_gaussian(int(scale), 1000, stream)


@grows("measure", "project", "n", 3, 6)
def _(n):
    state, y, table = scores(n), signs(n), measure.table(0.01, 4096)
    return lambda: measure.project(state, y, table, n * 1024)


@grows("measure", "add", "n", 3, 6)
def _(n):
    state, y, margins = scores(n), signs(n), rng().uniform(-1, 1, n).astype(np.float32)
    return lambda: measure.add(state, y, margins, 1.0)


@grows("unit_rows", "margins, dense n x 100", "n", 2, 5)
def _(n):
    rows, w = unit_rows.Dense(rng().uniform(-1, 1, (n, 100)).astype(np.float32)), np.ones(101, np.float32)
    scale = unit_rows.scales(rows)
    return lambda: unit_rows.margins(rows, scale, w)


@grows("unit_rows", "add, dense n x 100", "n", 2, 5)
def _(n):
    rows, total = unit_rows.Dense(rng().uniform(-1, 1, (n, 100)).astype(np.float32)), np.zeros(101, np.int64)
    scale, weights = unit_rows.scales(rows), np.ones(n, np.int32)
    return lambda: unit_rows.add(total, rows, scale, weights)


@grows("unit_rows", "add, CSR of 100 n entries", "n", 2, 5)
def _(n):
    X, total = sparse_rows(n, 100, 10**5), np.zeros(10**5 + 1, np.int64)
    rows = unit_rows.Csr(X.indptr.astype(np.int64), X.indices, None, X.shape[1])
    scale, weights = unit_rows.scales(rows), np.ones(n, np.int32)
    return lambda: unit_rows.add(total, rows, scale, weights)


@grows("unit_rows", "margins, 1000 x d", "d", 1, 4)
def _(d):
    rows, w = unit_rows.Dense(rng().uniform(-1, 1, (1000, d)).astype(np.float32)), np.ones(d + 1, np.float32)
    scale = unit_rows.scales(rows)
    return lambda: unit_rows.margins(rows, scale, w)


# ---- learners ----------------------------------------------------------------------------------------------------

# What a learner calls its rounds T, and their number up to which they are measured.
ROUNDS = {
    "DecisionListClassifier": ("max_rules", 3),
    "DPWinnowClassifier": ("n_updates", 3),
    "BoostedHalfspaceClassifier": ("n_rounds", 3),
}
WIDE = {"NetHalfspaceClassifier"}  # sizes of the net, not rows, are the cost


def fit(name, X, y, **options):
    model = utility.learner(name, X, 1.0, 0, **options)
    return lambda: model.fit(X, y)


def dense(n, d):
    X, y = booleans(n, d)
    return X * 2.0 - 1, 2 * y.astype(int) - 1


def labelled(n, entries, d):
    X = sparse_rows(n, entries, d)
    return X, np.where(X.indices[::entries] < d // entries // 2, 1, -1)  # which half of its range the first entry is in


for learner in utility.LEARNERS:
    if learner not in dpfast.__all__:
        continue
    grows(learner, "fit, dense n x 100", "n", 2, 5)(lambda n, name=learner: fit(name, *dense(n, 100)))
    if learner not in WIDE:
        grows(learner, "fit, dense 1000 x d", "d", 1, 4)(lambda d, name=learner: fit(name, *dense(1000, d)))
        grows(learner, "fit, CSR 10000 x d of 100 entries a row", "d", 3, 6)(
            lambda d, name=learner: fit(name, *labelled(10**4, 100, d))
        )
    if learner in ROUNDS:
        parameter, high = ROUNDS[learner]
        grows(learner, f"fit, dense 10000 x 1000, {parameter}", "T", 0, high)(
            lambda T, name=learner, parameter=parameter: fit(name, *dense(10**4, 1000), **{parameter: int(T)})
        )


# ---- measuring and telling ---------------------------------------------------------------------------------------


def slope(size, seconds):
    """The exponent of the power of size that fits best, by least squares of logarithms."""
    return float(np.polyfit(np.log(size), np.log(seconds), 1)[0])


def exponents(size, seconds):
    """Slopes over the upper half of the sizes and over all of them."""
    half = len(size) // 2
    return slope(size[half:], seconds[half:]), slope(size, seconds)


def seconds_of(work):
    """The best of as many calls as fill a fifth of a second and at least three; of one, if it is long."""
    first = best_of(work, 1, time.process_time)
    if first > 2:
        return first
    inner = max(1, int(1e-3 / max(first, 1e-7)))  # so that the clock's resolution does not matter
    outer = max(3, int(0.2 / (first * inner)))
    return min(first, best_of(lambda: [work() for _ in range(inner)], outer, time.process_time) / inner)


def measured(line, largest):
    """Seconds at each size, or why it refuses."""
    seconds = []
    tried = [int(size) for size in line.sizes if size <= largest]
    for size in tried:
        try:
            seconds.append(seconds_of(line.prepare(size)))
        except ValueError as refusal:
            return {"refused": f"{line.symbol} = {size}: {refusal}"}
    top, overall = exponents(tried, seconds)
    return {"sizes": tried, "seconds": seconds, "exponent": top, "overall": overall}


def markdown(report):
    header = ["kernel or learner", "work", "size", "from", "to", "seconds there", "exponent, upper half", "over all"]
    rows, refusals = [], []
    for line in report["lines"]:
        if "refused" in line:
            refusals.append(f"* {line['subject']}, {line['name']}: {line['refused']}")
            continue
        ends = f"{line['sizes'][0]:.0e}", f"{line['sizes'][-1]:.0e}", f"{line['seconds'][-1]:.2g}"
        slopes = f"{line['exponent']:.2f}", f"{line['overall']:.2f}"
        rows.append([line["subject"], line["name"], line["symbol"], *ends, *slopes])
    text = f"{results.sentence(report['machine'])}\n\n" + results.table(header, rows)
    return text + ("\nRefused:\n\n" + "\n".join(refusals) + "\n" if refusals else "")


def picture(report, path):
    style = results.style()
    subjects = {}
    for line in report["lines"]:
        if "refused" not in line:
            subjects.setdefault(line["subject"], []).append(line)
    width = min(3, len(subjects))
    height = -(-len(subjects) // width)
    figure, grid = style.plt.subplots(height, width, figsize=(4.2 * width, 3.4 * height), squeeze=False)
    colours = style.BLUE, style.ORANGE, style.GREEN, style.PURPLE, style.SKY, style.AMBER, style.BLACK
    for axes, (subject, lines) in zip(grid.flat, subjects.items(), strict=False):
        for colour, line in zip(cycle(colours), lines, strict=False):
            label = f"{line['name']}: {line['symbol']}^{line['exponent']:.2f}"
            axes.plot(line["sizes"], line["seconds"], "-o", color=colour, markersize=3, linewidth=1.5, label=label)
        axes.set(title=subject, xscale="log", yscale="log", xlabel="size")
        axes.minorticks_off()
        low, high = axes.get_ylim()
        axes.set_ylim(low, high * (high / low) ** (0.1 * len(lines)))  # room for the legend
        axes.legend(fontsize=6.5, frameon=False, loc="upper left")
    for axes in grid.flat[len(subjects) :]:
        axes.set_axis_off()
    for axes in grid[:, 0]:
        axes.set_ylabel("seconds of processor")
    figure.tight_layout()
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--only", nargs="*", help="subjects that hold one of these words; all by default")
    parser.add_argument("--largest", type=float, default=float("inf"), help="largest size to measure")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")

    report = results.read(arguments.out, "growth") or {"lines": []}
    report["machine"] = results.machine()
    known = {(line["subject"], line["name"], line["symbol"]): line for line in report["lines"]}
    for line in LINES:
        if arguments.only is not None and not any(word in line.subject for word in arguments.only):
            continue
        key = {"subject": line.subject, "name": line.name, "symbol": line.symbol}
        known[tuple(key.values())] = result = key | measured(line, arguments.largest)
        told = result.get("refused") or f"{line.symbol}^{result['exponent']:.2f} (over all {result['overall']:.2f})"
        print(f"{line.subject:24} {line.name:44} {told}", flush=True)
        report["lines"] = list(known.values())
        results.write(arguments.out, "growth", report)
    results.publish(arguments.out, "growth", markdown(report))
    picture(report, arguments.out / "growth.svg")


if __name__ == "__main__":
    main()

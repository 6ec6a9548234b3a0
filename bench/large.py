"""Runs at full size within 24 GB, with time and peak memory: large.md, and large.json behind it.

    python bench/large.py [--scale 0.01] [--only WORD ...] [--out DIR]

Each run is a process of its own, which makes its input block by block, so that nothing else is ever held, then does the
work with the default generator and checks what came out. Peak memory is that of the whole process, when the work is
done; `before` is what Python and the libraries took, and `mapped` is what of the peak may be pages of files, which the
system takes back when it needs them. The memory-mapped table, 4 GB at full size, lies in DIR while its run lasts.
--scale shrinks the number of rows, or of scores, and of the stream the rounds and features alike.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import results

import dpfast
from dpfast import random
from dpfast.kernels import bits, levels
from dpfast.kernels.own import frozen
from dpfast.parts.blocks import slices

FRESH = 100_000  # rows to check a model on
NOISE = 0.05  # labels that are wrong: no accuracy is above 0.95
RUNS = {}


def run(name):
    """Adds a run: function(scale, folder) returns its size, bytes of input, times and what came out."""
    return lambda function: RUNS.setdefault(name, function)


class Watch:
    """Seconds spent inside `with` blocks, and memory after the last one."""

    def __init__(self):
        self.seconds, self.memory = 0.0, {}

    def __enter__(self):
        self._start = time.perf_counter()

    def __exit__(self, *_):
        self.seconds += time.perf_counter() - self._start
        self.memory = memory()


def memory():
    """Bytes that this process held at most, and of pages of files now, if the system tells."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    status = Path("/proc/self/status")
    told = [line for line in status.read_text().splitlines() if line.startswith("RssFile")] if status.exists() else []
    return {"peak": peak, "mapped": 1024 * int(told[0].split()[1]) if told else None}


def outcome(size, nbytes, making, working, told):
    times = {"making": making.seconds, "seconds": working.seconds}
    return {"size": size, "bytes": nbytes, "outcome": told} | times | working.memory


def fill_bits(rng, rows, d):
    """Fair bits into packed rows."""
    for block in slices(len(rows), (1 << 22) // rows.shape[1]):
        rows[block] = rng.integers(0, 2**64, rows[block].shape, dtype=np.uint64)
        rows[block, -1] &= np.uint64(2 ** (d % 64 or 64) - 1)
    return rows


def bit(rows, j):
    return (rows[:, j // 64] >> np.uint64(j % 64) & np.uint64(1)).astype(bool)


# ---- the runs ----------------------------------------------------------------------------------------------------


@run("decision list")
def _(scale, folder):
    n, d, rng = int(1e7 * scale), 1000, np.random.default_rng(0)

    def table(n):
        rows = fill_bits(rng, np.empty((n, bits.words(d)), np.uint64), d)
        y = (bit(rows, 3) | ~bit(rows, 400)) ^ (rng.random(n) < NOISE)  # if x3: yes, else if x400: no, else yes
        return dpfast.BitMatrix.from_rows(frozen(rows), d), y

    making, working = Watch(), Watch()
    with making:
        X, y = table(n)
    with working:
        clf = dpfast.DecisionListClassifier(epsilon=1.0, delta=1e-8).fit(X, y)
    told = f"{len(clf.rules_)} rules, accuracy {clf.score(*table(FRESH)):.3f}"
    return outcome(f"{n:,} x {d:,} bits", X.rows.nbytes, making, working, told)


@run("Winnow stream")
def _(scale, folder):
    d, rounds, rng = int(1e6 * math.sqrt(scale)), int(1e5 * math.sqrt(scale)), np.random.default_rng(0)
    clf = dpfast.DPWinnowClassifier(epsilon=1.0, delta=1e-8)
    making, working, mistakes, rows = Watch(), Watch(), [], np.empty((512, bits.words(d)), np.uint64)
    for block in slices(rounds, len(rows)):
        with making:
            part = fill_bits(rng, rows[: block.stop - block.start], d)
            y = bit(part, 3).astype(int) + bit(part, d // 3) + bit(part, d - 5) >= 2
            y ^= rng.random(len(y)) < NOISE
        with working:
            predicted = clf.stream(dpfast.BitMatrix.from_rows(part, d), y, classes=[False, True])
        mistakes.append(predicted != y)
    last = np.concatenate(mistakes)[-rounds // 10 :].mean()
    told = f"{clf.updates_} of {clf.n_updates_} updates, {last:.1%} mistakes in the last tenth"
    return outcome(f"{rounds:,} rounds, {d:,} bits each", rounds * bits.words(d) * 8, making, working, told)


@run("boosting")
def _(scale, folder):
    n, d, rng = int(1e6 * scale), 1000, np.random.default_rng(0)
    direction = np.zeros(d, np.float32)
    direction[::50] = 1

    def table(out):
        y = np.empty(len(out), bool)
        for block in slices(len(out), 4096):
            x = rng.standard_normal(out[block].shape, np.float32)
            out[block], y[block] = x, (x @ direction > 0) ^ (rng.random(len(x)) < NOISE)
        return out, y

    making, working = Watch(), Watch()
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place, "rows.npy")
        with making:
            stored, y = table(np.lib.format.open_memmap(path, "w+", np.float32, (n, d)))
            stored.flush()
            del stored
        X = np.load(path, mmap_mode="r")
        with working:
            clf = dpfast.BoostedHalfspaceClassifier(epsilon=1.0, delta=1e-8, schema="vectors").fit(X, y)
        told = f"{clf.n_rounds_} rounds, accuracy {clf.score(*table(np.empty((FRESH // 10, d), np.float32))):.3f}"
        return outcome(f"{n:,} x {d:,} float32, mapped", X.nbytes, making, working, f"{told}")


def resampling(dtype):
    @run(f"resampling {dtype.__name__}")
    def _(scale, folder):
        d, span, exponent, m, rng = int(1e9 * scale), 100, 0.05, 4096, np.random.default_rng(0)
        making, working = Watch(), Watch()
        with making:
            scores = np.empty(d, dtype)
            for block in slices(d, 1 << 22):
                scores[block] = rng.integers(-span, span, len(scores[block]), dtype)
        with working:
            drawn = levels.sample(scores, exponent, m, random.default_rng())
        law = np.exp(exponent * np.arange(-span, span))
        mean, wanted = scores[drawn].mean(), law @ np.arange(-span, span) / law.sum()
        told = f"{m:,} draws, mean score {mean:.2f}, by the law {wanted:.2f}"
        return outcome(f"{d:,} scores", scores.nbytes, making, working, told)


resampling(np.int8)
resampling(np.int16)


# ---- processes, the table -----------------------------------------------------------------------------------------


def child(name, scale, folder):
    """Does one run here and prints what it measured."""
    before = memory()["peak"]
    print(json.dumps({"before": before} | RUNS[name](scale, folder)))


def measured(name, scale, folder):
    """What a process of its own measures, or that it failed."""
    command = [sys.executable, __file__, "--child", name, "--scale", repr(scale), "--out", folder]
    process = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(process.stdout) if process.returncode == 0 else {"failed": process.returncode}


def gigabytes(number):
    return "" if number is None else f"{number / 1e9:.2f}"


def markdown(report):
    header = ["run", "size", "input GB", "peak GB", "before", "mapped", "making s", "work s", "outcome"]
    rows = []
    for name, line in report["runs"].items():
        if "failed" in line:
            rows.append([name, *[""] * (len(header) - 2), f"failed: {line['failed']}"])
            continue
        held = (gigabytes(line[key]) for key in ("bytes", "peak", "before", "mapped"))
        times = f"{line['making']:.1f}", f"{line['seconds']:.1f}"
        rows.append([name, line["size"], *held, *times, line["outcome"]])
    return f"{results.sentence(report['machine'])}\n\n{results.table(header, rows)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full size")
    parser.add_argument("--only", nargs="*", help="runs whose names hold one of these words; all by default")
    parser.add_argument("--child", choices=RUNS, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.child:
        child(arguments.child, arguments.scale, arguments.out)
        return

    report = {"machine": results.machine(), "scale": arguments.scale, "runs": {}}
    for name in RUNS:
        if arguments.only is not None and not any(word in name for word in arguments.only):
            continue
        report["runs"][name] = measured(name, arguments.scale, arguments.out)
        print(name, report["runs"][name], flush=True)
        results.write(arguments.out, "large", report)
    results.publish(arguments.out, "large", markdown(report))


if __name__ == "__main__":
    main()

"""Rows of 32 codes made and kept by two worker processes of this machine: a list and an additive model, and growth.

    python bench/workers.py [--rows 100000 1000000] [--part 10000000] [--out DIR]

Nothing of the table is ever here: each part is made by a task. The time of a round is that between two of the sums
that a fit asks for; beside it stands the same round over the same rows in the memory of one process on as many threads,
for no more than 10^7 rows, scaled by the number of rows. "Of processors" is the same ratio of seconds that processors
worked, which other work on the machine hardly moves; for the clock's it must be idle. Peak memory is that of this
process and the workers together.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import results

import dpfast
from dpfast.parts import MemoryParts
from dpfast.parts.engine import EngineParts

COLUMNS, SIZE, RULES, ROUNDS, WORKERS = 32, 8, 10, 60, 2
MOST_IN_MEMORY = 10**7
NOISE = 0.05  # labels that are wrong


def part(rows, seed):
    """A table of codes and its labels, which follow four of its columns."""
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, SIZE, rows, np.uint8) for _ in range(COLUMNS)]
    y = (codes[0] > 5) | ((codes[7] < 3) & (codes[12] + codes[20] > 6))
    return dpfast.CodeTable.from_arrays(codes, [SIZE] * COLUMNS), y ^ (rng.random(rows) < NOISE)


def learners():
    yield "list", dpfast.DecisionListClassifier(epsilon=1.0, delta=1e-10, max_rules=RULES)
    yield "additive model", dpfast.HalfspaceClassifier(epsilon=1.0, delta=1e-10, n_rounds=ROUNDS)


@contextmanager
def around_sums(before, after):
    """Call `before` and `after`, with the parts, at the ends of every sum over parts."""
    plain = EngineParts.sum

    def sum_of(self, *question, **own):
        before(self)
        total = plain(self, *question, **own)
        after(self)
        return total

    EngineParts.sum = sum_of
    try:
        yield
    finally:
        EngineParts.sum = plain


def timed(fit, spent):
    """Seconds of a fit, and of its mean and slowest round by the clock and of all processors; the first sum waits for
    the rows, and is none."""
    ends = []  # of all sums: by the clock, and of all processors
    with around_sums(lambda _: None, lambda _: ends.append((time.perf_counter(), None if ends else spent()))):
        start = time.perf_counter()
        model = fit()
        seconds, used = time.perf_counter() - start, spent() - ends[0][1]
    rounds = np.diff([clock for clock, _ in ends])
    told = {"round": rounds.mean(), "slowest": rounds.max(), "processors": used / len(rounds)}
    return model, {"seconds": seconds, **{name: float(value) for name, value in told.items()}}


def memory():
    """Bytes that this process held at most."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def in_memory(n, rows):
    """Rounds of one process on as many threads."""
    made = [part(min(rows, n - start), k) for k, start in enumerate(range(0, n, rows))]
    columns = [np.concatenate([X.column(j) for X, _ in made]) for j in range(COLUMNS)]
    y = np.concatenate([y for _, y in made])
    del made
    X = dpfast.CodeTable.from_arrays(columns, [SIZE] * COLUMNS)
    table = MemoryParts([(X, y)])
    return {
        name: timed(lambda clf=clf: clf.fit(table, classes=[False, True]), time.process_time)[1]
        for name, clf in learners()
    }


def on_workers(n, rows):
    """The same on workers, with what all processes held at most."""
    import dask
    from distributed import Client, LocalCluster, wait

    options = {"n_workers": WORKERS, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    make, told = dask.delayed(part, nout=2, pure=False), {}
    with LocalCluster(**options, memory_limit=0) as cluster, Client(cluster) as client:
        start = time.perf_counter()
        parts = [make(min(rows, n - first), k) for k, first in enumerate(range(0, n, rows))]
        parts = dask.persist(*parts)
        wait(parts)
        told["making"] = time.perf_counter() - start
        X, y = [each[0] for each in parts], [each[1] for each in parts]
        fresh = part(100_000, 10**9)

        def spent():
            return time.process_time() + sum(client.run(time.process_time).values())

        for name, clf in learners():
            model, told[name] = timed(lambda clf=clf: clf.fit(X, y, classes=[False, True]), spent)
            told[name]["accuracy"] = float(model.score(*fresh))
        held = [memory(), *client.run(memory).values()]
    return told | {"peak": sum(held), "peaks": held}


def child(what, n, rows):
    print(json.dumps({"here": in_memory, "workers": on_workers}[what](n, rows)))


def measured(what, n, rows):
    command = [sys.executable, __file__, "--child", what, "--rows", str(n), "--part", str(rows)]
    environment = os.environ | {"DPFAST_THREADS": str(WORKERS if what == "here" else 1)}
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=environment).stdout)


def lines(report):
    """A line for each number of rows and learner."""
    for n, told in report["runs"].items():
        for name, _ in learners():
            line, here = told["workers"][name], told["here"]["rounds"][name]
            more = int(n) / told["here"]["n"]
            yield [
                f"{int(n):,}",
                name,
                f"{told['workers']['making']:.1f}",
                f"{line['seconds']:.1f}",
                f"{line['round']:.3f}",
                f"{here['round'] * more:.3f}",
                f"{line['round'] / here['round'] / more:.2f}",
                f"{line['processors'] / here['processors'] / more:.2f}",
                f"{told['workers']['peak'] / 1e9:.1f}",
                f"{line['accuracy']:.3f}",
            ]


HEADER = [
    "rows",
    "learner",
    "making s",
    "fit s",
    "round s",
    "in memory",
    "ratio",
    "of processors",
    "peak GB",
    "accuracy",
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--rows", type=int, nargs="+", default=[10**5, 10**6, 10**7, 10**8])
    parser.add_argument("--part", type=int, default=10**7, help="rows of a part, at most")
    parser.add_argument("--child", choices=("here", "workers"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.rows[0], arguments.part)
        return
    report = {"machine": results.machine("distributed"), "part": arguments.part, "runs": {}}
    for n in arguments.rows:
        few, rows = min(n, MOST_IN_MEMORY), min(arguments.part, -(-n // (2 * WORKERS)))
        here = {"n": few, "rounds": measured("here", few, rows)}
        report["runs"][n] = {"here": here, "workers": measured("workers", n, rows)}
        results.write(arguments.out, "workers", report)
        print(f"{n:,}", report["runs"][n], flush=True)
    text = f"{results.sentence(report['machine'])}\n\n{results.table(HEADER, lines(report))}"
    results.publish(arguments.out, "workers", text)


if __name__ == "__main__":
    main()

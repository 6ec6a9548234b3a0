"""The time of a round on a cluster: a small model from what is measured here, its table and picture.

    python bench/cluster.py [--check] [--out DIR]

Measured, the best of several: what a row of 32 codes costs a halfspace's question and what a question costs whatever
its rows, in seconds of the processor; and by the clock, of two worker processes that share this machine with scheduler
and client, what a round of one task costs and what each task more. Taken as given: a link of 1.25 GB/s with 0.5 ms a
message, and a slowest worker half as slow again as the others. --check measures rounds of the two workers, of other
sizes, beside what the model says of them. The machine must be idle.
"""

import argparse
import math
import os
import time
from typing import NamedTuple

import numpy as np
import results

from dpfast import CodeTable
from dpfast.learners.halfspaces.halfspace import image_of
from dpfast.parts import Piece
from dpfast.parts.dask_parts import FAN, DaskBackend
from dpfast.parts.engine import EngineParts
from dpfast.tables.codes import CodeRows

COLUMNS, SIZE = 32, 8  # of codes, and how many a column has
PART_SIZES = [10**k for k in range(4, 9)]
CHECKED = ((10**7, 5 * 10**6), (10**7, 10**6), (10**6, 10**5), (10**6, 10**4), (10**5, 10**2))  # rows, rows a part
CORES = min(2, os.cpu_count() or 1)  # that the two workers, the scheduler and the client of --check share


LINK, MESSAGE, SLOWEST = 1.25e9, 5e-4, 1.5  # bytes a second, seconds a message, the slowest worker's time over others'


def bottleneck(spent):
    """The name of what takes longest of a round, whose first entry is its seconds."""
    return max(spent._fields[1:], key=lambda name: getattr(spent, name))


class Costs(NamedTuple):
    """Seconds a row, a question, a task and a round; bytes a second and seconds a message of a link; the slowest."""

    row: float
    question: float
    task: float
    round: float
    link: float = LINK
    message: float = MESSAGE
    slowest: float = SLOWEST


class Round(NamedTuple):
    """Seconds of a round, and of what it is made of."""

    seconds: float
    workers: float
    scheduler: float
    tree: float
    binds = property(bottleneck)


def tree_of(answers):
    """How many sums there are on each level of the tree; the last few are added up where the model is."""
    sums = []
    while answers > FAN:
        answers = math.ceil(answers / FAN)
        sums.append(answers)
    return sums


def predicted(costs, n, workers, part, model=COLUMNS * SIZE):
    """A round over n rows in parts of `part` rows on so many workers of one thread; `model` numbers are released.

    Workers answer while the scheduler hands out: the slower of the two counts. Then sums go up the tree; and whatever
    its tasks a round takes as long as one of no rows.
    """
    parts = math.ceil(n / part)
    each = costs.question + costs.row * min(part, n)
    busy = costs.slowest * math.ceil(parts / workers) * each
    sums = tree_of(parts)
    tasks = parts + sum(sums) + 1
    tree = (len(sums) + 2) * costs.message + (len(sums) + 1) * min(FAN, parts) * 8 * model / costs.link
    return Round(max(busy, costs.task * tasks) + tree + costs.round, busy, costs.task * tasks, tree)


def best(costs, n, workers):
    """The part size, of a few, that takes the least time, and that time."""
    return min(((part, predicted(costs, n, workers, part)) for part in PART_SIZES), key=lambda pair: pair[1].seconds)


# ---- what is measured ----------------------------------------------------------------------------------------------


def piece(n, seed=0):
    rng = np.random.default_rng(seed)
    table = CodeTable.from_arrays(list(rng.integers(0, SIZE, (COLUMNS, n), np.uint8)), [SIZE] * COLUMNS)
    made = Piece(table, rng.integers(0, 2, n), CodeRows)
    assert made.rows.shape[0] == n  # made now, not in the first round
    return made


def question(rows):
    """What a round asks of rows like these."""
    image = image_of(rows, 2, True)
    image.open(np.full(image.opening_size, 1000.0), 1.0, 1000 * SIZE)
    return image.question(np.random.default_rng(1).normal(size=(image.size, 1)), np.zeros(1))


def processor(work, repeats=5):
    """The least seconds of the processor that `work` takes."""
    seconds = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        seconds.append(time.process_time() - start)
    return min(seconds)


def of_rows(sizes=(1000, 1_000_000)):
    """Seconds a row and a question."""
    times = []
    for n in sizes:
        rows = piece(n)
        ask, *told = question(rows.rows)
        times.append(processor(lambda rows=rows, ask=ask, told=told: ask(rows, *told)))
    row = (times[1] - times[0]) / (sizes[1] - sizes[0])
    return row, max(0.0, times[0] - row * sizes[0])


def of_tasks(client, tasks=200):
    """Seconds that each task costs, and a round of one task."""
    one, many = (
        clock(EngineParts(DaskBackend(client, client.map(int, range(n), pure=False))), _nothing) for n in (1, tasks)
    )
    return (many - one) / (tasks - 1 + sum(tree_of(tasks))), one


def clock(parts, *question, repeats=10):
    """The least seconds of several rounds."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        parts.sum(*question)
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def here(costs, n, part):
    """What the model says of two workers that share the processors with the scheduler, and no link."""
    told = predicted(costs._replace(link=math.inf, message=0.0, slowest=1.0), n, CORES, part)
    return told.workers + told.scheduler + costs.round


def _nothing(part):
    return 0


def rows_on(client, n, part):
    """A round over rows on the workers, and its question."""
    parts = EngineParts(DaskBackend(client, client.map(piece, [part] * (n // part), range(n // part), pure=False)))
    return parts, *question(piece(1).rows)


# ---- table and picture ---------------------------------------------------------------------------------------------


def lines(costs):
    """A line for each number of rows and of workers."""
    for rows in (1e9, 1e10, 1e11, 1e12):
        for workers in (10, 100, 1000, 10_000):
            part, told = best(costs, int(rows), workers)
            size, answer = f"10^{round(math.log10(part))}", f"{told.seconds:,.2f}"
            yield [f"10^{round(math.log10(rows))}", f"{workers:,}", size, answer, told.binds]


def markdown(report):
    costs = Costs(**report["costs"])
    head = (
        f"{results.sentence(report['machine'])}\n\n{costs.row * 1e9:.2f} ns a row of {COLUMNS} codes, "
        f"{costs.question * 1e6:,.0f} us a question, {costs.task * 1e6:,.0f} us a task, "
        f"{costs.round * 1e3:.0f} ms a round.\n\n"
    )
    text = head + results.table(["rows", "workers", "best part", "seconds a round", "bottleneck"], lines(costs))
    if report.get("check"):
        rows = [[f"{n:,}", f"{part:,}", *(f"{value:.3f}" for value in told)] for n, part, *told in report["check"]]
        head = ["rows", "rows a part", "measured seconds", "predicted seconds"]
        text += f"\nRounds of two workers here:\n\n{results.table(head, rows)}"
    return text


def picture(costs, path):
    style = results.style()
    figure, axes = style.plt.subplots(figsize=(7, 4))
    rows, ends = np.logspace(9, 12, 25), []
    for workers, colour in zip(
        (10, 100, 1000, 10_000), (style.BLUE, style.ORANGE, style.GREEN, style.PURPLE), strict=True
    ):
        seconds = [best(costs, int(n), workers)[1].seconds for n in rows]
        axes.loglog(rows, seconds, color=colour)
        ends.append((seconds[-1], f"{workers:,} workers", colour))
    axes.set_xlabel("rows of 32 codes")
    axes.set_title("Seconds of a round, parts of the best size")
    style.label_ends(axes, ends)
    style.save(figure, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--check", action="store_true", help="measure rounds of two workers by the clock")
    arguments = parser.parse_args()
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    row, question = of_rows()
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        costs = Costs(row, question, *of_tasks(client))
        report = {"machine": results.machine("distributed"), "costs": costs._asdict(), "check": []}
        for n, part in CHECKED if arguments.check else ():
            report["check"].append([n, part, clock(*rows_on(client, n, part)), here(costs, n, part)])
    results.write(arguments.out, "cluster", report)
    results.publish(arguments.out, "cluster", markdown(report))
    picture(costs, arguments.out / "cluster.svg")


if __name__ == "__main__":
    main()

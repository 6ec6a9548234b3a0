"""The time of a round on Spark: a small model from what is measured here, and its table.

    python bench/spark.py [--check] [--out DIR]

Measured on two executors of one slot that share this machine with the driver: seconds of the processor that a task
costs the driver and an executor, by rounds of no rows over some numbers of parts, and the seconds by the clock of such
a round beyond its tasks; and what the driver takes to add up a number of an answer. A row and a question cost what
`bench/cluster.py` measures. Taken as given are the link, the messages and the slowest executor of that script. --check
measures rounds of other sizes beside what the model says of them. The machine must be idle.
"""

import argparse
import math
import os
import pickle
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import cluster
import numpy as np
import results

from dpfast import engines
from dpfast.parts import Answer
from dpfast.parts.engine import EngineParts

MODEL = cluster.COLUMNS * cluster.SIZE  # numbers of an answer
EMPTY = (2, 16, 64)  # parts without rows, each with a task of its own
CHECKED = ((8, 0), (32, 0), (8, 125_000), (8, 1_250_000))  # parts, rows a part
EXECUTOR = "CoarseGrainedExecutorBackend"


class Costs(NamedTuple):
    """Seconds a row, a question, a task in the driver and in an executor, a round, and a number of an answer."""

    row: float
    question: float
    driver: float
    task: float
    round: float
    number: float
    link: float = cluster.LINK
    message: float = cluster.MESSAGE
    slowest: float = cluster.SLOWEST


class Round(NamedTuple):
    """Seconds of a round, and of what it is made of."""

    seconds: float
    executors: float
    driver: float
    broadcast: float
    reduce: float
    binds = property(cluster.bottleneck)


def predicted(costs, n, slots, parts, model=MODEL):
    """A round over n rows in so many parts, on executors of one slot each.

    There is a task for each slot, or for each part if there are fewer; a task answers for its parts one after another.
    Executors answer while the driver starts one task after another: the slower of the two counts. Before, the question
    goes to the executors, which pass it on to each other; after, all answers come to the driver, which adds them up.
    """
    each = math.ceil(parts / slots) * (costs.question + costs.row * math.ceil(n / parts))
    executors, driver = costs.task + costs.slowest * each, min(parts, slots) * costs.driver
    size = 8 * model
    broadcast = math.ceil(math.log2(slots + 1)) * (costs.message + size / costs.link)
    reduce = costs.message + parts * (size / costs.link + model * costs.number)
    return Round(costs.round + max(executors, driver) + broadcast + reduce, executors, driver, broadcast, reduce)


def here(costs, parts, rows, cores=cluster.CORES):
    """What the model says of two executors that share the processors with the driver, and no link."""
    each = MODEL * costs.number + (costs.question + costs.row * rows if rows else 0.0)
    return costs.round + (min(parts, cores) * (costs.task + costs.driver) + parts * each) / cores


# ---- what is measured ----------------------------------------------------------------------------------------------


@contextmanager
def session(folder):
    """Two executors of one slot, which write below a folder."""
    import pyspark
    from pyspark.sql import SparkSession

    for name in ("local", "home/work"):
        (folder / name).mkdir(parents=True)
    for name in ("bin", "jars", "python"):  # executors write their logs beside these
        (folder / "home" / name).symlink_to(Path(pyspark.__file__).parent / name)
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),  # executors import what is imported here
        "SPARK_HOME": str(folder / "home"),
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": folder / "local",
        "spark.log.level": "OFF",
        "spark.sql.adaptive.enabled": "false",
        "spark.sql.files.maxPartitionBytes": 1 << 40,  # each file is a part: none is cut,
        "spark.sql.files.openCostInBytes": 1 << 40,  # and none is joined to another
        "spark.sql.warehouse.dir": folder / "warehouse",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }.items():
        builder = builder.config(name, str(value))
    started = builder.getOrCreate()
    try:
        yield started
    finally:
        started.stop()


def executors():
    """The processes of the executors."""
    import psutil

    below = [each for each in psutil.Process().children(recursive=True) if each.status() != psutil.STATUS_ZOMBIE]
    return [each for each in below if EXECUTOR in " ".join(each.cmdline())]


def spent():
    """Seconds of the processor so far: of the driver, and of the executors with their workers."""
    import psutil

    theirs = [each for executor in executors() for each in (executor, *executor.children(recursive=True))]
    own = [psutil.Process(), *psutil.Process().children(recursive=True)]
    return np.array([_seconds(each for each in own if each not in theirs), _seconds(theirs)])


def _seconds(processes):
    return sum(sum(each.cpu_times()[:2]) for each in processes)


def rounds(parts, question, repeats=10):
    """Least seconds of a round by the clock, and mean ones of the driver's processors and of the executors'."""
    for _ in range(5):
        parts.sum(*question)
    before = spent()
    return cluster.clock(parts, *question, repeats=repeats), *(spent() - before) / repeats


def of_tasks(spark, sizes=EMPTY):
    """Seconds that a task costs the driver and an executor, and a round beyond its tasks."""
    told = np.array([rounds(_parts(spark, size, tasks=size), (_nothing,)) for size in sizes])
    driver, task = (np.polyfit(sizes, told[:, k], 1)[0] for k in (1, 2))
    return max(0.0, driver), max(0.0, task), max(0.0, np.polyfit(sizes, told[:, 0], 1)[1])


def of_numbers(numbers=10**6, repeats=5):
    """Seconds that the driver takes for a number of an answer: to unpickle it and to add it."""
    answer, total = pickle.dumps(Answer(bytes(16), np.arange(numbers))), np.zeros(numbers, np.int64)
    return cluster.processor(lambda: total + pickle.loads(answer).value, repeats) / numbers


def _parts(spark, parts, rows=0, tasks=None):
    made = EngineParts(engines.spark(spark.range(parts, numPartitions=parts), tasks=tasks))
    return made.map(_piece, rows) if rows else made


def _piece(pair, rows):
    return cluster.piece(rows, int(pair[0]["id"][0].as_py()))


def _nothing(part):
    return 0


def checked(spark, costs):
    """Lines of parts, rows a part, measured and predicted seconds."""
    asked = cluster.question(cluster.piece(1).rows)
    for parts, rows in CHECKED:
        measured, *_ = rounds(_parts(spark, parts, rows), asked if rows else (_nothing,))
        yield [parts, rows, measured, here(costs, parts, rows)]


# ---- table ---------------------------------------------------------------------------------------------------------


def lines(costs):
    """A line for each number of rows, slots and parts."""
    for rows in (9, 10, 11):
        for slots, parts in ((100, 100), (100, 1000), (1000, 1000)):
            told = predicted(costs, 10**rows, slots, parts)
            seconds = [f"{each:,.2f}" for each in told]
            yield [f"10^{rows}", f"{slots:,}", f"{parts:,}", *seconds, told.binds]


def markdown(report):
    costs = Costs(**report["costs"])
    text = (
        f"{results.sentence(report['machine'])}\n\n{costs.driver * 1e3:.1f} ms of the driver and "
        f"{costs.task * 1e3:.1f} ms of an executor for a task, {costs.round * 1e3:.0f} ms a round, "
        f"{costs.number * 1e9:.1f} ns a number of an answer, {costs.row * 1e9:.2f} ns a row, "
        f"{costs.question * 1e6:,.0f} us a question.\n\n"
    )
    head = ["rows", "slots", "parts", "seconds a round", "executors", "driver", "broadcast", "reduce", "bottleneck"]
    text += results.table(head, lines(costs))
    if report["check"]:
        rows = [[parts, f"{n:,}", *(f"{value:.3f}" for value in told)] for parts, n, *told in report["check"]]
        head = ["parts", "rows a part", "measured seconds", "predicted seconds"]
        text += f"\nRounds of two executors here:\n\n{results.table(head, rows)}"
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--check", action="store_true", help="measure rounds of other sizes by the clock")
    arguments = parser.parse_args()
    row, question = cluster.of_rows()
    with tempfile.TemporaryDirectory() as folder, session(Path(folder)) as spark:
        costs = Costs(row, question, *of_tasks(spark), of_numbers())
        report = {"machine": results.machine("pyspark"), "costs": costs._asdict(), "check": []}
        report["check"] += checked(spark, costs) if arguments.check else ()
    results.write(arguments.out, "spark", report)
    results.publish(arguments.out, "spark", markdown(report))


if __name__ == "__main__":
    main()

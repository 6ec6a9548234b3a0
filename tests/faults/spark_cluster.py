"""Tables of Spark that no plan makes twice alike, on two executors that are lost, busy or guessed to be slow.

    python tests/faults/spark_cluster.py [--seed 0] [--tables PART_OF_A_NAME]

For adaptive execution on and off, every table is fitted undisturbed, with a file that is gone before its part is first
read, with an executor that is killed then, and with one that is killed between two releases; all of it once more with
tasks that Spark runs twice. With and without a folder that both executors see. Each fit must give the model that is
learned from the rows that the engine holds, or end in `EngineLost` with one charge and the releases until then. It
takes half an hour; a part of it is in tests/parts/test_spark.py.
"""

import argparse
import collections
import os
import sys
import tempfile
import warnings
from pathlib import Path
from signal import SIGKILL

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "parts"))
from people import SCHEMA, few, released
from pyspark.sql import functions as F
from spark_executors import PEOPLE, ROW, _executor, _other_ages, _paths
from two_executors import Cluster

from dpfast import HalfspaceClassifier
from dpfast.accounting import Budget
from dpfast.parts import EngineLost
from dpfast.parts.engine import EngineParts
from dpfast.parts.spark_parts import SparkBackend

TABLES = {
    "files": lambda frame: frame,
    "shuffled": lambda frame: frame.repartition(3),
    "shuffled by a key, sorted in partitions": lambda frame: frame.repartition("age").sortWithinPartitions("pay"),
    "sorted": lambda frame: frame.orderBy("pay", "age", "patient"),
    "sorted, with ties": lambda frame: frame.orderBy("job"),
    "joined": lambda frame: frame.join(frame.groupBy("job").count(), "job").drop("count"),
    "distinct": lambda frame: frame.distinct(),
    "limited": lambda frame: frame.limit(200),
    "rand()": lambda frame: frame.withColumn("age", (F.lit(18) + F.rand() * 72).cast("long")).repartition(3, F.rand()),
    "other rows each time": lambda frame: frame.mapInArrow(_other_ages, frame.schema),
}
TROUBLES = (
    "none",
    "a file is gone before the first question",
    "an executor is killed before it",
    "one between releases",
)


def kill(engine):
    """Kill the executor of the first part."""
    (process,) = {row.found for row in engine._paths.mapInArrow(_executor, ROW).collect()[:1]}
    os.kill(int(process), SIGKILL)


def fitted(table, trouble, folder):
    """Return whether the model is that of memory, or what was lost."""
    budget, asked, wanted = Budget(1.0, 1e-6), [], []
    keep, plain = SparkBackend._keep, EngineParts.sum

    def keeping(self, rows):
        keep(self, rows)
        if not self._steps:
            rows = self._table.drop(*[name for name in self._table.columns if name.startswith("table-")]).toArrow()
            wanted.append(released(few(HalfspaceClassifier, schema=SCHEMA).fit(rows)))
            if trouble == TROUBLES[1]:
                os.remove(_paths(self)[0])
            if trouble == TROUBLES[2]:
                kill(self)

    def summing(self, question, *public, own=None):
        asked.extend(budget.charges)
        if len(asked) == 3 and trouble == TROUBLES[3]:
            kill(self._backend)
        return plain(self, question, *public, own=own)

    model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget)
    SparkBackend._keep, EngineParts.sum = keeping, summing
    try:
        model.fit(SparkBackend(table, folder=folder))
    except EngineLost as error:
        used = sum(event.used for event in model.privacy_.events) if budget.charges else 0
        sound = len(budget.charges) <= 1 and used == (2 if trouble == TROUBLES[3] else 0)
        return f"lost, {used} releases kept: {error}" if sound else f"WRONG: {used} releases, {error}"
    finally:
        SparkBackend._keep, EngineParts.sum = keep, plain
    return "as in memory" if released(model)[:1] == wanted[0][:1] and len(budget.charges) == 1 else "WRONG"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", default="")
    parser.add_argument("--twice", action="store_true", help="with tasks that Spark runs twice, by speculation")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as place:
        often = {"multiplier": "0", "quantile": "0", "interval": "1ms", "minTaskRuntime": "0ms"} if given.twice else {}
        settings = {f"spark.speculation.{name}": value for name, value in often.items()}
        cluster = Cluster(place, **({"spark.speculation": "true"} | settings if given.twice else {}))
        seen = Path(place) / "seen"
        seen.mkdir()
        frame = cluster.frame(PEOPLE, 4)
        for adaptive in ("true", "false"):
            cluster.session.conf.set("spark.sql.adaptive.enabled", adaptive)
            for name, make in TABLES.items():
                if given.tables not in name:
                    continue
                for folder in (None, seen):
                    for trouble in TROUBLES:
                        found = fitted(make(frame), trouble, folder)
                        counts[found.partition(":")[0].partition(",")[0]] += 1
                        where = "seen" if folder else "apart"
                        print(f"adaptive {adaptive:5} | {name:40} | {where:5} | {trouble:40} | {found}", flush=True)
        cluster.session.stop()
    print(dict(counts))
    sys.exit(bool(counts["WRONG"]))


if __name__ == "__main__":
    main()

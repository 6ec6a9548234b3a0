"""What it takes to declare nothing: time and memory of commands over one CSV file, with a schema and without one.

    python bench/undeclared.py [--rows 1000000] [--columns 40] [--repeat 3] [--out DIR]

The table has log-normal numbers, whole numbers and words. The schema is its draft, confirmed. Measured are `dpfast fit`
with that schema, `dpfast fit --label` with nothing declared, and `dpfast schema draft`, each in a process of its own:
seconds by the clock and of the processors, and the largest memory; the least of each over the repeats. On two idle
cores it takes some four minutes, of which the first is for the table; on a busy machine only the processors' seconds
tell something.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from dpfast.tables import Schema

COMMAND = [sys.executable, "-c", "from dpfast.cli import app; app()"]
WORDS = np.array([f"word {k}" for k in range(12)])


def written(path, rows, columns):
    """Write the table and its schema; return the paths of both."""
    rng = np.random.default_rng(0)
    made = {}
    for j in range(columns - 1):
        if j % 4 < 2:
            made[f"number{j}"] = np.round(rng.lognormal(3, 1, rows), 3)
        else:
            made[f"c{j}"] = rng.integers(0, 20, rows) if j % 4 == 2 else WORDS[rng.integers(0, len(WORDS), rows)]
    score = np.log(made["number0"]) + made["c2"] / 10 + rng.normal(0, 0.5, rows)
    table = pa.table(made | {"buys": np.where(score > np.median(score), "yes", "no")})
    csv.write_csv(table, path / "table.csv")
    schema = Schema.draft(table.slice(0, 10_000), "buys").to_toml().replace(".unconfirmed", "")
    (path / "schema.toml").write_text(schema)
    Schema.from_file(path / "schema.toml").refuse_unconfirmed()
    return path / "table.csv", path / "schema.toml"


def measured(*command, repeat):
    """The least seconds by the clock, seconds of processors and MB of a command."""
    seen = []
    for _ in range(repeat):
        start = time.perf_counter()
        process = subprocess.Popen([*COMMAND, *map(str, command)], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{' '.join(map(str, command))} failed")
        seen.append((time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024))
    return np.min(seen, axis=0)


def main():
    parser = argparse.ArgumentParser()
    for name, value in (("rows", 1_000_000), ("columns", 40), ("repeat", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--out", type=Path, help="the folder of the table; by default a temporary one")
    p = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=p.out) as folder:
        # In a process of its own: Linux counts the memory of the process that starts a command as the command's.
        with ProcessPoolExecutor(1, get_context("spawn")) as pool:
            table, schema = pool.submit(written, Path(folder), p.rows, p.columns).result()
        print(f"{p.rows:,} rows, {p.columns} columns, {table.stat().st_size / 1e6:.0f} MB of CSV")
        fit = "fit", table, "--epsilon", 1, "--delta", 1e-7, "--out", Path(folder) / "model.json"
        commands = {
            "declared": (*fit, "--schema", schema),
            "nothing declared": (*fit, "--label", "buys"),
            "draft": ("schema", "draft", table, "--label", "buys"),
        }
        seen = {name: measured(*command, repeat=p.repeat) for name, command in commands.items()}
    for name, (wall, cpu, memory) in seen.items():
        print(f"{name:18} {wall:6.2f} s by the clock {cpu:6.2f} s of processors {memory:6.0f} MB")
    ratios = seen["nothing declared"] / seen["declared"]
    print("nothing declared over declared: " + ", ".join(f"{each:.2f}" for each in ratios))


if __name__ == "__main__":
    main()

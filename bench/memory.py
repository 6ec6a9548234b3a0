"""Peak memory of a fit of 10^6 rows and 39 columns, over the size of codes, from files and from frames.

python bench/memory.py [--rows N]    (Linux)

26 columns of numbers with three decimals, 12 of twenty words, and a label; with all columns declared, and with none.
The peak is divided by the codes of the table, a byte for each cell, and by all codes that the fit learns from: those of
pairs and trees are made once, too, and read in every round. Each fit has its own process, which fits 5,000 of the rows
first, so that what is imported and prepared once is not counted. The peak is that of Linux (VmHWM of
/proc/self/status), which is set to what is in use before the fit.
"""

import argparse
import ctypes
import gc
import multiprocessing
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from dpfast import HalfspaceClassifier, Schema
from dpfast.tables import Category, Label, Numeric

NUMBERS, WORDS, SMALL = 26, 12, 5000
SOURCES = {
    "CSV": lambda name: f"{name}.csv",
    "Parquet": lambda name: f"{name}.parquet",
    "pandas": lambda name: pd.read_parquet(f"{name}.parquet"),
    "polars": lambda name: pl.read_parquet(f"{name}.parquet"),
}


def write(n, folder):
    """Write a table of n rows, and the first of them, as CSV and as Parquet."""
    rng = np.random.default_rng(0)
    columns = {f"x{j}": rng.normal(size=n).round(3) for j in range(NUMBERS)}
    columns |= {f"c{j}": rng.choice([f"word{k}" for k in range(20)], n) for j in range(WORDS)}
    columns["y"] = np.where(columns["x0"] + columns["x1"] + rng.normal(size=n) > 0, "yes", "no")
    table = pd.DataFrame(columns)
    for name, part in (("whole", table), ("small", table.head(SMALL))):
        part.to_parquet(folder / f"{name}.parquet")
        part.to_csv(folder / f"{name}.csv", index=False)


def declared():
    """The schema of the table."""
    numbers = [Numeric(f"x{j}", -4, 4) for j in range(NUMBERS)]
    words = [Category(f"c{j}", [f"word{k}" for k in range(20)]) for j in range(WORDS)]
    return Schema([*numbers, *words], label=Label("y", classes=("no", "yes")))


def memory(name):
    """What the kernel says of this process, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) << 10


def measure(source, schema, folder, told):
    """Send the bytes that a fit needs at its peak beyond those in use before it, and its columns of pairs and trees."""
    warnings.simplefilter("ignore")

    def fit(table):
        return HalfspaceClassifier(1.0, schema=schema, random_state=0).fit(table, "y").model_

    fit(SOURCES[source](folder / "small"))
    table = SOURCES[source](folder / "whole")
    gc.collect()
    pa.default_memory_pool().release_unused()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is what is in use now
    before = memory("VmRSS")
    model = fit(table)
    trees = [] if model.trees is None else model.trees.sizes
    told.send((memory("VmHWM") - before, len(model.interactions) + len(trees)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10**6)
    n = parser.parse_args().rows
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(n, folder)
        for what, schema in (("declared", declared()), ("nothing declared", "discover")):
            for source in SOURCES:
                told, tells = context.Pipe(duplex=False)
                process = context.Process(target=measure, args=(source, schema, folder, tells))
                process.start()
                tells.close()
                peak, further = told.recv()
                cells = n * (NUMBERS + WORDS + 1)
                process.join()
                print(
                    f"{source}, {what}: {peak / 1e6:.0f} MB, {peak / cells:.2f} times the codes of the table, "
                    f"{peak / (cells + n * further):.2f} times those that are learned from",
                    flush=True,
                )


if __name__ == "__main__":
    main()

"""Boosting from Parquet files read once, beside the same table in memory: time and peak memory, spool.md and .json.

    python bench/spool.py [--gigabytes 0.32] [--memory 0] [--files 4] [--rounds 60] [--out DIR]

The files, of float32 in 100 columns, lie in DIR while this lasts, and so does the scratch file. Each fit is a process
of its own. "Held" is the peak of what the process had beyond the libraries' before it read: with `--memory` it should
stay below that and 200 MB while files are read. Pages of the scratch file, which the system takes back when it needs
them, are told apart. Where the table is above 4 GB there is no fit in memory.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import results

COLUMNS, NOISE, BLOCK, MOST_IN_MEMORY = 100, 0.05, 100_000, 4.0


def make(folder, rows, files):
    """Files of so many rows in all, row groups of `BLOCK`."""
    import pyarrow as pa
    from pyarrow import parquet

    rng, names = np.random.default_rng(0), [f"x{j}" for j in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("y", pa.bool_())])
    for k in range(files):
        with parquet.ParquetWriter(folder / f"{k}.parquet", schema, use_dictionary=False, compression="none") as file:
            left = rows // files
            while left:
                X = rng.standard_normal((min(left, BLOCK), COLUMNS), np.float32)
                y = (X[:, 0] + X[:, 1] > 0) ^ (rng.random(len(X)) < NOISE)
                file.write_table(pa.table([*X.T.copy(), y], schema=schema))
                left -= len(X)


def status():
    """Megabytes of this process, by kind."""
    lines = [line.split() for line in Path("/proc/self/status").read_text().splitlines()]
    return {
        line[0].strip(":"): int(line[1]) / 1e3 for line in lines if line[0].startswith(("VmHWM", "RssFile", "RssAnon"))
    }


def peak():
    return status()["VmHWM"]


def child(folder, memory, rounds):
    """Reads and fits here, from files or from memory, and prints what that took."""
    import dpfast
    from dpfast.files.readers import read_table  # so that its libraries count as there before

    before = peak()
    start, used = time.perf_counter(), time.process_time()
    if memory is None:
        X, y, _ = read_table(folder / "*.parquet", label="y", values="numbers")
    else:
        X, y = dpfast.FileParts(folder / "*.parquet", label="y", memory=memory, scratch=folder).numbers()
    read, told = time.perf_counter(), {"before": before, "reading": peak() - before}
    clf = dpfast.BoostedHalfspaceClassifier(n_rounds=rounds, schema="vectors", random_state=0).fit(
        X, y, classes=["False", "True"]
    )
    end, worked = time.perf_counter(), time.process_time() - used
    told |= {"read s": read - start, "fit s": end - read, "processors s": worked, "held": peak() - before}
    print(json.dumps(told | {"mapped": status()["RssFile"], "model": float(np.abs(clf.coef_).sum())}))


def measured(folder, memory, rounds):
    command = [sys.executable, __file__, "--child", str(folder), "--memory", str(memory), "--rounds", str(rounds)]
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--gigabytes", type=float, default=0.32, help="of the table in memory")
    parser.add_argument("--memory", default="0", help="bytes that the spool may keep in memory")
    parser.add_argument("--files", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        memory = None if arguments.memory == "None" else int(arguments.memory)
        child(arguments.child, memory, arguments.rounds)
        return
    rows = int(arguments.gigabytes * 1e9 / 4 / COLUMNS)
    report = {"machine": results.machine("pyarrow"), "rows": rows, "files": arguments.files, "runs": {}}
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=arguments.out) as folder:
        start = time.perf_counter()
        make(Path(folder), rows, arguments.files)
        report["making"] = time.perf_counter() - start
        kinds = {"files": arguments.memory} | ({"memory": None} if arguments.gigabytes <= MOST_IN_MEMORY else {})
        for name, memory in kinds.items():
            report["runs"][name] = measured(folder, memory, arguments.rounds)
    results.write(arguments.out, "spool", report)
    columns = ["read s", "fit s", "processors s", "reading", "held", "mapped"]
    lines = [[name, *(f"{told[column]:,.1f}" for column in columns)] for name, told in report["runs"].items()]
    text = results.table(["rows from", *columns[:3], "held reading MB", "held MB", "of these mapped"], lines)
    head = f"{results.sentence(report['machine'])}\n\n{rows:,} rows of {COLUMNS} float32 in {arguments.files} files, "
    text = f"{head}{arguments.rounds} rounds.\n\n{text}"
    results.publish(arguments.out, "spool", text)


if __name__ == "__main__":
    main()

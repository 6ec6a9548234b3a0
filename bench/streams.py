"""A fit of 10^7 rows from each source of one machine: peak memory, seconds by the clock and of the processors.

    python bench/streams.py [--rows 10000000] [--group 1048576] [--rounds 5] [--out DIR]

The table of `bench/engines.py`, 32 columns of 8 codes, lies in 8 Parquet files of row groups of `--group` rows. Each
source reads the same files in a process of its own. "Imports" is the memory of a process that has imported what the fit
needs and has read nothing. "Above imports and codes" is what the peak has beyond that and one byte for each code. All
models must be the same, bit for bit. The peaks are those that Linux tells in /proc/self/status: its `ru_maxrss` also
counts the memory of the process that started this one.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import engines
import results
import spool
from pyarrow import dataset, parquet

import dpfast


def files(folder):
    return dpfast.FileParts(folder)


def arrow(folder):
    return dataset.dataset(folder, format="parquet")


def duckdb(folder):
    import duckdb as library

    return library.sql(f"SELECT * FROM '{folder}/*.parquet'")


def duckdb_frugal(folder):
    import duckdb as library

    library.sql("SET threads = 1")
    library.sql("SET disable_parquet_prefetching = true")
    return duckdb(folder)


def polars(folder):
    import polars as library

    return library.scan_parquet(f"{folder}/*.parquet")


SOURCES = {each.__name__: each for each in (files, arrow, duckdb, duckdb_frugal, polars)}


def child(name, folder, rounds):
    fit = dpfast.HalfspaceClassifier(1.0, 1e-8, n_rounds=rounds, schema=engines.SCHEMA, random_state=0).fit
    source, imports = SOURCES[name](folder), spool.peak() * 1e6
    start, before = time.perf_counter(), time.process_time()
    model = fit(source)
    told = {"clock": time.perf_counter() - start, "processors": time.process_time() - before}
    released = model.coef_.tobytes(), model.intercept_.tobytes(), str(model.privacy_)
    digest = hashlib.sha256(repr(released).encode()).hexdigest()
    print(json.dumps(told | {"imports": imports, "peak": spool.peak() * 1e6, "model": digest}))


def measured(name, folder, rounds):
    command = [sys.executable, "-W", "ignore", __file__, "--child", name, "--rounds", str(rounds), "--out", str(folder)]
    ran = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    if ran.returncode:
        sys.exit(f"{name}: {ran.stderr[-5000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


def lines(runs, rows):
    """A line for each source."""
    codes, first = rows * len(engines.NAMES), next(iter(runs.values()))
    for name, run in runs.items():
        megabytes = [run["imports"], run["peak"], run["peak"] - codes, run["peak"] - run["imports"] - codes]
        ratios = [run[kind] / first[kind] for kind in ("clock", "processors")]
        yield [name, *(f"{each / 1e6:,.0f}" for each in megabytes), *(f"{each:.2f}" for each in ratios)]


HEADER = ["source", "imports, MB", "peak, MB", "peak less codes, MB", "above imports and codes, MB"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--group", type=int, default=1 << 20, help="rows of a row group")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sources", nargs="+", choices=SOURCES, default=[*SOURCES])
    parser.add_argument("--child", choices=SOURCES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.out, arguments.rounds)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    report = {"machine": results.machine("duckdb", "polars"), "rows": arguments.rows, "runs": {}}
    with tempfile.TemporaryDirectory(dir=arguments.out) as folder:
        engines.make(Path(folder), arguments.rows)
        for path in Path(folder).glob("*.parquet"):
            parquet.write_table(engines.read(path), path, compression="none", row_group_size=arguments.group)
        for name in arguments.sources:
            report["runs"][name] = measured(name, Path(folder), arguments.rounds)
            print(name, report["runs"][name], flush=True)
    results.write(arguments.out, "streams", report)
    first = arguments.sources[0]
    header = [*HEADER, f"times the seconds of {first}", "of processors"]
    text = f"{results.sentence(report['machine'])}\n\n{arguments.rows:,} rows in row groups of {arguments.group:,}.\n\n"
    text += results.table(header, lines(report["runs"], arguments.rows))
    (arguments.out / "streams.md").write_text(text)
    print(text)
    if len({run["model"] for run in report["runs"].values()}) != 1:
        sys.exit("the models differ")


if __name__ == "__main__":
    main()

"""One fit on every engine: seconds of a round beside those of the kernels, bytes that are sent, the same model.

    python bench/engines.py [--rows 100000] [--rounds 100] [--kill] [--engines memory dask ray spark] [--out DIR]

The table has 32 columns of 8 codes and lies in 8 Parquet files, below DIR while this lasts. Each engine is a process of
its own and has two workers of one thread: processes of Dask, actors of Ray, executors of Spark. Memory has two threads,
and its rounds are the kernels'. Seconds of a round are by the clock, from the end of one sum to the end of the next;
"above memory" is what they have more. The bytes of answers must be those that `bench/cluster.py` reckons with; "on the
loopback" are all bytes that processes send each other by the network in a round, where Linux counts them. With --kill,
a second fit on the same engine loses a worker in the middle of its rounds. All models must be the same, bit for bit.
The machine must be idle.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from signal import SIGKILL

import cluster
import numpy as np
import pyarrow as pa
import results
import workers
from pyarrow import parquet

import dpfast
from dpfast import engines
from dpfast.tables import Category, Label, Schema

PARTS = 8
NAMES = [f"x{j}" for j in range(cluster.COLUMNS)]
VALUES = [str(k) for k in range(cluster.SIZE)]
SCHEMA = Schema([Category(name, VALUES, other=False) for name in NAMES], label=Label("y", ["no", "yes"]))


def make(folder, rows):
    """Write the files of the parts."""
    for k in range(PARTS):
        X, y = workers.part(rows // PARTS, k)
        columns = [np.asarray(X.column(j), np.int8) for j in range(cluster.COLUMNS)]
        table = pa.table([*columns, np.where(y, "yes", "no")], [*NAMES, "y"])
        parquet.write_table(table, folder / f"{k}.parquet", compression="none")


def read(path):
    return parquet.read_table(path)


# ---- engines: each gives what is fitted, and a function that kills a worker ------------------------------------------


@contextmanager
def memory(folder, files, scratch):
    yield dpfast.FileParts(folder), None


@contextmanager
def dask(folder, files, scratch):
    from dask import delayed
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**options, memory_limit=0) as started, Client(started, set_as_default=False) as client:
        parts = [delayed(read)(path) for path in files]
        yield engines.dask(parts, client=client), lambda: os.kill(min(client.run(os.getpid).values()), SIGKILL)


@contextmanager
def ray(folder, files, scratch):
    import ray as library

    library.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        engine = engines.ray([library.remote(read).remote(path) for path in files], actors=2)
        yield engine, lambda: library.kill(engine._actors[0], no_restart=False)
    finally:
        library.shutdown()


@contextmanager
def spark(folder, files, scratch):
    from spark import executors, session

    with session(scratch) as started:
        engine = engines.spark(started.read.parquet(str(folder)))
        yield engine, lambda: executors()[0].kill()
        engine.close()


ENGINES = {each.__name__: each for each in (memory, dask, ray, spark)}


# ---- what is measured ----------------------------------------------------------------------------------------------


@contextmanager
def watched(kill=None, at=None):
    """The ends of all sums over parts by the clock, with the bytes answered and sent until then."""
    ends, answered, start = [], 0, 0

    def before(parts):
        nonlocal start
        if len(ends) == at:
            kill()
        start = parts.moved

    def after(parts):
        nonlocal answered
        answered += parts.moved - start
        ends.append((time.perf_counter(), answered, loopback()))

    with workers.around_sums(before, after):
        yield ends


def loopback():
    """Bytes that this machine sent itself by the network so far; NaN if nobody counts them."""
    counts = Path("/proc/net/dev")
    for line in counts.read_text().splitlines() if counts.exists() else ():
        name, _, numbers = line.partition(":")
        if name.strip() == "lo":
            return int(numbers.split()[0])
    return np.nan


def timed(table, rounds, kill=None):
    """The digest of a model, with seconds of its fit and seconds and bytes of its rounds."""
    start = time.perf_counter()
    with watched(kill, None if kill is None else rounds // 2) as ends:
        model = dpfast.HalfspaceClassifier(1.0, 1e-8, n_rounds=rounds, schema=SCHEMA, random_state=0).fit(table)
    assert len(ends) == rounds + 1, len(ends)  # the opening, and rounds
    seconds, answers, sent = np.diff(np.array(ends, float), axis=0).T
    released = model.coef_.tobytes(), model.intercept_.tobytes(), str(model.privacy_)
    return {
        "model": hashlib.sha256(repr(released).encode()).hexdigest(),
        "fit": time.perf_counter() - start,
        "round": float(np.mean(seconds)),
        "slowest": float(np.max(seconds)),
        "answers": float(np.mean(answers)),
        "loopback": float(np.mean(sent)),
    }


def child(name, folder, rounds, kills):
    files, told = sorted(map(str, folder.glob("*.parquet"))), {}
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch, ENGINES[name](folder, files, Path(scratch)) as held:
        table, kill = held
        told |= {"start": time.perf_counter() - start, "plain": timed(table, rounds)}
        if kills and kill is not None:
            told["killed"] = timed(table, rounds, kill)
    print(json.dumps(told))


def measured(name, folder, rounds, kills):
    command = [sys.executable, "-W", "ignore", __file__, "--child", name, "--rounds", str(rounds), "--out", str(folder)]
    environment = os.environ | {"DPFAST_THREADS": "2" if name == "memory" else "1"}
    command += ["--kill"] if kills else []
    ran = subprocess.run(command, capture_output=True, text=True, env=environment)
    if ran.returncode:
        sys.exit(f"{name}: {ran.stderr[-5000:]}")
    return json.loads(ran.stdout.splitlines()[-1])


# ---- table ---------------------------------------------------------------------------------------------------------

HEADER = ["engine", "start s", "fit s", "round s", "slowest s", "above memory s", "answers B", "on the loopback B"]
KILLED = ["slowest s, one killed", "same model"]


def faults(runs):
    """What is not as it must be: other models, and other bytes than the parts' answers have."""
    models = {run[fit]["model"] for run in runs.values() for fit in ("plain", "killed") if fit in run}
    if len(models) != 1:
        yield f"{len(models)} different models"
    for name, run in runs.items():
        wanted = 8 * cluster.COLUMNS * cluster.SIZE * (1 if name == "memory" else PARTS)
        if run["plain"]["answers"] != wanted:
            yield f"{name}: {run['plain']['answers']:,.0f} bytes of answers a round instead of {wanted:,}"


def lines(runs):
    """A line for each engine."""
    for name, run in runs.items():
        told = run["plain"]
        above = f"{told['round'] - runs['memory']['plain']['round']:.3f}" if "memory" in runs else ""
        seconds = [f"{run['start']:.1f}", f"{told['fit']:.1f}", f"{told['round']:.3f}", f"{told['slowest']:.3f}"]
        line = [name, *seconds, above, f"{told['answers']:,.0f}", f"{told['loopback']:,.0f}"]
        killed = run.get("killed")
        yield line + (["", ""] if killed is None else [f"{killed['slowest']:.2f}", killed["model"] == told["model"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    results.add_arguments(parser)
    parser.add_argument("--rows", type=int, default=10**5)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--kill", action="store_true", help="fit once more, and kill a worker in the middle")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=[*ENGINES])
    parser.add_argument("--child", choices=ENGINES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.child:
        child(arguments.child, arguments.out, arguments.rounds, arguments.kill)
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    report = {"machine": results.machine("distributed", "ray", "pyspark"), "rows": arguments.rows, "runs": {}}
    with tempfile.TemporaryDirectory(dir=arguments.out) as folder:
        files = Path(folder) / "table"
        files.mkdir()
        make(files, arguments.rows)
        for name in arguments.engines:
            report["runs"][name] = measured(name, files, arguments.rounds, arguments.kill)
            print(name, report["runs"][name], flush=True)
    results.write(arguments.out, "engines", report)
    text = f"{results.sentence(report['machine'])}\n\n{arguments.rows:,} rows in {PARTS} parts.\n\n"
    text += results.table(HEADER + KILLED, lines(report["runs"]))
    results.publish(arguments.out, "engines", text)
    wrong = [*faults(report["runs"])]
    if wrong:
        sys.exit("; ".join(wrong))


if __name__ == "__main__":
    main()

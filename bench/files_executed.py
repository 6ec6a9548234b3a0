"""Files of dpfast that a common task executes: what somebody who follows it in a debugger has to read.

    python bench/files_executed.py            # prints the table of docs/development.md
    python bench/files_executed.py --list     # names the files, too

A file counts if one of its functions is called. What is called while a module is imported does not count; modules that
an import needs stand in rows of their own.
"""

import argparse
import subprocess
import sys
import tempfile
import threading
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse

import dpfast
from dpfast import FileParts, load
from dpfast.tables import Category, Label, Numeric, Schema

ROOT = Path(dpfast.__file__).parent
INSIDE = f"{ROOT}/"


def executed(task):
    """Return the files, relative to dpfast/, with a function that `task` calls."""
    seen = set()

    def look(frame, event, _):
        name = frame.f_code.co_filename
        if event == "call" and name not in seen and name.startswith(INSIDE):
            caller = frame
            while caller is not None and not (caller.f_code.co_name == "<module>" and _of_an_import(caller)):
                caller = caller.f_back
            if caller is None:
                seen.add(name)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        task()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return sorted(name.removeprefix(INSIDE) for name in seen)


def _of_an_import(frame):
    return frame.f_back is not None and frame.f_back.f_code.co_filename.startswith("<frozen importlib")


def imported(*steps):
    """Return the modules of dpfast that a new process has imported after each step, a line of Python."""
    show = "; import sys; print(*(each for each in sys.modules if each.partition('.')[0] == 'dpfast'))"
    script = "\n".join(step + show for step in steps)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [sorted(line.split()) for line in run.stdout.splitlines()]


def tasks(folder):
    """Yield the tasks: a title and what each executes or imports."""
    rng = np.random.default_rng(0)
    table, model = folder / "table.csv", folder / "model.json"
    frame = {"age": rng.random(500), "town": rng.choice(["x", "y"], 500), "buys": rng.choice(["no", "yes"], 500)}
    pd.DataFrame(frame).to_csv(table, index=False)
    schema = Schema([Numeric("age", 0, 1), Category("town", ["x", "y"])], label=Label("buys", ["no", "yes"]))
    halfspace = dpfast.HalfspaceClassifier(schema=schema, n_rounds=3)
    yield "a CSV with a schema to a fitted halfspace", executed(lambda: halfspace.fit(FileParts(table)))
    halfspace.save(model)
    yield "`load` of its model", executed(lambda: load(model))
    rows, labels = rng.integers(0, 2, (200, 10)), rng.integers(0, 2, 200)
    decision_list = dpfast.DecisionListClassifier()
    rows_of_bits = sparse.csr_array(rows)
    yield "CSR to a decision list", executed(lambda: decision_list.fit(rows_of_bits, labels, classes=[0, 1]))
    stream = dpfast.DPWinnowClassifier().partial_fit(rows, labels, classes=[0, 1])
    yield "a later call of a stream", executed(lambda: stream.partial_fit(rows, labels))
    at_once, with_a_model = imported("import dpfast", f"dpfast.load({str(model)!r})")
    yield "modules that `load` imports", with_a_model
    yield "modules that `import dpfast` imports", at_once


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="names the files, too")
    listed = parser.parse_args().list
    warnings.simplefilter("ignore", dpfast.PrivacyWarning)
    print("| task | files |\n|---|---:|")
    with tempfile.TemporaryDirectory() as folder:
        for title, files in tasks(Path(folder)):
            print(f"| {title} | {len(files)} |", *(files if listed else ()), sep="\n    ")


if __name__ == "__main__":
    main()

"""Compares instruction counts of kernels with stored ones: exits with 1 if any has grown by more than a tenth.

    python bench/instructions.py [--update]

Kernels are compiled as setup.py compiles them, into a small driver on fixed inputs (instructions.c), run at the scalar
level and counted by valgrind's callgrind: exact, the same on every run, and deaf to what else the machine does.
Compilers differ, so counts are stored for each (instructions.json) and compared with those of the same one only;
--update stores this one's. Where valgrind or the compiler is missing, or has no counts stored, it says so and passes.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
STORED = HERE / "instructions.json"
FLAGS = ("-std=c11", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-O3", "-g0")  # as in setup.py
TOLERANCE = 0.1


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def identity(compiler):
    """What counts depend on beside the source: the compiler's kind, version and target."""
    kind = "clang" if "clang" in output(compiler, "--version") else "gcc"
    version = output(compiler, "-dumpversion" if kind == "clang" else "-dumpfullversion")
    return f"{kind} {version} {output(compiler, '-dumpmachine')}"


def counts(compiler):
    """Instructions of each kernel of the driver."""
    with tempfile.TemporaryDirectory() as folder:
        driver = Path(folder, "instructions")
        kernels = sorted((HERE.parent / "csrc").glob("*.c"))
        includes = f"-I{HERE.parent / 'csrc'}", f"-I{np.get_include()}"
        subprocess.run(
            [compiler, *FLAGS, *includes, HERE / "instructions.c", *kernels, "-o", driver, "-lm"], check=True
        )
        return {name: count(driver, name) for name in output(driver).split()}


def count(driver, name):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured"]
    told = subprocess.run([*command, driver, name], check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", told)[1])


def compared(now, before):
    """Lines of a table, and the names of kernels that grew beyond the tolerance."""
    lines, grown = [], []
    for name, number in now.items():
        if name not in before:
            lines.append(f"{name:28} {number:12,}  new")
            continue
        change = number / before[name] - 1
        lines.append(f"{name:28} {number:12,}  {100 * change:+.1f}%")
        if change > TOLERANCE:
            grown.append(name)
    return lines, grown


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="store what is counted now")
    update = parser.parse_args().update

    compiler = shutil.which(os.environ.get("CC", "gcc"))
    missing = [tool for tool, path in (("C compiler", compiler), ("valgrind", shutil.which("valgrind"))) if not path]
    if missing:
        print(f"skipped: no {' and no '.join(missing)} here")
        sys.exit(update)
    which, stored = identity(compiler), json.loads(STORED.read_text()) if STORED.exists() else {}
    now = counts(compiler)
    lines, grown = compared(now, stored.get(which, {}))
    print(f"{which}, scalar level, instructions", *lines, sep="\n")
    if update:
        stored[which] = now
        STORED.write_text(json.dumps(stored, indent=1) + "\n")
    elif which not in stored:
        print(f"not compared: counts are stored for {', '.join(stored)}")
    elif grown:
        sys.exit(f"more than {100 * TOLERANCE:.0f}% above {STORED.name}: {', '.join(grown)}")


if __name__ == "__main__":
    main()

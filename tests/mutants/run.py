"""Applies every mutant to a copy of the checkout and runs the tests that should kill it.

    python tests/mutants/run.py                  all of them, one after another
    python tests/mutants/run.py winnow laplace   those whose name or file holds one of the words
    python tests/mutants/run.py --check          only whether each anchor is in its file once

The checkout must be built in place, and the tests that are named must pass on it, which is looked at first. Python
needs no rebuilding; for C and Cython the extensions that depend on the file are built again, in a copy of their own.
Ends with 1 if one survived.
"""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import accounting
import experts
import kernels
import learners
import mechanisms
import persistence
import tables

ROOT = Path(__file__).resolve().parents[2]
MUTANTS = [
    m for room in (accounting, mechanisms, tables, learners, experts, persistence, kernels) for m in room.MUTANTS
]
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".git", "build", "*.egg-info", ".pytest_cache")
_SECONDS = 600


def anchors(mutant):
    """How often the text that is to change is in its file."""
    file = ROOT / mutant.file
    return file.read_text(encoding="utf-8").count(mutant.old) if file.exists() else 0


def copied(folder):
    """A copy of what a test run needs, with the times of its files, by which the build tells what is new."""
    for name in ("dpfast", "csrc", "tests", "bench", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=_LEFT_OUT)
    for name in ("setup.py", "pyproject.toml", "CHANGELOG.md", "README.md"):
        shutil.copy2(ROOT / name, folder / name)
    return folder


def run(command, folder, **options):
    """A command in the copy, which imports nothing from anywhere else."""
    environment = os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False, **options
    )


def tested(words, folder, **options):
    """A run of some tests, up to the first that fails."""
    return run(
        ["-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", *(f"tests/{w}" for w in words)], folder, **options
    )


def verdict(mutant, folder):
    """ "killed", "survived", or what went wrong."""
    if not mutant.file.endswith(".py") and run(["setup.py", "-q", "build_ext", "--inplace"], folder).returncode:
        return "does not compile"
    try:
        done = tested(shlex.split(mutant.tests), folder, timeout=_SECONDS)
    except subprocess.TimeoutExpired:
        return "killed"  # a run that hangs is noticed
    if done.returncode not in (0, 1):
        return f"broken: {done.stdout.strip().splitlines()[-1:]}"
    return "killed" if done.returncode else "survived"


def tried(mutant, folder):
    """The verdict on a copy, which is as it was afterwards if the mutant was of Python."""
    file = folder / mutant.file
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        return verdict(mutant, folder)
    finally:
        file.write_text(whole, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    chosen = [m for m in MUTANTS if not asked.words or any(word in f"{m.name} {m.file}" for word in asked.words)]
    lost = [m for m in chosen if anchors(m) != 1]
    for m in lost:
        print(f"anchor is there {anchors(m)} times: {m.name} ({m.file})")
    if asked.check or lost:
        print(f"{len(chosen)} mutants, {len(lost)} anchors to mend")
        sys.exit(bool(lost))
    verdicts = []
    with tempfile.TemporaryDirectory() as name:
        shared = copied(Path(name) / "python")
        named = sorted({word for m in chosen for word in shlex.split(m.tests)})
        whole = tested(named, shared)
        if whole.returncode:
            sys.exit(f"without any mutant these fail:\n{whole.stdout[-2000:]}")
        for m in chosen:
            start = time.perf_counter()
            if m.file.endswith(".py"):
                verdicts.append(tried(m, shared))
            else:
                with tempfile.TemporaryDirectory() as own:
                    verdicts.append(tried(m, copied(Path(own) / "built")))
            print(f"{verdicts[-1]:9} {time.perf_counter() - start:5.0f} s  {m.name} ({m.file})", flush=True)
    killed = verdicts.count("killed")
    print(f"{killed} of {len(chosen)} killed")
    sys.exit(killed < len(chosen))


if __name__ == "__main__":
    main()

"""Applies every mutant to a copy of the checkout and runs the tests that should kill it.

    python tests/mutants/run.py                  all of them, one after another
    python tests/mutants/run.py winnow laplace   those whose name or file holds one of the words
    python tests/mutants/run.py --check          only whether each finds its line once, parses and has tests

The checkout must be built in place. Python needs no rebuilding; for C and Cython the extensions that depend on the file
are built again, in a copy of their own. Each mutant is printed with the test that kills it, which is run again without
the mutant and must pass; at the end, how many were killed. Ends with 1 if one was not. For POSIX: tests run in forks.
"""

import argparse
import ast
import importlib
import os
import shlex
import shutil
import signal
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
ROOMS = (accounting, mechanisms, tables, learners, experts, persistence, kernels)
MUTANTS = [m for room in ROOMS for m in room.MUTANTS]
_LEFT_OUT = shutil.ignore_patterns("__pycache__", ".git", "build", "*.egg-info", ".pytest_cache")
_SECONDS = 600
_UNWRITTEN = "-Wignore::pytest.PytestAssertRewriteWarning"  # of what is imported before the fork
_SLOW = ("pytest", "hypothesis", "pandas", "scipy.stats", "sklearn.utils.estimator_checks", "sklearn.ensemble")


def anchors(mutant):
    """How often the text that is to change is in its file."""
    file = ROOT / mutant.file
    return file.read_text(encoding="utf-8").count(mutant.old) if file.exists() else 0


def parses(mutant):
    """Whether the file with the mutant can be parsed."""
    try:
        ast.parse((ROOT / mutant.file).read_text(encoding="utf-8").replace(mutant.old, mutant.new))
    except SyntaxError:
        return False
    return True


def test_files(mutant):
    """The files and folders of the tests that should kill a mutant."""
    return [ROOT / "tests" / word.split("::")[0] for word in shlex.split(mutant.tests)]


def copied(folder):
    """A copy of what a test run needs, with the times of its files, by which the build tells what is new."""
    for name in ("dpfast", "csrc", "tests", "bench", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=_LEFT_OUT)
    for name in ("setup.py", "pyproject.toml", "CHANGELOG.md", "README.md"):
        shutil.copy2(ROOT / name, folder / name)
    return folder


def built(folder):
    """Whether what is out of date in a copy could be built."""
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    return not subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode


def tested(tests, folder):
    """The return code of a run of some tests, up to the first that fails, and that test; a run that hangs is killed.

    In a fork, which has what all tests import and nothing of dpfast.
    """
    with tempfile.TemporaryFile("w+") as out:
        child = os.fork()
        if not child:
            code = 99
            try:
                os.setsid()
                for stream in (1, 2):
                    os.dup2(out.fileno(), stream)
                code = _run_tests(tests, folder)
            finally:
                os._exit(code)
        until = time.monotonic() + _SECONDS
        while not (ended := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() > until:
                os.killpg(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return 1, ""
            time.sleep(0.05)
        out.seek(0)
        failed = [line.split(" - ")[0] for line in out if line.startswith(("FAILED ", "ERROR "))]
        return os.waitstatus_to_exitcode(ended[1]), failed[0].split(" ", 1)[1].strip() if failed else ""


def _run_tests(tests, folder):
    """In the child: import nothing of this script's folder, and dpfast from the copy."""
    own = {str(ROOT), str(Path(__file__).parent)}
    sys.path[:] = [str(folder), *(path for path in sys.path if path not in own)]
    for room in ("mutant", *(room.__name__ for room in ROOMS)):
        sys.modules.pop(room, None)
    os.chdir(folder)
    os.environ |= {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    sys.dont_write_bytecode = True
    import pytest

    return int(pytest.main(["-q", "-x", "-n0", "-p", "no:cacheprovider", _UNWRITTEN, *tests]))


def verdict(mutant, folder):
    """ "killed", "survived", or what went wrong; and the test that kills it."""
    if not mutant.file.endswith(".py") and not built(folder):
        return "does not compile", ""
    code, test = tested([f"tests/{word}" for word in shlex.split(mutant.tests)], folder)
    if code not in (0, 1):
        return f"broken: pytest ended with {code}", test
    return ("killed", test or f"a run that hangs for {_SECONDS} s") if code else ("survived", "")


def tried(mutant, folder):
    """The verdict on a copy, which is as it was afterwards if the mutant was of Python, and the test."""
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
    lost = [f"anchor is there {anchors(m)} times: {m.name} ({m.file})" for m in chosen if anchors(m) != 1]
    of_python = [m for m in chosen if m.file.endswith(".py") and anchors(m) == 1]
    lost += [f"cannot be parsed: {m.name} ({m.file})" for m in of_python if not parses(m)]
    lost += [f"no such test: {m.name} ({file})" for m in chosen for file in test_files(m) if not file.exists()]
    if asked.check or lost:
        print(*lost, f"{len(chosen)} mutants, {len(lost)} to mend", sep="\n")
        sys.exit(bool(lost))
    for name in _SLOW:
        importlib.import_module(name)
    verdicts, passes = [], {}
    with tempfile.TemporaryDirectory() as name:
        shared = copied(Path(name) / "python")
        for m in chosen:
            start = time.perf_counter()
            if m.file.endswith(".py"):
                found, test = tried(m, shared)
            else:
                with tempfile.TemporaryDirectory() as own:
                    found, test = tried(m, copied(Path(own) / "built"))
            if found == "killed" and "::" in test:
                if test not in passes:
                    passes[test] = tested([test], shared)[0] == 0
                found = "killed" if passes[test] else "no verdict: without it fails too"
            verdicts.append(found)
            print(f"{found:9} {time.perf_counter() - start:5.0f} s  {m.name} ({m.file}): {test}", flush=True)
    killed = verdicts.count("killed")
    print(f"{killed} of {len(chosen)} mutants killed")
    sys.exit(killed < len(chosen))


if __name__ == "__main__":
    main()

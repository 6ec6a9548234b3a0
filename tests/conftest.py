import gc
import os
import signal
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from dpfast.kernels import cpu

HERE = Path(__file__).resolve().parent
gc.disable()  # until the tests are collected: modules stay
os.environ["COLUMNS"] = "200"  # of consoles, which note it when they are made
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a script; children would inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config):
    if getattr(config.option, "numprocesses", None):  # not for mutants, whose files change
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # workers and hundreds of other processes import the same files
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # workers share the cores: threads would wait for each other


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Every second worker imports all tests last first: each of two compiles half of them, and of what they import."""
    report = yield
    config = collector.config
    worker = getattr(config, "workerinput", {}).get("workerid", "gw0")
    if int(worker[2:]) % 2 and collector.path == HERE and HERE in [Path(each).resolve() for each in config.args]:
        for module in _last_first(report.result):
            with suppress(Exception, pytest.skip.Exception):  # told when the file itself is collected
                _ = module.obj
    return report


def _last_first(nodes):
    for node in reversed(nodes):
        if isinstance(node, pytest.Module):
            yield node
        else:
            yield from _last_first([*node.collect()])


LONG_ROOMS = {"audit", "bench", "docs", "faults", "mutants", "parts", "platforms", "premises", "testing", "typing"}


def pytest_collection_modifyitems(items):
    """Mark tests as quick, except those in rooms that start processes, replay fits or run pages: `pytest -m quick`."""
    long = {path: _is_long(path) for path in {item.path for item in items}}
    for item in items:
        if not long[item.path]:
            item.add_marker(pytest.mark.quick)


def _is_long(path):
    return path.is_relative_to(HERE) and not LONG_ROOMS.isdisjoint(path.relative_to(HERE).parts)


def pytest_collection_finish():
    gc.freeze()  # modules and thousands of tests, which every full collection would walk through
    gc.enable()


def pytest_addoption(parser):
    parser.addoption("--long", action="store_true", help="search for faults for hours, not seconds")


@pytest.fixture
def many(request):
    """A function that gives the first of two numbers, or with --long the second."""
    return lambda some, number: number if request.config.getoption("--long") else some


@pytest.fixture
def rng():
    return np.random.default_rng(20261121)


@pytest.fixture(params=cpu.LEVELS)
def isa(request):
    """Each instruction-set level that this machine runs, in turn."""
    before = cpu.level()
    if cpu.LEVELS.index(request.param) > cpu.LEVELS.index(cpu.best()):
        pytest.skip("not on this machine")
    cpu.use(request.param)
    yield request.param
    cpu.use(before)


@pytest.fixture
def each_isa():
    """A function that runs another at every level of this machine and returns the results."""
    before = cpu.level()

    def run(function):
        results = []
        for name in cpu.LEVELS[: cpu.LEVELS.index(cpu.best()) + 1]:
            cpu.use(name)
            results.append(function())
        return results

    yield run
    cpu.use(before)

"""Ratios: in each group, what the line named test_dpfast... does against every other line, in the same run."""

import bandwidth
import numpy as np
import peers
import pytest
import report
import results

from dpfast.kernels import cpu
from dpfast.parts import blocks


def pytest_addoption(parser):
    parser.addoption("--ours", action="store_true", help="dpfast's lines only")


def pytest_xdist_auto_num_workers(config):
    return None if config.getoption("benchmark_disable") else 0  # what is measured runs alone


def pytest_collection_modifyitems(config, items):
    if config.getoption("ours"):
        items[:] = [item for item in items if item.name.startswith(report.OURS)]
    if config.getoption("benchmark_disable"):
        items[:] = once(items)


def once(items):
    """One item of each line and kind of table: the first of its sizes, at the best level of this machine."""
    first = {}
    for item in items:
        given = dict(item.callspec.params) if hasattr(item, "callspec") else {}
        if given.pop("isa", cpu.best()) == cpu.best():
            kinds = [str(value) for value in given.values() if not isinstance(value, int | float | tuple)]
            first.setdefault((item.nodeid.partition("[")[0], *kinds), item)
    return first.values()


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
def rng():
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def pool(request, monkeypatch):
    """Notes which lines use the pool of `dpfast.parts.blocks`: only those can gain from threads."""
    asked, threads = [], blocks.threads
    benchmark = request.getfixturevalue("benchmark") if "benchmark" in request.fixturenames else None
    monkeypatch.setattr(blocks, "threads", lambda: asked.append(True) or threads())
    yield
    if benchmark is not None:
        benchmark.extra_info["pooled"] = bool(asked)


def pytest_benchmark_update_json(output_json):
    """What `report` needs beside the times."""
    threads, machine = blocks.threads(), results.machine("opendp", "numba", "randomgen")
    machine["versions"] |= peers.versions_elsewhere()
    output_json["dpfast"] = {
        "threads": threads,
        "bandwidth": {"read": bandwidth.read(threads), "triad": bandwidth.triad(threads)},
        "machine": machine,
    }


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    measured = [b for b in getattr(session, "benchmarks", []) if b.stats.rounds]
    if not measured or config.getoption("benchmark_disable"):
        return
    limit = bandwidth.read()
    terminalreporter.write_sep("=", f"ratios of medians; one thread reads {limit / 1e9:.1f} GB/s here")
    for line in report.lines([b.as_dict(include_data=False) for b in measured]):
        level = f" ({line['level']})" if line["level"] else ""
        text = f"{line['work']}: {line['line']}{level} {report.milliseconds(line['seconds'])} ms"
        if line["bytes"]:
            rate = line["bytes"] / line["seconds"]
            text += f", {rate / 1e9:.1f} GB/s = {100 * rate / limit:.0f}% of reading"
        if line["items"]:
            number, unit = line["items"]
            text += f", {number / line['seconds'] / 1e9:.2f} G {unit}/s"
        text += "".join(f"; {report.times(peer['ratio'])} x {peer['name']}" for peer in line["peers"])
        terminalreporter.write_line(text)

"""Ratios: in each group, what the line named test_dpfast... does against every other line, in the same run."""

from collections import defaultdict

import numpy as np
import pytest
from workloads import read_bandwidth

from dpfast.kernels import cpu


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


def pytest_terminal_summary(terminalreporter, config):
    session = getattr(config, "_benchmarksession", None)
    results = [b for b in getattr(session, "benchmarks", []) if b.stats.rounds]
    if not results or config.getoption("benchmark_disable"):
        return
    groups = defaultdict(list)
    for result in results:
        groups[result.group].append(result)
    bandwidth = read_bandwidth()
    terminalreporter.write_sep("=", f"ratios of medians; one thread reads {bandwidth / 1e9:.1f} GB/s here")
    for group, lines in groups.items():
        ours = [line for line in lines if line.name.startswith("test_dpfast")]
        for mine in ours:
            text = f"{group}: {mine.name} {1e3 * mine.stats.median:.3f} ms"
            if "bytes" in mine.extra_info:
                rate = mine.extra_info["bytes"] / mine.stats.median
                text += f", {rate / 1e9:.1f} GB/s = {100 * rate / bandwidth:.0f}% of reading"
            if "items" in mine.extra_info:
                number, unit = mine.extra_info["items"]
                text += f", {number / mine.stats.median / 1e9:.2f} G {unit}/s"
            for other in lines:
                if other not in ours:
                    text += f"; {other.stats.median / mine.stats.median:.1f} x {other.name}"
            terminalreporter.write_line(text)

import os

import numpy as np
import pytest

from dpfast.kernels import cpu

os.environ["COLUMNS"] = "200"  # of consoles, which note it when they are made


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

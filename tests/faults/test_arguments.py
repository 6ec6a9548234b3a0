"""Every argument of every kernel may be anything: it is taken, or refused by the errors that are promised."""

import re
from pathlib import Path

import pytest
from arguments import TRIALS, run

from dpfast import kernels
from dpfast.kernels import cpu


@pytest.mark.filterwarnings("ignore::numpy.exceptions.ComplexWarning", "ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::numpy.exceptions.VisibleDeprecationWarning")
def test_every_argument_of_every_kernel_may_be_anything(many):
    before = cpu.level()
    try:
        tried, faults = run(TRIALS, many(80, 800), 0)
    finally:
        cpu.use(before)
    assert not faults
    names = {name.rpartition(".")[2] for name, *_ in tried}
    functions = re.compile(r"^def (\w+)\((?!\))", re.M)
    public = {
        name for path in Path(kernels.__file__).parent.glob("*.pyi") for name in functions.findall(path.read_text())
    }
    assert not public - names

import os
import subprocess
import sys

import pytest

from dpfast.kernels import cpu


def test_a_level_can_be_chosen_for_the_whole_process(isa):
    assert cpu.level() == isa


def test_an_unknown_level_is_refused_by_name():
    with pytest.raises(ValueError, match="must be one of scalar"):
        cpu.use("mmx")


def run(value):
    command = "import dpfast.kernels.cpu as c; print(c.level())"
    return subprocess.run(
        [sys.executable, "-P", "-c", command], capture_output=True, text=True, env={**os.environ, "DPFAST_ISA": value}
    )


def test_the_environment_names_the_level_on_import():
    assert run("scalar").stdout.strip() == "scalar"


def test_a_wrong_name_in_the_environment_is_an_error():
    assert "must be one of scalar" in run("neon9").stderr

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


AVX2 = ["popcnt", "avx", "fma", "bmi", "avx2", "bmi2", "lzcnt"]
AVX512 = ["avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512vbmi", "gfni", "avx512vpopcntdq"]
AES = ["aes", "vaes"]  # of no level


def test_a_level_needs_every_instruction_set_that_it_is_compiled_for():
    every = dict.fromkeys(cpu._sets(), True)
    assert list(every) == AVX2 + AVX512 + AES
    assert cpu._best_of(every) == "avx512"
    for lacking in AES:
        assert cpu._best_of(every | {lacking: False}) == "avx512", lacking
    for lacking in AVX2 + AVX512:  # a virtual machine may hide any of them
        assert cpu._best_of(every | {lacking: False}) == ("avx2" if lacking in AVX512 else "scalar"), lacking
    assert cpu._best_of(dict.fromkeys(every, False)) == "scalar"


CPUINFO = {"bmi": "bmi1", "lzcnt": "abm", "avx512vpopcntdq": "avx512_vpopcntdq"}  # where Linux has names of its own


def test_the_processor_is_asked_as_the_system_asks_it():
    try:
        with open("/proc/cpuinfo") as file:
            flags = next(line for line in file if line.startswith("flags")).split()
    except (OSError, StopIteration):
        pytest.skip("no flags of the processor are told here")
    assert cpu._sets() == {name: CPUINFO.get(name, name) in flags for name in cpu._sets()}
    assert cpu.best() == cpu._best_of(cpu._sets())

"""What the kernels ask of a processor."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CSRC = Path(__file__).resolve().parents[2] / "csrc"
X86 = sys.platform == "linux" and shutil.which("gcc")


@pytest.mark.skipif(not X86, reason="there is no gcc here")
def test_processors_of_32_bits_are_refused_in_one_line():
    command = ["gcc", "-m32", "-ffreestanding", "-std=c11", "-fsyntax-only", "-x", "c", CSRC / "dpf.h"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unrecognized" in done.stderr:
        pytest.skip("gcc of another processor")
    first = next(line for line in done.stderr.splitlines() if "error" in line)
    assert first.endswith('#error "dpfast needs a 64-bit processor"')


@pytest.mark.skipif(not X86 or not shutil.which("qemu-x86_64"), reason="there is no gcc or no qemu-x86_64 here")
def test_a_processor_that_lacks_one_instruction_of_a_level_does_not_use_it(tmp_path):
    (tmp_path / "main.c").write_text(
        '#include <stdio.h>\n#include "dpf_cpu.h"\nint main(void) { printf("%d", dpf_cpu_best()); return 0; }\n'
    )
    command = [
        "gcc",
        "-std=c11",
        "-static",
        f"-I{CSRC}",
        tmp_path / "main.c",
        CSRC / "dpf_cpu.c",
        "-o",
        tmp_path / "main",
    ]
    subprocess.run(command, check=True)

    def best(processor):
        run = ["qemu-x86_64", "-cpu", processor, tmp_path / "main"]
        return subprocess.run(run, check=True, capture_output=True, text=True).stdout

    assert best("max") == "1"
    for lacking in ("avx2", "bmi1", "bmi2", "popcnt", "abm"):  # abm: lzcnt
        assert best(f"max,-{lacking}") == "0", lacking

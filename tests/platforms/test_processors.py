"""What the kernels ask of a processor."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

STANDARD = r"""
#include <stdio.h>
#include "aes.h"
#include "dpf_cpu.h"

/* FIPS 197, appendix C.1: the round keys, and a block that is the counter; each way that the processor has. */
static const uint64_t schedule[DPF_AES_SCHEDULE] = {
    0x0706050403020100, 0x0f0e0d0c0b0a0908, 0xfa72afd2fd74aad6, 0xfe76abd6f178a6da, 0xf1bd3d640bcf92b6,
    0xfeb3306800c59bbe, 0xbfc9c2d24e74ffb6, 0x41bf6904bf0c596c, 0x033e3595bcf7f747, 0xfd8d05fdbc326cf9,
    0xeb9d9fa9e8a3aa3c, 0xaa22f6ad57aff350, 0x9692a6f77d0f395e, 0x6b1fa30ac13d55a7, 0x8ce25fe31a70f914,
    0x26c0a94e4ddf0a44, 0xb9651ca435874347, 0xd27abfaef4ba16e0, 0x685785f0d1329954, 0x4e972cbe9ced9310,
    0x174a94e37f1d1113, 0xc5302b4d8ba707f3,
};

int main(void) {
    int last = 0;
    for (int level = 0; level <= dpf_cpu_best(); level++) {
        dpf_aes aes = {.counter = {0x7766554433221100, 0xffeeddccbbaa9988}, .way = dpf_aes_way(level, dpf_cpu_sets())};
        if (aes.way == last) continue;
        for (int i = 0; i < DPF_AES_SCHEDULE; i++) aes.schedule[i] = schedule[i];
        dpf_aes_fill(&aes);
        printf("%d ", last = aes.way);
        for (int i = 0; i < 16; i++) printf("%02x", (int)(aes.words[i / 8] >> 8 * (i % 8) & 255));
        puts("");
    }
}
"""
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
    for lacking in ("avx2", "fma", "bmi1", "bmi2", "popcnt", "abm"):  # abm: lzcnt
        assert best(f"max,-{lacking}") == "0", lacking


@pytest.mark.skipif(not X86 or not shutil.which("qemu-x86_64"), reason="there is no gcc or no qemu-x86_64 here")
def test_processors_encipher_by_the_instructions_that_they_have(tmp_path):
    (tmp_path / "main.c").write_text(STANDARD)
    sources = [tmp_path / "main.c", CSRC / "aes.c", CSRC / "dpf_cpu.c"]
    command = ["gcc", "-std=c11", "-O1", "-static", f"-I{CSRC}", f"-I{np.get_include()}", *sources, "-o"]
    subprocess.run([*command, tmp_path / "main"], check=True)

    def ways(processor):
        run = ["qemu-x86_64", "-cpu", processor, tmp_path / "main"]
        return subprocess.run(run, check=True, capture_output=True, text=True).stdout

    assert ways("Nehalem") == ""
    assert ways("Westmere") == ways("Haswell") == "1 69c4e0d86a7b0430d8cdb78070b4c55a\n"

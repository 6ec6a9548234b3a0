"""Do seeds give the same models on other processors: `python tests/platforms/machines.py`.

The digests of tests/test_digests.py are computed again as on machines of other kinds: under the kernels that OpenBLAS
has for other processors, with numpy's loops for old ones, with the C library's functions for processors that cannot
fuse a multiplication and an addition, and at every instruction-set level of dpfast. What this processor cannot execute
is skipped, and named.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDS = {  # of the core types of OpenBLAS, flags of /proc/cpuinfo
    "Prescott": {"pni"},
    "Nehalem": {"sse4_2"},
    "Barcelona": {"sse4a"},
    "Sandybridge": {"avx"},
    "Bulldozer": {"fma4"},
    "Haswell": {"avx2", "fma"},
    "Zen": {"avx2", "fma"},
    "SkylakeX": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
    "Cooperlake": {"avx512f", "avx512_bf16"},
    "SapphireRapids": {"avx512f", "avx512_bf16", "amx_tile"},
}
VARIANTS = {
    **{f"OpenBLAS for {name}": {"OPENBLAS_CORETYPE": name} for name in NEEDS},
    "one thread of OpenBLAS": {"OPENBLAS_NUM_THREADS": "1"},
    "numpy for x86-64-v2": {"NPY_DISABLE_CPU_FEATURES": "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"},
    "numpy for x86-64-v2, by its older names": {"NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3 AVX512F AVX512_SKX"},
    "a C library without FMA": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX512F"},
    **{f"DPFAST_ISA={level}": {"DPFAST_ISA": level} for level in ("scalar", "avx2", "avx512")},
    "one thread": {"DPFAST_THREADS": "1"},
    "three threads": {"DPFAST_THREADS": "3"},
}


def flags():
    """What the processor executes, as Linux on x86-64 names it; None elsewhere."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return None
    lines = [line for line in text.splitlines() if line.startswith("flags")]
    return set(lines[0].split()) if lines else None


def runs_here(variant):
    """Whether this machine can execute what a variant asks for."""
    if "DPFAST_ISA" in variant:
        from dpfast.kernels import cpu

        return cpu.LEVELS.index(variant["DPFAST_ISA"]) <= cpu.LEVELS.index(cpu.best())
    has = flags()
    return "OPENBLAS_CORETYPE" not in variant or (has is not None and NEEDS[variant["OPENBLAS_CORETYPE"]] <= has)


def moved(variant):
    """The names of the digests that are other ones under a variant."""
    command = [sys.executable, "-W", "ignore", ROOT / "tests" / "test_digests.py", "--moved"]
    done = subprocess.run(command, env=os.environ | variant, capture_output=True, text=True, check=False)
    if done.returncode:
        return [f"the run failed with {done.returncode}: {done.stderr[-500:]}"]
    return json.loads(done.stdout)


def main():
    wrong = 0
    for name, variant in VARIANTS.items():
        if not runs_here(variant):
            print(f"{name}: skipped, not on this processor", flush=True)
            continue
        found = moved(variant)
        wrong += bool(found)
        print(f"{name}: {', '.join(found) or 'the same'}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()

"""Do kernels use the vectors of an ARM: `python tests/platforms/vectors.py` (needs ziglang, gcc and qemu-user).

There is no level for NEON: every aarch64 has it, and the one loop of each kernel is compiled for it. The driver of
bench/instructions.c is compiled for aarch64 with and without vectors, a plugin of qemu counts what each kernel
executes, and kernels of the list below must take fewer instructions with them. Others draw one after another, look
up, or multiply 64 bits, for which NEON has nothing.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from check import INCLUDES, ROOT

FLAGS = ("-std=c11", "-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math")  # as in setup.py
WITHOUT = ("-fno-vectorize", "-fno-slp-vectorize")
LEAST = {  # instructions without vectors, to one with; below what was seen by a tenth
    "bits_pack": 1.5,
    "bits_transpose": 1.2,
    "bits_positional_popcount": 1.75,
    "levels_scan": 5.0,
    "levels_draw": 2.4,
    "cover_count": 1.75,
    "scores_add_packed": 1.75,
    "unit_rows_margins": 8.9,
    "unit_rows_add": 3.4,
    "classes_counts": 1.8,
    "codes_behind": 5.1,
    "codes_match": 6.2,
    "codes_margins": 1.6,
}


def driver(folder, name, *flags):
    """The path of a static driver for aarch64."""
    out = Path(folder, name)
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", "aarch64-linux-musl", "-static", *FLAGS, *flags]
    sources = [ROOT / "bench" / "instructions.c", *sorted((ROOT / "csrc").glob("*.c"))]
    subprocess.run([*zig, *INCLUDES, *sources, "-lm", "-o", out], check=True)
    return out


def counts(program, plugin):
    """Instructions of every kernel."""
    symbols = subprocess.run(["nm", program], check=True, capture_output=True, text=True).stdout
    start = re.search(r"^([0-9a-f]+) T measured$", symbols, re.MULTILINE)[1]
    run = ["qemu-aarch64", "-plugin", f"file={plugin},from=0x{start}", program]
    names = subprocess.run(["qemu-aarch64", program], check=True, capture_output=True, text=True).stdout.split()
    told = {name: subprocess.run([*run, name], check=True, capture_output=True, text=True).stderr for name in names}
    return {name: int(count) for name, count in told.items()}


def main():
    with tempfile.TemporaryDirectory() as folder:
        plugin = Path(folder, "count.so")
        source = Path(__file__).with_name("count.c")
        shared = ["gcc", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden"]
        subprocess.run([*shared, source, "-o", plugin], check=True)
        wide = counts(driver(folder, "wide"), plugin)
        plain = counts(driver(folder, "plain", *WITHOUT), plugin)
    print("aarch64: instructions with vectors, and times as many without")
    for name, count in wide.items():
        print(f"{name:26} {count:12,} {plain[name] / count:6.2f}")
    slow = [name for name, least in LEAST.items() if plain[name] < least * wide[name]]
    sys.exit(f"vectors are not used as they were: {', '.join(slow)}" if slow else None)


if __name__ == "__main__":
    main()

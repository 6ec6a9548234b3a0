"""The C kernels on machines that are not here: `python tests/platforms/check.py` (needs ziglang; qemu, wine to run).

For each target every file of csrc/ is compiled with all warnings as errors. Where the target's programs run here, by
themselves, by qemu-user or by wine, the driver of bench/instructions.c prints a hash of all that each kernel wrote, and
all targets must print the same: other processors, another order of bytes, another libc, a long of 32 bits, and what
csrc/ holds for compilers without the builtins of GCC and clang.

Where there are gcc and qemu-x86_64, the kernels also run at the best level of processors that lack some instructions,
and must print the same. The emulator knows no AVX-512: that level runs only on a machine that has it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import ziglang

ROOT = Path(__file__).resolve().parents[2]
TARGETS = {  # as zig names them, and what runs their programs; None: compiled only
    "x86_64-linux-gnu": "",
    "x86_64-linux-musl": "",
    "x86_64-linux-musl for MSVC": "",
    "aarch64-linux-musl": "qemu-aarch64",
    "s390x-linux-musl": "qemu-s390x",
    "x86_64-windows-gnu": "wine",
    "aarch64-windows-gnu": None,
    "x86_64-windows-msvc": None,
    "aarch64-macos": None,
    "x86_64-macos": None,
}
PROCESSORS = ("Westmere", "SandyBridge", "Haswell", "EPYC", "Skylake-Server", "max,-bmi1", "max,-bmi2", "max,-abm")
# QEMU 7 takes bzhi for BMI1, where it is BMI2, and glibc's memcmp uses it: glibc is to do without on every processor.
WITHOUT_BMI2 = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-BMI2"}
REFUSED = ("x86-linux-musl", "arm-linux-musleabihf")  # 32 bits
WORDS = "dpfast needs a 64-bit processor"
FLAGS = ("-std=c11", "-O3", "-ffp-contract=off", "-Wall", "-Wextra", "-Wgnu", "-Wvla", "-Werror")
INCLUDES = (f"-I{ROOT / 'csrc'}", f"-I{np.get_include()}")
STAND_IN = Path(__file__).parent / "msvc"
HEADERS = Path(ziglang.__file__).parent / "lib" / "libc" / "include" / "any-windows-any"  # MSVC's own are not to be had


def command(target):
    """The compiler and its flags."""
    zig, _, branches = target.partition(" for ")
    flags = [sys.executable, "-m", "ziglang", "cc", "-target", zig, *FLAGS, *INCLUDES]
    if branches:
        flags += ["-include", STAND_IN / "intrin.h", f"-I{STAND_IN}"]
    if zig.endswith("msvc"):
        flags += ["-ffreestanding", "-nostdlibinc", "-isystem", HEADERS]
    return [*flags, "-static"] if zig.endswith("musl") else flags


def compiled(target, folder):
    """The driver with all kernels; None where its programs cannot run, and objects say enough."""
    sources = sorted(map(str, (ROOT / "csrc").glob("*.c")))
    if TARGETS[target] is None:
        for source in sources:
            subprocess.run([*command(target), "-c", source, "-o", Path(folder, "object")], check=True)
        return None
    out = Path(folder, "driver.exe")
    subprocess.run([*command(target), ROOT / "bench" / "instructions.c", *sources, "-lm", "-o", out], check=True)
    return out


def on_processors():
    """What the driver that gcc compiled prints at the best level of each of some processors."""
    if not shutil.which("gcc") or not shutil.which("qemu-x86_64"):
        print("processors: not run, there is no gcc or no qemu-x86_64 here")
        return {}
    seen = {}
    with tempfile.TemporaryDirectory() as folder:
        program, sources = Path(folder, "driver"), sorted((ROOT / "csrc").glob("*.c"))
        flags = ("-std=c11", "-O1", "-ffp-contract=off", "-static", *INCLUDES)
        subprocess.run(["gcc", *flags, ROOT / "bench" / "instructions.c", *sources, "-lm", "-o", program], check=True)
        for processor in PROCESSORS:
            run = ["qemu-x86_64", "-cpu", processor, program, "best"]
            done = subprocess.run(run, check=True, capture_output=True, text=True, env=os.environ | WITHOUT_BMI2)
            seen[processor] = dict(line.split() for line in done.stdout.splitlines())
            print(f"{processor}: {len(seen[processor])} kernels run")
    return seen


def refusal(target):
    """The first error of a target that is not supported."""
    command = [sys.executable, "-m", "ziglang", "cc", "-target", target, "-std=c11", "-fsyntax-only", "-x", "c"]
    done = subprocess.run([*command, ROOT / "csrc" / "dpf.h"], capture_output=True, text=True, check=False)
    return next((line for line in done.stderr.splitlines() if "error:" in line), "none")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), help=f"of {', '.join(TARGETS)}")
    seen, wrong = {}, []
    for target in REFUSED:
        print(f"{target}: {refusal(target)}")
        if WORDS not in refusal(target):
            wrong.append(f"{target} is not refused in so many words")
    for target in parser.parse_args().targets:
        with tempfile.TemporaryDirectory() as folder:
            program, runner = compiled(target, folder), TARGETS[target]
            if program is None:
                print(f"{target}: compiled")
                continue
            if runner and not shutil.which(runner):
                print(f"{target}: compiled; not run, there is no {runner} here")
                continue
            run = [runner, program, "all"] if runner else [program, "all"]
            quiet = os.environ | {"WINEDEBUG": "-all"}
            hashes = subprocess.run(run, check=True, capture_output=True, text=True, env=quiet).stdout
            seen[target] = dict(line.split() for line in hashes.splitlines())
            print(f"{target}: compiled, {len(seen[target])} kernels run")
    seen |= on_processors()
    first, *others = seen.items()
    wrong += [
        f"{name} of {target} is not that of {first[0]}"
        for target, hashes in others
        for name in first[1]
        if hashes[name] != first[1][name]
    ]
    sys.exit("\n".join(wrong) or None)


if __name__ == "__main__":
    main()

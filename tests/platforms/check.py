"""The C kernels on machines that are not here: `python tests/platforms/check.py` (needs ziglang, and qemu-user to run).

For each target every file of csrc/ is compiled with all warnings as errors. Where the target's programs run here, by
themselves or by qemu-user, the driver of bench/instructions.c prints a hash of all that each kernel wrote, and all
targets must print the same: other processors, another order of bytes, another libc.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
TARGETS = {  # as zig names them, and what runs their programs; None: compiled only
    "x86_64-linux-gnu": "",
    "x86_64-linux-musl": "",
    "aarch64-linux-musl": "qemu-aarch64",
    "s390x-linux-musl": "qemu-s390x",
    "aarch64-macos": None,
    "x86_64-macos": None,
    "x86_64-windows-gnu": None,
    "aarch64-windows-gnu": None,
}
REFUSED = ("x86-linux-musl", "arm-linux-musleabihf")  # 32 bits
WORDS = "dpfast needs a 64-bit processor"
FLAGS = ("-std=c11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror")


def compiled(target, folder):
    """The driver with all kernels; None where its programs cannot run, and objects say enough."""
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target]
    includes = [f"-I{ROOT / 'csrc'}", f"-I{np.get_include()}"]
    sources = sorted(map(str, (ROOT / "csrc").glob("*.c")))
    if TARGETS[target] is None:
        for source in sources:
            subprocess.run([*zig, *FLAGS, *includes, "-c", source, "-o", Path(folder, "object")], check=True)
        return None
    out = Path(folder, "driver")
    static = ["-static"] if "musl" in target else []
    driver = ROOT / "bench" / "instructions.c"
    subprocess.run([*zig, *FLAGS, *static, *includes, driver, *sources, "-lm", "-o", out], check=True)
    return out


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
            command = [runner, program, "all"] if runner else [program, "all"]
            hashes = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            seen[target] = dict(line.split() for line in hashes.splitlines())
            print(f"{target}: compiled, {len(seen[target])} kernels run")
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

"""Wheels for Linux, on any Linux: `python .ci/wheels.py --out dist [TARGET ...]` (pip install '.[wheels]' first).

zig compiles for each target with the libc named below, whatever this machine has. auditwheel then says whether a wheel
keeps to that libc, and abi3audit whether it keeps to the stable ABI of Python 3.11. A free-threaded Python has none: by
such a one this makes wheels of its version. Kernels of other processors are run by tests/platforms/check.py.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {  # by the tag of the wheel, as zig names them: glibc 2.17 is of 2012, musl 1.2 of 2020
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
}
BUILT = ("build", "dist", ".git", "*.so", "*.egg-info", "__pycache__", "_build", ".venv")


def build(tag, out):
    """One wheel in the folder `out`; its path."""
    machine = tag.split("_", 3)[3]
    libc = "gnu" if tag.startswith("many") else "musl"
    compiler = f"{sys.executable} -m ziglang cc -target {TARGETS[tag]}"
    environment = os.environ | {
        "CC": compiler,
        "LDSHARED": f"{compiler} -shared -s",
        "CFLAGS": "-fPIC",
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
        "SETUPTOOLS_EXT_SUFFIX": f".{sys.implementation.cache_tag}{sys.abiflags}-{machine}-linux-{libc}.so",
    }
    with tempfile.TemporaryDirectory(prefix="dpfast-wheel.") as folder:
        source, made = Path(folder, "source"), Path(folder, "made")
        shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns(*BUILT))
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", made, source]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        warned = [line for line in done.stderr.splitlines() + done.stdout.splitlines() if "warning:" in line]
        if done.returncode or [line for line in warned if "csrc" in line]:
            sys.exit(f"{tag}: the build\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
        (plain,) = made.glob("*.whl")
        if libc == "musl":
            name_library(plain, f"libc.musl-{machine}.so.1")
        tagged = subprocess.run(
            [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, plain],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        wheel = made / tagged.stdout.split()[-1]
        audit(tag, wheel)
        return Path(shutil.copy2(wheel, out))


def name_library(wheel, name):
    """Link to musl by the `name` that its systems and auditwheel know, not by libc.so as zig does."""
    with tempfile.TemporaryDirectory(prefix="dpfast-wheel.") as folder:
        subprocess.run(
            [sys.executable, "-m", "wheel", "unpack", "--dest", folder, wheel], check=True, capture_output=True
        )
        (unpacked,) = Path(folder).iterdir()
        for library in unpacked.rglob("*.so"):
            subprocess.run(["patchelf", "--replace-needed", "libc.so", name, library], check=True)
        pack = [sys.executable, "-m", "wheel", "pack", "--dest-dir", wheel.parent, unpacked]
        subprocess.run(pack, check=True, capture_output=True)


def audit(tag, wheel):
    """Refuse a wheel that needs a newer glibc than its tag says, another library, or more than the stable ABI."""
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
    said = " ".join(shown.stdout.split())
    kept = f'following platform tag: "{tag}"' in said and "external shared libraries are required" not in said
    if shown.returncode or not kept:
        sys.exit(f"{wheel.name}: auditwheel\n{shown.stdout}\n{shown.stderr}")
    if "-abi3-" not in wheel.name:
        return
    abi = subprocess.run([sys.executable, "-m", "abi3audit", "--strict", wheel], capture_output=True, text=True)
    if abi.returncode:
        sys.exit(f"{wheel.name}: abi3audit\n{abi.stdout}\n{abi.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), help=f"of {', '.join(TARGETS)}")
    parser.add_argument("--out", type=Path, default=Path("dist"))
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    for tag in asked.targets:
        wheel = build(tag, asked.out)
        print(f"{wheel.name}: {wheel.stat().st_size / 1e6:.1f} MB", flush=True)


if __name__ == "__main__":
    main()

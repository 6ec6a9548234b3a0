"""Wheels for Linux, on any Linux: `python .ci/wheels.py --out dist [TARGET ...]` (pip install '.[wheels]' first).

zig compiles for each target with the glibc named below, whatever this machine has. auditwheel then says whether a
wheel keeps to that glibc, and abi3audit whether it keeps to the stable ABI of Python 3.11. Kernels of other processors
are run by tests/platforms/check.py.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TARGETS = {  # by the tag of the wheel, as zig names them: glibc 2.17 is of 2012
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
}
BUILT = ("build", "dist", ".git", "*.so", "*.egg-info", "__pycache__", "_build", ".venv")


def build(tag, out):
    """One wheel in the folder `out`; its path."""
    machine = tag.split("_", 3)[3]
    compiler = f"{sys.executable} -m ziglang cc -target {TARGETS[tag]}"
    environment = os.environ | {
        "CC": compiler,
        "LDSHARED": f"{compiler} -shared -s",
        "CFLAGS": "-fPIC",
        "_PYTHON_HOST_PLATFORM": f"linux-{machine}",
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
        tagged = subprocess.run(
            [sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", tag, plain],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        wheel = made / tagged.stdout.split()[-1]
        audit(tag, wheel)
        return Path(shutil.copy2(wheel, out))


def audit(tag, wheel):
    """Refuse a wheel that needs a newer glibc than its tag says, another library, or more than the stable ABI."""
    shown = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True)
    said = " ".join(shown.stdout.split())
    kept = f'following platform tag: "{tag}"' in said and "external shared libraries are required" not in said
    if shown.returncode or not kept:
        sys.exit(f"{wheel.name}: auditwheel\n{shown.stdout}\n{shown.stderr}")
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

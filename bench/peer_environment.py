"""Makes environments of their own for peers that do not run beside today's numpy and scikit-learn.

    python bench/peer_environment.py [--trees | --synthetic]

diffprivlib 0.6.6 cannot be imported with scikit-learn 1.9 (it asks sklearn.tree._tree for DOUBLE, which is gone), and
imodels 3.0.4 needs six without saying so. The environment is build/peers, or what the variable DPFAST_PEERS names.
`--trees` makes another one, build/peers_trees: dp-xgboost 0.2.10, an old XGBoost that is compiled from source, for some
minutes, and wants CMake 3 and numpy 1, where diffprivlib wants numpy 2. `--synthetic` makes build/peers_synthetic: dpmm
0.1.9, whose numpy and scikit-learn are older. `peer_worker.py` runs in them; without them the lines that need them are
skipped.
"""

import argparse
import os
import subprocess
import venv
from pathlib import Path

FOLDER = Path(os.environ.get("DPFAST_PEERS") or Path(__file__).resolve().parents[1] / "build" / "peers")
PINS = {  # what is installed into each environment, one call of pip after the other
    "": (("diffprivlib==0.6.6", "scikit-learn==1.6.1", "imodels==3.0.4", "six"),),
    "trees": (
        ("numpy<2", "scipy", "cmake<4", "setuptools", "wheel"),
        ("--no-build-isolation", "dp-xgboost==0.2.10"),
    ),
    "synthetic": (("dpmm==0.1.9",),),
}


def folder(kind=""):
    return FOLDER.with_name(f"{FOLDER.name}_{kind}") if kind else FOLDER


def python(kind=""):
    """The interpreter of an environment, or None where there is none."""
    path = folder(kind) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return path if path.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = parser.add_mutually_exclusive_group()
    told = {"trees": "that of dp-xgboost, compiled here", "synthetic": "that of dpmm"}
    for kind, what in told.items():
        kinds.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind, default="", help=what)
    kind = parser.parse_args().kind
    venv.create(folder(kind), clear=True, with_pip=True)
    pip = (python(kind), "-m", "pip", "--disable-pip-version-check")
    for pins in PINS[kind]:
        subprocess.run([*pip, "install", "--quiet", *pins], check=True)
    subprocess.run([*pip, "list"], check=True)


if __name__ == "__main__":
    main()

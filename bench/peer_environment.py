"""Makes environments of their own for peers that do not run beside today's numpy and scikit-learn.

    python bench/peer_environment.py [--trees]

diffprivlib 0.6.6 cannot be imported with scikit-learn 1.9 (it asks sklearn.tree._tree for DOUBLE, which is gone), and
imodels 3.0.4 needs six without saying so. The environment is build/peers, or what the variable DPFAST_PEERS names.
`--trees` makes another one, build/peers_trees: dp-xgboost 0.2.10, an old XGBoost that is compiled from source, for some
minutes, and wants CMake 3 and numpy 1, where diffprivlib wants numpy 2. `peer_worker.py` runs in them; without them
the lines that need them are skipped.
"""

import argparse
import os
import subprocess
import venv
from pathlib import Path

FOLDER = Path(os.environ.get("DPFAST_PEERS") or Path(__file__).resolve().parents[1] / "build" / "peers")
PINS = (("diffprivlib==0.6.6", "scikit-learn==1.6.1", "imodels==3.0.4", "six"),)
PINS_OF_TREES = ("numpy<2", "scipy", "cmake<4", "setuptools", "wheel"), ("--no-build-isolation", "dp-xgboost==0.2.10")


def folder(trees=False):
    return FOLDER.with_name(FOLDER.name + "_trees") if trees else FOLDER


def python(trees=False):
    """The environment's interpreter, or None where there is none."""
    path = folder(trees) / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return path if path.exists() else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trees", action="store_true", help="that of dp-xgboost, compiled here")
    trees = parser.parse_args().trees
    venv.create(folder(trees), clear=True, with_pip=True)
    pip = (python(trees), "-m", "pip", "--disable-pip-version-check")
    for pins in PINS_OF_TREES if trees else PINS:
        subprocess.run([*pip, "install", "--quiet", *pins], check=True)
    subprocess.run([*pip, "list"], check=True)


if __name__ == "__main__":
    main()

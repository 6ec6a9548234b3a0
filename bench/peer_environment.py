"""Makes an environment of their own for peers that do not run beside today's scikit-learn.

    python bench/peer_environment.py

diffprivlib 0.6.6 cannot be imported with scikit-learn 1.9 (it asks sklearn.tree._tree for DOUBLE, which is gone), and
imodels 3.0.4 needs six without saying so. The environment is build/peers, or what the variable DPFAST_PEERS names.
`peer_worker.py` runs in it; without it the lines that need it are skipped.
"""

import os
import subprocess
import venv
from pathlib import Path

FOLDER = Path(os.environ.get("DPFAST_PEERS") or Path(__file__).resolve().parents[1] / "build" / "peers")
PINS = ("diffprivlib==0.6.6", "scikit-learn==1.6.1", "imodels==3.0.4", "six")


def python():
    """The environment's interpreter, or None where there is none."""
    path = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    return path if path.exists() else None


def main():
    venv.create(FOLDER, clear=True, with_pip=True)
    pip = (python(), "-m", "pip", "--disable-pip-version-check")
    subprocess.run([*pip, "install", "--quiet", *PINS], check=True)
    subprocess.run([*pip, "list"], check=True)


if __name__ == "__main__":
    main()

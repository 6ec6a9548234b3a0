"""The tests with other versions of what dpfast stands on: `python tests/platforms/matrix.py --wheel WHEEL oldest`.

For each environment named, a virtual environment is made, the wheel is installed into it beside the versions below, and
the tests are run against it. uv installs where it is found, otherwise pip. `oldest` has the lowest series of every
requirement in pyproject.toml. `--python` names the interpreter that makes the environment, this one by default.
`free-threaded` is for such a Python and the wheel of its version, without what has no wheels for it.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ("tests/learners", "tests/tables", "tests/files", "tests/metrics", "tests/cli", "tests/test_persistence.py")


def oldest():
    """The lowest series that pyproject.toml allows, of what is required and of the frames that are accepted."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    frames = [each for each in project["optional-dependencies"]["test"] if each.startswith(("pandas", "polars"))]
    return [f"{each.replace('>=', '==')}.*" for each in project["dependencies"] + frames]


ENVIRONMENTS = {
    "oldest": oldest(),
    "numpy1": ["numpy==1.26.*", "pandas==2.2.*", "pyarrow==18.*"],  # a pyarrow of today refuses it when imported
    "sklearn16": ["scikit-learn==1.6.*", "pandas==2.2.*"],
    "newest": [],
    "free-threaded": ["pytest>=8", "pytest-xdist>=3.6", "hypothesis>=6.100", "mpmath>=1.3", "pandas>=2.2"],
}


def run(name, wheel, tests, python):
    """Make one environment and run the tests in it; whether they passed."""
    with tempfile.TemporaryDirectory(prefix=f"dpfast-{name}.") as folder:
        bin_ = Path(folder, "Scripts" if os.name == "nt" else "bin")
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        if name == "free-threaded":
            clean["PYTHON_GIL"] = "0"  # randomgen does not say that it runs without, and would turn it on
        if uv := shutil.which("uv"):
            subprocess.run([uv, "venv", "-q", "--clear", "--python", python, folder], check=True, env=clean)
            install = [uv, "pip", "install", "-q", "--python", bin_ / "python"]
        else:
            subprocess.run([python, "-m", "venv", folder], check=True, env=clean)
            install = [bin_ / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--prefer-binary"]
        installed = [wheel, "--only-binary=:all:"] if name == "free-threaded" else [f"{wheel}[test]"]
        subprocess.run([*install, *installed, *ENVIRONMENTS[name]], check=True, env=clean)
        shown = (
            "import sys, numpy, scipy, sklearn, pandas; print(sys.version, *(f'{m.__name__} {m.__version__}' for m in"
        )
        subprocess.run([bin_ / "python", "-c", shown + " (numpy, scipy, sklearn, pandas)))"], check=True, env=clean)
        deprecated = ["-W", "ignore::DeprecationWarning"]  # what old versions say of newer ones
        done = subprocess.run(
            [bin_ / "pytest", "-q", "-p", "no:cacheprovider", *deprecated, *tests], cwd=ROOT, env=clean
        )
        print(f"{name}: {'passed' if done.returncode == 0 else 'FAILED'}", flush=True)
        return done.returncode == 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "environments", nargs="*", default=list(ENVIRONMENTS)[:-1], help=f"of {', '.join(ENVIRONMENTS)}"
    )
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--tests", nargs="*", default=TESTS)
    asked = parser.parse_args()
    passed = [run(name, asked.wheel.resolve(), asked.tests, asked.python) for name in asked.environments]
    sys.exit(not all(passed))


if __name__ == "__main__":
    main()

"""What the scripts of this folder share: where they ran, Markdown, files, the look of pictures."""

import json
import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def processor():
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else ():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return platform.processor() or platform.machine()


def machine(*packages):
    """Processor, cores, instruction-set level and versions, for the head of a report."""
    from dpfast.kernels import cpu

    versions = {"Python": platform.python_version()}
    for package in ("dpfast", "numpy", "scipy", "scikit-learn", *packages):
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            versions[package] = "not installed"
    return {"processor": processor(), "cores": os.cpu_count(), "level": cpu.level(), "versions": versions}


def minor():
    """The minor version of dpfast, such as 0.2, of which figures are measured."""
    return ".".join(version("dpfast").split(".")[:2])


def sentence(machine):
    """One line that says what `machine` says."""
    versions = ", ".join(f"{package} {number}" for package, number in machine["versions"].items())
    return f"{machine['processor']}, {machine['cores']} cores, level {machine['level']}; {versions}."


def table(header, rows):
    """Markdown; columns of numbers to the right, the others, and the first, to the left."""
    rows = [*rows]
    columns = list(zip(*rows, strict=True))[1:]
    numbers = [all(re.match(r"[-+.\d]|$", str(cell)) for cell in column) for column in columns]
    sides = ["---", *("---:" if number else "---" for number in numbers or [True] * (len(header) - 1))]
    lines = [header, sides, *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines) + "\n"


def winners(accuracies, own):
    """Who is ahead, by data and epsilon, in Markdown: a line for each data set.

    Parameters
    ----------
    accuracies : dict
        From data to method to epsilon, as text, to accuracy. Methods without privacy are left out by whoever calls.
    own : str
        A method. Where it is ahead, the cell says by how much before the best other; where not, who is, and by how much
        before it.
    """
    epsilons = list(next(iter(next(iter(accuracies.values())).values())))
    rows = []
    for name, by_method in accuracies.items():
        cells = []
        for epsilon in epsilons:
            others = {method: found[epsilon] for method, found in by_method.items() if method != own}
            best = max(others, key=others.get)
            ahead = by_method[own][epsilon] - others[best]
            cells.append(f"**{own}**, {ahead:+.3f} ({best})" if ahead >= 0 else f"{best}, {-ahead:+.3f}")
        rows.append([name, *cells])
    return table(["data", *(f"epsilon {epsilon}" for epsilon in epsilons)], rows)


def add_arguments(parser):
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "bench", help="folder of the results")


def read(folder, name):
    """What is stored there under `name`, or None."""
    path = folder / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def write(folder, name, data):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(data, indent=1) + "\n")


def publish(folder, name, text):
    """Write a page of results, and print it."""
    (folder / f"{name}.md").write_text(text)
    print(text)


def style():
    """docs/figures/style.py, the look of the documentation's pictures."""
    sys.path.append(str(ROOT / "docs" / "figures"))
    import style

    return style

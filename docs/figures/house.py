"""What imports what, and how large it is: house.svg, for docs/development.md.

Boxes are the packages of dpfast, with the lines of their Python and Cython files. An arrow runs from the importing
package to the imported one, and its width grows with the number of imports at the top of files. All arrows must run
downwards; the script fails if one does not. It also prints how many pairs of files
import one another, and how many of them are of two packages.
"""

import ast
from collections import Counter
from pathlib import Path

import numpy as np
import style
from style import plt

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PLACES = {  # package: (column, floor); what imports stands above what is imported
    "cli": (1.0, 6),
    "audit": (3.0, 6),
    "model_selection": (6.4, 7),
    "learners": (4.4, 6),
    "base": (4.4, 5),
    "discovery": (4.4, 4),
    "metrics": (6.4, 6),
    "report": (5.6, 4),
    "files": (1.0, 4),
    "mechanisms": (6.4, 3),
    "tables": (3.0, 3),
    "parts": (2.0, 2),
    "accounting": (6.4, 1),
    "kernels": (3.0, 1),
    "csrc": (3.0, 0),
}


def package_of(module):
    """The package that a dotted name stands in, or None if it is none of PLACES."""
    first, *rest = module.split(".")
    return rest[0] if first == "dpfast" and rest and rest[0] in PLACES else None


def imported(file):
    """Dotted names of the modules that a file imports at its top."""
    inside = ("dpfast", *file.relative_to(ROOT / "dpfast").parts[:-1])
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = inside[: len(inside) - node.level + 1] if node.level else ()
            stem = ".".join((*base, *([node.module] if node.module else ())))
            yield from (f"{stem}.{alias.name}" for alias in node.names)


def counted():
    """Lines of each package, and imports between two packages."""
    lines, imports = Counter(), Counter()
    for package in PLACES:
        folder = ROOT / ("csrc" if package == "csrc" else f"dpfast/{package}")
        suffixes = (".c", ".h") if package == "csrc" else (".py", ".pyx", ".pyi")
        files = [file for file in folder.rglob("*") if file.suffix in suffixes]
        lines[package] = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
        for file in files:
            if file.suffix == ".py":
                imports.update(
                    (package, other) for other in map(package_of, imported(file)) if other not in (None, package)
                )
    imports["kernels", "csrc"] = len([*(ROOT / "dpfast/kernels").glob("*.pyx")])
    return lines, imports


def pairs():
    """The pairs of a file and a file that it imports at its top, as the names of their modules."""
    names = {}
    for file in [*(ROOT / "dpfast").rglob("*.py"), *(ROOT / "dpfast").rglob("*.pyx")]:
        parts = file.relative_to(ROOT).with_suffix("").parts
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    for name, file in names.items():
        for module in imported(file) if file.suffix == ".py" else ():
            while module not in names and module:
                module = module.rpartition(".")[0]
            if module not in ("", name):
                yield name, module


def main():
    lines, imports = counted()
    if len({*PLACES.values()}) < len(PLACES):
        raise SystemExit("two packages have one place")
    for above, below in imports:
        if PLACES[above][1] <= PLACES[below][1]:
            raise SystemExit(f"{above} imports {below}, which does not stand below it")
    figure, axes = plt.subplots(figsize=(8.6, 7.2))
    axes.set(xlim=(-0.2, 8.2), ylim=(-0.4, 7.5))
    axes.set_axis_off()
    for (above, below), times in imports.items():
        ends = np.array(PLACES[above]), np.array(PLACES[below])
        arrow = {"arrowstyle": "-|>", "color": style.GREY, "lw": 0.6 + np.sqrt(times) / 3, "alpha": 0.6}
        axes.annotate("", ends[1] + (0, 0.22), ends[0] - (0, 0.22), arrowprops=arrow)
    for package, place in PLACES.items():
        colour = style.ORANGE if package in ("csrc", "kernels", "parts", "tables", "files") else style.BLUE
        box = {"boxstyle": "round,pad=0.4", "edgecolor": colour, "facecolor": "white"}
        axes.text(*place, f"{package}\n{lines[package]:,}", ha="center", va="center", fontsize=9, bbox=box)
    axes.text(
        8.2,
        0.0,
        "orange: where rows are\nblue: releases and claims\nnumbers: lines",
        fontsize=8.5,
        ha="right",
        va="center",
        color=style.GREY,
    )
    style.save(figure, HERE / "house.svg")
    of_files = {*pairs()}
    apart = sum(package_of(above) != package_of(below) for above, below in of_files)
    print(f"{len(of_files)} pairs of files, {apart} of them of two packages")


if __name__ == "__main__":
    main()

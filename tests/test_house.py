"""The house: rooms that import one way, files of one noun, nothing private taken from a neighbour."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import dpfast.learners

HERE = Path(__file__).resolve().parents[1]
PACKAGE, CSRC = HERE / "dpfast", HERE / "csrc"

BELOW = {  # the rooms that a room may import from, besides itself
    "accounting": set(),
    "kernels": set(),
    "random": {"kernels"},
    "parts": {"kernels"},
    "tables": {"kernels", "parts"},
    "files": {"kernels", "parts", "tables"},
    "mechanisms": {"accounting", "kernels", "random"},
}
BELOW["report"] = {"accounting", "kernels", "tables"}
BELOW["discovery"] = {*BELOW}
BELOW["base"] = {*BELOW}
BELOW["learners"] = {*BELOW}
BELOW |= {room: {*BELOW} for room in ("metrics", "model_selection", "persistence", "audit", "littlestone", "interop")}
BELOW["model_selection"].add("metrics")
BELOW["engines"] = {"parts"}
BELOW["plot"] = {*BELOW}
BELOW["testing"] = {*BELOW}
BELOW["cli"] = {*BELOW}

SOURCES = sorted(
    path
    for folder, endings in ((PACKAGE, ("py", "pyi", "pyx", "pxd")), (CSRC, ("c", "h")))
    for ending in endings
    for path in folder.rglob(f"*.{ending}")
)


def _module(path):
    parts = path.relative_to(HERE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def _tree(path):
    return ast.parse(path.read_text(encoding="utf-8"))


MODULES = {_module(path): path for path in SOURCES if path.suffix in (".py", ".pyx")}


def _imports(module, path):
    """(module, name, whether it is imported at once) of everything of dpfast that a module imports."""
    if path.suffix == ".pyx":
        text = path.read_text(encoding="utf-8")
        for base, names in re.findall(r"^from (dpfast[\w.]*) import (.+)$", text, re.M):
            yield from ((base, name.strip(), True) for name in names.split(","))
        return
    tree = _tree(path)
    at_once = {id(node) for node in tree.body}
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (
                (alias.name, "", id(node) in at_once) for alias in node.names if alias.name.startswith("dpfast.")
            )
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")
                base = ".".join([*above[: len(above) - node.level + 1], *([base] if base else [])])
            if base.split(".")[0] == "dpfast":
                yield from ((base, alias.name, id(node) in at_once) for alias in node.names)


@pytest.fixture(scope="module")
def edges():
    """(importing module, imported module, name, whether at once)."""
    return [
        (module, f"{base}.{name}" if f"{base}.{name}" in MODULES else base, name, at_once)
        for module, path in MODULES.items()
        for base, name, at_once in _imports(module, path)
    ]


def _room(module):
    return module.split(".")[1] if "." in module else ""


def test_the_imports_are_found(edges):
    assert len(edges) > 200
    assert {_room(module) for module in MODULES} >= {*BELOW} - {"model_selection"}


def test_rooms_import_one_way(edges):
    wrong = [
        (module, target)
        for module, target, _, _ in edges
        if _room(module)
        and _room(target) not in ("", "lazy", _room(module))
        and _room(target) not in BELOW[_room(module)]
    ]
    assert wrong == []


def test_no_modules_import_each_other(edges):
    needed = defaultdict(set)
    for module, target, _, at_once in edges:
        if at_once and target != module:
            needed[module].add(target)
    try:
        TopologicalSorter(needed).prepare()
    except CycleError as error:
        pytest.fail(" <- ".join(error.args[1]))


def test_no_private_name_is_imported(edges):
    private = [
        (module, target, name) for module, target, name, _ in edges if name.startswith("_") and not name.endswith("__")
    ]
    assert private == []


def test_a_line_of_inheritance_has_five_of_our_classes_at_most():
    found = set()
    for module in pkgutil.walk_packages(dpfast.learners.__path__, "dpfast.learners."):
        found.update(each for each in vars(importlib.import_module(module.name)).values() if inspect.isclass(each))
    lines = {each: [kind for kind in each.__mro__ if kind.__module__.startswith("dpfast.")] for each in found}
    assert {each for each, line in lines.items() if len(line) > 5} == set()
    assert {len(line) for line in lines.values()} >= {4, 5}


PARTICIPLES = {
    *re.findall(r"\w+", "asked bent born given gone held kept known lent made meant paid said seen shown told wanted")
}
PUBLIC = {  # names that users or kernels rely on
    "asked": "learners/halfspaces/trees.py",
    "given": "kernels/own.py",
    "held": "tables/encoding.py",
    "known": "random.py",
    "made": "base/run.py",
    "paid": "base/run.py",
    "said": "metrics/groups.py",
    "told": "report/additive.py",
}


def test_a_function_is_a_verb_or_what_it_returns_and_a_variable_a_noun():
    found = []
    for path in SOURCES:
        file = path.relative_to(PACKAGE).as_posix() if path.suffix == ".py" else ""
        for node in ast.walk(_tree(path)) if file else ():
            name = getattr(node, "name", getattr(node, "arg", None))
            if isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                name = node.id if isinstance(node, ast.Name) else node.attr
            name = name.strip("_") if isinstance(name, str) and not isinstance(node, ast.keyword | ast.alias) else ""
            if name in PARTICIPLES and PUBLIC.get(name) != file:
                found.append((file, node.lineno, name))
    assert found == []


def test_no_c_file_includes_python():
    in_c = [path.read_text(encoding="utf-8") for path in SOURCES if path.is_relative_to(CSRC)]
    assert in_c
    assert not any("include <Python.h>" in text for text in in_c)


def test_every_mutant_finds_its_line_once_and_parses_and_has_its_tests():
    command = [sys.executable, HERE / "tests" / "mutants" / "run.py", "--check"]
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout + checked.stderr

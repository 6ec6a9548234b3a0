"""The public API is annotated, all of it, and a type checker sees what loads when first used."""

import ast
import inspect
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import dpfast

ROOT = Path(dpfast.__file__).parent
PUBLIC = (
    "dpfast", "dpfast.accounting", "dpfast.audit", "dpfast.base", "dpfast.engines", "dpfast.files", "dpfast.learners",
    "dpfast.learners.lists", "dpfast.littlestone", "dpfast.mechanisms", "dpfast.metrics", "dpfast.persistence",
    "dpfast.plot", "dpfast.random", "dpfast.report", "dpfast.tables", "dpfast.testing",
)  # fmt: skip
LAZY = sorted(".".join(path.relative_to(ROOT.parent).parent.parts) for path in ROOT.rglob("__init__.pyi"))


def _functions():
    """Every public function, method and property that is ours, by its name; kernels have stubs."""
    for name in PUBLIC:
        module = import_module(name)
        own = [key for key, value in vars(module).items() if key[0] != "_" and getattr(value, "__module__", "") == name]
        for key in getattr(module, "__all__", own):
            value = getattr(module, key)
            members = inspect.getmembers(value) if inspect.isclass(value) else [("", value)]
            for member, function in members:
                function = function.fget if isinstance(function, property) else function
                ours = inspect.isfunction(function) and (function.__module__ or "").startswith("dpfast.")
                if ours and (member == "__init__" or not member.startswith("_")):
                    yield f"{key}.{member}".rstrip("."), function


def test_every_public_name_is_annotated():
    functions = dict(_functions())
    assert len(functions) > 250
    lacking = []
    for name, function in functions.items():
        signature = inspect.signature(function)
        empty = [each.name for each in signature.parameters.values() if each.annotation is each.empty]
        empty = [each for each in empty if each not in ("self", "cls", "_cls")]
        returns = [] if signature.return_annotation is not signature.empty else ["what it returns"]
        generated = function.__code__.co_filename.startswith("<")  # of a NamedTuple
        lacking += [] if generated else [f"{name}: {each}" for each in empty + returns]
    assert lacking == []


@pytest.mark.parametrize("name", LAZY)
def test_a_type_checker_sees_what_loads_when_first_used(name):
    module = import_module(name)
    tree = ast.parse(Path(module.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    froms = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
    imports = [("." * (node.level - 1) + (node.module or ""), each) for node in froms for each in node.names]
    assert {each.asname for _, each in imports} == {*module.__all__} <= {*dir(module)}
    for home, each in imports:
        there = import_module(f".{home or each.name}", name)
        assert getattr(module, each.asname) is (getattr(there, each.name) if home else there)


def test_a_name_that_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match=r"has no attribute .Bugdet"):
        dpfast.accounting.Bugdet  # noqa: B018


@pytest.mark.types
def test_the_script_of_a_user_has_the_types_that_it_says(tmp_path):
    script = Path(__file__).with_name("user.py")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}", str(script)]
    result = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    amiss = [line for line in result.stdout.splitlines() if "user.py" in line]
    assert amiss == []
    assert "error" in result.stdout or result.returncode == 0

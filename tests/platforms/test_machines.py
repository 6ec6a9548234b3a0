import ast
import re
from pathlib import Path

import machines
import pytest

import dpfast

PACKAGE = Path(dpfast.__file__).parent

# Libraries whose results depend on the processor: BLAS, LAPACK, and numpy's and scipy's functions of arrays.
BY_PROCESSOR = {
    "numpy": {"dot", "vdot", "inner", "matmul", "einsum", "tensordot", "linalg", "exp", "exp2", "expm1", "log", "log2"}
    | {"log10", "log1p", "power", "logaddexp", "tanh", "sinh", "cosh", "arctan", "sin", "cos", "tan", "cbrt", "hypot"},
    "scipy": {"linalg", "special", "optimize", "stats", "signal", "softmax", "expit"},
}
ROOMS = "learners", "tables", "mechanisms", "kernels", "metrics", "model_selection", "parts", "files"
ALLOWED = {  # by file: what is used there, and why no release, model or prediction depends on its last bits
    "learners/experts/statistical_query.py": ({"special"}, "bounds of errors that are told besides"),
    "learners/littlestone/staged.py": ({"optimize"}, "members near a function: weights are compared with 1e-9"),
    "learners/lists/rule.py": ({"special", "optimize", "stats"}, "intervals, told besides"),
    "metrics/accuracy.py": ({"optimize"}, "intervals, told besides"),
    "metrics/figure.py": ({"optimize", "special"}, "intervals, told besides"),
    "metrics/groups.py": ({"optimize"}, "intervals, told besides"),
    "metrics/ranking.py": ({"special"}, "intervals, told besides"),
    "tables/row_array.py": (
        {"@", "dot", "einsum", "inner", "linalg", "matmul", "tensordot", "vdot"},
        "names of products that its rows refuse, or compute by kernels.reals",
    ),
}
OURS = "reals", "rows"  # whose `dot` is our own
PRODUCTS = {  # files with products by @: of integers, which numpy and scipy multiply without BLAS, or of our RowArray
    "learners/halfspaces/images.py",
    "learners/littlestone/listed.py",
    "tables/bit_matrix.py",
    "tables/codes.py",
}


def by_processor(path):
    """What a module uses of libraries whose results depend on the processor, "@" for products of matrices."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult):
            found.add("@")
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "np":
            found |= {node.attr} & BY_PROCESSOR["numpy"]
        elif isinstance(node, ast.Attribute) and node.attr == "dot" and ast.unparse(node.value) not in OURS:
            found.add("dot")
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scipy"):
            names = {*node.module.split(".")[1:], *(alias.name for alias in node.names)}
            found |= names & BY_PROCESSOR["scipy"]
    return found


@pytest.mark.parametrize("room", ROOMS)
def test_what_feeds_a_release_uses_no_library_whose_results_depend_on_the_processor(room):
    for path in (PACKAGE / room).rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        allowed = ALLOWED.get(name, (set(), ""))[0] | ({"@"} if name in PRODUCTS else set())
        assert by_processor(path) <= allowed, name


def test_kernels_use_no_such_library_but_where_exact_decisions_follow():
    used = {
        path.stem: {*re.findall(r"\bnp\.(\w+)\(", re.sub(r">>>.*", "", path.read_text()))} & BY_PROCESSOR["numpy"]
        for path in (PACKAGE / "kernels").glob("*.pyx")
    }
    assert {stem: names for stem, names in used.items() if names} == {"cover": {"exp"}}  # within the draw's slack


@pytest.mark.skipif(machines.flags() is None, reason="not Linux on x86-64")
def test_models_are_the_same_under_the_kernels_of_another_processor():
    generic = machines.VARIANTS["OpenBLAS for Prescott"] | machines.VARIANTS["numpy for x86-64-v2"]
    assert machines.moved(generic | machines.VARIANTS["a C library without FMA"]) == []

"""What is claimed stands once: docs/privacy_theorems.md quotes theorems of accounting, each quote word for word."""

import importlib
import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PACKAGE = DOCS.parent / "dpfast"
PAGE = (DOCS / "privacy_theorems.md").read_text(encoding="utf-8")


def plain(text):
    """Without emphasis, code marks and line breaks."""
    return " ".join(re.sub(r"[`]", "", text).split())


def quotes():
    """(module, quote) of every block quote after a line that names a module."""
    for module, block in re.findall(r"^From `([\w.]+)`.*\n\n((?:>.*\n|\n(?=>))+)", PAGE, flags=re.MULTILINE):
        for quote in re.split(r"\n\n", block.strip()):
            yield module, plain(re.sub(r"^> ?", "", quote, flags=re.MULTILINE))


def test_six_modules_are_quoted():
    assert len({module for module, _ in quotes()}) == 6


@pytest.mark.parametrize(("module", "quote"), list(quotes()), ids=lambda value: value[:40])
def test_a_quoted_theorem_is_that_of_its_module(module, quote):
    assert quote in plain(importlib.import_module(module).__doc__)


def test_the_curve_of_greedy_cover_is_that_of_its_module():
    theorem = PAGE[PAGE.index("**Theorem.** For s > 0") : PAGE.index("Without a limit on T, f is")]
    assert plain(theorem) in plain(importlib.import_module("dpfast.accounting.curves.cover").__doc__)


def test_a_module_that_names_a_page_of_proofs_has_a_section_there():
    naming = 0
    for path in PACKAGE.rglob("*.py"):
        module = ".".join(["dpfast", *path.relative_to(PACKAGE).with_suffix("").parts])
        for page in set(re.findall(r"docs/(proofs_\w+\.md)", path.read_text(encoding="utf-8"))):
            naming += 1
            assert f"`{module}`" in (DOCS / page).read_text(encoding="utf-8"), module
    assert naming > 20

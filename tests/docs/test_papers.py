"""docs/papers.md has a row for every numbered item of the papers, says one of three things of an error, names tests."""

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import papers_items

import dpfast
import dpfast.accounting
import dpfast.kernels
import dpfast.littlestone
import dpfast.mechanisms

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
ITEMS = papers_items.items()
COVERED = papers_items.covered(PAGE)


@pytest.mark.parametrize("paper", ITEMS)
def test_every_numbered_item_of_a_paper_has_a_row(paper):
    numbered, cells = COVERED[paper]
    assert [x for x in ITEMS[paper] if x not in numbered and not any(x in cell for cell in cells)] == []


@pytest.mark.parametrize("paper", ITEMS)
def test_no_row_is_of_an_item_that_the_paper_does_not_have(paper):
    assert COVERED[paper][0] - set(ITEMS[paper]) == set()


def test_items_are_read_off_a_text_and_off_a_page():
    text = "Lemma 4.2 below says.\n\nLemma 4.2.\n\n*Theorem 3 (Sums).*\nsee Lemma 9.\nCorollary A.8."
    assert papers_items.named(text) == ["Lemma 4.2", "Theorem 3", "Corollary A.8"]
    page = "## [X] Title\n\n| Lemmas 4.6 and 4.8 to 4.10, Theorem 2 | here |\n"
    assert papers_items.covered(page)["[X]"][0] == {"Lemma 4.6", "Lemma 4.8", "Lemma 4.9", "Lemma 4.10", "Theorem 2"}


LABEL = re.compile(r"\*(statement false|step of a proof false|misprint or loose constant)\*")


def test_every_row_that_finds_a_fault_has_one_label_and_a_test():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and ("false*" in line or "constant*" in line)]
    assert len(rows) > 15
    for row in rows:
        assert len(LABEL.findall(row)) == 1, row
        assert "`test" in row.split("|")[4], row


def test_the_tests_that_rows_name_exist():
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for name, rest in re.findall(r"`(test_\w+?)_?(\.\.\.)?`", PAGE):
        assert re.search(rf"def {name}" + (r"\w*\(" if rest else r"\("), sources), name
    for path in re.findall(r"`(tests/[\w/]+\.?\w*)/?`", PAGE):
        assert (ROOT / path).exists(), path


def test_every_row_links_to_the_test_that_it_names():
    rows = [row.split("|") for row in PAGE.splitlines() if row.startswith("| ") and row.count("|") == 5]
    rows = [row for row in rows if "held by" not in row[4] and "`" in row[4]]
    assert len(rows) > 110
    for row in rows:
        links = re.findall(r"\[`([\w/.]+)`\]\(\.\./([\w/.]+)\)", row[4])
        assert len(links) == row[4].count("`") // 2 or "`tests/premises/`" in row[4], row
        for name, path in links:
            stem = name.removesuffix("...").rstrip("_")
            assert name == path or f"def {stem}" in (ROOT / path).read_text(encoding="utf-8"), row


def test_names_of_dpfast_in_rows_are_public():
    spaces = [dpfast, dpfast.accounting, dpfast.mechanisms, dpfast.littlestone, dpfast.kernels]
    named = re.findall(r"^\|[^|]*\| `((?:accounting|mechanisms)\.\w+|[A-Z]\w*[a-z]\w*(?:\.\w+)?)", PAGE, re.MULTILINE)
    assert len(named) > 80
    for name in named:
        first, _, rest = name.removeprefix("accounting.").removeprefix("mechanisms.").partition(".")
        found = [getattr(space, first) for space in spaces if hasattr(space, first)]
        assert found or first in ("WeakLearner", "Measure", "NoisyCentering"), name
        assert not rest or any(hasattr(each, rest) or first in ("NoisyCentering",) for each in found or [None]), name

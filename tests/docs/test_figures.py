"""Figures that pages print of learners are of this minor version, and are the same on every page."""

import json
import re
from pathlib import Path

import pages
import pytest
import sentences

import dpfast

HERE = Path(__file__).parents[2]
ACCURACY = HERE / "docs" / "records" / "accuracy.md"
MINOR = ".".join(dpfast.__version__.split(".")[:2])


def tables(path):
    """The Markdown tables of a page: header and rows; an empty first cell says what the one above it says."""
    found, rows = [], None
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        if not line.startswith("|"):
            rows = None
        elif rows is None:
            rows = []
            found.append((cells, rows))
        elif set(line) - set("|-: "):
            cells = [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]
            rows.append([cells[0] or rows[-1][0], *cells[1:]])
    return found


def only(path, *head):
    """The rows of the one table of a page whose header begins so."""
    (rows,) = (rows for header, rows in tables(path) if header[: len(head)] == list(head) and "dpfast" in header)
    return rows


@pytest.mark.parametrize("head", [("table", "model"), ("data", "method")], ids="-".join)
def test_figures_of_our_learners_are_of_this_minor_version(head):
    own = [row for row in only(ACCURACY, *head) if row[1].split(",")[0] in dpfast.__all__]
    assert len(own) > 20
    assert {row[-2] for row in own} == {MINOR}


def raw():
    return {(row[0], row[1]): row[2:6] for row in only(ACCURACY, "table", "model")}


def numbers(text):
    return [float(number) for number in re.findall(r"[-+]?\d*\.\d+", text)]


def test_the_front_page_has_the_figures_of_the_results():
    measured = raw()
    (rows,) = (rows for header, rows in tables(HERE / "README.md") if header[0] == "learner" and "epsilon 1" in header)
    lines = (
        "HalfspaceClassifier",
        "HalfspaceClassifier, nothing declared",
        "DecisionListClassifier",
        "DPEBM",
    )
    for row, line in zip(rows, lines, strict=True):
        assert line.split(",")[0] in row[0]
        assert [numbers(cell) for cell in row[1:3]] == [numbers(cell) for cell in measured["adult", line][1:3]], line


def test_the_price_of_privacy_is_the_distance_between_printed_figures():
    measured = raw()
    (rows,) = (rows for header, rows in tables(HERE / "docs" / "results.md") if header[:2] == ["table", "not private"])
    assert {row[0] for row in rows} == {name for name, _ in measured}
    for name, ceiling, *behind in rows:
        above = numbers(measured[name, "HistGradientBoosting, not private"][0])
        assert numbers(ceiling) == above
        for cell, figures in zip(behind, measured[name, "HalfspaceClassifier"], strict=True):
            for told, found, best in zip(numbers(cell), numbers(figures), above, strict=True):
                assert told == pytest.approx(found - best, abs=0.00101), name


CALLED = {  # how columns and lines of pages call the models of the records
    "trees, not private": "HistGradientBoosting, not private",
    "with a schema": "HalfspaceClassifier",
    "nothing declared": "HalfspaceClassifier, nothing declared",
    "noisy gradient": "noisy gradient, tuned",
    "DP-XGBoost": "DP-XGBoost, tuned",
}


def cells_at_one():
    """Each place of a page that prints accuracy and AUC of a model on a raw table at epsilon 1."""
    for path in (HERE / "README.md", *sorted((HERE / "docs").rglob("*.md"))):
        if "_build" in path.parts or "gallery" in path.parts:
            continue
        for header, rows in tables(path):
            where = f"{path.name}: {', '.join(header)}"
            for row in rows if header[0] == "table" and header[2:3] != ["not private"] else ():  # but for distances
                line = dict(zip(header, row, strict=False))
                if "model" in line and "epsilon 1" in line:
                    yield where, (row[0], line["model"]), line["epsilon 1"]
                for column, cell in line.items():
                    if column == "best other" and ": " in cell:
                        column, cell = cell.split(": ")
                    if re.match(r"[.\d]+ / [.\d]+, [\d.]+ s", cell):
                        yield where, (row[0], CALLED.get(column, column)), cell.rsplit(",", 1)[0]


def test_no_page_contradicts_another_at_epsilon_1():
    found = {}
    for where, of, cell in cells_at_one():
        found.setdefault(of, {}).setdefault(tuple(numbers(cell)[:2]), set()).add(where)
    assert sum(len(set().union(*places.values())) > 1 for places in found.values()) >= 30
    assert {of: places for of, places in found.items() if len(places) > 1} == {}


@pytest.mark.parametrize("name", ["accuracy", "kernels", "rows", "times"])
def test_what_was_measured_is_of_this_minor_version_and_says_when_and_where(name):
    record = json.loads((HERE / "docs" / "records" / f"{name}.json").read_text(encoding="utf-8"))
    assert record["version"] == MINOR
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", record["date"])
    assert re.fullmatch("[0-9a-f]{9}", record["commit"])
    assert {"processor", "cores", "level"} <= record["machine"].keys()


def test_measured_tables_of_pages_are_those_of_the_records():
    found = dict(pages.pages())
    tables = sum(len(re.findall("<!-- measured: ", text)) for text in found.values())
    assert tables == len(pages.blocks(sentences.Records()))
    for path, text in found.items():
        assert path.read_text(encoding="utf-8") == text, f"run python bench/pages.py --only, for {path.name}"


PROVED = {"papers.md", "privacy_checks.md", "privacy_theorems.md", "proofs_learning.md", "proofs_privacy.md"}
STATED = {  # figures of sentences that nobody measured: settings, sizes and shares of a table, thresholds of the text
    "calibration.md": ".05 .1",
    "decision_lists.md": ".55 .95 .85 3%",
    "boosting.md": "5% 10% 20%",
    "discovery.md": "2% 15% 3% .02 .04 .01 .06 .12 .24",
    "faq.md": "12% 55%",
    "halfspaces.md": "2% 5%",
    "halfspaces_learning.md": "4% 19%",
    "halfspaces_margin.md": "0.86 0.96 0.165 .055 .302",
    "results.md": "80% 20% .5 .005",
    "results_accuracy.md": "20% 30% 2% 10% .0005 .02",
    "testing.md": ".9",
}
NOT_SENTENCES = (
    r"(?s)<!-- measured: .*?<!-- end: \w+ -->",
    r"(?ms)^```.*?^```",
    r"`[^`]*`",
    r"(?m)^\|.*$",
    r"\]\([^)]*\)",
    r"(?m)^    .*$",
)


def figures_of_sentences(page, text):
    """Figures in sentences, written as those that are measured, that pages.py does not write."""
    text, places = sentences.written(page, text, sentences.Records())
    for begin, end in places:
        text = text[:begin] + "x" * (end - begin) + text[end:]
    for pattern in NOT_SENTENCES:
        text = re.sub(pattern, lambda found: re.sub(r"\S", "x", found[0]), text)
    return re.findall(r"(?<![\w.,^/])(?:0?\.\d{2,}|\.\d+|\d+(?:\.\d+)?%)(?!\w)", text)


@pytest.mark.parametrize(
    "path", [HERE / "README.md", *sorted((HERE / "docs").glob("*.md"))], ids=lambda path: path.stem
)
def test_a_figure_in_a_sentence_is_written_from_the_records(path):
    if path.name in PROVED:
        pytest.skip("theorems and constants of papers")
    found = figures_of_sentences(path.relative_to(HERE).as_posix(), path.read_text(encoding="utf-8"))
    assert {*found} == {*STATED.get(path.name, "").split()}, "sentences.py has no line for a figure of this page"


def test_a_figure_that_no_record_has_is_found():
    text = (HERE / "docs" / "winnow.md").read_text(encoding="utf-8")
    assert figures_of_sentences("docs/winnow.md", text) == []
    assert figures_of_sentences("docs/winnow.md", text + "\nIt is right on .912 of the rows, and on 4%.\n") == [
        ".912",
        "4%",
    ]


def test_a_figure_of_a_sentence_is_replaced_by_that_of_the_records():
    path = HERE / "docs" / "winnow.md"
    text = path.read_text(encoding="utf-8")
    wrong = text.replace("from .771 to .821", "from .700 to\n.9")
    assert wrong != text
    assert sentences.written("docs/winnow.md", wrong, sentences.Records())[0].split() == text.split()


def test_a_sentence_that_left_its_page_is_an_error():
    with pytest.raises(ValueError, match=r"docs/winnow.md has 0 times: by \{\} to \{\} on four"):
        sentences.written("docs/winnow.md", "", sentences.Records())

"""Names and labels are shown, and never do anything: no control character reaches a terminal or a page."""

import unicodedata

import command_line
import numpy as np
import pandas as pd
import pytest

import dpfast
from dpfast.accounting import Budget
from dpfast.tables.naming import visible

pytestmark = pytest.mark.filterwarnings("ignore::dpfast.PrivacyWarning", "ignore::UserWarning")
EVIL = ["\x1b]0;title\x07age", "\x9b31mred", "\u202egnp", "line\nline", "a\u2028b", "\u2066x\u2069", "\r>"]


def _controls(text):
    """The characters of a text that a terminal or a browser acts on."""
    return {
        c
        for c in text
        if (unicodedata.category(c) in ("Cc", "Cs", "Zl", "Zp") and c not in "\n\t") or c in "\u202e\u2066"
    }


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    rng, n = np.random.default_rng(0), 3000
    table = {
        f"{evil} {k}": rng.normal(size=n) if k % 2 else rng.choice(["\x1b[2Jw", "\u202ez"], n)
        for k, evil in enumerate(EVIL)
    }
    X = pd.DataFrame(table)
    y = np.where(X.iloc[:, 1] > 0, "yes\x1b[5m", "no\x9b2J\nelse")
    folder, kept = tmp_path_factory.mktemp("models"), {}
    for make in (dpfast.HalfspaceClassifier, dpfast.DecisionListClassifier, dpfast.BoostedHalfspaceClassifier):
        model = make(20.0, 1e-3, random_state=0, schema="discover").fit(X, y, classes=sorted({*y}))
        path = folder / f"{make.__name__}.json"
        model.save(path)
        kept[path] = model
    return kept


def test_printed_models_terms_and_notes_show_control_characters(models):
    for model in models.values():
        assert not _controls(str(model))
        assert not any(_controls(note) for note in model.notes_)
        for term in model.terms() if hasattr(model, "terms") else ():
            assert not _controls(str(term))
        assert not any(each.strip() == "line" for each in str(model).splitlines())


def test_pages_and_commands_show_control_characters(models, tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for path, model in models.items():
        model.report(tmp_path / "page.html")
        page = (tmp_path / "page.html").read_text(encoding="utf-8")
        assert not _controls(page)
        assert "\N{SYMBOL FOR ESCAPE}" in page
        for command in (["show", path], ["report", path, "--out", tmp_path / "again.html"]):
            result = command_line.run([str(each) for each in command])
            assert result.exit_code == 0, result.stderr
            assert not _controls(result.stdout + result.stderr)


def test_ledgers_and_errors_show_control_characters(tmp_path):
    ledger = Budget.open(tmp_path / "b", epsilon=3.0)
    ledger.part("north\x1b[2J").charge(0.5, what={"model": "\x1b]0;x\x07"})
    result = command_line.run(["budget", str(tmp_path / "b")])
    assert result.exit_code == 0
    assert not _controls(result.stdout + result.stderr)
    (tmp_path / "t.csv").write_text("a\x1b[2Jx,b\n1,2\n")
    result = command_line.run(["fit", str(tmp_path / "t.csv"), "--label", "y", "--epsilon", "1"])
    assert result.exit_code == 2
    assert not _controls(result.stdout + result.stderr)


def test_other_characters_stay():
    for text in ("plain", "naïve", "日本語", "עברית", "👩‍👩‍👧", "a b"):
        assert visible(text) == text
    assert visible("a\tb\n", lines=True) == "a\tb\n"
    assert visible("a\tb\n") == "a\N{SYMBOL FOR HORIZONTAL TABULATION}b\N{SYMBOL FOR LINE FEED}"
    assert visible("\ud800") == "\N{REPLACEMENT CHARACTER}"

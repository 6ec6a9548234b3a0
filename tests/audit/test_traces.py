"""What a replay compares besides the model: files that a fit writes."""

import importlib
import sys

from dpfast.audit.traces import watch


def test_a_module_that_only_the_first_fit_imports_leaves_no_file(tmp_path, monkeypatch):
    (tmp_path / "a_new_module.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    with watch() as traces:
        assert importlib.import_module("a_new_module").VALUE == 1
    assert traces.files == {}
    assert not sys.dont_write_bytecode


def test_a_file_with_the_name_of_a_compiled_module_is_seen(tmp_path):
    with watch() as traces:
        (tmp_path / "x.pyc").write_bytes(b"4 rows")
    assert [*traces.files.values()] == [b"4 rows"]

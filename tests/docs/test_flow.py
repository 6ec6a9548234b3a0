import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_stop_of_the_picture_is_a_file(monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "docs" / "figures")])
    import flow

    assert [file for _, *files, _ in flow.STOPS for file in files if not (ROOT / file).is_file()] == []

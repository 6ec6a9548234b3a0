import sys

import pytest

MACHINE = {"processor": "x", "cores": 1, "level": "scalar", "versions": {"Python": "3"}}


@pytest.fixture
def large():
    pytest.importorskip("resource")  # not on Windows
    import large

    return large


@pytest.mark.parametrize("name", ["decision list", "Winnow stream", "boosting", "resampling int8", "resampling int16"])
def test_each_run_does_its_work_small(large, name, tmp_path):
    result = large.RUNS[name](0.001, tmp_path)
    assert result["bytes"] > 0
    assert result["peak"] > result["mapped"]
    assert result["outcome"]
    assert list(tmp_path.iterdir()) == []  # the mapped table is gone


def test_a_run_is_measured_in_a_process_of_its_own(large, tmp_path):
    result = large.measured("resampling int8", 0.001, tmp_path)
    assert result["size"] == "1,000,000 scores"
    assert "1,000,000 scores" in large.markdown({"machine": MACHINE, "runs": {"resampling int8": result}})


def test_a_run_that_dies_is_a_line_of_the_table(large, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", "false")
    failed = large.measured("boosting", 0.001, tmp_path)
    assert failed == {"failed": 1}
    assert "failed: 1" in large.markdown({"machine": MACHINE, "runs": {"boosting": failed}})

import copy

import pytest

pytest.importorskip("pyarrow")
import engines
from pyarrow import parquet

import dpfast


def test_files_have_the_rows_of_the_schema_and_sums_are_watched(tmp_path):
    engines.make(tmp_path, 800)
    files = sorted(tmp_path.glob("*.parquet"))
    assert sum(parquet.read_metadata(file).num_rows for file in files) == 800
    killed = []
    told = engines.timed(dpfast.FileParts(tmp_path), 4, lambda: killed.append(1))
    again = engines.timed(dpfast.parts.MemoryParts([(engines.read(file), None) for file in files]), 4)
    assert killed == [1]
    assert again["model"] == told["model"]
    assert told["answers"] * engines.PARTS == again["answers"]
    runs = {"memory": {"start": 0.1, "plain": told}, "ray": {"start": 0.1, "plain": again, "killed": again}}
    assert [*engines.faults(runs)] == []
    assert [line[-1] for line in engines.lines(runs)] == ["", True]
    other = copy.deepcopy(runs)
    other["ray"]["killed"]["model"] = "other"
    other["ray"]["plain"]["answers"] = 3.0
    assert [*engines.faults(other)] == ["2 different models", "ray: 3 bytes of answers a round instead of 16,384"]

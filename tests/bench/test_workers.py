from functools import partial

import pytest
import workers

from dpfast.parts import MemoryParts


def test_a_part_is_the_same_whoever_makes_it():
    X, y = workers.part(500, 3)
    assert workers.part(500, 3)[0] == X
    assert X.shape == (500, workers.COLUMNS)
    assert (y == workers.part(500, 3)[1]).all()
    assert workers.part(500, 4)[0] != X


def test_rounds_are_the_times_between_sums_and_stand_beside_those_in_memory():
    table = MemoryParts([workers.part(2000, 0), workers.part(1000, 1)])
    told = {}
    for name, clf in workers.learners():
        model, told[name] = workers.timed(partial(clf.fit, table, classes=[False, True]), workers.time.process_time)
        assert 0 < told[name]["round"] <= told[name]["slowest"] < told[name]["seconds"]
        assert hasattr(model, "privacy_")
    here = {"n": 3000, "rounds": told}
    report = {"runs": {"6000": {"here": here, "workers": {"making": 1.0, "peak": 2e9}}}}
    report["runs"]["6000"]["workers"] |= {name: line | {"accuracy": 0.9} for name, line in told.items()}
    assert [line[6] for line in workers.lines(report)] == ["0.50", "0.50"]  # twice the rows in the same time
    assert all(len(line) == len(workers.HEADER) for line in workers.lines(report))


def test_spooled_files_hold_what_was_asked_for(tmp_path):
    pytest.importorskip("pyarrow")
    import spool

    from dpfast import FileParts

    spool.make(tmp_path, 600, 2)
    X, y = FileParts(tmp_path, label="y", memory=0, scratch=tmp_path).numbers()
    assert X.shape == (600, spool.COLUMNS)
    assert len(y) == 600
    assert spool.status().keys() == {"VmHWM", "RssFile", "RssAnon"}

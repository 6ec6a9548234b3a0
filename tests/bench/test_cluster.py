import numpy as np
import pytest

pytest.importorskip("distributed")
import cluster

COSTS = cluster.Costs(row=2e-8, question=1e-4, task=2e-4, round=1e-2)


def test_one_part_on_one_worker_costs_its_rows_and_two_messages():
    told = cluster.predicted(COSTS._replace(slowest=1.0), 10**6, 1, 10**6)
    assert told.workers == pytest.approx(1e-4 + 2e-8 * 10**6)
    assert told.seconds == pytest.approx(told.workers + told.tree + 1e-2)
    assert told.binds == "workers"


def test_small_parts_wait_for_the_scheduler_and_large_ones_for_the_workers():
    assert cluster.predicted(COSTS, 10**9, 100, 10**4).binds == "scheduler"
    assert cluster.predicted(COSTS, 10**9, 10, 10**7).binds == "workers"
    part, told = cluster.best(COSTS, 10**9, 100)
    assert 10**4 < part < 10**8
    assert all(told.seconds <= cluster.predicted(COSTS, 10**9, 100, each).seconds for each in cluster.PART_SIZES)


def test_more_rows_take_more_and_more_workers_no_more():
    seconds = np.array(
        [[cluster.best(COSTS, n, w)[1].seconds for w in (10, 100, 1000)] for n in (10**9, 10**10, 10**11)]
    )
    assert (np.diff(seconds, axis=0) > 0).all()
    assert (np.diff(seconds, axis=1) <= 0).all()


def test_what_a_row_costs_is_measured_and_told(tmp_path, monkeypatch):
    asks, seconds = [], iter([2e-4, 9e-4])

    def processor(ask):
        asks.append(ask())
        return next(seconds)

    monkeypatch.setattr(cluster, "processor", processor)
    assert cluster.of_rows((500, 4000)) == pytest.approx((2e-7, 1e-4))
    assert len(asks) == 2
    report = {"machine": {"processor": "x", "cores": 1, "level": "scalar", "versions": {"Python": "3"}}}
    report |= {"costs": COSTS._asdict(), "check": [[10, 5, 0.1, 0.2]]}
    assert "| 10^12 | 10,000 |" in cluster.markdown(report)
    assert "measured seconds | predicted seconds" in cluster.markdown(report)
    pytest.importorskip("matplotlib")
    cluster.picture(COSTS, tmp_path / "cluster.svg")
    assert (tmp_path / "cluster.svg").read_text().startswith("<?xml")

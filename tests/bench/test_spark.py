import pytest
import spark

COSTS = spark.Costs(row=3e-9, question=1e-4, driver=5e-3, task=2e-2, round=5e-2, number=2e-9)


def test_one_part_costs_its_rows_its_task_and_a_round():
    told = spark.predicted(COSTS._replace(slowest=1.0), 10**6, 1, 1)
    assert told.executors == pytest.approx(2e-2 + 1e-4 + 3e-3)
    assert told.seconds == pytest.approx(5e-2 + told.executors + told.broadcast + told.reduce)
    assert told.binds == "executors"


def test_many_parts_wait_for_the_driver_and_long_answers_for_its_link():
    assert spark.predicted(COSTS, 10**10, 1000, 10_000).binds == "driver"
    assert spark.predicted(COSTS, 10**10, 10, 100).binds == "executors"
    assert spark.predicted(COSTS, 10**10, 1000, 1000, model=10**7).binds == "reduce"


def test_more_rows_and_more_parts_take_more():
    assert spark.predicted(COSTS, 10**11, 100, 100).seconds > spark.predicted(COSTS, 10**10, 100, 100).seconds
    assert spark.predicted(COSTS, 10**9, 100, 1000).seconds > spark.predicted(COSTS, 10**9, 100, 100).seconds


def test_the_table_has_a_line_for_each_size():
    assert 0 < spark.of_numbers(1000) < 1e-3
    report = {"machine": {"processor": "x", "cores": 1, "level": "scalar", "versions": {"Python": "3"}}}
    report |= {"costs": COSTS._asdict(), "check": [[8, 1000, 0.1, 0.2]]}
    assert "| 10^10 | 1,000 | 1,000 |" in spark.markdown(report)
    assert "| 8 | 1,000 | 0.100 | 0.200 |" in spark.markdown(report)

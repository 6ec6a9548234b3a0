"""Spark: executors that hold the codes of parts give the model of memory, also when one is killed in the middle."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpfast.parts.spark_parts import SparkBackend

pytest.importorskip("pyspark", reason="Spark is not installed: pip install 'dpfast[spark]'")
pytestmark = pytest.mark.skipif(
    not (shutil.which("java") or os.environ.get("JAVA_HOME")), reason="Java is not installed, which Spark runs on"
)

CHECKS = (
    "executors_give_the_model_of_memory",
    "tables_that_live_in_the_driver_lose_no_row",
    "a_table_without_rows_is_one_in_memory",
    "parts_of_one_number_are_refused",
    "rows_of_another_plan_are_never_counted",
    "rows_that_change_are_lost_unless_their_files_are_in_a_folder_that_all_see",
    "what_is_not_declared_is_discovered_as_in_memory",
    "one_row_in_an_executor_tells_no_more_than_was_charged",
    "tasks_that_run_twice_count_once",
    "workers_leave_modules_out_of_their_collections_of_garbage",
    "states_are_files_of_their_owner_and_gone_after_the_fit",
    "a_bad_row_is_refused_before_a_charge",
    "an_executor_that_is_killed_and_files_that_are_gone_change_nothing",
    "rows_that_spark_reads_anew_are_of_the_same_part",
    "a_session_that_is_over_is_an_engine_that_is_lost",
    "no_log_of_spark_holds_a_cell",
)


def test_executors_hold_parts_as_memory_does_whatever_becomes_of_them(tmp_path):
    script = Path(__file__).with_name("spark_executors.py")
    ran = subprocess.run([sys.executable, "-P", script, tmp_path], capture_output=True, text=True, timeout=1800)
    if ran.returncode == 3:
        pytest.skip("Spark did not start on this machine")
    lines = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith('["')]
    assert [error for _, error in lines if error] == []
    assert tuple(name for name, _ in lines) == CHECKS, ran.stderr[-2000:]


def test_another_python_on_the_workers_is_told_in_one_sentence():
    def collect():
        raise RuntimeError(
            "Traceback ... [PYTHON_VERSION_MISMATCH] Python in worker has different version ...\n\tat org"
        )

    engine = SparkBackend.__new__(SparkBackend)
    engine._paths = SimpleNamespace(collect=collect)
    with pytest.raises(ValueError, match=r"run another Python than this process, 3\.\d+: set .* PYSPARK_PYTHON, to /"):
        engine._first_read()
    engine._paths = SimpleNamespace(collect=lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        engine._first_read()

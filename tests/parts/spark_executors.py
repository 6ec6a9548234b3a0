"""What test_spark.py runs in a process of its own: two executors of Spark, which leave processes and warnings behind.

Takes a folder for whatever Spark writes. Prints a line of JSON for each check: its name, and its error or nothing. Ends
with status 3 if Spark does not start.
"""

import gc
import json
import os
import stat
import subprocess
import sys
import traceback
import warnings
from pathlib import Path
from signal import SIGKILL

import pandas as pd
import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from people import OPEN, SCHEMA, TWO_SIDED, few, people, released
from two_executors import Cluster

from dpfast import DecisionListClassifier, FiniteClassLearner, HalfspaceClassifier, engines
from dpfast.accounting import Budget
from dpfast.audit import replay
from dpfast.parts import Backend, EngineLost, spark_parts
from dpfast.parts.engine import EngineParts

PEOPLE = people(300).assign(patient=[k * k % 97 for k in range(300)])
LEARNERS = {DecisionListClassifier: {"max_rules": 2}} | {each: {} for each in [*TWO_SIDED, FiniteClassLearner]}
CELL = "cell-of-one-row"


def executors_give_the_model_of_memory(cluster):
    frame = cluster.frame(PEOPLE, 2)
    engine, table = engines.spark(frame), frame.toArrow()  # in Spark's order: the largest file comes first
    cluster.held = engine
    assert isinstance(engine, Backend)
    assert engine.size() == 2
    for learner, given in LEARNERS.items():
        whole = few(learner, schema=SCHEMA, **given).fit(table)
        assert released(few(learner, schema=SCHEMA, **given).fit(engine)) == released(whole), learner


def tables_that_live_in_the_driver_lose_no_row(cluster):
    """Of pandas and of Arrow; their parts may be equal."""
    half = PEOPLE.iloc[:150]
    for frame, kind in ((PEOPLE, pd.DataFrame), (pd.concat([half, half], ignore_index=True), pa.Table.from_pandas)):
        engine = engines.spark(cluster.session.createDataFrame(kind(frame)))
        assert engine.size() > 1
        whole = few(HalfspaceClassifier, schema=SCHEMA).fit(frame)
        assert released(few(HalfspaceClassifier, schema=SCHEMA).fit(engine)) == released(whole)
        engine.close()


def a_table_without_rows_is_one_in_memory(cluster):
    frame = cluster.frame(PEOPLE, 2).where("age < -1")
    table = frame.toArrow()
    assert table.num_rows == 0
    given = {"schema": SCHEMA, "neighbors": "add-remove"}
    whole = few(HalfspaceClassifier, **given).fit(table, classes=["no", "yes"])
    assert released(few(HalfspaceClassifier, **given).fit(frame, classes=["no", "yes"])) == released(whole)
    with pytest.raises(ValueError, match="at least one row"):
        few(HalfspaceClassifier, schema=SCHEMA).fit(frame, classes=["no", "yes"])


def parts_of_one_number_are_refused(cluster):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_parts, "_rows", _rows_twice)
        with pytest.raises(EngineLost, match="two parts of the table have one number"):
            engines.spark(cluster.frame(PEOPLE, 2))


def rows_of_another_plan_are_never_counted(cluster):
    """Adaptive execution makes other partitions for each plan; a file is gone before its part is first read."""
    frame, made = cluster.frame(PEOPLE, 4), []
    whole = few(HalfspaceClassifier, schema=SCHEMA).fit(PEOPLE)
    cluster.session.conf.set("spark.sql.adaptive.enabled", "true")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_parts.SparkBackend, "_keep", _then_lose_a_file(spark_parts.SparkBackend._keep, made))
        for table in (frame.orderBy("job"), frame.repartition("age").sortWithinPartitions("pay")):
            budget = Budget(1.0, 1e-6)
            assert released(few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(table)) == released(whole)
            assert len(budget.charges) == 1
    assert len(made) == 2
    cluster.session.conf.set("spark.sql.adaptive.enabled", "false")


def rows_that_change_are_lost_unless_their_files_are_in_a_folder_that_all_see(cluster):
    frame, folder = cluster.frame(PEOPLE, 2), cluster.folder / "seen"
    folder.mkdir()
    other = frame.mapInArrow(_other_ages, frame.schema)  # whenever it is computed
    for given in ({}, {"folder": folder}):
        engine, budget, rounds, plain = engines.spark(other, **given), Budget(1.0, 1e-6), [], EngineParts.sum
        whole = few(HalfspaceClassifier, schema=SCHEMA).fit(engine)

        def losing(self, question, *public, own=None, paid=budget, rounds=rounds, plain=plain):
            if paid.charges:
                rounds.append(question)
                if len(rounds) == 3:
                    cluster.session.catalog.clearCache()  # as if all executors were new
            return plain(self, question, *public, own=own)

        model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(EngineParts, "sum", losing)
            if given:
                assert released(model.fit(engine))[:1] == released(whole)[:1]
                os.remove(_paths(engine)[0])
                with pytest.raises(EngineLost, match="part 0 among them"):
                    [*EngineParts(engine).each(len)]
            else:
                with pytest.raises(EngineLost, match="has other rows than before"):
                    model.fit(engine)
                assert sum(event.used for event in model.privacy_.events) == 2
        assert len(budget.charges) == 1
        engine.close()
    assert [*folder.iterdir()] == []


def what_is_not_declared_is_discovered_as_in_memory(cluster):
    frame = cluster.frame(PEOPLE, 2)
    table = frame.toArrow()
    persons = {"units": "patient", "rows_per_unit": 2}
    others = [(each, OPEN, {}) for each in TWO_SIDED if getattr(each(), "delta", 0)]  # words cost some delta
    for learner, schema, fit in ((HalfspaceClassifier, OPEN, {}), *others, (HalfspaceClassifier, None, persons)):
        given = {"schema": schema, "epsilon": 20.0}
        whole = few(learner, **given).fit(table, "buys", **fit)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(frame), "__arrow_c_stream__", None, raising=False)  # it would bring all rows here
            assert released(few(learner, **given).fit(frame, "buys", **fit)) == released(whole), (learner, given)
    with pytest.raises(ValueError, match="all its rows are read at once here"):
        whole.predict(frame)


def an_executor_that_is_killed_and_files_that_are_gone_change_nothing(cluster):
    budget, rounds, plain = Budget(1.0, 1e-6, unit="person"), [], EngineParts.sum
    frame, persons = cluster.frame(PEOPLE, 4), {"units": "patient", "rows_per_unit": 2}  # one file has no rows
    whole = few(HalfspaceClassifier, schema=SCHEMA).fit(frame.toArrow(), **persons)

    def disturbed(self, question, *public, own=None):
        if budget.charges:
            assert (len(self), self._backend._tasks) == (3, 2)  # a task answers for two parts
            rounds.append(_paths(self._backend))
            if len(rounds) == 2:
                os.remove(rounds[-1][2])  # as if another machine were asked
            if len(rounds) == 3:
                (executor,) = {row.found for row in self._backend._paths.mapInArrow(_executor, ROW).collect()[:1]}
                os.kill(int(executor), SIGKILL)
        return plain(self, question, *public, own=own)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(EngineParts, "sum", disturbed)
        model = few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(frame, **persons)
    assert len(rounds) >= 3
    assert released(model)[:1] == released(whole)[:1]
    assert len(budget.charges) == 1


def tasks_that_run_twice_count_once(cluster):
    whole, engine = few(HalfspaceClassifier, schema=SCHEMA).fit(PEOPLE), cluster.held
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spark_parts, "_rows", _rows_twice)  # of states too: each part has two files, and answers twice
        assert released(few(HalfspaceClassifier, schema=SCHEMA).fit(engine)) == released(whole)
        assert [number for number, _ in engine.ask(len, (), None)] == [0, 0, 1, 1]


def workers_leave_modules_out_of_their_collections_of_garbage(cluster):
    frozen = cluster.held._paths.mapInArrow(_frozen, "frozen long, held long").collect()
    assert all(row.frozen > row.held for row in frozen), frozen


def states_are_files_of_their_owner_and_gone_after_the_fit(cluster):
    engine = cluster.held
    files = [Path(path) for path in _paths(engine)]
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    engine.close()
    engine.close()
    assert not any(file.exists() for file in files)
    assert [*cluster.folder.rglob("dpfast-part-*")] == []


def one_row_in_an_executor_tells_no_more_than_was_charged(cluster):
    frame = people(12)
    neighbors = [cluster.frame(each, 2) for each in (frame, frame.iloc[:-1])]
    model = HalfspaceClassifier(n_rounds=1, neighbors="add-remove", schema=SCHEMA)
    found = replay(model, (neighbors[0], "buys"), (neighbors[1], "buys"), classes=["no", "yes"])
    assert found.holds, found
    assert found.ratios


def a_bad_row_is_refused_before_a_charge(cluster):
    frame, budget = PEOPLE.astype({"smokes": str}), Budget(1.0, 1e-6)
    frame.loc[200, "smokes"] = CELL
    with pytest.raises(ValueError, match="column 'smokes'") as raised:
        few(HalfspaceClassifier, schema=SCHEMA, budget=budget).fit(cluster.frame(frame, 2))
    assert CELL not in str(raised.value)
    assert budget.charges == ()
    with pytest.raises(ValueError, match="y must be the name of a column"):
        few(HalfspaceClassifier, schema=SCHEMA).fit(cluster.frame(PEOPLE, 1), PEOPLE["buys"])


def rows_that_spark_reads_anew_are_of_the_same_part(cluster):
    """One task then reads several partitions, and has one number."""
    for frame in (cluster.frame(PEOPLE, 4), cluster.session.createDataFrame(PEOPLE)):
        engine = spark_parts.SparkBackend(frame, tasks=1)
        assert engine.size() > 1
        before = sorted((number, answer.value) for number, answer in engine.ask(repr, (), None))
        engine._paths.unpersist(True)
        assert sorted((number, answer.value) for number, answer in engine.ask(repr, (), None)) == before
        engine.close()


def a_session_that_is_over_is_an_engine_that_is_lost(cluster):
    engine = engines.spark(cluster.frame(PEOPLE, 1))
    cluster.session.stop()
    with pytest.raises(ConnectionError, match="the Spark cluster did not answer"):
        [*engine.ask(len, (), None)]
    engine.close()


def no_log_of_spark_holds_a_cell(cluster):
    events = [file for file in (cluster.folder / "events").rglob("*") if file.is_file()]
    logs = [*events, *(cluster.folder / "home" / "work").rglob("std*")]
    assert any("MapInArrow" in file.read_text() for file in events)
    for file in logs:
        text = file.read_text(errors="replace")
        for private in (CELL, "baker", "column 'smokes'"):  # a cell, a word that is not declared, a text of an error
            assert private not in text, (file, private)


def _paths(engine):
    return [row.found.decode() for row in sorted(engine._paths.collect())]


def _then_lose_a_file(keep, made):
    def keep_and_lose(self, rows):
        keep(self, rows)
        if not self._steps:
            os.remove(_paths(self)[0])
            made.append(self)

    return keep_and_lose


def _other_ages(batches):
    for batch in batches:
        table = batch.to_pandas()
        table["age"] = [18 + byte % 72 for byte in os.urandom(len(table))]
        yield pa.RecordBatch.from_pandas(table, schema=batch.schema)


def _rows_twice(batches, task, keywords):
    """Run a task twice, as speculation does, and keep what both find."""
    batches = [*batches]
    for _ in range(2):
        yield from spark_parts._rows(iter(batches), task, keywords)


def _frozen(batches):
    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"frozen": [gc.get_freeze_count()], "held": [len(gc.get_objects())]})


ROW = "found string"


def _executor(batches):
    """The process of the executor: the grandparent of a worker."""
    for _ in batches:
        pass
    found = subprocess.run(["ps", "-o", "ppid=", "-p", str(os.getppid())], capture_output=True, text=True, check=True)
    yield pa.RecordBatch.from_pydict({"found": [found.stdout.strip()]})


CHECKS = (
    executors_give_the_model_of_memory,
    tables_that_live_in_the_driver_lose_no_row,
    a_table_without_rows_is_one_in_memory,
    parts_of_one_number_are_refused,
    rows_of_another_plan_are_never_counted,
    rows_that_change_are_lost_unless_their_files_are_in_a_folder_that_all_see,
    what_is_not_declared_is_discovered_as_in_memory,
    one_row_in_an_executor_tells_no_more_than_was_charged,
    tasks_that_run_twice_count_once,
    workers_leave_modules_out_of_their_collections_of_garbage,
    states_are_files_of_their_owner_and_gone_after_the_fit,
    a_bad_row_is_refused_before_a_charge,
    an_executor_that_is_killed_and_files_that_are_gone_change_nothing,
    rows_that_spark_reads_anew_are_of_the_same_part,
    a_session_that_is_over_is_an_engine_that_is_lost,
    no_log_of_spark_holds_a_cell,
)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    try:
        started = Cluster(sys.argv[1])
        started.session.range(1).count()
    except Exception:
        traceback.print_exc()
        sys.exit(3)
    for check in CHECKS:
        try:
            check(started)
            print(json.dumps([check.__name__, ""]), flush=True)
        except (Exception, pytest.fail.Exception):
            print(json.dumps([check.__name__, traceback.format_exc()]), flush=True)

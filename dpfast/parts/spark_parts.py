"""Parts on the executors of a Spark cluster, by `mapInArrow` alone, which Spark Connect has too.

The state of a part is a file of the executor that computed it. Spark caches one row per part, the path of this file. It
sends a question to the machine that caches the row, and recomputes row and file if that executor is lost. If another
machine is asked, which does not have the file, the state is recomputed from the source for this question.

A question has no more tasks than the cluster has slots: a task answers for several parts, one after another, and reads
several anew if Spark lost their paths. A part is therefore known by the number of its partition, which Spark writes
into a column of every row before the rows reach Python, and not by the number of the task.
"""

import copy
import os
import pickle
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from mmap import ACCESS_READ, mmap
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pyarrow as pa

from dpfast.parts.engine import Answer, EngineLost, answer_part, make_state

HELD = 64  # states that a process of an executor keeps mapped, with their memos
_MOST_SLOTS = 1 << 16  # tasks that a question has at most
_PREFIX = "dpfast-part-"  # of the names of files
_OTHER_PYTHON = (
    f"the workers of Spark run another Python than this process, {sys.version_info[0]}.{sys.version_info[1]}: set the "
    f"environment variable PYSPARK_PYTHON, to {sys.executable} on this machine, before the Spark session starts"
)
_ROW = pa.schema([("part", pa.int64()), ("rows", pa.int64()), ("found", pa.binary())])
_FIELDS = "part long, rows long, found binary"


class NoRows(ValueError):
    """A DataFrame has no rows, and so no part."""


class SparkBackend:
    """Engine on executors of a Spark cluster; a part is a partition of a DataFrame that has rows."""

    def __init__(self, frame: Any, tasks: int | None = None):
        self._column = f"partition-{uuid4().hex}"
        self._steps: tuple[Any, ...] = ()
        self._names: tuple[str, ...] = (uuid4().hex,)  # of the first states, and of those after each step
        # Shared with the engines derived from this one: the names of states in use, to be removed, and closed.
        self._files = SimpleNamespace(open={self._names[0]}, gone=set(), closed=set())
        rows = self._first_states(frame)
        if len({row["part"] for row in rows}) < len(rows):
            # The table lives in the driver, and Spark's optimizer wrote 0 into all rows: it cannot see through Python.
            self._paths.unpersist()
            rows = self._first_states(frame.mapInArrow(_same, frame.schema))
        sizes = {row["part"]: row["rows"] for row in rows}  # partitions without rows are none
        self._parts = sorted(sizes)
        if not self._parts:
            self.close()
            raise NoRows("X must have at least one row, the table has none")
        if (n := frame.count()) != (held := sum(sizes.values())):
            self.close()
            raise ValueError(
                f"Spark counts {n} rows of the table, and its parts have {held}: the table must give the same rows "
                "each time; write it to files first"
            )
        self._tasks = min(len(self._parts), tasks or _slots(frame.sparkSession))

    def size(self) -> int:
        return len(self._parts)

    def make(self, f: Callable, *public: Any, own: Sequence | None = None) -> "SparkBackend":
        engine, name = copy.copy(self), uuid4().hex
        engine._steps, engine._names = (*self._steps, (f, public, self._by_part(own))), (*self._names, name)
        self._files.open.add(name)
        given = {"f": f, "public": public, "own": self._by_part(own), "name": name}
        engine._paths = self._wait(lambda: _asks(self._paths, _make_states, **given).persist())
        try:
            self._wait(engine._paths.collect)  # compute the states now
        except EngineLost:
            engine.close()
            raise
        return engine

    def ask(self, f: Callable, public: Sequence, own: Sequence | None) -> Iterable[tuple[int, Answer]]:
        numbers = {part: number for number, part in enumerate(self._parts)}
        asked = {"f": f, "public": public, "own": self._by_part(own)}
        gone, lacking = frozenset(self._files.gone), []
        paths = self._paths if self._tasks == len(self._parts) else self._paths.coalesce(self._tasks)
        for part, answer in self._collect(paths, _ask_parts, gone=gone, **asked):
            if answer is None:
                lacking.append(part)
            else:
                yield numbers[part], pickle.loads(answer)
        self._files.gone -= gone
        if lacking:
            again = {"column": self._column, "parts": lacking, "steps": self._steps}
            for part, answer in self._collect(self._frame, _ask_again, **again, **asked):
                yield numbers[part], pickle.loads(answer)

    def close(self) -> None:
        """Free the states of this engine; their files are removed with the next question, or when all are closed."""
        files, name = self._files, self._names[-1]
        if name not in files.open:
            return
        files.open.remove(name)
        files.gone.add(name)
        files.closed.add(name)
        with suppress(Exception):  # of Spark, py4j or gRPC: the files are lost with the executors
            if not files.open:
                _asks(self._paths, _remove_files, gone=files.closed).collect()
            self._paths.unpersist()

    def _by_part(self, own):
        """Return arguments by the partitions of the parts."""
        return None if own is None else dict(zip(self._parts, own, strict=True))

    def _collect(self, rows, task, **given):
        found = self._wait(lambda: _asks(rows, task, **given).collect())
        return [(row["part"], row["found"]) for row in found]

    def _first_states(self, frame):
        """Write the first states from a table, and return the parts and the numbers of their rows."""
        from pyspark.sql.functions import spark_partition_id

        self._frame = frame.select("*", spark_partition_id().alias(self._column))
        self._paths = _asks(self._frame, _spread, column=self._column, name=self._names[0]).persist()
        return self._first_read()

    def _first_read(self):
        """Return what the first question collects; an error of the table or the cluster stays as Spark words it."""
        try:
            return self._paths.collect()
        except Exception as error:  # Spark, py4j and gRPC have no common class
            if "PYTHON_VERSION_MISMATCH" not in str(error):
                raise
            raise ValueError(_OTHER_PYTHON) from None

    def _wait(self, answer):
        try:
            return answer()
        except Exception as error:  # Spark, py4j and gRPC have no common class
            raise EngineLost(f"the Spark cluster did not answer ({type(error).__name__})") from None


def spark_backend(X: Any, columns: list[str] | None = None, tasks: int | None = None) -> SparkBackend:
    """Return the engine of a DataFrame, as `dpfast.engines.spark`; only `columns` are read."""
    if columns is not None:
        there = {*X.columns}
        named = [name.replace("`", "``") for name in columns if name in there]  # a part refuses a table that lacks one
        X = X.select(*[f"`{name}`" for name in named])
    return SparkBackend(X, tasks)


def _asks(rows, task, **given):
    return rows.mapInArrow(partial(_rows, task=task, given=given), _FIELDS)


def _slots(session):
    """Return the number of tasks that Spark runs at a time, its default for the partitions of a table."""
    return len(session.range(_MOST_SLOTS).mapInArrow(_answer_once, _FIELDS).collect())


# ---- on an executor --------------------------------------------------------------------------------------------------

_states: dict[str, Any] = {}  # mapped by this process, by path; the last one used is last


def _rows(batches, task, given):
    for part, found, *rows in task(batches, **given):
        yield pa.RecordBatch.from_pylist([{"part": part, "rows": sum(rows), "found": found}], _ROW)


def _same(batches):
    yield from batches


def _answer_once(batches):
    for _ in batches:
        pass
    yield pa.RecordBatch.from_pylist([{"part": 0, "rows": 0, "found": b""}], _ROW)


def _spread(batches, column, name):
    part, pair = _pair(batches, column)
    if pair is not None:
        yield part, _write_state(part, name, pair), pair[0].num_rows


def _make_states(paths, f, public, own, name):
    for part, path in _paths(paths):
        state = _map_state(path)
        yield part, None if state is None else _write_state(part, name, make_state(state, f, public, part, own))


def _ask_parts(paths, gone, f, public, own):
    for part, path in _paths(paths):
        _remove(path, gone)
        state = _map_state(path)
        yield part, None if state is None else pickle.dumps(answer_part(state, part, f, public, own))


def _ask_again(batches, column, parts, steps, f, public, own):
    part, state = _pair(batches, column)
    if part in parts:
        for make, arguments, mine in steps:
            state = make_state(state, make, arguments, part, mine)
        yield part, pickle.dumps(answer_part(state, part, f, public, own))


def _remove_files(paths, gone):
    for _, path in _paths(paths):
        _remove(path, gone)
    yield from ()


def _remove(path, gone):
    """Remove the files of some states from the folders of this executor, and from that of a file."""
    folders = {*_folders(), *([os.path.dirname(path)] if path else [])}
    for folder in filter(os.path.isdir, folders if gone else ()):
        for each in os.listdir(folder):
            if each.startswith(_PREFIX) and each.removeprefix(_PREFIX).partition("-")[0] in gone:
                with suppress(OSError):
                    os.remove(os.path.join(folder, each))


def _folders():
    return os.environ["SPARK_LOCAL_DIRS"].split(",")  # removed when the executor ends


def _pair(batches, column):
    """Return the number of a partition, and its rows with None for labels beside them; None for one without rows.

    Every row has the number in a column, which is left out.
    """
    batches = [batch for batch in batches if batch.num_rows]
    if not batches:
        return None, None
    table = pa.Table.from_batches(batches)
    return table[column][0].as_py(), (table.drop_columns([column]), None)


def _paths(paths):
    for batch in paths:
        for row in batch.to_pylist():
            yield row["part"], row["found"] and os.fsdecode(row["found"])


def _write_state(part, name, state):
    """Write a state to a new file, with its arrays ready to be mapped, and return the path.

    A task that fails or is killed may have read only some of its rows, so no other task uses its file.
    """
    folders, arrays, places = _folders(), [], []
    head = pickle.dumps(state, 5, buffer_callback=arrays.append)
    path = os.path.join(folders[part % len(folders)], f"{_PREFIX}{name}-{part}-{uuid4().hex}")
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        for array in arrays:
            file.write(bytes(-file.tell() % 64))
            places.append((file.tell(), array.raw().nbytes))
            file.write(array.raw())
        end = file.tell()
        pickle.dump((head, places), file)
        file.write(end.to_bytes(8))
    return os.fsencode(path)


def _map_state(path):
    """Return the state in a file, or None if this machine does not have it."""
    for gone in [each for each in _states if not os.path.exists(each)]:
        del _states[gone]  # a mapped file keeps its disk space
    if path is None or not os.path.exists(path):
        return None
    state = _states.pop(path, None)
    if state is None:
        with open(path, "rb") as file:
            data = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ))
        head, places = pickle.loads(data[int.from_bytes(data[-8:]) : -8])
        state = pickle.loads(head, buffers=[data[start : start + size] for start, size in places])
    _states[path] = state
    while len(_states) > HELD:
        del _states[next(iter(_states))]
    return state

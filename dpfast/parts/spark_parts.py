"""Parts on the executors of a Spark cluster, by `mapInArrow` alone, which Spark Connect has too.

Spark may make the plan of a DataFrame anew for every question, with other partitions. The table is therefore made once:
it is persisted on the disks of the executors, and all that is read of it later are the partitions of this one plan. A
part is known by the number of its partition, which Spark writes into a column of every row, and by its mark.

The state of a part is a file of the executor that computed it. Spark caches one row per part, the path of this file. It
sends a question to the machine that caches the row, and recomputes row and file if that executor is lost. If another
machine is asked, which does not have the file, the state is recomputed from the persisted table for this question. What
is recomputed has the same mark, or the engine is lost.

If there is a folder that all executors see, states are files of this folder. No row is read twice then: a state that is
not there is an engine that is lost.

A question has no more tasks than the cluster has slots: a task answers for several parts, one after another, and reads
several anew if Spark lost their paths.
"""

import copy
import gc
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
from dpfast.parts.marks import AsRead, mark_of

HELD = 64  # states that a process of an executor keeps mapped, with their memos
_MOST_SLOTS = 1 << 16  # tasks that a question has at most
_PREFIX = "dpfast-part-"  # of the names of files
_OTHER_PYTHON = (
    f"the workers of Spark run another Python than this process, {sys.version_info[0]}.{sys.version_info[1]}: set the "
    f"environment variable PYSPARK_PYTHON, to {sys.executable} on this machine, before the Spark session starts"
)
_ROW = pa.schema([("part", pa.int64()), ("found", pa.binary()), ("mark", pa.binary())])
_FIELDS = "part long, found binary, mark binary"


class NoRows(ValueError):
    """A DataFrame has no rows, and so no part."""


class SparkBackend:
    """Engine on executors of a Spark cluster; a part is a partition of a DataFrame that has rows.

    Attributes
    ----------
    marks : list of bytes
        The mark of each part, of the pass in which its state was made; empty if the state was not there.
    """

    def __init__(self, frame: Any, tasks: int | None = None, folder: Any = None):
        self._column = f"partition-{uuid4().hex}"
        self._folder = None if folder is None else os.fspath(folder)
        self._steps: tuple[Any, ...] = ()
        self._names: tuple[str, ...] = (uuid4().hex,)  # of the first states, and of those after each step
        # Shared with the engines derived from this one: the names of states in use, to be removed, and closed.
        self._files = SimpleNamespace(open={self._names[0]}, stale=set(), closed=set())
        try:
            rows = self._first_states(frame)
            self._parts = sorted(row["part"] for row in rows)  # partitions without rows are none
            if not self._parts:
                raise NoRows("X must have at least one row, the table has none")
            if len({*self._parts}) < len(rows):
                raise EngineLost("two parts of the table have one number in Spark")
            self._keep(rows)
            self._tasks = min(len(self._parts), tasks or _slots(frame.sparkSession))
        except BaseException:
            self.close()
            raise
        if folder is not None:
            self._table.unpersist()

    def size(self) -> int:
        return len(self._parts)

    def make(self, f: Callable, *public: Any, own: Sequence | None = None) -> "SparkBackend":
        engine, name = copy.copy(self), uuid4().hex
        engine._steps, engine._names = (*self._steps, (f, public, self._by_part(own))), (*self._names, name)
        self._files.open.add(name)
        keywords = {"f": f, "public": public, "own": self._by_part(own), "name": name, "folder": self._folder}
        engine._paths = self._wait(lambda: _asks(self._in_tasks(), _make_states, **keywords).persist())
        try:
            engine._keep(self._wait(engine._paths.collect))  # compute the states now
        except EngineLost:
            engine.close()
            raise
        return engine

    def ask(self, f: Callable, public: Sequence, own: Sequence | None) -> Iterable[tuple[int, Answer]]:
        numbers = {part: number for number, part in enumerate(self._parts)}
        keywords = {"f": f, "public": public, "own": self._by_part(own)}
        stale, lacking = frozenset(self._files.stale), []
        for part, answer in self._collect(self._in_tasks(), _ask_parts, stale=stale, **keywords):
            if answer is None:
                lacking.append(part)
            else:
                yield numbers[part], pickle.loads(answer)
        self._files.stale -= stale
        if lacking and self._folder is None:  # parts that do not answer are lost
            again = {"column": self._column, "parts": lacking, "steps": self._steps}
            for part, answer in self._collect(self._frame, _ask_again, **again, **keywords):
                yield numbers[part], pickle.loads(answer)

    def close(self) -> None:
        """Free the states of this engine; their files are removed with the next question, or when all are closed."""
        files, name = self._files, self._names[-1]
        if name not in files.open:
            return
        files.open.remove(name)
        files.stale.add(name)
        files.closed.add(name)
        last = () if files.open else (self._remove_all, lambda: self._table.unpersist())
        for free in (*last, lambda: self._paths.unpersist()):
            with suppress(Exception):  # of Spark, py4j or gRPC: the files are lost with the executors
                free()

    def _remove_all(self):
        _asks(self._paths, _remove_files, stale=self._files.closed).collect()

    def _in_tasks(self):
        """Return the paths of the parts, in as many partitions as a question has tasks."""
        return self._paths if self._tasks == len(self._parts) else self._paths.coalesce(self._tasks)

    def _by_part(self, own):
        """Return arguments by the partitions of the parts."""
        return None if own is None else dict(zip(self._parts, own, strict=True))

    def _collect(self, rows, task, **keywords):
        rows_found = self._wait(lambda: _asks(rows, task, **keywords).collect())
        return [(row["part"], row["found"]) for row in rows_found]

    def _first_states(self, frame):
        """Persist the table, write the first states, and return the parts with their paths and marks."""
        from pyspark import StorageLevel
        from pyspark.sql.functions import lit, spark_partition_id

        own = f"table-{uuid4().hex}"  # Spark has one copy of equal tables, which others may free
        self._table = frame.select("*", lit(None).alias(own)).persist(StorageLevel.DISK_ONLY)
        self._frame = self._table.drop(own).select("*", spark_partition_id().alias(self._column))
        keywords = {"column": self._column, "name": self._names[0], "folder": self._folder}
        self._paths = _asks(self._frame, _spread, **keywords).persist()
        return self._first_read()

    def _keep(self, rows):
        """Keep the marks of new states, and, in a folder that all see, their paths, which are never recomputed."""
        files = {row["part"]: (row["found"], row["mark"]) for row in rows}
        self.marks = [bytes(files[part][1]) for part in self._parts]
        if self._folder is not None:
            paths, n = self._paths, len(files)
            listed = [(part, path) for part, (path, _) in files.items()]
            self._paths = _asks(self._table.sparkSession.range(0, n, 1, n), _listed, of=listed).persist()
            paths.unpersist()

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


def spark_backend(
    X: Any, columns: list[str] | None = None, tasks: int | None = None, folder: Any = None
) -> SparkBackend:
    """Return the engine of a DataFrame, as `dpfast.engines.spark`; only `columns` are read."""
    if columns is not None:
        there = {*X.columns}
        named = [name.replace("`", "``") for name in columns if name in there]  # a part refuses a table that lacks one
        X = X.select(*[f"`{name}`" for name in named])
    return SparkBackend(X, tasks, folder)


def _asks(rows, task, **keywords):
    return rows.mapInArrow(partial(_rows, task=task, keywords=keywords), _FIELDS)


def _slots(session):
    """Return the number of tasks that Spark runs at a time, its default for the partitions of a table."""
    return len(session.range(_MOST_SLOTS).mapInArrow(_answer_once, _FIELDS).collect())


# ---- on an executor --------------------------------------------------------------------------------------------------

_states: dict[str, Any] = {}  # mapped by this process, by path; the last one used is last
_frozen = SimpleNamespace(modules=0)  # those imported when this process froze what was there


def _rows(batches, task, keywords):
    _freeze_modules()
    for part, found, *mark in task(batches, **keywords):
        yield pa.RecordBatch.from_pylist([{"part": part, "found": found, "mark": b"".join(mark)}], _ROW)


def _freeze_modules():
    """Leave imported modules out of the collection of garbage that a worker of Spark makes after every task.

    It would look at all that they hold, which takes longer than most tasks. When a task begins, there is no garbage.
    """
    if len(sys.modules) > _frozen.modules:
        gc.freeze()
        _frozen.modules = len(sys.modules)


def _answer_once(batches):
    for _ in batches:
        pass
    yield pa.RecordBatch.from_pylist([{"part": 0, "found": b"", "mark": b""}], _ROW)


def _spread(batches, column, name, folder):
    part, state = _first_state(batches, column)
    if state is not None:
        yield part, _write_state(part, name, state, folder), state.mark


def _make_states(paths, f, public, own, name, folder):
    for part, path in _paths(paths):
        state = _map_state(path)
        if state is None:
            yield part, None
        else:
            new = make_state(state, f, public, part, own)
            yield part, _write_state(part, name, new, folder), mark_of(new)


def _listed(numbers, of):
    for batch in numbers:
        for number in batch["id"].to_pylist():
            yield of[number]


def _ask_parts(paths, stale, f, public, own):
    for part, path in _paths(paths):
        _remove(path, stale)
        state = _map_state(path)
        yield part, None if state is None else pickle.dumps(answer_part(state, part, f, public, own))


def _ask_again(batches, column, parts, steps, f, public, own):
    part, state = _first_state(batches, column)
    if part in parts:
        for make, arguments, mine in steps:
            state = make_state(state, make, arguments, part, mine)
        yield part, pickle.dumps(answer_part(state, part, f, public, own))


def _remove_files(paths, stale):
    for _, path in _paths(paths):
        _remove(path, stale)
    yield from ()


def _remove(path, stale):
    """Remove the files of some states from the folders of this executor, and from that of a file."""
    folders = {*_folders(), *([os.path.dirname(path)] if path else [])}
    for folder in filter(os.path.isdir, folders if stale else ()):
        for each in os.listdir(folder):
            if each.startswith(_PREFIX) and each.removeprefix(_PREFIX).partition("-")[0] in stale:
                with suppress(OSError):
                    os.remove(os.path.join(folder, each))


def _folders():
    return os.environ["SPARK_LOCAL_DIRS"].split(",")  # removed when the executor ends


def _first_state(batches, column):
    """Return the number of a partition, and its rows with None for labels beside them; None for one without rows.

    Every row has the number in a column, which is left out.
    """
    batches = [batch for batch in batches if batch.num_rows]
    if not batches:
        return None, None
    table = pa.Table.from_batches(batches)
    return table[column][0].as_py(), AsRead((table.drop_columns([column]), None))


def _paths(paths):
    for batch in paths:
        for row in batch.to_pylist():
            yield row["part"], row["found"] and os.fsdecode(row["found"])


def _write_state(part, name, state, folder):
    """Write a state to a new file, with its arrays ready to be mapped, and return the path.

    A task that fails or is killed may have read only some of its rows, so no other task uses its file.
    """
    folders, arrays, places = _folders() if folder is None else [folder], [], []
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
    for stale in [each for each in _states if not os.path.exists(each)]:
        del _states[stale]  # a mapped file keeps its disk space
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

"""Parts on the executors of a Spark cluster, by `mapInArrow` alone, which Spark Connect has too.

The state of a part is a file of the executor that computed it. Spark caches one row per part, the path of this file. It
sends a question to the executor that caches the row, and recomputes row and file if that executor is lost. If another
executor is asked, which does not have the file, the state is recomputed from the source for this question.
"""

import copy
import os
import pickle
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from glob import glob
from mmap import ACCESS_READ, mmap
from typing import Any
from uuid import uuid4

import pyarrow as pa

from dpfast.parts.engine import Answer, EngineLost, answered, made

HELD = 16  # states that a process of an executor keeps mapped, with their memos
_ROW = pa.schema([("part", pa.int64()), ("found", pa.binary())])


class SparkBackend:
    """Engine on executors of a Spark cluster; a part is a partition of a DataFrame.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        Its partitions must have the same rows, in the same order, each time they are computed.
    """

    def __init__(self, frame: Any):
        self._frame, self._empty = frame, frame.limit(0).toArrow().schema
        self._steps: tuple[Any, ...] = ()
        self._names: tuple[str, ...] = (uuid4().hex,)  # of the first states, and of those after each step
        self._closed: set[str] = set()  # names; shared with the engines derived from this one
        self._paths = _asks(frame, _spread, empty=self._empty, name=self._names[0]).persist()
        self._size = len(self._paths.collect())

    def size(self) -> int:
        return self._size

    def make(self, f: Callable, *public: Any, own: Sequence | None = None) -> "SparkBackend":
        engine, name = copy.copy(self), uuid4().hex
        engine._steps, engine._names = (*self._steps, (f, public, own)), (*self._names, name)
        engine._paths = _asks(self._paths, _made, f=f, public=public, own=own, name=name).persist()
        for _ in engine.ask(_nothing, (), None):
            pass  # compute the states now
        return engine

    def ask(self, f: Callable, public: Sequence, own: Sequence | None) -> Iterable[tuple[int, Answer]]:
        asked, lacking = {"f": f, "public": public, "own": own}, []
        for part, answer in self._collected(self._paths, _asked, **asked):
            if answer is None:
                lacking.append(part)
            else:
                yield part, pickle.loads(answer)
        if lacking:
            again = {"parts": lacking, "empty": self._empty, "steps": self._steps}
            for part, answer in self._collected(self._frame, _asked_again, **again, **asked):
                yield part, pickle.loads(answer)

    def close(self) -> None:
        """Remove the files of this engine, and recomputed files of closed engines that it was derived from."""
        if self._names[-1] in self._closed:
            return
        self._closed.add(self._names[-1])
        with suppress(Exception):  # of Spark, py4j or gRPC: the files are lost with the executors
            _asks(self._paths, _removed, names=self._closed.intersection(self._names)).collect()
            self._paths.unpersist()

    def _collected(self, rows, task, **told):
        try:
            return _asks(rows, task, **told).collect()
        except Exception as error:  # Spark, py4j and gRPC have no common class
            raise EngineLost(
                f"the Spark cluster did not answer ({type(error).__name__}); what was released until then is in the "
                "model, and paid for"
            ) from None


def spark_backend(X: Any, columns: list[str] | None = None) -> SparkBackend:
    """Return the engine of a DataFrame of Spark.

    Parameters
    ----------
    X : pyspark.sql.DataFrame
    columns : list of str, optional
        The columns to read.

    Returns
    -------
    SparkBackend
    """
    if columns is not None:
        there = {*X.columns}
        named = [name.replace("`", "``") for name in columns if name in there]  # a part refuses a table that lacks one
        X = X.select(*[f"`{name}`" for name in named])
    return SparkBackend(X)


def _asks(rows, task, **told):
    return rows.mapInArrow(partial(_rows, task=task, told=told), "part long, found binary")


# ---- on an executor --------------------------------------------------------------------------------------------------

_states: dict[str, Any] = {}  # mapped by this process, by path; the last one used is last


def _rows(batches, task, told):
    for part, found in task(batches, **told):
        yield pa.RecordBatch.from_pylist([{"part": part, "found": found}], _ROW)


def _spread(batches, empty, name):
    part = _part()
    yield part, _written(part, name, _pair(batches, empty))


def _made(paths, f, public, own, name):
    for part, state in _found(paths):
        yield part, None if state is None else _written(part, name, made(state, f, public, part, own))


def _asked(paths, f, public, own):
    for part, state in _found(paths):
        yield part, None if state is None else pickle.dumps(answered(state, part, f, public, own))


def _asked_again(batches, parts, empty, steps, f, public, own):
    part = _part()
    if part in parts:
        state = _pair(batches, empty)
        for make, told, mine in steps:
            state = made(state, make, told, part, mine)
        yield part, pickle.dumps(answered(state, part, f, public, own))


def _removed(paths, names):
    for part, path in _paths(paths):
        for name in names if path else ():
            for each in glob(os.path.join(os.path.dirname(path), f"dpfast-part-{name}-{part}-*")):
                with suppress(OSError):
                    os.remove(each)
    yield from ()


def _part():
    from pyspark import TaskContext

    return TaskContext.get().partitionId()


def _pair(batches, empty):
    batches = list(batches)
    return (pa.Table.from_batches(batches) if batches else empty.empty_table()), None  # and no labels beside it


def _nothing(state):
    return 0


def _paths(paths):
    for batch in paths:
        for row in batch.to_pylist():
            yield row["part"], row["found"] and os.fsdecode(row["found"])


def _found(paths):
    for part, path in _paths(paths):
        yield part, _mapped(path)


def _written(part, name, state):
    """Write a state to a new file, with its arrays ready to be mapped, and return the path.

    A task that fails or is killed may have read only some of its rows, so no other task uses its file.
    """
    folders = os.environ["SPARK_LOCAL_DIRS"].split(",")  # removed when the executor ends
    arrays, places = [], []
    head = pickle.dumps(state, 5, buffer_callback=arrays.append)
    path = os.path.join(folders[part % len(folders)], f"dpfast-part-{name}-{part}-{uuid4().hex}")
    with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
        for array in arrays:
            file.write(bytes(-file.tell() % 64))
            places.append((file.tell(), array.raw().nbytes))
            file.write(array.raw())
        end = file.tell()
        pickle.dump((head, places), file)
        file.write(end.to_bytes(8))
    return os.fsencode(path)


def _mapped(path):
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

"""Parts on the workers of a Dask cluster.

A part is a future, and so is the answer to a question: the scheduler knows how each was computed, and recomputes what a
lost worker held. Sums are computed in a tree on the workers; only one array of integers per question is sent to this
process. A failure in a part is passed as a value and raised here: workers log none, and the names of their tasks
contain only the names of functions.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple
from uuid import uuid4

from dpfast.parts.engine import Answer, EngineLost, add_answers, answer_part, make_state

FAN = 16  # answers per sum on a worker, and the most answers to the last sum, which is computed here
PATIENCE = 60.0  # seconds without a worker after which all are considered lost
_TICK = 0.5  # seconds between two checks of the cluster


class Total(NamedTuple):
    """Sum of the answers of some parts, and the fingerprint of each of them, in order."""

    marks: tuple[bytes, ...]
    value: Any


class DaskBackend:
    """Engine on the workers of a cluster; its parts are futures, in the order of the rows."""

    def __init__(self, client: Any, futures: Sequence[Any], read: list | None = None):
        self._client, self._futures = client, list(futures)
        self._read = [] if read is None else read  # shared: holds something once the table was read

    def size(self) -> int:
        return len(self._futures)

    def make(self, f: Callable, *public: Any, own: Sequence | None = None) -> "DaskBackend":
        return DaskBackend(self._client, self._ask(_make_state, f, public, own), self._read)

    def ask(self, f: Callable, public: Sequence, own: Sequence | None) -> Iterable[tuple[int, Answer]]:
        return enumerate(self._wait(self._ask(_answer_part, f, public, own)))

    def total(self, f: Callable, public: Sequence, own: Sequence | None, chosen: Sequence[int]) -> "Total":
        """Return the sum of the answers of some parts, computed in a tree on the workers."""
        futures = self._ask(_summand, f, public, own)
        answers = [futures[k] for k in chosen]
        while len(answers) > FAN:
            groups = [answers[k : k + FAN] for k in range(0, len(answers), FAN)]
            answers = self._client.map(_total, groups, key="dpfast-sum", pure=False)
        return _total(self._wait(answers))

    def close(self) -> None:
        """Release the futures; the scheduler frees those that are no longer referenced."""
        self._futures = []

    def _ask(self, task, question, public, own):
        # One task holds the public arguments of a question: the parts fetch them from each other, and lost ones are
        # recomputed.
        public_future = self._client.submit(_arguments, public, key=f"dpfast-tell-{uuid4().hex}", pure=False)
        numbers = range(len(self._futures))
        own = [None] * len(numbers) if own is None else [{k: each} for k, each in enumerate(own)]
        keywords = {"question": question, "public": public_future, "key": f"dpfast{task.__name__}", "pure": False}
        return self._client.map(task, self._futures, numbers, own, **keywords)

    def _wait(self, futures):
        """Return the results of the futures, as long as the cluster exists."""
        from distributed import KilledWorker, wait
        from distributed.client import FutureCancelledError

        client, alone = self._client, None
        try:
            while True:
                try:
                    with client.as_current():  # which is the one that waits
                        wait(futures, timeout=_TICK)
                    answers = client.gather(futures)
                    self._read[:] = [True]
                    return answers
                except TimeoutError:
                    if client.status != "running":
                        raise EngineLost("the connection to the Dask scheduler is lost") from None
                    alone = None if client.nthreads() else alone or time.monotonic()
                    if alone and time.monotonic() - alone > PATIENCE:
                        client.cancel(futures)
                        raise EngineLost("all workers of the Dask cluster are lost") from None
        except EngineLost:
            raise
        except KilledWorker:
            raise EngineLost("several workers that were given the same part are lost") from None
        except (FutureCancelledError, OSError):
            raise EngineLost("the Dask scheduler, or rows that only a lost worker had, are lost") from None
        except Exception as error:  # of the source: tasks of this module raise none
            if not self._read:
                raise
            raise EngineLost(f"rows of a lost worker could not be read again ({type(error).__name__})") from None


def _arguments(public):
    return public


def _make_state(state, number, own, question, public):
    return make_state(state, question, public, number, own)


def _answer_part(state, number, own, question, public):
    return answer_part(state, number, question, public, own)


def _summand(state, number, own, question, public):
    mark, value = answer_part(state, number, question, public, own)
    return Total((mark,), value)


def _total(sums):
    marks, values = zip(*sums, strict=True)
    return Total(reduce(add, marks), reduce(add_answers, values))


# ---- collections ---------------------------------------------------------------------------------------------------


def dask_backend(X: Any, y: Any = None, columns: list[str] | None = None, client: Any = None) -> DaskBackend:
    """Return the engine of a collection, as `dpfast.engines.dask`; of a DataFrame only `columns` are read."""
    from distributed import default_client

    try:
        client = client or default_client()
    except ValueError:
        raise ValueError(
            "a table of Dask needs a cluster: make a client first, distributed.Client() or Client('tcp://...')"
        ) from None
    if columns is not None and hasattr(X, "map_partitions"):
        there = {*X.columns}
        X = X[[name for name in columns if name in there]]  # missing columns are refused where the parts are read
    rows = _delay_parts(X)
    labels = [None] * len(rows) if y is None else _delay_parts(y)
    if len(labels) != len(rows):
        raise ValueError(f"y must be in the same parts as X, got {len(labels)} and {len(rows)} parts")
    futures = client.compute([*rows, *([] if y is None else labels)])  # in one graph, so that shared tasks run once
    rows, labels = futures[: len(rows)], labels if y is None else futures[len(rows) :]
    return DaskBackend(client, client.map(_pair, rows, labels, key="dpfast-pair", pure=False))


def _delay_parts(collection):
    """Return a delayed object for each part."""
    if isinstance(collection, list | tuple):
        if not all(hasattr(each, "dask") and hasattr(each, "key") for each in collection):
            raise ValueError("a list of tables must hold delayed ones only, as dask.delayed makes them")
        return list(collection)
    if hasattr(collection, "map_partitions"):
        return collection.to_delayed()
    if hasattr(collection, "to_delayed") and hasattr(collection, "chunks"):
        if collection.ndim == 2 and collection.numblocks[1] > 1:
            collection = collection.rechunk({1: -1})
        return collection.to_delayed().ravel().tolist()
    raise ValueError(
        f"X and y must be DataFrames, arrays or lists of delayed tables of Dask, got {type(collection).__name__}"
    )


def _pair(X, y):
    return X, y

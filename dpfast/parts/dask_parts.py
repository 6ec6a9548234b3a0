"""Parts on the workers of a Dask cluster.

A part is a future, and so is what a question answers: the scheduler knows how each came about, and computes again what
a lost worker held. Sums go up a tree on the workers; what comes here is one array of integers a question. A failure in
a part is a value that comes here too, and is raised here: workers log none, and their tasks bear no names but those of
what they do.
"""

import pickle
import time
from collections.abc import Callable, Sequence
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from dpfast.parts.blocks import one_thread

FAN = 16  # answers to a sum on a worker, and the most of them to the last one, which is made here
PATIENCE = 60.0  # seconds without a worker after which all are taken as lost
_TICK = 0.5  # seconds between two looks at the cluster


class ClusterLost(ConnectionError):
    """The scheduler, all workers, or the rows that they held are gone."""


class DaskParts:
    """Parts on workers; see `dpfast.parts.MemoryParts` for what they answer.

    Parameters
    ----------
    client : distributed.Client
    futures : list of distributed.Future
        In the order of the rows.

    Attributes
    ----------
    moved : int
        Bytes of the arrays that parts answered so far, each as long as what was asked for, whatever its rows.
    """

    only = None

    def __init__(self, client: Any, futures: Sequence[Any]):
        self._client, self._futures, self.moved = client, list(futures), 0

    def __len__(self) -> int:
        return len(self._futures)

    def map(self, make: Callable, *public: Any) -> "DaskParts":
        """The parts ``make(part, *public)``, each kept where it was made."""
        return DaskParts(self._client, self._ask("make", make, public))

    def each(self, question: Callable, *public: Any, own: Sequence | None = None) -> list:
        """``question(part, *public)`` of every part, in order: few numbers each; with `own`, as of `MemoryParts`."""
        answers = self._wait(self._ask("ask", question, public, own))
        for answer in answers:
            _raise(answer)
            self.moved += getattr(answer, "nbytes", 0)
        return answers

    def sum(self, question: Callable, *public: Any, own: Sequence | None = None) -> Any:
        """The sum over the parts of what `each` gives: integers, so the same for any parts and workers."""
        answers = self._ask("ask", question, public, own)
        while len(answers) > FAN:
            groups = [answers[k : k + FAN] for k in range(0, len(answers), FAN)]
            answers = self._client.map(_total, groups, key="dpfast-sum", pure=False)
        total = _total(self._wait(answers))
        _raise(total)
        self.moved += len(self) * getattr(total, "nbytes", 0)
        return total

    def pick(self, chosen: Sequence[int]) -> "DaskParts":
        """Some of the parts, by their numbers."""
        return DaskParts(self._client, [self._futures[k] for k in chosen])

    def _ask(self, verb, question, public, own=None):
        # one task holds what is public of a question: the parts fetch it from each other, and a lost one is made again
        told = self._client.submit(_told, public, key=f"dpfast-tell-{_fresh()}", pure=False)
        numbers = range(len(self._futures))
        own = [()] * len(numbers) if own is None else [(each,) for each in own]
        given = {"question": question, "told": told, "key": f"dpfast-{verb}", "pure": False}
        return self._client.map(_answer, self._futures, numbers, own, **given)

    def _wait(self, futures):
        """What the futures come to, while there is a cluster."""
        from distributed import KilledWorker, wait
        from distributed.client import FutureCancelledError

        client, alone = self._client, None
        try:
            while True:
                try:
                    wait(futures, timeout=_TICK)
                    return client.gather(futures)
                except TimeoutError:
                    if client.status != "running":
                        raise ClusterLost(_LOST.format("the connection to the Dask scheduler is")) from None
                    alone = None if client.nthreads() else alone or time.monotonic()
                    if alone and time.monotonic() - alone > PATIENCE:
                        client.cancel(futures)
                        raise ClusterLost(_LOST.format("all workers of the Dask cluster are")) from None
        except ClusterLost:
            raise
        except KilledWorker:
            raise ClusterLost(_LOST.format("several workers that were given the same part are")) from None
        except (FutureCancelledError, OSError):
            raise ClusterLost(_LOST.format("the Dask scheduler, or rows that only a lost worker had, are")) from None


_LOST = "{} lost; what was released until then is in the model, and paid for"


class Failure:
    """An exception of a part, on its way here.

    Parameters
    ----------
    part : int
    error : Exception
    """

    def __init__(self, part: int, error: Exception):
        self.part, self.error = part, error
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # anything may go wrong with an exception of another library
            self.error = ValueError(str(error))

    __array_ufunc__ = None  # or an array would add itself, entry by entry

    def __add__(self, other: Any) -> "Failure":
        return self

    __radd__ = __add__


def _raise(answer):
    if isinstance(answer, Failure):
        if hasattr(answer.error, "add_note"):
            answer.error.add_note(f"in part {answer.part}, counted from 0")
        raise answer.error


def _told(public):
    return public


def _answer(part, number, own, question, told):
    if isinstance(part, Failure):
        return part
    try:
        with one_thread():  # how many tasks there are at a time is the worker's to say
            return question(part, *own, *map(_aligned, told))
    except Exception as error:
        return Failure(number, error)


def _aligned(told):
    """An array that came in a message may begin anywhere in it; kernels want it at a multiple of its entries."""
    return np.require(told, None, "A") if isinstance(told, np.ndarray) else told


def _total(answers):
    return reduce(add, answers)


def _fresh():
    from uuid import uuid4

    return uuid4().hex


# ---- collections ---------------------------------------------------------------------------------------------------


def dask_parts(X: Any, y: Any, columns: list[str] | None = None, client: Any = None) -> DaskParts:
    """Parts of pairs of a table and its labels, of a collection of Dask.

    Parameters
    ----------
    X : dask.dataframe.DataFrame, dask.array.Array, or list of delayed tables
    y : None, or labels in the same parts
    columns : list of str, optional
        All that is read of a DataFrame.
    client : distributed.Client, optional
        The current one by default.

    Raises
    ------
    ValueError
        If there is no client, and for labels that are not in the parts of the rows.
    """
    from distributed import default_client

    try:
        client = client or default_client()
    except ValueError:
        raise ValueError(
            "a table of Dask needs a cluster: make a client first, distributed.Client() or Client('tcp://...')"
        ) from None
    if columns is not None and hasattr(X, "map_partitions"):
        there = {*X.columns}
        X = X[[name for name in columns if name in there]]  # what lacks is refused where the parts are read
    rows = _delayed(X)
    labels = [None] * len(rows) if y is None else _delayed(y)
    if len(labels) != len(rows):
        raise ValueError(f"y must be in the same parts as X, got {len(labels)} and {len(rows)} parts")
    made = client.compute([*rows, *([] if y is None else labels)])  # in one graph: what both need is made once
    rows, labels = made[: len(rows)], labels if y is None else made[len(rows) :]
    return DaskParts(client, client.map(_pair, rows, labels, key="dpfast-pair", pure=False))


def _delayed(collection):
    """A delayed object for each part."""
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

"""Whether the answer to each question of a learner is the sum of the answers for its rows alone.

Sums of integers over rows have a sensitivity that follows from one row. A mean, the largest count, or a product that
BLAS rounds differently where there are more rows, have not. So a fit is asked for its questions, and each is asked
again: of the table as a whole and of its rows one by one, also with other public arguments, at which rows are on the
boundary of what their scores decide.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpfast.base.run import Rows
from dpfast.kernels import reals
from dpfast.parts import MemoryParts

Fit = Callable[[Any], Any]
_CLOSELY = 2  # questions of each name that are asked with other arguments


def find_sum_that_is_none(fit: Fit, X: Any, y: np.ndarray, parts: int) -> str:
    """Return how a question's answer for a table differs from the sum over its rows; empty if none does.

    Parameters
    ----------
    fit : callable
        Fits the learner, with a seed, on arguments of `fit` as a tuple.
    X, y : ndarray
        A table with several rows.
    parts : int
        How many parts of consecutive rows are asked one by one; each row is one if there are as many.
    """
    answers: list[list] = []
    rows = np.array_split(np.arange(len(y)), parts)
    for source in ((X, y), (MemoryParts([(X[each], y[each]) for each in rows]),)):
        with _asking(X, answers):
            try:
                fit(source)
            except ValueError as error:
                if answers and "takes no table in parts" in str(error):
                    return ""
                raise
    whole, single = answers
    for (name, one), (_, other) in zip(whole, single, strict=False):
        if not _same(one, other):
            return f"{name} is {one!r:.60} for a table, and {other!r:.60} as the sum over its parts"
    return "" if len(whole) == len(single) else "the number of questions depends on the parts of a table"


@contextmanager
def _asking(X: np.ndarray, answers: list[list]) -> Iterator[None]:
    """Record the answers to the questions of a fit, also with other public arguments."""
    before, pairs = Rows.sum, []

    def sum_of(rows: Rows, question: Callable, *public: Any) -> np.ndarray:
        name = getattr(question, "__name__", "a question")
        answer = before(rows, question, *public)
        pairs.append((name, answer))
        times = [each for each, _ in pairs].count(name)
        for other in _others(X, public) if times <= _CLOSELY else ():
            try:
                pairs.append((f"{name} with other public arguments", before(rows, question, *other)))
            except Exception:
                pairs.append((name, None))  # type: ignore[arg-type]
        return answer

    Rows.sum = sum_of  # type: ignore[method-assign, assignment]
    try:
        yield
    finally:
        Rows.sum = before  # type: ignore[method-assign]
    answers.append(pairs)


def _others(X: np.ndarray, public: tuple) -> Iterator[tuple]:
    """Yield public arguments for which a row of a table is on a boundary, where a vector is one of them."""
    rows = np.asarray(X, np.float32).astype(np.float64)
    for k, w in enumerate(public):
        if not (isinstance(w, np.ndarray) and w.dtype.kind == "f" and w.shape == rows.shape[1:]):
            continue
        numbers = [j for j, t in enumerate(public) if isinstance(t, float | np.floating)]
        for row in np.unique(rows, axis=0):
            vector = w.astype(np.float64)
            at = reals.dot(row, vector)
            for j in numbers:
                for near in (np.nextafter(at, -np.inf), at, np.nextafter(at, np.inf)):
                    yield (*public[:j], type(public[j])(near), *public[j + 1 :])
            vector = vector - at / max(reals.dot(row, row), 1e-300) * row
            yield (*public[:k], vector.astype(w.dtype), *public[k + 1 :])


def _same(one: Any, other: Any) -> bool:
    return (one is None) == (other is None) and (one is None or np.array_equal(one, other))

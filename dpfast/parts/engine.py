"""Protocol of engines, which hold the parts of a table elsewhere and answer questions about them.

A round of a learner is a sum of integers over the parts. An engine is a `Backend`: it holds a state of each part,
computes new states from it, and answers questions about it. Everything else is implemented here, once: answers are
sorted by the number of their part, each part counts once even if it answers several times, and a part that is missing
or comes back with other rows is an error. The marks of all parts are known from the first pass over the rows on, before
anything is released, and every later answer is compared with them. Parts in memory answer at once, and need none of
this.
"""

import pickle
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from dpfast.parts.blocks import one_thread
from dpfast.parts.marks import mark_of

OTHER_ROWS = (
    "a part of the table was read again and has other rows than before: the source must give the same rows each time"
)
NOT_READ = "a part of the table is lost, and its rows could not be read again"


class EngineLost(ConnectionError):
    """An engine, or parts of a table that only it held, are lost; or a part came back with other rows."""

    def __str__(self) -> str:
        return f"{super().__str__()}; what was released until then is in the model, and paid for"


class Answer(NamedTuple):
    """The answer of a part.

    Attributes
    ----------
    fingerprint : bytes
        Digest of the rows that were read of the part that was asked, the same whenever they are read again; empty if
        they could not be read.
    value : object
        Integers, or a `Failure`.
    """

    fingerprint: bytes
    value: Any


@runtime_checkable
class Backend(Protocol):
    """An engine that holds the parts of a table.

    Parts are numbered from 0. The initial state of a part is a pair of a table that `fit` accepts, and labels or None.
    Functions passed to an engine are pure, picklable and defined at the top level of a module. An engine whose states
    were all made in one pass may have an attribute `marks`, the fingerprints of the parts in their order (empty where
    unknown); otherwise its parts are asked for them.
    """

    def size(self) -> int:
        """Return the number of parts, which is fixed.

        Returns
        -------
        int
        """
        ...

    def make(self, f: Callable, *public: Any, own: Sequence[Any] | None = None) -> "Backend":
        """Return the engine whose state of each part is ``make_state(state, f, public, number, own)``.

        The new state stays where the part is, and is recomputed from the initial state if it is lost. This engine is
        unchanged.

        Parameters
        ----------
        f : callable
        *public
            Public arguments.
        own : sequence, optional
            One argument per part.

        Returns
        -------
        Backend
        """
        ...

    def ask(self, f: Callable, public: Sequence[Any], own: Sequence[Any] | None) -> Iterable[tuple[int, Answer]]:
        """Yield the number and the answer of every part, in any order; a part may answer more than once.

        Parameters
        ----------
        f, public, own
            As in `make`.

        Yields
        ------
        tuple of int and Answer
            The number, and ``answer_part(state, number, f, public, own)``.
        """
        ...

    def close(self) -> None:
        """Free the states of this engine; it may be called more than once."""
        ...


class Failure:
    """An exception of a part, passed as a value: no engine logs it, and only the caller sees its text."""

    mark = b""  # of the part, if its rows were read

    def __init__(self, part: int | None, error: Exception):
        self.part, self.error = part, error
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # exceptions of other libraries may raise anything
            self.error = ValueError(str(error))

    __array_ufunc__ = None  # else an array would add itself to it, entry by entry

    def __add__(self, other: Any) -> "Failure":
        return self

    __radd__ = __add__


def add_answers(one: Any, other: Any) -> Any:
    """Return the sum of two answers, or the first `Failure` among them."""
    return other if isinstance(other, Failure) and not isinstance(one, Failure) else one + other


def make_state(state: Any, f: Callable, public: Sequence[Any], number: int | None = None, own: Any = None) -> Any:
    """Return a new state of a part, computed where it is: ``f(state, own[number], *public)``, or a `Failure`.

    The new state has the fingerprint of the one it is made of, which is hashed when the first one is made: it marks all
    that follows.

    Parameters
    ----------
    state, f, public, number, own
        As in `answer_part`.

    Returns
    -------
    object
    """
    mark, new = answer_part(state, number, f, public, own)
    with suppress(AttributeError):  # of a pair as the source gives it
        new.mark = mark
    return new


def answer_part(state: Any, number: int | None, f: Callable, public: Sequence[Any], own: Any = None) -> Answer:
    """Return the answer of a part, computed where it is: ``f(state, own[number], *public)``.

    Parameters
    ----------
    state : object
    number : int
        The number of the part.
    f : callable
    public : sequence
    own : sequence or mapping by numbers, optional
        One argument per part; without it, there is none.

    Returns
    -------
    Answer
    """
    if isinstance(state, Failure):
        is_loaded = state.part is not None or number is None
        return Answer(state.mark, state if is_loaded else Failure(number, state.error))
    mark = b""
    try:
        mark = mark_of(state)
        with one_thread(), np.errstate(all="ignore"):  # the engine decides how many parts are asked at a time
            mine = () if own is None or number is None else (own[number],)
            value = f(state, *mine, *map(_align, public))
        return Answer(mark, value)
    except Exception as error:
        return Answer(mark, Failure(number, error))


def raise_failure(value: Any) -> None:
    """Raise the exception that a `Failure` holds; do nothing for another value."""
    if isinstance(value, Failure):
        if hasattr(value.error, "add_note") and value.part is not None:
            value.error.add_note(f"in part {value.part}, counted from 0")
        raise value.error


class EngineParts:
    """Parts held by an engine.

    Learners use rows only through this class, and cannot tell where they are. A question is a function of a part and of
    public values. It changes nothing but the cache of a part (`Piece.memo`), so that a part that is lost and recomputed
    gives the same answers.

    Parameters
    ----------
    backend : Backend

    Attributes
    ----------
    moved : int
        Bytes of the arrays answered so far. Private: how often parts are asked may depend on the rows.
    """

    _backend: Any = None  # of parts elsewhere
    _picked_from: Any = None  # the parts from which these were selected: their states are freed together

    def __init__(self, backend: Backend):
        self._backend, self._chosen, self.moved = backend, list(range(backend.size())), 0
        marks = enumerate(getattr(backend, "marks", ()))
        self._marks = {number: mark for number, mark in marks if mark}  # shared by all that is made of these parts

    def __len__(self) -> int:
        return len(self._chosen)

    @property
    def only(self) -> Any:
        """Return the only part, if it is in memory, for code that needs all rows at once; otherwise None."""
        return None

    def map(self, make: Callable, *public: Any, own: Sequence | None = None) -> "EngineParts":
        """Return the parts ``make(part, *public)``, each stored where it was computed while it is referenced.

        Parameters
        ----------
        make : callable
        *public, own
            As in `each`.

        Returns
        -------
        EngineParts
        """
        backend = self._backend.make(make, *public, own=self._by_part_number(own))
        parts = EngineParts(backend)
        weakref.finalize(parts, backend.close).atexit = False
        for number, mark in parts._marks.items():
            self._check_mark(number, mark)
        parts._chosen, parts._marks = self._chosen, self._marks
        if not {*parts._chosen} <= {*parts._marks}:  # that was the first pass, and no rows but these may be counted
            parts.each(_nothing)
        return parts

    def each(self, question: Callable, *public: Any, own: Sequence | None = None) -> list:
        """Return ``question(part, *public)`` of every part, in order.

        Parameters
        ----------
        question : callable
            Returns few numbers.
        *public
            Arguments that are the same for every part.
        own : sequence, optional
            One argument per part: ``question(part, own[k], *public)``.

        Returns
        -------
        list
        """
        by_number: dict[int, Any] = {}
        for number, answer in self._backend.ask(question, public, self._by_part_number(own)):
            self._check_mark(number, answer.fingerprint)
            by_number.setdefault(number, answer.value)
        lacking = [number for number in self._chosen if number not in by_number]
        if lacking:
            raise EngineLost(f"{len(lacking)} parts of the table did not answer, part {lacking[0]} among them")
        answers = [by_number[number] for number in self._chosen]
        for answer in answers:
            raise_failure(answer)
            self.moved += getattr(answer, "nbytes", 0)
        return answers

    def sum(self, question: Callable, *public: Any, own: Sequence | None = None) -> Any:
        """Return the sum over the parts of the results of `each`, which are integers: the same for any parts.

        Parameters
        ----------
        question, *public, own
            As in `each`.

        Returns
        -------
        int or ndarray of int
        """
        if not hasattr(self._backend, "total"):
            return reduce(add, self.each(question, *public, own=own))
        marks, value = self._backend.total(question, public, self._by_part_number(own), self._chosen)
        for number, mark in zip(self._chosen, marks, strict=True):
            self._check_mark(number, mark)
        raise_failure(value)
        self.moved += len(self) * getattr(value, "nbytes", 0)
        return value

    def pick(self, chosen: Sequence[int]) -> "EngineParts":
        """Return some of the parts.

        Parameters
        ----------
        chosen : sequence of int
            The numbers of the parts.

        Returns
        -------
        EngineParts
        """
        parts = EngineParts(self._backend)
        parts._chosen, parts._picked_from, parts._marks = [self._chosen[k] for k in chosen], self, self._marks
        return parts

    def _by_part_number(self, own):
        """Return the arguments of the parts by the engine's part numbers."""
        if own is None:
            return None
        placed = [None] * self._backend.size()
        for number, each in zip(self._chosen, own, strict=True):
            placed[number] = each
        return placed

    def _check_mark(self, number, mark):
        """Refuse a part that was read again and differs from what was seen of it, by this or by earlier states."""
        if self._marks.get(number, mark) != mark:
            raise EngineLost(OTHER_ROWS if mark else NOT_READ)
        if mark:
            self._marks[number] = mark


class MemoryParts(EngineParts):
    """Parts in memory, or mapped from a file; an exception of a part is raised at once.

    Parameters
    ----------
    parts : sequence
        The parts in the order of the rows.
    """

    def __init__(self, parts: Sequence[Any]):
        self._parts, self.moved = list(parts), 0

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def only(self) -> Any:
        return self._parts[0] if len(self) == 1 else None

    def map(self, make: Callable, *public: Any, own: Sequence | None = None) -> "MemoryParts":
        return MemoryParts(self._answers(make, public, own))

    def each(self, question: Callable, *public: Any, own: Sequence | None = None) -> list:
        answers = self._answers(question, public, own)
        self.moved += sum(getattr(answer, "nbytes", 0) for answer in answers)
        return answers

    def pick(self, chosen: Sequence[int]) -> "MemoryParts":
        return MemoryParts([self._parts[k] for k in chosen])

    def _answers(self, f, public, own):
        if own is None:
            return [f(part, *public) for part in self._parts]
        return [f(part, each, *public) for part, each in zip(self._parts, own, strict=True)]


def _nothing(state):
    return 0


def _align(value):
    """Return an answer with aligned arrays, as kernels require; in a message an array may start at any byte."""
    if type(value) in (tuple, list):
        return type(value)(map(_align, value))
    return np.require(value, None, "A") if isinstance(value, np.ndarray) else value

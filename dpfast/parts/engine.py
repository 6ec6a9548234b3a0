"""The protocol of engines: who holds parts of a table elsewhere, and how they are asked.

A round of a learner is a sum of integers over the parts. An engine is a `Backend`: it holds a state of each part, makes
a new state from it, and answers questions about it. All else is written here, once: answers are put in order by the
number of their part, each part counts once, however often it answers, and a part that is missing or comes back as
another one is an error.
"""

import pickle
import weakref
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from operator import add
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from dpfast.parts.blocks import one_thread


class EngineLost(ConnectionError):
    """An engine, or parts of a table that only it had, are gone; or a part came back as another one."""


class Answer(NamedTuple):
    """What a part answers.

    Attributes
    ----------
    fingerprint : bytes
        Of the state that was asked: the same whenever the part is made again.
    value : object
        Integers, or a `Failure`.
    """

    fingerprint: bytes
    value: Any


@runtime_checkable
class Backend(Protocol):
    """An engine that holds the parts of a table.

    Parts have numbers from 0 on. In the beginning the state of a part is a pair: a table that `fit` takes, and labels
    or None. Functions that an engine is given are pure, picklable and at the top of a module.
    """

    def size(self) -> int:
        """Return the number of parts, which is fixed.

        Returns
        -------
        int
        """
        ...

    def make(self, f: Callable, *public: Any) -> "Backend":
        """Return the engine whose state of each part is ``made(state, f, public)``.

        The state stays where the part is, and is made again, from the beginning, if it is lost. This engine stays as
        it is.

        Parameters
        ----------
        f : callable
        *public
            Arguments that are public.

        Returns
        -------
        Backend
        """
        ...

    def ask(self, f: Callable, public: Sequence[Any], own: Sequence[Any] | None) -> Iterable[tuple[int, Answer]]:
        """Yield the number and the answer of every part, in any order; a part may answer more than once.

        Parameters
        ----------
        f : callable
        public : sequence
            Arguments that are public.
        own : sequence or None
            An argument for each part, if there is one.

        Yields
        ------
        tuple of int and Answer
            The number, and ``answered(state, number, f, public, own)``.
        """
        ...

    def close(self) -> None:
        """Free the states of this engine; may be called more than once."""
        ...


class Failure:
    """An exception of a part, which travels as a value: no engine logs it, and its text stays with who asked.

    Parameters
    ----------
    part : int or None
    error : Exception
    """

    def __init__(self, part: int | None, error: Exception):
        self.part, self.error = part, error
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # anything may go wrong with an exception of another library
            self.error = ValueError(str(error))

    __array_ufunc__ = None  # or an array would add itself, entry by entry

    def __add__(self, other: Any) -> "Failure":
        return self

    __radd__ = __add__


def made(state: Any, f: Callable, public: Sequence[Any]) -> Any:
    """Make a new state of a part where it is, or a `Failure`.

    Parameters
    ----------
    state : object
    f : callable
    public : sequence

    Returns
    -------
    object
    """
    return answered(state, None, f, public).value


def answered(state: Any, number: int | None, f: Callable, public: Sequence[Any], own: Any = None) -> Answer:
    """Ask a part where it is: ``f(state, own[number], *public)``.

    Parameters
    ----------
    state : object
    number : int
        Of the part.
    f : callable
    public : sequence
    own : sequence or mapping by numbers, optional
        An argument for each part; without it, there is none.

    Returns
    -------
    Answer
    """
    if isinstance(state, Failure):
        return Answer(b"", state if state.part is not None or number is None else Failure(number, state.error))
    try:
        with one_thread():  # how many parts are asked at a time is the engine's to say
            mine = () if own is None or number is None else (own[number],)
            value = f(state, *mine, *map(_aligned, public))
        return Answer(state.fingerprint() if hasattr(state, "fingerprint") else b"", value)
    except Exception as error:
        return Answer(b"", Failure(number, error))


def raise_failure(value: Any) -> None:
    """Raise the exception that a `Failure` holds; do nothing for another value.

    Parameters
    ----------
    value : object
    """
    if isinstance(value, Failure):
        if hasattr(value.error, "add_note") and value.part is not None:
            value.error.add_note(f"in part {value.part}, counted from 0")
        raise value.error


class EngineParts:
    """Parts that an engine holds; see `dpfast.parts.MemoryParts` for what they answer.

    Parameters
    ----------
    backend : Backend

    Attributes
    ----------
    moved : int
        Bytes of the arrays that parts answered so far, each as long as what was asked for, whatever its rows.
    """

    only = None
    _picked_from: Any = None  # the parts that this one holds some of: its states are freed with it

    def __init__(self, backend: Backend):
        self._backend, self._chosen, self.moved = backend, list(range(backend.size())), 0
        self._seen: dict[int | None, bytes] = {}

    def __len__(self) -> int:
        return len(self._chosen)

    def map(self, make: Callable, *public: Any) -> "EngineParts":
        """Return the parts ``make(part, *public)``, each kept where it was made until nobody refers to them."""
        backend = self._backend.make(make, *public)
        parts = EngineParts(backend)
        parts._chosen = self._chosen
        weakref.finalize(parts, backend.close).atexit = False
        return parts

    def each(self, question: Callable, *public: Any, own: Sequence | None = None) -> list:
        """Return ``question(part, *public)`` of every part, in order; with `own`, as `MemoryParts.each` does."""
        found: dict[int, Any] = {}
        for number, answer in self._backend.ask(question, public, self._placed(own)):
            if not isinstance(answer.value, Failure):
                self._same(number, answer.fingerprint)
            found.setdefault(number, answer.value)
        lacking = [number for number in self._chosen if number not in found]
        if lacking:
            raise EngineLost(f"{len(lacking)} parts of the table did not answer, part {lacking[0]} among them; {_PAID}")
        answers = [found[number] for number in self._chosen]
        for answer in answers:
            raise_failure(answer)
            self.moved += getattr(answer, "nbytes", 0)
        return answers

    def sum(self, question: Callable, *public: Any, own: Sequence | None = None) -> Any:
        """Return the sum over the parts of what `each` gives: integers, so the same for any parts and engines."""
        if not hasattr(self._backend, "total"):
            return reduce(add, self.each(question, *public, own=own))
        answer = self._backend.total(question, public, self._placed(own), self._chosen)
        raise_failure(answer.value)
        self._same(None, answer.fingerprint)
        self.moved += len(self) * getattr(answer.value, "nbytes", 0)
        return answer.value

    def pick(self, chosen: Sequence[int]) -> "EngineParts":
        """Return some of the parts, by their numbers."""
        parts = EngineParts(self._backend)
        parts._chosen, parts._picked_from = [self._chosen[k] for k in chosen], self
        return parts

    def _placed(self, own):
        """The arguments of the parts, by the numbers of the engine."""
        if own is None:
            return None
        placed = [None] * self._backend.size()
        for number, each in zip(self._chosen, own, strict=True):
            placed[number] = each
        return placed

    def _same(self, number, fingerprint):
        if self._seen.setdefault(number, fingerprint) != fingerprint:
            raise EngineLost(
                "a part of the table was read again and has other rows than before: the source must give the same "
                f"rows each time; {_PAID}"
            )


_PAID = "what was released until then is in the model, and paid for"


def _aligned(told):
    """An array that came in a message may begin anywhere in it; kernels want it at a multiple of its entries."""
    if type(told) is tuple:
        return tuple(map(_aligned, told))
    return np.require(told, None, "A") if isinstance(told, np.ndarray) else told

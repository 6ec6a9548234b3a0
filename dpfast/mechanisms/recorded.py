"""The point that every draw from private numbers passes, so that `dpfast.audit.replay` can record it.

A mechanism states what it is asked, exactly, and how far noise lets that move; without a recorder nothing of it is
computed.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from dpfast.accounting import Cost

METRICS = ("euclidean", "absolute", "range", "largest")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, eq=False)
class Claim:
    """A theorem about several questions together, for a mechanism whose cost is not that of each question added up.

    Parameters
    ----------
    most : float
        The theorem holds if no question costs more than this, in the units of `Question`.
    cost : tuple of Cost
        Of all the questions together, if any of them moves.
    """

    most: float
    cost: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class Question:
    """One exact question about private rows, and how much noise its answer gets.

    Parameters
    ----------
    mechanism : str
        The name of the mechanism.
    value : ndarray of int, or mapping from public names to int
        The exact answer: private. What a mapping does not name is 0.
    metric : {"euclidean", "absolute", "range", "largest"}
        What noise hides of a change of the value: its Euclidean norm (Gaussian noise), each entry by itself (Laplace
        noise), the largest minus the smallest entry (draws by scores), or the largest absolute entry (tests).
    rate : real
        What a change by 1, in the metric, costs: mu of Gaussian DP, else epsilon.
    draws : int
        How many draws the answer holds.
    mirrored : bool
        Whether the negated scores are drawn from as well.
    delta : float
        What the claim of the mechanism has of delta, beside what the movement costs.
    claim : Claim, optional
        The theorem that the question is covered by, where there is one for several questions.
    """

    mechanism: str
    value: Any
    metric: str
    rate: Any
    draws: int = 1
    mirrored: bool = False
    delta: float = 0.0
    claim: Claim | None = None

    def kept(self) -> "Question":
        """The same question with a copy of its value, which the learner may change later."""
        value = dict(self.value) if isinstance(self.value, Mapping) else np.array(self.value)
        return replace(self, value=value)

    def form(self) -> tuple[Any, ...]:
        """All but the value: what neighbours must have in common."""
        value = self.value
        shape = () if isinstance(value, Mapping) else (value.dtype.str, value.shape)
        most = None if self.claim is None else (self.claim.most, self.claim.cost)
        return self.mechanism, *shape, self.metric, self.rate, self.draws, self.mirrored, self.delta, most

    def costs(self, other: "Question") -> list[Cost]:
        """What it costs to hide the difference from the value of another question of the same form."""
        change = _change(self.value, other.value)
        if not change.size or not change.any():
            return []
        if self.metric == "absolute":
            sizes = np.abs(change[change != 0])
        elif self.metric == "euclidean":
            sizes = np.sqrt([np.square(change).sum()])
        elif self.metric == "largest" or self.mirrored:
            sizes = np.abs(change).max(keepdims=True) * (1 + self.mirrored)
        else:
            sizes = np.array([change.max() - change.min()])
        kind = {"euclidean": "gaussian", "range": "range"}.get(self.metric, "pure")
        return [Cost(kind, abs(size * float(self.rate)), self.draws) for size in sizes.tolist() if size]


class Recorder(Protocol):
    """What answers the questions of a fit in the place of its mechanisms."""

    def answer(self, question: Question, draw: Callable[[], Any], rng: np.random.Generator) -> Any:
        """The answer to a question; `draw` draws it."""


def asked(question: Callable[[], Question], draw: Callable[[], _Answer], rng: np.random.Generator) -> _Answer:
    """The answer that `draw` draws by `rng`, or that a recorder gives.

    Parameters
    ----------
    question : callable
        Gives the `Question`; it is called only if there is a recorder.
    draw : callable
        Draws the answer, all of it by `rng`.
    rng : numpy.random.Generator
    """
    recorder = _recorder.get()
    return draw() if recorder is None else recorder.answer(question(), draw, rng)


def recorded() -> bool:
    """Whether there is a recorder: for short cuts whose draws are not the ones that a proof is about."""
    return _recorder.get() is not None


@contextmanager
def recording(recorder: Recorder | None) -> Iterator[None]:
    """A block whose questions a recorder answers; None answers them by drawing."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def _change(one, other):
    """The difference of two values, as float64."""
    if isinstance(one, Mapping):
        return np.array([one.get(name, 0) - other.get(name, 0) for name in {*one, *other}], np.float64)
    return (one.astype(np.int64) - other.astype(np.int64)).astype(np.float64)

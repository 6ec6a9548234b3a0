"""Hook for every draw from private numbers, so that `dpfast.audit.replay` can record it.

A mechanism states its exact question, and how much the noise allows the answer to change; without a recorder none of
this is computed.
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
    """A theorem about several questions together, for a mechanism whose cost is not the sum over its questions.

    Parameters
    ----------
    most : float
        The theorem holds if no question costs more than this, in the units of `Question`.
    cost : tuple of Cost
        The cost of all questions together, if any of their answers changes.
    """

    most: float
    cost: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class Question:
    """One exact question about private rows, and the amount of noise of its answer.

    Parameters
    ----------
    mechanism : str
        The name of the mechanism.
    value : ndarray of int, or mapping from public names to int
        The exact answer; private. Names missing in a mapping count as 0.
    metric : {"euclidean", "absolute", "range", "largest"}
        The measure of a change that the noise hides: the Euclidean norm (Gaussian noise), each entry separately
        (Laplace noise), the largest minus the smallest entry (draws by scores), or the largest absolute entry (tests).
    rate : real
        The cost of a change by 1 in the metric: mu of Gaussian DP, else epsilon.
    draws : int
        The number of draws in the answer.
    mirrored : bool
        Whether the negated scores are drawn from as well.
    delta : float
        The part of the mechanism's delta that is independent of the change.
    claim : Claim, optional
        The theorem that covers the question, if there is one for several questions.
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
        """Return the same question with a copy of its value, which the learner may change later."""
        value = dict(self.value) if isinstance(self.value, Mapping) else np.array(self.value)
        return replace(self, value=value)

    def form(self) -> tuple[Any, ...]:
        """Return everything but the value: what neighbours must have in common."""
        value = self.value
        shape = () if isinstance(value, Mapping) else (value.dtype.str, value.shape)
        most = None if self.claim is None else (self.claim.most, self.claim.cost)
        return self.mechanism, *shape, self.metric, self.rate, self.draws, self.mirrored, self.delta, most

    def costs(self, other: "Question") -> list[Cost]:
        """Return the cost of hiding the difference from the value of another question of the same form."""
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
    """Answers the questions of a fit instead of its mechanisms."""

    def answer(self, question: Question, draw: Callable[[], Any], rng: np.random.Generator) -> Any:
        """Return the answer to a question; `draw` draws it."""


def asked(question: Callable[[], Question], draw: Callable[[], _Answer], rng: np.random.Generator) -> _Answer:
    """Return the answer that `draw` draws from `rng`, or that a recorder gives.

    Parameters
    ----------
    question : callable
        Returns the `Question`; it is called only if there is a recorder.
    draw : callable
        Draws the whole answer from `rng`.
    rng : numpy.random.Generator
    """
    recorder = _recorder.get()
    return draw() if recorder is None else recorder.answer(question(), draw, rng)


def recorded() -> bool:
    """Return whether there is a recorder; shortcuts whose draws differ from those of the proof are then disabled."""
    return _recorder.get() is not None


@contextmanager
def recording(recorder: Recorder | None) -> Iterator[None]:
    """Let a recorder answer the questions of the block; None draws the answers."""
    token = _recorder.set(recorder)
    try:
        yield
    finally:
        _recorder.reset(token)


_recorder: ContextVar[Recorder | None] = ContextVar("recorder", default=None)


def _change(one, other):
    """Return the difference of two values as float64."""
    if isinstance(one, Mapping):
        return np.array([one.get(name, 0) - other.get(name, 0) for name in {*one, *other}], np.float64)
    return (one.astype(np.int64) - other.astype(np.int64)).astype(np.float64)

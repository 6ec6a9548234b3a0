"""Draws from private state: access by one user at a time, a hook that records every draw, and noise on integers.

A mechanism states its exact question, and how much the noise allows the answer to change; without a recorder, such as
that of `dpfast.audit.replay`, none of this is computed.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from dpfast import random
from dpfast.accounting import Cost
from dpfast.kernels import noise

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, eq=False)
class Claim:
    """A theorem about several questions together, for a mechanism whose cost is not the sum over its questions.

    It holds if no question costs more than `most`, in the units of `Question`; `cost` is then that of all questions
    together, if any of their answers changes.
    """

    most: float
    cost: tuple[Cost, ...] = ()


@dataclass(frozen=True)
class Question:
    """One exact question about private rows, and the amount of noise of its answer.

    `value` is the exact, private answer: integers, or a mapping from public names to them, where missing names count as
    0. `metric` measures the change that the noise hides: the Euclidean norm (Gaussian noise), each entry separately
    ("absolute", Laplace noise), the largest minus the smallest entry ("range", draws by scores), or the largest
    absolute entry ("largest", tests). `rate` is the cost of a change by 1 in the metric: mu of Gaussian DP, else
    epsilon. The answer has `draws` draws, of the negated scores too if `mirrored`. `delta` is the part of the
    mechanism's delta that is independent of the change, and `claim` the theorem that covers several questions, if there
    is one. `used`, if given, maps a value and an answer to the entries of the value on which this answer depends: tests
    that end with the first positive one do not look at later counts.
    """

    mechanism: str
    value: Any
    metric: str
    rate: Any
    draws: int = 1
    mirrored: bool = False
    delta: float = 0.0
    claim: Claim | None = None
    used: Callable[[Any, Any], Any] | None = None

    def with_own_copy(self) -> "Question":
        """Return the same question with a copy of its value, which the learner may change later."""
        value = dict(self.value) if isinstance(self.value, Mapping) else np.array(self.value)
        return replace(self, value=value)

    def form(self) -> tuple[Any, ...]:
        """Return everything but the value: what neighbours must have in common."""
        value = self.value
        shape = () if isinstance(value, Mapping) else (value.dtype.str, value.shape)
        most = None if self.claim is None else (self.claim.most, self.claim.cost)
        return self.mechanism, *shape, self.metric, self.rate, self.draws, self.mirrored, self.delta, most

    def costs(self, other: "Question", answer: Any = None) -> list[Cost]:
        """Return the cost of hiding the difference from the value of another question of the same form and answer."""
        values = (each.value if self.used is None else self.used(each.value, answer) for each in (self, other))
        change = _change(*values)
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
    """Answers the questions of a fit instead of its mechanisms.

    It may have the methods `ranks`, see `draw_places`, and `plan`, see `announce`.
    """

    def answer(self, question: Question, draw: Callable[[], Any], rng: np.random.Generator) -> Any:
        """Return the answer to a question; `draw` draws it."""


def ask(question: Callable[[], Question], draw: Callable[[], _Answer], rng: np.random.Generator) -> _Answer:
    """Return the whole answer that `draw` draws from `rng`, or that a recorder gives, which is told the `question`."""
    recorder = _recorder.get()
    return draw() if recorder is None else recorder.answer(question(), draw, rng)


def has_recorder() -> bool:
    """Return whether there is a recorder; shortcuts whose draws differ from those of the proof are then disabled."""
    return _recorder.get() is not None


def announce(name: str, most: Callable[[], float]) -> None:
    """Tell a recorder by its method ``plan(name, most)`` which release of a learner's plan the next question is of.

    The number `most` is what it may cost by the plan, as the sum of the sizes of `Question.costs`.
    """
    plan = getattr(_recorder.get(), "plan", None)
    if plan is not None:
        plan(name, most())


def draw_places(names: Sequence[int], places: int, rng: np.random.Generator) -> np.ndarray:
    """Return a random place in range(places) for each of the first `places` names, all different.

    Whatever places some names have, they have with the same probability if a name is taken out or added. So a recorder
    may tell by its method ``ranks(names, places)`` which place of a random order each name gets, such that it gets that
    of an earlier fit.
    """
    order = rng.permutation(places)
    ranks = getattr(_recorder.get(), "ranks", None)
    return order[: len(names)] if ranks is None else order[ranks(names, places)]


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


def read_only(name: str) -> Any:
    """Return a read-only property for an attribute, so that callers cannot edit noise or counts."""
    return property(attrgetter(name))


class ExclusiveAccess:
    """Give access to private state to one user at a time; errors name it as `what`, such as "a stream".

    Otherwise two threads would each see noise meant for one of them, and a fork would draw from a copy of the state
    what was paid for once.
    """

    def __init__(self, what: str):
        self._what, self._process, self._lock = what, os.getpid(), threading.Lock()

    def hold(self) -> Self:
        """Give the caller exclusive access to the state within the block of a `with`.

        A RuntimeError refuses other processes, and use by another thread or an enclosing call at the same time.
        """
        return self

    def __enter__(self) -> None:
        self.check_process()
        if not self._lock.acquire(blocking=False):
            raise RuntimeError(f"{self._what} is in use: one call at a time, in the order of its rows")

    def __exit__(self, *raised: object) -> None:
        self._lock.release()

    def check_process(self) -> None:
        """Refuse any process other than the one that created the state."""
        if os.getpid() != self._process:
            raise RuntimeError(
                f"{self._what} goes on only in the process that began it (pid {self._process}), got pid {os.getpid()}: "
                "a fork that drew from a copy would spend the budget again"
            )


def discrete_gaussian(
    values: ArrayLike, sigma: float | Fraction, *, rng: int | np.random.Generator | None = None
) -> Any:
    """Return values plus independent integer noise, P(x) exactly proportional to exp(-x**2 / (2 * sigma**2)).

    **Privacy.** If neighbours of the relation in use change the values by at most s in Euclidean norm, the release is
    ``s**2 / (2 * sigma**2)``-zCDP for that relation (Canonne, Kamath, Steinke), and releases add up.
    `dpfast.accounting.discrete_gaussian_delta` gives the claim in (epsilon, delta), which for large sigma is that of
    continuous Gaussian noise; `dpfast.accounting.discrete_gaussian_sigma` is its inverse. Input and output are
    integers, so floating point leaks nothing. Round real values to a grid, and measure s and sigma in its steps.

    Parameters
    ----------
    values : int or array_like of int
        Any shape. Sums are modulo 2**64, which is post-processing.
    sigma : Fraction, int or float
        Positive, at most 2**52; a float is taken exactly.
    rng : None, int or numpy.random.Generator

    Returns
    -------
    int, or ndarray of int64 with the shape of `values`

    References
    ----------
    C. Canonne, G. Kamath, T. Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020.

    Examples
    --------
    >>> type(discrete_gaussian(17, 2))
    <class 'int'>
    """
    return _add_noise(
        "values",
        values,
        rng,
        lambda exact: Question("discrete_gaussian", exact, "euclidean", 1 / sigma),
        lambda size, rng: noise.discrete_gaussian(sigma, size, rng),
    )


def discrete_laplace(
    counts: ArrayLike, scale: float | Fraction, *, rng: int | np.random.Generator | None = None
) -> Any:
    """Return counts plus independent integer noise, P(x) exactly proportional to exp(-abs(x) / scale).

    **Privacy.** If neighbours of the relation in use change the counts by at most s in total (the sum of absolute
    changes, an integer), the release is ``s / scale``-DP for that relation: the ratio of probabilities of any outcome
    is at most exp(s / scale), except for outcomes of probability below e**-1000, where the noise is cut off. Input and
    output are integers, so floating point leaks nothing.

    Parameters
    ----------
    counts, rng
        As the values and the generator of `discrete_gaussian`.
    scale : Fraction, int or float
        Positive, at most 2**52; a float is taken exactly. For epsilon and sensitivity s it is s / epsilon.

    Returns
    -------
    int, or ndarray of int64 with the shape of `counts`

    References
    ----------
    A. Ghosh, T. Roughgarden, M. Sundararajan, Universally Utility-Maximizing Privacy Mechanisms, STOC 2009.
    C. Canonne, G. Kamath, T. Steinke, The Discrete Gaussian for Differential Privacy, NeurIPS 2020, Algorithm 2.

    Examples
    --------
    >>> type(discrete_laplace(17, 2))
    <class 'int'>
    """
    return _add_noise(
        "counts",
        counts,
        rng,
        lambda exact: Question("discrete_laplace", exact, "absolute", 1 / scale),
        lambda size, rng: noise.discrete_laplace(scale, size, rng),
    )


def _add_noise(name, values, rng, question, draw):
    """Return integers plus as many draws of noise: an int for an int, else ndarray of int64."""
    values = np.asarray(values)
    if values.dtype.kind not in "iub":
        raise ValueError(f"{name} must be integers, got {values.dtype}")
    exact, rng = values.astype(np.int64, copy=False), random.generator(rng)
    noisy = ask(lambda: question(exact), lambda: exact + draw(exact.size, rng).reshape(exact.shape), rng)
    return int(noisy) if values.ndim == 0 else noisy

"""What a learner may do with rows: ask for sums over them, and release these with the noise of its plan."""

import math
import os
import threading
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast.accounting.numbers import is_integer, is_real
from dpfast.base import fitting
from dpfast.base.clipping import clipped
from dpfast.base.model import Model
from dpfast.base.plan import ExponentialDraw, GaussianSum, LaplaceSum, Plan, Proved, Solved, Task
from dpfast.mechanisms import discrete_gaussian, discrete_laplace, exponential
from dpfast.mechanisms.draws import announce


class Rows:
    """The rows of a fit, wherever they are: a learner asks for sums of integers over them, and sees no row itself.

    Attributes
    ----------
    n_columns : int
        The number of columns in the form that the learner reads.
    n_classes : int
    sizes : tuple of int or None
        The number of codes of each column, of rows of codes.
    names : tuple of str or None
        The names of the columns, if they have some.
    reach : int or None
        For `UnitRows`, the largest norm of a row in steps of its grid.
    n : int or None
        The number of rows, if it is public.
    task : Task
        The public facts of the fit, after the discovery.
    parts : dpfast.parts.EngineParts
        The parts of the rows, for questions that keep a state.
    form : table
        The form of a row of zeros.
    classes : ndarray, shape (n_classes,)
    n_features : int
        The number of columns before the form of the learner.
    class_sizes : ndarray of float64, shape (n_classes,), or None
        Noisy numbers of rows of the classes, if a discovery released them.
    prepared : object
        What `PrivateClassifier.prepare` returned before the charge.
    """

    prepared: Any = None

    def __init__(
        self, parts: Any, form: Any, task: Task, classes: np.ndarray, n_features: int, class_sizes: np.ndarray | None
    ) -> None:
        self.parts, self.form, self.task, self.classes = parts, form, task, classes
        self.n_features, self.class_sizes = n_features, class_sizes
        self.n_columns, self.n_classes, self.n = task.n_columns, task.n_classes, task.n_rows
        self.sizes, self.reach = task.sizes, task.reach
        names = getattr(form, "feature_names", None)
        self.names = None if names is None else tuple(map(str, names))

    def sum(self, question: Callable, *public: Any) -> np.ndarray:
        """Return the sum of the answers of all parts to a question: exact and private.

        Parameters
        ----------
        question : callable
            ``question(piece, *public)`` returns an array of integers whose shape follows from public facts. They are
            added up in 64 bits, whatever their type.
            `piece.rows` are rows in the form that the learner reads, and `piece.labels` the number of the class of
            each. It is a function of a module, so that other processes can import it, and changes nothing.
        *public
            Released or public values.

        Returns
        -------
        ndarray of int64
        """
        return self.parts.sum(_answered, question, *public)

    def clipped_sum(self, gradient: Callable, norm: float, *public: Any) -> np.ndarray:
        """Return the sum of one vector for each row, such as its gradient, clipped to a norm: exact and private.

        The sum is in steps of ``norm / CLIP_STEPS``, where `dpfast.base.CLIP_STEPS` is 2**20: one row adds at most
        `CLIP_STEPS` to it in Euclidean norm, whatever the gradient. So its release is planned by
        ``GaussianSum(task.changed_rows * CLIP_STEPS, size=...)``, and multiplied by ``norm / CLIP_STEPS`` it is a sum
        of gradients.

        Parameters
        ----------
        gradient : callable
            ``gradient(piece, *public)`` returns an array of floats with one entry for each row of the piece, of any
            shape: (n, d), say. The entry of a row must follow from that row alone. Otherwise as a question of `sum`.
        norm : float, > 0
            The entry of a row that is longer is scaled to this Euclidean norm. One that is not finite counts as zeros.
        *public
            Released or public values.

        Returns
        -------
        ndarray of int64
            With the shape of the entry of one row.
        """
        if not (is_real(norm) and 0 < norm < math.inf):
            raise ValueError(f"norm must be a finite number > 0, got {norm!r}")
        return self.parts.sum(_clipped, gradient, float(norm), *public)


class Run:
    """A fit under way: the only source of noise, of draws and of rounds.

    Every release is one that the plan names. Its noise is what the plan's `solve` gives, its exact value is a question
    that `dpfast.audit.replay` records, and the claim counts it. It is taken from the plan before it is drawn: if it
    fails, because a sampler raises an error, say, it is not made again. Threads may share a run; a fork of it cannot
    release anything, and it is not copied.

    Parameters
    ----------
    paid : object
        The fit that was charged. `PrivateClassifier.fit` makes a run; a learner only uses it.
    plan : Plan
    solved : Solved
        What the plan's `solve` gives.
    progress : callable, optional
        Shows a progress bar for rounds.
    made : mapping from str to int, optional
        How many releases an earlier process made, if this one continues its stream.

    Attributes
    ----------
    model : Model or None
        The model that is published if the fit is interrupted, with the releases until then. A learner that goes on
        after a release sets it, so that nothing is lost that was paid for.
    """

    def __init__(
        self,
        paid: fitting.Fit,
        plan: Plan,
        solved: Solved,
        progress: Callable | None = None,
        made: Mapping[str, int] = MappingProxyType({}),
    ) -> None:
        self._fit, self._plan, self._progress = paid, dict(plan.items()), progress or _without_progress
        self._noise, self._steps = solved.noise, solved.steps
        self._used, self._shows = dict.fromkeys(plan, 0) | dict(made), False
        self._taking, self._process = threading.Lock(), os.getpid()

    def __reduce__(self):
        raise TypeError("a run is not copied or pickled: its copy would release again what was paid for once")

    @property
    def model(self) -> Model | None:
        return self._fit.released[0]() if self._fit.released else None

    @model.setter
    def model(self, model: Model) -> None:
        if not isinstance(model, Model):
            raise TypeError(f"a learner must return a dpfast.base.Model, got {type(model).__name__}")
        self._fit.released = [lambda: model]
        self._fit.used.update(self._used)

    def show(self, model: Callable[[], Model]) -> None:
        """Let a function return the model that is published if the fit is interrupted, after any later release.

        It is for learners that add releases to a state, from which a model takes time to compute.

        Parameters
        ----------
        model : callable
            It has no arguments, and returns a model of what was released until then; if nothing was, too.
        """
        self._fit.released, self._shows = [model], True
        self._fit.used.update(self._used)

    def note(self, sentence: str) -> None:
        """Add a sentence to `notes_`, about what the fit decided.

        Parameters
        ----------
        sentence : str
            It follows from released and public facts.
        """
        self._fit.notes.append(sentence)

    def count(self, rows: float, deviation: float) -> None:
        """Take over a noisy number of the rows with a label, as a release gave it.

        Where the number of rows is private, `notes_` say by it which share of the rows has labels that were not found.

        Parameters
        ----------
        rows : float
        deviation : float
            The standard deviation of its noise.
        """
        if self._fit.counted is None or deviation < self._fit.counted[1]:
            self._fit.counted = float(rows), float(deviation)

    def release(self, name: str, exact: ArrayLike, times: int = 1) -> Any:
        """Return an exact sum with the noise that the plan has for this release.

        Parameters
        ----------
        name : str
            The name of a `GaussianSum` or `LaplaceSum` of the plan, or of a `Proved` one.
        exact : int or array_like of int
            At most as many entries as the plan says.
        times : int, default=1
            The number of releases that `exact` has the entries of; the noise of all is drawn at once.

        Returns
        -------
        int or ndarray of int64

        Raises
        ------
        RuntimeError
            If the plan has no such release, or all of them were made, or it has more entries than planned; in a process
            other than that of the fit.
        """
        kinds = {GaussianSum: "gaussian", LaplaceSum: "laplace"}
        sums = _wide(exact)
        mechanism, noise = self._next(name, -(-sums.size // max(1, times)), kinds, "release", times)
        if mechanism == "laplace":
            return self._release(name, discrete_laplace(sums, noise, rng=self._fit.rng))
        if (steps := self._steps[name]) == 1:
            return self._release(name, discrete_gaussian(sums, float(noise), rng=self._fit.rng))
        fine = discrete_gaussian(sums * steps, float(noise * steps), rng=self._fit.rng)
        return self._release(name, (fine + steps // 2) // steps)

    def select(self, name: str, scores: ArrayLike) -> int:
        """Return the number of a candidate, drawn with probability proportional to exp(exponent * score).

        Parameters
        ----------
        name : str
            The name of an `ExponentialDraw` of the plan.
        scores : array_like of int, shape (n_candidates,)

        Returns
        -------
        int

        Raises
        ------
        RuntimeError
            As for `release`.
        """
        _, exponent = self._next(name, np.size(scores), {ExponentialDraw: "exponential"}, "select")
        return self._release(name, int(exponential(scores, exponent, rng=self._fit.rng)))

    def draw(self, name: str, size: int, sample: Callable[[Any, np.random.Generator], Any], times: int = 1) -> Any:
        """Return what a sampler draws, for candidates too many to have a score each, and for mechanisms of others.

        Parameters
        ----------
        name : str
            The name of an `ExponentialDraw` of the plan, or of a `Proved` release of any mechanism.
        size : int
            The number of candidates, or of entries.
        sample : callable
            ``sample(noise, rng)`` draws by `dpfast.mechanisms.draws.ask`, so that a replay has its question; the
            noise is that of the plan, such as the exponent.
        times : int, default=1
            The number of releases that the sampler makes.

        Returns
        -------
        object
        """
        kinds = {ExponentialDraw: "exponential", Proved: "proved"}
        _, noise = self._next(name, size, kinds, "draw", times)
        return self._release(name, sample(noise, self._fit.rng))

    def draws(
        self, name: str, size: int, sample: Callable[[Any, np.random.Generator], Iterator], *, progress: bool = False
    ) -> Iterator:
        """Yield what a sampler draws one after another: each is a release, and the sampler may end before the plan.

        Parameters
        ----------
        name, size
            As for `draw`.
        sample : callable
            ``sample(noise, rng)`` returns an iterator; the noise is that of the plan, a tuple if it has several.
        progress : bool, default=False
            Whether there is a progress bar, if wanted.

        Yields
        ------
        object
        """
        self._planned(name, size, {ExponentialDraw: "exponential", Proved: "proved"}, "draws")
        samples: Any = self._draw_next(name, iter(sample(self._noise[name], self._fit.rng)))
        for each in self._progress(samples, name, self._plan[name].times) if progress else samples:
            yield self._release(name, each)

    def _draw_next(self, name, sampled):
        """Yield what a sampler draws as long as the plan has a release, each taken from it before it is drawn."""
        while True:
            with self._alone():
                if self._count_left(name) < 1:  # others may be made between two of these
                    return
                self._used[name] += 1
            try:
                each = next(sampled)
            except StopIteration:  # it has ended, and drew nothing
                with self._alone():
                    self._used[name] -= 1
                return
            yield each

    def rounds(self, name: str, each: int = 1) -> Iterator[int]:
        """Yield the numbers of the rounds that the plan has for this release, with a progress bar if wanted.

        Parameters
        ----------
        name : str
            The name of a release of the plan.
        each : int, default=1
            The number of releases that a round makes; the last round may make fewer.

        Yields
        ------
        int
        """
        if name not in self._plan:
            raise RuntimeError(f"the plan has no release {name!r}: it names {', '.join(self._plan)}")
        if (planned := self._plan[name].times) is None:
            raise RuntimeError(f"{name!r} is planned without a number of rounds")
        times = -(-planned // each)
        return iter(self._progress(range(times), name, times))

    def integers(self, below: int, size: int) -> np.ndarray:
        """Return random numbers that depend on no row and are not released, such as the teacher of each row.

        Parameters
        ----------
        below : int
        size : int

        Returns
        -------
        ndarray of int64, shape (size,)
            Integers in [0, below).
        """
        return self._fit.rng.integers(below, size=size)

    def random_bytes(self, n: int) -> bytes:
        """Return random bytes that depend on no row and are not released, such as a key.

        Parameters
        ----------
        n : int

        Returns
        -------
        bytes
        """
        return self._fit.rng.bytes(n)

    def permutation(self, n: int) -> np.ndarray:
        """Return a random order of the numbers below a public one.

        Parameters
        ----------
        n : int

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        return self._fit.rng.permutation(n)

    def key(self) -> int:
        """Return a random integer of 128 bits that depends on no row, such as the key of a public projection.

        Returns
        -------
        int
        """
        return int.from_bytes(self.random_bytes(16), "little")

    def scale(self, name: str) -> Any:
        """Return the noise of a release as the plan says: sigma, the scale or the exponent.

        Parameters
        ----------
        name : str

        Returns
        -------
        float or Fraction
        """
        return self._noise[name]

    def _next(self, name, size, kinds, verb, times=1):
        """Take the next releases from the plan, and return their mechanism in a word and their noise."""
        with self._alone():
            kind, noise = self._planned(name, size, kinds, verb, times), self._noise[name]
            announce(name, lambda: self._most_of(name, times))
            if isinstance(noise, tuple) and times > 1:
                raise RuntimeError(f"{name!r} has noise for each release, and {times} were to be made at once")
            noise = noise[self._used[name]] if isinstance(noise, tuple) else noise
            self._used[name] += times
        return kind, noise

    def _most_of(self, name, times):
        """Return what releases of this name, made at once, may cost by the plan."""
        charges = getattr(self._fit, "charges", None)  # an oracle and experts have none, and protect rows
        planned, rows = self._plan[name], getattr(charges, "rows_per_unit", None) or 1
        if isinstance(planned, GaussianSum):
            return math.sqrt(times) * float(planned.moves) * rows / float(self._noise[name])
        if isinstance(planned, LaplaceSum):
            return times * float(planned.moves) * rows / float(self._noise[name])
        return (
            float(planned.width) * rows * float(self._noise[name]) if isinstance(planned, ExponentialDraw) else math.inf
        )

    def _planned(self, name, size, kinds, verb, times=1):
        """Return the mechanism of releases in a word; refuse those that are not planned."""
        planned: Any = self._plan.get(name)
        if planned is None:
            raise RuntimeError(f"the plan has no release {name!r}: it names {', '.join(self._plan)}")
        kind = kinds.get(type(planned))
        if kind is None and isinstance(planned, Proved) and planned.mechanism in kinds.values():
            kind = planned.mechanism
        if kind is None:
            raise RuntimeError(f"{name!r} is planned as {type(planned).__name__}, which run.{verb} does not make")
        if not (is_integer(times) and 1 <= times <= self._count_left(name)):
            raise RuntimeError(f"{name!r} is planned {planned.times} times, and was released {self._used[name]} times")
        if size > planned.size:
            raise RuntimeError(f"{name!r} is planned with at most {planned.size:,} entries, got {size:,}")
        return kind

    def _count_left(self, name):
        """Return how many releases of this name may still be made."""
        times = self._plan[name].times
        return math.inf if times is None else times - self._used[name]

    def _alone(self):
        """Return the lock under which releases are taken from the plan; refuse another process than that of the fit."""
        if os.getpid() != self._process:
            raise RuntimeError(f"a fit goes on only in the process that began it (pid {self._process})")
        return self._taking

    def _release(self, name, what):
        """Let the claim count releases of this name, now that they were made, and return what was released."""
        if self._shows:
            self._fit.used[name] = self._used[name]
        return what


def _without_progress(rounds, what, most):
    return rounds


def _answered(piece, question, *public):
    """Return the answer of a piece to a question, for sums over pieces."""
    return _wide(question(piece, *public))


def _clipped(piece, gradient, norm, *public):
    """Return the sum of the clipped gradients of the rows of a piece."""
    values = np.asarray(gradient(piece, *public))
    if values.ndim == 0 or len(values) != len(piece.labels):
        raise ValueError(f"gradients must have an entry for each of {len(piece.labels)} rows, got shape {values.shape}")
    return clipped(values, norm).sum(axis=0)


def _wide(numbers):
    """Return integers of 64 bits: narrower ones would wrap around in sums and products, and move by more than 1."""
    numbers = np.asarray(numbers)
    if numbers.dtype.kind not in "iub":
        raise ValueError(f"sums over rows must be integers, got {numbers.dtype}")
    return numbers.astype(np.int64, copy=False)

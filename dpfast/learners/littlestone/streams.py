"""Base of the private learners of a stream of points: one stream per learner, charged once."""

import warnings
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfast.base.fitting import STREAM, Fit, attributes_of
from dpfast.base.model import Model
from dpfast.base.parameters import count, described, estimator
from dpfast.base.plan import Plan, Proved, Task
from dpfast.base.run import Run
from dpfast.learners.streams import alone, continuing, without_stream

from .hypothesis import Hypothesis, read_hypothesis
from .hypothesis_class import HypothesisClass
from .points import PrivatePointClassifier

_CHUNK = 1 << 14  # rounds predicted at a time


@dataclass(frozen=True)
class StreamModel(Model):
    """The hypothesis that predicts, those of all releases, and whether it is the last one."""

    hypothesis: Hypothesis
    releases: list[Hypothesis | None]
    frozen: bool


@estimator
class PointStream(PrivatePointClassifier):
    """Base of the learners of a stream; has the parameter `horizon`.

    A subclass defines `_new_state`, which returns a `Following`.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The hypothesis that predicts.
    releases_ : list of Hypothesis or None
        The hypothesis of each release; None if all draws were empty and the old hypothesis stayed.
    frozen_ : bool
        Whether the hypothesis is the last one.
    """

    horizon: int | None = field(
        default=None,
        kw_only=False,
        metadata=described(
            count(1),
            "int\n    The number T of rounds for which the run is planned; streams may be longer, equally private.",
        ),
    )

    def fit(self, X: Any, y: Any) -> Self:
        """Start a new stream with these rows; see `stream`. It is refused under neighbors="add-remove".

        Parameters
        ----------
        X, y
            As in `stream`.

        Returns
        -------
        self
        """
        if self.neighbors == "add-remove":
            raise ValueError(
                'fit needs neighbors="replace": deleting a row from a table shifts all later rows, and the claim of a '
                "stream is for a blank row in its place"
            )
        p, examples = self._checked(), self._examples(X, y)
        self.__dict__.pop("_access", None)
        with alone(self):
            self._begin(p)
            self._follow(*examples)
        return self

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Continue a stream: predict rows in order and learn from them; see `stream`.

        Parameters
        ----------
        X, y
            As in `stream`.
        classes : ignored

        Returns
        -------
        self
        """
        self.stream(X, y)
        return self

    def stream(self, X: Any, y: Any) -> np.ndarray:
        """Call `partial_fit`, and return the prediction for each row before its label was seen.

        A prediction is computed from its row, without noise that hides the row. Show it to the owner of the row only,
        and all predictions together to the owner of the data only. Only the hypotheses and their times are released.

        Parameters
        ----------
        X : array_like of int, shape (n,) or (n, 1)
            Points.
        y : array_like of 0 and 1, shape (n,)

        Returns
        -------
        ndarray of int64, shape (n,)

        Raises
        ------
        ValueError, BudgetExceeded
            For invalid data, and for a stream that cannot be continued, because it was interrupted, unpickled or
            loaded. The first call checks the parameters and charges for the whole stream.
        RuntimeError
            In a second thread, or in a process other than the one that began the stream.
        """
        if self.__sklearn_is_fitted__() and self.frozen_:
            warnings.warn(
                f"the learner has ended after {len(self.releases_)} releases: the hypothesis is frozen; rows are "
                "predicted but no longer learned from",
                stacklevel=2,
            )
            self._examples(X, y)
            return self.predict(X)
        with alone(self):
            if not self.__sklearn_is_fitted__():
                p = self._checked()
                examples = self._examples(X, y)
                self._begin(p)
            elif hasattr(self, "_state"):
                examples = self._examples(X, y)
            else:
                raise ValueError(
                    "this learner has no stream to continue: it was loaded, unpickled or interrupted; clone it"
                )
            return self._follow(*examples)

    def _begin(self, p):
        """Charge, and start with the SOA of the class."""
        with self._running(p.horizon, p.rng) as (run, fit):
            state = self._new_state(p, self._numbers(p), run, fit)
        self._state = state

    def plan(self, task: Task) -> Plan:
        numbers = self._numbers(self._foreseen(task))
        size, times = numbers.list_items, numbers.n_releases
        hypotheses = Proved("exponential", numbers.exponent, size=size, times=times)
        return Plan(hypotheses=hypotheses, **self._test_releases(numbers))

    def _test_releases(self, numbers):
        """Return the releases that find the rounds of the others, and that no claim counts."""
        raise NotImplementedError

    def _follow(self, points, labels):
        """Return the predictions of these rows after learning from them in order; publish the releases."""
        state = self._state
        with continuing(partial(self._show, state.fit), partial(vars(self).pop, STREAM, None)):
            return state.follow(points, labels)

    def _show(self, fit):
        """Publish the releases so far, and their claim."""
        for model in fit.released:
            vars(self).update(attributes_of(model()))
        self.privacy_ = fit.claim_so_far()

    def __getstate__(self) -> dict[str, Any]:
        return without_stream(super().__getstate__())

    def _released(self):
        return {
            **super()._released(),
            "releases": [None if hypothesis is None else hypothesis._to_document() for hypothesis in self.releases_],
            "frozen": self.frozen_,
        }

    def _restore(self, released):
        super()._restore(released)
        saved, H = released["releases"], self.hypothesis_class
        self.releases_ = [None if hypothesis is None else read_hypothesis(hypothesis, H) for hypothesis in saved]
        self.frozen_ = bool(released["frozen"])


class Following:
    """Private state of a running stream; it predicts rounds and counts mistakes until a test fires.

    A subclass has `tests`, and defines `_note`, which processes mistakes, and `_draw_next`, which is called when a test
    fires. All noise and all draws come from `run`, as planned; `paid` is the fit that was charged.
    """

    def __init__(self, run: Run, fit: Fit, whole: HypothesisClass):
        self.run, self.fit = run, fit
        self.hypothesis, self.frozen = whole.soa_hypothesis(), False
        self.hypotheses: list[Hypothesis | None] = []
        run.show(self.model)

    def model(self) -> StreamModel:
        """Return the model of what was released."""
        return StreamModel(self.hypothesis, self.hypotheses[:], self.frozen)

    def follow(self, points, labels):
        """Predict rows in order and learn from them."""
        predicted, start = np.empty(len(points), np.int64), 0
        while start < len(points):
            stop = min(start + _CHUNK, len(points))
            guess = self.hypothesis(points[start:stop])
            n_rounds, fired = stop - start, None
            if not self.frozen:
                wrong = np.flatnonzero(guess != labels[start:stop])
                fired = self.tests.run(n_rounds, wrong)
                n_rounds = n_rounds if fired is None else fired + 1
                wrong = wrong[wrong < n_rounds]
                self._note(n_rounds, wrong, points[start + wrong], labels[start + wrong])
            predicted[start : start + n_rounds] = guess[:n_rounds]
            start += n_rounds
            if fired is not None:
                self._draw_next()
        return predicted

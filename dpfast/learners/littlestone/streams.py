"""What the private learners of a stream of points share: one stream a learner, charged once, gone on with by calls."""

import warnings
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfast.learners.fitting import Run
from dpfast.learners.parameters import count
from dpfast.learners.streamed import Streamed

from .hypothesis import Hypothesis
from .points import PrivatePointClassifier
from .saved import hypothesis_from_json, hypothesis_to_json

_CHUNK = 1 << 14  # rounds predicted at a time


@dataclass
class Released:
    """What a stream has released: for everybody."""

    hypothesis: Hypothesis  # that predicts
    drawn: list[Hypothesis | None] = field(default_factory=list)
    frozen: bool = False  # the hypothesis is the last one
    stage: int = 1  # of a learner that has stages


class PointStream(Streamed, PrivatePointClassifier):
    """Base of the learners of a stream; has the parameter `horizon`.

    A subclass makes by `_new_state` a `Following`, and says by `_why_frozen` how a stream ended.
    """

    _parameters = PrivatePointClassifier._parameters | {"horizon": count(1)}

    def fit(self, X: Any, y: Any) -> Self:
        """Begin a new stream with these rows; see `stream`.

        Parameters
        ----------
        X, y
            As in `stream`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            Under neighbors="add-remove", and as `stream` does.
        """
        if self.neighbors == "add-remove":
            raise ValueError(
                'fit needs neighbors="replace": deleting a row from a table shifts all later rows, and the claim of a '
                "stream is for a blank row in its place"
            )
        p, examples = self._checked(), self._examples(X, y)
        self.__dict__.pop("_sole", None)
        with self._alone():
            self._begin(p)
            self._follow(*examples)
        return self

    def partial_fit(self, X: Any, y: Any, classes: ArrayLike | None = None) -> Self:
        """Go on with a stream: rows are predicted and learned from in order. See `stream`.

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
        """`partial_fit`, and what was predicted for each row before its label was seen.

        A prediction belongs to its row: it is computed from it, and no noise hides the row in it. Show it to the row's
        owner alone; together they are for the data's owner, as is which of them are mistakes. Only the hypotheses and
        their times may be published.

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
        ValueError
            For a parameter or data that will not do, before anything is charged or drawn; and from a stream that cannot
            go on, because it was interrupted, unpickled or loaded.
        RuntimeError
            In a second thread, or in another process than the one that began the stream.
        BudgetExceeded
            If the budget does not suffice. The whole stream is charged in the first call.
        """
        if self.__sklearn_is_fitted__() and self.frozen_:
            warnings.warn(
                f"{self._why_frozen()}: the hypothesis is frozen, the stream is predicted, no longer learned from",
                stacklevel=2,
            )
            self._examples(X, y)
            return self.predict(X)
        with self._alone():
            if not self.__sklearn_is_fitted__():
                p = self._checked()
                examples = self._examples(X, y)
                self._begin(p)
            elif hasattr(self, "_state"):
                examples = self._examples(X, y)
            else:
                raise ValueError(
                    "this learner has no stream to go on with: it was loaded, unpickled or interrupted; clone it"
                )
            return self._follow(*examples)

    def _begin(self, p):
        """Charge, and set out from SOA."""
        plan, first = self._plan(p), p.hypothesis_class.soa_hypothesis()
        with self._spending(self._public(p.horizon), p.rng, hypotheses=plan.n_releases) as run:
            run.released = Released(first)
            state = self._new_state(p, plan, run)
        self._state = state

    def _follow(self, points, labels):
        """Predictions of these rows, learned from in order; what was released on the way is published."""
        with self._going_on():
            return self._state.follow(points, labels)

    def _publish(self, run):
        released = run.released
        self.hypothesis_, self.releases_, self.frozen_ = released.hypothesis, list(released.drawn), released.frozen

    def _released(self):
        return {
            **super()._released(),
            "releases": [hypothesis_to_json(drawn) for drawn in self.releases_],
            "frozen": self.frozen_,
        }

    def _restore(self, released):
        super()._restore(released)
        self.releases_ = [hypothesis_from_json(drawn, self.hypothesis_class) for drawn in released["releases"]]
        self.frozen_ = bool(released["frozen"])


class Following:
    """A stream on its way, private: rounds are predicted, mistakes noted and counted, until a test of them fires.

    A subclass has `tests`, and says by `_note` what becomes of mistakes and by `_fired` what happens then.
    """

    def __init__(self, run: Run):
        self.run = run

    def follow(self, points, labels):
        """Predict rows in order and learn from them."""
        predicted, start, released = np.empty(len(points), np.int64), 0, self.run.released
        while start < len(points):
            stop = min(start + _CHUNK, len(points))
            guess = released.hypothesis(points[start:stop])
            made, fired = stop - start, None
            if not released.frozen:
                wrong = np.flatnonzero(guess != labels[start:stop])
                fired = self.tests.run(made, wrong)
                made = made if fired is None else fired + 1
                mistakes = start + wrong[wrong < made]
                self._note(points[mistakes], labels[mistakes])
            predicted[start : start + made] = guess[:made]
            start += made
            if fired is not None:
                self._fired()
        return predicted

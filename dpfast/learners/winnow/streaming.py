"""The stream of a Winnow classifier: begun, gone on with by calls, kept in a file, resumed."""

import warnings
from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfast.learners.base import refuse_weights
from dpfast.learners.fitting import Run
from dpfast.learners.saving import entries, integer
from dpfast.learners.streamed import Streamed
from dpfast.learners.winnow.checkpoint import Checkpoint
from dpfast.learners.winnow.intervals import in_order
from dpfast.learners.winnow.plan import plan_of, streaming
from dpfast.learners.winnow.stream import Stream
from dpfast.parts.sources import is_parted
from dpfast.tables.codes import CodeTable
from dpfast.tables.encoding import read_labelled
from dpfast.tables.labels import class_codes
from dpfast.tables.schema import Schema


class WinnowStream(Streamed):
    """Mixin of `DPWinnowClassifier`: what it does as a stream."""

    classes_: np.ndarray
    n_updates_: int
    updates_: int
    window: bool
    predict: Callable[[Any], np.ndarray]
    _rows: Callable[[Any], Any]
    _restore_encoder: Callable[[Any], None]

    def partial_fit(self, X: Any, y: Any = None, classes: ArrayLike | None = None, **refused: Any) -> Self:
        """Go on with a stream: rows are predicted and learned from in order. See `stream`.

        Parameters
        ----------
        X, y, classes
            As in `stream`.

        Returns
        -------
        self
        """
        refuse_weights(refused)
        self.stream(X, y, classes=classes)
        return self

    def stream(self, X: Any, y: Any = None, *, classes: ArrayLike | None = None) -> np.ndarray:
        """`partial_fit`, and what was predicted for each row before its label was seen.

        A prediction is for the owner of its row, or for the owner of all rows: it depends on that row, and the claim
        is for the hypotheses and their times (see the class). Which of them are mistakes is known to whoever holds y.

        Parameters
        ----------
        X, y, classes
            As in `fit`; `classes`, or labels of both classes, in the first call. With a schema a table of its columns,
            and the label's unless `y` is given.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        ValueError, BudgetExceeded
            As `fit`. The whole stream is charged in the first call.
        RuntimeError
            In a thread while another is at it, and in another process than the one that began it.

        Notes
        -----
        With a `checkpoint`, what a call releases is in the file before the call returns. A call that is interrupted
        released nothing: this estimator then ends its stream, and the one that `resume` gives goes on.
        """
        if is_parted(X):
            raise ValueError("the rows of a stream have an order: X must be in memory, not in parts")
        with self._alone():
            state = vars(self).get("_state")
            if state is not None:
                rows, signs = self._next(X, y)
                if rows.unit != state.unit:
                    raise ValueError(f"rows must be on the grid that the stream began with, 1/{state.unit}")
            elif not self.__sklearn_is_fitted__():
                state, rows, signs = self._begun(X, y, classes)
            elif self.updates_ < self.n_updates_ or self.window:
                raise ValueError(
                    "this model has no stream to go on with: it was fitted at once, loaded, unpickled or interrupted; "
                    "clone it, or resume a checkpoint"
                )
            else:
                predicted = self.predict(X)
            if state is None or not state.learning:
                warnings.warn(
                    f"all {self.n_updates_} updates are made and their budget is spent: the stream is predicted, "
                    "no longer learned from",
                    stacklevel=2,
                )
            if state is not None:
                with self._going_on():
                    predicted = self.classes_[self._followed(state, rows, signs)]
            return predicted

    def close(self) -> None:
        """End the stream: this estimator predicts, and another one may `resume` the checkpoint."""
        with self._alone():
            self._end()

    @classmethod
    def resume(cls, path):
        """The estimator that goes on with the stream of a checkpoint, after its row number `rounds_`.

        The rows of a call that did not return, because the process was killed say, are given again unless `rounds_`
        counts them. Nothing is charged: the whole stream was, when it began. Randomness is fresh from the operating
        system.

        Parameters
        ----------
        path : str or path-like
            A file that a stream with `checkpoint` wrote; the stream goes on to write it.

        Returns
        -------
        DPWinnowClassifier

        Raises
        ------
        ValueError, OSError
            If there is no such file, or it is cut short, damaged, of another version or an older copy; while another
            stream, of this process or another, goes on with it.

        Notes
        -----
        The file is private: it holds the scores and the noise of the tests under way. The claim is for one
        continuation: the stream holds a lock on the file until `close` or the end of its estimator, and ``<name>.lock``
        beside it tells how far the stream was kept, so that an older copy in its place is refused. That a copy
        elsewhere is gone on with, or that rows are given twice, cannot be detected; each releases again what was paid
        for once.
        """
        file, kept, arrays = Checkpoint.read(path, cls._model)
        with file.refusing():
            fitted = entries(kept, "fitted", "stream")["fitted"]
            p = streaming((self := cls(**fitted["parameters"], checkpoint=path))._checked())
            self.classes_, self.n_features_in_ = np.array(fitted["classes"]), integer(fitted["n_features"], 1, 1 << 31)
            if fitted["feature_names"] is not None:
                self.feature_names_in_ = np.array(fitted["feature_names"], dtype=object)
            if "encoder" in fitted:
                self._restore_encoder(fitted["encoder"])
            self._restore(fitted["released"])
            plan = plan_of(p, self._width)
            run = Run(self, p.rng)
            run.paid(plan.cost, updates=plan.releases)
            run.released, run.used["updates"] = self.released_weights_[:], self.updates_
            self._owned()
            self._state = Stream.resumed(plan, self._hypothesis(), run, file, kept["stream"], arrays)
            self._state.parameters = fitted["parameters"]
            self._show(run)
        return self

    @property
    def rounds_(self) -> int:
        return self._state.rounds

    def _begun(self, X, y, classes):
        """A stream that was charged, its first rows and their signs."""
        p = streaming(self._checked())
        if p.probability_share:
            raise ValueError(
                "a stream gives no probabilities, as its model never stands still: probability_share must be 0, got "
                f"{self.probability_share!r}"
            )
        if p.schema is not None:
            refuse_open(p.schema)
        parts, public, plan, stream = self._read(p, X, y, classes)
        file = None if self.checkpoint is None else Checkpoint.new(self.checkpoint)
        with nullcontext() if file is None else file.beginning(), self._fitting(p.rng) as run:
            state, parameters = stream(run, file), None
            if file is not None:
                parameters = self._rehearsed(state, public, *in_order(parts))
            run.charge(public, plan.cost, updates=plan.releases)  # nothing is drawn yet
        self._state, state.parameters = state, parameters
        return state, *in_order(parts)

    def _rehearsed(self, state, public, rows, signs):
        """The parameters that the checkpoint will hold, after as much was written as the first call may write."""
        model = copy(self)
        model._become(public)
        model.privacy_, model.released_weights_, model.updates_ = self._claimed(state.plan.cost), [], 0
        fitted = model._document()
        state.file.rehearse(
            self._model, {"fitted": fitted, "stream": state.kept()}, state.scores.arrays(), state.growth(rows, signs)
        )
        return fitted["parameters"]

    def _next(self, X, y):
        """Rows of a call that goes on with the stream, and the signs of their labels."""
        if hasattr(self, "encoder_") and not isinstance(X, CodeTable):
            X, y = read_labelled(X, y, self.encoder_.schema_)
        rows = self._rows(X)
        return rows, class_codes(y, rows.shape[0], self.classes_).signs()

    def _followed(self, state, rows, signs):
        """What was predicted; with a file, nothing is shown that is not in it."""
        if state.file is None:
            return state.follow(rows, signs)
        before = state.run.released[:], dict(state.run.used)
        try:
            predicted = state.follow(rows, signs)
            self._show(state.run)
            fitted = self._document() | {"parameters": state.parameters}  # not as edited since
            state.file.write(self._model, {"fitted": fitted, "stream": state.kept()}, state.scores.arrays())
        except BaseException:
            state.run.released, state.run.used = before
            raise
        return predicted

    def _end(self):
        file = getattr(vars(self).get("_state"), "file", None)
        super()._end()
        if file is not None:
            file.close()


def refuse_open(schema: Schema) -> None:
    """Refuse a schema for a stream that leaves something to be found."""
    facts = [f"the {' and '.join(each.to_find)} of {each.name!r}" for each in schema.columns if each.to_find]
    if facts:
        raise ValueError(
            "a stream cannot find privately what its schema leaves open, as its rows are not there yet: declare "
            + ", ".join(facts)
        )

"""Streams of a Winnow classifier: starting, continuing, saving and resuming them."""

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
    """Mixin of `DPWinnowClassifier` for learning from a stream."""

    classes_: np.ndarray
    n_updates_: int
    updates_: int
    window: bool
    predict: Callable[[Any], np.ndarray]
    _rows: Callable[[Any], Any]
    _restore_encoder: Callable[[Any], None]

    def partial_fit(self, X: Any, y: Any = None, classes: ArrayLike | None = None, **refused: Any) -> Self:
        """Continue a stream: predict rows in order and learn from them; see `stream`.

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
        """Call `partial_fit`, and return the prediction for each row before its label was seen.

        Show a prediction only to the owner of its row or of all rows: it depends on that row, and the claim is for the
        hypotheses and their times (see the class). Anyone who holds y knows which predictions are mistakes.

        Parameters
        ----------
        X, y, classes
            As in `fit`; the first call needs `classes`, or labels of both classes. With a schema: a table of its
            columns, and of the label's column unless `y` is given.

        Returns
        -------
        ndarray, shape (n,)

        Raises
        ------
        ValueError, BudgetExceeded
            As in `fit`. The first call charges for the whole stream.
        RuntimeError
            In a second thread while another call runs, and in a process other than the one that began the stream.

        Notes
        -----
        With a `checkpoint`, the releases of a call are in the file before the call returns. An interrupted call
        releases nothing: this estimator then ends its stream, and the estimator that `resume` returns can continue it.
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
                    "this model has no stream to continue: it was fitted at once, loaded, unpickled or interrupted; "
                    "clone it, or resume a checkpoint"
                )
            else:
                predicted = self.predict(X)
            if state is None or not state.learning:
                warnings.warn(
                    f"all {self.n_updates_} updates are made and their budget is spent: rows are predicted but "
                    "no longer learned from",
                    stacklevel=2,
                )
            if state is not None:
                with self._going_on():
                    predicted = self.classes_[self._followed(state, rows, signs)]
            return predicted

    def close(self) -> None:
        """End the stream: this estimator still predicts, and another one may `resume` the checkpoint."""
        with self._alone():
            self._end()

    @classmethod
    def resume(cls, path):
        """Return an estimator that continues the stream of a checkpoint after its row number `rounds_`.

        If a call did not return, for example because the process was killed, give its rows again, except those that
        `rounds_` counts. Nothing is charged, since the whole stream was charged when it began. Random numbers are fresh
        from the operating system.

        Parameters
        ----------
        path : str or path-like
            A file written by a stream with `checkpoint`; the stream continues to write it.

        Returns
        -------
        DPWinnowClassifier

        Raises
        ------
        ValueError, OSError
            If there is no such file, if it is truncated, damaged, of another version or an older copy, or if another
            stream, in this process or another, holds it.

        Notes
        -----
        The file is private: it holds the scores and the noise of the running tests. The claim is for one continuation
        of the stream. The stream holds a lock on the file until `close` or the end of its estimator, and
        ``<name>.lock`` beside it stores the progress of the stream, so that an older copy in its place is refused.
        Continuing from a copy elsewhere, or giving rows twice, cannot be detected; each would release again what was
        paid for once.
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
        """Return a stream that was charged, its first rows and their signs."""
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
        """Return the parameters for the checkpoint, after a test write as large as the first call may need."""
        model = copy(self)
        model._become(public)
        model.privacy_, model.released_weights_, model.updates_ = self._claimed(state.plan.cost), [], 0
        fitted = model._document()
        state.file.rehearse(
            self._model, {"fitted": fitted, "stream": state.kept()}, state.scores.arrays(), state.growth(rows, signs)
        )
        return fitted["parameters"]

    def _next(self, X, y):
        """Return the rows of a call that continues the stream, and the signs of their labels."""
        if hasattr(self, "encoder_") and not isinstance(X, CodeTable):
            X, y = read_labelled(X, y, self.encoder_.schema_)
        rows = self._rows(X)
        return rows, class_codes(y, rows.shape[0], self.classes_).signs()

    def _followed(self, state, rows, signs):
        """Return the predictions; with a file, every release has been written before it is shown."""
        if state.file is None:
            return state.follow(rows, signs)
        before = state.run.released[:], dict(state.run.used)
        try:
            predicted = state.follow(rows, signs)
            self._show(state.run)
            fitted = self._document() | {"parameters": state.parameters}  # regardless of later changes
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
    """Refuse a schema for a stream if it leaves something to be discovered."""
    facts = [f"the {' and '.join(each.to_find)} of {each.name!r}" for each in schema.columns if each.to_find]
    if facts:
        raise ValueError(
            "a stream cannot find privately what its schema leaves open, as its rows are not there yet: declare "
            + ", ".join(facts)
        )

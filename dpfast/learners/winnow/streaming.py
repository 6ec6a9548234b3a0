"""Streams of a Winnow classifier: starting, continuing, saving and resuming them."""

import math
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from dpfast.learners.base import refuse_weights
from dpfast.learners.fitting import Fit, Streamed
from dpfast.learners.saving import entries, integer
from dpfast.learners.votes import NOTHING, Hypothesis, histogram
from dpfast.learners.winnow.checkpoint import Checkpoint
from dpfast.learners.winnow.plan import EveryFew, WinnowPlan, plan_of, streaming
from dpfast.learners.winnow.scores import (
    KEY_BYTES,
    DenseScores,
    TouchedScores,
    counting_rows,
    from_arrays,
    in_order,
    interval_sum,
    row_count,
)
from dpfast.mechanisms import AboveThreshold
from dpfast.tables import signed_rows
from dpfast.tables.arrays import refuse_parts
from dpfast.tables.codes import CodeTable
from dpfast.tables.encoding import read_labelled
from dpfast.tables.labels import class_codes
from dpfast.tables.schema import Schema
from dpfast.tables.sources import Memory, labelled

_NUMBERS, _PLANNED = ("unit", "rounds", "taken"), ("learning_rate", "threshold_epsilon")  # in a checkpoint
_PRINTED_DRAW = 48  # largest number of bytes of a coordinate and its count in a checkpoint
_FEWEST, _MOST = 1 << 10, 1 << 14  # rounds predicted at a time: few after an update, as the next may be near


@dataclass
class Stream:
    """[BF, Algorithm 4.2]_ with batched, weighted updates.

    Weights w are proportional to exp(exponent s) for the totals s of the scores. The hypothesis w~ is a histogram of
    draws from w, or the sum of all histograms so far. The rounds between two updates are an interval: AboveThreshold
    (Q) tests the number of its counting rows (C, in the paper), which enter the scores when the interval ends.
    """

    plan: WinnowPlan
    scores: DenseScores | TouchedScores
    unit: int  # of the rows
    hypothesis: Hypothesis
    run: Fit
    file: Checkpoint | None = None
    parameters: dict | None = None  # of the estimator at the time of the charge, for the file
    rounds: int = 0  # t
    taken: int = 0  # rows of this interval that entered the scores
    tests: AboveThreshold | EveryFew | None = None  # None before the first round, and after the last update

    @classmethod
    def resumed(cls, plan, hypothesis, run, file, kept, arrays) -> "Stream":
        """Return the stream restored from `kept` and the arrays of scores, under the same plan."""
        entries(kept, *_NUMBERS, *_PLANNED, "tests", "reproducible")
        for name in _PLANNED:
            if not math.isclose(kept[name], getattr(plan, name), rel_tol=1e-9):
                raise ValueError(f"{name} is {kept[name]}, and by the parameters {getattr(plan, name)}")
        unit, rounds, taken = (integer(kept[name], 0, 1 << 62) for name in _NUMBERS)
        d = plan.dimension // (1 + plan.negations) - plan.fit_intercept
        scores = from_arrays(arrays, d, plan.window)
        self = cls(plan, scores, unit, hypothesis, run, file, rounds=rounds, taken=taken)
        if kept["tests"] is not None:
            self._tests()._resume(kept["tests"])
        run.reproducible |= bool(kept["reproducible"])
        return self

    def kept(self) -> dict:
        """Return the values other than scores that `resumed` needs, for JSON; private."""
        numbers = {name: getattr(self, name) for name in _NUMBERS} | {
            name: getattr(self.plan, name) for name in _PLANNED
        }
        tests = None if self.tests is None else self.tests._state()
        return numbers | {"tests": tests, "reproducible": self.run.reproducible}

    def growth(self, rows, signs) -> int:
        """Return an upper bound on the growth of a checkpoint, in bytes, in the first call with these rows."""
        updates = min(self.plan.n_updates, len(signs))
        drawn = min(self.plan.n_draws, self.plan.dimension)
        return updates * drawn * _PRINTED_DRAW + self.scores.growth(rows, updates)

    @property
    def updates(self) -> int:
        """Return the number k of updates so far."""
        return self.run.used["updates"]

    @property
    def learning(self) -> bool:
        """Return whether further updates are possible."""
        return self.plan.releases is None or self.updates < self.plan.releases

    def follow(self, rows, signs) -> np.ndarray:
        """Predict rows in order and learn from them; return the side of each row, 0 or 1."""
        predicted, start, size = np.empty(len(signs), np.int64), 0, _FEWEST
        while start < len(signs):
            part, labels = rows[start : start + size], signs[start : start + size]
            votes = signed_rows.votes(part, self.hypothesis)
            made, ended = len(labels), False
            if self.learning:
                counting = self._counting(votes, labels)
                end = self._tests().run(made, np.flatnonzero(counting))
                ended = end is not None
                made = end + 1 if ended else made
                self._take(part, labels, counting[:made])
            predicted[start : start + made] = votes[:made] >= 0
            start += made
            self.rounds += made
            size = _FEWEST if ended else min(2 * size, _MOST)
            if ended:
                self._update()
        return predicted

    def learn(self, parts, intervals) -> None:
        """Learn from a table of `signed_rows`, each in a random interval, of those below n_updates in turn."""
        key, sizes = int.from_bytes(self.run.rng.bytes(KEY_BYTES)), parts.each(row_count)
        firsts = [0, *accumulate(sizes[:-1])]
        for k in intervals:
            public, most = (key, k, self.plan, self.hypothesis), [None] * len(firsts)
            if self.plan.batch is not None:
                counts = np.array(parts.each(counting_rows, *public, own=firsts))
                most = np.clip(self.plan.batch - (np.cumsum(counts) - counts), 0, counts).tolist()
            self.scores.enter(parts.sum(interval_sum, *public, own=list(zip(firsts, most, strict=True))))
            self._update()

    def _counting(self, votes, signs):
        return self.plan.counts(votes, signs, self.hypothesis.draws * self.unit)

    def _tests(self):
        if self.tests is None:
            self.tests = self.plan.tests(self.updates, self.run.rng)
        return self.tests

    def _take(self, rows, signs, counting):
        """Add counting rows to the interval, as many as the batch allows."""
        chosen = np.flatnonzero(counting)
        if self.plan.batch is not None:
            chosen = chosen[: self.plan.batch - self.taken]
        if chosen.size:
            self.scores.add(rows, signs, chosen, self.plan.fit_intercept)
            self.taken += chosen.size

    def _update(self):
        """Multiply the weights by the interval's update, and draw and release the next hypothesis."""
        plan, released = self.plan, self.run.released
        self.scores.close(plan.weight(self.updates))
        exponent = Fraction(plan.learning_rate) / (self.unit * plan.grid)
        drawn = self.scores.draw(
            exponent, plan.n_draws, self.run.rng, mirrored=plan.negations, intercept=plan.fit_intercept
        )
        self.run.release("updates", histogram(*drawn))
        if plan.window:
            del released[: -plan.window]
        if plan.average and not plan.window and self.updates > 1:
            self.hypothesis = self.hypothesis.plus(released[-1:], plan.n_draws)  # the same as below, in less time
        else:
            self.hypothesis = NOTHING.plus(released if plan.average else released[-1:], plan.n_draws)
        self.taken, self.tests = 0, None


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

        Show a prediction only to the owner of its row or of all rows: the claim is for the hypotheses and their times.

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
            In a second thread at the same time, and in a process other than the one that began the stream.

        Notes
        -----
        With a `checkpoint`, the releases of a call are in the file before the call returns. An interrupted call
        releases nothing: this estimator then ends its stream, and the estimator that `resume` returns can continue it.
        """
        refuse_parts(X)  # the rows of a stream have an order
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
                with self._publishing():
                    predicted = self.classes_[self._followed(state, rows, signs)]
            return predicted

    def close(self) -> None:
        """End the stream: this estimator still predicts, and another one may `resume` the checkpoint."""
        with self._alone():
            self._end()

    @classmethod
    def resume(cls, path, *, moved=False):
        """Return an estimator that continues the stream of a checkpoint after its row number `rounds_`.

        If a call did not return, for example because the process was killed, give its rows again, except those that
        `rounds_` counts. Nothing is charged, since the whole stream was charged when it began.

        Parameters
        ----------
        path : str or path-like
            A file written by a stream with `checkpoint`; the stream continues to write it.
        moved : bool, default=False
            Accept a copy of the file and its lock, whose originals must be gone, which cannot be checked.

        Returns
        -------
        DPWinnowClassifier

        Raises
        ------
        ValueError, OSError
            If the file is missing, damaged, of another version or an older copy, or if another stream holds it.

        Notes
        -----
        The file is private: it holds the scores and the noise of the running tests. The claim is for one continuation
        of the stream, which holds a lock on the file until `close` or the end of its estimator. An older copy in the
        place of the file is refused, and so is a copy of the file and its lock, elsewhere or from a backup. Giving rows
        twice cannot be detected, and would release again what was paid for once.
        """
        file, kept, arrays = Checkpoint.read(path, cls._model, moved)
        with file.refusing():
            fitted = entries(kept, "fitted", "stream")["fitted"]
            p = streaming((self := cls(**fitted["parameters"], checkpoint=path))._checked())
            self.classes_, self.n_features_in_ = np.array(fitted["classes"]), integer(fitted["n_features"], 1, 1 << 31)
            if fitted["feature_names"] is not None:
                self.feature_names_in_ = np.array(fitted["feature_names"], dtype=object)
            if "encoder" in fitted:
                self._restore_encoder(fitted["encoder"])
            self._restore(fitted["released"])
            self.notes_ = fitted["card"].get("notes", [])
            plan = plan_of(p, self._width)
            run = Fit(self, p.rng)
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
        p.source = labelled(Memory(X), y)
        parts, public, plan, stream = self._read(self._tabled(classes, p), p)
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

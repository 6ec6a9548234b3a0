"""Streams of a Winnow classifier: starting, continuing, saving and resuming them."""

import math
import warnings
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from itertools import accumulate
from typing import Any

import numpy as np

from dpfast.base.fitting import Charge, Fit, attributes_of, publish
from dpfast.base.model import Model
from dpfast.base.plan import Plan, Solved, Task
from dpfast.base.run import Run
from dpfast.base.saving import entries, integer
from dpfast.base.transaction import publishing, reader_of
from dpfast.learners.streams import alone, continuing, owner
from dpfast.learners.votes import NOTHING, Histogram, Hypothesis, histogram
from dpfast.learners.winnow.checkpoint import Checkpoint
from dpfast.learners.winnow.model import first_hypothesis, model_of
from dpfast.learners.winnow.plan import EveryFew, WinnowPlan, plan_numbers, streaming, warn_of_paper
from dpfast.learners.winnow.scores import (
    KEY_BYTES,
    DenseScores,
    TouchedScores,
    counting_rows,
    from_arrays,
    in_order,
    interval_sum,
    row_count,
    score_vector,
)
from dpfast.mechanisms import AboveThreshold
from dpfast.tables import signed_rows
from dpfast.tables.arrays import is_frame, refuse_parts
from dpfast.tables.arrow import Frame
from dpfast.tables.codes import CodeTable
from dpfast.tables.columns import refuse_lacking
from dpfast.tables.label_columns import LabelColumn, text_array
from dpfast.tables.labels import (
    Labels,
    codes_among,
    have_labels,
    missing_labels,
    number_labels,
    of_rows,
    read_labels,
)
from dpfast.tables.objects import plain
from dpfast.tables.schema import Schema
from dpfast.tables.sources import Memory, with_labels
from dpfast.tables.thresholds import classes_above

_NUMBERS, _PLANNED = ("unit", "rounds", "taken"), ("learning_rate", "threshold_epsilon")  # in a checkpoint
_PRINTED_DRAW = 48  # largest number of bytes of a coordinate and its count in a checkpoint
_FEWEST, _MOST = 1 << 10, 1 << 14  # rounds predicted at a time: few after an update, as the next may be near


@dataclass
class Course:
    """[BF, Algorithm 4.2]_ with batched, weighted updates.

    Weights w are proportional to exp(exponent s) for the totals s of the scores. The hypothesis w~ is a histogram of
    draws from w, or the sum of all histograms so far. The rounds between two updates are an interval: AboveThreshold
    (Q) tests the number of its counting rows (C, in the paper), which enter the scores when the interval ends.
    """

    plan: WinnowPlan
    scores: DenseScores | TouchedScores
    unit: int  # of the rows
    hypothesis: Hypothesis
    run: Run
    released: list[Histogram] = field(default_factory=list)  # all, or those of the window
    updates: int = 0  # k
    rounds: int = 0  # t
    taken: int = 0  # rows of this interval that entered the scores
    tests: AboveThreshold | EveryFew | None = None  # None before the first round, and after the last update

    @property
    def learning(self) -> bool:
        """Return whether further updates are possible."""
        return self.plan.most_updates is None or self.updates < self.plan.most_updates

    def follow(self, rows, signs) -> np.ndarray:
        """Predict rows in order and learn from them; return the side of each row, 0 or 1.

        A row whose sign is 0 has no label: it has a round, and never counts.
        """
        predicted, start, size = np.empty(len(signs), np.int64), 0, _FEWEST
        while start < len(signs):
            part, labels = rows[start : start + size], signs[start : start + size]
            votes = signed_rows.votes(part, self.hypothesis)
            rounds, ended = len(labels), False
            if self.learning:
                counting = self._counting(votes, labels) & (labels != 0)
                self.tests = self.tests or self._new_tests()
                if (end := self.tests.run(rounds, np.flatnonzero(counting))) is not None:
                    rounds, ended = end + 1, True
                self._take(part, labels | (labels == 0), counting[:rounds])  # as kernels want signs
            predicted[start : start + rounds] = votes[:rounds] >= 0
            start += rounds
            self.rounds += rounds
            size = _FEWEST if ended else min(2 * size, _MOST)
            if ended:
                self._update()
        return predicted

    def learn(self, parts) -> None:
        """Learn from a table of `signed_rows`, each in a random interval."""
        key, sizes = int.from_bytes(self.run.random_bytes(KEY_BYTES)), parts.each(row_count)
        firsts = [0, *accumulate(sizes[:-1])]
        for k in self.run.rounds("updates"):
            public, most = (key, k, self.plan, self.hypothesis), [None] * len(firsts)
            if self.plan.batch is not None:
                counts = np.array(parts.each(counting_rows, *public, own=firsts))
                most = np.clip(self.plan.batch - (np.cumsum(counts) - counts), 0, counts).tolist()
            self.scores.enter(parts.sum(interval_sum, *public, own=list(zip(firsts, most, strict=True))))
            self._update()

    def _counting(self, votes, signs):
        return self.plan.counts(votes, signs, self.hypothesis.draws * self.unit)

    def _new_tests(self):
        """Return the tests that find the end of the next interval."""
        if not self.plan.threshold_epsilon:
            return EveryFew(self.plan.rounds)
        return self.run.draw("tests", 1, partial(self.plan.tests, self.updates))

    def _take(self, rows, signs, counting):
        """Add counting rows to the interval, as many as the batch allows."""
        places = np.flatnonzero(counting)
        if self.plan.batch is not None:
            places = places[: self.plan.batch - self.taken]
        if places.size:
            self.scores.add(rows, signs, places, self.plan.fit_intercept)
            self.taken += places.size

    def _update(self):
        """Multiply the weights by the interval's update, and release the next histogram."""
        self.run.draw("updates", self.plan.n_draws, self._draw_update)

    def _draw_update(self, rate, rng):
        plan = self.plan
        self.scores.close(plan.weight(self.updates))
        exponent = Fraction(rate) / (self.unit * plan.grid)
        draws = self.scores.draw(exponent, plan.n_draws, rng, mirrored=plan.negations, intercept=plan.fit_intercept)
        self.released.append(histogram(*draws))
        self.updates += 1
        if plan.window:
            del self.released[: -plan.window]
        if plan.average and not plan.window and self.updates > 1:
            self.hypothesis = self.hypothesis.plus(self.released[-1:], plan.n_draws)  # as below, in less time
        else:
            self.hypothesis = NOTHING.plus(self.released if plan.average else self.released[-1:], plan.n_draws)
        self.taken, self.tests = 0, None


@dataclass(kw_only=True)
class Stream(Course):
    """The course of a stream that was charged, whose calls continue it. It is private, and never leaves its process."""

    fit: Fit
    file: Checkpoint | None = None
    parameters: dict | None = None  # of the learner at the time of the charge, for the file

    @classmethod
    def resume(cls, plan, model, run, fit, file, document, arrays) -> "Stream":
        """Return the stream restored from its model, `document` and the arrays of scores, under the same plan."""
        entries(document, *_NUMBERS, *_PLANNED, "tests", "reproducible")
        for name in _PLANNED:
            if not math.isclose(document[name], getattr(plan, name), rel_tol=1e-9):
                raise ValueError(f"{name} is {document[name]}, and by the parameters {getattr(plan, name)}")
        unit, rounds, taken = (integer(document[name], 0, 1 << 62) for name in _NUMBERS)
        d = plan.dimension // (1 + plan.negations) - plan.fit_intercept
        scores = from_arrays(arrays, d, plan.window)
        numbers = {"released": [*model.released_weights], "updates": model.updates, "rounds": rounds, "taken": taken}
        self = cls(plan, scores, unit, model.hypothesis, run, **numbers, fit=fit, file=file)
        if document["tests"] is not None:
            self.tests = self._new_tests()
            self.tests._resume(document["tests"])
        fit.reproducible |= bool(document["reproducible"])
        return self

    def document(self) -> dict:
        """Return the values other than scores that `resume` needs, for JSON; private."""
        numbers = {name: getattr(self, name) for name in _NUMBERS} | {
            name: getattr(self.plan, name) for name in _PLANNED
        }
        tests = None if self.tests is None else self.tests._state()
        return numbers | {"tests": tests, "reproducible": self.fit.reproducible}

    def growth(self, rows, signs) -> int:
        """Return an upper bound on the growth of a checkpoint, in bytes, in the first call with these rows."""
        updates = min(self.plan.n_updates, len(signs))
        n_draws = min(self.plan.n_draws, self.plan.dimension)
        return updates * n_draws * _PRINTED_DRAW + self.scores.growth(rows, updates)


def follow(learner: Any, X: Any, y: Any, classes: Any) -> np.ndarray:
    """Return the prediction for each row of a call, which begins or continues the stream of a learner."""
    refuse_parts(X)  # the rows of a stream have an order
    with alone(learner):
        state, blank = vars(learner).get("_state"), np.zeros(0, np.int64)
        if state is not None or not learner.__sklearn_is_fitted__():
            labels = _labels_of(learner, X, y)
        if state is not None:
            rows, signs = _read_next(learner, X, labels)
            if rows.unit != state.unit:
                raise ValueError(f"rows must be on the grid that the stream began with, 1/{state.unit}")
        elif not learner.__sklearn_is_fitted__():
            y, blank = _filled(learner, y, labels, classes)
            state, rows, signs = _begin(learner, X, y, classes)
        elif learner.updates_ < learner.n_updates_ or learner.window:
            raise ValueError(
                "this model has no stream to continue: it was fitted at once, loaded, unpickled or interrupted; "
                "clone it, or resume a checkpoint"
            )
        else:
            predicted = learner.predict(X)
        if state is None or not state.learning:
            warnings.warn(
                f"all {learner.n_updates_} updates are made and their budget is spent: rows are predicted but "
                "no longer learned from",
                stacklevel=3,
            )
        if state is not None:
            signs[blank] = 0  # of rows without a label
            with continuing(partial(_show, learner, state), partial(end, learner)):
                predicted = learner.classes_[_follow(learner, state, rows, signs)]
        return predicted


def resume(learner: Any, file: Checkpoint, document: dict, arrays: list) -> None:
    """Let a learner with the parameters of a checkpoint continue its stream."""
    fitted, rng = document["fitted"], learner._checked().rng
    learner.check()
    learner.classes_, learner.n_features_in_ = np.array(fitted["classes"]), integer(fitted["n_features"], 1, 1 << 31)
    if fitted["feature_names"] is not None:
        learner.feature_names_in_ = np.array(fitted["feature_names"], dtype=object)
    if "encoder" in fitted:
        learner._saver.read_encoder(fitted["encoder"])
    learner._saver.read_released(fitted["released"])
    learner.notes_ = fitted["card"].get("notes", [])
    task = learner._saver.task()
    numbers, plan, solved = _plan(learner, task)
    fit, used = Fit(Charge(learner), rng), {"updates": learner.model_.updates}
    fit.take_over(solved.cost, plan.times, used)
    owner(learner)
    run = Run(fit, plan, solved, made=used)
    learner._state = state = Stream.resume(numbers, learner.model_, run, fit, file, document["stream"], arrays)
    state.parameters = fitted["parameters"]
    learner.privacy_ = fit.claim_so_far()


def end(learner: Any) -> None:
    """Delete the stream of a learner, if there is one, and give its checkpoint to others."""
    file = getattr(vars(learner).pop("_state", None), "file", None)
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


def _show(learner: Any, state: Stream) -> None:
    """Publish the releases so far, and their claim."""
    state.fit.used["updates"] = state.updates  # which a call that could not write its file did not release
    vars(learner).update(attributes_of(_model(learner, state)), privacy_=state.fit.claim_so_far())


def _model(learner: Any, state: Stream) -> Model:
    """Return the model of the releases so far."""
    return model_of(learner, state.plan, learner.model_.reads, learner.model_.n_columns, state)


def _plan(learner: Any, task: Task) -> tuple[WinnowPlan, Plan, Solved]:
    """Return the numbers of a stream, its plan and the noise of this."""
    settings, numbers = plan_numbers(learner, task, streaming)
    warn_of_paper(settings, numbers)
    plan = Plan(**numbers.releases(numbers.most_updates))
    return numbers, plan, plan.solve(task)


def _begin(learner: Any, X: Any, y: Any, classes: Any) -> tuple[Stream, Any, Any]:
    """Return a stream that was charged, its first rows and their signs."""
    source = with_labels(Memory(X), y)
    reader, rng = reader_of(learner, source, vectors=learner.schema is None)
    if learner.probability_share:
        raise ValueError(
            "a stream gives no probabilities, as its model never stands still: probability_share must be 0, got "
            f"{learner.probability_share!r}"
        )
    reader.spares_unlabelled = False  # a row has a place
    if reader.schema is not None:
        refuse_open(reader.schema)
    fit = Fit(Charge(learner), rng)
    parts, form, public = reader.open_parts(reader.read(fit, classes))
    names: Any = public.classes
    task = reader.task(form, public.n_rows, tuple(names.tolist()), 2)
    numbers, plan, solved = _plan(learner, task)
    file = None if learner.checkpoint is None else Checkpoint.new(learner.checkpoint)
    with nullcontext() if file is None else file.beginning(), publishing(learner, reader, fit):
        scores, first = score_vector(form, numbers.window), first_hypothesis(learner, task.n_columns)
        run = Run(fit, plan, solved)
        state = Stream(numbers, scores, form.unit, first, run, fit=fit, file=file)
        run.model = model = model_of(learner, numbers, form.reads, task.n_columns, state)
        if file is not None:
            state.parameters = _rehearse(learner, reader, state, public, model, *in_order(parts))
        fit.charge(public, solved.cost, plan.times)  # nothing is drawn yet
    learner._state = state
    return state, *in_order(parts)


def _rehearse(learner, reader, state, public, model, rows, signs) -> dict:
    """Return the parameters for the checkpoint, after a test write as large as the first call may need."""
    other, facts = copy(learner), state.fit.charges.facts(public)
    attributes = reader.attributes(public, facts) | attributes_of(model)
    publish(other, attributes | {"privacy_": state.fit.charges.claim(state.plan.cost)}, facts)
    fitted = other._saver.document()
    state.file.rehearse(
        learner._model, {"fitted": fitted, "stream": state.document()}, state.scores.arrays(), state.growth(rows, signs)
    )
    return fitted["parameters"]


def _schema_of(learner: Any) -> Schema | None:
    """Return the schema of the rows of a stream, if there is one."""
    if hasattr(learner, "classes_"):
        return learner.encoder_.schema_ if hasattr(learner, "encoder_") else None
    schema: Any = learner._checked().schema
    return schema if isinstance(schema, Schema) else None


def _labels_of(learner: Any, X: Any, y: Any) -> Any:
    """Return the labels of a call: y, or a column of X that y or the schema names; None if there are none."""
    source, schema = with_labels(Memory(X), y), _schema_of(learner)
    labels, label = source.y, None if schema is None else schema.label
    if labels is None and not isinstance(X, CodeTable):
        name = source.label or (None if label is None else label.name)
        if schema is None or name is None or not is_frame(X):
            return y
        if label is not None and label.name != name:
            raise ValueError(f"y names the label {name!r}, and the schema declares {label.name!r}")
        frame = Frame(X)
        refuse_lacking([name], frame.names)
        labels = frame.stored(name)
    if labels is None or label is None or label.above is None:
        return labels
    numbers, identities = number_labels(labels, missing_labels(label.classes, schema.missing_values))  # type: ignore[union-attr]
    of_text = [
        class_name or plain(each)
        for class_name, each in zip(classes_above(identities, label.above), identities, strict=True)
    ]
    return LabelColumn(numbers, text_array(of_text), "text")


def _filled(learner: Any, y: Any, labels: Any, classes: Any) -> tuple[Any, np.ndarray]:
    """Return the labels of the first call as declared classes, a class for each that is missing, and those rows.

    Labels are read alike whether or not one of them is missing, and nothing of other rows depends on it. `y` is the
    argument, which is returned if no classes are declared.
    """
    schema = _schema_of(learner)
    marks = () if schema is None else schema.missing_values
    if classes is None and schema is not None and schema.label is not None:
        classes = schema.label.classes
    if labels is None or isinstance(labels, str):
        return y, np.zeros(0, np.int64)
    if classes is None:
        if have_labels(labels, None, marks) is not None:
            raise ValueError("some rows have no label: the first call of a stream with such rows needs classes=")
        return y, np.zeros(0, np.int64)
    codes = read_labels(labels, classes, marks)
    filled = LabelColumn(np.maximum(codes.codes, 0), codes.classes)
    name = y if isinstance(y, str) else getattr(y, "name", None)
    filled.name = name if isinstance(name, str) else None
    return filled, np.flatnonzero(codes.codes < 0)


def _read_next(learner: Any, X: Any, y: Any) -> tuple[Any, Any]:
    """Return the rows of a call that continues the stream, and the signs of their labels, 0 for those without one."""
    schema = _schema_of(learner)
    rows = learner._read_rows(X)
    if y is None:
        raise ValueError("y must be given: the schema declares no label")
    codes = codes_among(of_rows(y, rows.shape[0]), learner.classes_, () if schema is None else schema.missing_values)
    signs = Labels(codes, learner.classes_, True).signs()
    signs[codes < 0] = 0
    return rows, signs


def _follow(learner: Any, state: Stream, rows: Any, signs: Any) -> np.ndarray:
    """Return the predictions; with a file, every release has been written before it is shown."""
    if state.file is None:
        return state.follow(rows, signs)
    before = state.released[:], state.updates
    try:
        predicted = state.follow(rows, signs)
        _show(learner, state)
        fitted = learner._saver.document() | {"parameters": state.parameters}  # regardless of later changes
        state.file.write(learner._model, {"fitted": fitted, "stream": state.document()}, state.scores.arrays())
    except BaseException:
        state.released, state.updates = before
        raise
    return predicted

"""Base classes of the private learners of a hypothesis class: points, labels 0 and 1, a hypothesis, a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting.numbers import split
from dpfast.base.batches import in_batches
from dpfast.base.fitting import Fit, Public, attributes_of, fitting
from dpfast.base.model import IntArray
from dpfast.base.parameters import (
    BETWEEN_0_AND_1,
    Kind,
    PrivateParameters,
    count,
    described,
    estimator,
    optional,
    parameter,
    real,
)
from dpfast.base.plan import Plan, Proved, Task
from dpfast.base.reporter import ModelReporter
from dpfast.base.run import Run
from dpfast.base.saving import document_of, name_label, save
from dpfast.base.scikit import BaseEstimator, ClassifierMixin
from dpfast.learners.counted import CountedModel, counting, counts_name
from dpfast.learners.probabilities import PROBABILITY_SHARE, confusion, if_counted
from dpfast.mechanisms import AboveThreshold, sparse_sample
from dpfast.mechanisms.sparse_sample import votes
from dpfast.tables.arrays import refuse_parts

from .closed_forms import PointFunctions, Thresholds
from .hypothesis import Hypothesis, read_hypothesis
from .hypothesis_class import HypothesisClass, check_labels
from .listed import FiniteClass
from .splits import essential_lists

_KINDS = {kind.__name__: kind for kind in (FiniteClass, PointFunctions, Thresholds)}


@estimator
class PrivatePointClassifier(PrivateParameters, ClassifierMixin, BaseEstimator):
    """Base of the private learners of a hypothesis class; has the parameters `hypothesis_class` and `dimension`.

    A subclass defines `_numbers`, which returns the numbers of a run with checked parameters, and `plan`.

    Attributes
    ----------
    classes_ : ndarray, [0, 1]
    n_features_in_ : int, 1
    privacy_ : dpfast.accounting.PrivacySpend
        The claim of everything that the fit or the stream released.
    """

    hypothesis_class: Any = field(
        default=None,
        kw_only=False,
        metadata=described(
            Kind("be a class of dpfast.littlestone", lambda value: isinstance(value, HypothesisClass)),
            "FiniteClass, PointFunctions or Thresholds",
            saved=False,  # but with the released values
        ),
    )
    dimension: int | None = parameter(
        None,
        optional(count(0, 1 << 20)),
        """int or None, default=None
    The dimension d, at least LDim, which is the default; a class of a larger dimension is refused.""",
    )
    max_work: int = parameter(
        10**9,
        count(1),
        """int, default=10**9
    Limit of the number of items on all lists of a fit or a release; learning that may exceed it is refused.""",
    )

    save = save
    name_label = name_label

    def plan(self, task: Task) -> Plan:
        """Return everything that a fit or a stream releases; a function of the parameters and of the task alone.

        Parameters
        ----------
        task : Task

        Returns
        -------
        Plan
        """
        raise NotImplementedError

    def estimate(self) -> Any:
        """Return the numbers of a run and what it needs, from the parameters alone.

        Returns
        -------
        named tuple
        """
        return self._numbers(self._foreseen())

    def _foreseen(self, task=None):
        """Return the plain values of the parameters that determine a plan; of a task, if given, its budget."""
        p = self._values()
        return p if task is None else p.but(epsilon=task.epsilon, delta=task.delta, neighbors=task.neighbors)

    @contextmanager
    def _running(self, n_rows: int, rng: np.random.Generator) -> Iterator[tuple[Run, Fit]]:
        """Charge for the plan, and run the block; the run's model is published, also after an interruption."""
        whole = self._values()
        public = n_rows if whole.neighbors == "replace" else None
        task = Task(whole.epsilon, whole.delta, whole.neighbors, classes=(0, 1), n_rows=public)
        plan = self.plan(task)
        solved = plan.solve(task)
        with fitting(self, rng) as fit:
            fit.charge(Public(n_rows, 1, classes=np.array([0, 1])), solved.cost, plan.times)
            yield Run(fit, plan, solved, lambda rounds, *_: rounds), fit

    def predict(self, X: Any) -> np.ndarray:
        """Return the labels of points predicted by the last released hypothesis.

        Parameters
        ----------
        X : array_like of int, shape (n,) or (n, 1)

        Returns
        -------
        ndarray of int64, shape (n,)
        """
        check_is_fitted(self)
        return self.hypothesis_(self._points(X)).astype(np.int64)

    def _points(self, X):
        """Return X as int64, shape (n,)."""
        refuse_parts(X)
        X = np.asarray(X)
        if X.ndim == 2 and X.shape[1] == 1:
            X = X[:, 0]
        if X.ndim != 1:
            raise ValueError(f"X must be points, integers of shape (n,) or (n, 1), got shape {X.shape}")
        return self.hypothesis_class.check_points(X)

    def _examples(self, X, y):
        points, labels = self._points(X), check_labels(y)
        if labels.shape != points.shape:
            raise ValueError(f"y must have shape {points.shape}, one label a point, got {labels.shape}")
        if not len(points):
            raise ValueError("X must have at least one point, got none")
        return points, labels

    def _dimension(self, p):
        """Return the dimension d in use: the declared one, or that of the class, which must have members."""
        p.hypothesis_class._check_members()
        if p.dimension is None:
            return p.hypothesis_class.littlestone_dimension()
        return p.hypothesis_class._check_declared(p.dimension)

    @staticmethod
    def _check_work(p, items):
        if items > p.max_work:
            raise ValueError(f"there may be {items:,} items on the teachers' lists, more than max_work={p.max_work:,}")

    @property
    def _saver(self):
        return PointSaver(self)

    @property
    def _reporter(self):
        return ModelReporter(self)

    def _released(self):
        kind = {"kind": type(self.hypothesis_class).__name__}
        return {"class": kind | self.hypothesis_class._to_document(), "hypothesis": self.hypothesis_._to_document()}

    def _restore(self, released):
        saved = released["class"]
        if saved["kind"] not in _KINDS:
            raise ValueError(f"unknown kind of class {saved['kind']!r}")
        self.hypothesis_class = _KINDS[saved["kind"]]._from_document(saved)
        self.hypothesis_ = read_hypothesis(released["hypothesis"], self.hypothesis_class)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.two_d_array = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


class PointSaver:
    """Saver of a private learner of a hypothesis class, like `dpfast.base.saver.ModelSaver`."""

    def __init__(self, learner: PrivatePointClassifier):
        self._learner = learner

    def document(self) -> dict[str, Any]:
        """Return the entries of the file."""
        attributes = vars(self._learner)
        entries = attributes["model_"].file_entries() if "model_" in attributes else {}
        return document_of(self._learner, self.released(), 1, None, **entries)

    def released(self) -> dict[str, Any]:
        """Return the class and the hypothesis, and what else was released."""
        return self._learner._released()

    def read_released(self, saved: Any) -> None:
        """Let the learner have what was released, by a file."""
        self._learner._restore(saved)

    def read_entries(self, document: dict[str, Any]) -> None:
        """Read what the file holds besides, for models that know of it."""
        if "class_counts" in document:
            task = Task(self._learner.epsilon, self._learner.delta, classes=(0, 1))
            vars(self._learner).update(attributes_of(self._learner.model_.with_entries(document, task)))


@dataclass(frozen=True)
class Selected(CountedModel):
    """The hypothesis that a fit has released, and whether it was drawn.

    `step` is the number of the step at which its teachers agreed, by the name `step_name`.
    """

    hypothesis: Hypothesis
    step_name: str
    step: int | None = None
    selected: bool = False

    def classify(self, rows: Any) -> IntArray:
        return self.hypothesis(rows).astype(np.int64)

    def released(self) -> dict[str, Any]:
        return {"hypothesis": self.hypothesis, "selected": self.selected, self.step_name: self.step}


@estimator
class CountedPointClassifier(PrivatePointClassifier):
    """Base of the learners that learn once from a table, so that their predictions can be counted.

    Attributes
    ----------
    class_counts_ : ndarray of int64, shape (2, 2)
        Noisy counts of rows by predicted class and by true class; the noise has scale `class_counts_scale_`. Only with
        `probability_share`.
    hypothesis_ : Hypothesis
        The drawn hypothesis, or the SOA of the class if none was drawn. It need not be a member.
    selected_ : bool
        Whether a hypothesis was drawn.
    """

    _step: ClassVar[str]  # what a step is called
    _tested: ClassVar[str]  # the name of the release that tests steps
    _first: ClassVar[int] = 0  # the number of the first step
    probability_share: float = PROBABILITY_SHARE
    accuracy: float = field(
        default=0.1,
        kw_only=False,
        metadata=described(
            real(0, 0.5, "()"),
            "float in (0, 1/2), default=0.1\n    The error alpha to aim for, assuming that some member has error 0.",
        ),
    )
    confidence: float = parameter(
        0.1,
        BETWEEN_0_AND_1,
        "float in (0, 1), default=0.1\n    The failure probability beta for which the run is planned.",
    )
    threshold_share: float = parameter(
        0.5, BETWEEN_0_AND_1, "float in (0, 1), default=0.5\n    The share of epsilon for AboveThreshold."
    )

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from examples; what is invalid or exceeds the budget is refused before anything is charged or drawn.

        Parameters
        ----------
        X : array_like of int, shape (n,) or (n, 1)
            Points.
        y : array_like of 0 and 1, shape (n,)

        Returns
        -------
        self
        """
        p = self._checked()
        self._learn(p, *self._examples(X, y))
        return self

    def plan(self, task: Task) -> Plan:
        p = self._foreseen(task)
        numbers = self._numbers(p, task.n_rows or 0)
        return Plan(
            **{self._tested: Proved("threshold", numbers.threshold_epsilon)},
            hypothesis=Proved("exponential", numbers.exponent, size=numbers.list_items),
            **self._further(p, numbers),
            **counting(p.probability_share, task, ()),
        )

    def _further(self, p, numbers):
        """Return further releases, between the hypothesis and the counts."""
        return {}

    def _learn(self, p, points, labels):
        numbers, H = self._numbers(p, len(points) if p.neighbors == "replace" else 0), p.hypothesis_class
        with self._running(len(points), p.rng) as (run, _):
            run.model = Selected(H.soa_hypothesis(), self._step)
            code = self._agree(p, run, numbers, points, labels)
            self._refine(p, run, code, points, labels)
            if p.probability_share:
                name, predicted = counts_name(p.probability_share), run.model.classify(points)
                counts = run.release(name, confusion(predicted, labels.astype(np.int64), 2))
                run.model = run.model.counted(counts, run.scale(name))

    def _agree(self, p, run, numbers, points, labels):
        """Release the first step that passes a test, or none, and then a hypothesis; return its code, or None.

        A step passes if some hypothesis is on enough lists of the teachers' next classes. The hypothesis is drawn from
        these lists.
        """
        lists, d = [], self._dimension(p)

        def test(epsilon, rng):
            tests = AboveThreshold(numbers.votes_needed, epsilon, rng=rng)
            teachers, irreducibilities = self._teachers(p, numbers, points, labels, rng)
            for step, irreducibility in enumerate(irreducibilities, self._first):
                lists[:] = essential_lists([next(classes) for classes in teachers], irreducibility, d)
                _, score = votes(lists, max_length=numbers.list_bound)
                if tests.test(int(score.max(initial=0))):
                    return step
            return None

        run.model = replace(run.model, step=run.draw(self._tested, 1, test))
        if run.model.step is None:
            return None
        bounds = {"max_length": numbers.list_bound}
        code = run.draw(
            "hypothesis",
            1,
            lambda exponent, rng: sparse_sample(lists, exponent, numbers.bottom_score, **bounds, rng=rng),
        )
        hypothesis = run.model.hypothesis if code is None else p.hypothesis_class._hypothesis(code)
        run.model = replace(run.model, hypothesis=hypothesis, selected=code is not None)
        return code

    def _teachers(self, p, numbers, points, labels, rng):
        """Return the classes of each teacher, step by step, and the irreducibility of each step."""
        raise NotImplementedError

    def _refine(self, p, run, code, points, labels):
        """Release a hypothesis in place of the one with this code; by default none."""

    def _released(self):
        step = getattr(self, f"{self._step}_")
        return {**super()._released(), self._step: step, "selected": self.selected_}

    def _restore(self, released):
        super()._restore(released)
        step = released[self._step], bool(released["selected"])
        vars(self).update(attributes_of(Selected(self.hypothesis_, self._step, *step)))

    @if_counted("probability_share", "class_counts_")
    @in_batches("ndarray of float64, shape (n, n_classes)")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities of the classes, estimated from noisy counts; the label of `predict` has the largest."""
        check_is_fitted(self)
        return self.model_.shares(self._points(X))

    def _checked(self):
        return _without_counts(super()._checked())

    def _foreseen(self, task=None):
        return _without_counts(super()._foreseen(task))


def _without_counts(p):
    """Return checked parameters whose epsilon lacks the share for probabilities."""
    return p.but(epsilon=split(p.epsilon, p.probability_share)[0]) if p.probability_share else p

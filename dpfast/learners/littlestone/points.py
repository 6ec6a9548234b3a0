"""Base classes of the private learners of a hypothesis class: points, labels 0 and 1, a hypothesis, a file."""

from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.learners.fitting import Private, Public
from dpfast.learners.parameters import (
    BETWEEN_0_AND_1,
    Kind,
    Parameters,
    count,
    described,
    estimator,
    optional,
    parameter,
    real,
)
from dpfast.learners.probabilities import Probabilities, confusion, set_apart
from dpfast.learners.saving import Saved
from dpfast.learners.scikit import BaseEstimator, ClassifierMixin
from dpfast.mechanisms import sparse_sample
from dpfast.mechanisms.sparse_sample import votes
from dpfast.tables.arrays import refuse_parts

from .closed_forms import PointFunctions, Thresholds
from .hypothesis import Hypothesis, restored
from .hypothesis_class import HypothesisClass, check_labels
from .listed import FiniteClass
from .splits import essential_lists

_KINDS = {kind.__name__: kind for kind in (FiniteClass, PointFunctions, Thresholds)}


@estimator
class PrivatePointClassifier(Private, Saved, ClassifierMixin, BaseEstimator):
    """Base of the private learners of a hypothesis class; has the parameters `hypothesis_class` and `dimension`.

    A subclass defines `_plan`, which returns the plan of a run with checked parameters.

    Attributes
    ----------
    classes_ : ndarray, [0, 1]
    n_features_in_ : int, 1
    privacy_ : dpfast.accounting.PrivacySpend
        The claim of everything that the fit or the stream released.
    """

    _not_saved = (*Private._not_saved, "hypothesis_class")  # saved with the released values instead
    hypothesis_class: Any = field(
        default=None,
        kw_only=False,
        metadata=described(
            Kind("be a class of dpfast.littlestone", lambda value: isinstance(value, HypothesisClass)),
            "FiniteClass, PointFunctions or Thresholds",
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

    def estimate(self) -> Any:
        """Return the plan of a run and what it needs, from the parameters alone.

        Returns
        -------
        named tuple
        """
        return self._plan(self._foreseen())

    def _foreseen(self):
        """Return the plain values of the parameters that determine a plan."""
        return Parameters._checked(self)

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

    def _public(self, n_rows):
        return Public(n_rows, 1, classes=np.array([0, 1]))

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

    def _released(self):
        kind = {"kind": type(self.hypothesis_class).__name__}
        return {"class": kind | self.hypothesis_class._saved(), "hypothesis": self.hypothesis_._saved()}

    def _restore(self, released):
        saved = released["class"]
        if saved["kind"] not in _KINDS:
            raise ValueError(f"unknown kind of class {saved['kind']!r}")
        self.hypothesis_class = _KINDS[saved["kind"]]._from_saved(saved)
        self.hypothesis_ = restored(released["hypothesis"], self.hypothesis_class)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = tags.input_tags.two_d_array = True
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return tags


@dataclass
class Selected:
    """The hypothesis that a fit has released, and the step at which its teachers agreed."""

    hypothesis: Hypothesis
    step: int | None = None
    selected: bool = False  # whether the hypothesis was drawn


@estimator
class CountedPointClassifier(Probabilities, PrivatePointClassifier):
    """Base of the learners that learn once from a table, so that their predictions can be counted.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The drawn hypothesis, or the SOA of the class if none was drawn. It need not be a member.
    selected_ : bool
        Whether a hypothesis was drawn.
    """

    _step: ClassVar[str]  # what a step is called
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

    def _learn(self, p, points, labels):
        """Charge, and learn from examples."""
        raise NotImplementedError

    def _agree(self, p, run, plan, tests, teachers, irreducibilities, *, name, first=0):
        """Release the first step that passes a test, or none, and then a hypothesis; return its code, or None.

        A step passes if some hypothesis is on enough lists of the teachers' next classes. The hypothesis is drawn from
        these lists. `name` is that of the first release, and `first` the number of the first step.
        """
        released, d = run.released, self._dimension(p)
        for step, irreducibility in enumerate(irreducibilities, first):
            lists = essential_lists([next(classes) for classes in teachers], irreducibility, d)
            _, score = votes(lists, max_length=plan.list_bound)
            if tests.test(int(score.max(initial=0))):
                released.step = step
                break
        run.used[name] += 1
        if released.step is None:
            return None
        drawn = sparse_sample(lists, plan.exponent, plan.bottom_score, max_length=plan.list_bound, rng=run.rng)
        run.used["hypothesis"] += 1
        if drawn is not None:
            released.hypothesis, released.selected = p.hypothesis_class._hypothesis(drawn), True
        return drawn

    def _publish(self, run):
        self.hypothesis_, self.selected_ = run.released.hypothesis, run.released.selected
        setattr(self, f"{self._step}_", run.released.step)

    def _released(self):
        step = getattr(self, f"{self._step}_")
        return {**super()._released(), self._step: step, "selected": self.selected_}

    def _restore(self, released):
        super()._restore(released)
        self.selected_ = bool(released["selected"])
        setattr(self, f"{self._step}_", released[self._step])

    def _foreseen(self):
        return set_apart(super()._foreseen())

    def _count_predictions(self, run, p, hypothesis, points, labels):
        self._count_classes(run, p, lambda: confusion(hypothesis(points).astype(np.int64), labels.astype(np.int64), 2))

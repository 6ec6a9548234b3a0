"""Agnostic learning of a finite class, by one draw of the exponential mechanism."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting.claims.noise import changed_rows
from dpfast.accounting.numbers import decimal_below, exact, split
from dpfast.base.forms import Bits, Form
from dpfast.base.model import IntArray
from dpfast.base.parameters import BETWEEN_0_AND_1, estimator, parameter
from dpfast.base.plan import ExponentialDraw, Plan, Task
from dpfast.base.run import Rows, Run
from dpfast.base.saving import entries, integer, integers
from dpfast.kernels import bits, scores
from dpfast.learners.counted import CountedClassifier, CountedModel
from dpfast.learners.probabilities import confusion
from dpfast.tables import BitMatrix, CodeTable
from dpfast.tables.arrays import as_numbers, as_objects
from dpfast.tables.classes import two_classes
from dpfast.tables.row_array import by_row


@dataclass(frozen=True)
class Arrays(Form):
    """Rows as arrays of numbers, which functions read."""

    def coded(self, X: Any) -> Any:
        return _refuse_codes(X)

    def rows(self, X: Any) -> np.ndarray:
        return by_row(as_numbers(X))


@dataclass(frozen=True)
class Points(Form):
    """Rows of one number below `n_points`."""

    n_points: int

    def coded(self, X: Any) -> Any:
        X = as_objects(_refuse_codes(X))
        return X[:, np.newaxis] if X.ndim == 1 else X

    def rows(self, X: Any) -> np.ndarray:
        """Return a column as numbers of points: int64, shape (n, 1)."""
        X = as_numbers(X)
        if X.shape[1] != 1:
            raise ValueError(f"X must hold one number of a point in each row for a table, got shape {X.shape}")
        points = X[:, 0]
        if not ((points >= 0) & (points < self.n_points) & (points == np.floor(points))).all():
            raise ValueError(
                f"X must hold numbers of points in [0, {self.n_points}), got {points.min()} to {points.max()}"
            )
        return points.astype(np.int64)[:, np.newaxis]


def _refuse_codes(X):
    if isinstance(X, CodeTable):
        raise ValueError('schema is for hypotheses="features"')
    return X


@dataclass(frozen=True)
class FiniteModel(CountedModel):
    """Base of the models: a hypothesis, by its number, out of so many."""

    hypothesis: int
    n_hypotheses: int

    def check(self) -> None:
        integer(self.n_hypotheses, 1, 1 << 62)
        integer(self.hypothesis, 0, self.n_hypotheses - 1)

    def released(self) -> dict[str, Any]:
        return {"hypothesis": self.hypothesis, "n_hypotheses": self.n_hypotheses}

    def to_dict(self) -> dict[str, Any]:
        return {"hypothesis": self.hypothesis, "of": self.n_hypotheses, "labels": None}


@dataclass(frozen=True)
class FeatureModel(FiniteModel):
    """A feature of bits, its negation, or a constant class."""

    def classify(self, rows: Any) -> IntArray:
        d, h = rows.shape[1], self.hypothesis
        if h >= 2 * d:
            return np.full(len(rows), int(h > 2 * d))
        return (bits.unpack(rows.column(h % d)[np.newaxis], len(rows))[0] != (h >= d)).astype(np.int64)


@dataclass(frozen=True)
class PointModel(FiniteModel):
    """The class of each point."""

    labels: IntArray

    def classify(self, rows: Any) -> IntArray:
        return self.labels[rows[:, 0]]

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"labels": self.labels.tolist()}


@dataclass(frozen=True)
class FunctionModel(FiniteModel):
    """A function of rows, which no file can hold."""

    function: Callable[[Any], Any]
    classes: np.ndarray

    def classify(self, rows: Any) -> IntArray:
        codes = _codes(self.function, rows, self.classes)
        if (codes < 0).any():
            raise ValueError(f"hypothesis {self.hypothesis} gave a label not among {self.classes.tolist()}")
        return codes

    def to_dict(self) -> dict[str, Any]:
        raise ValueError("a hypothesis that is a function cannot be saved; keep hypothesis_, its number")


@estimator
class FiniteClassLearner(CountedClassifier, name="finite-class"):
    """Private agnostic learner of an explicit finite class [DR11, section 11.1]_.

    `fit` draws hypothesis h with probability exactly proportional to exp(-t * errors(h)).

    **Privacy.** The hypothesis is epsilon-DP for the relation `neighbors`. One row changes the number of errors of each
    hypothesis by at most one. The vector of errors therefore changes by a vector of range R = 2 if a row is replaced,
    and R = 1 if a row is added or deleted, since all numbers then change in the same direction; t = epsilon / R.
    Source: McSherry, Talwar 2007, see `dpfast.mechanisms.exponential`. A hypothesis must label each row by that row
    alone. The class is public.

    Parameters
    ----------
    hypotheses : "features", BitMatrix or array_like of bool, shape (n_hypotheses, n_points), or sequence of callables
        With "features", the default, and X of d columns of bits: hypothesis j < d is column j, where 1 means
        classes_[1]; d + j is its negation, 2d is always classes_[0], and 2d + 1 is always classes_[1]. Alternatively, a
        table of labels, where 1 means classes_[1] and X holds numbers of points; or functions from X to labels of shape
        (n,), or to booleans, where True means classes_[1]. Functions are called with an array of the type of X; a list
        and an array of objects, which have no type, become float64.
    threshold : None, float or array_like of float, shape (d,), default=0.0
        As in `DecisionListClassifier`; threshold and schema are for "features".

    Attributes
    ----------
    hypothesis_ : int
        The number of the drawn hypothesis.
    n_hypotheses_ : int

    Notes
    -----
    A table and features are evaluated with one read of the rows; each function is called once, on all rows.

    Examples
    --------
    >>> thresholds = np.arange(10) >= np.arange(11)[:, np.newaxis]
    >>> points = np.random.default_rng(0).integers(0, 10, 500)
    >>> clf = FiniteClassLearner(hypotheses=thresholds, random_state=0).fit(points, points >= 7)
    >>> clf.hypothesis_
    7
    """

    hypotheses: Any = parameter("features", saved=False)
    threshold: ArrayLike | None = parameter(0.0)
    delta: float = field(default=0.0, init=False)
    verbose: bool = field(default=False, init=False)

    spares_unlabelled = True

    @property
    def reads(self) -> Form:
        """Return the form of the rows, which follows from the kind of hypotheses."""
        if self._of_features():
            return Bits(self.threshold, several_classes=False)
        model = vars(self).get("model_")
        if self.hypotheses is None and isinstance(model, PointModel):  # from a file
            return Points(len(model.labels), one_column=True, sparse=False)
        table = self._class()
        return Arrays(sparse=False) if table is None else Points(table.shape[1], one_column=True, sparse=False)

    def plan(self, task: Task) -> Plan:
        if not isinstance(self.reads, Arrays) and task.classes is not None:
            two_classes(np.array(task.classes))
        draw = ExponentialDraw(task.changed_rows, size=self._number(task))
        return Plan(hypotheses=draw, **self.counting(task))

    def learn(self, rows: Rows, plan: Plan, run: Run) -> FiniteModel:
        table, number = self._class(), self._number(rows.task)
        index = run.select("hypotheses", -rows.prepared)
        model: FiniteModel
        if self._of_features():
            model = FeatureModel(index, number)
        elif table is None:
            model = FunctionModel(index, number, self.hypotheses[index], rows.classes)
        else:
            model = PointModel(index, number, bits.unpack(table.rows[[index]], table.shape[1])[0].astype(np.int64))
        return self.count(model, run, lambda: rows.sum(_count_confusion, model, rows.n_classes))

    def prepare(self, rows: Rows) -> np.ndarray:
        """Return the errors of each hypothesis, exact and private; a function of others may fail here.

        Parameters
        ----------
        rows : Rows

        Returns
        -------
        ndarray of int64, shape (n_hypotheses,)
        """
        if self._of_features():
            return rows.sum(_feature_errors)
        table = self._class()
        if table is None:
            return rows.sum(_function_errors, tuple(self.hypotheses), rows.classes)
        return rows.sum(_table_errors, table)

    def excess_errors(self, failure: float = 0.05) -> float:
        """Return a bound on the excess errors over the best hypothesis; it fails with probability at most `failure`.

        Parameters
        ----------
        failure : float in (0, 1)

        Returns
        -------
        float
            ln(n_hypotheses / failure) / t.
        """
        check_is_fitted(self)
        failure = BETWEEN_0_AND_1.read("failure", failure)
        epsilon = self.epsilon
        if hasattr(self, "encoder_") and self.encoder_.privacy_.epsilon > 0:
            epsilon = decimal_below(exact("epsilon", epsilon) - exact("spent", self.encoder_.privacy_.cost[0].pure))
        if self.probability_share:
            epsilon = split(epsilon, self.probability_share)[0]
        return math.log(self.n_hypotheses_ / failure) / float(
            self._exponent(epsilon) / (self.privacy_.rows_per_unit or 1)
        )

    def _exponent(self, epsilon):
        """Return t, exactly; a float epsilon is read as the decimal number that it prints as."""
        return exact("epsilon", epsilon) / changed_rows(self.neighbors)

    def _class(self):
        """Return the hypotheses as a BitMatrix, or None if they are functions or features."""
        hypotheses = self.hypotheses
        if self._of_features():
            return None
        if hypotheses is None or isinstance(hypotheses, str):
            raise ValueError(
                'hypotheses= must be given: a table of bits, a sequence of functions, or "features"'
                + (f", got {hypotheses!r}" if hypotheses else "")
            )
        if isinstance(hypotheses, BitMatrix):
            return hypotheses
        if isinstance(hypotheses, np.ndarray) and hypotheses.ndim == 2 and hypotheses.size:
            return BitMatrix(hypotheses)
        if len(hypotheses) == 0:
            raise ValueError("hypotheses is empty: there is nothing to choose from")
        callables = [callable(h) for h in hypotheses]
        if all(callables):
            return None
        if any(callables):
            raise ValueError("hypotheses must be functions all, or a table")
        lengths = {np.shape(h) for h in hypotheses}
        if len(lengths) > 1 or len(next(iter(lengths))) != 1:
            raise ValueError(f"hypotheses must be rows of labels for the same points, got shapes {sorted(lengths)[:4]}")
        return BitMatrix(hypotheses)

    def _of_features(self):
        return isinstance(self.hypotheses, str) and self.hypotheses == "features"

    def _number(self, task):
        """Return the number of hypotheses for rows of a task."""
        if self._of_features():
            return 2 * task.n_columns + 2
        table = self._class()
        return len(self.hypotheses) if table is None else len(table)

    def read_model(self, saved: Any, task: Task) -> FiniteModel:
        width = task.n_columns
        labels = entries(saved, "hypothesis", "of", "labels")["labels"]
        number = integer(saved["of"], 1, 1 << 62)
        if number != 2 * width + 2 if labels is None else width != 1:
            raise ValueError(f"{number} hypotheses are not those of {width} features")
        self.hypotheses = "features" if labels is None else None
        if labels is None:
            return FeatureModel(saved["hypothesis"], number)
        return PointModel(saved["hypothesis"], number, integers(labels, 0, 1))


def _table_errors(piece, table):
    """Return the errors of each hypothesis: those of labels that are all 0, plus the changes by its ones."""
    positive = piece.labels > 0
    weight = np.bincount(piece.rows[:, 0], np.where(positive, -1, 1), minlength=table.shape[1]).astype(np.int64)
    index = np.flatnonzero(weight)
    return np.count_nonzero(positive) + scores.votes_packed(
        table.rows, table.shape[1], index, weight[index], encoding="01"
    )


def _feature_errors(piece):
    """Return the errors of each feature, of each negated feature, and of the two constant hypotheses."""
    positive = piece.labels > 0
    n, wrong = len(positive), np.count_nonzero(positive)  # of the hypothesis that is always classes_[0]
    weight = np.where(positive, -1, 1).astype(np.int64)
    errors = wrong + scores.votes_packed(piece.rows.columns, n, np.arange(n), weight, encoding="01")
    return np.concatenate([errors, n - errors, [wrong, n - wrong]])


def _function_errors(piece, hypotheses, classes):
    return np.array([np.count_nonzero(_codes(h, piece.rows, classes) != piece.labels) for h in hypotheses])


def _count_confusion(piece, model, classes):
    if isinstance(model, FunctionModel):  # a label that is no class counts as the first; `predict` refuses it
        predicted = np.maximum(_codes(model.function, piece.rows, model.classes), 0)
    else:
        predicted = model.classify(piece.rows)
    return confusion(predicted, piece.labels, classes)


def _codes(hypothesis, X, classes):
    """Return the class numbers that a function predicts; -1 for labels outside the classes."""
    labels = np.asarray(hypothesis(X))
    if labels.shape != (len(X),):
        raise ValueError(f"hypotheses must give one label for each of {len(X)} rows, got shape {labels.shape}")
    if labels.dtype == bool:
        return labels.astype(np.int64)
    at = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[at] == labels, at, -1)

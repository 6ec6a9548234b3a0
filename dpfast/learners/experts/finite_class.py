"""Agnostic learning of a finite class, by one draw of the exponential mechanism."""

import math
from collections.abc import Callable
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted, validate_data

from dpfast.accounting import Cost
from dpfast.accounting.numbers import decimal_below, exact, float_above, split
from dpfast.kernels import bits, scores
from dpfast.learners.base import PrivateClassifier, packed_rows
from dpfast.learners.batches import in_batches
from dpfast.learners.parameters import BETWEEN_0_AND_1, changed_rows, estimator, parameter
from dpfast.learners.probabilities import Probabilities, confusion
from dpfast.learners.saving import entries, integer, integers
from dpfast.mechanisms import exponential
from dpfast.tables import BitMatrix
from dpfast.tables.arrays import as_numbers, untyped
from dpfast.tables.code_bits import packed_codes
from dpfast.tables.labels import two_classes


@estimator
class FiniteClassLearner(Probabilities, PrivateClassifier):
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

    _model = "finite-class"
    _reads_parts = True
    _not_saved = (*PrivateClassifier._not_saved, "hypotheses")
    hypotheses: Any = parameter("features")
    threshold: ArrayLike | None = parameter(0.0)
    delta: float = field(default=0.0, init=False)
    verbose: bool = field(default=False, init=False)

    def _checked(self, X=None, y=None, units=None):
        p = super()._checked(X, y, units)
        p.table = self._class()
        p.one_column = p.table is not None
        if p.schema is not None and not self._of_features():
            raise ValueError('schema is for hypotheses="features"')
        return p

    def _learn(self, table, p, run):
        hypotheses = p.table
        image: Callable[[Any], Any]
        question: Callable[..., np.ndarray]
        arguments: tuple[Any, ...]
        if self._of_features():
            image, question, arguments = partial(_features, threshold=self.threshold), _feature_errors, ()
        elif hypotheses is None:
            image, question, arguments = as_numbers, _function_errors, (tuple(self.hypotheses),)
        else:
            image, question = partial(_numbers_of_points, n_points=hypotheses.shape[1]), _table_errors
            arguments = (hypotheses,)
        parts, _, public = self._asked(table, image)
        if question is not _function_errors:
            two_classes(public.classes)
        errors = parts.sum(question, *arguments, *([public.classes] if question is _function_errors else []))
        public.others["n_hypotheses_"] = len(errors)

        cost = [Cost("range", float_above(exact("epsilon", p.epsilon)))]
        run.charge(public, self._all_costs(cost, p), hypotheses=1, **p.counting)
        drawn = exponential(-errors, self._exponent(p.epsilon) / p.rows_per_unit, rng=run.rng)
        labelling = None if hypotheses is None else bits.unpack(hypotheses.rows[[drawn]], hypotheses.shape[1])[0]
        run.release("hypotheses", drawn, labelling)
        if hypotheses is not None:
            predict = partial(_predict_by_point, labelling=labelling)
        elif self._of_features():
            predict = partial(_predict_by_feature, h=drawn)
        else:
            predict = partial(_predict_by_function, hypothesis=self.hypotheses[drawn], classes=public.classes)
        self._count_classes(run, p, lambda: parts.sum(_confused, predict, len(public.classes)))

    def _publish(self, run):
        if run.released:
            self.hypothesis_, self._labelling = run.released

    @in_batches()
    def predict(self, X: Any) -> np.ndarray:
        check_is_fitted(self, "hypothesis_")
        X = self._coded(X)
        if self._of_features():
            X = _features(X, self.threshold)
            self._check_features(X)
            return self.classes_[_predict_by_feature(X, self.hypothesis_)]
        if self._labelling is None:
            numbers = as_numbers(X)
            validate_data(self, X if hasattr(X, "columns") else numbers, skip_check_array=True, reset=False)
            X = numbers
            codes = _codes(self.hypotheses[self.hypothesis_], X, self.classes_)
            if (codes < 0).any():
                raise ValueError(f"hypothesis {self.hypothesis_} gave a label not among {self.classes_.tolist()}")
            return self.classes_[codes]
        X = as_numbers(_column(X))
        validate_data(self, X, skip_check_array=True, reset=False)
        return self.classes_[self._labelling[_points(X, len(self._labelling))].astype(int)]

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

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._of_features()
        tags.classifier_tags.multi_class = not self._of_features()
        return tags

    def _released(self):
        if self._labelling is None and not self._of_features():
            raise ValueError("a hypothesis that is a function cannot be saved; keep hypothesis_, its number")
        labels = None if self._labelling is None else self._labelling.astype(int).tolist()  # None for features
        return {"hypothesis": self.hypothesis_, "of": self.n_hypotheses_, "labels": labels}

    def _restore(self, released):
        labels = entries(released, "hypothesis", "of", "labels")["labels"]
        self.n_hypotheses_ = integer(released["of"], 1, 1 << 62)
        self.hypothesis_ = integer(released["hypothesis"], 0, self.n_hypotheses_ - 1)
        self.hypotheses = "features" if labels is None else None
        self._labelling = None if labels is None else integers(labels, 0, 1).astype(bool)
        if self.n_hypotheses_ != 2 * self._width + 2 if labels is None else self._width != 1:
            raise ValueError(f"{self.n_hypotheses_} hypotheses are not those of {self._width} features")


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


def _confused(piece, predict, classes):
    return confusion(predict(piece.rows), piece.labels, classes)


def _predict_by_point(points, labelling):
    return labelling[points[:, 0]].astype(np.int64)


def _predict_by_function(X, hypothesis, classes):
    return np.maximum(_codes(hypothesis, X, classes), 0)  # -1, no class, is no class of the model: `predict` refuses it


def _predict_by_feature(table, h):
    """Return the class that hypothesis h of "features" predicts for each row: int64, shape (n,)."""
    d = table.shape[1]
    if h >= 2 * d:
        return np.full(len(table), int(h > 2 * d))
    return (bits.unpack(table.column(h % d)[np.newaxis], len(table))[0] != (h >= d)).astype(np.int64)


def _numbers_of_points(X, n_points):
    """Return a column as numbers of points: int64, shape (n, 1)."""
    return _points(as_numbers(X), n_points)[:, np.newaxis]


def _features(X, threshold):
    return packed_rows(packed_codes(X), threshold)


def _column(X):
    X = untyped(X)
    return X[:, np.newaxis] if X.ndim == 1 else X


def _points(X, n_points):
    """Return a column as numbers of points."""
    if X.shape[1] != 1:
        raise ValueError(f"X must hold one number of a point in each row for a table, got shape {X.shape}")
    points = X[:, 0]
    if not ((points >= 0) & (points < n_points) & (points == np.floor(points))).all():
        raise ValueError(f"X must hold numbers of points in [0, {n_points}), got {points.min()} to {points.max()}")
    return points.astype(np.int64)


def _codes(hypothesis, X, classes):
    """Return the class numbers that a function predicts; -1 for labels outside the classes."""
    labels = np.asarray(hypothesis(X))
    if labels.shape != (len(X),):
        raise ValueError(f"hypotheses must give one label for each of {len(X)} rows, got shape {labels.shape}")
    if labels.dtype == bool:
        return labels.astype(np.int64)
    at = np.searchsorted(classes, labels).clip(max=len(classes) - 1)
    return np.where(classes[at] == labels, at, -1)

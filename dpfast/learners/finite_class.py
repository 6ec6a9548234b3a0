"""Agnostic learning of a finite class by one draw of the exponential mechanism."""

import math
from fractions import Fraction
from numbers import Rational, Real

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from dpfast import random
from dpfast.accounting import PrivacySpend, Release
from dpfast.data import BitMatrix
from dpfast.kernels import bits, scores
from dpfast.learners.base import PrivateClassifier
from dpfast.mechanisms import exponential


class FiniteClassLearner(PrivateClassifier):
    """Private agnostic learner of an explicit finite class [DR11, section 11.1]_.

    Draws hypothesis h with probability proportional to exp(-t * errors(h)), exactly.

    **Privacy.** The hypothesis is epsilon-DP for the relation `neighbors`: one row changes each hypothesis's errors by
    at most one, so the vector of errors by one of range R = 2 when a row is replaced, and R = 1 when one is added or
    deleted, since all errors then move the same way; t = epsilon / R. Source: McSherry, Talwar 2007, see
    `dpfast.mechanisms.exponential`. A hypothesis must label each row by that row alone. The class is public.

    Parameters
    ----------
    epsilon : float, default=1.0
    hypotheses : BitMatrix or array_like of bool, shape (n_hypotheses, n_points), sequence of callables, or "features"
        A table of labels, 1 for classes_[1]; X then holds numbers of points. Or functions from X to labels, shape (n,);
        booleans stand for classes_[0] and classes_[1]. Or "features": of X with d columns of 0 and 1, hypothesis j < d
        is column j, 1 for classes_[1], d + j its negation, 2d always classes_[0], and 2d + 1 always classes_[1].
    neighbors : {"replace", "add-remove"}, default="replace"
    budget, random_state
        As in `DecisionListClassifier`.

    Attributes
    ----------
    hypothesis_ : int
        The number of the hypothesis drawn.
    n_hypotheses_ : int
    classes_ : ndarray, shape (n_classes,)
        Two of them for a table and for "features".
    n_features_in_, feature_names_in_, privacy_
        As in `DecisionListClassifier`.

    Notes
    -----
    A table costs one read, whatever the number of rows, and so do features; functions are called once each, on all
    rows.

    References
    ----------
    .. [DR11] C. Dwork, A. Roth, The Algorithmic Foundations of Differential Privacy, 2014, section 11.1.

    Examples
    --------
    >>> thresholds = np.arange(10) >= np.arange(11)[:, np.newaxis]
    >>> points = np.random.default_rng(0).integers(0, 10, 500)
    >>> clf = FiniteClassLearner(hypotheses=thresholds, random_state=0).fit(points, points >= 7)
    >>> clf.hypothesis_
    7
    """

    _model = "finite-class"
    _not_saved = (*PrivateClassifier._not_saved, "hypotheses")
    delta = 0.0

    def __init__(self, epsilon=1.0, *, hypotheses=None, neighbors="replace", budget=None, random_state=None):
        self.epsilon = epsilon
        self.hypotheses = hypotheses
        self.neighbors = neighbors
        self.budget = budget
        self.random_state = random_state

    def fit(self, X, y, *, classes=None):
        """Draw a hypothesis by its errors.

        Parameters
        ----------
        X : array_like of int, shape (n,) or (n, 1); array_like or DataFrame, shape (n, d), for callables
            For "features" 0 and 1, as an array, sparse matrix, DataFrame or BitMatrix, shape (n, d).
        y : array_like, shape (n,)
        classes : array_like, optional
            The public set of labels; read off y by default.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter or data that will not do, before anything is charged or drawn.
        BudgetExceeded
            If the budget does not suffice, before the data is read.
        """
        exponent = self._exponent()
        rng = random.generator(self.random_state)
        table = self._class()
        self._check_budget()
        if self._of_features():
            X = self._features(X, reset=True)
            errors = _feature_errors(X, self._signs(y, len(X), classes) > 0)
        elif table is None:
            X = validate_data(self, X)
            codes = self._labels(y, len(X), classes)
            errors = np.array([np.count_nonzero(self._codes(h, X) != codes) for h in self.hypotheses])
        else:
            points = self._points(X, table.shape[1], reset=True)
            positive = self._signs(y, len(points), classes) > 0
            errors = _table_errors(table, points, positive)

        self._charge()
        self.hypothesis_, self.n_hypotheses_ = exponential(-errors, exponent, rng=rng), len(errors)
        self._labelling = None if table is None else bits.unpack(table.rows[[self.hypothesis_]], table.shape[1])[0]
        self.privacy_ = PrivacySpend(
            self.epsilon,
            self.delta,
            self.neighbors,
            (Release("hypotheses", 1, 1),),
            reproducible=random.is_reproducible(rng),
        )
        return self

    def predict(self, X):
        """The labels that the hypothesis gives, shape (n,); X as in `fit`."""
        check_is_fitted(self)
        if self._of_features():
            return self.classes_[self._feature(self._features(X, reset=False)).astype(int)]
        if self._labelling is None:
            X = validate_data(self, X, reset=False)
            codes = self._codes(self.hypotheses[self.hypothesis_], X)
            if (codes < 0).any():
                raise ValueError(f"hypothesis {self.hypothesis_} gave a label not among {self.classes_.tolist()}")
            return self.classes_[codes]
        return self.classes_[self._labelling[self._points(X, len(self._labelling), reset=False)].astype(int)]

    def excess_errors(self, failure=0.05):
        """How many errors more than the best hypothesis the one drawn makes, but with probability `failure`.

        Parameters
        ----------
        failure : float in (0, 1)

        Returns
        -------
        float
            ln(n_hypotheses / failure) / t; it does not depend on the data.
        """
        check_is_fitted(self)
        if not isinstance(failure, Real) or not 0 < failure < 1:
            raise ValueError(f"failure must lie in (0, 1), got {failure!r}")
        return math.log(self.n_hypotheses_ / failure) / float(self._exponent())

    def _exponent(self):
        """t, exactly; a float epsilon is the decimal that it prints as."""
        epsilon = self.epsilon
        if isinstance(epsilon, bool) or not isinstance(epsilon, Real) or not 0 < epsilon < math.inf:
            raise ValueError(f"epsilon must be a finite number > 0, got {epsilon!r}")
        exact = Fraction(epsilon) if isinstance(epsilon, Rational) else Fraction(repr(float(epsilon)))
        return exact / (2 if self.neighbors == "replace" else 1)

    def _class(self):
        """The hypotheses as a BitMatrix, or None if they are functions or features."""
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

    def _points(self, X, n_points, *, reset):
        """X as numbers of points."""
        X = np.asarray(X)
        if X.ndim == 1:
            X = X[:, np.newaxis]
        X = validate_data(self, X, reset=reset)
        if X.shape[1] != 1:
            raise ValueError(f"X must hold one number of a point in each row for a table, got shape {X.shape}")
        points = X[:, 0]
        if not ((points >= 0) & (points < n_points) & (points == np.floor(points))).all():
            raise ValueError(f"X must hold numbers of points in [0, {n_points}), got {points.min()} to {points.max()}")
        return points.astype(np.int64)

    def _of_features(self):
        return isinstance(self.hypotheses, str) and self.hypotheses == "features"

    def _features(self, X, *, reset):
        """X as a BitMatrix, its width and names noted or checked."""
        table = BitMatrix(X)
        if 0 in table.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {table.shape}")
        self._check_features(X, reset)
        return table

    def _feature(self, table):
        """Where the hypothesis says classes_[1]: bool, shape (n,)."""
        d, h = self.n_features_in_, self.hypothesis_
        if h >= 2 * d:
            return np.full(len(table), h > 2 * d)
        return bits.unpack(table.column(h % d)[np.newaxis], len(table))[0] != (h >= d)

    def _codes(self, hypothesis, X):
        """Class numbers that a function gives; -1 for what is no class."""
        labels = np.asarray(hypothesis(X))
        if labels.shape != (len(X),):
            raise ValueError(f"hypotheses must give one label for each of {len(X)} rows, got shape {labels.shape}")
        if labels.dtype == bool:
            return labels.astype(np.int64)
        at = np.searchsorted(self.classes_, labels).clip(max=len(self.classes_) - 1)
        return np.where(self.classes_[at] == labels, at, -1)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _released(self):
        if self._labelling is None and not self._of_features():
            raise ValueError("a hypothesis that is a function cannot be saved; keep hypothesis_, its number")
        labels = None if self._labelling is None else self._labelling.astype(int).tolist()  # None for features
        return {"hypothesis": self.hypothesis_, "of": self.n_hypotheses_, "labels": labels}

    def _restore(self, released):
        self.hypothesis_, self.n_hypotheses_ = int(released["hypothesis"]), int(released["of"])
        self._labelling = None if released["labels"] is None else np.array(released["labels"], bool)
        if self._labelling is None:
            self.hypotheses = "features"
            if not 0 <= self.hypothesis_ < self.n_hypotheses_ == 2 * self.n_features_in_ + 2:
                raise ValueError(f"hypothesis {self.hypothesis_} of {self.n_hypotheses_} is no feature's")


def _table_errors(table, points, positive):
    """Errors of each hypothesis: those of all zeros, and what its ones change."""
    weight = np.bincount(points, np.where(positive, -1, 1), minlength=table.shape[1]).astype(np.int64)
    index = np.flatnonzero(weight)
    return np.count_nonzero(positive) + scores.votes_packed(
        table.rows, table.shape[1], index, weight[index], encoding="01"
    )


def _feature_errors(table, positive):
    """Errors of each feature, of each negated, and of either label always."""
    n, wrong = len(positive), np.count_nonzero(positive)  # by never saying classes_[1]
    weight = np.where(positive, -1, 1).astype(np.int64)
    errors = wrong + scores.votes_packed(table.columns, n, np.arange(n), weight, encoding="01")
    return np.concatenate([errors, n - errors, [wrong, n - wrong]])

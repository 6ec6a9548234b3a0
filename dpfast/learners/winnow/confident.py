"""ConfidentWinnow: online learning of linear thresholds, without privacy."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from dpfast.base.batches import in_batches
from dpfast.base.inputs import check_columns, public_of, refuse_weights
from dpfast.base.parameters import (
    FEATURE_RANGE,
    FIT_INTERCEPT,
    NEGATIONS,
    OUT_OF_RANGE,
    Parameters,
    auto,
    estimator,
    parameter,
    positive,
    real,
)
from dpfast.base.scikit import BaseEstimator, ClassifierMixin
from dpfast.kernels import reals
from dpfast.tables.code_bits import pack_codes
from dpfast.tables.labels import class_codes, codes_of_classes
from dpfast.tables.signed_rows import signed_rows

_ZERO = 1e-12
_PIECE = 1 << 26  # entries of a product, so that it ends within a second


@estimator
class WinnowClassifier(Parameters, ClassifierMixin, BaseEstimator):
    """ConfidentWinnow [BF, section 4.1]_: a sparse linear threshold, learned in one pass. **Not private.**

    Use this classifier for comparison with `DPWinnowClassifier`, and for data that need no protection. scikit-learn's
    `CalibratedClassifierCV` can add probabilities.

    The weights w are positive, sum to one, and start uniform. A row (x, y), y = +-1, is predicted by the sign of <w,
    x>, where 0 counts as +1. If the prediction is wrong, or if abs(<w, x>) <= confidence * margin and the row is
    marked, then w_j is multiplied by exp(learning_rate y x_j), and the weights are normalized.

    **Mistakes.** Every mistake causes an update. If some probability vector u has y <u, x> >= margin on every row,
    there are at most `dpfast.accounting.winnow_update_bound` updates for any marks [BF, Lemma 4.2]_. This bound is
    logarithmic in the dimension.

    Parameters
    ----------
    margin : float in (0, 1], default=0.1
        The margin rho that the rows are assumed to have.
    confidence : float in [0, 1), default=0.5
        The constant c: marked rows predicted with a margin of at most confidence * margin cause an update too.
    learning_rate : float or "auto", default="auto"
        The rate eta. "auto" is (1 - confidence) * margin, which minimizes the bound on updates.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_ : ndarray, shape (1, n_features_in_)
        Weights of features in [-1, 1]; the weight of a negated copy is subtracted from that of its feature.
    intercept_ : ndarray, shape (1,)
    updates_ : int
        The number of rows that have changed the weights.
    reads_ : {"signs", "numbers"}
        The type of entries that the model expects: booleans are signs, other numbers are used as they are.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.WinnowClassifier().fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.85
    True
    """

    margin: float = parameter(0.1, real(0, 1, "(]"))
    confidence: float = parameter(0.5, real(0, 1, "[)"))
    learning_rate: float | str = parameter("auto", auto(positive()))
    negations: bool = NEGATIONS
    fit_intercept: bool = FIT_INTERCEPT
    feature_range: Sequence[float] = FEATURE_RANGE
    out_of_range: str = OUT_OF_RANGE

    def fit(
        self, X: Any, y: Any, *, classes: ArrayLike | None = None, marks: ArrayLike | None = None, **refused: Any
    ) -> Self:
        """Learn from scratch, in one pass over the rows in the given order.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame, BitMatrix or CodeTable, shape (n, d)
        y : array_like, shape (n,)
            Labels of two classes.
        classes : array_like, optional
            The set of labels; by default it is read from y.
        marks : array_like of bool, shape (n,), optional
            b(t): whether a row may update the weights if its prediction is right but not confident. The default marks
            all rows; without marks this is Winnow, which learns from mistakes only.

        Returns
        -------
        self
        """
        refuse_weights(refused)
        return self._learn(X, y, classes, marks, reset=True)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, *, marks: ArrayLike | None = None, **refused: Any
    ) -> Self:
        """Continue learning from rows in the given order.

        Parameters
        ----------
        X, y, classes, marks
            As in `fit`; `classes`, or labels of both classes, in the first call.

        Returns
        -------
        self
        """
        refuse_weights(refused)
        return self._learn(X, y, classes, marks, reset=not hasattr(self, "coef_"))

    @in_batches("ndarray, shape (n,)")
    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted label of each row."""
        second = self.decision_function(X) >= 0
        return self.classes_[second.astype(np.intp)]

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the weighted vote on each row; a vote of at least 0 is for classes_[1].

        Parameters
        ----------
        X : table of a kind that `fit` takes, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
            In [-1, 1].
        """
        check_is_fitted(self)
        X = pack_codes(X)
        rows = self._rows(X, self.reads_)
        check_columns(self, X, self.n_features_in_, getattr(self, "feature_names_in_", None))
        return _votes(rows, np.append(self.coef_, self.intercept_))

    def _learn(self, X, y, classes, marks, *, reset):
        p = self._checked()
        eta = (1 - p.confidence) * p.margin if p.learning_rate == "auto" else float(p.learning_rate)
        X = pack_codes(X)
        rows = self._rows(X, None if reset else self.reads_)
        if not reset:
            check_columns(self, X, self.n_features_in_, getattr(self, "feature_names_in_", None))
        n = rows.shape[0]
        labels = class_codes(y, n, classes) if reset else codes_of_classes(y, n, self.classes_)
        signs, marked = labels.signs(), _read_marks(marks, n)
        if reset:
            scores, updates = np.zeros(rows.shape[1] + 1, np.int64), 0
        elif rows.unit != self._unit:
            raise ValueError(f"rows must be on the grid that learning began with, 1/{self._unit}")
        else:
            scores, updates = self._scores.copy(), self.updates_

        # A piece is twice as long as the last stretch without an update, so that each row is read only a few times.
        weights, start, length = _weights(eta / rows.unit * scores, p), 0, 1
        longest = max(1, _PIECE // rows.shape[1])
        while start < len(signs):
            piece = slice(start, start + length)
            votes = _votes(rows[piece], weights)
            mistaken = (votes >= 0) != (signs[piece] > 0)
            due = np.flatnonzero(mistaken | (marked[piece] & (np.abs(votes) <= p.confidence * p.margin)))
            passed = len(votes)
            if due.size:
                passed = int(due[0]) + 1
                rows_used = np.array([start + passed - 1])
                rows.add(scores[:-1], signs, rows_used)
                scores[-1] += rows.unit * int(signs[rows_used[0]])
                updates += 1
                weights = _weights(eta / rows.unit * scores, p)
            start += passed
            length = min(2 * passed, longest)

        if reset:
            public = public_of(X, labels)
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
            for name, value in public.attributes().items():
                setattr(self, name, value)
            self._unit, self.reads_ = rows.unit, rows.reads
        self._scores, self.updates_ = scores, updates
        self.coef_, self.intercept_ = weights[np.newaxis, :-1], weights[-1:]
        return self

    def _rows(self, X, reads):
        return signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range, reads=reads)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags


def _votes(rows, weights):
    """Return <w, x> of each row; rounding errors of a 0 are set to 0."""
    votes = rows.dot(weights[:-1]) + weights[-1]
    votes[np.abs(votes) < _ZERO] = 0
    return votes


def _weights(exponents, p):
    """Return the weights of the features, then that of the constant; weights of negated copies are subtracted."""
    if not p.fit_intercept:
        exponents = exponents[:-1]
    if p.negations:
        high = np.abs(exponents).max()
        positive, negative = reals.exp(exponents - high), reals.exp(-exponents - high)
        weights = (positive - negative) / reals.sum(positive + negative)
    else:
        positive = reals.exp(exponents - exponents.max())
        weights = positive / reals.sum(positive)
    return weights if p.fit_intercept else np.append(weights, 0.0)


def _read_marks(marks, n):
    marked = np.ones(n, bool) if marks is None else np.asarray(marks)
    if marked.shape != (n,) or marked.dtype != bool:
        raise ValueError(f"marks must be booleans of shape ({n},), got {marked.dtype} {marked.shape}")
    return marked

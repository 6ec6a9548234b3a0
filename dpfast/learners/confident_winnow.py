"""ConfidentWinnow: online learning of linear thresholds, not private."""

import math
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_is_fitted

from dpfast.data.signed_rows import signed_rows
from dpfast.learners.base import TableClassifier, TwoSided

_PIECE = 1 << 26  # entries of a product, so that it ends within a second


class WinnowClassifier(TwoSided, TableClassifier):
    """ConfidentWinnow [BF, section 4.1]_: a sparse linear threshold, learned in one pass. **Not private.**

    Its weights, its predictions and its number of updates depend on single rows without any noise. It is what
    `DPWinnowClassifier` is compared with, and for data that need no protection.

    Weights w are positive, sum to one, and start uniform. A row (x, y), y = +-1, is predicted by the sign of <w, x>,
    +1 for 0; if y <w, x> <= confidence * margin, then w_j becomes w_j exp(learning_rate y x_j) and is normalised.

    **Mistakes.** Every mistake is an update. If some probability vector u has y <u, x> >= margin on every row, there
    are at most `dpfast.accounting.winnow_update_bound` updates: it grows with the logarithm of the dimension.

    Parameters
    ----------
    margin : float in (0, 1], default=0.1
        rho: what the rows are supposed to have.
    confidence : float in [0, 1), default=0.5
        c: rows predicted with a margin of at most confidence * margin update too.
    learning_rate : float or "auto", default="auto"
        eta. "auto" is (1 - confidence) * margin, at which the bound on updates is least.
    negations : bool, default=True
        Whether each feature also stands negated, so that weights of both signs can be learned.
    fit_intercept : bool, default=True
        Whether a constant feature is added.
    feature_range : pair of float, default=(-1, 1)
        What every feature is declared to lie in; it becomes [-1, 1]. Booleans and BitMatrix are signs in any case.
    out_of_range : {"error", "clip"}, default="error"

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_ : ndarray, shape (n_features_in_,)
        Weights on features in [-1, 1], that of a negated copy subtracted from that of its feature.
    intercept_ : float
    updates_ : int
        Rows that changed the weights so far.
    n_features_in_, feature_names_in_
        As scikit-learn has them.

    Notes
    -----
    The weights are exp(learning_rate * s) / Z for integer scores s = the sum of y x over the rows used: nothing drifts,
    and negated copies, whose scores are -s, are not stored. Rows are predicted many at once; an update costs a pass
    over the features.

    References
    ----------
    .. [BF] M. Bun, W. Fang, Privately Learning Decision Lists and a Differentially Private Winnow, arXiv 2602.07370.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> clf = dpfast.WinnowClassifier().fit(mushroom.data, mushroom.target)
    >>> clf.score(mushroom.data, mushroom.target) > 0.85
    True
    """

    def __init__(
        self,
        *,
        margin=0.1,
        confidence=0.5,
        learning_rate="auto",
        negations=True,
        fit_intercept=True,
        feature_range=(-1, 1),
        out_of_range="error",
    ):
        self.margin = margin
        self.confidence = confidence
        self.learning_rate = learning_rate
        self.negations = negations
        self.fit_intercept = fit_intercept
        self.feature_range = feature_range
        self.out_of_range = out_of_range

    def fit(self, X, y, *, classes=None):
        """Learn anew, in one pass over the rows in their order.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame or BitMatrix, shape (n, d)
        y : array_like, shape (n,)
            Labels of two classes.
        classes : array_like, optional
            The set of labels; read off y by default.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter or data that will not do.
        """
        return self._learn(X, y, classes, reset=True)

    def partial_fit(self, X, y, classes=None):
        """Go on learning, from rows in their order.

        Parameters
        ----------
        X, y, classes
            As in `fit`; `classes`, or labels of both classes, in the first call.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `fit`.
        """
        return self._learn(X, y, classes, reset=not hasattr(self, "coef_"))

    def decision_function(self, X):
        """The weighted vote on each row, in [-1, 1]: float64, shape (n,); at least 0 is for classes_[1]."""
        check_is_fitted(self)
        rows = signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range)
        self._check_features(X, reset=False)
        return rows.dot(self.coef_) + self.intercept_

    def _learn(self, X, y, classes, *, reset):
        enough, eta = self._checked_parameters()
        rows = signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range)
        self._check_features(X, reset)
        signs = self._signs(y, rows.shape[0], classes if reset else self.classes_)
        if reset:
            self._scores, self._unit, self.updates_ = np.zeros(rows.shape[1] + 1, np.int64), rows.unit, 0
        elif rows.unit != self._unit:
            raise ValueError(f"rows must be on the grid that learning began with, 1/{self._unit}")

        # A piece is twice as long as what was passed just before it: all pieces together read each row a few times.
        weights, start, length, longest = self._weights(eta), 0, 1, max(1, _PIECE // rows.shape[1])
        while start < len(signs):
            labels = signs[start : start + length]
            votes = rows[start : start + length].dot(weights[:-1]) + weights[-1]
            due = np.flatnonzero(labels * votes <= enough)
            passed = len(labels)
            if due.size:
                passed = int(due[0]) + 1
                chosen = np.array([start + passed - 1])
                rows.add(self._scores[:-1], signs, chosen)
                self._scores[-1] += rows.unit * int(signs[chosen[0]])
                self.updates_ += 1
                weights = self._weights(eta)
            start += passed
            length = min(2 * passed, longest)
        self.coef_, self.intercept_ = weights[:-1], float(weights[-1])
        return self

    def _weights(self, eta):
        """The weights of the features, then of the constant; those of negated copies subtracted."""
        exponents = eta / self._unit * self._scores
        if not self.fit_intercept:
            exponents = exponents[:-1]
        if self.negations:
            high = np.abs(exponents).max()
            positive, negative = np.exp(exponents - high), np.exp(-exponents - high)
            weights = (positive - negative) / (positive + negative).sum()
        else:
            positive = np.exp(exponents - exponents.max())
            weights = positive / positive.sum()
        return weights if self.fit_intercept else np.append(weights, 0.0)

    def _checked_parameters(self):
        """The vote up to which a row counts, and the learning rate."""
        if not isinstance(self.margin, Real) or not 0 < self.margin <= 1:
            raise ValueError(f"margin must lie in (0, 1], got {self.margin!r}")
        if not isinstance(self.confidence, Real) or not 0 <= self.confidence < 1:
            raise ValueError(f"confidence must lie in [0, 1), got {self.confidence!r}")
        eta = self.learning_rate
        if isinstance(eta, str) and eta == "auto":
            eta = (1 - self.confidence) * self.margin
        if not isinstance(eta, Real) or not 0 < eta < math.inf:
            raise ValueError(f'learning_rate must be "auto" or a finite number above 0, got {self.learning_rate!r}')
        if self.out_of_range not in ("error", "clip"):
            raise ValueError(f'out_of_range must be "error" or "clip", got {self.out_of_range!r}')
        return self.confidence * self.margin, float(eta)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

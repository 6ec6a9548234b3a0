"""ConfidentWinnow: online learning of linear thresholds, not private."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from dpfast.kernels import reals
from dpfast.learners.base import TableClassifier, TwoSided, refuse_weights
from dpfast.learners.parameters import Kind, Parameters, auto, choice, ends, flag, positive, real
from dpfast.tables.code_bits import code_bits
from dpfast.tables.codes import CodeTable
from dpfast.tables.labels import class_codes
from dpfast.tables.signed_rows import signed_rows

_ZERO = 1e-12
_PIECE = 1 << 26  # entries of a product, so that it ends within a second


class WinnowClassifier(Parameters, TwoSided, TableClassifier):
    """ConfidentWinnow [BF, section 4.1]_: a sparse linear threshold, learned in one pass. **Not private.**

    Its weights, its predictions and its number of updates depend on single rows without any noise. It is what
    `DPWinnowClassifier` is compared with, and for data that need no protection. scikit-learn's
    `CalibratedClassifierCV` gives it probabilities.

    Weights w are positive, sum to one, and start uniform. A row (x, y), y = +-1, is predicted by the sign of <w, x>,
    +1 for 0. If that is a mistake, or if abs(<w, x>) <= confidence * margin and the environment marked the row, then
    w_j becomes w_j exp(learning_rate y x_j) and is normalised.

    **Mistakes.** Every mistake is an update. If some probability vector u has y <u, x> >= margin on every row, there
    are at most `dpfast.accounting.winnow_update_bound` updates, however rows are marked [BF, Lemma 4.2]_: it grows with
    the logarithm of the dimension.

    Parameters
    ----------
    margin : float in (0, 1], default=0.1
        rho: what the rows are supposed to have.
    confidence : float in [0, 1), default=0.5
        c: rows predicted with a margin of at most confidence * margin update too, where they are marked.
    learning_rate : float or "auto", default="auto"
        eta. "auto" is (1 - confidence) * margin, at which the bound on updates is least.
    negations : bool, default=True
        Whether each feature also stands negated, so that weights of both signs can be learned.
    fit_intercept : bool, default=True
        Whether a constant feature is added.
    feature_range : pair of float, default=(-1, 1)
        What every feature is declared to lie in; it becomes [-1, 1]. Booleans and BitMatrix are signs in any case.
    out_of_range : {"clip", "error"}, default="clip"
        Features outside `feature_range` count as the nearest end of it, or are refused. What reaches far beyond
        loses its differences: bring it there by declared bounds, or by a schema.

    Attributes
    ----------
    classes_ : ndarray, shape (2,)
    coef_ : ndarray, shape (n_features_in_,)
        Weights on features in [-1, 1], that of a negated copy subtracted from that of its feature.
    intercept_ : float
    updates_ : int
        Rows that changed the weights so far.
    reads_ : {"signs", "numbers"}
        What it was learned from, and so what it answers to: booleans are signs, 0 and 1 stand for themselves.
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

    _parameters: Mapping[str, Kind] = {
        "margin": real(0, 1, "(]"),
        "confidence": real(0, 1, "[)"),
        "learning_rate": auto(positive()),
        "negations": flag(),
        "fit_intercept": flag(),
        "feature_range": ends(),
        "out_of_range": choice("error", "clip"),
    }

    def __init__(
        self,
        *,
        margin: float = 0.1,
        confidence: float = 0.5,
        learning_rate: float | str = "auto",
        negations: bool = True,
        fit_intercept: bool = True,
        feature_range: Sequence[float] = (-1, 1),
        out_of_range: str = "clip",
    ) -> None:
        self.margin = margin
        self.confidence = confidence
        self.learning_rate = learning_rate
        self.negations = negations
        self.fit_intercept = fit_intercept
        self.feature_range = feature_range
        self.out_of_range = out_of_range

    def fit(
        self, X: Any, y: Any, *, classes: ArrayLike | None = None, marks: ArrayLike | None = None, **refused: Any
    ) -> Self:
        """Learn anew, in one pass over the rows in their order.

        Parameters
        ----------
        X : array_like, sparse matrix, DataFrame, BitMatrix or CodeTable, shape (n, d)
        y : array_like, shape (n,)
            Labels of two classes.
        classes : array_like, optional
            The set of labels; read off y by default.
        marks : array_like of bool, shape (n,), optional
            b(t): whether the environment, whoever that is, lets a row update that is predicted rightly but without
            confidence. All by default; none makes it Winnow, which learns from mistakes only.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            For a parameter or data that will not do.
        """
        refuse_weights(refused)
        return self._learn(X, y, classes, marks, reset=True)

    def partial_fit(
        self, X: Any, y: Any, classes: ArrayLike | None = None, *, marks: ArrayLike | None = None, **refused: Any
    ) -> Self:
        """Go on learning, from rows in their order.

        Parameters
        ----------
        X, y, classes, marks
            As in `fit`; `classes`, or labels of both classes, in the first call.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As `fit`.
        """
        refuse_weights(refused)
        return self._learn(X, y, classes, marks, reset=not hasattr(self, "coef_"))

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
        X = _bits(X)
        rows = self._rows(X, self.reads_)
        self._check_features(X, reset=False)
        return _votes(rows, np.append(self.coef_, self.intercept_))

    def _learn(self, X, y, classes, marks, *, reset):
        p = self._checked()
        eta = (1 - p.confidence) * p.margin if p.learning_rate == "auto" else float(p.learning_rate)
        X = _bits(X)
        rows = self._rows(X, None if reset else self.reads_)
        if not reset:
            self._check_features(X, reset=False)
        labels = class_codes(y, rows.shape[0], classes if reset else self.classes_)
        signs, marked = labels.signs(), _marked(marks, rows.shape[0])
        if reset:
            scores, updates = np.zeros(rows.shape[1] + 1, np.int64), 0
        elif rows.unit != self._unit:
            raise ValueError(f"rows must be on the grid that learning began with, 1/{self._unit}")
        else:
            scores, updates = self._scores.copy(), self.updates_

        # A piece is twice as long as what was passed just before it: all pieces together read each row a few times.
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
                chosen = np.array([start + passed - 1])
                rows.add(scores[:-1], signs, chosen)
                scores[-1] += rows.unit * int(signs[chosen[0]])
                updates += 1
                weights = _weights(eta / rows.unit * scores, p)
            start += passed
            length = min(2 * passed, longest)

        if reset:
            public = self._public(X, labels)
            for name in [name for name in vars(self) if name.endswith("_")]:
                delattr(self, name)
            for name, value in public.attributes().items():
                setattr(self, name, value)
            self._unit, self.reads_ = rows.unit, rows.reads
        self._scores, self.updates_ = scores, updates
        self.coef_, self.intercept_ = weights[:-1], float(weights[-1])
        return self

    def _rows(self, X, reads):
        return signed_rows(X, feature_range=self.feature_range, out_of_range=self.out_of_range, reads=reads)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _votes(rows, weights):
    """<w, x> of each row; what rounding leaves of a 0 is 0."""
    votes = rows.dot(weights[:-1]) + weights[-1]
    votes[np.abs(votes) < _ZERO] = 0
    return votes


def _weights(exponents, p):
    """The weights of the features, then of the constant; those of negated copies subtracted."""
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


def _marked(marks, n):
    marked = np.ones(n, bool) if marks is None else np.asarray(marks)
    if marked.shape != (n,) or marked.dtype != bool:
        raise ValueError(f"marks must be booleans of shape ({n},), got {marked.dtype} {marked.shape}")
    return marked


def _bits(X):
    """Codes, of a `TableEncoder` before this, as bits; other tables as they are."""
    return code_bits(X) if isinstance(X, CodeTable) else X

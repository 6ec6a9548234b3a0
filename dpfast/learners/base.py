"""What the estimators share: their tables and labels; if private, a budget and a saved form."""

import json
import os
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from dpfast.accounting import Budget
from dpfast.data import BitMatrix
from dpfast.data.blocks import RowBlocks
from dpfast.data.products import readable, row_products

FORMAT, FORMAT_VERSION = "dpfast model", 1


class TableClassifier(ClassifierMixin, BaseEstimator):
    """Base of all classifiers: what they check of a table and of its labels."""

    def _check_features(self, X, reset):
        """Note or check the width and the names of X, as scikit-learn does for frames and arrays."""
        if not isinstance(X, (BitMatrix, RowBlocks)):
            validate_data(self, X, skip_check_array=True, reset=reset)
            return
        names = None if X.feature_names is None else np.array(X.feature_names, dtype=object)
        if reset:
            self.n_features_in_ = X.shape[1]
            vars(self).pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = names
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has {X.shape[1]} features, but {type(self).__name__} is expecting {self.n_features_in_} features"
            )
        elif names is not None and not np.array_equal(getattr(self, "feature_names_in_", names), names):
            raise ValueError("The feature names should match those that were passed during fit, in the same order")

    def _labels(self, y, n, classes):
        """Class numbers of y, shape (n,), with `classes_` set."""
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        if len(y) != n:
            check_consistent_length(np.empty(n), y)
        check_classification_targets(y)
        seen = np.unique(y)
        self.classes_ = seen if classes is None else np.unique(classes)
        unknown = np.setdiff1d(seen, self.classes_)
        if unknown.size:
            raise ValueError(
                f"y holds the label {unknown.tolist()[0]!r}, which is not among classes={self.classes_.tolist()}"
            )
        if len(self.classes_) < 2:
            raise ValueError(
                f"y must have at least two classes, got one class only: {self.classes_.tolist()[0]!r}; see classes="
            )
        return np.searchsorted(self.classes_, y)

    def _signs(self, y, n, classes):
        """y as -1 and +1, int8 of shape (n,), with the two `classes_` set."""
        codes = self._labels(y, n, classes)
        if len(self.classes_) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"y has {len(self.classes_)} classes"
            )
        return (2 * codes - 1).astype(np.int8)


class PrivateClassifier(TableClassifier):
    """Base of the private classifiers; has `epsilon`, `delta`, `neighbors`, `budget` and `threshold` parameters.

    A subclass names its kind in `_model` and gives its released state by `_released` and `_restore`.
    """

    _not_saved = ("budget", "checkpoint", "random_state")

    def _check_budget(self):
        """Refuse an unknown relation and what the budget cannot pay, before data is read; nothing is charged yet."""
        if self.neighbors not in ("replace", "add-remove"):
            raise ValueError(f'neighbors must be "replace" or "add-remove", got {self.neighbors!r}')
        if self.budget is not None:
            if not isinstance(self.budget, Budget):
                raise ValueError(f"budget must be None or a dpfast.accounting.Budget, got {self.budget!r}")
            self.budget.check(self.epsilon, self.delta, neighbors=self.neighbors)

    def _charge(self):
        if self.budget is not None:
            self.budget.charge(self.epsilon, self.delta, neighbors=self.neighbors)

    def _bits(self, X, *, reset):
        """X as a BitMatrix, its width and names noted or checked."""
        table = BitMatrix(X, threshold=None if isinstance(X, BitMatrix) else self.threshold)
        if 0 in table.shape:
            raise ValueError(f"X must have at least one row and one column, got shape {table.shape}")
        self._check_features(X, reset)
        return table

    def save(self, path):
        """Write what was released to a JSON file, for `dpfast.load`; replaces the file at once or not at all.

        Parameters
        ----------
        path : str or path-like

        Notes
        -----
        The file holds the parameters, the released model and its privacy claim; no data, no budget, no random state.
        """
        check_is_fitted(self)
        parameters = {
            name: value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
            for name, value in self.get_params(deep=False).items()
            if name not in self._not_saved
        }
        document = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "model": self._model,
            "parameters": parameters,
            "classes": self.classes_.tolist(),
            "n_features": self.n_features_in_,
            "feature_names": getattr(self, "feature_names_in_", np.array([])).tolist() or None,
            "privacy": self.privacy_.to_dict(),
            "released": self._released(),
        }
        path = Path(path)
        text = json.dumps(document, indent=1, default=float)  # fractions, and scalars of numpy in lists
        partial = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            partial.write_text(text + "\n", encoding="utf-8")
            os.replace(partial, path)
        finally:
            partial.unlink(missing_ok=True)

    def __sklearn_is_fitted__(self):
        return hasattr(self, "privacy_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # noise decides on small tables
        return tags


class TwoSided:
    """Mixin of classifiers of two classes: `decision_function` says which side a row is on."""

    def predict(self, X):
        """The label of the side that each row is on, shape (n,)."""
        positive = self.decision_function(X) >= 0
        return self.classes_[positive.astype(int)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


class LinearClassifier(TwoSided, PrivateClassifier):
    """Base of the private classifiers that release coefficients and an intercept.

    A subclass names the numbers that it releases besides in `_numbers`, attributes without their final underscore.
    """

    _numbers = ()

    def decision_function(self, X):
        """<x, coef_> + intercept_ for each row: float64, shape (n,); at least 0 is for classes_[1]."""
        check_is_fitted(self)
        rows = readable(X)
        self._check_features(X, reset=False)
        return row_products(rows, self.coef_) + self.intercept_

    def _released(self):
        numbers = {name: getattr(self, f"{name}_") for name in self._numbers}
        return {"coef": self.coef_.tolist(), "intercept": self.intercept_, **numbers}

    def _restore(self, released):
        self.coef_, self.intercept_ = np.array(released["coef"], np.float64), float(released["intercept"])
        for name in self._numbers:
            setattr(self, f"{name}_", released[name])
        if self.coef_.shape != (self.n_features_in_,) or not np.isfinite([*self.coef_, self.intercept_]).all():
            raise ValueError(f"coef must be {self.n_features_in_} finite numbers")


def shown(iterable, what, verbose, total=None):
    """The same iterable, with a progress bar if wanted."""
    if not verbose:
        return iterable
    from rich.progress import track

    return track(iterable, what, total=total)


def refuse_weights(arguments):
    """Refuse what `fit` does not know, sample weights with the reason."""
    if arguments.pop("sample_weight", None) is not None:
        raise ValueError(
            "sample_weight is refused: a row of weight w moves the sums w times as far, and the privacy claim "
            "is for rows that count once each"
        )
    if arguments:
        raise TypeError(f"fit() got an unexpected keyword argument {next(iter(arguments))!r}")

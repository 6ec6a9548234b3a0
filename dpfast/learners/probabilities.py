"""Probabilities of classes for models that only say a class or a side: a share of epsilon buys them.

What is released besides the model are noisy class counts of cells: the class that it predicts, or how far a row is on
the side of a class, cut into levels. `dpfast.learners.class_counts` has the claim; all else is computed from them.
"""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from dpfast.accounting import Cost
from dpfast.accounting.amounts import decimal_above, split
from dpfast.kernels.reals import expit
from dpfast.learners.calibration import LEVELS, Line, fitted_line
from dpfast.learners.class_counts import class_shares, noise_scale
from dpfast.learners.fitting import Private, Run
from dpfast.learners.lazily import lazily
from dpfast.learners.parameters import real
from dpfast.learners.saving import entries, fraction, integers
from dpfast.mechanisms import discrete_laplace

PROBABILITY_SHARE = {"probability_share": real(0, 1, "[)")}
_LARGEST_COUNT = 1 << 62


def _counts_classes(self):
    """Whether there are noisy class counts, or will be."""
    counted = hasattr(self, "class_counts_") if self.__sklearn_is_fitted__() else self.probability_share != 0
    if not counted:
        raise AttributeError(
            "probabilities need noisy counts of the classes of rows: fit with probability_share above 0, .05 say"
        )
    return True


def set_apart(p: SimpleNamespace) -> SimpleNamespace:
    """Checked parameters whose epsilon is without the share that probabilities take."""
    p.class_scale, p.counting, p.counting_cost = None, {}, ()
    if p.probability_share:
        p.epsilon, epsilon = split(p.epsilon, p.probability_share)
        p.epsilon_of_counts = epsilon
        p.class_scale = noise_scale(epsilon, p.neighbors, "probability_share")
        p.counting = {f"class counts ({p.probability_share:g} of epsilon)": 1}
        p.counting_cost = (Cost("pure", decimal_above(epsilon)),)
    return p


class Probabilities(Private):
    """Mixin of private classifiers with the parameter `probability_share`: probabilities by the class predicted.

    After `_checked` p.epsilon is what is left to the model. A learner gives `_spending` the costs of `_all_costs` and
    ``**p.counting``, and once its model is released calls `_count_classes`.
    """

    classes_: np.ndarray
    probability_share: float

    def _checked(self, X=None, y=None, units=None):
        return set_apart(super()._checked(X, y, units))

    def _refuse_persons(self, p):
        if p.class_scale is not None:
            p.class_scale = noise_scale(p.epsilon_of_counts, p.neighbors, "probability_share", p.rows_per_unit)

    @staticmethod
    def _all_costs(cost: Sequence[Cost], p: SimpleNamespace) -> tuple[Cost, ...]:
        """With those of the class counts; none where it is the pair that is claimed."""
        return (*cost, *p.counting_cost) if cost else ()

    def _count_classes(self, run: Run, p: SimpleNamespace, counts: Callable[[], np.ndarray]) -> None:
        """Release the class counts, int64 of shape (cells, classes), with noise; if they are paid for."""
        if p.class_scale is None:
            return
        noisy = discrete_laplace(counts(), p.class_scale, rng=run.rng)
        run.attributes.update(class_counts_=noisy, class_counts_scale_=p.class_scale)
        for name in p.counting:
            run.used[name] += 1

    def _cells(self) -> int:
        """How many cells rows are in."""
        return len(self.classes_)

    @available_if(_counts_classes)
    @lazily
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, estimated from noisy counts; the label of `predict` has the largest.

        There is no more cost in privacy than that of `class_counts_`.

        Parameters
        ----------
        X : as in `fit`, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n, n_classes)
        """
        check_is_fitted(self)
        return self._probabilities(X)

    def _probabilities(self, X):
        """Those of the class that is predicted."""
        shares = class_shares(self.class_counts_, np.arange(len(self.classes_)))
        return shares[np.searchsorted(self.classes_, self.predict(X))]

    def _released_counts(self):
        if not hasattr(self, "class_counts_"):
            return {}
        return {"class_counts": {"counts": self.class_counts_.tolist(), "scale": str(self.class_counts_scale_)}}

    def _restore_counts(self, saved):
        entries(saved, "counts", "scale")
        counts = [integers(row, -_LARGEST_COUNT, _LARGEST_COUNT) for row in saved["counts"]]
        if [len(row) for row in counts] != [len(self.classes_)] * self._cells():
            raise ValueError(f"class counts must be {len(self.classes_)} for each of {self._cells()} cells")
        self.class_counts_, self.class_counts_scale_ = np.stack(counts), fraction(saved["scale"])


class SidedProbabilities(Probabilities):
    """`Probabilities` of classifiers of two classes, by how far a row is on the side of the second.

    A subclass says by `_scores` what is at least 0 for the second class, and by `_places` what levels are of, in
    [-1, 1].
    """

    def _cells(self):
        return LEVELS

    @lazily
    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row; a score of at least 0 is for classes_[1].

        Parameters
        ----------
        X : table of a kind that `fit` takes, shape (n, d)

        Returns
        -------
        ndarray of float64, shape (n,)
            <x, coef_> + intercept_. With `probability_share` the log odds of classes_[1] instead, as `predict_proba`
            has them; `predict` then gives the more probable label.
        """
        check_is_fitted(self)
        if not hasattr(self, "class_counts_"):
            return self._scores(X)
        return self.calibration_line().log_odds(self._places(X))

    def _scores(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _places(self, X: Any) -> np.ndarray:
        """The scores, where these are in [-1, 1]."""
        return self._scores(X)

    def _probabilities(self, X):
        odds = self.decision_function(X)
        return np.stack([expit(-odds), expit(odds)], axis=1)

    @available_if(_counts_classes)
    def calibration_line(self) -> Line:
        """Return the line that turns places of rows into log odds of classes_[1].

        Returns
        -------
        dpfast.learners.calibration.Line
        """
        check_is_fitted(self)
        return fitted_line(self.class_counts_, 2**0.5 * float(self.class_counts_scale_))


def confusion(predicted: np.ndarray, codes: np.ndarray, classes: int) -> np.ndarray:
    """Rows by the class predicted and their own: int64, shape (classes, classes). Private."""
    return np.bincount(predicted * classes + codes, minlength=classes**2).reshape(classes, classes)

"""A training and a test part of a table; figures on the test part cost nothing extra, which is checked."""

import threading
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from dpfast import metrics, random
from dpfast.accounting import Budget, PrivacySpend
from dpfast.base.classifier import PrivateClassifier
from dpfast.base.parameters import PrivateParameters
from dpfast.metrics import ConfusionMatrix, Figure, Reliability, Roc
from dpfast.tables.arrays import as_objects
from dpfast.tables.labels import labels_as_they_are, rows_to_count
from dpfast.tables.sources import count_rows, pick_rows


class LabelledRows(NamedTuple):
    """A part of a table and its labels."""

    X: Any
    y: np.ndarray


class PrivateSplit:
    """A training part for one model, and a test part for private figures of this model.

    `private_split` makes it. `fit` fits one model to the training rows. `accuracy`, `confusion_matrix`, `roc` and
    `calibration` are figures of that model on the test rows. The claim of the model pays for them, and a figure that
    would cost more is refused.

    **Privacy.** Neighbouring tables differ in one row, by the relation `neighbors` of the model. Let the model be
    (epsilon, delta)-DP in the training rows, and all figures together epsilon-DP in the test rows for any model. Then
    the model and all figures together are (epsilon, delta)-DP in the whole table (parallel composition;
    docs/proofs_privacy.md has the proof).

    Under "replace", a replaced row stays in its part, and the sizes and members of the parts may be public. Under
    "add-remove", the added row has a coin toss of its own, and the members of the parts must stay secret; a part
    without rows gives a model, or figures, like any other.

    The epsilons of the figures add up, in a `Budget` of the model's claim that only this object has. It has a lock, and
    charges only in the process that made it. A copy is the same object, and pickling is refused.

    A split cannot detect other models of these rows, the same rows in another table or split, and figures of `test`
    that it did not compute. Their costs are added: charge a `Budget`. Several rows of one person are several rows.

    Parameters
    ----------
    X, y, is_test, seeded
        The values that `private_split` passes.

    Attributes
    ----------
    train, test : LabelledRows
        Pairs (X, y).
    is_test : ndarray of bool, shape (n,)
        A mask of the test rows; read-only.
    """

    def __init__(self, X: Any, y: np.ndarray, is_test: np.ndarray, *, seeded: bool):
        self.train, self._whole = (LabelledRows(*pick_rows(X, y, mask, len(y))) for mask in (~is_test, is_test))
        self.is_test, self._seeded, self.test = is_test, seeded, self._pick_labelled(None)
        self._model: PrivateClassifier | None = None
        self._lock = threading.Lock()

    def fit(self, estimator: PrivateClassifier, *, classes: ArrayLike | None = None) -> PrivateClassifier:
        """Fit a clone of the estimator to the training rows, once.

        Parameters
        ----------
        estimator : private classifier
            If it has a budget, its epsilon and delta are charged for the model and all figures together. The charge is
            a pair, because the curve of the model alone does not cover the figures.
        classes : array_like, optional
            The public set of labels; by default it is read off the training rows.

        Returns
        -------
        private classifier
            The fitted clone.

        Raises
        ------
        ValueError
            If a model was fitted before, the estimator is not a private classifier, or the fit raises it: under
            "replace", for a training part without rows, and for rows without a label.
        BudgetExceeded
            If the budget of the estimator does not suffice.
        """
        if not isinstance(estimator, PrivateParameters):
            raise ValueError(f"estimator must be a private classifier, got {estimator!r}")
        model = clone(estimator)
        model.random_state = estimator.random_state  # a copy would draw the same numbers again
        if isinstance(model.budget, Budget):
            model.budget = model.budget.as_pairs()
        for part in (self.train, self._whole):
            rows_to_count(part.y, model.neighbors, classes)  # refuses rows without a label under "replace"
        self.test = self._pick_labelled(classes)
        free = Budget(model.epsilon, model.delta, neighbors=model.neighbors, composition="basic")
        with self._lock:
            if self._model is not None:
                raise ValueError("this split has a model, and another one costs more: split again, and pay for both")
            try:
                model.fit(*self.train, classes=classes)
            finally:
                if "privacy_" in vars(model):  # charged, even if interrupted
                    self._model, self._claim, self._free = model, vars(model)["privacy_"], free
        return model

    def _pick_labelled(self, classes):
        """Return the test rows with a label, which figures are of."""
        mask = rows_to_count(self._whole.y, "add-remove", classes)
        return self._whole if mask is None else LabelledRows(*pick_rows(*self._whole, mask, len(mask)))

    @property
    def privacy(self) -> PrivacySpend:
        """Return the claim of the model and all figures together, for one row of the whole table."""
        self._get_model()
        claim = self._claim
        seeded = claim.reproducible or (self._seeded and claim.neighbors == "add-remove")
        return PrivacySpend(claim.epsilon, claim.delta, claim.neighbors, claim.events, reproducible=seeded)

    @property
    def left(self) -> float:
        """Return the epsilon that further figures may cost."""
        self._get_model()
        return self._free.left[0]

    def accuracy(self, *, epsilon: float, **options: Any) -> Figure:
        """Return the accuracy of the model on the test rows: `dpfast.metrics.accuracy`.

        Parameters
        ----------
        epsilon : real, > 0
            At most `left`.
        **options
            `level` and `random_state`.

        Returns
        -------
        Figure

        Raises
        ------
        ValueError
            This and the other figures: if no model was fitted, or if it was fitted again elsewhere.
        BudgetExceeded
            If the figures would cost more than the model; nothing is drawn.
        """
        return metrics.accuracy(
            self.test.y, self._get_model().predict(self.test.X), **self._charge_for(epsilon), **options
        )

    def confusion_matrix(self, *, epsilon: float, **options: Any) -> ConfusionMatrix:
        """Count test rows by class and prediction: `dpfast.metrics.confusion_matrix`.

        Parameters
        ----------
        epsilon, **options
            As in `accuracy`.

        Returns
        -------
        ConfusionMatrix
        """
        model = self._get_model()
        predicted = model.predict(self.test.X)
        return metrics.confusion_matrix(
            self.test.y, predicted, classes=model.classes_, **self._charge_for(epsilon), **options
        )

    def roc(self, *, epsilon: float, **options: Any) -> Roc:
        """Return the ROC curve of the second of two classes: `dpfast.metrics.roc`.

        Scores are the model's probabilities.

        Parameters
        ----------
        epsilon : real, > 0
        **options
            `bins`, `level` and `random_state`.

        Returns
        -------
        Roc
        """
        positive, score = self._score()
        return metrics.roc(positive, score, **self._charge_for(epsilon), **options)

    def calibration(self, *, epsilon: float, **options: Any) -> Reliability:
        """Return the calibration of the second of two classes: `dpfast.metrics.calibration`.

        Parameters
        ----------
        epsilon, **options
            As in `roc`.

        Returns
        -------
        Reliability
        """
        positive, probability = self._score()
        return metrics.calibration(positive, probability, **self._charge_for(epsilon), **options)

    def _get_model(self) -> PrivateClassifier:
        """Return the model; refuse a model that was fitted again elsewhere."""
        if self._model is None:
            raise ValueError("no model was fitted to the training rows: call fit of this split first")
        if vars(self._model).get("privacy_") is not self._claim:
            raise ValueError(
                "the model was fitted again, perhaps to the test rows, so its claim no longer pays for figures: use "
                "dpfast.metrics with a budget"
            )
        return self._model

    def _charge_for(self, epsilon) -> dict:
        return {"epsilon": epsilon, "neighbors": self._claim.neighbors, "budget": self._free}

    def _score(self):
        model = self._get_model()
        if len(model.classes_) != 2 or not hasattr(model, "predict_proba"):
            raise ValueError(f"the model must have two classes and predict_proba, got {model!r}")
        return self.test.y == model.classes_[1], model.predict_proba(self.test.X)[:, 1]

    def __copy__(self):
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError("a split cannot be pickled: the copy would not know what is spent on the test rows")


def private_split(
    X: Any, y: ArrayLike, *, test_share: float = 0.2, random_state: int | np.random.Generator | None = None
) -> PrivateSplit:
    """Put each row into a training or a test part, by a coin toss that does not depend on the row.

    Parameters
    ----------
    X : table, shape (n, d)
        An array, a sparse matrix, a frame or a table that the model accepts.
    y : array_like, shape (n,)
    test_share : float in (0, 1), default=0.2
        The probability with which each row is a test row.
    random_state : None, int or numpy.random.Generator

    Returns
    -------
    PrivateSplit
        Its documentation states the claim.

    Raises
    ------
    ValueError
        If X and y have different numbers of rows, or test_share is out of its range.

    Examples
    --------
    >>> import dpfast
    >>> from dpfast.model_selection import private_split
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> split = private_split(mushroom.data, mushroom.target, random_state=0)
    >>> learner = dpfast.HalfspaceClassifier(1.0, 1e-6, random_state=0)
    >>> model = split.fit(learner, classes=["edible", "poisonous"])
    >>> figure = split.accuracy(epsilon=0.5, random_state=0)
    >>> split.left
    0.5
    """
    if not isinstance(test_share, Real) or not 0 < test_share < 1:
        raise ValueError(f"test_share must lie in (0, 1), got {test_share!r}")
    y, rng = labels_as_they_are(y), random.generator(random_state)
    X = as_objects(X) if isinstance(X, list | tuple) else X
    n = count_rows(X)
    if y.shape != (n,):
        raise ValueError(f"y must have one label for each of {n} rows, got shape {y.shape}")
    is_test = coins(n, test_share, rng)
    is_test.setflags(write=False)
    return PrivateSplit(X, y, is_test, seeded=random.is_reproducible(rng))


def coins(n: int, share: float, rng: np.random.Generator) -> np.ndarray:
    """Return n independent coin tosses, each True with probability `share`; a number of 53 bits decides."""
    return rng.random(n) < share

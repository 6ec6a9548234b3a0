"""The class that stands for labels that were not discovered, and the accuracy of a model that may have it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast.base.scikit import ClassifierMixin
from dpfast.tables.arrow import Frame
from dpfast.tables.labels import OTHER_LABEL, LabelColumn, labels_among


def score(self: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of the rows whose label is predicted.

    Parameters
    ----------
    X : table, shape (n, d)
    y : array_like, shape (n,)
        Labels. If the class "other" stands for labels that were not discovered, these count as that class.
    sample_weight : array_like, shape (n,), default=None

    Returns
    -------
    float
    """
    return float(ClassifierMixin.score(self, X, labels_as_learned(self, y), sample_weight))  # type: ignore[attr-defined]


def has_others(model: Any) -> bool:
    """Return whether a class of a model stands for labels that were not discovered."""
    facts = vars(model).get("_facts") or {}
    return facts.get("classes") == "discovered" and OTHER_LABEL in model.classes_.tolist()


def labels_as_learned(model: Any, y: Any) -> Any:
    """Return labels as the classes that a model learned them as, if one of them stands for other labels."""
    if not has_others(model):
        return y
    known = (y.numbers, y.spellings.tolist()) if isinstance(y, LabelColumn) else Frame({"y": y}).identities("y")
    numbers, identities = known
    return np.asarray(labels_among(numbers, identities, model.classes_, OTHER_LABEL))

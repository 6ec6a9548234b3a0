"""The class that stands for labels that were not discovered, and the accuracy of a model that may have it."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpfast.tables.arrays import take_entries
from dpfast.tables.classes import OTHER_LABEL, class_numbers, counts_by_class
from dpfast.tables.labels import missing_labels, number_labels, refuse_missing
from dpfast.tables.thresholds import classes_above


def score(self: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Return the share of the rows whose label is predicted.

    Parameters
    ----------
    X : table, shape (n, d)
    y : array_like, shape (n,)
        Labels, one for each row; a mark of a missing label, such as "" and "NA", is refused. If the class "other"
        stands for labels that were not discovered, these count as that class.
    sample_weight : array_like, shape (n,), default=None

    Returns
    -------
    float
    """
    from sklearn.metrics import accuracy_score

    schema = getattr(getattr(self, "encoder_", None), "schema_", None)
    marks = missing_labels(self.classes_, () if schema is None else schema.missing_values)
    codes = codes_as_learned(self, *number_labels(y, marks))
    refuse_missing(codes)
    predicted = np.searchsorted(self.classes_, self.predict(X))
    return float(accuracy_score(codes, predicted, sample_weight=sample_weight))


def label_of(model: Any) -> Any:
    """Return the label that the schema of a fitted model declares, or None."""
    return getattr(getattr(getattr(model, "encoder_", None), "schema_", None), "label", None)


def has_others(model: Any) -> bool:
    """Return whether a class of a model stands for labels that were not discovered."""
    facts = vars(model).get("_facts") or {}
    return facts.get("classes") == "discovered" and OTHER_LABEL in model.classes_.tolist()


def codes_as_learned(model: Any, numbers: np.ndarray, identities: Any) -> np.ndarray:
    """Return the class that a model learned each label as; the number of classes for others, and -1 for no label.

    `numbers` has the number of the identity of each row.
    """
    classes, rest = model.classes_, len(model.classes_)
    if (label := label_of(model)) is not None and label.above is not None:
        identities = classes_above([*identities], label.above)
    if has_others(model):
        rest = class_numbers([OTHER_LABEL], classes, -1)[0]
    return take_entries(np.array([*class_numbers(identities, classes, rest), -1], np.int64), numbers)


def share_of_others(
    survey: Any, classes: np.ndarray, deviation: float, labelled: tuple[float, float]
) -> tuple[float, float, float]:
    """Return the share of the rows with a label that have none of these classes, and a 95% interval for the noise.

    `survey` is its result, `deviation` that of the noise of each label's number of rows, and `labelled`
    the number of rows with a label and the deviation of its noise.
    """
    counts = counts_by_class(survey.labels, classes)
    numbers = [rows for label, rows in counts.items() if label != OTHER_LABEL or not survey.others]
    size = max(1.0, labelled[0])
    share = 1 - sum(numbers) / size
    spread = [deviation] * len(numbers) + [labelled[1] * (1 - share)]
    low, share, high = np.clip(np.array([-1.96, 0, 1.96]) * np.linalg.norm(spread) / size + share, 0, 1).tolist()
    return share, low, high


def share_in_words(share: tuple[float, float, float]) -> str:
    """Return the text of a share of the rows with its interval."""
    value, low, high = (round(100 * each) for each in share)
    if not low:
        return f"at most {max(1, high)}% of the rows"
    return f"about {value}% of the rows ({low} to {high})"

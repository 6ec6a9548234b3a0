"""The terms of an additive model: what each column adds to the score, code by code."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfast.tables.code_column import CodeColumn


@dataclass(frozen=True)
class Term:
    """What a model adds to the score of a class for each code of one column.

    Attributes
    ----------
    column : CodeColumn
        Its name and what its codes mean.
    label : object
        The class whose score it is; of two classes the second.
    weights : ndarray of float64, shape (column.size,)
        Centred: their plain mean is 0, for a constant belongs to the intercept.
    """

    column: CodeColumn
    label: Any
    weights: np.ndarray

    @property
    def importance(self) -> float:
        """How far apart the column moves scores: the range of its weights."""
        return float(np.ptp(self.weights))

    def __str__(self) -> str:
        width = max(len(self.column.meaning(code)) for code in range(self.column.size))
        lines = [f"{self.column.meaning(c):{width}}  {w:+.3f}" for c, w in enumerate(self.weights)]
        return "\n".join([f"{self.column.name} (for {self.label})", *("  " + line for line in lines)])


def code_columns(model: Any) -> tuple[CodeColumn, ...] | None:
    """Return what the columns of a fitted model's table mean.

    Parameters
    ----------
    model : fitted estimator

    Returns
    -------
    tuple of CodeColumn, or None
        None for a model of a table without a schema.
    """
    encoder = getattr(model, "encoder_", None)
    return None if encoder is None else encoder.schema_.code_columns


def terms(model: Any) -> list[Term]:
    """The terms of a fitted additive model, those that matter most first.

    Parameters
    ----------
    model : HalfspaceClassifier
        Fitted on a table with a schema.

    Returns
    -------
    list of Term
        One for each column and class, of two classes for the second only; by falling `importance`.

    Raises
    ------
    ValueError
        If the model's table has no schema: then `coef_` has the weights.
    """
    columns, weights = code_columns(model), np.atleast_2d(getattr(model, "coef_", []))
    if columns is None or weights.shape[1] != sum(column.size for column in columns):
        raise ValueError(
            "terms are those of an additive model of a table with a schema: a HalfspaceClassifier with schema=, say; "
            f"this {type(model).__name__} has none"
        )
    labels = model.classes_ if len(weights) > 1 else model.classes_[1:]
    ends = np.cumsum([0, *(column.size for column in columns)])
    found = [
        Term(column, label, row[start:stop] - row[start:stop].mean())
        for label, row in zip(labels.tolist(), weights, strict=True)
        for column, start, stop in zip(columns, ends[:-1], ends[1:], strict=True)
    ]
    return sorted(found, key=lambda term: -term.importance)

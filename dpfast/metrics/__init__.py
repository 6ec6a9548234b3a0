"""Private figures of merit: the quality of a model on private rows, each with an interval and a claim.

A figure is a release about the rows on which it is computed. Rows that a model never saw can be used at the epsilon of
the model's own claim, since each row then affects only one of the two releases (parallel composition); the split of the
rows must not depend on their values. Rows that the model did see, or that are measured again, cost more: pass a
`budget`. With `units` and `rows_per_unit` a figure protects all rows of a unit, such as a person, of which at most
so many count: the noise is that of so many rows (`dpfast.base.units`). A figure that is refused (ValueError,
BudgetExceeded) has charged and drawn nothing.
"""

from .accuracy import accuracy, confusion_matrix
from .figure import ConfusionMatrix, Figure, Reliability, Roc
from .groups import Classes, ClassFigures, GroupFigures, Groups, by_class, by_group
from .ranking import calibration, roc

__all__ = [
    "ClassFigures",
    "Classes",
    "ConfusionMatrix",
    "Figure",
    "GroupFigures",
    "Groups",
    "Reliability",
    "Roc",
    "accuracy",
    "by_class",
    "by_group",
    "calibration",
    "confusion_matrix",
    "roc",
]

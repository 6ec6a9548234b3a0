"""Private figures of merit: what a model does on rows that are private too, each with an interval and a claim.

A figure is a release about the rows that it is computed on. Rows that a model never saw may pay for it at the epsilon
of the model's own claim, for each row is then in one of the two releases only (parallel composition): that is so if the
rows were split by something that does not look at them. Rows that the model did see, or that are measured again, cost
more: give a `budget`.
"""

from .accuracy import accuracy, confusion_matrix
from .figure import ConfusionMatrix, Figure, Reliability, Roc
from .ranking import calibration, roc

__all__ = ["ConfusionMatrix", "Figure", "Reliability", "Roc", "accuracy", "calibration", "confusion_matrix", "roc"]

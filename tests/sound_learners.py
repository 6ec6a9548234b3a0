"""Learners without a fault: what tests of `check_private_estimator` plant faults into."""

from dataclasses import dataclass

import numpy as np

from dpfast.base import GaussianSum, IntArray, Model, Plan, PrivateClassifier, estimator, sqrt_up


def class_counts(piece, n_classes):
    return np.bincount(piece.labels, minlength=n_classes)


def histogram(piece, n_classes):
    cells = [
        np.bincount(column * np.int64(n_classes) + piece.labels, minlength=size * n_classes)
        for column, size in zip(piece.rows.codes.columns, piece.rows.sizes, strict=True)
    ]
    return np.concatenate(cells).reshape(-1, n_classes)


@dataclass(frozen=True)
class Shares(Model):
    """Scores of classes by their frequencies."""

    counts: IntArray

    def log_odds(self, rows):
        return np.tile(np.log(np.maximum(self.counts, 1)), (len(rows), 1))


@dataclass(frozen=True)
class Counts(Model):
    """Naive Bayes."""

    counts: IntArray
    sizes: tuple[int, ...]

    def log_odds(self, rows):
        parts = np.split(np.log(np.maximum(self.counts, 0) + 1.0), np.cumsum(self.sizes)[:-1])
        return sum(each[column] for each, column in zip(parts, rows.codes.columns, strict=True))


@estimator
class SharesLearner(PrivateClassifier):
    """Releases the number of rows of each class."""

    def plan(self, task):
        return Plan(counts=GaussianSum(sqrt_up(task.changed_rows), size=task.n_classes))

    def learn(self, rows, plan, run) -> Shares:
        return Shares(run.release("counts", rows.sum(class_counts, rows.n_classes)))

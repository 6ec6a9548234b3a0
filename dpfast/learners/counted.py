"""Private classifiers whose probabilities follow from noisy class counts, a second release of their plans.

The counts and their claim are those of `dpfast.learners.probabilities`.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np

from dpfast.accounting import Cost
from dpfast.accounting.claims.noise import noise_scale
from dpfast.accounting.numbers import decimal_above, exact, split
from dpfast.base.batches import in_batches
from dpfast.base.classifier import PrivateClassifier
from dpfast.base.model import FloatArray, IntArray, Model, model_of
from dpfast.base.parameters import DELTA, DELTA_TEXT, described, estimator
from dpfast.base.plan import LaplaceSum, Mechanism, Proved, Task
from dpfast.base.run import Run
from dpfast.base.saving import entries, fraction
from dpfast.kernels.reals import expit
from dpfast.learners.calibration import LEVELS, Line, level_counts
from dpfast.learners.probabilities import (
    PROBABILITY_SHARE,
    class_counts_from,
    class_shares,
    if_counted,
    line_of,
    reliability,
    sided_reliability,
)


@dataclass(frozen=True)
class CountedModel(Model):
    """Base of models with noisy class counts of the rows in each cell, such as a predicted class.

    The noise of `class_counts`, of shape (cells, n_classes), has the scale `class_counts_scale`; both are None if no
    counts were released.
    """

    class_counts: IntArray | None = field(default=None, kw_only=True)
    class_counts_scale: Fraction | None = field(default=None, kw_only=True)

    def counted(self, counts: Any, scale: Any) -> Self:
        """Return the model with noisy counts."""
        return replace(self, class_counts=counts, class_counts_scale=scale)

    def cells(self, n_classes: int) -> int:
        """Return the number of cells."""
        return n_classes

    def shares(self, rows: Any) -> FloatArray:
        """Return the probabilities of the classes of rows: those of the cell of the predicted class."""
        assert self.class_counts is not None
        return class_shares(self.class_counts, np.arange(len(self.class_counts)))[self.classify(rows)]

    def reliability(self, classes: np.ndarray) -> list[Any]:
        if self.class_counts is None or self.class_counts_scale is None:
            return []
        return reliability(self.class_counts, np.arange(len(classes)), classes, self.class_counts_scale)

    def attributes(self) -> dict[str, Any]:
        counts = {} if self.class_counts is None else {"class_counts": self.class_counts}
        scale = {} if self.class_counts is None else {"class_counts_scale": self.class_counts_scale}
        return self.released() | counts | scale

    def released(self) -> dict[str, Any]:
        """Return the attributes besides the counts."""
        entries = super().attributes()
        return {name: entries[name] for name in entries if not name.startswith("class_counts")}

    def to_dict(self) -> dict[str, Any]:
        return {name: value for name, value in super().to_dict().items() if not name.startswith("class_counts")}

    @classmethod
    def from_dict(cls, saved: Any) -> Self:
        if not isinstance(saved, dict):
            raise ValueError(f"wanted the entries of a model, got {saved!r:.80}")
        return super().from_dict(saved | {"class_counts": None, "class_counts_scale": None})

    def file_entries(self) -> dict[str, Any]:
        if self.class_counts is None:
            return {}
        return {"class_counts": {"counts": self.class_counts.tolist(), "scale": str(self.class_counts_scale)}}

    def with_entries(self, saved: Mapping[str, Any], task: Task) -> Self:
        if "class_counts" not in saved:
            return self
        own = entries(saved["class_counts"], "counts", "scale")
        counts = class_counts_from(own["counts"], self.cells(task.n_classes), task.n_classes)
        return self.counted(counts, fraction(own["scale"]))


@dataclass(frozen=True)
class SidedModel(CountedModel):
    """Base of models of two classes by a score: their cells are levels of it (`dpfast.learners.calibration`).

    A subclass defines `sides`.
    """

    def sides(self, rows: Any) -> FloatArray:
        """Return a number in [-1, 1] for each row, at least 0 for the second class."""
        raise NotImplementedError

    def scores(self, rows: Any) -> FloatArray:
        """Return the log odds of the second class if counts were released, else `sides`."""
        sides = self.sides(rows)
        return sides if self.class_counts is None else self.line().log_odds(sides)

    def line(self) -> Line:
        """Return the line that maps `sides` to log odds."""
        assert self.class_counts is not None
        assert self.class_counts_scale is not None
        return line_of(self.class_counts, self.class_counts_scale)

    def steepness(self) -> float:
        """Return by how much the score of a row grows with its side: the score is a line of it."""
        return 1.0 if self.class_counts is None else self.line().slope / self.line().spread

    def cells(self, n_classes: int) -> int:
        return LEVELS

    def shares(self, rows: Any) -> FloatArray:
        odds = self.scores(rows)
        return np.stack([expit(-odds), expit(odds)], axis=1)

    def reliability(self, classes: np.ndarray) -> list[Any]:
        if self.class_counts is None or self.class_counts_scale is None:
            return []
        return sided_reliability(self.class_counts, classes[1], self.class_counts_scale)


def counting(share: float, task: Task, beside: Sequence[Cost] | None = None) -> dict[str, Mechanism]:
    """Return the release of class counts for a share of epsilon, as `CountedClassifier.counting` does."""
    if not share:
        return {}
    part = Fraction(exact("probability_share", share))
    epsilon = split(task.epsilon, part)[1]
    scale = noise_scale(epsilon, task.neighbors, "probability_share", task.rows_per_unit)
    size = LEVELS * task.n_classes**2
    if beside is None:
        return {counts_name(share): LaplaceSum(task.changed_rows, size=size, share=part / (1 - part))}
    cost = (Cost("pure", decimal_above(epsilon)),) if beside else ()
    return {counts_name(share): Proved("laplace", scale, cost, size=size)}


def counts_name(share: float) -> str:
    """Return the name of the release of class counts for a share of epsilon."""
    return f"class counts ({share:g} of epsilon)"


def count_levels(piece: Any, model: SidedModel) -> np.ndarray:
    """Return counts of the rows of a piece by level of their side and by class: int64, shape (LEVELS, 2); private."""
    return level_counts(model.sides(piece.rows), piece.labels)


@estimator
class CountedClassifier(PrivateClassifier):
    """Base of private classifiers with the parameter `probability_share`, whose models are `CountedModel`.

    A learner adds the releases of `counting` to its plan, and what `count` returns is its model.

    Attributes
    ----------
    class_counts_ : ndarray of int64, shape (n_classes, n_classes) or (n_levels, 2)
        Noisy counts of rows by predicted class or level, and by true class; the noise has scale `class_counts_scale_`.
        Only with `probability_share`.
    """

    delta: float = field(default=1e-6, kw_only=False, metadata=described(DELTA, DELTA_TEXT))
    probability_share: float = PROBABILITY_SHARE

    def counting(self, task: Task, beside: Sequence[Cost] | None = None) -> dict[str, Mechanism]:
        """Return the release of the class counts by its name, or none.

        Its share is relative to those of the other releases of a plan, which must add up to 1.

        Parameters
        ----------
        task : Task
        beside : sequence of Cost, optional
            The cost of the other releases, for a plan of `Proved` ones; if it is empty, the counts have none, too.

        Returns
        -------
        dict of str to LaplaceSum or Proved
        """
        return counting(self.probability_share, task, beside)

    def without_counts(self, task: Task) -> Task:
        """Return the task of the other releases, whose epsilon lacks the share for the class counts.

        Parameters
        ----------
        task : Task

        Returns
        -------
        Task
        """
        if not self.probability_share:
            return task
        return replace(task, epsilon=split(task.epsilon, self.probability_share)[0])

    @property
    def counts_share(self) -> Fraction:
        """Return the share of epsilon for the class counts."""
        return Fraction(exact("probability_share", self.probability_share)) if self.probability_share else Fraction(0)

    @property
    def counts_name(self) -> str:
        """Return the name of the release of the class counts."""
        return counts_name(self.probability_share)

    def count(self, model: Any, run: Run, counts: Callable[[], np.ndarray]) -> Any:
        """Publish a model, and return it with noisy class counts if they were planned.

        Parameters
        ----------
        model : Model
        run : Run
        counts : callable
            Returns the exact counts; called only if they were planned.

        Returns
        -------
        Model
        """
        run.model = model
        if not self.probability_share:
            return model
        noisy, scale = run.release(self.counts_name, counts()), run.scale(self.counts_name)
        run.count(noisy.sum(), float(scale) * math.sqrt(2 * noisy.size))
        return model.counted(noisy, scale)

    @if_counted("probability_share", "class_counts_")
    @in_batches("ndarray of float64, shape (n, n_classes)")
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return probabilities of the classes, estimated from noisy counts; the label of `predict` has the largest."""
        return self._released_model().shares(self._read_rows(X))

    @if_counted(
        "probability_share", "class_counts_", lambda learner: issubclass(model_of(type(learner)) or Model, SidedModel)
    )
    def calibration_line(self) -> Line:
        """Return the line that maps places of rows to log odds of classes_[1].

        Returns
        -------
        dpfast.learners.calibration.Line
        """
        return self._released_model().line()

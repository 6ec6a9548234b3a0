"""Models of Winnow: the histograms that its updates released."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfast.base.model import IntArray
from dpfast.learners.votes import NOTHING, Hypothesis, VotingModel, histograms_to_json, refuse_uniform, uniform
from dpfast.learners.winnow.plan import WinnowPlan

FACTS = ("updates", "n_updates", "n_draws", "learning_rate", "reads")  # saved attributes, beside the weights


@dataclass(frozen=True)
class WinnowModel(VotingModel):
    """The histograms of the last releases, all or those of the window, and the numbers by which they were drawn.

    With `average`, the sum of the histograms predicts, else the last one. If none was released, equal weights predict
    with `begins_uniform`, else nothing does.
    """

    released_weights: tuple[tuple[IntArray, IntArray], ...]
    updates: int
    n_updates: int
    n_draws: int
    learning_rate: float | None
    reads: str | None
    average: bool
    begins_uniform: bool
    has_constant: bool

    def check(self) -> None:
        if self.begins_uniform:
            refuse_uniform(self.n_columns)

    @property
    def hypothesis(self) -> Hypothesis:
        if not self.released_weights:
            return uniform(self.n_columns + self.has_constant) if self.begins_uniform else NOTHING
        return NOTHING.plus(self.released_weights if self.average else self.released_weights[-1:], self.n_draws)

    def released(self) -> dict[str, Any]:
        facts = {name: getattr(self, name) for name in FACTS}
        sizes = {} if self.class_sizes is None else {"class_sizes": self.class_sizes}
        return {"released_weights": [*self.released_weights]} | facts | sizes

    def to_dict(self) -> dict[str, Any]:
        return {"weights": histograms_to_json(self.released_weights)} | {name: getattr(self, name) for name in FACTS}


def model_of(
    learner: Any, numbers: WinnowPlan, reads: str, n_columns: int, course: Any, sizes: np.ndarray | None = None
) -> WinnowModel:
    """Return the model of what a course released until now, with the noisy sizes of the classes."""
    released, updates = tuple(course.released), course.updates
    facts = updates, numbers.n_updates, numbers.n_draws, numbers.learning_rate, reads
    return WinnowModel(n_columns, released, *facts, *manner_of(learner), class_sizes=sizes)


def first_hypothesis(learner: Any, n_columns: int) -> Hypothesis:
    """Return the hypothesis before the first release: empty, or equal weights (whose negated copies would cancel)."""
    _, begins_uniform, has_constant = manner_of(learner)
    return uniform(n_columns + has_constant) if begins_uniform else NOTHING


def manner_of(learner: Any) -> tuple[bool, bool, bool]:
    """Return the parameters by which the models of a learner predict, the last fields of `WinnowModel`."""
    return bool(learner.average), learner.calibration == "paper" and not learner.negations, bool(learner.fit_intercept)

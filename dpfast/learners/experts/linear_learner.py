"""Linear functions, learned by following experts."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfast.base.forms import Form
from dpfast.base.model import IntArray
from dpfast.base.parameters import (
    FIT_INTERCEPT,
    NEGATIONS,
    OUT_OF_RANGE,
    choice,
    estimator,
    optional,
    parameter,
    positive,
)
from dpfast.base.plan import Plan, Spending, Task
from dpfast.base.run import Rows, Run
from dpfast.base.saving import integer
from dpfast.learners.counted import CountedClassifier, count_levels
from dpfast.learners.experts.playing import REPLACE, draws, follow
from dpfast.learners.votes import Hypothesis, SignedRows, VotingModel, coef_of, histograms_from_json, intercept_of


@dataclass(frozen=True)
class AverageModel(VotingModel):
    """The average of drawn unit vectors, by their signed counts."""

    index: IntArray
    signed_counts: IntArray
    draws: int
    reads: str | None
    learning_rate: float | None

    @property
    def hypothesis(self) -> Hypothesis:
        return Hypothesis(self.index, self.signed_counts, self.draws)

    def released(self) -> dict[str, Any]:
        sizes = {} if self.class_sizes is None else {"class_sizes": self.class_sizes}
        facts = {"reads": self.reads, "learning_rate": self.learning_rate}
        return {"released_weights": self.hypothesis} | facts | sizes

    def to_dict(self) -> Any:
        return [self.index.tolist(), self.signed_counts.tolist(), self.draws, self.reads, self.learning_rate]


@estimator
class LinearLearner(CountedClassifier, name="linear-learner"):
    """Private linear classifier: the average of unit vectors drawn by their agreement [DR11, Algorithm 17]_.

    Labels are of two classes. Features lie in [-1, 1]; booleans and a `BitMatrix` are signs.

    The algorithm maximizes the average of <theta, x> over the simplex by following experts, one per coordinate. Expert
    e_j loses -<e_j, x_t> in round t, and theta is the average of the T = n vectors drawn. Here an example (x, y) is
    represented by the row y x, so that the algorithm maximizes the average margin y <theta, x>. With `negations` the
    vectors -e_j are experts too, so that theta ranges over the cross-polytope, where absolute values sum to at most 1.

    **Privacy.** All draws, and so theta, are (epsilon, delta)-DP if one row (x, y) is replaced. A row is a loss vector
    in [-1, 1]. Replacing it changes the totals by a vector of range R = 4, including the negated copies, so the draws
    are (4 eta)^2 n / 8-zCDP. `dpfast.accounting.papers.experts` gives the theorem.

    Parameters
    ----------
    calibration : {"tight", "paper"}, default="tight"
        "tight" is the largest learning rate that the accountant allows; "paper" is epsilon / sqrt(32 n ln(1/delta)).

    Attributes
    ----------
    coef_ : ndarray, shape (1, n_features_in_)
        The weights of features in [-1, 1]; absolute values, including the intercept, sum to at most 1.
    intercept_ : ndarray, shape (1,)
    reads_ : {"signs", "numbers"}
        The type of entries that the model expects: booleans are signs, other numbers are used as they are.
    learning_rate_ : float
        The rate eta.
    released_weights_ : tuple of (ndarray of int64, ndarray of int64, int)
        Increasing coordinates, their signed counts, and the number of draws; coordinate n_features_in_ is the
        intercept.

    Notes
    -----
    The algorithm maximizes the average margin, not accuracy: features that hardly vary, or a more frequent class, pull
    theta towards the constant. `DPWinnowClassifier` learns from mistakes and is therefore better at equal privacy.

    `fit` makes n passes over 4 bytes per feature; sparse rows cost their stored entries. Rows are processed in a random
    order, as in a sorted table the first class would dominate. Floats are rounded to multiples of 2**-10. With the same
    seed, a sparse matrix may draw other vectors than the same rows in an array, with the same probabilities.

    Examples
    --------
    >>> import dpfast
    >>> mushroom = dpfast.load_dataset("mushroom")
    >>> X = dpfast.BitMatrix(mushroom.data)  # signs, not 0 and 1
    >>> clf = dpfast.LinearLearner(epsilon=10.0, random_state=0).fit(X, mushroom.target)
    >>> clf.score(X, mushroom.target) > 0.75
    True
    """

    neighbors: str = REPLACE
    negations: bool = NEGATIONS
    fit_intercept: bool = FIT_INTERCEPT
    out_of_range: str = OUT_OF_RANGE
    calibration: str = parameter("tight", choice("tight", "paper"))
    coef_, intercept_ = property(coef_of), property(intercept_of)

    spares_unlabelled = False  # a row is a round

    @property
    def reads(self) -> Form:
        """Return the form of the rows, signs or numbers in [-1, 1]."""
        kind = vars(self).get("reads_")
        return SignedRows((-1, 1), self.out_of_range, kind, several_classes=False, in_parts=False)

    def plan(self, task: Task) -> Plan:
        size = task.n_columns + bool(self.fit_intercept)
        draws_bound = draws(self.without_counts(task), self.calibration, size, mirrored=bool(self.negations))
        return Plan(draws=draws_bound, **self.counting(task, draws_bound.cost))

    def spending(self, task: Task) -> Spending:
        return Spending()  # the number of draws is that of the rows, which is not known before a table is read

    def learn(self, rows: Rows, plan: Plan, run: Run) -> AverageModel:
        piece, counts = rows.parts.only, np.zeros((2, rows.n_columns + bool(self.fit_intercept)), np.int64)

        def model() -> AverageModel:
            count = counts[0] - counts[1]
            index = np.flatnonzero(count)
            facts = int(counts.sum()), piece.rows.reads, run.scale("draws")
            return AverageModel(rows.n_columns, index, count[index], *facts, class_sizes=rows.class_sizes)

        run.show(model)
        form = {"constant": bool(self.fit_intercept), "mirrored": bool(self.negations)}
        for experts in follow(run, piece.rows, (1 - 2 * piece.labels).astype(np.int8), **form):
            counts += np.bincount(experts, minlength=counts.size).reshape(2, -1)
        learned = model()
        return self.count(learned, run, lambda: rows.sum(count_levels, learned))

    def read_model(self, saved: Any, task: Task) -> AverageModel:
        index, count, counts, *more = saved  # older files do not say what the model reads, or its rate
        reads, rate = [*more, None, None][:2]
        reads = optional(choice("signs", "numbers")).read("reads", reads)
        rate = optional(positive()).read("learning_rate", rate)
        ((index, count),) = histograms_from_json([(index, count)], task.n_columns)
        if sum(map(abs, count.tolist())) > integer(counts, 0, 1 << 62):
            raise ValueError("every count needs draws of its own")
        return AverageModel(task.n_columns, index, count, counts, reads, rate)
